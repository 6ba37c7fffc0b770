import Foundation
import Sandbox
import TestSupport
import Testing

/// The program that reads untrusted pictures cannot exceed its limits.
@Suite(.blocks) struct ChildProgramTests {
  private func run(
    _ script: String, _ input: [UInt8] = [], confined: Bool = true,
    _ change: (inout ChildProgram.Limits) -> Void = { _ in }
  ) -> ChildProgram.Outcome {
    var limits = ChildProgram.Limits()
    limits.time = .seconds(600)
    limits.isConfined = confined
    change(&limits)
    return ChildProgram(
      arguments: ["/bin/sh", "-c", script], environment: ["PATH=/usr/bin:/bin"], limits: limits
    ).run(input)
  }

  @Test func `bytes go in and come out, more than a pipe holds`() {
    let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    #expect(run("exec cat", bytes) == .ended(status: 0, output: bytes))
  }

  @Test func `one that does not read is no reason to wait`() {
    let bytes = [UInt8](repeating: 1, count: 1_000_000)
    #expect(run("echo done", bytes) == .ended(status: 0, output: Array("done\n".utf8)))
  }

  @Test func `its standard error is read if asked for, up to the limit`() {
    var limits = ChildProgram.Limits()
    limits.time = .seconds(600)
    limits.outputBytes = 4
    limits.truncatesOutput = true
    limits.isConfined = false
    let program = ChildProgram(
      arguments: ["/bin/sh", "-c", "echo out; echo errors >&2; cat >&2; exit 3"],
      environment: ["PATH=/usr/bin:/bin"], limits: limits, reading: .errors)
    let bytes = [UInt8](repeating: 1, count: 1_000_000)
    #expect(program.run(bytes) == .ended(status: 3, output: Array("erro".utf8)))
  }

  /// The program that it started in the background has its output open.
  @Test func `its end is noticed while its output stays open`() throws {
    let outcome = run("sleep 1000 & echo $!; exit 4", confined: false)
    guard case .ended(status: 4, let output) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    let text = String(decoding: output, as: UTF8.self).trimmingCharacters(in: .newlines)
    #expect(kill(try #require(pid_t(text)), SIGKILL) == 0)
  }

  @Test func `its status is told, and that of one that is not there`() {
    #expect(run("exit 3") == .ended(status: 3, output: []))
    let missing = ChildProgram(
      arguments: ["/nowhere"], environment: [], limits: ChildProgram.Limits())
    #expect(missing.run([]) == .ended(status: 127, output: []))
  }

  @Test func `one that hangs is killed, also when it has closed its output`() {
    #expect(run("exec sleep 1000") { $0.time = .milliseconds(300) } == .outOfTime)
    #expect(run("exec sleep 1000 >&-") { $0.time = .milliseconds(300) } == .outOfTime)
  }

  @Test func `what it started dies with it`() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    // It prints without end, and is killed for that, once it has started something.
    let script = "sleep 1000 & echo $! > \(file.path); exec yes"
    #expect(run(script, confined: false) { $0.outputBytes = 1 << 20 } == .tooMuchOutput)
    let text = try #require(try? String(contentsOf: file, encoding: .utf8))
    let other = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    // It is gone, or a zombie that nobody has noticed yet.
    for _ in 0..<60_000 where isAlive(other) { usleep(10_000) }
    #expect(!isAlive(other))
  }

  private func isAlive(_ process: pid_t) -> Bool {
    guard
      let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      let end = status.lastIndex(of: ")")
    else { return false }
    return !status[end...].hasPrefix(") Z")
  }

  @Test func `one that eats memory is ended by its limit`() {
    // tail keeps what has no line end, for ever.
    let outcome = run("exec tail /dev/zero") { $0.memoryBytes = 256 << 20 }
    guard case .ended(let status, _) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(status != 0)
  }

  @Test func `one that prints without end is killed`() {
    #expect(run("exec yes") { $0.outputBytes = 1 << 20 } == .tooMuchOutput)
  }

  @Test func `it can neither open sockets nor start processes nor write files nor stay root`() {
    // The shell can do without processes of its own: these are built in, or replace it.
    #expect(run("exec sh -c 'true | true'") != .ended(status: 0, output: []))
    #expect(run("exec curl -s http://127.0.0.1:1/") == .ended(status: 7, output: []))
    let file = "/tmp/sociograph-sandbox-\(UInt32.random(in: 0 ... .max))"
    defer { unsafe unlink(file) }
    #expect(run("echo much > \(file)") != .ended(status: 0, output: []))
    #expect((FileManager.default.contents(atPath: file) ?? Data()).isEmpty)
    #expect(run("exec id -u") != .ended(status: 0, output: Array("0\n".utf8)))
    // And the same programs can do so when they are not confined.
    #expect(run("exec sh -c 'true | true'", confined: false) == .ended(status: 0, output: []))
    #expect(run("echo much > \(file)", confined: false) == .ended(status: 0, output: []))
  }
}
