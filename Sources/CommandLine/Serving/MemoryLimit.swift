import Foundation
import Glibc

/// How much memory this process may have: what its control group (a container, a unit of systemd) is given,
/// or else the machine's.
struct MemoryLimit: Equatable {
  let bytes: Int
  /// The file that says so, or "the machine".
  let source: String

  /// Defaults that hold memory for clients are this part of the limit.
  var share: Int { max(Self.leastShare, bytes / 4) }

  /// Beneath this a few large answers or photos would fill it.
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

  /// The least limit of the groups that a process is in, up to the root: each holds for all beneath it.
  ///
  /// - Parameters:
  ///   - groups: the text of /proc/self/cgroup: lines of `number:controllers:path`. Version 2 is the line without
  ///     controllers.
  ///   - root: where the hierarchies are mounted.
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

  /// Nil for none: `max`, or what version 1 has in its place, a number that no machine reaches.
  private static func limit(in file: String) -> Int? {
    guard let data = FileManager.default.contents(atPath: file),
      let bytes = Int(String(decoding: data, as: UTF8.self).filter { !$0.isWhitespace }),
      bytes > 0, bytes < 1 << 60
    else { return nil }
    return bytes
  }
}
