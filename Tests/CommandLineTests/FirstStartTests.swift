import Foundation
import HTTPTestSupport
import JSON
import TestSupport
import Testing

/// docs/tutorials/first-server.md on an empty database, word for word: from `signUp` on, without demo data.
@Suite(.usesCluster) struct FirstStartTests {
  @Test func `an empty database becomes a community`() throws {
    let section = try Guide("docs/tutorials/first-server.md")
    let database = try TestCluster.newDatabase()
    let folder = try TemporaryFolder()
    var server: ProgramRun?
    var port: UInt16 = 0
    var ids: [String: String] = [:]
    var tokens: [String: String] = [:]
    var answers: [String: JSONValue] = [:]

    func arguments(_ command: String) -> [String] {
      command.split(separator: " ").dropFirst().map { word in
        switch word {
        case "postgresql:///sociograph": database
        case "photos": folder.path + "/photos"
        default: String(word)
        }
      }
    }
    func note(_ value: JSONValue, as name: String) {
      switch value {
      case .object(let members):
        if case .string(let id)? = value["id"] { ids[name] = id }
        for member in members { note(member.value, as: member.name) }
      case .array(let elements): if let first = elements.first { note(first, as: name) }
      case .null, .boolean, .number, .string: break
      }
    }

    for block in section.blocks {
      guard let person = block.person else {
        for command in block.commands.map(\.text) {
          if command.hasPrefix("sociograph serve ") {
            let run = try ProgramRun(
              arguments(command) + ["--listen", "127.0.0.1:0", "--shutdown-delay", "0s"])
            #expect(run.prints("Serving http://127.0.0.1:"), "\(run.errors)")
            let match = run.output.firstMatch(of: /Serving http:..127\.0\.0\.1:(\d+)/)
            port = try #require(match.flatMap { UInt16($0.1) })
            server = run
          } else if command.hasPrefix("sociograph ") {
            let run = try ProgramRun.complete(arguments(command))
            #expect(run.status == 0, "\(command): \(run.errors)")
          } else {
            #expect(command == "createdb sociograph")
          }
        }
        continue
      }
      let variables = try block.variables.map { name in
        JSONValue.Member(name: name, value: .string(try #require(ids[name])))
      }
      let body = JSONValue.object([
        JSONValue.Member(name: "query", value: .string(block.text)),
        JSONValue.Member(name: "variables", value: .object(variables)),
      ])
      let text = "\(body)"
      let client = try RawClient(port: port)
      let bearer = tokens[person].map { "Authorization: Bearer \($0)\r\n" } ?? ""
      #expect(person == "nobody" || !bearer.isEmpty)
      client.send(
        "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\(bearer)"
          + "Content-Length: \(text.utf8.count)\r\n\r\n\(text)")
      let answer = try JSONParser.parse(Array(client.answer().body.utf8))
      #expect(answer["errors"] == nil, "\(block.text)\n\(answer)")
      let data = try #require(answer["data"])
      note(data, as: "data")
      if let name = block.text.firstMatch(of: /signUp\(input: \{username: "(\w+)"/)?.1,
        case .string(let token)? = data["signUp"]?["token"]
      {
        tokens[String(name)] = token
      }
      if case .object(let fields) = data, block.text.contains("\nmutation") {
        for case .object(let payload) in fields.map(\.value) {
          for member in payload { #expect(member.value != .null, "\(block.text)\n\(data)") }
        }
      }
      answers[block.operationName] = data
    }

    #expect(tokens.keys.sorted() == ["ada", "ben"])
    let home = try #require(answers["Home"]?["viewer"])
    #expect("\(home["quickAddUsers"] ?? .null)" == #"[{"username":"ada"}]"#)
    #expect("\(home["circles"] ?? .null)" == #"{"nodes":[{"name":"News"}]}"#)
    #expect(
      "\(home["feed"] ?? .null)"
        == #"{"nodes":[{"body":"We are open.","author":{"displayName":"Ada"}}]}"#)
    // It takes photos, too.
    #expect(FileManager.default.fileExists(atPath: folder.path + "/photos/new"))
    let run = try #require(server)
    run.signal(SIGTERM)
    #expect(run.finish() == 0, "\(run.errors)")
  }
}
