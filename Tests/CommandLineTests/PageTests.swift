import Foundation
import HTTPTestSupport
import JSON
import TestSupport
import Testing

/// Executes the examples of the documentation, page after page, against one server with demo data.
///
/// Each `graphql` block is sent, each command of a `console` block is run, and each answer that a page shows is
/// compared. Blocks whose info string says `text` are left out.
@Suite(.usesCluster) struct PageTests {
  /// Pages that begin with a server of their own, and the tests that follow them.
  private static let others = [
    "docs/tutorials/first-server.md": "FirstStartTests",
    "docs/tutorials/your-own-graph.md": "YourOwnGraphTests",
    "docs/tutorials/your-database.md": "YourDatabaseTests",
    "docs/how-to/find-slow-operations.md": "SlowOperationPageTests",
  ]

  @Test func `every example answers as its page says`() throws {
    let server = try DemoServer()
    try expectPhotosOfDemoData(server)
    try expectLiveQueriesByType(server)
    try expectExamplesOfThePage(server)
    var blocks = 0
    for page in try DocumentationPages.all() where Self.others[page] == nil {
      var reader = PageReader(page: page, server: server)
      let guide = try Guide(page)
      for (place, block) in guide.blocks.enumerated() where block.isExecuted {
        let next = guide.blocks.dropFirst(place + 1).first
        let shown = next.flatMap { $0.language == "json" && $0.isExecuted ? $0.text : nil }
        switch block.language {
        case "graphql":
          try reader.send(block, shown: shown)
        case "console": try reader.run(block)
        default: continue
        }
        blocks += 1
      }
      reader.finish()
    }
    #expect(blocks > 30)
  }

