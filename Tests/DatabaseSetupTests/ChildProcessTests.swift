import Foundation
import Glibc
import TestSupport
import Testing

@testable import DatabaseSetup

@Suite(.blocks) struct ChildProcessTests {
  @Test func `a program that runs for long holds no pipe of the one that started it`() throws {
    var ends: [Int32] = [0, 0]
    try #require(unsafe pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let process = try ChildProcess.start(
      ["/bin/sleep", "600"], user: nil, output: "/dev/null")
    defer {
      kill(process, SIGKILL)
      _ = waitpid(process, nil, 0)
    }
    let folder = "/proc/\(process)"
    // It is `env` at first.
    while try String(contentsOfFile: folder + "/comm", encoding: .utf8) != "sleep\n" {
      usleep(1_000)
    }
    // The loader has a library open for a moment.
    let holdsNone = try eventually {
      try FileManager.default.contentsOfDirectory(atPath: folder + "/fd").sorted()
        == ["0", "1", "2"]
    }
    #expect(holdsNone)
  }
}
