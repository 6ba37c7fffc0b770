import Foundation
import Postgres
import TestSupport
import Testing

/// docs/how-to/find-slow-operations.md, step by step: its commands as they stand there, but for
/// ports and the time from which an operation is slow, so that the machine's speed decides nothing.
@Suite(.usesCluster) struct SlowOperationPageTests {
  /// The commands, in order.
  private static func commands() throws -> [String] {
    try Guide("docs/how-to/find-slow-operations.md")
      .blocks(of: "console").flatMap(\.commands).map(\.text)
  }

  @Test func `every step leads to the next`() throws {
    let database = try TestCluster.newDatabase(migrated: true)
    var commands = try Self.commands()
    try #require(commands.count == 7)
    let folder = try TemporaryFolder()
    let serve = commands.removeFirst()
    #expect(serve.hasPrefix("sociograph serve ") && serve.hasSuffix(" 2> server.log"))
    let run = try ProgramRun(
      serve.dropLast(" 2> server.log".count).split(separator: " ").dropFirst().map { word in
        switch word {
        case "127.0.0.1:8080", "127.0.0.1:9464": "127.0.0.1:0"
        case "250ms": "0ms"
        default: String(word)
        }
      } + ["--shutdown-delay", "0s"], environment: ["DATABASE_URL": database])
    let ports = try #require(Self.ports(of: run))
    let environment = [
      "DATABASE_URL": database,
      "PATH": (ProgramRun.executable as NSString).deletingLastPathComponent + ":/usr/bin:/bin",
    ]
    func step() throws -> String {
      let command = commands.removeFirst()
        .replacing(":8080", with: ":\(ports.0)").replacing(":9464", with: ":\(ports.1)")
      return try Self.shell(command, in: folder.path, environment)
    }

    #expect(try step() == "")
    #expect(try step().hasPrefix(#"{"data":{"users""#))

    let phases = try step()
    #expect(phases.contains(#"sociograph_phase_duration_seconds_count{phase="postgresql"} 1"#))

    // Written off the loops, so perhaps a moment after the answer.
    let search = commands.removeFirst()
    var line = ""
    for _ in 0..<60_000 where line.isEmpty {
      _ = try folder.write("server.log", run.errors)
      line = try Self.shell(search, in: folder.path, environment)
      if line.isEmpty { usleep(10_000) }
    }
    #expect(line.contains(#""message":"query People""#), "\(run.errors)")
    let statement = try #require(line.firstMatch(of: /"statement":"(s_[0-9a-f]{16})"/)?.1)
    let document = try #require(line.firstMatch(of: /"document":"([0-9a-f]{16})"/)?.1)

    // A connection's last statement: another may have come since.
    let look = commands.removeFirst()
    var activity = ""
    for _ in 0..<600 where !activity.contains("People") {
      _ = try Self.shell(
        try Self.commands()[2].replacing(":8080", with: ":\(ports.0)"), in: folder.path,
        environment)
      activity = try Self.shell(look, in: folder.path, environment)
    }
    let comment =
      "/*action='People',application='sociograph',document='\(document)',statement='\(statement)'*/"
    #expect(activity.contains(comment), "\(activity)")

    let summary = try step()
    #expect(summary.hasPrefix("# Summary\nServed in "), "\(summary)")
    let whole = try Self.shell(
      "sociograph explain people.graphql", in: folder.path, environment)
    #expect(whole.hasPrefix("# Statement \(statement)\n-- People \(document)\n"))
    #expect(commands.isEmpty)
    run.signal(SIGTERM)
    #expect(run.finish() == 0)
  }

  private static func ports(of run: ProgramRun) -> (Substring, Substring)? {
    for _ in 0..<9_000 {
      let said = run.errors
      if let served = said.firstMatch(of: /serving http:..127\.0\.0\.1:(\d+)/)?.1,
        let operators = said.firstMatch(of: /operators: http:..127\.0\.0\.1:(\d+)/)?.1
      {
        return (served, operators)
      }
      if !run.isRunning { return nil }
      usleep(10_000)
    }
    return nil
  }

  private static func shell(
    _ command: String, in folder: String, _ environment: [String: String]
  ) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", command]
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    process.environment = environment
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: output, as: UTF8.self)
  }
}
