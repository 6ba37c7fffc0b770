import GraphQLExecution
import GraphQLLanguage
import GraphQLPlanning
import GraphQLSchema
import JSON
import Postgres
import TestSupport
import Testing

/// How a mutation is run, whatever its nouns: functions that do what a test wants, over HTTP.
@Suite(.usesCluster) struct CallTests {
  /// A graph of one table in addition to the tables of the tests' database.
  private static let schema = """
    type Query { item(id: ID!): Item @reference(id: ":id") }
    "A thing." type Item @table(name: "item") @tag(id: 1) { id: ID! name: String broken: Int! @sql(expression: "NULL::int") }
    interface Payload { userErrors: [Problem!]! @userErrors }
    type Problem { code: Code! message: String! where: [String!] @column(name: "path") }
    enum Code { "It is not there." GONE "It is there." TAKEN }
    input Words { name: String many: [String!] ids: [ID!] when: DateTime inner: Words flag: Boolean kind: Code number: Float = 1.5 }
    scalar DateTime @scalar(type: "timestamptz")
    type ItemPayload implements Payload { item: Item @result userErrors: [Problem!]! }
    type ItemsPayload implements Payload { items: [Item!]! @result userErrors: [Problem!]! }
    type PartsPayload implements Payload {
      name: String @result(key: "name") item: Item @result(key: "item") isNew: Boolean! @sql(expression: "(:result.is_new)::boolean")
      userErrors: [Problem!]!
    }
    type TokenPayload implements Payload { token: String @secret hash: String @result userErrors: [Problem!]! }
    type TextPayload implements Payload { text: String @result userErrors: [Problem!]! }
    type NonePayload implements Payload { userErrors: [Problem!]! }
    type Mutation {
      add(name: String!): ItemPayload! @call(function: "item_add(:viewer, :name)", once: true)
      slowly(name: String!): ItemPayload! @call(function: "item_add(:viewer, :name)")
      some(names: [String!]!): ItemsPayload! @call(function: "items_add(:names)")
      parts(name: String!): PartsPayload! @call(function: "item_parts(:name)")
      token: TokenPayload! @call(function: "item_hash(:secretHash)", once: true, again: "item_hash(:secretHash)")
      words(input: Words, more: [Words!]): TextPayload! @call(function: "item_words(:input, :more)")
      all(a: ID, b: [Int!] = [1], c: Words): TextPayload! @call(function: "item_words(:arguments)")
      none: NonePayload! @call(function: "item_none()", once: true)
      flaky(state: String!, tries: Int!, counter: String!): NonePayload! @call(function: "item_flaky(:state, :tries, :counter)")
      late(name: String!): ItemPayload! @call(function: "item_late(:name)")
      refuse(many: Boolean! = false): ItemPayload! @call(function: "item_refuse(:many)")
      fail: ItemPayload! @call(function: "item_fail()")
      unknown: ItemPayload! @call(function: "item_unknown()")
      maybe: ItemPayload @call(function: "item_fail()")
      undone: ItemPayload!
    }
    """

