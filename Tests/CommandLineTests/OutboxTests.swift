import Cryptography
import Foundation
import Glibc
import Postgres
import TestSupport
import Testing

/// The delivery of outbox entries to a real command that sometimes fails.
@Suite(.usesCluster) struct OutboxTests {
  private let folder: TemporaryFolder
  private let database: String
  private let session: PostgresSession

  init() throws {
    folder = try TemporaryFolder()
    database = try TestCluster.newDatabase(migrated: true)
    session = try TestCluster.session(database)
    try session.execute(
      """
      DO $$ BEGIN
        EXECUTE format('ALTER DATABASE %I SET sociograph.public_url = %L', current_database(), 'https://example.org');
      END $$
      """)
  }

  /// A line of each delivery, as it was given.
  private var deliveries: [String] {
    let text = FileManager.default.contents(atPath: folder.path + "/delivered") ?? Data()
    return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  private func script(_ text: String) throws -> String {
    "sh " + (try folder.write("deliver", "cd \(folder.path)\n" + text))
  }

  /// Fails the first time for each, then writes down what it is given.
  private static let failingOnce = """
    read -r message
    id=$(printf '%s' "$message" | sed 's/.*"id": *"\\([0-9]*\\)".*/\\1/')
    if mkdir "seen-$id" 2>/dev/null; then echo "not now" >&2; exit 75; fi
    printf '%s\\n' "$message" >> delivered
    """

  private func fill(_ count: Int) throws {
    try session.execute(
      """
      INSERT INTO outbox (channel, recipient, subject, body)
      SELECT CASE n % 2 WHEN 0 THEN 'EMAIL' ELSE 'SMS' END, 'to-' || n, 'About ' || n,
        E'A "body"\\nof ' || n
      FROM generate_series(1, \(count)) n
      """)
  }

  private func waiting() throws -> Int {
    try Int(session.execute("SELECT count(*) FROM outbox WHERE delivered_at IS NULL")[0][0] ?? "")
      ?? -1
  }

  /// Makes entries that wait after a failure due at once, so that no test waits for them.
  private func makeDue() throws { try session.execute("UPDATE outbox SET due_at = now()") }

  @Test func `several workers deliver each entry once, however often the command fails`() throws {
    try fill(12)
    let command = try script(Self.failingOnce)
    let outbox = try ProgramRun(
      ["outbox", command, "--workers", "3", "--database", database])
    let server = try ProgramRun(
      ["serve", "--listen", "127.0.0.1:\(freePort())", "--outbox", command],
      environment: ["DATABASE_URL": database])
    // Each has failed once before any is tried again.
    let haveFailed = try eventually {
      try session.execute("SELECT FROM outbox WHERE attempts = 0").isEmpty
    }
    #expect(haveFailed, "\(outbox.errors) \(server.errors)")
    // Only what rests: what somebody is at is due after a lease of more than a minute.
    try session.execute(
      "UPDATE outbox SET due_at = now() WHERE due_at < now() + interval '1 minute'")
    let isEmpty = try eventually { try waiting() == 0 }
    #expect(isEmpty, "\(outbox.errors) \(server.errors)")
    #expect(deliveries.count == 12)
    for number in 1...12 {
      #expect(deliveries.count { $0.contains(#""to-\#(number)""#) } == 1)
    }
    #expect(
      deliveries.allSatisfy { $0.contains(#"A \"body\"\nof "#) && $0.contains(#""attempt":2"#) })
    #expect(outbox.errors.contains("is tried again: status 75: not now"))
    outbox.signal(SIGTERM)
    #expect(outbox.finish() == 0)
    // The other workers may have delivered everything before it listens to signals.
    #expect(server.prints("Serving"), "\(server.errors)")
    server.signal(SIGINT)
    #expect(server.finish() == 0)
  }

  @Test func `what a worker left behind when it was killed is delivered by another`() throws {
    try fill(1)
    let command = try script("read -r m; touch began; while ! [ -e go ]; do sleep 0.05; done")
    let killed = try ProgramRun(["outbox", command, "--database", database])
    #expect(eventually { FileManager.default.fileExists(atPath: folder.path + "/began") })
    killed.signal(SIGKILL)
    _ = killed.finish()
    // It is still the dead worker's.
    let early = try ProgramRun.complete(["outbox", "true", "--once", "--database", database])
    #expect(early.status == 0 && early.errors.contains("0 delivered"))
    _ = try folder.write("go", "")
    #expect(try waiting() == 1)
    try makeDue()
    let heir = try ProgramRun.complete(
      ["outbox", "cat >> \(folder.path)/delivered", "--once", "--database", database])
    #expect(heir.status == 0 && heir.errors.contains("1 delivered, 0 not"), "\(heir.errors)")
    #expect(deliveries.count == 1)
    #expect(try waiting() == 0)
  }

  @Test func `tokens are opened for the command, and only with their key`() throws {
    let key = String(repeating: "a7", count: 32)
    let box = try #require(SecretBox(key: Array(repeating: 0xA7, count: 32)))
    let sealed = box.seal(Array("the wall's token".utf8)).map {
      String(($0 < 16 ? "0" : "") + String($0, radix: 16))
    }.joined()
    try session.execute(
      "INSERT INTO outbox (channel, body, token) VALUES ('FACEBOOK', 'Hello.', decode($1, 'hex'))",
      [sealed])
    let command = "cat >> \(folder.path)/delivered"
    let without = try ProgramRun.complete(["outbox", command, "--once", "--database", database])
    #expect(without.status == 1 && without.errors.contains("no --sealing-key"))
    #expect(deliveries.isEmpty)
    try makeDue()
    let with = try ProgramRun.complete([
      "outbox", command, "--once", "--database", database, "--sealing-key",
      try folder.write("key", key + "\n"),
    ])
    #expect(with.status == 0, "\(with.errors)")
    #expect(deliveries.first?.contains(#""token":"the wall's token""#) == true, "\(deliveries)")
    // What was delivered needs its token no more.
    #expect(try session.execute("SELECT token, attempts FROM outbox") == [[nil, "1"]])

    try session.execute(
      "INSERT INTO outbox (channel, body, token) VALUES ('FACEBOOK', 'Hello.', decode($1, 'hex'))",
      [sealed])
    let other = try ProgramRun.complete([
      "outbox", command, "--once", "--database", database, "--sealing-key",
      try folder.write("other", String(repeating: "b8", count: 32)),
    ])
    #expect(other.status == 1 && other.errors.contains("given up: its token was sealed"))
  }

  @Test func `a command says by its status that nothing will come of it, or is ended in time`()
    throws
  {
    try fill(2)
    let command = try script(
      """
      read -r m
      case "$m" in *to-1*) echo "nobody there" >&2; exit 67;; *) echo $$ > shell; sleep 600;; esac
      """)
    let run = try ProgramRun.complete([
      "outbox", command, "--once", "--timeout", "300ms", "--database", database,
    ])
    #expect(run.status == 1)
    #expect(run.errors.contains("1 was not delivered and is given up: status 67: nobody there"))
    #expect(run.errors.contains("2 was not delivered and is tried again: it took longer than"))
    #expect(run.errors.contains("0 delivered, 2 not"))
    #expect(
      try session.execute(
        "SELECT attempts, failed_at IS NULL, due_at > now() FROM outbox ORDER BY id")
        == [["1", "f", "t"], ["1", "t", "t"]])
    let shell = try String(contentsOfFile: folder.path + "/shell", encoding: .utf8)
    let process = try #require(pid_t(shell.filter(\.isNumber)))
    // Gone, or nobody has noticed yet that it is.
    let hasEnded = eventually {
      guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
      else {
        return true
      }
      return status.contains(") Z ")
    }
    #expect(hasEnded)
  }

  @Test func `one that fails the twentieth time is given up`() throws {
    try fill(1)
    try session.execute("UPDATE outbox SET attempts = 18")
    for isTriedAgain in [true, false] {
      try makeDue()
      let run = try ProgramRun.complete(["outbox", "false", "--once", "--database", database])
      #expect(run.errors.contains(isTriedAgain ? "is tried again" : "is given up"), "\(run.errors)")
    }
    try makeDue()
    let none = try ProgramRun.complete(["outbox", "true", "--once", "--database", database])
    #expect(none.errors.contains("0 delivered, 0 not"))
    #expect(
      try session.execute("SELECT attempts, failed_at IS NULL FROM outbox") == [["20", "f"]])
  }

  @Test func `the command is told nothing of what is the server's to know`() throws {
    try fill(1)
    let run = try ProgramRun(
      ["outbox", "env >> \(folder.path)/delivered", "--once"],
      environment: [
        "DATABASE_URL": database, "PGPASSFILE": "/secret", "SOCIOGRAPH_SEALING_KEY": "",
        "MAIL_HOST": "mail.example",
      ])
    #expect(run.finish() == 0, "\(run.errors)")
    #expect(deliveries.contains("MAIL_HOST=mail.example"))
    #expect(!deliveries.contains { $0.hasPrefix("DATABASE_URL") || $0.hasPrefix("PG") })
    #expect(!deliveries.contains { $0.hasPrefix("SOCIOGRAPH") })
  }
}
