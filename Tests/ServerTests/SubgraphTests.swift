import Foundation
import GraphQLPlanning
import HTTPTestSupport
import JSON
import OracleSupport
import TestSupport
import Testing

@testable import Server

/// A graph as a part of a larger one: the objects that a gateway names by their keys.
@Suite(.usesCluster) struct SubgraphTests {
  private static let page = """
    type PageInfo {
      hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String
    }
    """

  private static let films = """
    type Query {
      node(id: ID!): Node @reference(id: ":id")
      film(filmId: Int!): Film @reference(where: "this.film_id = :filmId")
      films: [Film!]! @list(orderBy: "this.film_id")
    }
    interface Node { id: ID! }
    type Film implements Node @tag(id: 1)
      @table(name: "film", key: "film_id", where: "this.is_public") {
      id: ID! @id
      filmId: Int!
      title: String!
      studio: Studio @reference(where: "this.country = parent.country AND this.code = parent.code")
    }
    type Studio @table(name: "studio", key: "country, code") @key(fields: "name") {
      country: String!
      code: UUID!
      name: String!
      films: [Film!]! @list(from: "film", on: "this.film_id = edge.film_id",
        where: "edge.code = parent.code", orderBy: "this.film_id")
    }
    scalar UUID @scalar(type: "uuid")
    type Note @table(name: "note", key: "at") { at: DateTime! text: String }
    scalar DateTime @scalar(type: "timestamptz")
    """

  private static let filmRows = """
    CREATE TABLE studio (country text, code uuid, name text NOT NULL UNIQUE, PRIMARY KEY (country, code));
    CREATE TABLE film (film_id int PRIMARY KEY, title text NOT NULL, country text, code uuid,
      is_public boolean NOT NULL DEFAULT true, FOREIGN KEY (country, code) REFERENCES studio);
    CREATE TABLE note (at timestamptz PRIMARY KEY, text text);
    INSERT INTO studio SELECT 'DK', ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'Studio ' || n
    FROM generate_series(1, 3) n;
    INSERT INTO film SELECT n, 'Film ' || n, 'DK', ('00000000-0000-4000-8000-' || lpad((1 + n % 3)::text, 12, '0'))::uuid,
      n <> 13 FROM generate_series(1, 40) n;
    INSERT INTO note VALUES ('2026-05-01T10:00:00Z', 'spring')
    """

  private static let shared = Result { try OwnGraph(films, filmRows, isSubgraph: true) }

  private static let document = """
    query($r: [_Any!]!) { _entities(representations: $r) {
      __typename ... on Film { title studio { name } } ... on Studio { name films { filmId } } ... on Note { text }
    } }
    """

  private func entities(
    _ representations: String, _ document: String = document, on graph: OwnGraph? = nil
  ) throws -> JSONValue {
    let variables = try JSONParser.parse(Array("{\"r\": \(representations)}".utf8))
    let body = try (graph ?? Self.shared.get()).body(document, variables)
    return try JSONParser.parse(Array(body.utf8))
  }

  @Test func `the schema fits its database, with what a gateway asks`() throws {
    #expect(try Self.shared.get().findings == [])
  }

  @Test func `representations of several types are answered in their order, and null for none`()
    throws
  {
    let code = "00000000-0000-4000-8000-000000000002"
    let answer = try entities(
      """
      [{"__typename": "Film", "filmId": 4}, {"__typename": "Studio", "country": "DK", "code": "\(code.uppercased())"},
       {"__typename": "Film", "filmId": 99}, {"__typename": "Film", "filmId": 13}, {"__typename": "Film", "filmId": "x"},
       {"__typename": "Studio", "name": "Studio 3"}, {"__typename": "Studio", "country": "DK", "code": "x"},
       {"__typename": "Note", "at": "2026-05-01T12:00:00+02:00"}, {"__typename": "Film", "filmId": 2}]
      """)
    let films = { (start: Int) in
      stride(from: start, through: 40, by: 3).filter { $0 != 13 }.map { "{\"filmId\":\($0)}" }
        .joined(separator: ",")
    }
    let expected = """
      {"data":{"_entities":[{"__typename":"Film","title":"Film 4","studio":{"name":"Studio 2"}},\
      {"__typename":"Studio","name":"Studio 2","films":[\(films(1))]},null,null,null,\
      {"__typename":"Studio","name":"Studio 3","films":[\(films(2))]},null,\
      {"__typename":"Note","text":"spring"},{"__typename":"Film","title":"Film 2","studio":{"name":"Studio 3"}}]}}
      """
    #expect(answer == (try JSONParser.parse(Array(expected.utf8))))
  }

