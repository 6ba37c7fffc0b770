import CCJOSE

/// A public key that verifies tokens: one of a JSON Web Key Set (RFC 7517).
///
/// RSA keys of at least 2,048 bits verify RS256, P-256 keys ES256, and shared secrets HS256. A token's
/// header never chooses the algorithm (RFC 8725, 3.1).
@safe package final class VerificationKey: @unchecked Sendable {
  // @unchecked: the key is only read after `init`.
  private let key: OpaquePointer
  package let algorithm: String
  /// The key's name within its set.
  package let name: String?

  /// Creates a key from one key of a set, as JSON; nil if it is of another kind, weak, or
  /// malformed.
  package init?(json: String) {
    guard let key = unsafe cjose_jwk_import(json, json.utf8.count, nil) else { return nil }
    switch unsafe cjose_jwk_get_kty(key, nil) {
    case CJOSE_JWK_KTY_RSA where unsafe cjose_jwk_get_keysize(key, nil) >= 2_048:
      algorithm = "RS256"
    case CJOSE_JWK_KTY_EC where unsafe cjose_jwk_EC_get_curve(key, nil) == CJOSE_JWK_EC_P_256:
      algorithm = "ES256"
    default:
      unsafe cjose_jwk_release(key)
      return nil
    }
    name = unsafe cjose_jwk_get_kid(key, nil).map { unsafe String(cString: $0) }
    unsafe self.key = key
  }

  /// Creates a key from a secret that the issuer shares, or returns nil for one of fewer than 32 bytes
  /// (RFC 7518, 3.2).
  package init?(secret: [UInt8]) {
    guard secret.count >= 32, let key = unsafe cjose_jwk_create_oct_spec(secret, secret.count, nil)
    else { return nil }
    algorithm = "HS256"
    name = nil
    unsafe self.key = key
  }

  deinit { unsafe cjose_jwk_release(key) }

  /// Returns whether this key's private half signed the token, given in compact form.
  fileprivate func verifies(_ token: OpaquePointer) -> Bool {
    unsafe cjose_jws_verify(token, key, nil)
  }
}

/// A JSON Web Token whose signature was verified with one of the keys.
///
/// The caller has to check its claims: the issuer, the audience, and the expiration time.
package struct JSONWebToken: Sendable {
  /// The claims. They are JSON if the signer is honest.
  package let claims: [UInt8]

  package static let maximumBytes = 16 << 10

  /// Creates a token from a compact JWS of at most 16 KiB that one of the keys signed; nil
  /// otherwise.
  ///
  /// Only keys with the header's key ID are tried, or all keys of the algorithm if the header has
  /// none.
  package init?(_ text: String, signedWithOneOf keys: [VerificationKey]) {
    guard text.utf8.count <= Self.maximumBytes, Self.isCompact(text),
      let token = unsafe cjose_jws_import(text, text.utf8.count, nil)
    else { return nil }
    defer { unsafe cjose_jws_release(token) }
    guard let header = unsafe cjose_jws_get_protected(token),
      let algorithm = unsafe Self.text("alg", of: header),
      unsafe !Self.has("crit", header)
    else { return nil }
    let name = unsafe Self.text("kid", of: header)
    let candidates = keys.filter {
      $0.algorithm == algorithm && (name == nil || $0.name == nil || $0.name == name)
    }
    guard candidates.contains(where: { unsafe $0.verifies(token) }) else { return nil }
    var bytes: UnsafeMutablePointer<UInt8>?
    var count = 0
    guard unsafe cjose_jws_get_plaintext(token, &bytes, &count, nil), let bytes = unsafe bytes
    else { return nil }
    claims = unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
  }

  /// Returns whether the text is three parts in base64url without padding, each the only text of
  /// its bytes (RFC 7515, 2 and 7.1; RFC 4648, 3.5). So a token has exactly one text.
  private static func isCompact(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return parts.count == 3 && parts.allSatisfy(Base64URL.isCanonical)
  }

  private static func text(_ name: String, of header: OpaquePointer) -> String? {
    unsafe cjose_header_get(header, name, nil).map { unsafe String(cString: $0) }
  }

  private static func has(_ name: String, _ header: OpaquePointer) -> Bool {
    if unsafe text(name, of: header) != nil { return true }
    guard let text = unsafe cjose_header_get_raw(header, name, nil) else { return false }
    unsafe cjose_get_dealloc()?(text)
    return true
  }
}
