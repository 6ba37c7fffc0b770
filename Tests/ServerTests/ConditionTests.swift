import JSON
import Testing

/// Conditions of arguments in every possible place, over a custom graph.
@Suite struct ConditionTests {
  private static func graph(_ more: String = "") throws -> OwnGraph {
    try OwnGraph(
      """
      type Query {
        cats(fits: [Fits!], one: Fits, \(more)): [Cat!]! @list(orderBy: "this.id")
        sizes(least: Int @where(condition: "this.size >= :value"), fits: Fits): Sizes
          @reference(from: "(SELECT size, count(*)::int AS cats FROM cat GROUP BY size ORDER BY size LIMIT 1)")
        big(fits: Fits): Cat @reference(from: "biggest()")
      }
      type Cat @table(name: "cat") { name: String size: Int }
      type Sizes { size: Int cats: Int }
      input Fits {
        name: String @where(condition: "this.name = :value")
        size: Int @where(condition: "this.size = :value")
        sizes: [Int!] @where(condition: "this.size = ANY (:value)")
        or: [Fits!]
      }
      """,
      """
      CREATE TABLE cat (id bigint PRIMARY KEY, name text, size int);
      INSERT INTO cat VALUES (1, 'Ada', 1), (2, 'Bo', 2), (3, 'Cy', 2), (4, 'Ada', 3);
      CREATE FUNCTION biggest() RETURNS SETOF cat STABLE LANGUAGE sql AS
        'SELECT * FROM cat ORDER BY size DESC LIMIT 1';
      """)
  }

  private static func value(_ json: String) throws -> JSONValue {
    try JSONParser.parse(Array(json.utf8))
  }

  @Test func `of a list of input objects a row fits one, or each where the schema says so`() throws
  {
    try expectLists(Self.graph("all: [Fits!] @where(all: true)"), hasAll: true)
    try expectLists(Self.graph(), hasAll: false)
  }

  private func expectLists(_ graph: OwnGraph, hasAll: Bool) throws {
    func names(_ arguments: String) throws -> String {
      try graph.body("{ cats(\(arguments)) { name size } }")
        .replacing(#"{"data":{"cats":["#, with: "").replacing("]}}", with: "")
        .replacing(#"{"name":""#, with: "").replacing(#"","size":"#, with: "").replacing(
          "}", with: "")
    }
    #expect(try names("one: {size: 2}") == "Bo2,Cy2")
    #expect(try names(#"fits: [{name: "Ada", size: 1}, {size: 2}]"#) == "Ada1,Bo2,Cy2")
    #expect(try names(#"fits: {name: "Bo"}"#) == "Bo2")
    #expect(try names("fits: []").isEmpty)
    #expect(try names("fits: [{}]") == "Ada1,Bo2,Cy2,Ada3")
    #expect(
      try names(#"one: {sizes: [1, 2], or: [{name: "Ada"}, {or: [{name: "Cy"}, {size: 3}]}]}"#)
        == "Ada1,Cy2")
    guard hasAll else { return }
    #expect(try names(#"all: [{name: "Ada"}, {size: 3}]"#) == "Ada3")
    #expect(try names("all: []") == "Ada1,Bo2,Cy2,Ada3")
  }

  @Test func `values in lists of variables are those of the request, whatever plan is there`()
    throws
  {
    let graph = try Self.graph()
    let query = """
      query ($fits: [Fits!], $or: [Fits!]) { cats(fits: $fits, one: {or: $or}) { name size } }
      """
    func names(_ variables: String) throws -> String {
      try graph.body(query, Self.value(variables))
    }
    for _ in 0..<2 {
      #expect(
        try names(#"{"fits": [{"name": "Bo"}, {"name": "Ada"}], "or": [{"sizes": [2, 3]}]}"#)
          == #"{"data":{"cats":[{"name":"Bo","size":2},{"name":"Ada","size":3}]}}"#)
      #expect(
        try names(#"{"fits": [{"name": "Cy"}, {"name": "Ada"}], "or": [{"sizes": [1, 2]}]}"#)
          == #"{"data":{"cats":[{"name":"Ada","size":1},{"name":"Cy","size":2}]}}"#)
    }
    let bad = try names(#"{"fits": [{"name": "Bo"}, {"name": "a\u0000"}]}"#)
    #expect(bad.contains(#"Variable \"$fits\" got an invalid value at \"fits[1].name\""#), "\(bad)")
  }

  @Test func `conditions hold for an object that is read from a from item`() throws {
    let graph = try Self.graph()
    #expect(try graph.body("{ sizes { size cats } }") == #"{"data":{"sizes":{"size":1,"cats":1}}}"#)
    #expect(try graph.body("{ sizes(least: 1) { cats } }") == #"{"data":{"sizes":{"cats":1}}}"#)
    #expect(try graph.body("{ sizes(least: 2) { cats } }") == #"{"data":{"sizes":null}}"#)
    #expect(
      try graph.body(#"{ big(fits: {name: "Ada"}) { size } }"#) == #"{"data":{"big":{"size":3}}}"#)
    #expect(try graph.body(#"{ big(fits: {name: "Bo"}) { size } }"#) == #"{"data":{"big":null}}"#)
  }

  @Test func `what conditions ask that the from item has not is an error of the check`() throws {
    let graph = try Self.graph()
    #expect(
      graph.findings == [
        "error: Query.sizes: column this.name does not exist. Name one that is there with "
          + "@column(name:), or compute it with @sql(expression:)."
      ])
  }

  @Test func `lists have at most a hundred conditions`() throws {
    let graph = try Self.graph()
    let query = "query ($fits: [Fits!]) { cats(fits: $fits) { name } }"
    func answer(_ count: Int) throws -> (status: Int, body: String) {
      let items = Array(repeating: #"{"name": "Bo"}"#, count: count).joined(separator: ",")
      let answer = try graph.server.execute(query, Self.value(#"{"fits": [\#(items)]}"#))
      return (answer.status, answer.body)
    }
    #expect(try answer(50).body == #"{"data":{"cats":[{"name":"Bo"}]}}"#)
    for count in [51, 5000] {
      let refused = try answer(count)
      #expect(refused.body.contains("may have at most 100 conditions"), "\(refused.body)")
      #expect(refused.body.contains("BAD_USER_INPUT"))
    }
  }
}
