import Foundation
import HTTPTestSupport
import Postgres
import Synchronization
import TestSupport
import Testing

/// `serve --watch`: a schema that changes while it is served.
@Suite(.usesCluster) struct WatchTests {
  private static let tables = """
    CREATE TABLE customer (customer_id int PRIMARY KEY, name text NOT NULL);
    INSERT INTO customer VALUES (1, 'Ada');
    """

  private static func served() throws -> (server: DraftedServer, session: PostgresSession) {
    let database = try TestCluster.newDatabase()
    let session = try TestCluster.session(database)
    try session.execute(tables)
    return (try DraftedServer(database, serving: ["--watch"]), session)
  }

  private static func ask(_ query: String, _ port: UInt16) throws -> String {
    try post("{\"query\": \"\(query)\"}", port: port).body
  }

  @Test func `changes of the database are served, and no request fails meanwhile`() throws {
    let (server, session) = try Self.served()
    let port = server.port
    #expect(eventually { server.errors.contains("watching ") })
    let clients = (0..<2).map { _ in Client(port) }
    let threads = DispatchGroup()
    for client in clients {
      DispatchQueue.global().async(group: threads) { client.ask() }
    }
    for (change, query, answer) in [
      (
        "ALTER TABLE customer ADD phone text DEFAULT '1'", "{ customers { nodes { phone } } }",
        #"{"data":{"customers":{"nodes":[{"phone":"1"}]}}}"#
      ),
      (
        "CREATE TABLE store (store_id int PRIMARY KEY, city text); INSERT INTO store VALUES (7, 'Oslo')",
        "{ store(storeId: 7) { city } }", #"{"data":{"store":{"city":"Oslo"}}}"#
      ),
      (
        "COMMENT ON TABLE store IS 'Where it is sold.'",
        "{ __type(name: \\\"Store\\\") { description } }",
        #"{"data":{"__type":{"description":"Where it is sold."}}}"#
      ),
      (
        "ALTER TABLE customer DROP phone", "{ customers { nodes { phone } } }",
        "Cannot query field \\\"phone\\\""
      ),
    ] {
      try session.execute(change)
      #expect(
        try eventually { try Self.ask(query, port).contains(answer) }, "\(change): \(server.errors)"
      )
    }
    for client in clients { client.stop() }
    threads.wait()
    for client in clients {
      #expect(client.count > 0 && client.failures.isEmpty, "\(client.failures.prefix(3))")
    }
  }

  @Test func `files are served as they are edited, and a schema that does not hold is not taken`()
    throws
  {
    let (server, session) = try Self.served()
    #expect(eventually { server.errors.contains("watching ") })
    let file = server.path + "/customer.graphql"
    let text = try String(contentsOfFile: file, encoding: .utf8)
    func write(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: file)) }

    try write(
      text.replacing(
        "  name: String!", with: "  name: String!\n  nam: String @sql(expression: \"this.nam\")"))
    #expect(eventually { server.errors.contains("does not hold; the one before is served: ") })
    #expect(server.errors.contains("Customer.nam"), "\(server.errors)")
    #expect(
      try Self.ask("{ customer(customerId: 1) { name } }", server.port)
        == #"{"data":{"customer":{"name":"Ada"}}}"#)

    try write(
      text.replacing(
        "  name: String!",
        with: "  name: String!\n  loud: String @sql(expression: \"upper(this.name)\")"))
    #expect(
      try eventually {
        try Self.ask("{ customer(customerId: 1) { loud } }", server.port)
          == #"{"data":{"customer":{"loud":"ADA"}}}"#
      }, "\(server.errors)")

    // What a person has written stays when the database changes.
    try session.execute("ALTER TABLE customer ADD phone text DEFAULT '1'")
    #expect(
      try eventually {
        try Self.ask("{ customer(customerId: 1) { loud phone } }", server.port)
          == #"{"data":{"customer":{"loud":"ADA","phone":"1"}}}"#
      }, "\(server.errors)")
  }

  @Test func `sockets are closed for their clients to come back, and cursors stay valid`() throws {
    let (server, session) = try Self.served()
    try session.execute("INSERT INTO customer VALUES (2, 'Ben')")
    #expect(eventually { server.errors.contains("watching ") })
    let page = try Self.ask("{ customers(first: 1) { pageInfo { endCursor } } }", server.port)
    let cursor = try #require(page.firstMatch(of: #/"endCursor":"([^"]+)"/#)?.1)
    let client = try RawClient(port: server.port)
    client.send(
      "GET /graphql HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        + "Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n")
    try session.execute("ALTER TABLE customer ADD phone text")
    #expect(eventually { server.errors.contains("serving the changed schema") })
    #expect(client.isClosedByServer())
    let rest = try Self.ask(
      "{ customers(first: 1, after: \\\"\(cursor)\\\") { nodes { name phone } } }", server.port)
    #expect(rest == #"{"data":{"customers":{"nodes":[{"name":"Ben","phone":null}]}}}"#)
  }

  @Test func `without it, the log says that the database may have changed`() throws {
    let database = try TestCluster.newDatabase()
    let session = try TestCluster.session(database)
    try session.execute(Self.tables)
    let server = try DraftedServer(database)
    try session.execute("ALTER TABLE customer RENAME name TO title")
    #expect(
      try Self.ask("{ customer(customerId: 1) { name } }", server.port)
        .contains("DATABASE_UNAVAILABLE"))
    #expect(
      eventually {
        server.errors.contains("has the database changed since the server was started?")
      },
      "\(server.errors)")
  }

  /// A client that sends one request after the other over a connection. It opens the next one when the
  /// server says that it closes this one, and asks again where one that had lain idle is closed.
  private final class Client: Sendable {
    private let port: UInt16
    private let state = Mutex(
      (count: 0, failures: [String](), isStopped: false))

    var count: Int { state.withLock { $0.count } }
    var failures: [String] { state.withLock { $0.failures } }

    init(_ port: UInt16) { self.port = port }

    func stop() { state.withLock { $0.isStopped = true } }

    func ask() {
      let body = #"{"query": "{ customer(customerId: 1) { name } }"}"#
      var client: RawClient?
      while !state.withLock(\.isStopped) {
        do {
          let current = try client ?? RawClient(port: port)
          current.send(
            "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
              + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
          let answer = current.answer()
          if answer.status == 0, client != nil {
            client = nil
            continue
          }
          let isRight = answer.body == #"{"data":{"customer":{"name":"Ada"}}}"#
          state.withLock {
            $0.count += 1
            if !isRight { $0.failures.append("\(answer)") }
          }
          client = answer.head.contains("Connection: close") ? nil : current
        } catch {
          state.withLock { $0.failures.append("\(error)") }
        }
      }
    }
  }
}
