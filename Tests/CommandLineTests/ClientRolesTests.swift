import Foundation
import JSON
import Postgres
import Synchronization
import TestSupport
import Testing
import TokenSupport

/// `serve --roles claims`: policies of row level security decide what clients read and write, as they
/// do in psql under the same role with the same claims.
@Suite(.usesCluster) struct ClientRolesTests {
  /// A database with policies, and the roles of clients. Roles belong to the whole cluster, so each
  /// database has its own.
  private final class Guarded {
    static let kinds = ["anon", "member", "editor", "auditor"]
    let database: String
    let session: PostgresSession
    let suffix: UInt32
    var login: String { "login_\(suffix)" }

    init() throws {
      suffix = UInt32.random(in: 0 ... .max)
      database = try TestCluster.newDatabase()
      session = try TestCluster.session(database)
      let roles = Self.kinds.map { role($0) }
      try session.execute(
        """
        CREATE ROLE \(login) LOGIN NOINHERIT;
        \(roles.map { "CREATE ROLE \($0); GRANT \($0) TO \(login);" }.joined(separator: "\n"))
        CREATE FUNCTION me() RETURNS text LANGUAGE sql STABLE AS
          $$SELECT current_setting('request.jwt.claims', true)::json->>'sub'$$;
        CREATE TABLE team (id int PRIMARY KEY, name text NOT NULL);
        CREATE TABLE staff (id int PRIMARY KEY, person text NOT NULL, team_id int NOT NULL REFERENCES team);
        INSERT INTO team VALUES (1, 'red'), (2, 'blue');
        INSERT INTO staff VALUES (1, 'ada', 1), (2, 'ben', 2);
        GRANT SELECT ON staff TO \(roles.joined(separator: ", "));
        """)
      for (number, policies) in Self.policies.enumerated() {
        let table = "t\(number)"
        try session.execute(
          """
          CREATE TABLE \(table) (id int PRIMARY KEY, owner text, team_id int, body text NOT NULL, secret text);
          INSERT INTO \(table) SELECT n, (ARRAY['ada', 'ben', 'cleo'])[n % 3 + 1], n % 2 + 1, 'b' || n,
            'hidden ' || n FROM generate_series(1, 12) AS n;
          CREATE TABLE kept_\(table) AS TABLE \(table);
          """)
        let text = policies.replacing("THIS", with: table)
        try session.execute(
          Self.kinds.reduce(text) { $0.replacing("<\($1)>", with: role($1)) })
      }
    }

    func role(_ kind: String) -> String { "\(kind)_\(suffix)" }

