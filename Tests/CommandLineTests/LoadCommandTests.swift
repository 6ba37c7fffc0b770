import Foundation
import HTTP
import HTTPTestSupport
import JSON
import Synchronization
import TestSupport
import Testing

/// `sociograph load` as people run it, against a server that answers at once.
@Suite(.blocks) struct LoadCommandTests {
  private let folder: TemporaryFolder
  private let mix: String

  init() throws {
    folder = try TemporaryFolder()
    mix = folder.path + "/mix"
    try FileManager.default.createDirectory(atPath: mix, withIntermediateDirectories: true)
    try Data("query Feed { a }".utf8).write(to: URL(filePath: mix + "/Feed.graphql"))
  }

  private final class Stub: Sendable {
    let server: HTTPServerFixture
    let count = Mutex(0)

    /// - Parameter first: what the first request is answered, by which an operation is tried out.
    init(body: String = #"{"data":{"a":1}}"#, first: String? = nil) throws {
      final class Counter: Sendable { let value = Mutex<(@Sendable () -> Int)?>(nil) }
      let counter = Counter()
      server = try HTTPServerFixture.answering { _, exchange in
        let isFirst = counter.value.withLock { $0 }?() == 1
        exchange.respond(
          contentType: "application/json", body: Array((isFirst ? first ?? body : body).utf8))
      }
      counter.value.withLock {
        $0 = { [weak self] in
          self?.count.withLock {
            $0 += 1
            return $0
          } ?? 0
        }
      }
    }

    var url: String { "http://127.0.0.1:\(server.port)/graphql" }
    var requests: Int { count.withLock { $0 } }
  }

  private func json(_ name: String) throws -> JSONValue {
    try JSONParser.parse(Array(Data(contentsOf: URL(filePath: name))))
  }

