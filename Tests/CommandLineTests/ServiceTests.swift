import DatabaseSetup
import Foundation
import Glibc
import HTTPTestSupport
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import CommandLine

/// The server as a service of the machine: notifications to its manager, SIGHUP, a database that
/// starts later, and dropped privileges.
@Suite(.usesCluster) struct ServiceTests {
  /// The socket that a service manager listens on.
  private final class NotifySocket {
    let path: String
    private let descriptor: Int32
    private(set) var messages: [String] = []

    init(_ path: String) throws {
      self.path = path
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
      descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
      let result = unsafe withUnsafePointer(to: address) {
        unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      try #require(result == 0)
    }

    deinit { close(descriptor) }

    /// Reads on until a message has this line; false after a minute and a half.
    func receives(_ line: String) -> Bool {
      let deadline = ContinuousClock.now + .seconds(90)
      var buffer = [UInt8](repeating: 0, count: 4096)
      while ContinuousClock.now < deadline {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&entry, 1, 100) > 0 else { continue }
        let count = unsafe buffer.withUnsafeMutableBytes {
          unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
        }
        guard count > 0 else { continue }
        let message = String(decoding: buffer[..<count], as: UTF8.self)
        messages.append(message)
        if message.split(separator: "\n").contains(Substring(line)) { return true }
      }
      return false
    }
  }

  @Test func `the service manager is told when it serves, lives, reloads and stops`() throws {
    let folder = try TemporaryFolder()
    let manager = try NotifySocket(folder.path + "/notify")
    let port = freePort()
    let run = try ProgramRun(
      ["serve", "--listen", "127.0.0.1:\(port)", "--shutdown-delay", "0s"],
      environment: [
        "DATABASE_URL": try TestCluster.newDatabase(migrated: true), "NOTIFY_SOCKET": manager.path,
        "WATCHDOG_USEC": "200000",
      ])
    #expect(manager.receives("READY=1"), "\(run.errors)")
    #expect(manager.messages.last?.contains("MAINPID=\(run.processID)") == true)
    // It says so when it is true.
    #expect(try get("/ready", port: port).status == 200)
    #expect(manager.receives("WATCHDOG=1") && manager.receives("WATCHDOG=1"))
    run.signal(SIGHUP)
    #expect(manager.receives("RELOADING=1") && manager.receives("READY=1"))
    #expect(try get("/ready", port: port).status == 200)
    run.signal(SIGTERM)
    #expect(manager.receives("STOPPING=1"))
    #expect(run.finish() == 0)
  }

  @Test func `a loop that hangs gives no sign of life, and is asked once`() {
    let asked = Mutex<[@Sendable () -> Void]>([])
    let signs = Atomic(0)
    let watch = SystemdNotifier.Watch { done in
      asked.withLock { $0.append(done) }
    } lives: {
      signs.add(1, ordering: .relaxed)
    }
    watch.tick()
    watch.tick()
    watch.tick()
    #expect(asked.withLock { $0.count } == 1)
    #expect(signs.load(ordering: .relaxed) == 0)
    asked.withLock { $0.removeFirst() }()
    #expect(signs.load(ordering: .relaxed) == 1)
    watch.tick()
    #expect(asked.withLock { $0.count } == 1)
  }