    /// The privileges and policies of ten tables.
    private static let policies = [
      // No row level security: privileges alone.
      "GRANT SELECT ON THIS TO <anon>, <member>, <auditor>; GRANT ALL ON THIS TO <editor>;",
      // No policy: nothing is found.
      "ALTER TABLE THIS ENABLE ROW LEVEL SECURITY; GRANT ALL ON THIS TO <member>, <editor>;",
      // One's own rows.
      """
      ALTER TABLE THIS ENABLE ROW LEVEL SECURITY; GRANT ALL ON THIS TO <anon>, <member>, <editor>;
      CREATE POLICY own ON THIS USING (owner = me());
      """,
      // All are read, one's own are written.
      """
      ALTER TABLE THIS ENABLE ROW LEVEL SECURITY; GRANT ALL ON THIS TO <member>, <editor>;
      GRANT SELECT ON THIS TO <anon>, <auditor>;
      CREATE POLICY all_read ON THIS FOR SELECT USING (true);
      CREATE POLICY own ON THIS TO <member>, <editor> USING (owner = me());
      """,
      // No privileges at all.
      "ALTER TABLE THIS ENABLE ROW LEVEL SECURITY; CREATE POLICY all_of_it ON THIS USING (true);",
      // A policy for a role.
      """
      ALTER TABLE THIS ENABLE ROW LEVEL SECURITY; GRANT ALL ON THIS TO <member>, <editor>, <auditor>;
      CREATE POLICY editors ON THIS TO <editor> USING (true);
      CREATE POLICY members ON THIS FOR SELECT TO <member> USING (id % 2 = 0);
      """,
      // A restrictive one.
      """
      ALTER TABLE THIS ENABLE ROW LEVEL SECURITY; GRANT ALL ON THIS TO <member>, <editor>;
      CREATE POLICY all_of_it ON THIS USING (true);
      CREATE POLICY few ON THIS AS RESTRICTIVE USING (id > 6);
      """,
      // By a number among the claims.
      """
      ALTER TABLE THIS ENABLE ROW LEVEL SECURITY; GRANT ALL ON THIS TO <anon>, <member>, <editor>;
      CREATE POLICY team ON THIS
        USING (team_id = (current_setting('request.jwt.claims', true)::json->>'team')::int);
      """,
      // By another table.
      """
      ALTER TABLE THIS ENABLE ROW LEVEL SECURITY; GRANT ALL ON THIS TO <member>, <editor>, <auditor>;
      CREATE POLICY staff ON THIS
        USING (EXISTS (SELECT FROM staff s WHERE s.person = me() AND s.team_id = THIS.team_id));
      """,
      // What is written must satisfy more than what is found.
      """
      ALTER TABLE THIS ENABLE ROW LEVEL SECURITY; ALTER TABLE THIS FORCE ROW LEVEL SECURITY;
      GRANT ALL ON THIS TO <member>, <editor>;
      CREATE POLICY mine ON THIS USING (team_id = 1) WITH CHECK (team_id = 1 AND owner = me());
      """,
    ]

    /// Puts the rows of a table back.
    func restore(_ table: String) throws {
      try session.execute("TRUNCATE \(table); INSERT INTO \(table) TABLE kept_\(table)")
    }

    func serve(_ arguments: [String] = []) throws -> (DraftedServer, TemporaryFolder) {
      let folder = try TemporaryFolder()
      _ = try folder.write("secret", ClientRolesTests.secret)
      let issuers = try folder.write(
        "issuers.json",
        #"{"OURS": {"issuer": "https://id.example", "audience": "graph", "secret": "secret"}}"#)
      let server = try DraftedServer(
        database, ["--mutations", "--aggregates", "--tables", "t*,!kept*"], as: login,
        serving: ["--roles", "claims", "--anonymous-role", role("anon"), "--jwt-keys", issuers]
          + arguments)
      return (server, folder)
    }
  }

  private static let secret = "a secret of at least thirty-two bytes"

  /// A client: its kind of role, and the claims of its token besides.
  private struct Client {
    let kind: String
    var subject: String?
    var team: Int?

    func claims(_ guarded: Guarded) -> String {
      guard subject != nil else { return #"{"role":"\#(guarded.role(kind))"}"# }
      return
        #"{"iss":"https://id.example","aud":"graph","exp":4000000000,"sub":"\#(subject ?? "")","#
        + #""team":\#(team ?? 0),"role":"\#(guarded.role(kind))"}"#
    }

    func headers(_ guarded: Guarded) -> String {
      guard subject != nil else { return "" }
      let token = TokenSigner(.shared(ClientRolesTests.secret)).sign(claims(guarded))
      return "Authorization: Bearer \(token)\r\n"
    }
  }

  private static let clients = [
    Client(kind: "anon"), Client(kind: "member", subject: "ada", team: 1),
    Client(kind: "editor", subject: "ben", team: 2),
    Client(kind: "auditor", subject: "cleo", team: 1),
  ]

  private func ask(_ document: String, _ headers: String, _ server: DraftedServer) throws
    -> JSONValue
  {
    try Self.ask(document, headers, port: server.port)
  }

  private static func ask(_ document: String, _ headers: String, port: UInt16) throws -> JSONValue {
    let answer = try post(
      "{\"query\": \(JSONValue.string(document))}", port: port, headers: headers)
    return try JSONParser.parse(Array(answer.body.utf8))
  }

  private static func integer(_ value: JSONValue?) -> Int? {
    if case .number(let text)? = value { Int(text) } else { nil }
  }

