import Foundation
import JSON
import Postgres
import TestSupport
import Testing

/// A refusal of the database names the value, the row or the constraint, or has the message of the
/// function that refused.
@Suite(.usesCluster) struct DraftRefusalTests {
  private final class Shop {
    let database: String
    let session: PostgresSession
    private let server: DraftedServer

    init(
      _ sql: String, _ arguments: [String] = [], serving: [String] = [],
      settings: [String] = [], as role: String? = nil, prepare: (String) throws -> Void = { _ in }
    ) throws {
      database = try TestCluster.newDatabase()
      session = try TestCluster.session(database)
      let name = try session.execute("SELECT quote_ident(current_database())")[0][0] ?? ""
      for setting in settings { try session.execute("ALTER DATABASE \(name) SET \(setting)") }
      try session.execute(sql)
      server = try DraftedServer(
        database, ["--mutations"] + arguments, as: role, serving: serving, prepare: prepare)
    }

    func ask(_ document: String, _ variables: String = "{}") throws -> String {
      try post(
        "{\"query\": \(JSONValue.string(document)), \"variables\": \(variables)}",
        port: server.port
      ).body
    }

    func value(_ query: String) throws -> String? { try session.execute(query).first?.first ?? nil }
  }

  private static let things = """
    CREATE DOMAIN short AS varchar(4);
    CREATE TABLE thing (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), n smallint, code varchar(3), price numeric(5, 2),
      at time, day date, word short, spot point, bits bit(3), name text NOT NULL DEFAULT 'x', more text UNIQUE,
      stars int CONSTRAINT stars_are_few CHECK (stars < 6));
    """