  @Test func `an ID finds its object, and only as the type that it is of`() throws {
    let graph = try Self.shared.get()
    let film = try JSONParser.parse(Array(graph.body("{ film(filmId: 7) { id } }").utf8))
    let id = try #require(film["data"]?["film"]?["id"])
    let answer = try entities(
      #"[{"__typename": "Film", "id": \#(id)}, {"__typename": "Film", "id": "nothing"}, {"__typename": "Film", "id": 7}]"#,
      "query($r: [_Any!]!) { _entities(representations: $r) { ... on Film { filmId } } }")
    #expect(
      answer
        == (try JSONParser.parse(Array(#"{"data":{"_entities":[{"filmId":7},null,null]}}"#.utf8))))
  }

  @Test func `a hundred representations of three types are one statement, whatever their number`()
    throws
  {
    // Its own, as the other tests ask at the same time.
    let graph = try OwnGraph(Self.films, Self.filmRows, isSubgraph: true)
    func ask(_ count: Int) throws {
      let list = (0..<count).map { number in
        switch number % 3 {
        case 0: #"{"__typename": "Film", "filmId": \#(number)}"#
        case 1: #"{"__typename": "Studio", "name": "Studio \#(number)"}"#
        default: #"{"__typename": "Note", "at": "2026-05-01T10:00:00Z"}"#
        }
      }.joined(separator: ",")
      let answer = try entities("[\(list)]", on: graph)
      #expect(answer["data"]?["_entities"]?.elements.count == count, "\(answer)")
    }
    try ask(3)
    let admin = try TestCluster.session(TestCluster.connectionString())
    let name = try #require(try graph.value("SELECT current_database()"))
    func calls() throws -> [String: Int] {
      let rows = try admin.execute(
        """
        SELECT query, calls FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
        WHERE d.datname = $1 AND query LIKE '%studio%'
        """, [name])
      return Dictionary(rows.map { ($0[0] ?? "", Int($0[1] ?? "") ?? 0) }, uniquingKeysWith: +)
    }
    let before = try calls()
    for count in [100, 99, 9, 30] { try ask(count) }
    let changed = try calls().filter { $0.value != before[$0.key] ?? 0 }
    #expect(changed.map { $0.value - (before[$0.key] ?? 0) } == [4], "\(changed)")
  }

  @Test func `what names no object says why, and too many are refused`() throws {
    let one = #"{"__typename": "Film", "filmId": 1}"#
    for (list, problem) in [
      (#"[{"__typename": "Person", "id": 1}]"#, "\"Person\" is no type with a key in this graph."),
      ("[\(one), {\"__typename\": \"Film\"}]", "found by its key \"id\" or \"filmId\""),
      (#"[{"__typename": "Film", "filmId": null}]"#, "found by its key"),
      ("[7]", "a representation is an object"), (#"["Film"]"#, "a representation is an object"),
      (
        "[" + Array(repeating: one, count: 101).joined(separator: ",") + "]",
        "at most 100 representations"
      ),
    ] {
      // The plan for others that are right is there.
      _ = try entities("[\(one)]")
      let answer = try entities(list)
      #expect("\(answer)".contains("BAD_USER_INPUT"), "\(answer)")
      #expect(
        "\(answer)".contains(problem.replacing("\"", with: "\\\"")), "\(list): \(answer)")
    }
    #expect(
      try entities("[]") == JSONParser.parse(Array(#"{"data":{"_entities":[]}}"#.utf8)))
  }

  @Test func `no value of a key makes the server fail`() throws {
    let values = [
      #""""#, #""x""#, #""\u0000""#, #""1e400""#, #""{},\\""#, #""infinity""#, "0", "-1", "1.5",
      "true",
      "99999999999999999999", "1e400", "[]", "{}", #"["x"]"#, #""2026-13-45""#,
    ]
    for value in values {
      for key in [
        #""__typename": "Film", "filmId": \#(value)"#, #""__typename": "Film", "id": \#(value)"#,
        #""__typename": "Studio", "country": \#(value), "code": \#(value)"#,
        #""__typename": "Studio", "name": \#(value)"#, #""__typename": "Note", "at": \#(value)"#,
      ] {
        let answer = try entities("[{\(key)}]")
        let isNone = answer["data"]?["_entities"] == .array([.null])
        #expect(isNone || "\(answer)".contains("BAD_USER_INPUT"), "\(key): \(answer)")
      }
    }
  }

  @Test func `representations may be written in the document`() throws {
    let graph = try Self.shared.get()
    let body = try graph.body(
      """
      query($n: Int, $t: String) {
        a: _entities(representations: [{__typename: "Film", filmId: 1}, {__typename: "Film", filmId: $n}]) {
          ... on Film { title }
        }
        b: _entities(representations: [{__typename: $t, filmId: 3, name: "Studio 1"}]) { __typename }
      }
      """,
      .object([.init(name: "n", value: .number("2")), .init(name: "t", value: .string("Studio"))]))
    #expect(
      body
        == #"{"data":{"a":[{"title":"Film 1"},{"title":"Film 2"}],"b":[{"__typename":"Studio"}]}}"#)
    let other = try graph.body(
      "query($t: String) { b: _entities(representations: [{__typename: $t, filmId: 3, name: \"\"}]) { __typename } }",
      .object([.init(name: "t", value: .string("Film"))]))
    #expect(other == #"{"data":{"b":[{"__typename":"Film"}]}}"#)
  }

  @Test func `a variable of representations and of something else determines both`() throws {
    let graph = try Self.shared.get()
    for flag in [true, false, true] {
      let body = try graph.body(
        """
        query($b: Boolean!) { _entities(representations: [{__typename: "Film", filmId: 1, x: $b}]) { __typename }
          films @include(if: $b) { __typename } }
        """, .object([.init(name: "b", value: .boolean(flag))]))
      #expect(body.contains(#""films""#) == flag, "\(flag): \(body.prefix(200))")
    }
    // Where the text of one variable ends is no question of what is in it.
    let document = """
      query($x: String, $a: String, $c: String) {
        _entities(representations: [{__typename: $a, filmId: 1, name: "Studio 1", y: $x, z: $c}]) { __typename }
      }
      """
    for (x, type, c) in [("1", "Film", "q)(Studio)(z"), ("1)(Film)(q", "Studio", "z")] {
      let body = try graph.body(
        document,
        .object([
          .init(name: "x", value: .string(x)), .init(name: "a", value: .string(type)),
          .init(name: "c", value: .string(c)),
        ]))
      #expect(body == #"{"data":{"_entities":[{"__typename":"\#(type)"}]}}"#)
    }
  }

  @Test func `keys by @key fit, need not be unique, and may be those of other graphs`() throws {
    for (key, isRight) in [
      (#"@key(fields: "name")"#, true), (#"@key(fields: "nme")"#, false),
      (#"@key(fields: "other { id }")"#, false), (#"@key(fields: "")"#, false),
      (#"@key(fields: "nothing", resolvable: false)"#, false),
      (#"@key(fields: "name", resolvable: false)"#, true),
    ] {
      let sdl = """
        type Query { things: [Thing!]! @list(orderBy: "this.id") }
        type Thing \(key) @table(name: "thing") { id: Int! name: String other: Thing @reference(column: "other_id") }
        """
      if isRight {
        _ = try OwnGraph.mapping(sdl)
      } else {
        #expect(throws: StorageErrors.self, "\(key)") { try OwnGraph.mapping(sdl) }
      }
    }
    let graph = try OwnGraph(
      """
      type Query { things: [Thing!]! @list(orderBy: "this.id") }
      type Thing @key(fields: "name") @key(fields: "id", resolvable: false) @table(name: "thing") {
        id: Int! name: String
      }
      type Quoted @tag(id: 3) @table(name: "quoted", key: "\\"Id\\"") { id: ID! @column(name: "\\"Id\\"") }
      type Odd @table(name: "odd", key: "\\"a,b\\", \\"Key Col\\"") {
        ab: Int! @column(name: "\\"a,b\\"") keyCol: String! @column(name: "\\"Key Col\\"")
      }
      """,
      """
      CREATE TABLE thing (id int PRIMARY KEY, name text);
      INSERT INTO thing VALUES (1, 'same'), (2, 'same');
      CREATE TABLE quoted ("Id" bigint PRIMARY KEY); INSERT INTO quoted VALUES (259);
      CREATE TABLE odd ("a,b" int, "Key Col" text, PRIMARY KEY ("a,b", "Key Col")); INSERT INTO odd VALUES (7, 'k')
      """, isSubgraph: true)
    let one = try entities(
      #"[{"__typename": "Thing", "name": "same"}]"#,
      "query($r: [_Any!]!) { _entities(representations: $r) { __typename } }", on: graph)
    #expect("\(one)" == #"{"data":{"_entities":[{"__typename":"Thing"}]}}"#)
    let other = try entities(
      #"[{"__typename": "Thing", "id": 1}]"#,
      "query($r: [_Any!]!) { _entities(representations: $r) { __typename } }", on: graph)
    #expect("\(other)".contains("BAD_USER_INPUT"))
    let id = NodeID.encode(259)
    let quoted = try entities(
      #"[{"__typename": "Quoted", "id": "\#(id)"}]"#,
      "query($r: [_Any!]!) { _entities(representations: $r) { ... on Quoted { id } } }", on: graph)
    #expect("\(quoted)" == #"{"data":{"_entities":[{"id":"\#(id)"}]}}"#)
    // Another graph may have written the integer with a fraction.
    let odd = try entities(
      #"[{"__typename": "Odd", "keyCol": "k", "ab": 7.0}, {"__typename": "Odd", "keyCol": "k", "ab": 7.5}]"#,
      "query($r: [_Any!]!) { _entities(representations: $r) { ... on Odd { ab } } }", on: graph)
    #expect("\(odd)" == #"{"data":{"_entities":[{"ab":7},null]}}"#)
    let sdl = try graph.body("{ _service { sdl } }")
    #expect(
      sdl.contains(
        #"type Thing @key(fields: \"name\") @key(fields: \"id\", resolvable: false) {"#), "\(sdl)")
  }

  @Test func `a server that keeps its schema keeps it from gateways, too`() throws {
    let graph = try OwnGraph(
      "type Query { one: Int! @sql(expression: \"1\") }", "SELECT 1", isSubgraph: true
    ) { $0.introspection = .off }
    #expect(try graph.server.execute("{ _service { sdl } }").code == "INTROSPECTION_DISABLED")
    #expect(try graph.body("{ one }") == #"{"data":{"one":1}}"#)
  }

  @Test func `the text has the keys, and what several graphs may have`() throws {
    let body = try Self.shared.get().body("{ _service { __typename sdl } }")
    let value = try JSONParser.parse(Array(body.utf8))
    guard case .string(let sdl)? = value["data"]?["_service"]?["sdl"] else {
      Issue.record("\(body)")
      return
    }
    for line in [
      #"type Film implements Node @key(fields: "id") @key(fields: "filmId") {"#,
      #"type Studio @key(fields: "country code") @key(fields: "name") {"#,
      "node(id: ID!): Node @shareable @inaccessible", "films: [Film!]!\n",
      "https://specs.apollo.dev/federation/v2.3",
    ] { #expect(sdl.contains(line), "\(line) in \(sdl)") }
    for part in ["_entities", "_Any", "_Service", "@table", "@reference", "@tag"] {
      #expect(!sdl.contains(part), "\(part)")
    }
    let composite = SubgraphSchema.text(of: try OwnGraph.mapping(Self.films), as: .composite)
    for line in [
      "film(filmId: Int!): Film @lookup", "node(id: ID!): Node @shareable @inaccessible @lookup",
      "films: [Film!]!\n", "directive @lookup on FIELD_DEFINITION",
    ] { #expect(composite.contains(line), "\(line) in \(composite)") }
    #expect(!composite.contains("@link"))
  }

  @Test func `a graph without keys has its text alone`() throws {
    let graph = try OwnGraph(
      "type Query { one: Int! @sql(expression: \"1\") }", "SELECT 1", isSubgraph: true)
    #expect(try graph.body("{ _service { sdl } }").contains("one: Int!"))
    #expect(
      try graph.body("{ _entities(representations: []) { __typename } }").contains("VALIDATION"))
  }

  // MARK: - Composed

  private static let reviews = """
    type Query {
      reviews(least: Int = 0 @where(condition: "this.stars >= :value")): [Review!]! @list(orderBy: "this.id")
    }
    type Review @table(name: "review") { id: Int! stars: Int! film: Film! @embed }
    "Of the other graph; here it has its reviews."
    type Film @table(name: "film_reviewed", key: "film_id") {
      filmId: Int!
      reviews: [Review!]! @list(from: "review", on: "this.id = edge.id", where: "edge.film_id = parent.film_id",
        orderBy: "this.id")
      average: Float @sql(expression: "(SELECT avg(stars)::float8 FROM review r WHERE r.film_id = this.film_id)")
    }
    """

  private static let reviewRows = """
    CREATE TABLE review (id bigint PRIMARY KEY, film_id int NOT NULL, stars int NOT NULL);
    INSERT INTO review VALUES (1, 2, 5), (2, 2, 4), (3, 7, 1), (4, 13, 3);
    CREATE VIEW film_reviewed AS SELECT DISTINCT film_id FROM review
    """

  private func compose(_ query: String, _ graphs: [OwnGraph]) throws -> JSONValue {
    let run = try LiveClients.run(
      "composer.py", [query] + graphs.map { "http://127.0.0.1:\($0.server.port)/graphql" })
    #expect(run.status == 0, "\(run.output)")
    return try JSONParser.parse(Array(run.output.utf8))
  }

  @Test(
    .enabled(if: LiveClients.python != nil, "SKIPPED: script/live-clients installs what it needs."))
  func `two graphs are composed to one, which answers from both`() throws {
    let reviews = try OwnGraph(Self.reviews, Self.reviewRows, isSubgraph: true)
    #expect(reviews.findings == [])
    let graphs = [try Self.shared.get(), reviews]
    let there = try compose(
      "{ film(filmId: 2) { title average reviews { stars } studio { name films { title average } } } }",
      graphs)
    #expect(there["data"]?["film"]?["average"] == .number("4.5"))
    #expect(
      "\(there["data"]?["film"]?["reviews"] ?? .null)" == #"[{"stars":5},{"stars":4}]"#)
    let all = there["data"]?["film"]?["studio"]?["films"]?.elements ?? []
    #expect(all.count == 13)
    #expect(all.first { $0["title"] == .string("Film 5") }?["average"] == .null)
    // From the first graph, then what the second has of the film, and of all films of its studio.
    #expect(there["requests"] == .array([.number("1"), .number("2")]))
    let back = try compose("{ reviews { stars film { title average } } }", graphs)
    #expect(
      "\(back["data"]?["reviews"] ?? .null)"
        == #"[{"stars":5,"film":{"average":4.5,"title":"Film 2"}},{"stars":4,"film":{"average":4.5,"title":"Film 2"}},"#
        + #"{"stars":1,"film":{"average":1,"title":"Film 7"}},{"stars":3,"film":{"average":3,"title":null}}]"#
    )
    #expect(back["requests"] == .array([.number("1"), .number("1")]))
    // A field of both without @shareable does not fit.
    let taken = try OwnGraph(
      Self.reviews.replacing(
        "filmId: Int!", with: "filmId: Int! title: String @sql(expression: \"'?'\")"),
      Self.reviewRows, isSubgraph: true)
    let refused = try compose("{ reviews { stars } }", [graphs[0], taken])
    #expect("\(refused["composition"] ?? .null)".contains("Film.title is in several graphs"))
    let external = try OwnGraph(
      Self.reviews.replacing(
        "filmId: Int!", with: "filmId: Int! title: String @sql(expression: \"'?'\") @external"),
      Self.reviewRows, isSubgraph: true)
    #expect(try compose("{ reviews { stars } }", [graphs[0], external])["data"] != nil)
  }
}