  private enum Result: Equatable, CustomStringConvertible {
    case rows([Int])
    /// Refused, by a privilege or a policy.
    case refused

    var description: String {
      switch self {
      case .rows(let ids): "\(ids)"
      case .refused: "refused"
      }
    }
  }

  /// Returns what psql gives for a statement under a client's role, and the table's rows afterwards.
  private func expected(
    _ statement: String, of client: Client, on table: String, _ guarded: Guarded
  ) throws -> (Result, after: String) {
    let session = guarded.session
    try session.execute("BEGIN; SAVEPOINT before")
    defer { _ = try? session.execute("ROLLBACK") }
    let result: Result
    do {
      let rows = try session.execute(
        """
        SET LOCAL ROLE \(guarded.role(client.kind));
        SELECT set_config('request.jwt.claims', '\(client.claims(guarded))', true);
        \(statement)
        """)
      result = .rows(rows.compactMap { $0[0].flatMap { Int($0) } }.sorted())
    } catch {
      guard error.sqlState == "42501" else { throw error }
      result = .refused
      try session.execute("ROLLBACK TO before")
    }
    try session.execute("RESET ROLE")
    return (result, try contents(of: table, guarded))
  }

  private func contents(of table: String, _ guarded: Guarded) throws -> String {
    let rows = try guarded.session.execute(
      "SELECT md5(string_agg(t::text, ',' ORDER BY id)) FROM \(table) AS t")
    return (rows.first?.first ?? nil) ?? ""
  }

  /// Returns the IDs in `nodes` or `rows` of an answer's one field.
  private static func result(_ answer: JSONValue) -> Result? {
    guard case .object(let fields)? = answer["data"], let field = fields.first?.value else {
      return answer["errors"].map { "\($0)" }?.contains("FORBIDDEN") == true ? .refused : nil
    }
    if field == .null {
      return answer["errors"].map { "\($0)" }?.contains("FORBIDDEN") == true ? .refused : nil
    }
    if case .array(let errors)? = field["userErrors"], let first = errors.first {
      return first["code"] == .string("NOT_PERMITTED") ? .refused : nil
    }
    guard case .array(let rows)? = field["nodes"] ?? field["rows"] else { return nil }
    return .rows(rows.compactMap { Self.integer($0["id"]) }.sorted())
  }

  @Test func `four roles read, insert, update and delete in ten tables what psql lets them`() throws
  {
    let guarded = try Guarded()
    let (server, folder) = try guarded.serve()
    defer { withExtendedLifetime(folder) {} }
    var seen: Set<String> = []
    for number in 0..<10 {
      let table = "t\(number)"
      // The type of table t1 is T1, and its plural T1s.
      let many = "t\(number)s"
      let plural = "T\(number)s"
      for client in Self.clients {
        let headers = client.headers(guarded)
        let owner = client.subject ?? "ada"
        for (document, statement) in [
          ("{ FIELD(first: 50) { nodes { id } } }", "SELECT id FROM TABLE"),
          (
            "mutation { insertPLURAL(input: [{id: 99, owner: \"\(owner)\", teamId: 1, body: \"n\"}]) "
              + "{ rows { id } userErrors { code } } }",
            "INSERT INTO TABLE (id, owner, team_id, body) VALUES (99, '\(owner)', 1, 'n') RETURNING id"
          ),
          (
            "mutation { updatePLURAL(filter: {id: {gt: 0}}, set: {body: \"z\"}, atMost: 50) "
              + "{ rows { id } userErrors { code } } }",
            "UPDATE TABLE SET body = 'z' WHERE id > 0 RETURNING id"
          ),
          (
            "mutation { deletePLURAL(filter: {id: {gt: 8}}, atMost: 50) { count userErrors { code } } }",
            "DELETE FROM TABLE WHERE id > 8 RETURNING id"
          ),
        ] {
          let (wanted, after) = try expected(
            statement.replacing("TABLE", with: table), of: client, on: table, guarded)
          let text = document.replacing("FIELD", with: many).replacing("PLURAL", with: plural)
          let answer = try ask(text, headers, server)
          let place = "\(table) \(client.kind) \(text)\n\(answer)"
          if statement.hasPrefix("DELETE"), case .rows(let ids) = wanted {
            guard case .object(let fields)? = answer["data"] else {
              Issue.record("\(place)")
              continue
            }
            #expect(Self.integer(fields.first?.value["count"]) == ids.count, "\(place)")
          } else {
            #expect(Self.result(answer) == wanted, "\(place)")
          }
          #expect(try contents(of: table, guarded) == after, "\(place)")
          seen.insert("\(statement.prefix(6)) \(wanted == .refused)")
          try guarded.restore(table)
        }
      }
    }
    // Each operation was both allowed and refused.
    #expect(seen.count == 8, "\(seen)")
  }

