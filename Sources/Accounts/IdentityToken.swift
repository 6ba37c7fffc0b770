import Cryptography
import JSON

/// The verified claims of an OpenID Connect identity token (OpenID Connect Core 1.0, 3.1.3.7): one
/// of the issuer's keys signed it, for our audience, and it has not expired.
package struct IdentityToken: Sendable, Equatable {
  /// The user's ID at the issuer: `sub`, never reused.
  package let subject: String
  package let email: String?
  package let isEmailVerified: Bool
  package let preferredUsername: String?
  package let name: String?
  /// The expiration in seconds since 1970: `exp` plus the leeway.
  package let endsAt: Int64
  /// The SHA-256 of the claims as they were signed. Another signature over the same claims has the same.
  package let digest: [UInt8]
  /// All claims.
  package let claims: JSONValue

  package static let maximumSubjectBytes = 255
  /// The tolerated difference between the clocks of issuer and server, in seconds.
  static let leewaySeconds: Int64 = 60

  /// Verifies a token.
  ///
  /// - Parameter now: seconds since 1970.
  package init(_ token: String, from issuer: TokenIssuer, now: Int64) throws(TokenFault) {
    let signed = try JSONWebToken(token, signedWithOneOf: issuer.keys)
    guard let claims = try? JSONParser.parse(signed.claims, maximumNesting: 16) else {
      throw .unreadable
    }
    guard case .string(let maker)? = claims["iss"], issuer.names.contains(maker) else {
      throw .issuer
    }
    guard Self.audience(of: claims).contains(where: issuer.audiences.contains) else {
      throw .audience
    }
    if case .string(let party)? = claims["azp"], !issuer.audiences.contains(party) {
      throw .audience
    }
    guard case .string(let subject)? = claims["sub"],
      (1...Self.maximumSubjectBytes).contains(subject.utf8.count), !Self.hasControls(subject)
    else { throw .subject }
    guard let end = Self.seconds(claims["exp"]), now < end.saturatingAdd(Self.leewaySeconds)
    else { throw .expired }
    guard Self.hasBegun(claims["nbf"], now), Self.hasBegun(claims["iat"], now) else {
      throw .early
    }
    digest = SHA256.hash(signed.claims)
    self.subject = subject
    self.claims = claims
    endsAt = end.saturatingAdd(Self.leewaySeconds)
    email = Self.text(claims["email"])
    isEmailVerified =
      claims["email_verified"] == .boolean(true)
      || claims["email_verified"] == .string("true")
    preferredUsername = Self.text(claims["preferred_username"])
    name = Self.text(claims["name"])
  }

  private static func audience(of claims: JSONValue) -> [String] {
    switch claims["aud"] {
    case .string(let one): [one]
    case .array(let several):
      several.compactMap { if case .string(let one) = $0 { one } else { nil } }
    default: []
    }
  }

  private static func hasBegun(_ claim: JSONValue?, _ now: Int64) -> Bool {
    guard let claim else { return true }
    guard let start = seconds(claim) else { return false }
    return start <= now.saturatingAdd(leewaySeconds)
  }

  /// Returns a NumericDate in whole seconds.
  private static func seconds(_ claim: JSONValue?) -> Int64? {
    guard case .number(let text)? = claim, let value = Double(text), value.isFinite,
      abs(value) < 1e15
    else { return nil }
    return Int64(value)
  }

  /// Returns a claim that the graph may store; nil for one that is too long or has control
  /// characters.
  private static func text(_ claim: JSONValue?) -> String? {
    guard case .string(let text)? = claim, (1...320).contains(text.utf8.count), !hasControls(text)
    else { return nil }
    return text
  }

  /// Returns whether the text has control characters or other line separators.
  private static func hasControls(_ text: String) -> Bool {
    text.unicodeScalars.contains {
      switch $0.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: true
      default: false
      }
    }
  }
}

/// The issuer of identity tokens, their audience, and the keys that verify them.
package struct TokenIssuer: Sendable {
  /// The accepted values of `iss`, compared byte for byte.
  package let names: [String]
  /// The accepted values of `aud`: our names at the issuer, such as one for each application.
  package let audiences: [String]
  package let keys: [VerificationKey]

  package static let maximumKeys = 50

  package init(names: [String], audiences: [String], keys: [VerificationKey]) {
    self.names = names
    self.audiences = audiences
    self.keys = keys
  }

  /// Returns the keys of a JSON Web Key Set (RFC 7517, 5) that verify tokens, without those of
  /// other types and those for encryption. Nil if the text is not a set, or has none.
  package static func keys(ofSet json: [UInt8]) -> [VerificationKey]? {
    guard let set = try? JSONParser.parse(json), case .array(let members)? = set["keys"],
      members.count <= maximumKeys
    else { return nil }
    let keys = members.compactMap { member -> VerificationKey? in
      if case .string(let use)? = member["use"], use != "sig" { return nil }
      let algorithm: String? = if case .string(let text)? = member["alg"] { text } else { nil }
      if member["kty"] == .string("OKP") {
        guard member["crv"] == .string("Ed25519"), case .string(let x)? = member["x"],
          let point = Base64URL.decode(x), ["EdDSA", "Ed25519"].contains(algorithm ?? "EdDSA")
        else { return nil }
        let name: String? = if case .string(let text)? = member["kid"] { text } else { nil }
        return VerificationKey(ed25519: point, name: name)
      }
      var writer = JSONWriter()
      writer.write(member)
      return VerificationKey(
        json: String(decoding: writer.finish(), as: UTF8.self), algorithm: algorithm)
    }
    return keys.isEmpty ? nil : keys
  }
}

extension Int64 {
  fileprivate func saturatingAdd(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other > 0 ? .max : .min) : sum
  }
}
