import Glibc
import Synchronization

/// Keep-alive connections to a port of this machine, each used by one caller at a time. Callers
/// wait in `send`.
final class HTTPClients: Sendable {
  struct Response: Sendable {
    let status: Int
    /// The status line and the header fields.
    let head: String
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    /// Returns whether the body contains the bytes of a text, much faster than a search in characters.
    func contains(_ text: String) -> Bool {
      unsafe self.text.withCString { unsafe strstr($0, text) != nil }
    }

    func header(_ name: String) -> String? {
      for line in head.split(separator: "\r\n").dropFirst() {
        let parts = line.split(separator: ":", maxSplits: 1)
        if parts.count == 2, parts[0].lowercased() == name.lowercased() {
          return String(parts[1].drop { $0 == " " })
        }
      }
      return nil
    }
  }

  private let port: UInt16
  private let idle = Mutex<[Int32]>([])

  init(port: UInt16) { self.port = port }

  deinit { for descriptor in idle.withLock({ $0 }) { close(descriptor) } }

  func send(
    _ method: String, _ path: String, headers: [(String, String)] = [], body: [UInt8] = []
  ) throws -> Response {
    var text = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n"
    for (name, value) in headers { text += "\(name): \(value)\r\n" }
    text += "Content-Length: \(body.count)\r\n\r\n"
    let request = Array(text.utf8) + body
    if let descriptor = idle.withLock({ $0.popLast() }) {
      // The server may have closed it while it was idle.
      if let response = exchange(request, on: descriptor, isHead: method == "HEAD") {
        return response
      }
    }
    guard let response = exchange(request, on: try connected(), isHead: method == "HEAD") else {
      throw GraphTestFailure("the server closed the connection without an answer")
    }
    return response
  }

  private func connected() throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
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
    guard result == 0 else {
      close(descriptor)
      throw GraphTestFailure("cannot connect to port \(port): error \(errno)")
    }
    return descriptor
  }

  /// Sends a request and returns the response; nil if the connection ends first.
  private func exchange(_ request: [UInt8], on descriptor: Int32, isHead: Bool) -> Response? {
    var rest = request[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      // A server may refuse a body before it was sent whole. Its response is there all the same.
      if count <= 0 { break }
      rest = rest.dropFirst(count)
    }
    var received: [UInt8] = []
    var headEnd: Int?
    var bodyLength = 0
    var head = ""
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      if headEnd == nil, let end = received.firstEnd(of: Array("\r\n\r\n".utf8)) {
        headEnd = end
        head = String(decoding: received[..<end], as: UTF8.self)
        for line in head.split(separator: "\r\n")
        where line.lowercased().hasPrefix("content-length:") && !isHead {
          bodyLength = Int(line.dropFirst(15).drop { $0 == " " }) ?? 0
        }
      }
      if let headEnd, received.count >= headEnd + bodyLength {
        let response = Response(
          status: Int(head.dropFirst(9).prefix(3)) ?? 0, head: head,
          body: Array(received[headEnd..<headEnd + bodyLength]))
        if head.lowercased().contains("\r\nconnection: close") {
          close(descriptor)
        } else {
          idle.withLock { $0.append(descriptor) }
        }
        return response
      }
      let count = unsafe buffer.withUnsafeMutableBytes {
        unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        close(descriptor)
        return nil
      }
      received.append(contentsOf: buffer[..<count])
    }
  }
}

extension [UInt8] {
  fileprivate func firstEnd(of pattern: [UInt8]) -> Int? {
    guard count >= pattern.count else { return nil }
    return (0...count - pattern.count).first {
      self[$0] == pattern[0] && self[$0..<$0 + pattern.count].elementsEqual(pattern)
    }
    .map { $0 + pattern.count }
  }
}
