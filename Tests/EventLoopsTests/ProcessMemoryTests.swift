import EventLoops
import Foundation
import Testing

@Suite struct ProcessMemoryTests {
  /// Returns a field of `/proc/self/smaps_rollup`, in kilobytes.
  private func kilobytes(of field: String) throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8)
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(field + ":") })
    return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) })
  }

  /// Megabytes of libraries were read to get here; a few are touched again while this is asked.
  @Test func `what is as in its file is given back, and comes when it is asked for`() throws {
    let before = try kilobytes(of: "Private_Clean") + kilobytes(of: "Shared_Clean")
    ProcessMemory.release()
    let after = try kilobytes(of: "Private_Clean") + kilobytes(of: "Shared_Clean")
    // Other tests of the process read some of it again meanwhile.
    #expect(after < before * 3 / 4, "\(before) kB before, \(after) kB after")
    // Code and constants of many libraries are read again as they were.
    #expect(try JSONSerialization.jsonObject(with: Data("[1.5]".utf8)) as? [Double] == [1.5])
    #expect(Date(timeIntervalSince1970: 0).description.hasPrefix("1970-01-01"))
  }
}
