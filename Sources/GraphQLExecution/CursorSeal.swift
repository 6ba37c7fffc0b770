import COpenSSL

/// What cursors are sealed with, so that one that was changed or made up is told from one that was
/// given out (R16). All servers over one database share it.
///
/// The seal is the first 16 bytes of HMAC-SHA-256, at a third of a microsecond.
@safe package final class CursorSeal: @unchecked Sendable {
  // @unchecked: `context` has the key and is only copied.
  private let context: OpaquePointer

  static let byteCount = 16

  /// From at least 16 secret bytes.
  package init?(bytes: [UInt8]) {
    guard bytes.count >= 16, let context = unsafe Self.context(keyed: bytes) else { return nil }
    unsafe self.context = context
  }

  /// One that no other process has.
  package init() {
    var random = SystemRandomNumberGenerator()
    let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
    guard let context = unsafe Self.context(keyed: bytes) else {
      preconditionFailure("OpenSSL has no HMAC-SHA-256")
    }
    unsafe self.context = context
  }

  deinit { unsafe EVP_MAC_CTX_free(context) }

  private static func context(keyed bytes: [UInt8]) -> OpaquePointer? {
    guard let algorithm = unsafe EVP_MAC_fetch(nil, "HMAC", nil) else { return nil }
    defer { unsafe EVP_MAC_free(algorithm) }
    guard let context = unsafe EVP_MAC_CTX_new(algorithm) else { return nil }
    guard unsafe mac_init_sha256(context, bytes, bytes.count) == 1 else {
      unsafe EVP_MAC_CTX_free(context)
      return nil
    }
    return unsafe context
  }

  /// The seal of these bytes.
  func seal(of bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    var length = 0
    let copy = unsafe EVP_MAC_CTX_dup(context)
    defer { unsafe EVP_MAC_CTX_free(copy) }
    let isDone =
      unsafe EVP_MAC_update(copy, bytes, bytes.count) == 1
      && EVP_MAC_final(copy, &digest, &length, digest.count) == 1
    precondition(isDone && length == digest.count, "OpenSSL cannot compute HMAC-SHA-256")
    digest.removeLast(digest.count - Self.byteCount)
    return digest
  }
}
