import Cryptography
import Glibc
import GraphQLLanguage
import Postgres

/// Where the time of one operation went, in nanoseconds; 0 for what was not done, because it was
/// kept from before or never came to it.
package struct PhaseDurations: Sendable, Equatable {
  package var parsing: UInt64 = 0
  package var validating: UInt64 = 0
  package var planning: UInt64 = 0
  /// Passwords and credentials of a mutation: until it was their turn, and hashing or checking
  /// them.
  package var hashing: UInt64 = 0
  /// The time until a database connection took the statement.
  package var waiting: UInt64 = 0
  /// The time from then to PostgreSQL's result.
  package var querying: UInt64 = 0
  /// Making the response from the row.
  package var writing: UInt64 = 0

  package init() {}

  /// Whether something was parsed or planned, rather than found in the cache.
  package var hasPreparing: Bool { parsing > 0 || planning > 0 }

  /// Adds what an execution took of a statement.
  mutating func add(_ statement: StatementTimes) {
    waiting &+= statement.waited
    querying &+= statement.served
  }

  /// Adds what the calls of a mutation's field took.
  mutating func add(_ field: PhaseDurations) {
    hashing &+= field.hashing
    waiting &+= field.waiting
    querying &+= field.querying
  }
}

/// The label of an operation in the log, metrics, traces and the comment in front of its statement.
/// Created once for each operation of a document.
package final class OperationLabel: Sendable {
  /// The operation's name, at most 64 characters.
  package let name: String?
  package let kind: OperationKind
  /// 16 hexadecimal digits: how SHA-256 of the document begins, as persisted queries write it.
  package let document: String
  /// Whether responses may contain a secret, such as the token of a session.
  package let isConfidential: Bool

  package init(
    name: String?, kind: OperationKind, document: String, isConfidential: Bool = false
  ) {
    self.name = name.map { String($0.prefix(64)) }
    self.kind = kind
    self.document = document
    self.isConfidential = isConfidential
  }

  /// Returns the hash of a document's text in its label.
  static func hash(of document: [UInt8]) -> String {
    Hexadecimal.encode(SHA256.hash(document).prefix(8))
  }
}

/// An event of an event loop's documents and plans.
package enum ExecutionEvent: Sendable {
  /// A document was parsed and validated.
  case prepared(bytes: Int)
  case planned(OperationLabel, statement: String?)
  /// The least recently used documents were evicted.
  case dropped(documents: Int)
}

/// Nanoseconds of a clock that never goes back.
package func monotonicNanoseconds() -> UInt64 {
  var time = timespec()
  _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
}
