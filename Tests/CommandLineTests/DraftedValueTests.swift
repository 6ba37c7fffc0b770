import Foundation
import JSON
import Postgres
import TestSupport
import Testing

/// Values of drafted tables are read as they were written, whatever their type and the settings of the
/// role and the database.
@Suite(.usesCluster) struct DraftedValueTests {
  private final class Shop {
    let session: PostgresSession
    private let server: DraftedServer

    /// - Parameter settings: of the database, such as `DateStyle = 'German'`.
    init(
      _ sql: String, settings: [String] = [], _ arguments: [String] = [],
      prepare: (String) throws -> Void = { _ in }
    ) throws {
      let database = try TestCluster.newDatabase()
      session = try TestCluster.session(database)
      let name = try session.execute("SELECT quote_ident(current_database())")[0][0] ?? ""
      for setting in settings { try session.execute("ALTER DATABASE \(name) SET \(setting)") }
      try session.execute(sql)
      server = try DraftedServer(database, ["--mutations"] + arguments, prepare: prepare)
    }

    func ask(_ document: String, _ variables: String = "{}") throws -> String {
      try post(
        "{\"query\": \(JSONValue.string(document)), \"variables\": \(variables)}",
        port: server.port
      ).body
    }

    func value(_ query: String) throws -> String? { try session.execute(query).first?.first ?? nil }
  }

  // MARK: - Lists of Booleans and of enums

  @Test func `lists of Booleans are written, updated and found with all their members`() throws {
    let shop = try Shop(
      """
      CREATE TABLE owner (id serial PRIMARY KEY, name text UNIQUE);
      CREATE TABLE s (id serial PRIMARY KEY, flags bool[] NOT NULL DEFAULT '{t}', name text UNIQUE,
        one bool, owner_id int REFERENCES owner);
      """, ["--nested"])
    #expect(
      try shop.ask("mutation { insertSes(input: [{flags: [true, false]}]) { rows { flags } } }")
        == #"{"data":{"insertSes":{"rows":[{"flags":[true,false]}]}}}"#)
    #expect(
      try shop.ask(
        """
        mutation($f: [Boolean], $s: SInput!, $one: Boolean) {
          a: insertSes(input: [{flags: $f}]) { rows { flags } }
          b: insertSes(input: [$s]) { rows { flags } }
          c: insertSes(input: [{flags: [true, $one, null]}]) { rows { flags } }
          d: insertSes(input: [{flags: []}]) { rows { flags } }
          e: insertSes(input: [{flags: true}]) { rows { flags } }
          f: insertOwners(input: {name: "o", ses: [{flags: [false, true]}]}) { rows { ses { nodes { flags } } } }
        }
        """,
        #"{"f": [false, null, true], "s": {"flags": [false, false, true]}, "one": false}"#)
        == #"{"data":{"a":{"rows":[{"flags":[false,null,true]}]},"b":{"rows":[{"flags":[false,false,true]}]},"#
        + #""c":{"rows":[{"flags":[true,false,null]}]},"d":{"rows":[{"flags":[]}]},"#
        + #""e":{"rows":[{"flags":[true]}]},"f":{"rows":[{"ses":{"nodes":[{"flags":[false,true]}]}}]}}}"#
    )
    try shop.session.execute("DELETE FROM s")
    #expect(
      try shop.ask(
        """
        mutation($set: SChanges!, $f: [Boolean]) {
          a: insertSes(input: [{name: "x", flags: [true]}, {name: "y", flags: [false, true], one: true}]) { count }
          b: updateSes(filter: {name: {eq: "x"}}, set: $set) { rows { flags } }
          c: insertSes(updateOnConflict: NAME, input: [{name: "x", flags: $f}]) { rows { flags } }
        }
        """, #"{"set": {"flags": [true, true]}, "f": [true, true, false]}"#)
        == #"{"data":{"a":{"count":2},"b":{"rows":[{"flags":[true,true]}]},"c":{"rows":[{"flags":[true,true,false]}]}}}"#
    )
    #expect(
      try shop.value("SELECT string_agg(flags::text, ' ' ORDER BY name) FROM s") == "{t,t,f} {f,t}")
    func found(_ filter: String, _ variables: String = "{}") throws -> String {
      let answer = try shop.ask(
        "query\(filter.contains("$f") ? "($f: [Boolean!])" : "") { ses(filter: \(filter), orderBy: {name: ASC}) { nodes { name } } }",
        variables)
      return answer.matches(of: #/"name":"(\w)"/#).map { String($0.1) }.joined()
        + (answer.contains("errors") ? answer : "")
    }
    try shop.session.execute(
      "UPDATE s SET flags = '{t}' WHERE name = 'x'; UPDATE s SET flags = '{f}' WHERE name = 'y'")
    #expect(try found("{flags: {contains: [true]}}") == "x")
    #expect(try found("{flags: {contains: $f}}", #"{"f": [false]}"#) == "y")
    #expect(try found("{flags: {overlaps: [false]}}") == "y")
  }

