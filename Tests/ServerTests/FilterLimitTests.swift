import GraphQLPlanning
import GraphQLSchema
import JSON
import Testing

/// Filters and orders that ask for much, and schemas whose filters do not hold.
@Suite struct FilterLimitTests {
  @Test func `filters and orders that ask for much are refused before anything is read`() throws {
    let graph = try OwnGraph(MusicGraph.sdl, MusicGraph.sql)
    func ask(_ arguments: String) throws -> String {
      try graph.body("{ albums(\(arguments)) { totalCount } }")
    }
    func nested(_ depth: Int) -> String {
      (0..<depth).reduce("{albumId: {eq: 1}}") { inner, _ in "{not: \(inner)}" }
    }
    func alternatives(_ count: Int) -> String {
      "{or: [\(repeatElement("{albumId: {eq: 1}}", count: count).joined(separator: ", "))]}"
    }
    func conditions(_ count: Int) -> String {
      "{and: [\(repeatElement("{albumId: {gt: 0}}", count: count).joined(separator: ", "))]}"
    }
    func many(_ count: Int) -> String {
      "orderBy: [\(repeatElement("{title: ASC}", count: count).joined(separator: ", "))]"
    }
    let least = #"{"data":{"albums":{"totalCount":1}}}"#
    let all = #"{"data":{"albums":{"totalCount":60}}}"#
    #expect(try ask("filter: \(nested(4))") == least)
    #expect(try ask("filter: \(alternatives(10))") == least)
    #expect(try ask("filter: \(conditions(30))") == all)
    #expect(try ask(many(10)) == all)
    for (arguments, message) in [
      ("filter: \(nested(5))", "may have at most 4 levels of nested filters, not 5."),
      ("filter: \(alternatives(11))", #"may have at most 10 filters in one \"or\", not 11."#),
      ("filter: \(conditions(31))", "may have at most 30 conditions, not 31."),
      (
        "filter: {and: [\(repeatElement("{}", count: 31).joined(separator: ", "))]}",
        "may have at most 30 conditions, not 31."
      ),
      (
        "filter: {artist: {albums: {some: {artist: {albums: {some: {artist: {}}}}}}}}",
        "may have at most 4 levels of nested filters, not 5."
      ),
      (many(11), "may have at most 10 orders, not 11."),
      (
        "orderBy: [{artist: {mentor: {mentor: {mentor: {mentor: {name: ASC}}}}}}]",
        "may have at most 4 relations to one column, not 5."
      ),
    ] {
      let answer = try ask(arguments)
      #expect(answer.contains(message) && answer.contains("BAD_USER_INPUT"), "\(answer)")
    }
    // The same by variables.
    let answer = try graph.body(
      "query ($f: AlbumFilter) { albums(filter: $f) { totalCount } }",
      JSONParser.parse(
        Array(#"{"f": {"or": [\#(repeatElement("{}", count: 11).joined(separator: ","))]}}"#.utf8)))
    #expect(answer.contains("not 11."), "\(answer)")
  }

  @Test func `a relation in a filter costs as much as a page`() throws {
    let graph = try OwnGraph(MusicGraph.sdl, MusicGraph.sql) {
      $0.execution.plannerLimits.maximumCost = 60
    }
    let one = "tracks: {some: {}}"
    #expect(
      try graph.body("{ albums(filter: {\(one)}, first: 1) { totalCount } }").contains("totalCount")
    )
    let refused = try graph.body(
      "{ albums(filter: {\(one), artist: {}, not: {artist: {}}}, first: 1) { totalCount } }")
    #expect(refused.contains("The operation costs 68 and may cost at most 60."), "\(refused)")
    let nested = try graph.body(
      "{ artists(first: 3) { nodes { albums(filter: {\(one)}, first: 1) { totalCount } } } }")
    #expect(nested.contains("The operation costs 77 and may cost at most 60."), "\(nested)")
  }

  private static func problems(_ sdl: String) -> String {
    do {
      _ = try OwnGraph.mapping(sdl)
      return ""
    } catch let errors as SchemaErrors {
      return errors.errors.map(\.message).joined(separator: "\n")
    } catch {
      return "\(error)"
    }
  }

  @Test func `what cannot be a filter is an error of the schema`() {
    let type = """
      type Query { cat: Cat @reference(where: "true") }
      type Cat @table(name: "cat") { id: ID! name: String }

      """
    #expect(Self.problems(type + #"input CatFilter @filter(of: "Cat")"#) == "")
    for (sdl, message) in [
      (
        #"input CatFilter @filter(of: "Cats")"#,
        #"Input "CatFilter" is a filter of "Cats", which is no object or interface type. Did you mean "Cat"?"#
      ),
      (
        #"input CatOrder @order(of: "String")"#,
        #"Input "CatOrder" is an order of "String", which is no object or interface type."#
      ),
      (
        #"input CatFilter @filter(of: "Cat") input StringFilter { eq: String }"#,
        #"Type "StringFilter" is made for filters and cannot be declared; rename yours."#
      ),
      (
        #"input QueryFilter @filter(of: "Query")"#,
        "QueryFilter: Query has no @table, and @filter(of:) needs its rows."
      ),
      (
        #"input CatFilter @filter(of: "Cat") { nme: String }"#,
        #"CatFilter.nme: Cat has no field "nme" that can be asked; give it a @where, or leave it out."#
      ),
    ] {
      let problems = Self.problems(type + sdl)
      #expect(problems.contains(message), "\(problems)")
    }
  }

  @Test func `the check finds columns that cannot be asked as their scalar says`() throws {
    let graph = try OwnGraph(
      """
      scalar Place @scalar(type: "int8range")
      type Query { cats(filter: CatFilter, orderBy: [CatOrder!]): CatConnection! @connection }
      type Cat @table(name: "cat", key: "id") {
        catId: Int! @column(name: "id")
        place: Place
        name: String
      }
      type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
      input CatFilter @filter(of: "Cat")
      input CatOrder @order(of: "Cat")
      """,
      "CREATE TABLE cat (id int PRIMARY KEY, place point, name text)")
    #expect(
      graph.findings == [
        "error: Query.cats: operator does not exist: point = int8range. No operator matches the given name and "
          + "argument types. You might need to add explicit type casts."
      ])
  }

  @Test func `a member that is written stays, with its own condition`() throws {
    let graph = try OwnGraph(
      """
      type Query { cats(filter: CatFilter): CatConnection! @connection(orderBy: "this.id") }
      type Cat @table(name: "cat", key: "id") { catId: Int! @column(name: "id") name: String }
      type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
      input CatFilter @filter(of: "Cat") {
        name: String @where(condition: "lower(this.name) = lower(:value)")
      }
      """,
      "CREATE TABLE cat (id int PRIMARY KEY, name text); INSERT INTO cat VALUES (1, 'Ada'), (2, 'Bo')"
    )
    #expect(graph.findings == [])
    #expect(
      try graph.body(
        #"{ cats(filter: {or: [{name: "ADA"}, {catId: {gt: 5}}]}) { nodes { name } } }"#)
        == #"{"data":{"cats":{"nodes":[{"name":"Ada"}]}}}"#)
  }
}
