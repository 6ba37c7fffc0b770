import Glibc

/// Returns the exit status of a child that has ended, or nil while it runs: 128 plus the signal's
/// number if a signal ended it, as in shells.
package func exitStatus(of process: pid_t) -> Int32? {
  var status: Int32 = 0
  return unsafe waitpid(process, &status, WNOHANG) == process ? exitStatus(status) : nil
}

/// Waits for the end of a child, and returns its exit status.
package func waitForExit(of process: pid_t) -> Int32 {
  var status: Int32 = 0
  while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
  return exitStatus(status)
}

private func exitStatus(_ status: Int32) -> Int32 {
  let signal = status & 0x7f
  return signal == 0 ? (status >> 8) & 0xff : 128 + signal
}

/// Calls a function with strings as C has them: a list that ends with a null.
package func withCStrings<R>(
  _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R
) -> R {
  var pointers = unsafe strings.map { unsafe strdup($0) }
  unsafe pointers.append(nil)
  defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
  return unsafe pointers.withUnsafeBufferPointer { buffer in
    // Not empty: it ends with a nil.
    guard let base = buffer.baseAddress else { preconditionFailure("No arguments.") }
    return unsafe body(base)
  }
}
