import Foundation
import HTTPTestSupport
import JSON
import Postgres
import TestSupport
import Testing

/// The executable from its first start on a machine to its last, with a PostgreSQL of its own.
@Suite(.serialized, .usesCluster(isFirst: true)) struct LifeCycleTests {
  @Test func `seed, serve, kill, take over, recover, stop`() throws {
    let folder = try TemporaryFolder()
    let data = folder.path + "/data"
    let seed = try ProgramRun.complete(["seed", "--data", data])
    #expect(seed.status == 0, "\(seed.errors)")
    #expect(seed.output.contains("token") && seed.output.contains("demo-"))
    let again = try ProgramRun.complete(["seed", "--data", data])
    #expect(again.status == 1, "\(again.errors)")

    // From the first answer on.
    let port = UInt16.random(in: 20_000...29_999)
    let arguments = ["serve", "--data", data, "--listen", "127.0.0.1:\(port)"]
    let server = try ProgramRun(arguments)
    #expect(server.prints("Serving http://127.0.0.1:\(port)\n"), "\(server.errors)")
    #expect(server.output.contains("Try: curl -s http://127.0.0.1:\(port)/graphql"))
    #expect(server.errors.contains("PostgreSQL is ready"))
    func answer(_ request: String) throws -> RawClient.Answer {
      let client = try RawClient(port: port)
      client.send(request)
      return client.answer()
    }
    func get(_ path: String) throws -> Int {
      try answer("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n").status
    }
    let viewer = try answer(
      "GET /graphql?query=%7Bviewer%7Buser%7Busername%7D%7D%7D HTTP/1.1\r\nHost: localhost\r\n"
        + "Authorization: Bearer demo-marisol\r\n\r\n")
    #expect(viewer.status == 200 && viewer.body.contains("marisol"), "\(viewer.body)")
    #expect(viewer.header("Cache-Control") == "no-store")

    // A device's token is encrypted, with a key that the first start created.
    let deviceToken = String(repeating: "a", count: 24)
    let mutation =
      #"{"query": "mutation { registerDevice(input: {app: \"peck\", platform: FCM, token: \"\#(deviceToken)\"}) "#
      + #"{ device { id } userErrors { code } } }"}"#
    let device = try answer(
      "POST /graphql HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer demo-marisol\r\n"
        + "Content-Type: application/json\r\nContent-Length: \(mutation.utf8.count)\r\n\r\n"
        + mutation)
    #expect(device.body.contains(#""userErrors":[]"#), "\(device.body)")
    let key = try FileManager.default.attributesOfItem(atPath: data + "/sealing-key")
    #expect(key[.posixPermissions] as? Int == 0o600)

    // What serves may read and no more.
    let place = FileManager.default.contents(atPath: data + "/postgres/postmaster.pid").map {
      String(decoding: $0, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    }
    let socketDirectory = try #require(place?.dropFirst(4).first)
    let owner = try PostgresSession(
      PostgresConfiguration(
        "host='\(socketDirectory)' port=5432 user=sociograph dbname=sociograph"))
    let served = try owner.execute(
      """
      SELECT DISTINCT usename, rolsuper FROM pg_stat_activity JOIN pg_roles ON rolname = usename
      WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'
      ORDER BY usename
      """)
    #expect(served == [["sociograph_server", "f"], ["sociograph_writer", "f"]])

    // A port and a folder belong to one server.
    let other = try TemporaryFolder()
    let taken = try ProgramRun.complete([
      "serve", "--data", other.path + "/data", "--listen", "127.0.0.1:\(port)",
    ])
    #expect(taken.status == 1)
    #expect(taken.errors.contains("Cannot listen on 127.0.0.1:\(port)"))
    #expect(taken.errors.filter(\.isNewline).count == 1)
    #expect(!FileManager.default.fileExists(atPath: other.path + "/data"))
    let shared = try ProgramRun.complete(["serve", "--data", data, "--listen", "127.0.0.1:0"])
    #expect(shared.status == 1 && shared.errors.contains("in use"))

    // The other commands work beside it.
    let operation = try folder.write("operation.graphql", "{ viewer { user { username } } }")
    for (arguments, expected) in [
      (["migrate"], "Nothing to apply.\n"), (["schema", "--check"], "directive holds"),
      (["maintain"], "keep_partitions: done"),
      (["user", "role", "marisol", "+TRAINER"], "marisol: MEMBER TRAINER"),
      (["explain", operation, "--viewer", "marisol", "--analyze"], "actual time="),
      (
        ["psql", "--", "-Atc", "SELECT username FROM app_user WHERE username = 'marisol'"],
        "marisol\n"
      ),
    ] {
      let beside = try ProgramRun.complete(
        arguments.prefix(1) + ["--data", data] + arguments.dropFirst())
      #expect(beside.status == 0 && beside.output.contains(expected), "\(beside)")
      #expect(beside.errors.contains("using the PostgreSQL of the server that is running"))
    }
    let verified = try ProgramRun.complete(["verify", "--data", data])
    #expect(verified.status == 0 && verified.output.isEmpty, "\(verified)")
    #expect(verified.errors.contains("checks, 0 differences"))
    let seeded = try ProgramRun.complete(["seed", "--data", data])
    #expect(seeded.status == 1 && !seeded.errors.contains("in use"), "\(seeded.errors)")
    let failing = try ProgramRun.complete(["psql", "--data", data, "--", "-c", "SELECT nothing"])
    #expect(failing.status == 1 && failing.errors.contains("column \"nothing\" does not exist"))
    let nobody = try ProgramRun.complete(["session", "create", "nobody at all", "--data", data])
    #expect(nobody.status == 1 && nobody.errors.contains("there is no user \"nobody at all\"."))
    let session = try ProgramRun.complete(
      ["session", "create", "marisol", "--name", "a try", "--data", data])
    #expect(session.status == 0, "\(session.errors)")
    let token = session.output.filter { !$0.isNewline }
    let tried = try answer(
      "GET /graphql?query=%7Bviewer%7Buser%7Busername%7D%7D%7D HTTP/1.1\r\nHost: localhost\r\n"
        + "Authorization: Bearer \(token)\r\n\r\n")
    #expect(tried.status == 200 && tried.body.contains("marisol"), "\(tried.body)")
    let kept = try owner.execute(
      """
      SELECT token_hash = sha256(convert_to($1, 'UTF8')) FROM graph.session
      WHERE device = 'a try'
      """, [token])
    #expect(kept == [["t"]])

    // Killed: PostgreSQL is left running, and is taken over.
    server.signal(SIGKILL)
    #expect(server.finish() == 128 + SIGKILL)
    let heir = try ProgramRun(arguments)
    #expect(heir.prints("Serving "), "\(heir.errors)")
    #expect(heir.errors.contains("taking over PostgreSQL"))
    #expect(try get("/ready") == 200)

    // Killed together with PostgreSQL.
    let orphan = try #require(postmaster(data))
    heir.signal(SIGKILL)
    kill(orphan, SIGKILL)
    _ = heir.finish()
    let last = try ProgramRun(arguments + ["--shutdown-delay", "8s"])
    #expect(last.prints("Serving "), "\(last.errors)")
    #expect(try get("/ready") == 200)

    // SIGTERM: not ready at once, still serving, then an orderly end.
    let cluster = try #require(postmaster(data))
    last.signal(SIGTERM)
    while !last.errors.contains("/ready fails"), last.isRunning { usleep(5_000) }
    #expect(try get("/ready") == 503)
    #expect(try get("/live") == 200)
    #expect(last.finish() == 0)
    #expect(kill(cluster, 0) != 0)

    // Twice: at once. While it starts: undone.
    let hurried = try ProgramRun(arguments + ["--shutdown-delay", "8s"])
    #expect(hurried.prints("Serving "))
    hurried.signal(SIGTERM)
    while !hurried.errors.contains("/ready fails"), hurried.isRunning { usleep(5_000) }
    hurried.signal(SIGTERM)
    #expect(hurried.finish() == 0)
    #expect(hurried.errors.contains("received a second signal"))
    // Told to end, it lets the next one have port and folder at once.
    let ended = try ProgramRun(arguments)
    #expect(ended.prints("Serving "), "\(ended.errors)")
    ended.signal(SIGTERM)
    let next = try ProgramRun(arguments)
    #expect(next.prints("Serving "), "\(next.errors)")
    #expect(ended.finish() == 0)
    #expect(!ended.errors.contains("/ready fails"), "\(ended.errors)")
    next.signal(SIGTERM)
    #expect(next.finish() == 0)
    let early = try ProgramRun(arguments)
    while !early.errors.contains("PostgreSQL is ready"), early.isRunning { usleep(1_000) }
    early.signal(SIGINT)
    #expect(early.finish() == 0)
    #expect(postmaster(data) == nil)
  }

  @Test func `a database of one's own is used as it is`() throws {
    let database = try TestCluster.newDatabase()
    let folder = try TemporaryFolder()
    let socket = folder.path + "/socket"
    let run = try ProgramRun(
      ["serve", "--listen", "unix:\(socket)", "--pool-size", "2", "--loops", "8"],
      environment: ["DATABASE_URL": database])
    #expect(run.prints("Serving unix:\(socket)"), "\(run.errors)")
    #expect(run.errors.contains("links begin with http://localhost, as there is no --public-url"))
    #expect(!run.errors.contains("demo"))
    run.signal(SIGINT)
    #expect(run.finish() == 0)
    #expect(!FileManager.default.fileExists(atPath: socket))
  }

  @Test func `a log in JSON has words in every line, also while demo data is loaded`() throws {
    let folder = try TemporaryFolder()
    for name in ["Schema", "sql/tables", "sql/demo"] {
      try FileManager.default.createDirectory(
        atPath: "\(folder.path)/\(name)", withIntermediateDirectories: true)
    }
    _ = try folder.write(
      "Schema/cat.graphql",
      """
      type Query { cats: [Cat!]! @list(orderBy: "this.id") }
      type Cat @tag(id: 1) @table(name: "cat") { id: ID! name: String! }
      """)
    _ = try folder.write(
      "sql/tables/0001_cat.sql", "CREATE TABLE cat (id bigint PRIMARY KEY, name text NOT NULL);")
    _ = try folder.write(
      "sql/demo/cat.sql",
      """
      -- empty: SELECT NOT EXISTS (SELECT FROM cat)
      -- step: Cats; table: cat(id, name); rows: 2
      SELECT n, 'Tom' FROM generate_series(1, 2) n;
      """)
    let data = folder.path + "/data"
    try TestCluster.endWithProcess(data)
    let run = try ProgramRun([
      "serve", "--data", data, "--listen", "127.0.0.1:0", "--log-format", "json",
      "--schema", folder.path + "/Schema", "--sql", folder.path + "/sql",
    ])
    while !run.errors.contains("serving http"), run.isRunning { usleep(5_000) }
    run.signal(SIGTERM)
    #expect(run.finish() == 0, "\(run.errors)")
    let lines = try run.errors.split(separator: "\n").map { try JSONParser.parse(Array($0.utf8)) }
    #expect(lines.allSatisfy { ["info", "warning"].map(JSONValue.string).contains($0["level"]) })
    let messages = lines.map { line -> String in
      if case .string(let text)? = line["message"] { text } else { "" }
    }
    #expect(messages.contains("[1/1] Cats: 2 rows in 0.0 s"), "\(run.errors)")
    #expect(!messages.contains(""), "\(run.errors)")
  }

  private func postmaster(_ data: String) -> pid_t? {
    let file = FileManager.default.contents(atPath: data + "/postgres/postmaster.pid")
    return file.flatMap { String(decoding: $0, as: UTF8.self).split(separator: "\n").first }
      .flatMap { pid_t($0) }
  }
}