  @Test func `lists of Booleans are whole in arguments of SQL, of lists and of functions`() throws {
    let shop = try Shop(
      """
      CREATE TABLE t (id int PRIMARY KEY, flag bool); INSERT INTO t VALUES (1, true), (2, false), (3, NULL);
      CREATE FUNCTION tally(flags bool[]) RETURNS text LANGUAGE sql AS 'SELECT flags::text';
      CREATE FUNCTION tally_all(input jsonb) RETURNS text LANGUAGE sql AS 'SELECT input::text';
      """
    ) { folder in
      try """
      extend type Query {
        some(flags: [Boolean!] @where(condition: "this.flag = ANY (:value)")): [T!]! @list(orderBy: "this.id")
      }
      extend type T { shown(flags: [Boolean] = [true, null]): String @sql(expression: "(:flags)::text") }
      input TallyInput { flags: [Boolean] }
      extend type Mutation {
        tally(flags: [Boolean]): TallyPayload! @call(function: "tally(:flags)")
        tallyMember(input: TallyInput!): TallyPayload! @call(function: "tally(:input.flags)")
        tallyAll(input: TallyInput!): TallyPayload! @call(function: "tally_all(:input)")
      }
      type TallyPayload { text: String @result userErrors: [WriteError!]! @userErrors }
      """.write(toFile: "\(folder)/more.graphql", atomically: true, encoding: .utf8)
    }
    #expect(
      try shop.ask(
        "query($f: [Boolean!], $g: [Boolean]) { a: some(flags: [true]) { id } b: some(flags: $f) { id shown x: shown(flags: $g) } }",
        #"{"f": [false], "g": [false, null, true]}"#)
        == #"{"data":{"a":[{"id":1}],"b":[{"id":2,"shown":"{t,NULL}","x":"{f,NULL,t}"}]}}"#)
    #expect(
      try shop.ask(
        """
        mutation($f: [Boolean], $i: TallyInput!) {
          a: tally(flags: [true, false]) { text } b: tally(flags: $f) { text } c: tallyMember(input: $i) { text }
          d: tallyMember(input: {flags: [true, true]}) { text } e: tallyAll(input: $i) { text }
        }
        """, #"{"f": [false, true], "i": {"flags": [null, true]}}"#)
        == #"{"data":{"a":{"text":"{t,f}"},"b":{"text":"{f,t}"},"c":{"text":"{NULL,t}"},"d":{"text":"{t,t}"},"#
        + #""e":{"text":"{\"flags\": [null, true]}"}}}"#)
  }

  @Test func `a null among the members of a list of enums stays`() throws {
    let shop = try Shop(
      """
      CREATE TYPE size AS ENUM ('S', 'M');
      CREATE TABLE t (id serial PRIMARY KEY, sizes size[]);
      """)
    #expect(
      try shop.ask(
        "mutation($v: [Size]) { a: insertTs(input: [{sizes: [S, null, M]}]) { rows { sizes } } "
          + "b: insertTs(input: [{sizes: $v}]) { rows { sizes } } }", #"{"v": [null, "M"]}"#)
        == #"{"data":{"a":{"rows":[{"sizes":["S",null,"M"]}]},"b":{"rows":[{"sizes":[null,"M"]}]}}}"#
    )
  }

  // MARK: - The ends of time

  @Test func `infinity and years that have a sign are dates and instants like others`() throws {
    let shop = try Shop(
      """
      CREATE TABLE price (id int PRIMARY KEY, until timestamptz NOT NULL, local timestamp NOT NULL,
        day date NOT NULL, days date[], many timestamptz[]);
      INSERT INTO price VALUES (1, 'infinity', 'infinity', 'infinity', '{-infinity,2026-01-01}', '{infinity}'),
        (2, '-infinity', '-infinity', '-infinity', NULL, NULL),
        (3, '0044-03-15 12:00:00Z BC', '10000-01-02', '10000-01-02', '{0044-03-15 BC}', NULL);
      """)
    let selection = "until local day days many"
    #expect(
      try shop.ask("{ prices { nodes { \(selection) } } }") == """
        {"data":{"prices":{"nodes":[\
        {"until":"infinity","local":"infinity","day":"infinity","days":["-infinity","2026-01-01"],"many":["infinity"]},\
        {"until":"-infinity","local":"-infinity","day":"-infinity","days":null,"many":null},\
        {"until":"-000043-03-15T12:00:00.000Z","local":"10000-01-02 00:00:00","day":"+010000-01-02",\
        "days":["-000043-03-15"],"many":null}]}}}
        """)
    #expect(
      try shop.ask(
        """
        mutation($until: DateTime!) {
          insertPrices(input: [
            {id: 4, until: "infinity", local: "-infinity", day: "-infinity", days: ["infinity"], many: [$until]},
            {id: 5, until: $until, local: "infinity", day: "+010000-12-31", many: ["+010000-12-31T00:00:00Z"]}
          ]) { rows { \(selection) } }
        }
        """, #"{"until": "-infinity"}"#) == """
          {"data":{"insertPrices":{"rows":[\
          {"until":"infinity","local":"-infinity","day":"-infinity","days":["infinity"],"many":["-infinity"]},\
          {"until":"-infinity","local":"infinity","day":"+010000-12-31","days":null,\
          "many":["+010000-12-31T00:00:00.000Z"]}]}}}
          """)
    #expect(
      try shop.value("SELECT concat(until, day) FROM price WHERE id = 4") == "infinity-infinity")
    #expect(
      try shop.ask(
        #"{ prices(filter: {until: {eq: "infinity"}, day: {lt: "infinity"}}) { nodes { id } } }"#)
        == #"{"data":{"prices":{"nodes":[{"id":4}]}}}"#)
    for bad in ["Infinity", "infinit", "+999999999-01-01T00:00:00Z", "-0043-03-15T00:00:00Z"] {
      let answer = try shop.ask("{ prices(filter: {until: {eq: \"\(bad)\"}}) { nodes { id } } }")
      #expect(answer.contains("BAD_USER_INPUT"), "\(answer)")
    }
  }

  // MARK: - Numbers in JSON

  @Test func `numbers in JSON keep their digits`() throws {
    let shop = try Shop("CREATE TABLE doc (id serial PRIMARY KEY, b jsonb, j json, n numeric)")
    let long = "12345678901234567890123"
    let document =
      #"{"a": [\#(long), 1.50, 1e400, -0.1], "b": 123456789012345678901234567890.123456789}"#
    #expect(
      try shop.ask(
        "mutation($v: JSON, $t: JSONText) { insertDocs(input: [{b: $v, j: $t}]) { rows { id } } }",
        "{\"v\": \(document), \"t\": \(document)}")
        == #"{"data":{"insertDocs":{"rows":[{"id":1}]}}}"#)
    #expect(
      try shop.ask(
        "mutation { insertDocs(input: [{b: {a: [\(long), 1.50, 1e400, -0.1]}, j: \(long)}]) { rows { j } } }"
      ) == #"{"data":{"insertDocs":{"rows":[{"j":\#(long)}]}}}"#)
    let digits = "1" + String(repeating: "0", count: 400)
    #expect(
      try shop.value("SELECT b ->> 'a' FROM doc WHERE id = 1") == "[\(long), 1.50, \(digits), -0.1]"
    )
    #expect(
      try shop.value("SELECT b ->> 'b' FROM doc WHERE id = 1")
        == "123456789012345678901234567890.123456789")
    #expect(
      try shop.value("SELECT b ->> 'a' FROM doc WHERE id = 2") == "[\(long), 1.50, \(digits), -0.1]"
    )
    #expect(try shop.value("SELECT j ->> 'a' FROM doc WHERE id = 1") == "[\(long),1.50,1e400,-0.1]")
    #expect(
      try shop.ask(
        "query($v: JSON) { docs(filter: {b: {contains: $v}}) { nodes { id } } }",
        "{\"v\": {\"a\": [\(long)]}}") == #"{"data":{"docs":{"nodes":[{"id":1},{"id":2}]}}}"#)
    // Six characters of a request would be 100,000 in the database.
    let bomb = try shop.ask(
      "mutation { insertDocs(input: [{b: {a: 1e99999}}]) { userErrors { path } } }")
    #expect(
      bomb == #"{"data":{"insertDocs":{"userErrors":[{"path":["input","0","b","a"]}]}}}"#, "\(bomb)"
    )
  }

  // MARK: - Settings

  @Test func `settings of the database do not change values`() throws {
    let shop = try Shop(
      #"""
      CREATE TABLE v (id int PRIMARY KEY, at timestamp, day tsrange, span interval, bytes bytea, f float8, r real,
        m money, n bool[], nums numeric[], t text);
      INSERT INTO v VALUES (1, '2026-02-01 10:00:00', '[2026-02-01,2026-02-03)', '1 year 2 days 03:04:05',
        '\x00ff10', 0.1::float8 + 0.2, 0.1, 12.34, '{t,NULL}', '{1,NULL}', 'a\b');
      """#,
      settings: [
        "DateStyle = 'German, DMY'", "bytea_output = 'escape'", "IntervalStyle = 'iso_8601'",
        "extra_float_digits = -10", "array_nulls = off", "transform_null_equals = on",
        "standard_conforming_strings = off",
      ])
    #expect(
      try shop.ask("{ vs { nodes { at day span bytes f r m n nums } } }") == #"""
        {"data":{"vs":{"nodes":[{"at":"2026-02-01 10:00:00",\#
        "day":"[\"2026-02-01 00:00:00\",\"2026-02-03 00:00:00\")","span":"1 year 2 days 03:04:05",\#
        "bytes":"\\x00ff10","f":0.30000000000000004,"r":0.1,"m":"$12.34","n":[true,null],\#
        "nums":["1",null]}]}}}
        """#)
    #expect(
      try shop.ask(
        #"""
        mutation { insertVs(input: [{id: 2, at: "2026-02-01 10:00:00", nums: ["2", null]}]) { rows { at nums } } }
        """#) == #"{"data":{"insertVs":{"rows":[{"at":"2026-02-01 10:00:00","nums":["2",null]}]}}}"#
    )
    #expect(
      try shop.ask(#"{ vs(filter: {t: {contains: "\\"}}) { nodes { id } } }"#)
        == #"{"data":{"vs":{"nodes":[{"id":1}]}}}"#)
  }
}
