import Foundation
import TestSupport
import Testing

/// Two servers over a primary and two standbys, as `script/replicas` starts them: what does not depend
/// on how fast the machine is.
@Suite(.serialized) struct ReplicaTests {
  @Test func `clients read what they wrote, before, during and after a fail-over`() throws {
    let folder = try TemporaryFolder()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "python3", TestCluster.packageFolder + "/Benchmarks/replicas.py", "--program",
      ProgramRun.executable, "--quick", "--no-times", "--log", folder.path + "/log",
    ]
    // Settings of the tests are none of the program's.
    process.environment = ProcessInfo.processInfo.environment.filter {
      !$0.key.hasPrefix("SOCIOGRAPH_")
    }
    process.currentDirectoryURL = URL(fileURLWithPath: TestCluster.packageFolder)
    let output = folder.path + "/output"
    #expect(FileManager.default.createFile(atPath: output, contents: nil))
    process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
    try process.run()
    process.waitUntilExit()
    let text = String(
      decoding: FileManager.default.contents(atPath: output) ?? Data(), as: UTF8.self)
    #expect(process.terminationStatus == 0, "\(text)")
    #expect(text.split(separator: "\n").count { $0.hasPrefix("ok ") } >= 20, "\(text)")
  }

  @Test(arguments: [
    (["--replica-database", "host=b"], "needs --database"),
    (
      ["--database", "host=a", "--replica-database", "host=b", "--answer-cache", "1000000"],
      "cannot be used with --answer-cache"
    ),
    (
      [
        "--database", "host=a", "--pooler", "transaction", "--direct-database", "host=a",
        "--replica-database", "host=b",
      ], "cannot be used with --pooler"
    ),
    (
      ["--database", "host=a", "--replica-database", "host=b,c,d port=1,2"],
      "Name one port for all hosts, or one for each."
    ),
    (
      [
        "--database", "host=a", "--replica-database",
        "host=b target_session_attrs=standby",
      ], "target_session_attrs=standby"
    ),
  ])
  func `settings that contradict each other are refused`(
    arguments: [String], reason: String
  ) throws {
    let run = try ProgramRun.complete(["serve"] + arguments)
    #expect(run.status != 0 && run.errors.contains(reason), "\(run.errors)")
    #expect(run.errors.contains("replica-database"), "\(run.errors)")
  }
}
