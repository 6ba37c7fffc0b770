import CEventLoops
import Glibc

extension EventLoop {
  /// Accepts one waiting connection of a listening socket: non-blocking, close-on-exec.
  ///
  /// - Returns: the descriptor, or -1 with the error number (`EAGAIN`, `EMFILE`, …).
  package static func acceptSocket(
    from listener: Int32, peer: inout sockaddr_storage
  ) -> (descriptor: Int32, error: Int32) {
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let descriptor = unsafe withUnsafeMutablePointer(to: &peer) { peer in
      unsafe peer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe event_accept(listener, $0, &length)
      }
    }
    return (descriptor, descriptor < 0 ? errno : 0)
  }
}

/// A pipe whose ends are not inherited by programs that other threads start meanwhile.
package enum Pipe {
  /// Opens a pipe, or returns nil if no descriptor is left.
  package static func open() -> (reading: Int32, writing: Int32)? {
    var ends: [Int32] = [-1, -1]
    guard unsafe event_pipe(&ends) == 0 else { return nil }
    return (ends[0], ends[1])
  }
}
