import Cryptography
import Foundation

/// Bearer tokens that somebody else signs, beside sessions of our own: JSON Web Tokens of the issuers that the
/// operator has configured, each with issuer, audience and keys as identity providers have them.
///
/// Whom one stands for the graph says: `viewer_of_token(issuer, subject)`. One for the process.
package final class SignedBearers: Sendable {
  /// What was found to be true of a token.
  struct Bearer: Sendable {
    /// The name that the operator gave to the issuer.
    let issuer: String
    let subject: String
    /// Seconds since 1970.
    let endsAt: Int64
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
    /// Too many others wait.
    case notLookedAt
  }

  /// Checks signature and claims away from the loops, and calls `completion` there.
  func check(_ token: SessionToken, completion: @escaping @Sendable (Verdict) -> Void) {
    queue.run { [providers] in
      let now = Int64(Date().timeIntervalSince1970)
      for name in providers.names {
        guard let issuer = providers.issuer(of: name),
          let identity = IdentityToken(token.text, from: issuer, now: now)
        else { continue }
        return Verdict.bearer(
          Bearer(issuer: name, subject: identity.subject, endsAt: identity.endsAt))
      }
      return Verdict.unacceptable
    } completion: {
      completion($0 ?? .notLookedAt)
    }
  }
}
