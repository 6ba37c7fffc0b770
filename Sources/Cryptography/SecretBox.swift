import CSodium

/// Encrypts texts that the database stores and only the server's operator can decrypt:
/// XSalsa20-Poly1305 by libsodium, with a new nonce for each text.
package struct SecretBox: Sendable {
  package static let keyBytes = Int(crypto_secretbox_KEYBYTES)
  private static let nonceBytes = Int(crypto_secretbox_NONCEBYTES)
  private static let sealBytes = Int(crypto_secretbox_MACBYTES)

  private let key: [UInt8]

  /// Creates a box, or nil unless the key has 32 bytes.
  package init?(key: [UInt8]) {
    guard key.count == Self.keyBytes, sodium_init() >= 0 else { return nil }
    self.key = key
  }

  /// Returns the nonce, followed by the encrypted bytes.
  package func seal(_ bytes: [UInt8]) -> [UInt8] {
    let nonce = RandomBytes.make(Self.nonceBytes)
    var sealed = [UInt8](repeating: 0, count: bytes.count + Self.sealBytes)
    let result = unsafe crypto_secretbox_easy(&sealed, bytes, UInt64(bytes.count), nonce, key)
    precondition(result == 0, "libsodium cannot encrypt")
    return nonce + sealed
  }

  /// Returns the plain bytes, or nil if they were not encrypted with this key or were modified.
  package func open(_ sealed: [UInt8]) -> [UInt8]? {
    guard sealed.count >= Self.nonceBytes + Self.sealBytes else { return nil }
    let nonce = Array(sealed[..<Self.nonceBytes])
    let body = Array(sealed[Self.nonceBytes...])
    var bytes = [UInt8](repeating: 0, count: body.count - Self.sealBytes)
    let result = unsafe crypto_secretbox_open_easy(&bytes, body, UInt64(body.count), nonce, key)
    return result == 0 ? bytes : nil
  }
}
