import CCJOSE
import CSodium
import Foundation

/// A public key that verifies tokens: one of a JSON Web Key Set (RFC 7517).
///
/// RSA keys of at least 2,048 bits verify RS256, RS384, RS512 and PS256, P-256 keys ES256, P-384 keys
/// ES384, Ed25519 keys EdDSA (RFC 8037), and shared secrets HS256. The kind of the key, and `alg` if the
/// set has it, say which signatures it verifies; a token's header never adds one (RFC 8725, 3.1).
@safe package final class VerificationKey: @unchecked Sendable {
  // @unchecked: the key is only read after `init`.
  private let key: OpaquePointer?
  /// The point of an Ed25519 key, which cjose does not know; empty for another key.
  private let point: [UInt8]
  package let algorithms: [String]
  /// The key's name within its set.
  package let name: String?

  /// Creates a key from one key of a set, as JSON; nil if it is of another kind, weak, or
  /// malformed.
  ///
  /// - Parameter algorithm: the only one that it verifies; nil for all of its kind.
  package init?(json: String, algorithm: String? = nil) {
    guard let key = unsafe cjose_jwk_import(json, json.utf8.count, nil) else { return nil }
    let all: [String]
    switch unsafe cjose_jwk_get_kty(key, nil) {
    case CJOSE_JWK_KTY_RSA where unsafe cjose_jwk_get_keysize(key, nil) >= 2_048:
      all = ["RS256", "RS384", "RS512", "PS256"]
    case CJOSE_JWK_KTY_EC where unsafe cjose_jwk_EC_get_curve(key, nil) == CJOSE_JWK_EC_P_256:
      all = ["ES256"]
    case CJOSE_JWK_KTY_EC where unsafe cjose_jwk_EC_get_curve(key, nil) == CJOSE_JWK_EC_P_384:
      all = ["ES384"]
    default: all = []
    }
    let chosen = all.filter { algorithm == nil || $0 == algorithm }
    guard !chosen.isEmpty else {
      unsafe cjose_jwk_release(key)
      return nil
    }
    algorithms = chosen
    name = unsafe cjose_jwk_get_kid(key, nil).map { unsafe String(cString: $0) }
    unsafe self.key = key
    point = []
  }

  /// Creates an Ed25519 key from its point; nil unless that has 32 bytes.
  package init?(ed25519 point: [UInt8], name: String?) {
    guard point.count == Int(crypto_sign_PUBLICKEYBYTES), sodium_init() >= 0 else { return nil }
    algorithms = ["EdDSA", "Ed25519"]
    self.name = name
    self.point = point
    unsafe key = nil
  }

  /// Creates a key from a secret that the issuer shares, or returns nil for one of fewer than 32 bytes
  /// (RFC 7518, 3.2).
  package init?(secret: [UInt8]) {
    guard secret.count >= 32, let key = unsafe cjose_jwk_create_oct_spec(secret, secret.count, nil)
    else { return nil }
    algorithms = ["HS256"]
    name = nil
    unsafe self.key = key
    point = []
  }

  deinit { if let key = unsafe key { unsafe cjose_jwk_release(key) } }

  /// Returns whether this key's private half signed the token, given in compact form.
  fileprivate func verifies(_ token: String, _ parts: [Substring]) -> Bool {
    guard let key = unsafe key else {
      guard parts.count == 3, let signature = Base64URL.decode(parts[2]),
        signature.count == Int(crypto_sign_BYTES)
      else { return false }
      let text = Array("\(parts[0]).\(parts[1])".utf8)
      return unsafe crypto_sign_verify_detached(signature, text, UInt64(text.count), point) == 0
    }
    guard let signed = unsafe cjose_jws_import(token, token.utf8.count, nil) else { return false }
    defer { unsafe cjose_jws_release(signed) }
    return unsafe cjose_jws_verify(signed, key, nil)
  }
}

/// The reason for which a token is not accepted. Operators read it in the log; the client, which forged
/// or copied the token, does not.
package enum TokenFault: Error, Sendable, CaseIterable {
  // In the order in which they are looked for.
  case unreadable, algorithm, key, signature, issuer, audience, subject, expired, early

  /// The reason, a clause that begins in lower case.
  package var reason: String {
    switch self {
    case .unreadable: "it is not a JSON Web Token"
    case .algorithm: "no key of the issuer is for its algorithm (alg)"
    case .key: "no key of the issuer has its name (kid)"
    case .signature: "no key of the issuer has signed it"
    case .issuer: "another issuer is named in it (iss)"
    case .audience: "it is for another audience (aud, azp)"
    case .subject: "it does not say whose it is (sub)"
    case .expired: "it has expired (exp)"
    case .early: "it is not valid yet (nbf, iat)"
    }
  }
}

/// A JSON Web Token whose signature was verified with one of the keys.
///
/// The caller has to check its claims: the issuer, the audience, and the expiration time.
package struct JSONWebToken: Sendable {
  /// The claims. They are JSON if the signer is honest.
  package let claims: [UInt8]

  package static let maximumBytes = 16 << 10

  /// Creates a token from a compact JWS of at most 16 KiB that one of the keys signed.
  ///
  /// Only keys with the header's key ID are tried, or all keys of the algorithm if the header has
  /// none.
  package init(_ text: String, signedWithOneOf keys: [VerificationKey]) throws(TokenFault) {
    guard text.utf8.count <= Self.maximumBytes, let parts = Self.parts(of: text),
      let header = Base64URL.decode(parts[0]), let claims = Base64URL.decode(parts[1]),
      let fields = try? JSONSerialization.jsonObject(with: Data(header)) as? [String: Any],
      let algorithm = fields["alg"] as? String, fields["crit"] == nil
    else { throw .unreadable }
    let ofAlgorithm = keys.filter { $0.algorithms.contains(algorithm) }
    guard !ofAlgorithm.isEmpty else { throw .algorithm }
    let name = fields["kid"] as? String
    let candidates = ofAlgorithm.filter { name == nil || $0.name == nil || $0.name == name }
    guard !candidates.isEmpty else { throw .key }
    guard candidates.contains(where: { $0.verifies(text, parts) }) else { throw .signature }
    self.claims = claims
  }

  /// Returns the three parts in base64url without padding, each the only text of its bytes (RFC 7515,
  /// 2 and 7.1; RFC 4648, 3.5). So a token has exactly one text.
  private static func parts(of text: String) -> [Substring]? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 3 && parts.allSatisfy { Base64URL.isCanonical($0.utf8) } ? parts : nil
  }
}
