import Foundation
import Glibc

/// The system's statistics of this process, read on request.
struct ProcessStatistics: Sendable {
  var processorSeconds = 0.0
  var residentBytes = 0
  var virtualBytes = 0
  var openDescriptors = 0
  var maximumDescriptors = 0
  var startSeconds = 0.0

  static func read() -> ProcessStatistics {
    var result = ProcessStatistics()
    var time = timespec()
    if unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 {
      result.processorSeconds = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
    let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    let sizes = words("/proc/self/statm").compactMap { Int($0) }
    if sizes.count > 1 {
      result.virtualBytes = sizes[0] * page
      result.residentBytes = sizes[1] * page
    }
    result.openDescriptors =
      (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    var limit = rlimit()
    if unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
      result.maximumDescriptors = Int(clamping: limit.rlim_cur)
    }
    result.startSeconds = started
    return result
  }

  /// Field 22 of `stat` counts ticks since the system's start; names may hold blanks and brackets.
  private static let started: Double = {
    let text = (try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8)) ?? ""
    let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
    let boot = (try? String(contentsOfFile: "/proc/stat", encoding: .utf8))?
      .split(separator: "\n").first { $0.hasPrefix("btime ") }?.dropFirst(6)
    guard fields.count > 20, let ticks = Double(fields[20]), let boot, let since = Double(boot)
    else { return 0 }
    return since + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
  }()

  private static func words(_ path: String) -> [Substring] {
    ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(separator: " ")
  }
}
