import Foundation

/// What the process was called with, as the kernel has it.
///
/// Swift's `CommandLine.arguments` finds them beside `environ`. In a program that is linked statically this
/// loses them when a library that was loaded before (`LD_PRELOAD`) has called `setenv`, which moves it.
package enum ProgramArguments {
  /// Without the program's name; `others` where there is no /proc.
  package static func ofThisProcess(or others: [String]) -> [String] {
    guard let bytes = FileManager.default.contents(atPath: "/proc/self/cmdline"),
      let arguments = read([UInt8](bytes))
    else { return others }
    return arguments
  }

  /// Each argument ends with a NUL; empty ones count. Nil for what is no command line.
  static func read(_ bytes: [UInt8]) -> [String]? {
    guard bytes.last == 0 else { return nil }
    return bytes.dropLast().split(separator: 0, omittingEmptySubsequences: false).dropFirst().map {
      String(decoding: $0, as: UTF8.self)
    }
  }
}
