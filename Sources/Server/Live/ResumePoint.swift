import Postgres

/// How far a client was told: what it says when it comes back.
///
///     SNAPSHOT                  all that is in it
///     SNAPSHOT;SNAPSHOT;NODE    and of what else is in the second one, told in the order of its nodes, up to this one
struct ResumePoint: Sendable {
  /// What of one look was told already.
  struct Part: Sendable {
    let look: PostgresSnapshot
    let node: Int64
  }

  let told: PostgresSnapshot
  let part: Part?

  init(told: PostgresSnapshot, part: Part?) {
    self.told = told
    self.part = part
  }

  init?(_ text: String) {
    let words = text.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
    guard let told = PostgresSnapshot(words[0]) else { return nil }
    if words.count == 1 {
      self.init(told: told, part: nil)
    } else {
      guard words.count == 3, let look = PostgresSnapshot(words[1]), let node = Int64(words[2])
      else { return nil }
      self.init(told: told, part: Part(look: look, node: node))
    }
  }

  var text: String { part.map { "\(told.text);\($0.look.text);\($0.node)" } ?? told.text }
}
