/// The statements that are executed for the events of subscriptions, and the subscriptions that wait for their turn.
///
/// Executions with the same key have the same response, so they are one statement, as long as the first one has no
/// response yet.
struct SharedExecutions {
  struct Key: Hashable {
    let group: Int
    let node: Int64
    let snapshot: PostgresSnapshot
    /// If the statement reads it.
    let received: UInt64?
  }

  struct Execution {
    let key: Key?
    var members: [(id: StreamID, event: PendingEvent)]
  }

  /// Subscriptions with an event.
  var ready = Queue<StreamID>()
  private var running: [StatementID: Execution] = [:]
  private var shared: [Key: StatementID] = [:]

  var count: Int { running.count }

  /// Returns the statement that gives the response, if there is one.
  func statement(for key: Key?) -> StatementID? { key.flatMap { shared[$0] } }

  mutating func join(_ statement: StatementID, _ id: StreamID, _ event: PendingEvent) {
    running[statement]?.members.append((id, event))
  }

  mutating func begin(
    _ statement: StatementID, _ key: Key?, _ id: StreamID, _ event: PendingEvent
  ) {
    running[statement] = Execution(key: key, members: [(id, event)])
    if let key { shared[key] = statement }
  }

  mutating func end(_ statement: StatementID) -> Execution? {
    guard let execution = running.removeValue(forKey: statement) else { return nil }
    if let key = execution.key { shared[key] = nil }
    return execution
  }

  /// Removes a stream from a statement.
  ///
  /// - Returns: whether no other stream needs the statement.
  mutating func leave(_ statement: StatementID, _ id: StreamID) -> Bool {
    running[statement]?.members.removeAll { $0.id == id }
    guard running[statement]?.members.isEmpty == true else { return false }
    _ = end(statement)
    return true
  }

  /// Removes what snapshots say about transactions from this one on. Later executions share nothing with earlier ones.
  mutating func forget(from transaction: UInt64) {
    shared = [:]
    for (statement, execution) in running {
      running[statement] = Execution(
        key: nil,
        members: execution.members.map { member in
          var event = member.event
          event.snapshot = event.snapshot.before(transaction)
          return (member.id, event)
        })
    }
  }
}