  @Test func `a run prints a summary and saves its figures`() throws {
    let stub = try Stub()
    let save = folder.path + "/run.json"
    let run = try ProgramRun.complete([
      "load", mix, "--url", stub.url, "--rate", "200", "--arrivals", "even", "--duration", "500ms",
      "--warm-up", "0s", "--header", "X-Secret: abc123", "--save", save,
    ])
    // 3 if this machine was too busy for the generator.
    #expect(run.status == 0 || run.status == 3, "\(run.output)\(run.errors)")
    #expect(run.output.hasPrefix("200.0/s offered for 0.5 s: 100 requests, 100 ok, 0 errors\n"))
    // And one before them, to see whether the operation is answered.
    #expect(stub.requests == 101)
    let result = try json(save)
    #expect(
      result["format"] == .string("sociograph-load/1") && result["complete"] == .boolean(true))
    #expect(result["totals"]?["ok"] == .number("100"))
    #expect(result["settings"]?["header"] == .string("X-Secret: ..."))
    let text = try String(contentsOfFile: save, encoding: .utf8)
    #expect(!text.contains("abc123"))
    let compared = try ProgramRun.complete(["load", "compare", save, save])
    #expect(compared.status == 3 && compared.output.contains("Feed p50 "))
  }

  @Test func `an objective that was given decides, one that was not does not`() throws {
    let (no, yes) = (#"{"errors":[{"message":"no"}]}"#, #"{"data":{"a":1}}"#)
    let stub = try Stub(body: no, first: yes)
    let arguments = [
      "load", mix, "--url", stub.url, "--rate", "100", "--duration", "200ms", "--warm-up", "0s",
      "--maximum-time", "1m",
    ]
    let told = try ProgramRun.complete(arguments + ["--slo", "errors<0.1%"])
    #expect(told.status == 1 || told.status == 3)
    #expect(told.output.contains("missed: errors<0.1%: 100.000 %"))
    let other = try Stub(body: no, first: yes)
    let untold = try ProgramRun.complete(
      arguments.map { $0 == stub.url ? other.url : $0 })
    #expect(untold.status == 0 || untold.status == 3)
    #expect(!untold.output.contains("missed"))
  }

  @Test func `an operation that fails is told with the server's message, before anything is sent`()
    throws
  {
    let stub = try Stub(body: #"{"errors":[{"message":"Cannot query field \"a\"."}]}"#)
    let save = folder.path + "/refused.json"
    let run = try ProgramRun.complete([
      "load", mix, "--url", stub.url, "--rate", "100", "--duration", "20m", "--maximum-time", "30m",
      "--save", save,
    ])
    #expect(run.status == 1)
    #expect(
      run.errors.contains(#"Feed: the server answered 200: Cannot query field "a"."#),
      "\(run.errors)")
    #expect(stub.requests == 1)
    #expect(try json(save)["complete"] == .boolean(false))
  }

  @Test func `runs without a common operation are refused in one sentence`() throws {
    func run(_ name: String) throws -> String {
      let mix = folder.path + "/mix-\(name)"
      try FileManager.default.createDirectory(atPath: mix, withIntermediateDirectories: true)
      try Data("query \(name) { a }".utf8).write(to: URL(filePath: mix + "/\(name).graphql"))
      let save = folder.path + "/\(name).json"
      let stub = try Stub()
      defer { withExtendedLifetime(stub) {} }
      _ = try ProgramRun.complete([
        "load", mix, "--url", stub.url, "--rate", "20", "--duration", "200ms", "--warm-up", "0s",
        "--save", save,
      ])
      return save
    }
    let compared = try ProgramRun.complete(["load", "compare", run("One"), run("Two")])
    #expect(compared.status == 2 && compared.output.isEmpty)
    #expect(
      compared.errors.contains(
        "the runs have no operation in common: the first one has One, the second one Two."),
      "\(compared.errors)")
  }

  @Test(arguments: [
    [], ["--rate", "1", "--find-knee"], ["--rate", "0"], ["--rate", "1e3"], ["--rate", "-1"],
    ["--rate", "1", "--duration", "5"], ["--rate", "1", "--duration", "31m"],
    ["--rate", "1", "--slo", "p98<1s"], ["--rate", "1", "--slo", "Other:p99<1s"],
    ["--rate", "1", "--url", "http://127.0.0.1.example.com/"],
    ["--rate", "1", "--url", "http://user:secret@localhost/"],
    ["--rate", "1", "--against", "http://127.0.0.1:1/"], ["--find-knee", "--step", "3s"],
    ["--find-knee", "--rates", "20..10"], ["--rate", "1", "--send", "id"],
    ["--rate", "1", "--tokens", "/nonexistent"], ["--rate", "1", "--ledger", "/dev/null"],
    ["--rate", "1", "--header", "no colon"], ["--rate", "1", "--header", "A: b\r\nC: d"],
    ["--rate", "1", "--save", "/nonexistent/file"], ["more", "--rate", "1"],
    ["--rate", "1", "--people", "3"],
    ["--rate", "1", "--people", "0", "--database", "postgresql:///x"],
  ])
  func `what is misunderstood is exit 2, and nothing is sent`(arguments: [String]) throws {
    let stub = try Stub()
    let run = try ProgramRun.complete(["load", mix, "--url", stub.url] + arguments)
    #expect(run.status == 2, "\(run.output)\(run.errors)")
    #expect(stub.requests == 0 && stub.server.events.isEmpty && !run.errors.contains("secret"))
  }

  @Test func `a mutation needs permission, and is in the ledger`() throws {
    try Data("mutation Save { a }".utf8).write(to: URL(filePath: mix + "/Save.graphql"))
    let stub = try Stub()
    let ledger = folder.path + "/ledger"
    let arguments = [
      "load", mix, "--url", stub.url, "--rate", "200", "--duration", "300ms", "--warm-up", "0s",
    ]
    let refused = try ProgramRun.complete(arguments)
    #expect(refused.status == 2 && refused.errors.contains("--writes") && stub.requests == 0)
    let run = try ProgramRun.complete(arguments + ["--writes", "--ledger", ledger])
    #expect(run.status == 0 || run.status == 3)
    let lines = try String(contentsOfFile: ledger, encoding: .utf8).split(separator: "\n")
    #expect(lines.count > 5 && lines.count < stub.requests)
    for line in lines {
      let entry = try JSONParser.parse(Array(line.utf8))
      #expect(entry["operation"] == .string("Save") && entry["outcome"] == .string("acknowledged"))
      #expect(entry["attempts"] == .number("1") && entry["replayed"] == .boolean(false))
    }
  }

  @Test
  func `mutations that a mix calls optional are left out without permission, and it names tokens`()
    throws
  {
    try Data("mutation Save { a }".utf8).write(to: URL(filePath: mix + "/Save.graphql"))
    try Data("secret-token".utf8).write(to: URL(filePath: mix + "/tokens.txt"))
    try Data(#"{"mutations": "optional", "tokens": "tokens.txt"}"#.utf8)
      .write(to: URL(filePath: mix + "/mix.json"))
    let seen = Mutex(Set<String>())
    let server = try HTTPServerFixture.answering { request, exchange in
      let body = (try? JSONParser.parse(Array(request.body))) ?? .null
      if case .string(let name)? = body["operationName"] {
        seen.withLock { _ = $0.insert("\(name) \(request.header("authorization") ?? "")") }
      }
      exchange.respond(contentType: "application/json", body: Array(#"{"data":{"a":1}}"#.utf8))
    }
    let arguments = [
      "load", mix, "--url", "http://127.0.0.1:\(server.port)/graphql", "--rate", "200",
      "--duration",
      "200ms", "--warm-up", "0s",
    ]
    let run = try ProgramRun.complete(arguments)
    #expect(run.status == 0 || run.status == 3, "\(run.errors)")
    #expect(run.errors.contains("left out; --writes sends them"))
    #expect(seen.withLock { $0 } == ["Feed Bearer secret-token"])
    let writing = try ProgramRun.complete(arguments + ["--writes"])
    #expect(!writing.errors.contains("left out"))
    #expect(seen.withLock { $0 } == ["Feed Bearer secret-token", "Save Bearer secret-token"])
  }

  @Test func `the mix of the demo graph fits the published schema`() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().path
    let names = try FileManager.default.contentsOfDirectory(atPath: root + "/mixes/demo")
      .filter { $0.hasSuffix(".graphql") }.sorted()
    #expect(names.count >= 17)
    for name in names {
      let run = try ProgramRun.complete([
        "check", "--schema", root + "/Tests/Fixtures/schema/published.graphql",
        root + "/mixes/demo/" + name,
      ])
      #expect(run.status == 0, "\(run.output)\(run.errors)")
    }
    // The mix itself is read before the server is missed.
    let run = try ProgramRun.complete([
      "load", root + "/mixes/demo", "--url", "http://127.0.0.1:1/graphql", "--rate", "1",
      "--writes",
    ])
    #expect(run.status == 1 && run.errors.contains("The connection was refused"), "\(run.errors)")
  }

  @Test func `a server that is not there is exit 1, and the files say so`() throws {
    let save = folder.path + "/gone.json"
    let run = try ProgramRun.complete([
      "load", mix, "--url", "http://127.0.0.1:1/graphql", "--rate", "1", "--save", save,
    ])
    #expect(
      run.status == 1 && run.errors.contains("127.0.0.1:1: The connection was refused"),
      "\(run.errors)")
    #expect(try json(save)["complete"] == .boolean(false))
  }

  @Test func `Ctrl-C ends a run with what there was`() throws {
    let stub = try Stub()
    let save = folder.path + "/interrupted.json"
    let run = try ProgramRun([
      "load", mix, "--url", stub.url, "--rate", "100", "--duration", "20m", "--warm-up", "0s",
      "--save", save,
    ])
    #expect(eventually { stub.requests > 20 })
    run.signal(SIGINT)
    #expect(run.finish() == 130)
    let result = try json(save)
    #expect(result["complete"] == .boolean(false) && result["totals"]?["offered"] != .number("0"))
  }

  @Test func `weights come from an access log, whose unknown documents are told`() throws {
    try Data("query Other { b }".utf8).write(to: URL(filePath: mix + "/Other.graphql"))
    let stub = try Stub()
    // The start of the SHA-256 of the document of Feed.
    let hash = "600678184f0b7c19"
    let lines =
      (0..<98).map {
        "2026-05-01T18:30:0\($0 % 10)Z access: query Feed status=200 document=\(hash) x=1"
      }
      + [#"{"time":"x","subject":"access","document":"\#(hash)"}"#, "x slow: document=0000"]
    let log = try folder.write("log", lines.joined(separator: "\n"))
    let save = folder.path + "/weights.json"
    let arguments = [
      "load", mix, "--url", stub.url, "--rate", "100", "--duration", "200ms", "--warm-up", "0s",
      "--save", save, "--weights-from", log,
    ]
    let run = try ProgramRun.complete(arguments)
    #expect(run.status == 0 || run.status == 3, "\(run.errors)")
    let operations = try json(save)["operations"]
    guard case .array(let list)? = operations else { return }
    #expect(list.count == 1 && list[0]["weight"] == .number("99"))
    let unknown = (0..<10).map { _ in "x access: query Z document=0123456789abcdef" }
    _ = try folder.write("log", (lines + unknown).joined(separator: "\n"))
    let refused = try ProgramRun.complete(arguments)
    #expect(refused.status == 2 && refused.errors.contains("9.2 %"), "\(refused.errors)")
  }
}
