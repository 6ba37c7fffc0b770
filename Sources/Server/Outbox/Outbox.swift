import Cryptography
import JSON
import Postgres
import SQL
import Synchronization

/// Passes the entries of the database's outbox to a command, each at least once.
///
/// The graph provides two functions. `outbox_take(lease)` returns an entry that is due, with its
/// message and possibly an encrypted token. `outbox_end(id, is_delivered, is_final)` records the
/// outcome. Until the lease ends, no other process takes the entry. If this process ends before it
/// records the outcome, another one takes the entry after that.
package final class Outbox: Sendable {
  package struct Settings: Sendable {
    package var command: OutboxCommand
    package var workers = 2
    /// The key that decrypts tokens of linked accounts.
    package var box: SecretBox?

    package init(command: OutboxCommand) { self.command = command }
  }

  package struct Counts: Sendable {
    package var delivered = 0
    package var failed = 0
    package var givenUp = 0
  }

  /// The polling interval.
  private static let interval = Duration.seconds(1)

  private let settings: Settings
  private let threads: [DatabaseThread]
  private let configuration: PostgresConfiguration
  private let report: @Sendable (OutboxEvent) -> Void
  private let counted = Mutex(Counts())

  /// - Parameter configuration: of a role that may call the graph's functions.
  package init(
    _ settings: Settings, _ configuration: PostgresConfiguration,
    report: @escaping @Sendable (OutboxEvent) -> Void
  ) {
    self.settings = settings
    var configuration = configuration
    configuration.applicationName = "sociograph outbox"
    configuration.isReadOnly = false
    configuration.statementTimeout = .seconds(30)
    self.configuration = configuration
    threads = (0..<max(settings.workers, 1)).map {
      DatabaseThread(name: "outbox \($0)", configuration)
    }
    self.report = report
  }

  package var counts: Counts { counted.withLock { $0 } }

  package func start() {
    for thread in threads {
      thread.start { [self] (work) throws(PostgresError) in
        try deliverNext(work.session) ? .now : .now + Self.interval
      }
    }
  }

  /// Takes no more, and waits for what is being delivered.
  package func stop(patience: Duration = .seconds(10)) {
    for thread in threads { thread.end() }
    for thread in threads { thread.wait(patience) }
  }

  /// Delivers all that is due now, once, on this thread.
  package func deliverDue() throws(PostgresError) {
    let session = try PostgresSession(configuration)
    while try deliverNext(session) {}
  }

  /// - Returns: whether something was due.
  private func deliverNext(_ session: PostgresSession) throws(PostgresError) -> Bool {
    let lease = settings.command.timeout * 2 + .seconds(30)
    let rows = try session.execute(
      "SELECT id, message, encode(sealed, 'hex') FROM \(GraphContract.outboxTake)($1::interval)",
      ["\(lease.wholeMilliseconds) milliseconds"])
    guard let row = rows.first, let id = row[0], let message = row[1] else { return false }
    let outcome = hand(message, row[2])
    let isDelivered = outcome == .delivered
    let isFinal = if case .refused = outcome { true } else { false }
    let again = try session.execute(
      "SELECT \(GraphContract.outboxEnd)($1::bigint, $2, $3)",
      [id, isDelivered ? "t" : "f", isFinal ? "t" : "f"])
    note(id, outcome, isTriedAgain: again.first?.first == "t")
    return true
  }

  private func hand(_ message: String, _ sealed: String?) -> OutboxCommand.Outcome {
    guard case .object(var members)? = try? JSONParser.parse(Array(message.utf8)) else {
      return .refused("its message is no JSON object")
    }
    if let sealed {
      guard let box = settings.box else {
        return .failed("there is no --sealing-key to open its token with")
      }
      guard let bytes = Hexadecimal.decode(sealed), let token = box.open(bytes) else {
        return .refused("its token was sealed with another key")
      }
      members.append(
        JSONValue.Member(name: "token", value: .string(String(decoding: token, as: UTF8.self))))
    }
    var json = JSONWriter(capacity: 1_024)
    json.write(JSONValue.object(members))
    json.append("\n")
    return settings.command.hand(json.finish())
  }

  private func note(_ id: String, _ outcome: OutboxCommand.Outcome, isTriedAgain: Bool) {
    switch outcome {
    case .delivered:
      counted.withLock { $0.delivered += 1 }
      report(.delivered(id))
    case .failed(let reason), .refused(let reason):
      counted.withLock {
        $0.failed += 1
        $0.givenUp += isTriedAgain ? 0 : 1
      }
      report(.failed(id, reason: reason, isTriedAgain: isTriedAgain))
    }
  }
}

/// An event of the outbox, with the number of the entry.
package enum OutboxEvent: Sendable {
  case delivered(String)
  case failed(String, reason: String, isTriedAgain: Bool)
}
