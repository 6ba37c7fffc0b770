/// A position in a subscription's events, which a client sends when it reconnects.
///
///     SNAPSHOT                  it received all events that are visible in the snapshot
///     SNAPSHOT;SNAPSHOT;NODE    and those visible in the second one whose node is at most this one
///     ...@CRASH                 `CrashRecovery.statisticsResetAt` of that time
///     ...#MARK                  the mark of the last response, if equal responses are not sent
package struct ResumeToken: Sendable {
  /// A batch that the client has received in part.
  package struct Part: Sendable {
    let snapshot: PostgresSnapshot
    /// The node of the last event received. Events are sent in the order of their nodes.
    let node: Int64
  }

  let received: PostgresSnapshot
  let part: Part?
  /// Transaction IDs mean something else after another crash.
  let crash: String?
  let last: Last?

  /// The last response: its mark, or its bytes, which are hashed when the token is sent.
  enum Last: Sendable {
    case mark(ResponseMark)
    case response([UInt8])

    var mark: ResponseMark {
      switch self {
      case .mark(let mark): mark
      case .response(let body): ResponseMark(of: body)
      }
    }
  }

  init(received: PostgresSnapshot, part: Part?, crash: String? = nil, last: Last? = nil) {
    self.received = received
    self.part = part
    self.crash = crash
    self.last = last
  }

  package init?(_ text: String) {
    let ends = text.split(separator: "#", omittingEmptySubsequences: false)
    let last = ends.count == 2 ? ResponseMark(ends[1]).map { Last.mark($0) } : nil
    guard ends.count == 1 || last != nil else { return nil }
    let halves = ends[0].split(separator: "@", omittingEmptySubsequences: false).map(String.init)
    guard halves.count <= 2 else { return nil }
    let crash = halves.count == 2 ? halves[1] : nil
    let words = halves[0].split(separator: ";", omittingEmptySubsequences: false).map(String.init)
    guard let received = PostgresSnapshot(words[0]) else { return nil }
    if words.count == 1 {
      self.init(received: received, part: nil, crash: crash, last: last)
    } else {
      guard words.count == 3, let snapshot = PostgresSnapshot(words[1]), let node = Int64(words[2])
      else { return nil }
      self.init(
        received: received, part: Part(snapshot: snapshot, node: node), crash: crash, last: last)
    }
  }

  package var text: String {
    let point = part.map { "\(received.text);\($0.snapshot.text);\($0.node)" } ?? received.text
    return point + (crash.map { "@\($0)" } ?? "") + (last.map { "#\($0.mark.text)" } ?? "")
  }
}