  private static let functions = """
    CREATE TABLE item (id bigint PRIMARY KEY, name text CONSTRAINT item_name UNIQUE,
      other text CONSTRAINT item_other REFERENCES item (name) DEFERRABLE INITIALLY DEFERRED);
    CREATE SEQUENCE item_seq;
    CREATE FUNCTION item_add(viewer bigint, name text) RETURNS bigint LANGUAGE sql AS $$
      INSERT INTO item VALUES (nextval('item_seq') << 8 | 1, name) RETURNING id $$;
    CREATE FUNCTION items_add(names text[]) RETURNS bigint[] LANGUAGE plpgsql AS $$
      DECLARE made bigint[];
      BEGIN
        SELECT array_agg(item_add(0, n)) INTO made FROM unnest(names) n;
        RETURN (SELECT array_agg(i ORDER BY i DESC) FROM unnest(made) i);
      END $$;
    CREATE FUNCTION item_parts(name text) RETURNS jsonb LANGUAGE sql AS $$
      SELECT jsonb_build_object('name', name, 'item', item_add(0, name), 'is_new', true) $$;
    CREATE FUNCTION item_hash(hash bytea) RETURNS text LANGUAGE sql AS $$ SELECT encode(hash, 'hex') $$;
    CREATE FUNCTION item_words(VARIADIC words jsonb[]) RETURNS text LANGUAGE sql AS $$
      SELECT array_to_string(words, ' ', 'NULL') $$;
    CREATE FUNCTION item_none() RETURNS void LANGUAGE sql AS $$ SELECT nextval('item_seq') $$;
    CREATE FUNCTION item_flaky(state text, tries int, counter text) RETURNS void
    LANGUAGE plpgsql AS $$
      BEGIN
        IF nextval(counter::regclass) <= tries THEN
          RAISE EXCEPTION USING ERRCODE = state, MESSAGE = 'a secret reason';
        END IF;
      END $$;
    CREATE FUNCTION item_late(name text) RETURNS bigint LANGUAGE sql AS $$
      INSERT INTO item VALUES (nextval('item_seq') << 8 | 1, name, name || ' missing') RETURNING id $$;
    CREATE FUNCTION item_refuse(many boolean) RETURNS bigint LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM item_add(0, 'left behind');
        IF many THEN
          PERFORM refuse_all(jsonb_build_array(refusal('GONE'), refusal('TAKEN', 'many', '1')));
        END IF;
        PERFORM refuse('GONE', 'many');
        RETURN 1;
      END $$;
    CREATE FUNCTION item_fail() RETURNS bigint LANGUAGE plpgsql AS $$
      BEGIN PERFORM require_viewer(0); RETURN 1; END $$;
    CREATE FUNCTION item_unknown() RETURNS bigint LANGUAGE plpgsql AS $$
      BEGIN PERFORM refuse('NO_SUCH_CODE'); RETURN 1; END $$;
    CREATE OR REPLACE VIEW constraint_error AS SELECT * FROM (VALUES
      ('item', 'item_name', 'TAKEN', 'name'), ('item', 'item_other', 'GONE', 'name')
    ) AS c (table_name, constraint_name, code, argument);
    """

  private static let shared = Result { try server() }

  private static func server() throws -> GraphServer {
    let database = try TestCluster.newDatabase(migrated: true)
    let session = try TestCluster.session(database)
    try session.execute(functions)
    // As functions of mutations are: the role that calls them may not write a table.
    for row in try session.execute("SELECT oid::regprocedure FROM pg_proc WHERE proname ~ '^item_'")
    {
      try session.execute("ALTER FUNCTION \(row[0] ?? "") SECURITY DEFINER")
    }
    let document = try Parser.parse(
      Source(StorageDirectives.sdl + "\n" + schema), limits: .unlimited)
    return try GraphServer(
      database: database, mapping: StorageMapping(SchemaBuilder.build(document)))
  }

  private func run(_ document: String, _ variables: JSONValue = [:]) throws -> JSONValue {
    try Self.shared.get().execute(document, variables)
  }

  private func unique(_ stem: String = "n") -> String { GraphData.unique(stem) }

  // MARK: Results