  @Test func `SIGHUP opens log and certificate again, and ends nothing`() throws {
    let folder = try TemporaryFolder()
    let (certificate, key) = (folder.path + "/certificate.pem", folder.path + "/key.pem")
    try certify("first", certificate: certificate, key: key)
    let port = freePort()
    func shown() throws -> String {
      try command(
        "sh", "-c",
        "openssl s_client -connect 127.0.0.1:\(port) </dev/null 2>/dev/null "
          + "| openssl x509 -noout -subject"
      ).output
    }
    let log = folder.path + "/log"
    func text(_ file: String) -> String {
      FileManager.default.contents(atPath: file).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
    let run = try ProgramRun(
      [
        "serve", "--listen", "127.0.0.1:\(port)", "--tls-certificate", certificate, "--tls-key",
        key,
        "--log-file", log,
      ], environment: ["DATABASE_URL": try TestCluster.newDatabase(migrated: true)])
    #expect(run.prints("Serving https://"), "\(run.errors) \(text(log))")
    #expect(eventually { text(log).contains("checking the schema") })
    #expect(run.errors.isEmpty)
    #expect(try shown().contains("first"))

    try certify("second", certificate: certificate, key: key)
    try FileManager.default.moveItem(atPath: log, toPath: log + ".1")
    run.signal(SIGHUP)
    #expect(eventually { text(log).contains("reopened the log") })
    #expect(!text(log + ".1").contains("reopened the log"))
    #expect(try shown().contains("second"))

    _ = try folder.write("certificate.pem", "no certificate")
    run.signal(SIGHUP)
    #expect(eventually { text(log).contains("warning: SIGHUP: Cannot use the certificate") })
    #expect(try shown().contains("second"))
    run.signal(SIGINT)
    #expect(run.finish() == 0)
  }

  @Test func `started before PostgreSQL it lives, is not ready, and serves once that is there`()
    throws
  {
    let folder = try TemporaryFolder()
    let data = folder.path + "/data"
    try TestCluster.endWithProcess(data)
    var options = EmbeddedCluster.Options()
    options.dataDirectory = data
    options.isDurable = false
    // Made, and not running.
    try EmbeddedCluster.start(options) { _ in }.stop()
    let (port, adminPort) = (freePort(), freePort())
    let manager = try NotifySocket(folder.path + "/notify")
    let run = try ProgramRun(
      [
        "serve", "--listen", "127.0.0.1:\(port)", "--admin-listen", "127.0.0.1:\(adminPort)",
        "--database", "host='\(data)/run' port=5432 user=sociograph dbname=sociograph",
      ], environment: ["NOTIFY_SOCKET": manager.path])
    #expect(manager.receives("STATUS=waiting for PostgreSQL"), "\(run.errors)")
    #expect(eventually { run.errors.contains("waiting for PostgreSQL: ") })
    for port in [port, adminPort] {
      #expect(try get("/live", port: port).status == 200)
      #expect(try get("/ready", port: port).status == 503)
    }
    let early = try post(#"{"query": "{ __typename }"}"#, port: port)
    #expect(early.status == 503 && early.header("Retry-After") == "1")
    #expect(early.body.contains("DATABASE_UNAVAILABLE"), "\(early.body)")

    let cluster = try EmbeddedCluster.start(options) { _ in }
    defer { cluster.stop() }
    #expect(cluster.connectionString.contains("'\(data)/run'"))
    #expect(run.prints("Serving "), "\(run.errors)")
    #expect(eventually { run.errors.contains("PostgreSQL is available") })
    #expect(try get("/ready", port: port).status == 200)
    #expect(try get("/ready", port: adminPort).status == 200)
    #expect(try post(#"{"query": "{ __typename }"}"#, port: port).status == 200)
    #expect(manager.receives("READY=1"))
    run.signal(SIGINT)
    #expect(run.finish() == 0)
  }

  @Test func `through PgBouncer it serves, reads and writes, and says what it needs for that`()
    throws
  {
    let database = try TestCluster.newDatabase(migrated: true)
    let pooler = try TestPooler(to: database, serverConnections: 2)
    let port = freePort()
    let through = ["serve", "--listen", "127.0.0.1:\(port)", "--database", pooler.connectionString]
    let unaware = try ProgramRun.complete(through)
    #expect(
      unaware.status == 1 && unaware.errors.contains("say --pooler transaction"), "\(unaware)")
    let lacking = try ProgramRun.complete(through + ["--pooler", "transaction"])
    #expect(lacking.status == 2 && lacking.errors.contains("--direct-database URL"), "\(lacking)")

    let run = try ProgramRun(
      through + ["--pooler", "transaction", "--direct-database", database])
    #expect(run.prints("Serving "), "\(run.errors)")
    #expect(eventually { (try? get("/ready", port: port).status) == 200 })
    let signUp = #"""
      {"query": "mutation { signUp(input: {username: \"pooled\", displayName: \"P\", password: \"long enough 1\"}) {
      token userErrors { message } } }"}
      """#.split(separator: "\n").joined(separator: " ")
    let made = try post(signUp, port: port)
    #expect(made.status == 200 && made.body.contains("\"userErrors\":[]"), "\(made.body)")
    for _ in 0..<10 {
      let answer = try post(
        #"{"query": "{ users(first: 3) { nodes { username } totalCount } }"}"#, port: port)
      #expect(answer.status == 200 && answer.body.contains("pooled"), "\(answer.body)")
    }
    run.signal(SIGINT)
    #expect(run.finish() == 0)
  }

  @Test func `nobody who reads what it says can hold it up`() throws {
    let database = try TestCluster.newDatabase(migrated: true)
    let port = freePort()
    let folder = try TemporaryFolder()
    // A pipe that is full from the start, and stays so.
    let script = """
      mkfifo "$1/pipe"; exec 3<>"$1/pipe"; head -c 65536 /dev/zero >&3
      cd "$2"; echo $$ > "$1/process"; exec "$3" serve --listen 127.0.0.1:$4 --database "$5" \
        --access-log all --shutdown-delay 0s >&3 2>&3
      """
    let process = try ChildProcess.start(
      [
        "/bin/sh", "-c", script, "sh", folder.path, TestCluster.packageFolder,
        ProgramRun.executable, String(port), database,
      ], user: nil, output: "/dev/null")
    defer { kill(process, SIGKILL) }
    #expect(eventually { (try? get("/ready", port: port).status) == 200 })
    for _ in 0..<3 {
      #expect(try post(#"{"query": "{ __typename }"}"#, port: port).status == 200)
    }
    kill(process, SIGTERM)
    var status: Int32 = -1
    #expect(eventually { unsafe waitpid(process, &status, WNOHANG) == process })
    #expect(status == 0)
  }

  @Test func `while it finishes its last requests its port is free for the next server`() throws {
    let database = try TestCluster.newDatabase(migrated: true)
    let port = freePort()
    let arguments = [
      "serve", "--listen", "127.0.0.1:\(port)", "--database", database, "--shutdown-delay", "0s",
      "--header-timeout", "600s",
    ]
    let run = try ProgramRun(arguments)
    #expect(run.prints("Serving "), "\(run.errors)")
    let slow = try RawClient(port: port)
    slow.send("GET /graphql?query=%7B__typename%7D HTTP/1.1\r\nHost: localhost\r\n")
    run.signal(SIGTERM)
    // Whoever comes now is turned away at once, and not left in a queue that nobody serves.
    #expect(eventually { (try? RawClient(port: port)) == nil })
    #expect(run.isRunning)
    // A whole server would take longer to start on a busy machine than the old one waits.
    do { _ = try TakenPort(port) }
    slow.send("\r\n")
    let answer = slow.answer()
    #expect(answer.status == 200 && answer.header("Connection") == "close", "\(answer)")
    #expect(run.finish() == 0)
    let next = try ProgramRun(arguments)
    #expect(next.prints("Serving "), "\(next.errors)")
    #expect(try get("/ready", port: port).status == 200)
    next.signal(SIGTERM)
    #expect(next.finish() == 0)
  }

  @Test func `started while another server stops it waits for its port`() throws {
    let database = try TestCluster.newDatabase(migrated: true)
    let (port, adminPort) = (freePort(), freePort())
    let arguments = [
      "serve", "--listen", "127.0.0.1:\(port)", "--admin-listen", "127.0.0.1:\(adminPort)",
      "--database", database,
    ]
    let run = try ProgramRun(arguments + ["--shutdown-delay", "2s"])
    #expect(run.prints("Serving "), "\(run.errors)")
    run.signal(SIGTERM)
    #expect(eventually { run.errors.contains("/ready fails") })
    let next = try ProgramRun(arguments)
    #expect(
      eventually { next.errors.contains("that listens there is stopping") || !next.isRunning })
    // It need not wait the whole time.
    run.signal(SIGTERM)
    #expect(next.prints("Serving "), "\(next.errors)")
    #expect(run.finish() == 0)
    #expect(try get("/ready", port: adminPort).status == 200)
    next.signal(SIGINT)
    #expect(next.finish() == 0)
  }

  @Test func `a PostgreSQL that refuses ends the start, and waiting can be ended`() throws {
    let refused = try ProgramRun.complete([
      "serve", "--listen", "127.0.0.1:\(freePort())", "--database",
      try TestCluster.connectionString(database: "there_is_none"),
    ])
    #expect(refused.status == 1, "\(refused.errors)")
    #expect(refused.errors.contains("there_is_none") && !refused.errors.contains("waiting"))
    let waiting = try ProgramRun([
      "serve", "--listen", "127.0.0.1:\(freePort())", "--database",
      "host=/nonexistent user=nobody dbname=none",
    ])
    #expect(eventually { waiting.errors.contains("waiting for PostgreSQL") })
    waiting.signal(SIGTERM)
    #expect(waiting.finish() == 0)
  }

  @Test func `started as root it goes on as somebody else, once it listens`() throws {
    guard geteuid() == 0 else {
      let run = try ProgramRun.complete(["serve", "--user", "postgres"])
      #expect(run.status == 2 && run.errors.contains("only root can become"))
      return
    }
    let folder = try TemporaryFolder()
    // Where everybody may read them.
    for name in ["Schema", "sql"] {
      try FileManager.default.copyItem(
        atPath: TestCluster.packageFolder + "/" + name, toPath: folder.path + "/" + name)
      _ = try command("chmod", "-R", "a+rX", folder.path + "/" + name)
    }
    try FileManager.default.removeItem(atPath: folder.path + "/sql/demo")
    // One that only root may open.
    let port = UInt16.random(in: 600...999)
    let data = folder.path + "/data"
    try TestCluster.endWithProcess(data)
    let run = try ProgramRun([
      "serve", "--user", "postgres", "--listen", "127.0.0.1:\(port)", "--data", data,
      "--schema", folder.path + "/Schema", "--sql", folder.path + "/sql", "--shutdown-delay", "0s",
    ])
    #expect(run.prints("Serving "), "\(run.errors)")
    let postgres = try command("id", "-u", "postgres").output.filter(\.isNumber)
    let threads = try FileManager.default.contentsOfDirectory(
      atPath: "/proc/\(run.processID)/task")
    #expect(threads.count > 2)
    for thread in threads {
      guard
        let bytes = FileManager.default.contents(
          atPath: "/proc/\(run.processID)/task/\(thread)/status")
      else { continue }
      let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
      let users = lines.first { $0.hasPrefix("Uid:") }?.split(whereSeparator: \.isWhitespace)
      #expect(users?.dropFirst().allSatisfy { $0 == postgres } == true, "\(users ?? [])")
      let rights = lines.filter { $0.hasPrefix("CapEff:") || $0.hasPrefix("CapPrm:") }
      #expect(rights.count == 2 && rights.allSatisfy { $0.hasSuffix("0000000000000000") })
    }
    #expect(try get("/ready", port: port).status == 200)
    #expect(!run.errors.contains("running as root"))
    run.signal(SIGTERM)
    #expect(run.finish() == 0)
  }

  @Test func `links lead to where people reach it`() throws {
    let port = freePort()
    let database = try TestCluster.newDatabase(migrated: true)
    let run = try ProgramRun(
      ["serve", "--listen", "127.0.0.1:\(port)", "--public-url", "https://example.org/graph/"],
      environment: ["DATABASE_URL": database])
    #expect(run.prints("Serving "), "\(run.errors)")
    let draft = try post(#"{"query": "{ shareDraft(channel: EMAIL) { body } }"}"#, port: port)
    #expect(draft.body.contains("https://example.org/graph/"), "\(draft.body)")
    // What mutations write, too: a mail that somebody's address is to be verified by.
    let made = try post(
      #"{"query": "mutation { signUp(input: {username: \"ada\", password: \"correct horse b\", "#
        + #"email: \"ada@example.org\"}) { userErrors { code } } }"}"#, port: port)
    #expect(made.status == 200 && made.body.contains(#""userErrors":[]"#), "\(made.body)")
    let session = try TestCluster.session(database)
    #expect(
      try session.execute(
        "SELECT FROM outbox WHERE body LIKE '%https://example.org/graph/verify/%'"
      )
      .count == 1)
    run.signal(SIGINT)
    #expect(run.finish() == 0)
  }

  @Test func `the unit is whole, and gives its service little`() throws {
    let folder = try TemporaryFolder()
    let unit = try String(
      contentsOfFile: TestCluster.packageFolder + "/docker/sociograph.service", encoding: .utf8)
    // systemd looks whether there is such a program.
    let path = try folder.write(
      "sociograph.service",
      unit.replacing("/usr/local/bin/sociograph", with: ProgramRun.executable))
    let verified = try command("systemd-analyze", "verify", path)
    #expect(verified.status == 0 && verified.output.isEmpty, "\(verified.output)")
    let weighed = try command(
      "systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=15", path)
    #expect(weighed.status == 0, "\(weighed.output)")
  }
}
