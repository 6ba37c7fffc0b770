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

  /// Reads the keys again if their files have changed, and calls `completion` with the state that
  /// they are in: another number after a change. If too much waits, it is not called.
  func look(_ completion: @escaping @Sendable (Int) -> Void) {
    queue.run { [providers] in
      for name in providers.names { _ = providers.issuer(of: name) }
      return providers.state
    } completion: {
      if let state = $0 { completion(state) }
    }
  }

  enum Verdict: Sendable {
    case bearer(Bearer)
    case unacceptable(TokenFault)
    /// The token was not verified, because too many others wait.
    case notLookedAt
  }

  /// Verifies signature and claims off the event loops, and calls `completion` there.
  func check(_ token: SessionToken, completion: @escaping @Sendable (Verdict) -> Void) {
    queue.run { [providers] in
      let now = Int64(Date().timeIntervalSince1970)
      var fault = TokenFault.unreadable
      for name in providers.names {
        guard let issuer = providers.issuer(of: name) else { continue }
        do throws(TokenFault) {
          let identity = try IdentityToken(token.text, from: issuer, now: now)
          return Verdict.bearer(
            Bearer(
              issuer: name, subject: identity.subject, endsAt: identity.endsAt,
              claims: identity.claims))
        } catch {
          fault = fault.further(error)
        }
      }
      return Verdict.unacceptable(fault)
    } completion: {
      completion($0 ?? .notLookedAt)
    }
  }
}

extension TokenFault {
  /// Returns the one of two that was found later: that of the issuer which the token is nearest to.
  fileprivate func further(_ other: TokenFault) -> TokenFault {
    let order = Self.allCases
    guard let mine = order.firstIndex(of: self), let theirs = order.firstIndex(of: other) else {
      return self
    }
    return theirs > mine ? other : self
  }
}
