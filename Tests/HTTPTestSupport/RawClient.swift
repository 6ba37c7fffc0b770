import Glibc

/// A client that sends exactly the bytes it is given.
package final class RawClient {
  private let descriptor: Int32
  private var received: [UInt8] = []
  package private(set) var isClosed = false

  package init(port: UInt16, receiveBuffer: Int32? = nil) throws {
    // Not to be held open by a PostgreSQL that is started meanwhile.
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    if var size = receiveBuffer {
      _ = unsafe setsockopt(
        descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    var timeout = timeval(tv_sec: 60, tv_usec: 0)
    _ = unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    var on: Int32 = 1
    _ = unsafe setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = unsafe withUnsafePointer(to: address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw ConnectFailure(code: errno) }
  }

  struct ConnectFailure: Error { let code: Int32 }

  deinit { close(descriptor) }

  package func send(_ text: String) { send(Array(text.utf8)) }

  /// Returns whether the server was still there for all of it.
  @discardableResult package func send(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// Leaves without a word: what is sent to it from now on is refused.
  package func reset() {
    var option = linger(l_onoff: 1, l_linger: 0)
    _ = unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  package func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  private func read() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var count = 0
    repeat {
      count = unsafe buffer.withUnsafeMutableBytes {
        unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
      }
    } while count < 0 && errno == EINTR
    if count == 0 || (count < 0 && errno != EAGAIN) { isClosed = true }
    guard count > 0 else { return false }
    received.append(contentsOf: buffer[..<count])
    return true
  }

  /// The next bytes; nil when the connection ends before there are as many.
  package func bytes(_ count: Int) -> [UInt8]? {
    while received.count < count { if !read() { return nil } }
    defer { received.removeFirst(count) }
    return Array(received.prefix(count))
  }

  /// Returns once a byte has come that was not taken before.
  package func waitForSomething() { _ = read() }

  /// Everything until the server closes the connection.
  package func rest() -> String {
    while read() {}
    defer { received = [] }
    return String(decoding: received, as: UTF8.self)
  }

  /// Whether the server closes without sending anything more.
  package func isClosedByServer() -> Bool {
    while read() {}
    return isClosed
  }

  package struct Answer {
    package var status = 0
    package var head = ""
    package var body = ""

    package func header(_ name: String) -> String? {
      for line in head.split(separator: "\r\n") where line.hasPrefix("\(name): ") {
        return String(line.dropFirst(name.utf8.count + 2))
      }
      return nil
    }
  }

  /// The next answer, by its Content-Length; status 0 when the connection ended instead.
  package func answer(isHead: Bool = false) -> Answer {
    while true {
      if let end = received.firstEnd(of: Array("\r\n\r\n".utf8)) {
        let head = String(decoding: received[..<end], as: UTF8.self)
        var length = 0
        for line in head.split(separator: "\r\n") where line.hasPrefix("Content-Length:") {
          length = Int(line.dropFirst(15).drop { $0 == " " }) ?? -1
        }
        if isHead || head.hasPrefix("HTTP/1.1 1") { length = 0 }
        if received.count >= end + length {
          let body = String(decoding: received[end..<end + length], as: UTF8.self)
          received.removeFirst(end + length)
          let status = Int(head.dropFirst(9).prefix(3)) ?? 0
          return Answer(status: status, head: head, body: body)
        }
      }
      if !read() { return Answer() }
    }
  }
}

extension [UInt8] {
  fileprivate func firstEnd(of pattern: [UInt8]) -> Int? {
    guard count >= pattern.count else { return nil }
    return (0...count - pattern.count).first {
      self[$0..<$0 + pattern.count].elementsEqual(pattern)
    }
    .map { $0 + pattern.count }
  }
}
