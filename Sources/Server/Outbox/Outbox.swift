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
    let again = try session.execute(
      "SELECT \(GraphContract.outboxEnd)($1::bigint, $2, $3, $4)",
      [id, isDelivered ? "t" : "f", outcome.isFinal ? "t" : "f", outcome.isGone ? "t" : "f"])
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
      Self.add(.string(String(decoding: token, as: UTF8.self)), to: &members)
    }
    var json = JSONWriter(capacity: 1_024)
    json.write(JSONValue.object(members))
    json.append("\n")
    return settings.command.hand(json.finish())
  }

  /// Adds an opened token: to the message, or to the parts of a push message that take it.
  private static func add(_ token: JSONValue, to members: inout [JSONValue.Member]) {
    let places = [["push"], ["fcm", "message"]].filter { JSONValue.object(members).has($0) }
    guard !places.isEmpty else {
      return members.append(JSONValue.Member(name: "token", value: token))
    }
    for place in places { add(token, to: &members, at: place[...]) }
  }

  private static func add(
    _ token: JSONValue, to members: inout [JSONValue.Member], at place: ArraySlice<String>
  ) {
    guard let name = place.first else {
      return members.append(JSONValue.Member(name: "token", value: token))
    }
    guard let index = members.firstIndex(where: { $0.name == name }),
      case .object(var inner) = members[index].value
    else { return }
    add(token, to: &inner, at: place.dropFirst())
    members[index] = JSONValue.Member(name: name, value: .object(inner))
  }

  private func note(_ id: String, _ outcome: OutboxCommand.Outcome, isTriedAgain: Bool) {
    switch outcome {
    case .delivered:
      counted.withLock { $0.delivered += 1 }
      report(.delivered(id))
    case .failed(let reason), .refused(let reason), .gone(let reason):
      counted.withLock {
        $0.failed += 1
        $0.givenUp += isTriedAgain ? 0 : 1
      }
      report(.failed(id, reason: reason, isTriedAgain: isTriedAgain))
    }
  }
}

extension JSONValue {
  /// Returns whether there is an object at a path of names.
  fileprivate func has(_ path: [String]) -> Bool {
    var value = self
    for name in path {
      guard let inner = value[name], case .object = inner else { return false }
      value = inner
    }
    return true
  }
}

extension OutboxCommand.Outcome {
  /// Whether another attempt would fail as well.
  fileprivate var isFinal: Bool {
    switch self {
    case .refused, .gone: true
    case .delivered, .failed: false
    }
  }

  fileprivate var isGone: Bool { if case .gone = self { true } else { false } }
}

/// An event of the outbox, with the number of the entry.
package enum OutboxEvent: Sendable {
  case delivered(String)
  case failed(String, reason: String, isTriedAgain: Bool)
}