  @Test func `every block says what it is, and no command stands outside of one`() throws {
    for page in try DocumentationPages.all() {
      let guide = try Guide(page)
      for block in guide.blocks {
        #expect(!block.language.isEmpty, "\(page):\(block.line) is a block without a language")
      }
      for line in guide.text.components(separatedBy: "\n") {
        let isCommand = line.firstMatch(of: #/^ {4,}(sociograph|curl|createdb|psql) /#) != nil
        #expect(!isCommand, "\(page): fence this as console: \(line)")
      }
    }
    for (page, tests) in Self.others {
      let file = "\(TestCluster.packageFolder)/Tests"
      let names = try FileManager.default.subpathsOfDirectory(atPath: file)
      #expect(names.contains { $0.hasSuffix("/\(tests).swift") }, "\(page): no \(tests)")
    }
  }

  @Test func `patterns stand for parts that vary, and for nothing else`() throws {
    #expect(PageReader.matches("a...c", "abc") && PageReader.matches("a...", "a"))
    #expect(PageReader.matches("a...c...e", "abcde") && PageReader.matches("same", "same"))
    #expect(!PageReader.matches("a...c", "abd") && !PageReader.matches("a...c...e", "acd"))
    #expect(!PageReader.matches("same", "the same") && !PageReader.matches("aa...aa", "aaa"))
    func matches(_ text: String) throws -> Bool {
      let shown = try JSONParser.parse(Array(#"{"id":"...","n":1,"list":["x..."]}"#.utf8))
      return PageReader.matches(shown, try JSONParser.parse(Array(text.utf8)))
    }
    #expect(try matches(#"{"id":7,"n":1,"list":["xy"]}"#))
    #expect(try !matches(#"{"id":7,"n":2,"list":["xy"]}"#))
    #expect(try !matches(#"{"id":7,"n":1,"list":["xy","x"]}"#))
    #expect(try !matches(#"{"id":7,"n":1,"list":["xy"],"more":null}"#))
  }

  /// Four people's, and five of posts and three of products with their squares, which are made now.
  private func expectPhotosOfDemoData(_ server: DemoServer) throws {
    let shown = try server.send(
      """
      { users(first: 30) { nodes { avatar { url square: url(shape: SQUARE) } } }
        posts(first: 100) { nodes { photos { url square: url(shape: SQUARE) } } }
        products(first: 20) { nodes { photo { url square: url(shape: SQUARE) } } }
        appConfig(app: "gtio") { introImages } }
      """, token: "demo-marisol")
    #expect(shown["errors"] == nil, "\(shown)")
    let addresses = Set("\(shown)".matches(of: #/\/photos\/[^"]+/#).map { String($0.output) })
    #expect(addresses.count == 4 + 10 + 6, "\(addresses)")
    for address in addresses {
      #expect(
        try server.shell(
          "curl -s -o /dev/null -w '%{http_code} %{content_type}' http://127.0.0.1:8080\(address)")
          == "200 image/png", "\(address)")
    }
  }

  /// Users by name and lists of posts change with any user and any post, which the program knows from the numbers of
  /// their types.
  /// The examples in the pane "Start" of the page at `/`.
  private func expectExamplesOfThePage(_ server: DemoServer) throws {
    let page = try JSONParser.parse(
      Array(Data(contentsOf: URL(filePath: TestCluster.packageFolder + "/sql/demo/page.json"))))
    guard case .array(let identities)? = page["identities"],
      case .array(let examples)? = page["examples"]
    else {
      Issue.record("page.json has no identities or no examples")
      return
    }
    for identity in identities {
      guard case .string(let token)? = identity["token"] else { continue }
      let response = try server.send("{ viewer { user { id } } }", token: token)
      #expect(response["data"]?["viewer"]?["user"]?["id"] != nil, "\(response)")
    }
    #expect(examples.count >= 12)
    for example in examples {
      guard case .string(let name)? = example["name"], case .string(var query)? = example["query"]
      else { continue }
      var token: String?
      if case .string(let text)? = example["as"] { token = text }
      var variables = example["variables"] ?? .object([])
      if name.hasPrefix("An upload") {
        variables = .object([.init(name: "photo", value: .string(try server.newPhoto()))])
      }
      // What goes on for ever is only looked at for whether it begins.
      query = query.replacing(" @live", with: "")
      let response = try server.send(query, variables, token: token)
      if query.hasPrefix("subscription") {
        #expect("\(response)".contains("NOT_ACCEPTABLE"), "\(name): \(response)")
      } else {
        #expect(response["errors"] == nil && response["data"] != nil, "\(name): \(response)")
      }
    }
  }

  private func expectLiveQueriesByType(_ server: DemoServer) throws {
    let queries = [
      #"query @live { user(by: {username: \"marisol\"}) { bio } }"#,
      "query @live { posts(first: 1) { nodes { body } } }",
    ]
    let streams = try queries.map { query in
      try server.start(
        """
        curl -sN http://127.0.0.1:8080/graphql -H 'Content-Type: application/json' \
          -H 'Accept: text/event-stream' -d '{"query": "\(query)"}'
        """)
    }
    for stream in streams { #expect(eventually { server.text(stream.output).contains("data:") }) }
    for document in [
      #"mutation { updateProfile(input: {bio: "Live."}) { userErrors { code } } }"#,
      #"mutation { createTextPost(input: {body: "Live."}) { userErrors { code } } }"#,
    ] {
      #expect(try server.send(document, token: "demo-marisol")["errors"] == nil)
    }
    for stream in streams {
      #expect(eventually { server.text(stream.output).contains("Live.") })
      stream.process.terminate()
    }
  }
}

/// What a page names and a test did not find.
private struct PageFailure: Error, CustomStringConvertible {
  let description: String
}

/// Reads a page from top to bottom: an ID that one response had is what the next document names, and the token of
/// a `signUp` is that of its user.
private struct PageReader {
  let page: String
  let server: DemoServer
  private var ids: [String: String] = [:]
  private var tokens: [String: String] = [:]
  private var running: [(process: Process, output: String, shown: String, line: Int)] = []

  init(page: String, server: DemoServer) {
    self.page = page
    self.server = server
  }

  /// - Parameter shown: the response that the page shows, or nil if it shows none.
  mutating func send(_ block: Guide.Block, shown: String?) throws {
    let place = "\(page):\(block.line)"
    guard let person = block.person else {
      Issue.record("\(place): say whose token goes with it: # as NAME")
      return
    }
    let variables = try block.variables.map { name in
      if name == "photo", ids[name] == nil { ids[name] = try server.newPhoto() }
      guard let id = ids[name] else { throw PageFailure(description: "\(place): $\(name)") }
      return JSONValue.Member(name: name, value: .string(id))
    }
    let token = person == "nobody" ? nil : tokens[person] ?? "demo-\(person)"
    let response = try server.send(block.text, .object(variables), token: token)
    if let shown {
      let isSame = Self.matches(try JSONParser.parse(Array(shown.utf8)), response)
      #expect(isSame, "\(place) is answered: \(response)")
    } else {
      #expect(response["errors"] == nil, "\(place): \(response)")
      expectSuccess(of: response["data"] ?? .null, place)
    }
    note(response["data"] ?? .null, as: "data")
    if let user = block.text.firstMatch(of: /signUp\(input: \{username: "(\w+)"/)?.1,
      case .string(let token)? = response["data"]?["signUp"]?["token"]
    {
      tokens[String(user)] = token
    }
  }

  /// A mutation that was refused has null in its payload.
  private func expectSuccess(of data: JSONValue, _ place: String) {
    guard case .object(let fields) = data else {
      Issue.record("\(place): no data")
      return
    }
    for field in fields {
      #expect(field.value != .null, "\(place): \(data)")
      guard case .object(let members) = field.value, field.value["userErrors"] != nil else {
        continue
      }
      for member in members {
        #expect(member.value != .null, "\(place): \(data)")
        if member.isNamed("userErrors") { #expect(member.value == .array([]), "\(place): \(data)") }
      }
    }
  }

  private mutating func note(_ value: JSONValue, as name: String) {
    switch value {
    case .object(let members):
      if case .string(let id)? = value["id"] { ids[name] = id }
      for member in members { note(member.value, as: member.name) }
    case .array(let elements): if let first = elements.first { note(first, as: name) }
    case .null, .boolean, .number, .string: break
    }
  }

  mutating func run(_ block: Guide.Block) throws {
    for command in block.commands {
      if block.words.contains("background") {
        let (process, output) = try server.start(command.text)
        running.append((process, output, command.output, block.line))
        // A stream begins with a line that is empty or a comment.
        #expect(eventually { !server.text(output).isEmpty }, "\(page):\(block.line)")
        continue
      }
      let output = try server.shell(command.text)
      guard !command.output.isEmpty else { continue }
      #expect(Self.matches(command.output, output), "\(page):\(block.line) prints: \(output)")
    }
  }

  /// Compares what the commands in the background have printed by the end of the page.
  mutating func finish() {
    for run in running {
      let isSame = eventually { Self.matches("...\(run.shown)...", server.text(run.output)) }
      #expect(isSame, "\(page):\(run.line) prints: \(server.text(run.output))")
      run.process.terminate()
    }
    running = []
  }

  /// Returns whether a text is what a page shows, where `...` stands for any text.
  static func matches(_ shown: String, _ text: String) -> Bool {
    var parts = shown.components(separatedBy: "...")
    guard parts.count > 1, let first = parts.first, let last = parts.popLast() else {
      return shown == text
    }
    guard text.hasPrefix(first) else { return false }
    var rest = text.dropFirst(first.count)
    for part in parts.dropFirst() where !part.isEmpty {
      guard let range = rest.range(of: part) else { return false }
      rest = rest[range.upperBound...]
    }
    return rest.hasSuffix(last)
  }

  /// Returns whether a value is what a page shows, where `"..."` stands for any value.
  static func matches(_ shown: JSONValue, _ value: JSONValue) -> Bool {
    switch (shown, value) {
    case (.string("..."), _): true
    case (.string(let shown), .string(let text)): matches(shown, text)
    case (.array(let shown), .array(let elements)):
      shown.count == elements.count && zip(shown, elements).allSatisfy { matches($0, $1) }
    case (.object(let shown), .object(let members)):
      shown.count == members.count
        && zip(shown, members).allSatisfy { $0.isNamed($1.name) && matches($0.value, $1.value) }
    default: shown == value
    }
  }
}

/// A server with demo data, started as the README says but for its port, its folder, and a trusted proxy.
private final class DemoServer {
  private let folder: TemporaryFolder
  private let run: ProgramRun
  private let port: String

  init() throws {
    folder = try TemporaryFolder()
    let data = folder.path + "/data"
    try TestCluster.endWithProcess(data)
    run = try ProgramRun([
      "serve", "--listen", "127.0.0.1:0", "--data", data, "--trusted-proxies", "127.0.0.2",
    ])
    guard run.prints("Serving http://"),
      let match = run.output.firstMatch(of: #/Serving http:\/\/127\.0\.0\.1:(\d+)/#)
    else { throw PageFailure(description: "the server: \(run.errors)") }
    port = String(match.1)
    // Commands find the sources' folders, as in the repository, and write beside them.
    for name in ["Schema", "sql", "script"] {
      try FileManager.default.createSymbolicLink(
        atPath: "\(folder.path)/\(name)",
        withDestinationPath: "\(TestCluster.packageFolder)/\(name)")
    }
  }

  deinit {
    run.signal(SIGINT)
    _ = run.finish()
  }

  /// A command of a page, for this server.
  private func local(_ command: String) -> String {
    let programs = (ProgramRun.executable as NSString).deletingLastPathComponent
    let command = command.replacing("127.0.0.1:8080", with: "127.0.0.1:\(port)")
      .replacing("localhost:8080", with: "127.0.0.1:\(port)")
    // What configures the tests does not configure the program.
    return "unset $(env | grep -o '^SOCIOGRAPH_[A-Z_]*')\n"
      + "cd \(folder.path); export PATH=\(programs):$PATH SOCIOGRAPH_DATA=\(folder.path)/data\n"
      + command
  }

  /// Returns what a command prints.
  func shell(_ text: String) throws -> String {
    let run = try command("sh", "-c", local(text))
    guard run.status == 0 else {
      throw PageFailure(description: "\(text) ends with \(run.status): \(run.output)")
    }
    return run.output.replacing("\r\n", with: "\n").trimmingCharacters(in: .newlines)
  }

  /// Starts a command that goes on, and returns the file that it prints to.
  func start(_ text: String) throws -> (process: Process, output: String) {
    let output = "\(folder.path)/\(UUID().uuidString)"
    let process = try Process.run(
      URL(filePath: "/bin/sh"),
      arguments: [
        "-c", "exec > \(output)\n\(local(text).replacing("\ncurl ", with: "\nexec curl "))",
      ])
    return (process, output)
  }

  func text(_ file: String) -> String {
    (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
  }

  func send(
    _ document: String, _ variables: JSONValue = .object([]), token: String?
  ) throws -> JSONValue {
    let body = JSONValue.object([
      JSONValue.Member(name: "query", value: .string(document)),
      JSONValue.Member(name: "variables", value: variables),
    ])
    let header = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
    let answer = try post("\(body)", port: UInt16(port) ?? 0, headers: header)
    return try JSONParser.parse(Array(answer.body.utf8))
  }

  /// Uploads a photo for marisol and returns its ID.
  func newPhoto() throws -> String {
    let uploaded = try shell(
      "curl -s http://127.0.0.1:8080/photos -H 'Authorization: Bearer demo-marisol' "
        + "--data-binary @sql/demo/photos/post-harbour.png")
    let address = try #require(uploaded.firstMatch(of: #/\/photos\/[0-9a-f]{64}\.png/#)).output
    let response = try send(
      "mutation { createPhoto(input: {url: \"\(address)\"}) { photo { id } } }",
      token: "demo-marisol")
    guard case .string(let id)? = response["data"]?["createPhoto"]?["photo"]?["id"] else {
      throw PageFailure(description: "\(response)")
    }
    return id
  }
}
