import CSodium

/// Seals texts that the database keeps and only the server's operator can open:
/// XSalsa20-Poly1305 by libsodium, with a nonce of its own for each.
package struct SecretBox: Sendable {
  package static let keyBytes = Int(crypto_secretbox_KEYBYTES)
  private static let nonceBytes = Int(crypto_secretbox_NONCEBYTES)
  private static let sealBytes = Int(crypto_secretbox_MACBYTES)

  private let key: [UInt8]

  /// Nil unless the key has 32 bytes.
  package init?(key: [UInt8]) {
    guard key.count == Self.keyBytes, sodium_init() >= 0 else { return nil }
    self.key = key
  }

  /// The nonce, then the sealed bytes.
  package func seal(_ bytes: [UInt8]) -> [UInt8] {
    let nonce = RandomBytes.make(Self.nonceBytes)
    var sealed = [UInt8](repeating: 0, count: bytes.count + Self.sealBytes)
    let result = unsafe crypto_secretbox_easy(&sealed, bytes, UInt64(bytes.count), nonce, key)
    precondition(result == 0, "libsodium cannot seal")
    return nonce + sealed
  }

  /// Nil for what was not sealed with this key, or was changed since.
  package func open(_ sealed: [UInt8]) -> [UInt8]? {
    guard sealed.count >= Self.nonceBytes + Self.sealBytes else { return nil }
    let nonce = Array(sealed[..<Self.nonceBytes])
    let body = Array(sealed[Self.nonceBytes...])
    var bytes = [UInt8](repeating: 0, count: body.count - Self.sealBytes)
    let result = unsafe crypto_secretbox_open_easy(&bytes, body, UInt64(body.count), nonce, key)
    return result == 0 ? bytes : nil
  }
}
