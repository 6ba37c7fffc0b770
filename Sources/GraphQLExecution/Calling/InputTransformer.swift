import GraphQLResponse
import Postgres

/// A task for an input before a call.
package enum TransformTask: Sendable {
  /// Hash a new password; nil when none was given.
  case newPassword(String?)
  /// Find out whether this is the password behind a stored hash; nil when none was given.
  /// `account` is whose it is said to be, to count guesses by.
  case knownPassword(String?, stored: String?, account: String)
  case identityToken(String?, provider: String?)
  case seal(String?)
  /// Store a picture in base64; nil when none was given.
  case picture(String?)
}

/// The result of a task.
package enum TransformedInput: Sendable {
  /// A hash, `!` and what is wrong with a new password, or an empty text for a wrong one.
  case password(String?, renewed: String?)
  case json(String?)
  case sealed([UInt8]?)
}

/// A type that hashes passwords and verifies credentials. It belongs to one event loop and calls
/// `completion` on it, later.
package protocol InputTransformer: AnyObject {
  /// Runs all tasks away from the event loop, or refuses a client with too many wrong passwords.
  func transform(
    _ tasks: [TransformTask], client: ClientIdentity,
    completion: @escaping (Result<[TransformedInput], TransformRefusal>) -> Void)
}

package struct TransformRefusal: Error, Sendable {
  package let error: GraphQLError
  package let retryAfter: Duration?

  package init(_ error: GraphQLError, retryAfter: Duration? = nil) {
    self.error = error
    self.retryAfter = retryAfter
  }
}
