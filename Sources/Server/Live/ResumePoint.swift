import Subscriptions

/// How far a client was told: what it says when it comes back.
///
///     SNAPSHOT                  all that is in it
///     SNAPSHOT;SNAPSHOT;NODE    and of what else is in the second one, told in the order of its nodes, up to this one
///     ...@CRASH                 behind which crash of PostgreSQL (`Crash.beginning`)
///     ...#MARK                  what it was told last, where equal responses are not sent
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
  let last: Last?

  /// What it was told last: known by its mark, or still to be marked.
  enum Last {
    case mark(ResponseMark)
    case response([UInt8])

    var mark: ResponseMark {
      switch self {
      case .mark(let mark): mark
      case .response(let body): ResponseMark(of: body)
      }
    }
  }

  init(told: PostgresSnapshot, part: Part?, crash: String? = nil, last: Last? = nil) {
    self.told = told
    self.part = part
    self.crash = crash
    self.last = last
  }

  init?(_ text: String) {
    let ends = text.split(separator: "#", omittingEmptySubsequences: false)
    let last = ends.count == 2 ? ResponseMark(ends[1]).map { Last.mark($0) } : nil
    guard ends.count == 1 || last != nil else { return nil }
    let halves = ends[0].split(separator: "@", omittingEmptySubsequences: false).map(String.init)
    guard halves.count <= 2 else { return nil }
    let crash = halves.count == 2 ? halves[1] : nil
    let words = halves[0].split(separator: ";", omittingEmptySubsequences: false).map(String.init)
    guard let told = PostgresSnapshot(words[0]) else { return nil }
    if words.count == 1 {
      self.init(told: told, part: nil, crash: crash, last: last)
    } else {
      guard words.count == 3, let look = PostgresSnapshot(words[1]), let node = Int64(words[2])
      else { return nil }
      self.init(told: told, part: Part(look: look, node: node), crash: crash, last: last)
    }
  }

  var text: String {
    let point = part.map { "\(told.text);\($0.look.text);\($0.node)" } ?? told.text
    return point + (crash.map { "@\($0)" } ?? "") + (last.map { "#\($0.mark.text)" } ?? "")
  }
}