  @Test func `no filter, order, count or aggregate tells of a row that a policy hides`() throws {
    let guarded = try Guarded()
    let (server, folder) = try guarded.serve()
    defer { withExtendedLifetime(folder) {} }
    let headers = Self.clients[1].headers(guarded)
    for text in [
      "{ t2s(filter: {secret: {eq: \"hidden 1\"}}) { totalCount nodes { id } aggregates { count } } }",
      "{ t2s(filter: {owner: {eq: \"ben\"}}) { totalCount nodes { id } aggregates { count } } }",
      "{ t2s(filter: {not: {owner: {eq: \"ada\"}}}) { totalCount nodes { id } aggregates { count } } }",
    ] {
      let answer = try ask(text, headers, server)
      #expect(
        "\(answer)".contains("ben") == false
          && Self.integer(answer["data"]?["t2s"]?["totalCount"]) == 0
          && answer["data"]?["t2s"]?["nodes"] == .array([])
          && Self.integer(answer["data"]?["t2s"]?["aggregates"]?["count"]) == 0, "\(answer)")
    }
    // Ada's are 3, 6, 9 and 12.
    let all = try ask(
      """
      { t2s(orderBy: [{secret: DESC}]) { nodes { id } totalCount
        aggregates { count id { sum min max } secret { min } }
        groups(by: {owner: true}) { key { owner } aggregates { count } } } }
      """, headers, server)
    let wanted = try JSONParser.parse(
      Array(
        #"""
        {"data":{"t2s":{"nodes":[{"id":9},{"id":6},{"id":3},{"id":12}],"totalCount":4,"aggregates":{"count":4,
        "id":{"sum":30,"min":3,"max":12},"secret":{"min":"hidden 12"}},"groups":[{"key":{"owner":"ada"},
        "aggregates":{"count":4}}]}}}
        """#.utf8))
    #expect(all == wanted, "\(all)")
  }

  @Test func `a claim that a policy cannot cast is the client's`() throws {
    let guarded = try Guarded()
    let (server, folder) = try guarded.serve()
    defer { withExtendedLifetime(folder) {} }
    try guarded.session.execute("ALTER POLICY own ON t2 USING (team_id = me()::int)")
    let headers = Self.clients[1].headers(guarded)
    for document in [
      "{ t2s { nodes { id } } }", "mutation { deleteT2s(filter: {id: {eq: 1}}) { count } }",
    ] {
      let answer = try ask(document, headers, server)
      #expect(
        "\(answer)".contains("FORBIDDEN") && "\(answer)".contains("A claim of the token")
          && !"\(answer)".contains("INTERNAL"), "\(answer)")
    }
  }

  @Test func `clients of different roles do not get each other's rows from one connection`() throws
  {
    let guarded = try Guarded()
    let (server, folder) = try guarded.serve(["--loops", "1", "--pool-size", "1"])
    defer { withExtendedLifetime(folder) {} }
    let clients = Self.clients.map { client in (client, client.headers(guarded)) }
    let wanted = try clients.map { client, _ in
      try expected("SELECT id FROM t3", of: client, on: "t3", guarded).0
    }
    let own = try clients.map { client, _ in
      try expected("SELECT id FROM t2", of: client, on: "t2", guarded).0
    }
    let wrong = Mutex<[String]>([])
    let port = server.port
    DispatchQueue.concurrentPerform(iterations: 8) { worker in
      for round in 0..<40 {
        let place = (worker + round) % clients.count
        for (field, expected) in [("t3s", wanted[place]), ("t2s", own[place])] {
          let answer = try? Self.ask(
            "{ \(field) { nodes { id } } }", clients[place].1, port: port)
          if answer.flatMap({ Self.result($0) }) != expected {
            wrong.withLock {
              $0.append("\(clients[place].0.kind) \(field): \(String(describing: answer))")
            }
          }
        }
      }
    }
    #expect(wrong.withLock { $0 } == [])
  }

  @Test func `parts that come later are read under the role, too`() throws {
    let guarded = try Guarded()
    let (server, folder) = try guarded.serve()
    defer { withExtendedLifetime(folder) {} }
    let document = "{ t2s { nodes { id } } ... @defer { later: t2s { totalCount } } }"
    let answer = try command(
      "curl", "-s", "-H", "Content-Type: application/json",
      "-H", "Accept: multipart/mixed;deferSpec=20220824, application/json",
      "-H", Self.clients[1].headers(guarded).trimmingCharacters(in: .whitespacesAndNewlines),
      "-d", "{\"query\": \(JSONValue.string(document))}",
      "http://127.0.0.1:\(server.port)/graphql")
    #expect(answer.output.contains(#"{"id":3},{"id":6},{"id":9},{"id":12}"#), "\(answer.output)")
    #expect(answer.output.contains(#""totalCount":4"#), "\(answer.output)")
  }

  @Test func `a role that policies do not hold for serves nobody`() throws {
    let guarded = try Guarded()
    let boss = "boss_\(guarded.suffix)"
    let owner = "owner_\(guarded.suffix)"
    try guarded.session.execute(
      """
      CREATE ROLE \(boss) BYPASSRLS; CREATE ROLE \(owner); GRANT \(boss), \(owner) TO \(guarded.login);
      ALTER TABLE t2 OWNER TO \(owner);
      """)
    let (server, folder) = try guarded.serve()
    defer { withExtendedLifetime(folder) {} }
    for name in [boss, owner, "postgres", "no_such_role", guarded.login, "none"] {
      let token = TokenSigner(.shared(Self.secret)).sign(
        #"{"iss":"https://id.example","aud":"graph","exp":4000000000,"sub":"x","role":"\#(name)"}"#)
      let answer = try ask("{ t0s { nodes { id } } }", "Authorization: Bearer \(token)\r\n", server)
      #expect("\(answer)".contains("FORBIDDEN") && answer["data"] == nil, "\(name): \(answer)")
    }
    func refusal(_ role: String, anonymous: String) throws -> String {
      let run = try ProgramRun.complete([
        "serve", "--schema", server.path, "--database",
        TestCluster.connectionString(guarded.database, as: role), "--roles", "claims",
        "--anonymous-role", anonymous,
      ])
      #expect(run.status != 0)
      return run.errors
    }
    let user = try guarded.session.execute("SELECT current_user").first?.first ?? nil
    #expect(
      try refusal(user ?? "", anonymous: guarded.role("anon")).contains("it is a superuser"))
    #expect(try refusal(guarded.login, anonymous: boss).contains("it has BYPASSRLS"))
    #expect(
      try refusal(guarded.login, anonymous: owner)
        .contains("it owns tables whose policies do not hold for their owner: t2"))
    #expect(try refusal(guarded.login, anonymous: "no_such_role").contains("is no member of it"))
  }

  @Test(arguments: [
    (["--roles", "claims"], "needs --anonymous-role ROLE"),
    (["--anonymous-role", "anon"], "needs --roles claims as well"),
    (["--roles", "claims", "--anonymous-role", "anon"], "needs --database URL"),
    (["--roles", "all"], "must be"),
  ])
  func `options that contradict each other are refused`(options: [String], message: String) throws {
    let run = try ProgramRun.complete(["serve"] + options)
    #expect(run.status == 2 && run.errors.contains(message), "\(run.errors)")
  }
}
