import Foundation
import HTTPTestSupport
import JSON
import TestSupport
import Testing

/// The documentation's first examples: the program as its first command starts it, with a database, roles and pictures
/// of its own, and each example by curl as it stands there.
@Suite(.usesCluster) struct FirstPageTests {
  @Test func `every example of the first page answers as written, pictures included`() throws {
    let page = try FirstPage()
    try queryAndWrite(page)
    try sendAndShowPictures(page)
    try hearAndTakeParts(page)
  }

  private func queryAndWrite(_ page: FirstPage) throws {
    let query = try page.example(on: "README.md")
    #expect(try page.shell(query.command) == query.answer)

    let accounts = "docs/how-to/authenticate.md"
    let signUp = try page.example(on: accounts)
    let token = try #require(
      try page.json(signUp.command)["data"]?["signUp"]?["session"]?["token"]?.text)
    let post = try page.document(on: accounts)
    let posted = try page.send(post, token: token)["data"]?["createTextPost"]
    #expect(posted?["textPost"]?["id"]?.text != nil, "\(posted ?? .null)")
    #expect(posted?["userErrors"] == .array([]))
    let provider = try page.example(on: accounts, containing: "identity-token")
    #expect(try page.shell(provider.command) == provider.answer)
  }

  /// The one that is sent, and those of the demo data, each with its square.
  private func sendAndShowPictures(_ page: FirstPage) throws {
    let upload = try page.example(on: "docs/how-to/upload-photos.md")
    let answer = try page.shell(upload.command)
    let address = try #require(answer.firstMatch(of: #/\/photos\/[0-9a-f]{64}\.png/#)).output
    #expect(answer.replacing(address, with: "/photos/5f2c...e1.png") == upload.answer)
    let create = try page.document(on: "docs/how-to/upload-photos.md")
    let photo = try page.send(
      create.replacing("/photos/5f2c...e1.png", with: address), token: "demo-marisol")["data"]?[
        "createPhoto"]?["photo"]
    var addresses = Set([try #require(photo?["url"]?.text), try #require(photo?["square"]?.text)])
    #expect(addresses.count == 2 && addresses.contains(String(address)))

    let shown = try page.send(
      """
      { users(first: 30) { nodes { avatar { url square: url(variant: SQUARE) } } }
        posts(first: 100) { nodes { photos { url square: url(variant: SQUARE) } } }
        products(first: 20) { nodes { photo { url square: url(variant: SQUARE) } } }
        appConfig(app: "gtio") { introImages } }
      """, token: "demo-marisol")
    #expect(shown["errors"] == nil, "\(shown)")
    addresses.formUnion("\(shown)".matches(of: #/\/photos\/[^"]+/#).map { String($0.output) })
    // The uploaded one, four people's, and five of posts and three of products with their squares.
    #expect(addresses.count == 2 + 4 + 10 + 6, "\(addresses)")
    for address in addresses {
      #expect(
        try page.shell(
          "curl -s -o /dev/null -w '%{http_code} %{content_type}' http://127.0.0.1:8080\(address)")
          == "200 image/png", "\(address)")
    }
  }

  private func hearAndTakeParts(_ page: FirstPage) throws {
    let subscription = try page.example(on: "docs/reference/subscriptions.md")
    let folder = try TemporaryFolder()
    let process = try Process.run(
      URL(filePath: "/bin/sh"),
      arguments: ["-c", "exec \(page.local(subscription.command)) > \(folder.path)/out"])
    defer { process.terminate() }
    func heard() -> String {
      (try? String(contentsOfFile: folder.path + "/out", encoding: .utf8)) ?? ""
    }
    // The stream begins with a line that says nothing.
    #expect(eventually { !heard().isEmpty })
    let post = try page.document(on: "docs/how-to/authenticate.md")
    _ = try page.send(post, token: "demo-marisol")
    #expect(eventually { heard().contains("\n\(subscription.answer)\n") }, "\(heard())")

    let deferred = try page.example(on: "docs/reference/incremental-delivery.md")
    let parts = try page.shell(deferred.command)
    let values = try parts.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("{") }.map {
      try JSONParser.parse(Array($0.utf8))
    }
    try #require(values.count >= 2, "\(parts)")
    #expect(values[0]["hasNext"] == .boolean(true) && !"\(values[0])".contains("displayName"))
    #expect("\(values[0]["data"] ?? .null)".hasPrefix(#"{"posts":{"nodes":[{"body":"#))
    #expect("\(values[1]["incremental"] ?? .null)".contains(#""data":{"author":{"displayName":"#))
    #expect(values.last?["hasNext"] == .boolean(false))
  }
}

/// A server with demo data, started as the README says but for its port and folder, which go with it.
private final class FirstPage {
  struct Missing: Error { let what: String }

  private let folder: TemporaryFolder
  private let data: String
  private let run: ProgramRun
  private let port: String

  init() throws {
    folder = try TemporaryFolder()
    data = folder.path + "/data"
    try TestCluster.endWithProcess(data)
    // A machine that is busy with many tests is no reason to refuse one.
    let patience = ["QUEUE", "OPERATION", "STATEMENT", "MUTATION"].map {
      ("SOCIOGRAPH_\($0)_TIMEOUT", "600s")
    }
    run = try ProgramRun(
      ["serve", "--listen", "127.0.0.1:0", "--data", data],
      environment: Dictionary(uniqueKeysWithValues: patience))
    guard run.prints("Serving http://"),
      let match = run.output.firstMatch(of: #/Serving http:\/\/127\.0\.0\.1:(\d+)/#)
    else { throw Missing(what: "the server: \(run.errors)") }
    port = String(match.1)
  }

  deinit {
    run.signal(SIGINT)
    _ = run.finish()
  }

  /// The command of a page that contains a text, and its answer.
  func example(on file: String, containing text: String = "curl ") throws -> (
    command: String, answer: String
  ) {
    let commands = try Guide(file).blocks(of: "console")
      .flatMap(\.commands)
    guard let command = commands.first(where: { $0.text.contains(text) }) else {
      throw Missing(what: "\(file): \(text)")
    }
    return (command.text, command.output)
  }

  /// The first document of a page.
  func document(on file: String) throws -> String {
    guard let block = try Guide(file).blocks(of: "graphql").first else {
      throw Missing(what: "\(file): a document")
    }
    return block.text
  }

  /// The same for this server.
  func local(_ command: String) -> String {
    command.replacing("127.0.0.1:8080", with: "127.0.0.1:\(port)")
      .replacing("localhost:8080", with: "127.0.0.1:\(port)")
      .replacing(
        "sociograph session ", with: "\(ProgramRun.executable) session --data \(data) ")
  }

  /// What a command of the README prints, in the repository.
  func shell(_ text: String) throws -> String {
    let run = try command("sh", "-c", "cd \(TestCluster.packageFolder) && \(local(text))")
    guard run.status == 0 else { throw Missing(what: "\(text): \(run.output)") }
    return run.output.trimmingCharacters(in: .newlines)
  }

  func json(_ command: String) throws -> JSONValue {
    try JSONParser.parse(Array(shell(command).utf8))
  }

  func send(_ document: String, token: String) throws -> JSONValue {
    let body = JSONValue.object([JSONValue.Member(name: "query", value: .string(document))])
    let answer = try post(
      "\(body)", port: UInt16(port) ?? 0, headers: "Authorization: Bearer \(token)\r\n")
    return try JSONParser.parse(Array(answer.body.utf8))
  }
}

extension JSONValue {
  fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
}
