import Glibc
import GraphQLExecution
import JSON

/// The address of a collector that receives traces by OTLP over HTTP: `http://host:port`, with the
/// path `/v1/traces` by default. For TLS, run a collector next to the server.
package struct TraceEndpoint: Sendable, Equatable {
  package let host: String
  package let port: UInt16
  package let path: String

  /// Creates an endpoint, or returns nil unless the text is `http://HOST[:PORT][/PATH]`. The
  /// default port is OTLP's 4318.
  package init?(_ text: String) {
    guard text.hasPrefix("http://") else { return nil }
    let rest = text.dropFirst(7)
    let authority = rest.prefix { $0 != "/" }
    let path = rest.dropFirst(authority.count)
    guard
      rest.utf8.allSatisfy({
        $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "@") && $0 != UInt8(ascii: "?")
          && $0 != UInt8(ascii: "#")
      })
    else { return nil }
    var host = authority
    var port: UInt16 = 4318
    let digits = authority.reversed().prefix { $0.isASCII && $0.isNumber }
    if authority.dropLast(digits.count).last == ":", !authority.hasSuffix("]") {
      guard let number = UInt16(String(digits.reversed())), number > 0 else { return nil }
      port = number
      host = authority.dropLast(digits.count + 1)
    }
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    guard !host.isEmpty else { return nil }
    self.host = String(host)
    self.port = port
    self.path = path.isEmpty || path == "/" ? "/v1/traces" : String(path)
  }

  package struct Failure: Error, CustomStringConvertible {
    package let description: String
    /// Whether the same request may be accepted later.
    var isTemporary = true
    /// The pause that the collector asks for; nil if it says nothing.
    var retryAfter: Duration?
  }

  /// Sends one request and waits for its answer.
  ///
  /// - Returns: how many spans the collector rejected.
  func post(
    _ body: [UInt8], headers: [(name: String, value: String)] = [], timeout: Duration
  ) throws(Failure) -> Int {
    let deadline = monotonicNanoseconds() &+ timeout.wholeNanoseconds
    let descriptor = try connect(deadline)
    defer { close(descriptor) }
    let name = host.contains(":") ? "[\(host)]" : host
    let head =
      "POST \(path) HTTP/1.1\r\nHost: \(name):\(port)\r\nContent-Type: application/json\r\n"
      + "User-Agent: sociograph/\(serverVersion)\r\nConnection: close\r\n"
      + headers.map { "\($0.name): \($0.value)\r\n" }.joined()
      + "Content-Length: \(body.count)\r\n\r\n"
    try send(Array(head.utf8) + body, descriptor, deadline)
    return try Self.rejected(receive(descriptor, deadline))
  }

  // MARK: - One request

  /// The first address of the host that answers.
  private func connect(_ deadline: UInt64) throws(Failure) -> Int32 {
    var hints = unsafe addrinfo()
    unsafe hints.ai_family = AF_UNSPEC
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    unsafe hints.ai_flags = AI_NUMERICSERV
    var found: UnsafeMutablePointer<addrinfo>?
    let code = unsafe getaddrinfo(host, String(port), &hints, &found)
    guard code == 0 else {
      throw Failure(description: unsafe "\(host): \(String(cString: gai_strerror(code)))")
    }
    defer { unsafe freeaddrinfo(found) }
    var reason = "\(host) has no address"
    var next = unsafe found
    while let entry = unsafe next {
      unsafe next = entry.pointee.ai_next
      let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
      let descriptor = unsafe socket(entry.pointee.ai_family, type, 0)
      guard descriptor >= 0 else { continue }
      var error: Int32 = 0
      if unsafe Glibc.connect(descriptor, entry.pointee.ai_addr, entry.pointee.ai_addrlen) != 0 {
        error = errno
        if error == EINPROGRESS {
          error = wait(descriptor, Int16(POLLOUT), deadline) ? pendingError(descriptor) : ETIMEDOUT
        }
      }
      if error == 0 { return descriptor }
      close(descriptor)
      reason = unsafe "\(host):\(port): \(String(cString: strerror(error)))"
    }
    throw Failure(description: reason)
  }

  private func pendingError(_ descriptor: Int32) -> Int32 {
    var error: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0
      ? error : errno
  }

  private func send(
    _ bytes: [UInt8], _ descriptor: Int32, _ deadline: UInt64
  ) throws(Failure) {
    var start = 0
    while start < bytes.count {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe Glibc.send(
          descriptor, $0.baseAddress.map { unsafe $0 + start }, $0.count - start,
          Int32(MSG_NOSIGNAL))
      }
      if count > 0 {
        start += count
      } else if errno != EINTR {
        guard errno == EAGAIN, wait(descriptor, Int16(POLLOUT), deadline) else { throw late(errno) }
      }
    }
  }

  /// Returns the bytes until the collector closes the connection. Its response is short.
  private func receive(_ descriptor: Int32, _ deadline: UInt64) throws(Failure) -> [UInt8] {
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while answer.count < 64 * 1024 {
      let count = unsafe buffer.withUnsafeMutableBytes {
        unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
      }
      if count == 0 { break }
      if count > 0 {
        answer += buffer[..<count]
      } else if errno != EINTR {
        guard errno == EAGAIN, wait(descriptor, Int16(POLLIN), deadline) else { throw late(errno) }
      }
    }
    return answer
  }

  private func late(_ code: Int32) -> Failure {
    code == EAGAIN || code == EWOULDBLOCK
      ? Failure(description: "\(host):\(port) did not answer in time")
      : Failure(description: unsafe "\(host):\(port): \(String(cString: strerror(code)))")
  }

  /// Waits until a descriptor is ready.
  ///
  /// - Returns: false if the deadline passes first.
  private func wait(_ descriptor: Int32, _ events: Int16, _ deadline: UInt64) -> Bool {
    while true {
      let now = monotonicNanoseconds()
      guard now < deadline else {
        errno = EAGAIN
        return false
      }
      var entry = pollfd(fd: descriptor, events: events, revents: 0)
      let ready = unsafe poll(&entry, 1, Int32(min((deadline - now) / 1_000_000 + 1, 60_000)))
      if ready > 0 { return true }
      if ready < 0, errno != EINTR { return false }
    }
  }

  // MARK: - The answer

  /// Returns the seconds of `Retry-After`; nil without any, or for a date.
  private static func retryAfter(in answer: [UInt8]) -> Duration? {
    for line in String(decoding: answer, as: UTF8.self).split(whereSeparator: \.isNewline) {
      let sides = line.split(separator: ":", maxSplits: 1)
      guard sides.count == 2, sides[0].lowercased() == "retry-after" else { continue }
      return Int64(sides[1].drop { $0 == " " }).flatMap { $0 >= 0 ? .seconds($0) : nil }
    }
    return nil
  }

  /// Returns the number of rejected spans from `HTTP/1.1 200 ...` and optionally
  /// `{"partialSuccess":{"rejectedSpans":"3"}}`.
  private static func rejected(_ answer: [UInt8]) throws(Failure) -> Int {
    let line = String(decoding: answer.prefix { $0 != 0x0D }, as: UTF8.self)
    let words = line.split(separator: " ")
    guard words.count > 1, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
      throw Failure(description: "the collector does not speak HTTP", isTemporary: false)
    }
    guard (200..<300).contains(status) else {
      // OTLP 1, "Retryable Response Codes".
      throw Failure(
        description: "the collector answered \(status)",
        isTemporary: [429, 502, 503, 504].contains(status), retryAfter: retryAfter(in: answer))
    }
    // The body's object, whether it is chunked or not.
    guard let start = answer.firstIndex(of: UInt8(ascii: "{")),
      let end = answer.lastIndex(of: UInt8(ascii: "}")), start < end,
      let value = try? JSONParser.parse(Array(answer[start...end]))
    else { return 0 }
    switch value["partialSuccess"]?["rejectedSpans"] {
    case .string(let text)?, .number(let text)?: return max(Int(text) ?? 0, 0)
    default: return 0
    }
  }
}
