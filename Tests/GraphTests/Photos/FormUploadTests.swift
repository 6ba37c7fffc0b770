import Foundation
import GraphQLTransport
import JSON
import OracleSupport
import TestSupport
import Testing

/// Pictures that come with the mutation that uses them, as clients with the multipart form of GraphQL
/// uploads send them.
@Suite(.usesCluster) struct FormUploadTests {
  private var server: GraphServer { get throws { try .shared } }

  private static let writing = """
    mutation($ids: [ID!]!, $avatar: ID) {
      createTextPost(input: {body: "Look", photoIds: $ids}) {
        textPost { photos { id width } } userErrors { code } }
      updateProfile(input: {avatarPhotoId: $avatar}) {
        viewer { user { avatar { id width } } } userErrors { code } }
    }
    """

  private static let map: JSONValue = .object([
    .init(name: "0", value: ["variables.ids.0"]),
    .init(name: "1", value: ["variables.ids.1", "variables.avatar"]),
  ])
  private static let variables: JSONValue = .object([
    .init(name: "ids", value: [.null, .null]), .init(name: "avatar", value: .null),
  ])

  private func send(
    _ files: [[UInt8]], _ document: String = writing, _ variables: JSONValue = variables,
    _ map: JSONValue = map, as person: Person?, path: String = "/graphql"
  ) throws -> HTTPClients.Response {
    var body: [UInt8] = []
    func add(_ name: String, _ content: [UInt8]) {
      body += Array("--limit\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n".utf8)
      body += content + Array("\r\n".utf8)
    }
    let request = JSONValue.object([
      .init(name: "query", value: .string(document)), .init(name: "variables", value: variables),
    ])
    add("operations", Array("\(request)".utf8))
    add("map", Array("\(map)".utf8))
    for (place, file) in files.enumerated() { add("\(place)", file) }
    body += Array("--limit--\r\n".utf8)
    var headers = [("Content-Type", "multipart/form-data; boundary=limit")]
    if let person { headers.append(("Authorization", "Bearer \(person.token)")) }
    return try server.send("POST", "/graphql", headers: headers, body: body)
  }

  @Test func `a post with its photos and a profile picture are one request`() throws {
    let server = try server
    let ada = try server.data().person("ada")
    let files = [TestPicture.png(width: 40, height: 30), TestPicture.png(width: 50, height: 50)]
    let response = try send(files, as: ada)
    #expect(response.status == 200, "\(response.text)")
    let data = try JSONParser.parse(response.body)["data"]
    #expect(data?.at("createTextPost.userErrors") == [], "\(response.text)")
    #expect(data?.at("createTextPost.textPost.photos.0.width") == 40, "\(response.text)")
    let second = data?.at("createTextPost.textPost.photos.1")
    #expect(second?["width"] == 50, "\(response.text)")
    #expect(data?.at("updateProfile.viewer.user.avatar") == second, "\(response.text)")
    // The same picture is the same photo.
    let again = try JSONParser.parse(send(files, as: ada).body)["data"]
    #expect(
      again?.at("updateProfile.viewer.user.avatar.id")
        == data?.at("updateProfile.viewer.user.avatar.id"))
  }

  @Test func `files are taken from who is signed in, and refused by what is wrong with them`()
    throws
  {
    let server = try server
    let ada = try server.data().person("ada")
    let good = TestPicture.png()
    func refusal(_ response: HTTPClients.Response) throws -> [String] {
      let code = try JSONParser.parse(response.body).at("errors.0.extensions.code")?.string
      return ["\(response.status)", code ?? "none"]
    }
    #expect(try refusal(send([good, good], as: nil)) == ["401", "UNAUTHENTICATED"])
    let stranger = Person(key: ada.key, username: ada.username, token: "nobody-has-this")
    #expect(try refusal(send([good, good], as: stranger)) == ["401", "UNAUTHENTICATED"])
    let text = try send([good, Array("<svg/>".utf8)], as: ada)
    #expect(try refusal(text) == ["415", "UNSUPPORTED_MEDIA_TYPE"])
    #expect(try refusal(send([good], as: ada)) == ["400", "BAD_REQUEST"])
    let large = good + [UInt8](repeating: 0, count: 20 << 20)
    #expect(try refusal(send([good, large], as: ada)) == ["413", "PAYLOAD_TOO_LARGE"])
    // A request that needs no file is no form.
    let plain = try server.send(
      "POST", "/graphql",
      headers: [
        ("Content-Type", "multipart/form-data; boundary=b"),
        ("Authorization", "Bearer \(ada.token)"),
      ], body: Array("--b--".utf8))
    #expect(try refusal(plain) == ["400", "BAD_REQUEST"])
  }

  @Test func `curl sends such a form`() throws {
    let server = try server
    let ada = try server.data().person("ada")
    let folder = try TemporaryFolder()
    let file = folder.path + "/look.png"
    try Data(TestPicture.png(width: 61, height: 20)).write(to: URL(filePath: file))
    let query =
      "mutation($p: ID) { updateProfile(input: {avatarPhotoId: $p}) { viewer { user { avatar { width } } } } }"
    let answer = try LiveClients.tool(
      "curl",
      [
        "-sS", "http://127.0.0.1:\(server.port)/graphql",
        "-H", "Authorization: Bearer \(ada.token)",
        "-F", "operations={\"query\": \"\(query)\", \"variables\": {\"p\": null}}",
        "-F", "map={\"look\": [\"variables.p\"]}", "-F", "look=@\(file)",
      ]
    ).output
    #expect(answer == #"{"data":{"updateProfile":{"viewer":{"user":{"avatar":{"width":61}}}}}}"#)
  }
}
