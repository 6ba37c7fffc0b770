import Cryptography
import Foundation
import JSON

/// A substitute for every identity provider, for trying a graph. Its key is in a file of the
/// embedded database's folder. A process that can read the folder can sign in as any user, as it
/// can with the database itself.
package struct DemoIdentityProvider: Sendable {
  private static let audience = "sociograph"
  private static let tokenSeconds: Int64 = 3_600

  private let key: SigningKey
  private let verificationKey: VerificationKey

  package struct Fault: Error, CustomStringConvertible {
    package let description: String
  }

  /// Reads the provider's key; nil if there is no file.
  ///
  /// - Throws: a `Fault` that names the file if it contains no key.
  package init?(file: String) throws(Fault) {
    guard let data = FileManager.default.contents(atPath: file) else { return nil }
    guard let key = SigningKey(json: String(decoding: data, as: UTF8.self)),
      let json = key.json(withPrivateHalf: false), let verification = VerificationKey(json: json)
    else { throw Fault(description: "\(file) has no key of the curve P-256 in it; remove it.") }
    self.key = key
    verificationKey = verification
  }

  /// Writes a new key to a file.
  package static func create(file: String) throws {
    guard let json = SigningKey()?.json(withPrivateHalf: true) else {
      throw Fault(description: "OpenSSL cannot create the key \(file).")
    }
    try KeyFile.create(file, containing: json)
  }

  /// Returns the issuer of a provider; a token of one provider is not valid for another.
  func issuer(of provider: String) -> TokenIssuer {
    TokenIssuer(
      names: [Self.name(provider)], audiences: [Self.audience], keys: [verificationKey])
  }

  private static func name(_ provider: String) -> String { "https://identity.invalid/\(provider)" }

  /// Returns an identity token for a subject at a provider, valid for an hour.
  ///
  /// - Parameter now: seconds since 1970.
  package func token(for subject: String, at provider: String, now: Int64) -> String? {
    var claims = JSONWriter(capacity: 256)
    claims.append(#"{"iss":"#)
    claims.write(Self.name(provider))
    claims.append(#","aud":"#)
    claims.write(Self.audience)
    claims.append(#","sub":"#)
    claims.write(subject)
    claims.append(#","preferred_username":"#)
    claims.write(subject)
    // Two tokens of one second are two.
    claims.append(#","jti":"#)
    claims.write(Base64URL.encode(RandomBytes.make(16)))
    claims.append(#","iat":"#)
    claims.write(now)
    claims.append(#","exp":"#)
    claims.write(now + Self.tokenSeconds)
    claims.append("}")
    return key.sign(claims: String(decoding: claims.finish(), as: UTF8.self))
  }
}
