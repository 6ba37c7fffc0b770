import Cryptography
import Foundation
import JSON

/// Authenticates bearer tokens that others sign, in addition to the server's sessions.
///
/// These are JSON Web Tokens of the configured issuers. Each issuer has a name, an audience and
/// keys, like an identity provider. The graph's `viewer_of_token(issuer, subject)` returns the user
/// of a token. The process has one authenticator.
package final class JWTAuthenticator: Sendable {
  /// The verified claims of a token.
  struct Bearer: Sendable {
    /// The name that the operator gave to the issuer.
    let issuer: String
    let subject: String
    /// The expiration in seconds since 1970.
    let endsAt: Int64
    let claims: JSONValue

    /// The number of a viewer without an account: positive, and the same for the same claims. Those
    /// that every token has of its own are left out.
    var number: Int64 {
      var writer = JSONWriter()
      writer.write(issuer)
      if case .object(let members) = claims {
        for member in members.sorted(by: { $0.name < $1.name })
        where !["exp", "iat", "nbf", "jti", "auth_time"].contains(member.name) {
          writer.write(member.name)
          writer.write(member.value)
        }
      }
      let digest = SHA256.hash(writer.finish())
      let bits = digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
      return max(Int64(bits >> 1), 1)
    }
  }

  private let providers: IdentityProviders
  private let queue: WorkQueue

  package init(_ providers: IdentityProviders) {
    self.providers = providers
    var limits = WorkQueue.Limits()
    limits.maximumWaiting = 1_000
    queue = WorkQueue(label: "tokens", limits: limits)
  }

  enum Verdict: Sendable {
    case bearer(Bearer)
    case unacceptable
    /// The token was not verified, because too many others wait.
    case notLookedAt
  }

  /// Verifies signature and claims off the event loops, and calls `completion` there.
  func check(_ token: SessionToken, completion: @escaping @Sendable (Verdict) -> Void) {
    queue.run { [providers] in
      let now = Int64(Date().timeIntervalSince1970)
      for name in providers.names {
        guard let issuer = providers.issuer(of: name),
          let identity = IdentityToken(token.text, from: issuer, now: now)
        else { continue }
        return Verdict.bearer(
          Bearer(
            issuer: name, subject: identity.subject, endsAt: identity.endsAt,
            claims: identity.claims))
      }
      return Verdict.unacceptable
    } completion: {
      completion($0 ?? .notLookedAt)
    }
  }
}
