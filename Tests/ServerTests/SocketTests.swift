import Foundation
import HTTP
import HTTPTestSupport
import JSON
import OracleSupport
import Postgres
import Server
import TestSupport
import Testing

/// graphql-transport-ws at `/graphql`.
@Suite(.usesCluster) struct SocketTests {
  private func socket(_ payload: String? = nil, headers: String = "") throws -> GraphQLSocket {
    try GraphQLSocket(port: TestServer.shared.port, payload: payload, headers: headers)
  }

  /// Returns the token of a signed-in user.
  static func token(_ database: String) throws -> String {
    let token = "sociograph-test-\(UInt64.random(in: 0 ... .max))"
    try TestCluster.session(database).execute(
      """
      WITH made AS (
        INSERT INTO app_user (username, email, display_name, name_key)
        VALUES ($1, $1 || '@example.org', 'Somebody', 'somebody') RETURNING id),
      known AS (INSERT INTO password (user_id, hash) SELECT id, 'x' FROM made)
      INSERT INTO session (user_id, token_hash, expires_at)
      SELECT id, sha256($2::bytea), now() + interval '1 day' FROM made
      """, ["u\(UInt32.random(in: 0 ... .max))", token])
    return token
  }

  // MARK: Opening and closing

  @Test func `the protocol is chosen amongst those that are offered`() throws {
    let socket = try GraphQLSocket(
      port: TestServer.shared.port, initialised: false, protocols: "other, graphql-transport-ws")
    #expect(socket.client.answer.status == 101)
    #expect(socket.client.answer.header("Sec-WebSocket-Protocol") == "graphql-transport-ws")
  }

  @Test(arguments: [nil, "graphql-ws", "graphql-transport-ws2"])
  func `without it the socket is closed by 4406, and no protocol is chosen`(_ name: String?) throws
  {
    let socket = try GraphQLSocket(
      port: TestServer.shared.port, initialised: false, protocols: name)
    #expect(socket.client.answer.status == 101)
    #expect(socket.client.answer.header("Sec-WebSocket-Protocol") == nil)
    #expect(socket.client.closeCode() == 4406)
  }

  @Test func `a handshake of another version learns which one is spoken`() throws {
    let client = try RawClient(port: TestServer.shared.port)
    client.send(WebSocketClient.handshake(protocols: "graphql-transport-ws", version: "12"))
    let answer = client.answer()
    #expect(answer.status == 426)
    #expect(answer.header("Sec-WebSocket-Version") == "13")
  }

  @Test func `pages of other sites may not open a socket`() throws {
    let other = try GraphQLSocket(
      port: TestServer.shared.port, initialised: false,
      headers: "Origin: https://elsewhere.example\r\n")
    #expect(other.client.answer.status == 403)
    let own = try GraphQLSocket(
      port: TestServer.shared.port, initialised: false, headers: "Origin: http://localhost\r\n")
    #expect(own.client.answer.status == 101)
  }

  @Test func `who says nothing is closed by 4408`() throws {
    let server = try TestServer { $0.live.initialisation = .milliseconds(50) }
    let socket = try GraphQLSocket(port: server.port, initialised: false)
    #expect(socket.client.closeCode() == 4408)
  }