  @Test func `what a function returns reaches the payload in each form`() throws {
    let (a, b, c) = (unique(), unique(), unique())
    #expect(
      try run("mutation { add(name: \"\(a)\") { item { name } userErrors { code } } }")["data"]
        == ["add": ["item": ["name": .string(a)], "userErrors": []]])
    #expect(
      try run("mutation { some(names: [\"\(b)\", \"\(c)\"]) { items { name } } }")["data"]
        == ["some": ["items": [["name": .string(c)], ["name": .string(b)]]]])
    let d = unique()
    #expect(
      try run("mutation { parts(name: \"\(d)\") { isNew item { name } name } }")["data"]
        == ["parts": ["isNew": true, "item": ["name": .string(d)], "name": .string(d)]])
    #expect(
      try run("mutation { n: none { __typename userErrors { code } } __typename }")["data"]
        == ["n": ["__typename": "NonePayload", "userErrors": []], "__typename": "Mutation"])
  }

  @Test func `a token is shown to the client, and the function has its hash`() throws {
    let first = try run("mutation { token { token hash } }")
    let token = try #require(first.at("data.token.token")?.string)
    #expect(token.utf8.count == 60)
    let hash = try Self.shared.get().data().run(
      "SELECT encode(sha256(convert_to($1, 'UTF8')), 'hex')", [token])[0][0]
    #expect(first.at("data.token.hash")?.string == hash)
    #expect(
      try run("mutation { token { token } }").at("data.token.token") != first.at("data.token.token")
    )
  }

  @Test func `inputs reach the function as jsonb, what was left out left out`() throws {
    let id: JSONValue = "AQE"
    #expect(
      try run(
        """
        mutation($name: String, $inner: Words, $ids: [ID!]) {
          words(input: {name: $name, inner: $inner, ids: $ids, flag: false, kind: GONE, when: "2026-01-01T02:00:00.0009999+02:00"}) { text }
        }
        """,
        [
          "inner": ["name": .null, "many": ["a\"b", "\u{1F600}"], "number": 2], "ids": [id, "bad"],
        ]
      ).at("data.words.text")
        == .string(
          """
          {"ids": [257, 0], "flag": false, "kind": "GONE", "when": "2026-01-01T00:00:00.000Z", \
          "inner": {"many": ["a\\"b", "\u{1F600}"], "name": null, "number": 2}, "number": 1.5} NULL
          """))
    #expect(
      try run("mutation($c: Words) { all(a: null, c: $c) { text } }").at("data.all.text")
        == "{\"a\": null, \"b\": [1]}")
    #expect(
      try run(
        "mutation($more: [Words!]) { words(more: $more) { text } }",
        ["more": .array((0..<300).map { ["name": .string("n\($0)")] })]
      ).at("data.words.text")?.string?.contains("\"n299\"") == true)
    #expect(
      try run("mutation { words(input: {number: 3000000000}) { text } }").at("data.words.text")
        == "{\"number\": 3000000000} NULL")
    for bad in [
      "{name: \"a\\u0000b\"}", "{when: \"yesterday\"}", "{when: true}",
      "{when: \"0000-01-01T00:00:00+01:00\"}",
    ] {
      #expect(
        try Self.shared.get().errorCodes("mutation { words(input: \(bad)) { text } }")
          == ["BAD_USER_INPUT"])
    }
  }

  @Test func `an input that is refused leaves the plan for others as it is`() throws {
    let document = "mutation($input: Words) { words(input: $input) { text } }"
    let good: JSONValue = ["input": ["when": "2026-01-01T00:00:00.000Z", "number": 1]]
    for bad in [true, ["when"], ["when": 1], "yesterday"] as [JSONValue] {
      let refused = try run(document, ["input": ["when": bad, "number": 1]])
      #expect(refused.at("errors.0.extensions.code") == "BAD_USER_INPUT", "\(refused)")
      #expect(
        refused.at("errors.0.message")?.string?.hasPrefix(
          "Variable \"$input\" got an invalid value at \"input.when\"; ") == true, "\(refused)")
      #expect(
        try run(document, good).at("data.words.text")
          == "{\"when\": \"2026-01-01T00:00:00.000Z\", \"number\": 1} NULL")
    }
  }

  // MARK: Refusals

  @Test func `a refused mutation leaves nothing behind and has its defaults`() throws {
    let answer = try run(
      """
      mutation {
        one: refuse { t: __typename item { id } userErrors { t: __typename code message where } }
        all: refuse(many: true) { userErrors { c: code where } }
      }
      """)
    #expect(
      answer == [
        "data": [
          "one": [
            "t": "ItemPayload", "item": .null,
            "userErrors": [
              ["t": "Problem", "code": "GONE", "message": "It is not there.", "where": ["many"]]
            ],
          ],
          "all": [
            "userErrors": [
              ["c": "GONE", "where": .null], ["c": "TAKEN", "where": ["many", "1"]],
            ]
          ],
        ]
      ])
    #expect(try Self.shared.get().data().run("SELECT FROM item WHERE name = 'left behind'").isEmpty)
    let name = unique()
    #expect(
      try run(
        "mutation { a: parts(name: \"\(name)\") { isNew } b: parts(name: \"\(name)\") { isNew name userErrors { code where } } }"
      )["data"] == [
        "a": ["isNew": true],
        "b": [
          "isNew": false, "name": .null, "userErrors": [["code": "TAKEN", "where": ["name"]]],
        ],
      ])
  }

  @Test func `a constraint that is looked at when the transaction ends is a user error, too`()
    throws
  {
    #expect(
      try run("mutation { late(name: \"\(unique())\") { item { id } userErrors { code where } } }")[
        "data"] == ["late": ["item": .null, "userErrors": [["code": "GONE", "where": ["name"]]]]])
  }

  @Test func `of what PostgreSQL says, only what a function raises for clients reaches them`()
    throws
  {
    let answer = "\(try run("mutation { unknown { item { id } } }"))"
    #expect(answer.contains("INTERNAL_SERVER_ERROR"))
    #expect(!answer.contains("NO_SUCH_CODE"))
    let sequence = unique("seq")
    try Self.shared.get().data().run("CREATE SEQUENCE \(sequence)")
    // RAISE EXCEPTION without a SQLSTATE.
    let raised =
      "\(try run("mutation { flaky(state: \"P0001\", tries: 9, counter: \"\(sequence)\") { userErrors { code } } }"))"
    #expect(raised.contains("REFUSED") && raised.contains("a secret reason"))
  }

  // MARK: Several fields

  @Test func `fields run in order, each by itself, and an error stops none of the later ones`()
    throws
  {
    let (a, b) = (unique(), unique())
    let answer = try run(
      """
      mutation {
        a: add(name: "\(a)") { item { name } }
        m: maybe { item { id } }
        again: add(name: "\(a)") { item { name } userErrors { code } }
        b: add(name: "\(b)") { item { name } }
      }
      """)
    #expect(
      answer["data"] == [
        "a": ["item": ["name": .string(a)]], "m": .null,
        "again": ["item": .null, "userErrors": [["code": "TAKEN"]]],
        "b": ["item": ["name": .string(b)]],
      ])
    #expect(answer["errors"]?.array?.count == 1)
    #expect(answer.at("errors.0.path") == ["m"])
    #expect(answer.at("errors.0.extensions.code") == "UNAUTHENTICATED")
  }

  @Test func `a null where none may be is that of the whole mutation, whose other fields are done`()
    throws
  {
    let name = unique()
    let answer = try run("mutation { fail { item { id } } add(name: \"\(name)\") { item { id } } }")
    #expect(answer["data"] == .null)
    #expect(answer.at("errors.0.path") == ["fail"])
    #expect(try Self.shared.get().data().run("SELECT FROM item WHERE name = $1", [name]).count == 1)
    let inside = try run("mutation { add(name: \"\(unique())\") { item { broken } } }")
    #expect(inside["data"] == ["add": ["item": .null]])
    #expect(inside.at("errors.0.path") == ["add", "item", "broken"])
  }

  @Test func `mutations have limits, and GET runs none`() throws {
    let server = try Self.shared.get()
    #expect(
      try server.send("GET", "/graphql?query=mutation%7Bnone%7B__typename%7D%7D").status == 405)
    #expect(try server.errorCodes("mutation { undone { item { id } } }") == ["NOT_IMPLEMENTED"])
    #expect(
      try server.errorCodes("mutation { none { userErrors { code } } missing { x } }")
        == ["GRAPHQL_VALIDATION_FAILED"])
  }

  // MARK: Trying again

  @Test(arguments: [("40001", "CONFLICT"), ("40P01", "CONFLICT"), ("55P03", "LOCK_TIMEOUT")])
  func `a conflict is tried three times`(state: String, code: String) throws {
    let server = try Self.shared.get()
    func flaky(_ tries: Int) throws -> (codes: [String], runs: Int) {
      let sequence = unique("seq")
      let data = try server.data()
      try data.run("CREATE SEQUENCE \(sequence)")
      let codes = try server.errorCodes(
        "mutation { flaky(state: \"\(state)\", tries: \(tries), counter: \"\(sequence)\") { userErrors { code } } }"
      )
      return (codes, Int(try data.run("SELECT last_value FROM \(sequence)")[0][0] ?? "") ?? 0)
    }
    let mended = try flaky(2)
    #expect(mended.codes == [])
    #expect(mended.runs == 3)
    let given = try flaky(3)
    #expect(given.codes == [code])
    #expect(given.runs == 3)
  }

  // MARK: Keys

  private func send(
    _ document: String, key: String, token: String? = nil, variables: JSONValue = [:]
  ) throws -> HTTPClients.Response {
    try Self.shared.get().sendMutation(document, variables, token: token, key: key)
  }

  @Test func `the same key gives the same answer, and nothing is done again`() throws {
    let server = try Self.shared.get()
    let anna = try server.data().person("anna")
    let (key, name) = (unique("k"), unique())
    let document = "mutation($n: String!) { add(name: $n) { item { id name } } }"
    let first = try send(document, key: key, token: anna.token, variables: ["n": .string(name)])
    #expect(first.status == 200)
    #expect(first.header("Idempotency-Replayed") == nil)
    try server.data().run("UPDATE item SET name = name || ' changed' WHERE name = $1", [name])
    let second = try send(document, key: key, token: anna.token, variables: ["n": .string(name)])
    #expect(second.body == first.body)
    #expect(second.header("Idempotency-Replayed") == "true")
    // The key is another viewer's to use, and not for anything else.
    let other = try send(
      document, key: key, token: anna.token, variables: ["n": .string(name + "x")])
    #expect(other.status == 422)
    #expect(other.text.contains("IDEMPOTENCY_KEY_REUSED"))
    let ben = try server.data().person("ben")
    #expect(
      try send(document, key: key, token: ben.token, variables: ["n": .string(name)])
        .header("Idempotency-Replayed") == nil)
  }

  @Test func `without a viewer the whole request is part of the key`() throws {
    let key = unique("k")
    let documents = (0..<2).map { _ in "mutation { add(name: \"\(unique())\") { item { id } } }" }
    let first = try documents.map { try send($0, key: key) }
    #expect(first.map { $0.status } == [200, 200])
    let second = try documents.map { try send($0, key: key) }
    #expect(second.map { $0.body } == first.map { $0.body })
    #expect(second.allSatisfy { $0.header("Idempotency-Replayed") == "true" })
  }

  @Test func `a refusal is not kept: repeating it tries again`() throws {
    let server = try Self.shared.get()
    let (key, name) = (unique("k"), unique())
    let document = "mutation { add(name: \"\(name)\") { item { name } userErrors { code } } }"
    try server.data().run("INSERT INTO item VALUES (nextval('item_seq') << 8 | 1, $1)", [name])
    #expect(try send(document, key: key).text.contains("TAKEN"))
    try server.data().run("DELETE FROM item WHERE name = $1", [name])
    let again = try send(document, key: key)
    #expect(again.text.contains(name))
    #expect(again.header("Idempotency-Replayed") == nil)
  }

  @Test func `answers that hold a token are made anew for the same key`() throws {
    let key = unique("k")
    let tokens = try (0..<2).map { _ in
      try send("mutation { token { token hash } }", key: key)
    }
    #expect(tokens[1].header("Idempotency-Replayed") == "true")
    #expect(tokens[0].body != tokens[1].body)
    #expect(!tokens[1].text.contains("null"))
  }

  @Test func `a key is for one field of one request`() throws {
    let (a, b) = (unique(), unique())
    let two = try send(
      "mutation { a: add(name: \"\(a)\") { item { id } } b: add(name: \"\(b)\") { item { id } } }",
      key: unique("k"))
    #expect(two.status == 400)
    for key in ["", String(repeating: "k", count: 256), "a\u{E9}", "a,b"] {
      let response = try send("mutation { add(name: \"\(a)\") { item { id } } }", key: key)
      #expect(response.status == 400)
    }
    #expect(
      try Self.shared.get().data().run("SELECT FROM item WHERE name IN ($1, $2)", [a, b]).isEmpty)
  }

  @Test func `of 64 clients with one key one does it, and the others have its answer or must wait`()
    throws
  {
    let server = try Self.shared.get()
    let anna = try server.data().person("anna")
    let (key, name) = (unique("k"), unique())
    let document = "mutation { add(name: \"\(name)\") { item { id } } }"
    let answers = try crowd(of: 64) { _ in
      try server.sendMutation(document, [:], token: anna.token, key: key)
    }
    let done = answers.filter { $0.status == 200 }
    #expect(!done.isEmpty)
    #expect(Set(done.map(\.text)).count == 1)
    #expect(done.count { $0.header("Idempotency-Replayed") == nil } == 1)
    #expect(
      answers.filter { $0.status != 200 }.allSatisfy {
        $0.status == 409 && $0.text.contains("IDEMPOTENCY_IN_PROGRESS")
      })
    #expect(try server.data().run("SELECT FROM item WHERE name = $1", [name]).count == 1)
  }
}
