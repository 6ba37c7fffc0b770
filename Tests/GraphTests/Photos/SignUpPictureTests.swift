import Foundation
import JSON
import TestSupport
import Testing

/// The profile picture that comes with the registration.
@Suite(.usesCluster) struct SignUpPictureTests {
  private static let document = """
    mutation($input: SignUpInput!) { signUp(input: $input) {
      token viewer { user { bio avatar { url width moderation } } } userErrors { code field } } }
    """

  private func signUp(_ avatar: String?, on server: GraphServer) throws -> JSONValue {
    let name = "p\(UUID().uuidString.prefix(12).lowercased())".replacing("-", with: "_")
    var members: [JSONValue.Member] = [
      .init(name: "username", value: .string(name)),
      .init(name: "password", value: "a good horse"), .init(name: "bio", value: "New here."),
    ]
    if let avatar { members.append(.init(name: "avatar", value: .string(avatar))) }
    let answer = try server.data(Self.document, ["input": .object(members)], as: nil)
    return try #require(answer["signUp"])
  }

  @Test func `who registers has the picture that came with it`() throws {
    let server = try GraphServer.shared
    let text = Data(TestPicture.png(width: 70, height: 50)).base64EncodedString()
    for avatar in [text, "data:image/png;base64," + text] {
      let made = try signUp(avatar, on: server)
      #expect(made["userErrors"] == [], "\(made)")
      let user = made.at("viewer.user")
      #expect(user?["bio"] == "New here.", "\(made)")
      #expect(user?.at("avatar.width") == 70, "\(made)")
      let url = try #require(user?.at("avatar.url")?.string)
      #expect(try server.photo(at: url).status == 200)
    }
    #expect(try signUp(nil, on: server).at("viewer.user.avatar") == .null)
  }

  @Test func `what is no picture is refused, and nobody registered`() throws {
    let server = try GraphServer.shared
    for avatar in ["", "no base64!", Data("<svg/>".utf8).base64EncodedString(), "data:,x"] {
      let refused = try signUp(avatar, on: server)
      #expect(refused["token"] == .null, "\(avatar): \(refused)")
      #expect(
        refused["userErrors"] == [["code": "INVALID", "field": ["input", "avatar"]]],
        "\(avatar): \(refused)")
    }
  }
}
