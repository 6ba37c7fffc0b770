import Cryptography

/// Signs cursors, so that the server recognizes those that it gave out unchanged.
/// All servers over one database share the key.
///
/// The signature is the first 16 bytes of HMAC-SHA-256.
package final class CursorSigner: Sendable {
  private let authenticator: MessageAuthenticator

  static let byteCount = 16

  /// Creates a signer with a key, or returns nil if the key has fewer than 16 bytes.
  package init?(bytes: [UInt8]) {
    guard bytes.count >= 16 else { return nil }
    authenticator = MessageAuthenticator(key: bytes)
  }

  /// Creates a signer with a key that no other process has.
  package init() { authenticator = MessageAuthenticator(key: RandomBytes.make(32)) }

  /// Returns the signature of bytes.
  func signature(of bytes: [UInt8]) -> [UInt8] {
    var code = authenticator.code(of: bytes)
    code.removeLast(code.count - Self.byteCount)
    return code
  }
}
