import COpenSSL
import Glibc
import Synchronization

/// The certificate, key and rules for TLS, shared by all loops: TLS 1.3, or 1.2 with forward
/// secrecy and authenticated encryption (RFC 9325, 4.2); HTTP/2 or HTTP/1.1 by ALPN.
@safe package final class TLSContext: @unchecked Sendable {
  // @unchecked: an SSL_CTX that is not changed any more may be used from any thread; which one it is
  // stands in a mutex.
  private let context: Mutex<Handle>
  private let certificateFile: String
  private let keyFile: String
  private let speaksHTTP2: Bool

  /// The owner of a reference; each session has a separate one.
  @safe private final class Handle: @unchecked Sendable {
    // @unchecked: as above.
    let pointer: OpaquePointer
    init(_ pointer: OpaquePointer) { unsafe self.pointer = unsafe pointer }
    deinit { unsafe SSL_CTX_free(pointer) }
  }

  /// Reads both files, PEM, the certificate with its chain.
  ///
  /// It ignores SIGPIPE for the whole process, because OpenSSL writes to sockets without a way to
  /// forbid it.
  package init(
    certificateFile: String, keyFile: String, speaksHTTP2: Bool = true
  ) throws(TLSError) {
    self.certificateFile = certificateFile
    self.keyFile = keyFile
    self.speaksHTTP2 = speaksHTTP2
    context = Mutex(try Self.load(certificateFile, keyFile, speaksHTTP2))
    signal(SIGPIPE, SIG_IGN)
  }

  /// Reads both files again, for clients that connect from now on. Unusable files change nothing.
  /// Call from any thread.
  package func reload() throws(TLSError) {
    let fresh = try Self.load(certificateFile, keyFile, speaksHTTP2)
    context.withLock { $0 = fresh }
  }

  private static func load(
    _ certificateFile: String, _ keyFile: String, _ speaksHTTP2: Bool
  ) throws(TLSError) -> Handle {
    try check(certificateFile, isSecret: false)
    try check(keyFile, isSecret: true)
    guard let context = unsafe SSL_CTX_new(TLS_server_method()) else {
      throw TLSError(setting: "TLS", detail: Self.lastError())
    }
    let handle = unsafe Handle(context)
    unsafe tls_context_set_modes(context)
    guard unsafe tls_context_require_1_2(context) == 1,
      unsafe tls_context_require_forward_secrecy(context) == 1
    else {
      throw TLSError(setting: "TLS", detail: Self.lastError())
    }
    guard unsafe SSL_CTX_use_certificate_chain_file(context, certificateFile) == 1 else {
      throw TLSError(setting: "certificate \(certificateFile)", detail: Self.lastError())
    }
    guard unsafe SSL_CTX_use_PrivateKey_file(context, keyFile, SSL_FILETYPE_PEM) == 1 else {
      throw TLSError(setting: "key \(keyFile)", detail: Self.lastError())
    }
    guard unsafe SSL_CTX_check_private_key(context) == 1 else {
      throw TLSError(setting: "key \(keyFile)", detail: "It does not belong to the certificate.")
    }
    if speaksHTTP2 {
      unsafe SSL_CTX_set_alpn_select_cb(context, selectHTTP2, nil)
    } else {
      unsafe SSL_CTX_set_alpn_select_cb(context, selectHTTP1, nil)
    }
    return handle
  }

  /// Refuses files that OpenSSL would read: a secret that every user may read, and a FIFO or
  /// device, at which it would wait for a writer.
  private static func check(_ file: String, isSecret: Bool) throws(TLSError) {
    let setting = isSecret ? "key" : "certificate"
    func refuse(_ detail: String) -> TLSError {
      TLSError(setting: setting, detail: "\"\(file)\" \(detail)")
    }
    let descriptor = unsafe open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else {
      throw refuse("cannot be read: \(unsafe String(cString: strerror(errno))).")
    }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw refuse("is not a regular file.")
    }
    guard !isSecret || status.st_mode & 0o007 == 0 else {
      throw refuse("can be read by everybody; chmod o= it.")
    }
  }

  func session(on descriptor: Int32) -> TLSSession? {
    let made = unsafe context.withLock { unsafe SSL_new($0.pointer) }
    guard let session = unsafe made else { return nil }
    guard unsafe SSL_set_fd(session, descriptor) == 1 else {
      unsafe SSL_free(session)
      return nil
    }
    unsafe SSL_set_accept_state(session)
    return unsafe TLSSession(session)
  }

  private static func lastError() -> String {
    let code = ERR_get_error()
    ERR_clear_error()
    return unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) }
      ?? "Unknown error."
  }
}

