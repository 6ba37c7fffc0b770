import CEventLoops
import Glibc

extension EventLoop {
  /// Takes one waiting connection from a listening socket: non-blocking, close-on-exec.
  ///
  /// - Returns: its descriptor, or -1 with the error number when none could be had (`EAGAIN`,
  ///   `EMFILE`, …).
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