  @Test func `a refused value is named alone, with the reason`() throws {
    let shop = try Shop(Self.things)
    for (member, path, message) in [
      (#"n: 70000"#, #""n""#, #"\"70000\" is out of the range of smallint."#),
      (#"code: "abcd""#, #""code""#, #"\"abcd\" is too long for varchar(3)."#),
      (#"price: "12345.1""#, #""price""#, #"\"12345.1\" is out of the range of numeric(5,2)."#),
      (#"id: "nobody""#, #""id""#, #"\"nobody\" is not a value of uuid."#),
      (
        #"at: "25 o'clock""#, #""at""#, #"\"25 o'clock\" is not a value of time without time zone."#
      ),
      (#"word: "abcde""#, #""word""#, #"\"abcde\" is too long for varchar(4)."#),
      (#"spot: "here""#, #""spot""#, #"\"here\" is not a value of point."#),
      (
        #"day: "2026-02-30""#, #""day""#,
        #"\"2026-02-30\" is not a day such as \"2026-05-01\"."#
      ),
      (
        #"name: "a\u0000""#, #""name""#, "Text must not contain the character U+0000."
      ),
      (#"bits: "10""#, #""bits""#, #"\"10\" does not have the length of bit(3)."#),
    ] {
      let wanted = #"[{"code":"INVALID","message":"\#(message)","path":["input","1",\#(path)]}]"#
      let answer = try shop.ask(
        "mutation { insertThings(input: [{n: 1, code: \"abc\", price: \"1.5\"}, {stars: 2, \(member)}]) "
          + "{ userErrors { code message path } } }")
      #expect(answer == #"{"data":{"insertThings":{"userErrors":\#(wanted)}}}"#, "\(member)")
    }
    #expect(
      try shop.ask(
        "mutation($t: [ThingInput!]!) @transaction { insertThings(input: $t) { userErrors { code path } } }",
        #"{"t": [{"n": 1}, {"n": 2}, {"spot": "?", "code": "abc"}]}"#)
        == #"{"data":{"insertThings":{"userErrors":[{"code":"INVALID","path":["input","2","spot"]}]}}}"#
    )
    #expect(
      try shop.ask(
        #"mutation { updateThings(filter: {}, set: {code: "abcd", n: 1}) { userErrors { code path } } }"#
      )
        == #"{"data":{"updateThings":{"userErrors":[]}}}"#, "no row is written")
    #expect(try shop.value("SELECT count(*) FROM thing") == "0")
    // Where it is a filter's, it is an error as in a query.
    for document in [
      #"query($id: UUID!) { things(filter: {id: {eq: $id}, at: {lt: "10:00"}}) { nodes { n } } }"#,
      #"mutation($id: UUID!) { deleteThings(filter: {id: {eq: $id}, at: {lt: "10:00"}}) { count } }"#,
    ] {
      let answer = try shop.ask(document, #"{"id": "nobody"}"#)
      #expect(
        answer.contains(
          #"Variable \"$id\" got an invalid value; \"nobody\" is not a value of uuid."#)
          && answer.contains("BAD_USER_INPUT"), "\(answer)")
    }
  }

  @Test func `a row of a list that breaks a constraint has its index, and the constraint its name`()
    throws
  {
    let shop = try Shop(
      Self.things + "CREATE TABLE owned (id serial PRIMARY KEY, thing uuid REFERENCES thing);")
    func errors(_ rows: String) throws -> String {
      let answer = try shop.ask(
        "mutation { insertThings(input: [\(rows)]) { userErrors { code path constraint } } }")
      return answer.replacing(#"{"data":{"insertThings":{"userErrors":["#, with: "")
    }
    #expect(
      try errors("{stars: 1}, {stars: 2, more: \"b\"}, {stars: 9}")
        == #"{"code":"INVALID","path":["input","2","stars"],"constraint":"stars_are_few"}]}}}"#)
    #expect(
      try errors(#"{more: "a"}, {more: "b, c"}, {more: "d"}, {more: "b, c"}"#)
        == #"{"code":"NOT_UNIQUE","path":["input","1","more"],"constraint":"thing_more_key"}]}}}"#)
    #expect(
      try errors(#"{more: "a"}, {name: null}"#)
        == #"{"code":"REQUIRED","path":["input","1","name"],"constraint":null}]}}}"#)
    let missing = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
    #expect(
      try shop.ask(
        "mutation { insertOwneds(input: [{}, {thing: \"\(missing)\"}]) { userErrors { code path constraint } } }"
      ) == #"""
        {"data":{"insertOwneds":{"userErrors":[{"code":"NOT_FOUND","path":["input","1","thing"],\#
        "constraint":"owned_thing_fkey"}]}}}
        """#)
  }

  private static let raising = """
    CREATE TABLE post (id int PRIMARY KEY, title text);
    CREATE FUNCTION check_post() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.title = 'owner' THEN RAISE EXCEPTION 'Only owners may.' USING ERRCODE = '42501'; END IF;
      IF NEW.title = 'taken' THEN
        RAISE EXCEPTION 'That title is taken.' USING ERRCODE = '23505', CONSTRAINT = 'titles';
      END IF;
      RAISE EXCEPTION 'Titles must not be %.', NEW.title USING HINT = 'Take another.';
    END $$;
    CREATE TRIGGER check_post BEFORE INSERT ON post FOR EACH ROW WHEN (NEW.title IS NOT NULL)
      EXECUTE FUNCTION check_post();
    CREATE FUNCTION publish(title text) RETURNS int LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION '% cannot be published.', title; END $$;
    """

  @Test func `what a function or trigger raises is a user error with its message`() throws {
    let shop = try Shop(Self.raising) { folder in
      let file = "\(folder)/publish.graphql"
      try """
      extend type Mutation { publish(title: String!): PublishPayload! @call(function: "publish(:title)") }
      type PublishPayload { done: Int @result userErrors: [PublishError!]! @userErrors }
      type PublishError { code: PublishErrorCode! message: String! }
      enum PublishErrorCode { LATE }
      """.write(toFile: file, atomically: true, encoding: .utf8)
    }
    for (title, message, constraint) in [
      ("bad", "Titles must not be bad.", "null"), ("owner", "Only owners may.", "null"),
      ("taken", "That title is taken.", #""titles""#),
    ] {
      #expect(
        try shop.ask(
          "mutation { insertPosts(input: {id: 1, title: \"\(title)\"}) { userErrors { code message constraint } } }"
        ) == #"""
          {"data":{"insertPosts":{"userErrors":[{"code":"REFUSED","message":"\#(message)",\#
          "constraint":\#(constraint)}]}}}
          """#)
    }
    // A payload without such a code has an error of the field.
    let call = try shop.ask(#"mutation { publish(title: "This") { done } }"#)
    #expect(
      call.contains(#""message":"This cannot be published.""#)
        && call.contains(#""code":"REFUSED""#), "\(call)")
  }

  @Test func `the operator can keep such messages from clients`() throws {
    let shop = try Shop(Self.raising, serving: ["--raised-messages", "off"])
    #expect(
      try shop.ask(
        #"mutation { insertPosts(input: {id: 1, title: "bad"}) { userErrors { code message } } }"#)
          == #"""
          {"data":{"insertPosts":{"userErrors":[{"code":"REFUSED",\#
          "message":"A function or trigger of the database refused this."}]}}}
          """#)
  }

  @Test func `a deferred constraint is told at the field that broke it`() throws {
    let shop = try Shop(
      """
      CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE c (id int PRIMARY KEY);
      CREATE TABLE b (id int PRIMARY KEY, a_id int REFERENCES a DEFERRABLE INITIALLY DEFERRED);
      """)
    #expect(
      try shop.ask(
        """
        mutation @transaction {
          x: insertBs(input: [{id: 1, aId: 1}]) { count }
          y: insertAs(input: [{id: 1}]) { count }
        }
        """) == #"{"data":{"x":{"count":1},"y":{"count":1}}}"#)
    #expect(
      try shop.ask(
        """
        mutation @transaction {
          x: insertCs(input: [{id: 1}]) { count userErrors { code } }
          y: insertBs(input: [{id: 2}, {id: 3, aId: 7}]) { count userErrors { code path constraint } }
          z: insertCs(input: [{id: 2}]) { count userErrors { code } }
        }
        """) == #"""
          {"data":{"x":{"count":null,"userErrors":[{"code":"ROLLED_BACK"}]},\#
          "y":{"count":null,"userErrors":[{"code":"NOT_FOUND","path":["input","1","aId"],"constraint":"b_a_id_fkey"}]},\#
          "z":{"count":null,"userErrors":[{"code":"ROLLED_BACK"}]}}}
          """#)
    #expect(
      try shop.ask("mutation { insertBs(input: [{id: 4, aId: 9}]) { userErrors { code path } } }")
        == #"{"data":{"insertBs":{"userErrors":[{"code":"NOT_FOUND","path":["input","0","aId"]}]}}}"#
    )
    #expect(try shop.value("SELECT count(*) FROM b") == "1")
  }

  @Test func `a policy that does not find the row around another says what helps`() throws {
    let role = "writer_\(UInt32.random(in: 0 ... .max))"
    let shop = try Shop(
      """
      CREATE ROLE \(role) LOGIN;
      CREATE TABLE bag (id int PRIMARY KEY, owner text);
      CREATE TABLE item (id int PRIMARY KEY, bag_id int REFERENCES bag);
      ALTER TABLE item ENABLE ROW LEVEL SECURITY;
      CREATE POLICY all_read ON item FOR SELECT USING (true);
      CREATE POLICY of_bag ON item FOR INSERT WITH CHECK (EXISTS (SELECT FROM bag b WHERE b.id = bag_id));
      GRANT ALL ON bag, item TO \(role);
      """, ["--nested"], as: role)
    let nested = try shop.ask(
      "mutation { insertBags(input: {id: 1, items: [{id: 1}]}) { count userErrors { code message } } }"
    )
    #expect(
      nested.contains(#""code":"NOT_PERMITTED""#) && nested.contains("@transaction"), "\(nested)")
    #expect(
      try shop.ask(
        "mutation @transaction { insertBags(input: {id: 1}) { count } insertItems(input: {id: 1, bagId: 1}) { count } }"
      ) == #"{"data":{"insertBags":{"count":1},"insertItems":{"count":1}}}"#)
    let alone = try shop.ask(
      "mutation { insertItems(input: {id: 2, bagId: null}) { userErrors { code message } } }")
    #expect(
      alone
        == #"{"data":{"insertItems":{"userErrors":[{"code":"NOT_PERMITTED","message":"You may not write such a row."}]}}}"#
    )
  }

  @Test func `triggers find what the role's search path has`() throws {
    let shop = try Shop(
      """
      CREATE SCHEMA app; CREATE SCHEMA extras;
      CREATE TABLE extras.log (line text);
      CREATE TABLE app.note (id int PRIMARY KEY, t text);
      CREATE FUNCTION app.logged() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN INSERT INTO log VALUES (NEW.t); RETURN NEW; END';
      CREATE TRIGGER logged AFTER INSERT ON app.note FOR EACH ROW EXECUTE FUNCTION app.logged();
      """, ["--namespace", "app"], serving: ["--namespace", "app"],
      settings: ["search_path = extras, public"])
    #expect(
      try shop.ask(
        #"mutation { insertNotes(input: {id: 1, t: "a"}) { count userErrors { code } } }"#)
        == #"{"data":{"insertNotes":{"count":1,"userErrors":[]}}}"#)
    #expect(try shop.value("SELECT line FROM extras.log") == "a")
  }

  @Test func `what is missing or too large in the database says so`() throws {
    let shop = try Shop(
      """
      CREATE TABLE big (id int PRIMARY KEY, f float8 NOT NULL); INSERT INTO big VALUES (1, 1e308), (2, 1e308);
      CREATE MATERIALIZED VIEW totals AS SELECT 1 AS id, sum(id) AS n FROM big;
      CREATE UNIQUE INDEX ON totals (id);
      """, ["--aggregates"])
    let sum = try shop.ask("{ bigs { aggregates { f { sum } } } }")
    #expect(sum.contains("VALUE_NOT_REPRESENTABLE") && !sum.contains("INTERNAL"), "\(sum)")
    try shop.session.execute("REFRESH MATERIALIZED VIEW totals WITH NO DATA")
    let view = try shop.ask("{ totals { nodes { id } } }")
    #expect(view.contains("DATABASE_UNAVAILABLE") && !view.contains("INTERNAL"), "\(view)")
  }

  @Test func `a reference to a hidden row is refused as one to no row`() throws {
    let rule = #"where: "this.owner = coalesce(:claim.sub, 'ann')""#
    let shop = try Shop(
      """
      CREATE TABLE folder (id int PRIMARY KEY, owner text, parent_id int REFERENCES folder);
      CREATE TABLE page (folder_id int REFERENCES folder, number int, owner text, PRIMARY KEY (folder_id, number));
      CREATE TABLE note (id int PRIMARY KEY, folder_id int REFERENCES folder, page_folder int, page_number int,
        FOREIGN KEY (page_folder, page_number) REFERENCES page);
      CREATE TABLE tag (id int PRIMARY KEY, name text UNIQUE, owner text, parent text REFERENCES tag (name));
      INSERT INTO folder VALUES (1, 'ann'), (2, 'ben');
      INSERT INTO page VALUES (1, 1, 'ann'), (2, 1, 'ben');
      """, ["--nested"]
    ) { folder in
      for table in ["folder", "page", "tag"] {
        let path = "\(folder)/\(table).graphql"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try text.replacing("@table(name: \"\(table)\"", with: "@table(name: \"\(table)\", \(rule)")
          .write(toFile: path, atomically: true, encoding: .utf8)
      }
    }
    func errors(_ field: String) throws -> String {
      try shop.ask("mutation { r: \(field) { count userErrors { code path constraint } } }")
    }
    func refused(_ path: String) -> String {
      #"{"data":{"r":{"count":null,"userErrors":[{"code":"NOT_FOUND","path":\#(path),"constraint":null}]}}}"#
    }
    let written = #"{"data":{"r":{"count":1,"userErrors":[]}}}"#
    // The folder 2 is hidden, and there is none with the number 9: the answers are the same.
    for id in [2, 9] {
      #expect(
        try errors("insertNotes(input: [{id: 1, folderId: \(id)}])")
          == refused(#"["input","0","folderId"]"#))
      #expect(
        try errors("insertNotes(input: [{id: 1, pageFolder: \(id), pageNumber: 1}])")
          == refused(#"["input","0","pageFolder"]"#))
      #expect(
        try errors(
          "insertFolders(input: [{id: 5, owner: \"ann\", notes: [{id: 1, pageFolder: \(id), pageNumber: 1}]}])"
        )
          == refused(#"["input","0","notes","0","pageFolder"]"#))
      #expect(
        try errors("insertFolders(input: [{id: 5, owner: \"ann\", parentId: \(id)}])")
          == refused(#"["input","0","parentId"]"#))
    }
    #expect(try shop.value("SELECT count(*) FROM note") == "0")
    #expect(
      try errors("insertNotes(input: [{id: 1, folderId: 1, pageFolder: 1, pageNumber: 1}])")
        == written)
    #expect(try errors("insertNotes(input: [{id: 2, folderId: null, pageFolder: 2}])") == written)
    for id in [2, 9] {
      #expect(
        try errors("updateNotes(filter: {id: {eq: 1}}, set: {folderId: \(id)})")
          == refused(#"["set","folderId"]"#))
    }
    #expect(try errors("updateNotes(filter: {id: {eq: 1}}, set: {folderId: 1})") == written)
    // A row may refer to one that comes with it, in a part of its own if it has others inside.
    #expect(
      try errors(
        "insertFolders(input: [{id: 10, owner: \"ann\", notes: [{id: 10}]}, {id: 11, owner: \"ann\", parentId: 10}])"
      ) == #"{"data":{"r":{"count":2,"userErrors":[]}}}"#)
    // By a key that is not the primary one.
    #expect(
      try shop.ask(
        #"mutation { insertTags(input: [{id: 1, name: "a", owner: "ann"}, {id: 2, name: "b", owner: "ann", parent: "a"}]) "#
          + "{ count } }") == #"{"data":{"insertTags":{"count":2}}}"#)
    #expect(
      try shop.ask(
        #"mutation { insertTags(input: [{id: 3, owner: "ann", parent: "no"}]) { userErrors { code path } } }"#
      )
        == #"{"data":{"insertTags":{"userErrors":[{"code":"NOT_FOUND","path":["input","0","parent"]}]}}}"#
    )
    #expect(
      try shop.ask(
        #"mutation { insertFolders(input: [{id: 6, owner: "ann"}, {id: 7, owner: "ann", parentId: 6}]) { count } }"#
      )
        == #"{"data":{"insertFolders":{"count":2}}}"#)
  }

  @Test func `what a trigger raises or fails over is neither the client's nor the schema's fault`()
    throws
  {
    let shop = try Shop(
      """
      CREATE TABLE thing (id int PRIMARY KEY, n int, twice int GENERATED ALWAYS AS (n * 2) STORED,
        CHECK (n IS NULL OR 10 / (n - 5) > -100));
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF new.id = 1 THEN RAISE EXCEPTION 'not today' USING ERRCODE = '57014'; END IF;
        IF new.id = 2 THEN RAISE EXCEPTION 'not today' USING ERRCODE = '08006'; END IF;
        IF new.id = 3 THEN RAISE EXCEPTION 'not today' USING ERRCODE = '53300'; END IF;
        IF new.id = 4 THEN PERFORM 1 FROM no_such_table; END IF;
        IF new.id = 5 THEN PERFORM 1 / 0; END IF;
        RETURN new;
      END $$;
      CREATE TRIGGER fail BEFORE INSERT ON thing FOR EACH ROW EXECUTE FUNCTION fail();
      """)
    func insert(_ row: String) throws -> String {
      try shop.ask(
        "mutation { insertThings(input: [{\(row)}]) { userErrors { code message path } } }")
    }
    func refused(_ code: String, _ message: String) -> String {
      #"{"data":{"insertThings":{"userErrors":[{"code":"\#(code)","message":"\#(message)","path":null}]}}}"#
    }
    for id in 1...3 { #expect(try insert("id: \(id)") == refused("REFUSED", "not today")) }
    let broken = try insert("id: 4")
    #expect(
      broken.contains("INTERNAL_SERVER_ERROR") && broken.contains(#""data":null"#), "\(broken)")
    let failed = refused(
      "INVALID", "A check, a computed column or a trigger of the table fails over these values.")
    for row in ["id: 5", "id: 6, n: 2000000000", "id: 7, n: 5"] {
      #expect(try insert(row) == failed, "\(row)")
    }
  }

  @Test func `a view that fails over its rows is not the client's fault`() throws {
    let shop = try Shop(
      """
      CREATE TABLE t (id int PRIMARY KEY, x int, code uuid); INSERT INTO t VALUES (1, 0);
      CREATE VIEW v AS SELECT 1 / x AS y FROM t;
      """)
    for text in ["{ vs { y } }", "{ vs(filter: {y: {gt: 5}}) { y } }"] {
      let answer = try shop.ask(text)
      #expect(
        answer.contains("INTERNAL_SERVER_ERROR") && !answer.contains("IntFilter"), "\(answer)")
    }
    // Nor can a client's value be taken for what the statement itself says.
    let answer = try shop.ask(
      #"mutation { insertTs(input: [{id: 2, code: "sociograph.atMost 1"}]) { userErrors { code path } } }"#
    )
    #expect(
      answer
        == #"{"data":{"insertTs":{"userErrors":[{"code":"INVALID","path":["input","0","code"]}]}}}"#
    )
  }

  @Test func `garbage of every type is refused with its member`() throws {
    let columns = [
      "regclass", "regtype", "regproc", "regprocedure", "regoper", "regrole", "regnamespace",
      "regconfig", "aclitem", "tsvector", "tsquery", "varchar(10)[]", "char(5)[]", "bit(4)[]",
      "varbit(8)[]", "regclass[]", "tsquery[]",
    ]
    let names = columns.indices.map { "c\($0)" }
    let shop = try Shop(
      "CREATE TABLE t (id int PRIMARY KEY, "
        + zip(names, columns).map { "\($0) \($1)" }.joined(separator: ", ") + ")")
    let long = String(repeating: "x", count: 3_000)
    for (name, column) in zip(names, columns) {
      for text in ["nix", "0", "", "{", "a=>", "1.5.6", "a.b.c.d", long] {
        let value = column.hasSuffix("[]") ? "[\"\(text)\"]" : "\"\(text)\""
        for field in [
          "insertTs(input: [{id: 1, \(name): \(value)}])",
          "updateTs(filter: {id: {eq: 1}}, set: {\(name): \(value)})",
        ] {
          let answer = try shop.ask("mutation { \(field) { count userErrors { code path } } }")
          let isRefused = answer.contains("INVALID") && answer.contains("\"\(name)\"]")
          let isDone = answer.contains(#""count":1,"#) || answer.contains(#""count":0,"#)
          if !isRefused, !isDone {
            Issue.record("\(column) \(field.prefix(80)): \(answer.prefix(300))")
          }
        }
        try shop.session.execute("TRUNCATE t")
      }
    }
  }
}
