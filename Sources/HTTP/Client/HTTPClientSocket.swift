import COpenSSL
import Glibc

/// The resolved address of a server and, for `https`, the rules of TLS; made once for many sockets.
@safe package final class HTTPClientEndpoint: @unchecked Sendable {
  // @unchecked: nothing is changed after `init`, and an SSL_CTX may be used from any thread.
  private let storage: [UInt8]
  private let family: Int32
  private let context: OpaquePointer?
  private let host: String

  /// Resolves the host, which may block.
  package init(_ target: HTTPTarget) throws(HTTPClientError) {
    switch target.address {
    case .tcp(let host, let port):
      (storage, family) = try Self.resolve(host, port)
    case .unix(let path):
      var name = sockaddr_un()
      name.sun_family = sa_family_t(AF_UNIX)
      guard path.utf8.count < MemoryLayout.size(ofValue: name.sun_path) else {
        throw HTTPClientError(reason: "The path of the socket is too long")
      }
      unsafe withUnsafeMutableBytes(of: &name.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
      storage = unsafe withUnsafeBytes(of: &name) { unsafe Array($0) }
      family = AF_UNIX
    }
    host = target.host ?? ""
    guard target.isSecure else {
      unsafe context = nil
      return
    }
    signal(SIGPIPE, SIG_IGN)
    guard let context = unsafe SSL_CTX_new(TLS_client_method()),
      unsafe SSL_CTX_set_default_verify_paths(context) == 1,
      unsafe tls_context_require_1_2(context) == 1
    else { throw HTTPClientError(reason: "TLS cannot be set up") }
    unsafe tls_context_set_modes(context)
    unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    unsafe self.context = unsafe context
  }

  deinit {
    if let context = unsafe context { unsafe SSL_CTX_free(context) }
  }

  private static func resolve(
    _ host: String, _ port: UInt16
  ) throws(HTTPClientError) -> ([UInt8], Int32) {
    var hints = unsafe addrinfo()
    unsafe hints.ai_family = AF_UNSPEC
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    unsafe hints.ai_flags = AI_NUMERICSERV
    var found: UnsafeMutablePointer<addrinfo>?
    let code = unsafe getaddrinfo(host, String(port), &hints, &found)
    guard code == 0, let first = unsafe found else {
      throw HTTPClientError(reason: unsafe String(cString: gai_strerror(code)))
    }
    defer { unsafe freeaddrinfo(found) }
    // An IPv4 address, when there is one, as servers of a machine listen at 127.0.0.1.
    var chosen = unsafe first
    var next = unsafe Optional(first)
    while let entry = unsafe next {
      if unsafe entry.pointee.ai_family == AF_INET {
        unsafe chosen = entry
        break
      }
      unsafe next = unsafe entry.pointee.ai_next
    }
    let bytes = unsafe UnsafeRawBufferPointer(
      start: chosen.pointee.ai_addr, count: Int(chosen.pointee.ai_addrlen))
    return (unsafe Array(bytes), unsafe chosen.pointee.ai_family)
  }

  /// Begins to connect a new socket, without blocking.
  package func open() throws(HTTPClientError) -> HTTPClientSocket {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = socket(family, type, 0)
    guard descriptor >= 0 else { throw HTTPClientError(code: errno) }
    if family != AF_UNIX {
      var on: Int32 = 1
      let size = socklen_t(MemoryLayout<Int32>.size)
      _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, size)
    }
    let result = unsafe storage.withUnsafeBytes { bytes -> Int32 in
      guard let base = bytes.baseAddress else { return -1 }
      return unsafe connect(
        descriptor, base.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
    }
    guard result == 0 || errno == EINPROGRESS else {
      let code = errno
      close(descriptor)
      throw HTTPClientError(code: code)
    }
    var tls: TLSSession?
    if let context = unsafe context {
      guard let session = unsafe SSL_new(context) else {
        close(descriptor)
        throw HTTPClientError(reason: "TLS cannot be set up")
      }
      tls = unsafe TLSSession(session)
      guard unsafe SSL_set_fd(session, descriptor) == 1,
        unsafe tls_session_set_host(session, host) == 1
      else {
        close(descriptor)
        throw HTTPClientError(reason: "TLS cannot be set up")
      }
      unsafe SSL_set_connect_state(session)
    }
    return HTTPClientSocket(descriptor: descriptor, tls: tls)
  }
}

package struct HTTPClientError: Error, Sendable, CustomStringConvertible {
  package let reason: String

  package init(reason: String) { self.reason = reason }

  init(code: Int32) { reason = unsafe String(cString: strerror(code)) }

  package var description: String { reason }
}

/// A client's non-blocking socket, with or without TLS. Its owner polls the descriptor, and closes
/// the socket.
package final class HTTPClientSocket {
  package enum Outcome: Equatable, Sendable {
    case done(Int)
    case wantsRead
    case wantsWrite
    case closed
    case failed
  }

  package let descriptor: Int32
  private let tls: TLSSession?
  private var isConnected = false
  private var isOpen = true

  init(descriptor: Int32, tls: TLSSession?) {
    self.descriptor = descriptor
    self.tls = tls
  }

  deinit { close() }

  package var isSecure: Bool { tls != nil }

  package func close() {
    guard isOpen else { return }
    isOpen = false
    Glibc.close(descriptor)
  }

  /// Goes on with connecting, once the descriptor is ready; `done` when requests may be sent.
  package func connect() -> Outcome {
    if !isConnected {
      var code: Int32 = 0
      var size = socklen_t(MemoryLayout<Int32>.size)
      guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0, code == 0
      else { return .failed }
      isConnected = true
    }
    guard let tls else { return .done(0) }
    return Self.outcome(tls.handshake())
  }

  package func read(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
    if let tls { return Self.outcome(unsafe tls.read(into: buffer)) }
    while true {
      let count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
      if count > 0 { return .done(count) }
      if count == 0 { return .closed }
      switch errno {
      case EINTR: continue
      case EAGAIN: return .wantsRead
      default: return .failed
      }
    }
  }

  package func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
    if let tls { return Self.outcome(unsafe tls.write(bytes)) }
    while true {
      let count = unsafe send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
      if count >= 0 { return .done(count) }
      switch errno {
      case EINTR: continue
      case EAGAIN: return .wantsWrite
      default: return .failed
      }
    }
  }

  private static func outcome(_ outcome: TLSSession.Outcome) -> Outcome {
    switch outcome {
    case .done(let count): .done(count)
    case .wantsRead: .wantsRead
    case .wantsWrite: .wantsWrite
    case .closed: .closed
    case .failed: .failed
    }
  }
}
