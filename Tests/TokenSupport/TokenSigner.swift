import CCJOSE

/// Plays an identity provider in tests: a key pair that signs tokens, and its public half as a key
/// of a JSON Web Key Set.
@safe public final class TokenSigner: @unchecked Sendable {
  // @unchecked: the key is only read after `init`.
  private let key: OpaquePointer
  private let algorithm: String

  public enum Kind: Sendable {
    case rsa(bits: Int)
    case p256, p384, secret
    /// A secret that the verifier has in a file.
    case shared(String)
  }

  public init(_ kind: Kind = .p256, name: String? = nil) {
    let made: OpaquePointer?
    switch kind {
    case .rsa(let bits):
      algorithm = "RS256"
      unsafe made = cjose_jwk_create_RSA_random(bits, [1, 0, 1], 3, nil)
    case .p256:
      algorithm = "ES256"
      unsafe made = cjose_jwk_create_EC_random(CJOSE_JWK_EC_P_256, nil)
    case .p384:
      algorithm = "ES384"
      unsafe made = cjose_jwk_create_EC_random(CJOSE_JWK_EC_P_384, nil)
    case .secret:
      algorithm = "HS256"
      unsafe made = cjose_jwk_create_oct_random(256, nil)
    case .shared(let secret):
      algorithm = "HS256"
      unsafe made = cjose_jwk_create_oct_spec(Array(secret.utf8), secret.utf8.count, nil)
    }
    guard let made = unsafe made else { preconditionFailure("cjose makes no key") }
    unsafe key = made
    if let name { _ = unsafe cjose_jwk_set_kid(key, name, name.utf8.count, nil) }
  }

  deinit { unsafe cjose_jwk_release(key) }

  /// The key as JSON; for a shared secret, with the secret.
  public var publicKey: String {
    guard let text = unsafe cjose_jwk_to_json(key, algorithm == "HS256", nil) else { return "" }
    defer { unsafe cjose_get_dealloc()?(text) }
    return unsafe String(cString: text)
  }

  /// A set with this key alone.
  public var keySet: String { #"{"keys":[\#(publicKey)]}"# }

  /// Returns a compact token.
  ///
  /// - Parameters:
  ///   - claims: JSON.
  ///   - header: fields in addition to `alg`; each value is a text, or a list as JSON.
  public func sign(_ claims: String, algorithm: String? = nil, header: [String: String] = [:])
    -> String
  {
    let fields = unsafe cjose_header_new(nil)
    defer { unsafe cjose_header_release(fields) }
    _ = unsafe cjose_header_set(fields, "alg", algorithm ?? self.algorithm, nil)
    for (name, value) in header {
      _ =
        value.hasPrefix("[")
        ? unsafe cjose_header_set_raw(fields, name, value, nil)
        : unsafe cjose_header_set(fields, name, value, nil)
    }
    var compact: UnsafePointer<CChar>?
    guard
      let token = unsafe cjose_jws_sign(key, fields, Array(claims.utf8), claims.utf8.count, nil)
    else { return "" }
    defer { unsafe cjose_jws_release(token) }
    guard unsafe cjose_jws_export(token, &compact, nil), let compact = unsafe compact else {
      return ""
    }
    return unsafe String(cString: compact)
  }
}
