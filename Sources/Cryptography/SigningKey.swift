import CCJOSE

/// A key pair that signs tokens: ES256, on the curve P-256.
@safe package final class SigningKey: @unchecked Sendable {
  // @unchecked: the key is only read after `init`.
  private let key: OpaquePointer

  /// Creates a new key pair, or nil if OpenSSL fails.
  package init?() {
    guard let key = unsafe cjose_jwk_create_EC_random(CJOSE_JWK_EC_P_256, nil) else { return nil }
    unsafe self.key = key
  }

  /// Creates a key pair from its JSON (RFC 7517), which must have the private half; nil otherwise.
  package init?(json: String) {
    guard let key = unsafe cjose_jwk_import(json, json.utf8.count, nil) else { return nil }
    guard unsafe cjose_jwk_get_kty(key, nil) == CJOSE_JWK_KTY_EC,
      unsafe cjose_jwk_EC_get_curve(key, nil) == CJOSE_JWK_EC_P_256
    else {
      unsafe cjose_jwk_release(key)
      return nil
    }
    unsafe self.key = key
    // A public half alone signs nothing.
    guard sign(claims: "{}") != nil else { return nil }
  }

  deinit { unsafe cjose_jwk_release(key) }

  /// Returns the key as JSON.
  ///
  /// - Parameter withPrivateHalf: whether to include the private half, which must stay secret.
  package func json(withPrivateHalf: Bool) -> String? {
    guard let text = unsafe cjose_jwk_to_json(key, withPrivateHalf, nil) else { return nil }
    defer { unsafe cjose_get_dealloc()?(text) }
    return unsafe String(cString: text)
  }

  /// Returns a signed token in compact form.
  ///
  /// - Parameter claims: JSON.
  package func sign(claims: String) -> String? {
    guard let header = unsafe cjose_header_new(nil) else { return nil }
    defer { unsafe cjose_header_release(header) }
    guard unsafe cjose_header_set(header, "alg", "ES256", nil),
      let token = unsafe cjose_jws_sign(key, header, Array(claims.utf8), claims.utf8.count, nil)
    else { return nil }
    defer { unsafe cjose_jws_release(token) }
    var compact: UnsafePointer<CChar>?
    guard unsafe cjose_jws_export(token, &compact, nil), let compact = unsafe compact else {
      return nil
    }
    return unsafe String(cString: compact)
  }
}
