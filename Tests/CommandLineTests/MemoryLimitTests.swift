import Foundation
import TestSupport
import Testing

@testable import CommandLine

/// The memory limit of the process, and the defaults derived from it.
@Suite struct MemoryLimitTests {
  /// A folder in the place of /sys/fs/cgroup.
  private struct Groups {
    private let folder = try? TemporaryFolder()
    var root: String { folder?.path ?? "" }

    init(_ files: [String: String]) throws {
      for (file, text) in files {
        let path = root + "/" + file
        try FileManager.default.createDirectory(
          atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Data("\(text)\n".utf8).write(to: URL(filePath: path))
      }
    }
  }

  @Test(
    arguments: [
      // Version 2: of its own group, of one above, of the mount's root, as in a container.
      ("0::/system.slice/app.service\n", ["system.slice/app.service/memory.max": "268435456"], 256),
      (
        "0::/a/b\n",
        ["a/memory.max": "134217728", "a/b/memory.max": "max", "a/c/memory.max": "1048576"], 128
      ),
      ("0::/\n", ["memory.max": "536870912"], 512),
      ("0::/a\n", ["a/memory.max": "max"], nil),
      // The path of a host, of which only the end is mounted.
      ("0::/docker/1f\n", ["memory.max": "67108864"], 64),
      ("0::/../other\n", ["memory.max": "67108864", "other/memory.max": "1"], 64),
      // Version 1, where no limit is a large number, and both at once.
      (
        "3:cpuset:/\n4:memory:/app\n0::/\n",
        [
          "memory/memory.limit_in_bytes": "9223372036854771712",
          "memory/app/memory.limit_in_bytes": "268435456",
        ], 256
      ),
      ("4:cpu,memory:/\n", ["memory/memory.limit_in_bytes": "33554432"], 32),
      ("4:memory:/\n", ["memory/memory.limit_in_bytes": "9223372036854771712"], nil),
      (
        "4:memory:/\n0::/app\n",
        [
          "memory/memory.limit_in_bytes": "1073741824",
          "unified/app/memory.max": "536870912",
        ], 512
      ),
      // Nothing of it is there, or is what it should be.
      ("", [:], nil), ("0::/\n", [:], nil), ("nonsense\n0::/\n", ["memory.max": "-5"], nil),
    ] as [(String, [String: String], Int?)]) func `the least limit of its groups holds`(
      groups: String, files: [String: String], megabytes: Int?
    ) throws
  {
    let folder = try Groups(files)
    let limit = MemoryLimit.ofControlGroup(groups, root: folder.root)
    #expect(limit.map { $0.bytes >> 20 } == megabytes)
  }

  private func settings(_ arguments: [String] = [], megabytes: Int?) throws -> ServeSettings {
    let memory = megabytes.map { MemoryLimit(bytes: $0 << 20, source: "/limit") }
    return try ServeSettings(
      ServeCommand.specification.parse(
        ["--schema", "Schema", "--database", "postgresql:///x"] + arguments, environment: [:]),
      memory: memory)
  }

  @Test func `unread responses and uploads hold a quarter of it, within bounds`() throws {
    for (megabytes, held) in [(nil, 256), (8192, 256), (512, 128), (256, 64), (32, 16)] {
      let settings = try settings(megabytes: megabytes)
      #expect(settings.server.http.maximumHeldBytes == held << 20)
      // A photo of 20 MiB, as large as may be by default, fits.
      #expect(settings.server.http.maximumUploadedBytes == max(held, 20) << 20)
      #expect((settings.memoryHint == nil) == (held == 256))
    }
    let hint = try settings(megabytes: 256).memoryHint
    #expect(
      hint == "unread responses may hold 64 MiB, because the memory limit is 256 MiB (/limit); "
        + "--maximum-buffered-bytes sets it")
  }

  @Test func `what the operator says holds, and a photo as large as may be fits`() throws {
    let told = try settings(["--maximum-buffered-bytes", "268435456"], megabytes: 256)
    #expect(told.server.http.maximumHeldBytes == 256 << 20)
    #expect(told.memoryHint == nil)
    let photos = try settings(
      ["--photos", "photos", "--maximum-photo-bytes", "100000000"], megabytes: 256)
    #expect(photos.server.http.maximumUploadedBytes == 100_000_000)
  }

  @Test func `this process has a limit, and its source is there`() throws {
    let limit = try #require(MemoryLimit.current())
    #expect(limit.bytes > 0)
    #expect(limit.source == "the machine" || FileManager.default.fileExists(atPath: limit.source))
  }
}