package struct TLSError: Error, Sendable, CustomStringConvertible {
  package let setting: String
  package let detail: String

  package var description: String { "Cannot use the \(setting): \(detail)" }
}

private func selectHTTP1(
  _: OpaquePointer?, chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
  length: UnsafeMutablePointer<UInt8>?, offers: UnsafePointer<UInt8>?, size: UInt32,
  _: UnsafeMutableRawPointer?
) -> Int32 {
  unsafe select(["http/1.1"], chosen, length, offers, size)
}

private func selectHTTP2(
  _: OpaquePointer?, chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
  length: UnsafeMutablePointer<UInt8>?, offers: UnsafePointer<UInt8>?, size: UInt32,
  _: UnsafeMutableRawPointer?
) -> Int32 {
  unsafe select(["h2", "http/1.1"], chosen, length, offers, size)
}

/// Chooses the first of these protocols that the client offers; other offers are ignored.
private func select(
  _ names: [StaticString], _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
  _ chosenLength: UnsafeMutablePointer<UInt8>?, _ offers: UnsafePointer<UInt8>?, _ length: UInt32
) -> Int32 {
  guard let chosen = unsafe chosen, let chosenLength = unsafe chosenLength,
    let offers = unsafe offers
  else { return SSL_TLSEXT_ERR_NOACK }
  let list = unsafe UnsafeBufferPointer(start: offers, count: Int(length))
  for name in names {
    var index = 0
    while index < list.count {
      let size = unsafe Int(list[index])
      guard index + 1 + size <= list.count else { break }
      let offer = unsafe UnsafeBufferPointer(rebasing: list[(index + 1)..<(index + 1 + size)])
      if name.withUTF8Buffer({ unsafe offer.elementsEqual($0) }) {
        unsafe chosen.pointee = offer.baseAddress
        unsafe chosenLength.pointee = UInt8(size)
        return SSL_TLSEXT_ERR_OK
      }
      index += 1 + size
    }
  }
  return SSL_TLSEXT_ERR_NOACK
}

/// One connection's TLS on its non-blocking socket.
@safe final class TLSSession {
  private let session: OpaquePointer

  init(_ session: OpaquePointer) { unsafe self.session = unsafe session }

  deinit { unsafe SSL_free(session) }

  enum Outcome: Equatable {
    case done(Int)
    case wantsRead
    case wantsWrite
    case closed
    case failed
  }

  func handshake() -> Outcome {
    ERR_clear_error()
    return outcome(unsafe SSL_do_handshake(session))
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
    ERR_clear_error()
    return outcome(unsafe SSL_read(session, buffer.baseAddress, Int32(clamping: buffer.count)))
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
    ERR_clear_error()
    return outcome(unsafe SSL_write(session, bytes.baseAddress, Int32(clamping: bytes.count)))
  }

  /// Whether ALPN chose HTTP/2.
  var speaksHTTP2: Bool {
    var name: UnsafePointer<UInt8>?
    var length: UInt32 = 0
    unsafe SSL_get0_alpn_selected(session, &name, &length)
    guard let name = unsafe name, length == 2 else { return false }
    return unsafe name[0] == UInt8(ascii: "h") && name[1] == UInt8(ascii: "2")
  }

  /// Whether bytes that have left the socket wait to be read.
  var hasPending: Bool { unsafe SSL_has_pending(session) == 1 }

  /// Sends the end of the session without waiting for the client's.
  func sayGoodbye() {
    ERR_clear_error()
    _ = unsafe SSL_shutdown(session)
  }

  private func outcome(_ result: Int32) -> Outcome {
    if result > 0 { return .done(Int(result)) }
    return switch unsafe SSL_get_error(session, result) {
    case SSL_ERROR_WANT_READ: .wantsRead
    case SSL_ERROR_WANT_WRITE: .wantsWrite
    case SSL_ERROR_ZERO_RETURN: .closed
    default: .failed
    }
  }
}