  @Test func `who has said something may be kept waiting for the acknowledgement`() throws {
    let server = try TestServer { $0.live.initialisation = .milliseconds(50) }
    let token = try Self.token(server.database)
    let lock = try TestCluster.session(server.database)
    try lock.execute("BEGIN")
    try lock.execute("LOCK TABLE session IN ACCESS EXCLUSIVE MODE")
    let socket = try GraphQLSocket(port: server.port, initialised: false)
    socket.initialise(#"{"authorization":"Bearer \#(token)"}"#)
    socket.client.send(#"{"type":"ping"}"#)
    #expect(socket.text() == #"{"type":"pong"}"#)
    // Longer than the 50 ms of who says nothing.
    let patient = try GraphQLSocket(port: server.port, initialised: false)
    #expect(patient.client.closeCode() == 4408)
    try lock.execute("COMMIT")
    #expect(socket.text() == #"{"type":"connection_ack"}"#)
  }

  @Test(arguments: [
    #"{"authorization":"Bearer nobody"}"#, #"{"Authorization":"what"}"#, #"{"authorization":7}"#,
  ])
  func `who is not known is closed by 4403`(_ payload: String) throws {
    let socket = try GraphQLSocket(port: TestServer.shared.port, initialised: false)
    socket.initialise(payload)
    #expect(socket.client.closeCode() == 4403)
  }

  @Test func `who cannot be known by a fault of ours is closed by 4500`() throws {
    let server = try TestServer { _ in }
    let token = try Self.token(server.database)
    try TestCluster.session(server.database).execute("ALTER TABLE session RENAME TO lost")
    let socket = try GraphQLSocket(port: server.port, initialised: false)
    socket.initialise(#"{"authorization":"Bearer \#(token)"}"#)
    #expect(socket.client.closeCode() == 4500)
  }

  @Test func `a second connection_init closes by 4429`() throws {
    let socket = try socket()
    socket.initialise()
    #expect(socket.client.closeCode() == 4429)
  }

  @Test func `an operation before connection_init closes by 4401`() throws {
    let socket = try GraphQLSocket(port: TestServer.shared.port, initialised: false)
    socket.subscribe("1", "{ __typename }")
    #expect(socket.client.closeCode() == 4401)
  }

  @Test(arguments: [
    "", "no JSON", #"{"type":"next"}"#, #"{"id":"1","type":"subscribe","payload":{}}"#,
    #"{"id":"1","type":"subscribe","payload":{"query":7}}"#,
    #"{"id":"1","type":"subscribe","payload":{"query":"{ __typename }","variables":[]}}"#,
    #"{"id":"1","type":"subscribe","payload":{"query":"{ __typename }","extensions":1}}"#,
  ])
  func `what is no message closes by 4400`(_ text: String) throws {
    let socket = try socket()
    socket.client.send(text)
    #expect(socket.client.closeCode() == 4400)
  }

  @Test func `binary messages close by 1003, and those of more than 64 KiB by 1009`() throws {
    let binary = try socket()
    binary.client.send(WebSocketClient.Frame(2, Array(#"{"type":"ping"}"#.utf8)))
    #expect(binary.client.closeCode() == 1003)
    let large = try socket()
    large.client.send(String(repeating: " ", count: 64 * 1024 + 1))
    #expect(large.client.closeCode() == 1009)
  }

  // MARK: Operations

  @Test func `a query is answered by next and complete, and its id is free again`() throws {
    let socket = try socket()
    for _ in 0..<3 {
      socket.subscribe(
        "1", "query Q($n: Int) { users(first: $n) { totalCount } }",
        .object([JSONValue.Member(name: "n", value: .number("3"))]))
      let answer = socket.answer("1")
      #expect(answer.map(\.type) == ["next", "complete"])
      #expect(answer.first?.payload?["data"]?["users"]?["totalCount"] != nil)
    }
  }

  @Test(arguments: [
    ("{", "GRAPHQL_PARSE_FAILED"), ("{ nothing }", "GRAPHQL_VALIDATION_FAILED"),
    ("query Q($n: Int!) { users(first: $n) { totalCount } }", "BAD_USER_INPUT"),
    ("query A { __typename } query B { __typename }", "OPERATION_RESOLUTION_FAILURE"),
  ])
  func `what has no data is an error, and the socket lives on`(_ document: String, _ code: String)
    throws
  {
    let socket = try socket()
    socket.subscribe("1", document)
    let answer = socket.answer("1")
    #expect(answer.map(\.type) == ["error"])
    #expect(answer.first?.payload?.elements.first?["extensions"]?["code"] == .string(code))
    socket.subscribe("1", "{ __typename }")
    #expect(socket.answer("1").map(\.type) == ["next", "complete"])
  }

  @Test func `data with errors is next`() throws {
    let socket = try socket()
    socket.subscribe("1", #"mutation { followUsers(userIds: ["AQ"]) { __typename } }"#)
    let answer = socket.answer("1")
    #expect(answer.map(\.type) == ["next", "complete"], "\(answer)")
    #expect(answer.first?.payload?["data"] != nil)
    #expect(answer.first?.payload?["errors"] != nil)
  }

  @Test func `two operations under one id close by 4409, even when the first is a query`() throws {
    let server = try TestServer.shared
    let lock = try TestCluster.session(server.database)
    try lock.execute("BEGIN")
    try lock.execute("LOCK TABLE program IN ACCESS EXCLUSIVE MODE")
    let socket = try socket()
    socket.subscribe("same", "{ programs { totalCount } }")
    socket.subscribe("same", "{ __typename }")
    #expect(socket.client.closeCode() == 4409)
    try lock.execute("ROLLBACK")
  }

  @Test func `what nobody wants any more is cancelled, by complete or by leaving`() throws {
    let server = try TestServer { _ in }
    let lock = try TestCluster.session(server.database)
    func waiting() throws -> Int {
      try lock.execute(
        """
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
        """
      ).count
    }
    for leaves in [false, true] {
      try lock.execute("BEGIN")
      try lock.execute("LOCK TABLE program IN ACCESS EXCLUSIVE MODE")
      var socket: GraphQLSocket? = try GraphQLSocket(port: server.port)
      socket?.subscribe("1", "{ programs { totalCount } }")
      #expect(try eventually { try waiting() == 1 })
      if leaves { socket = nil } else { socket?.complete("1") }
      #expect(try eventually { try waiting() == 0 })
      // Nothing comes of it, and its id is free.
      socket?.subscribe("1", "{ __typename }")
      if !leaves { #expect(socket?.answer("1").map(\.type) == ["next", "complete"]) }
      try lock.execute("ROLLBACK")
    }
  }

  @Test func `a socket has so many operations at once, and no more`() throws {
    let server = try TestServer { $0.live.maximumOperations = 2 }
    let lock = try TestCluster.session(server.database)
    try lock.execute("BEGIN")
    try lock.execute("LOCK TABLE program IN ACCESS EXCLUSIVE MODE")
    let socket = try GraphQLSocket(port: server.port)
    for id in ["1", "2", "3"] { socket.subscribe(id, "{ programs { totalCount } }") }
    let answer = socket.answer("3")
    #expect(answer.map(\.type) == ["error"])
    #expect(
      answer.first?.payload?.elements.first?["extensions"]?["code"] == .string("RATE_LIMITED"))
    try lock.execute("ROLLBACK")
    let others = [socket.message(), socket.message(), socket.message(), socket.message()]
    #expect(Set(others.map { $0?["id"]?.text }) == ["1", "2"])
  }

  // MARK: Who asks

  @Test func `the token is that of connection_init, or of the handshake`() throws {
    let server = try TestServer.shared
    let token = try Self.token(server.database)
    let who = "{ viewer { user { displayName } } }"
    for socket in [
      try socket(#"{"authorization":"Bearer \#(token)"}"#),
      try socket(headers: "Authorization: Bearer \(token)\r\n"),
      try socket(
        #"{"Authorization":"Bearer \#(token)"}"#, headers: "Authorization: Bearer other\r\n"),
    ] {
      socket.subscribe("1", who)
      let data = socket.answer("1").first?.payload?["data"]
      #expect(
        data?["viewer"]?["user"]?["displayName"] == .string("Somebody"),
        "\(String(describing: data))")
    }
    let nobody = try socket()
    nobody.subscribe("1", who)
    #expect(nobody.answer("1").first?.payload?["data"]?["viewer"] == .null)
  }

  // MARK: Others' programs

  @Test(
    .enabled(if: LiveClients.python != nil, "run script/live-clients first"),
    arguments: [false, true])
  func `gql sends queries over websockets, in clear and through TLS`(_ isSecure: Bool) throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "sociograph-socket-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (certificate, key) = (folder.path + "/certificate.pem", folder.path + "/key.pem")
    let made = try LiveClients.tool(
      "openssl",
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
        "-keyout", key, "-out", certificate,
      ])
    try #require(made.status == 0)
    let plain = try TestServer.shared
    var settings = RunningServer.Settings()
    if isSecure { settings.tls = try TLSContext(certificateFile: certificate, keyFile: key) }
    let server = try RunningServer(
      TestServer.mapping.get(), database: PostgresConfiguration(plain.database), settings: settings)
    defer { server.stop(patience: .zero) }
    guard case .tcp(_, let port) = server.address, server.waitUntilReady(.seconds(600)) else {
      Issue.record("not ready")
      return
    }
    let token = try Self.token(plain.database)
    let run = try LiveClients.run(
      "operations.py",
      [
        "\(isSecure ? "wss" : "ws")://localhost:\(port)/graphql",
        "{ viewer { user { displayName } } }", token, isSecure ? certificate : "",
      ])
    let line = #"{"viewer": {"user": {"displayName": "Somebody"}}}"#
    #expect(run.output == "\(line)\n\(line)\n\(line)\n")
    #expect(run.status == 0)
  }
}
