import Foundation

/// The arguments of the process, as the kernel has them.
///
/// Swift's `CommandLine.arguments` finds them next to `environ`. In a statically linked program it
/// loses them if a library loaded before (`LD_PRELOAD`) has called `setenv`, which moves `environ`.
package enum ProgramArguments {
  /// Returns the arguments without the program's name; `others` if there is no /proc.
  package static func ofThisProcess(or others: [String]) -> [String] {
    guard let bytes = FileManager.default.contents(atPath: "/proc/self/cmdline"),
      let arguments = read([UInt8](bytes))
    else { return others }
    return arguments
  }

  /// Splits the arguments, each of which ends with a NUL; empty ones count. Nil if the bytes are
  /// not a command line.
  static func read(_ bytes: [UInt8]) -> [String]? {
    guard bytes.last == 0 else { return nil }
    return bytes.dropLast().split(separator: 0, omittingEmptySubsequences: false).dropFirst().map {
      String(decoding: $0, as: UTF8.self)
    }
  }
}
