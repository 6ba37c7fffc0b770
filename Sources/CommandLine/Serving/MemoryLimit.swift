import Foundation
import Glibc

/// The memory limit of this process: that of its control group (a container, a unit of systemd), or
/// else the machine's memory.
struct MemoryLimit: Equatable {
  let bytes: Int
  /// The file with the limit, or "the machine".
  let source: String

  /// The part of the limit for defaults that buffer memory for clients.
  var share: Int { max(Self.leastShare, bytes / 4) }

  /// The minimum share: a few large responses or photos would fill less.
  static let leastShare = 16 << 20

  static func current() -> MemoryLimit? {
    let groups = FileManager.default.contents(atPath: "/proc/self/cgroup") ?? Data()
    let group = ofControlGroup(
      String(decoding: groups, as: UTF8.self), root: "/sys/fs/cgroup")
    let pages = sysconf(Int32(_SC_PHYS_PAGES))
    let size = sysconf(Int32(_SC_PAGESIZE))
    let (bytes, overflows) = pages.multipliedReportingOverflow(by: size)
    let machine =
      pages > 0 && size > 0 && !overflows
      ? MemoryLimit(bytes: bytes, source: "the machine") : nil
    return [group, machine].compactMap(\.self).min { $0.bytes < $1.bytes }
  }

  /// Returns the smallest limit of the groups that a process is in, up to the root: each applies to
  /// all groups beneath it.
  ///
  /// - Parameters:
  ///   - groups: the text of /proc/self/cgroup: lines of `number:controllers:path`. Version 2 is
  ///     the line
  ///     without controllers.
  ///   - root: the folder where the hierarchies are mounted.
  static func ofControlGroup(_ groups: String, root: String) -> MemoryLimit? {
    var least: MemoryLimit?
    for line in groups.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { continue }
      let hierarchies: [String]
      let name: String
      if parts[1].isEmpty {
        (hierarchies, name) = ([root, root + "/unified"], "memory.max")
      } else if parts[1].split(separator: ",").contains("memory") {
        (hierarchies, name) = ([root + "/memory"], "memory.limit_in_bytes")
      } else {
        continue
      }
      // In a container the path may be that of the host, of which only the end is mounted: what is there counts.
      var path = parts[2].split(separator: "/")
      if path.contains("..") { path = [] }
      while true {
        for hierarchy in hierarchies {
          let file = ([hierarchy] + path.map(String.init) + [name]).joined(separator: "/")
          guard let bytes = limit(in: file), bytes < least?.bytes ?? .max else { continue }
          least = MemoryLimit(bytes: bytes, source: file)
        }
        if path.popLast() == nil { break }
      }
    }
    return least
  }

  /// Returns a limit; nil for none: `max`, or version 1's equivalent, a number that no machine
  /// reaches.
  private static func limit(in file: String) -> Int? {
    guard let data = FileManager.default.contents(atPath: file),
      let bytes = Int(String(decoding: data, as: UTF8.self).filter { !$0.isWhitespace }),
      bytes > 0, bytes < 1 << 60
    else { return nil }
    return bytes
  }
}
