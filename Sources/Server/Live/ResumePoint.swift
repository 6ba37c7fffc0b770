import Postgres

/// How far a client was told: what it says when it comes back.
///
///     SNAPSHOT                  all that is in it
///     SNAPSHOT;SNAPSHOT;NODE    and of what else is in the second one, told in the order of its nodes, up to this one
///     ...@CRASH                 behind which crash of PostgreSQL (`Crash.beginning`)
struct ResumePoint: Sendable {
  /// What of one look was told already.
  struct Part: Sendable {
    let look: PostgresSnapshot
    let node: Int64
  }

  let told: PostgresSnapshot
  let part: Part?
  /// Numbers of transactions mean something else after another crash.
  let crash: String?

  init(told: PostgresSnapshot, part: Part?, crash: String? = nil) {
    self.told = told
    self.part = part
    self.crash = crash
  }

  init?(_ text: String) {
    let halves = text.split(separator: "@", omittingEmptySubsequences: false).map(String.init)
    guard halves.count <= 2 else { return nil }
    let crash = halves.count == 2 ? halves[1] : nil
    let words = halves[0].split(separator: ";", omittingEmptySubsequences: false).map(String.init)
    guard let told = PostgresSnapshot(words[0]) else { return nil }
    if words.count == 1 {
      self.init(told: told, part: nil, crash: crash)
    } else {
      guard words.count == 3, let look = PostgresSnapshot(words[1]), let node = Int64(words[2])
      else { return nil }
      self.init(told: told, part: Part(look: look, node: node), crash: crash)
    }
  }

  var text: String {
    let point = part.map { "\(told.text);\($0.look.text);\($0.node)" } ?? told.text
    return crash.map { "\(point)@\($0)" } ?? point
  }
}
