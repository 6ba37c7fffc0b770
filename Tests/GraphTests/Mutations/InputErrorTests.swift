import GraphQLLanguage
import GraphQLPlanning
import GraphQLSchema
import JSON
import TestSupport
import Testing

/// An error about an input says which one it is: a variable or an argument, and what inside of it.
@Suite(.usesCluster) struct InputErrorTests {
  private struct Told: Equatable, CustomStringConvertible {
    let message: String
    let code: String
    let line: Int?
    let column: Int?

    init(_ message: String, _ line: Int?, _ column: Int?, code: String = "BAD_USER_INPUT") {
      self.message = message
      self.code = code
      self.line = line
      self.column = column
    }

    init(_ error: JSONValue) {
      message = error["message"]?.string ?? ""
      code = error.at("extensions.code")?.string ?? ""
      line = error.at("locations.0.line")?.int
      column = error.at("locations.0.column")?.int
    }

    var description: String { "\(code) at \(line ?? 0):\(column ?? 0): \(message)" }
  }

  private func told(
    _ query: String, _ variables: JSONValue? = nil, on server: GraphServer
  ) throws -> [Told] {
    try (server.execute(query, variables, as: nil)["errors"]?.array ?? []).map { Told($0) }
  }

  // MARK: Which input

  @Test func `a literal at fault is named by its argument`() throws {
    let server = try GraphServer.shared
    #expect(
      try told("{\n  dailyContent(date: \"tomorrow\") { __typename }\n}", on: server)
        == [
          Told(
            "\"Query.dailyContent(date:)\" got an invalid value; \"tomorrow\" is not a day such as "
              + "\"2026-05-01\".", 2, 22)
        ])
    #expect(
      try told("{ users(first: 1, after: \"old\") { totalCount nodes { id } } }", on: server)
        == [
          Told(
            "\"Query.users(after:)\" got an invalid value; "
              + "The cursor is not one of this list and order.", 1, 26)
        ])
  }

  @Test func `a variable at fault is named, with what is wrong inside of it`() throws {
    let server = try GraphServer.shared
    #expect(
      try told(
        "query($day: Date!) { dailyContent(date: $day) { __typename } }", ["day": "tomorrow"],
        on: server)
        == [
          Told(
            "Variable \"$day\" got an invalid value; \"tomorrow\" is not a day such as "
              + "\"2026-05-01\".", 1, 7)
        ])
    let filter: JSONValue = ["from": "2026-01-01T00:00:00Z", "to": "soon"]
    #expect(
      try told(
        "query($filter: ScheduleFilter!) { schedule(filter: $filter) { totalCount } }",
        ["filter": filter], on: server)
        == [
          Told(
            "Variable \"$filter\" got an invalid value at \"filter.to\"; "
              + "\"soon\" is not an instant such as \"2026-05-01T18:30:00.000Z\".", 1, 7)
        ])
  }

  @Test func `what PostgreSQL refuses is said to be one of the inputs`() throws {
    let server = try GraphServer(
      database: TestCluster.newDatabase(migrated: true),
      mapping: StorageMapping(
        SchemaBuilder.build(
          Parser.parse(
            Source(
              StorageDirectives.sdl + """

                type Query {
                  share(of: Int!, among: Int!): Int @sql(expression: ":of / :among")
                  broken: Int @sql(expression: "1 / (SELECT 0)")
                  half(of: Float!): Float @sql(expression: ":of / 2")
                }
                """), limits: .default))))
    defer { server.stop() }
    #expect(try server.data("{ share(of: 6, among: 3) }") == ["share": 2])
    #expect(try server.data("{ half(of: 3000000000) }") == ["half": 1_500_000_000])
    #expect(
      try told("query($n: Int!) { share(of: $n, among: 0) }", ["n": 1], on: server)
        == [
          Told(
            "One of Variable \"$n\", \"Query.share(among:)\" got an invalid value; "
              + "the graph cannot be asked with it.", 1, 7)
        ])
    #expect(
      try told("{ broken }", on: server)
        == [Told("An unexpected error occurred.", nil, nil, code: "INTERNAL_SERVER_ERROR")])
  }

  @Test func `an input of a mutation is named as well`() throws {
    let server = try GraphServer.shared
    let anna = try server.data().person("anna")
    func told(_ document: String, _ variables: JSONValue = .object([])) throws -> [JSONValue] {
      let answer = try server.sendMutation(document, variables, token: anna.token)
      let errors = try JSONParser.parse(answer.body)["errors"]?.array ?? []
      for error in errors {
        #expect(error.at("extensions.code") == "BAD_USER_INPUT" && error["path"] == ["f0"])
      }
      return errors.map { $0["message"] ?? .null }
    }
    let problem = "is not an instant such as \"2026-05-01T18:30:00.000Z\"."
    #expect(
      try told(
        """
        mutation {
          f0: createEvent(input: {title: "Tea", startsAt: "soon"}) { userErrors { code } }
        }
        """) == [
          .string(
            "\"Mutation.createEvent(input:)\" got an invalid value at "
              + "\"Mutation.createEvent(input:).startsAt\"; \"soon\" \(problem)")
        ])
    let create =
      "mutation($input: CreateEventInput!) { f0: createEvent(input: $input) { userErrors { code } } }"
    #expect(
      try told(create, ["input": ["title": "Tea", "startsAt": "soon"]]) == [
        .string(
          "Variable \"$input\" got an invalid value at \"input.startsAt\"; \"soon\" \(problem)")
      ])
    #expect(
      try told(create, ["input": ["title": "Tea", "startsAt": [true]]]) == [
        .string(
          "Variable \"$input\" got an invalid value at \"input.startsAt\"; "
            + "A list is not a value of \"DateTime\", which is a string or a number.")
      ])
  }

  // MARK: Custom scalars

  @Test(arguments: ["true", "[\"2026-05-01\"]", "{day: 1}", "TODAY"])
  func `a literal that no custom scalar is made of is an error of its field`(literal: String) throws
  {
    let root = try GraphServer.shared.execute(
      "{ dailyContent(date: \(literal)) { __typename } users(first: 1) { __typename } }", as: nil)
    #expect(root.at("errors.0.extensions.code") == "BAD_USER_INPUT", "\(root)")
    #expect(root.at("errors.0.path") == ["dailyContent"])
    #expect(
      root.at("errors.0.message")?.string?.hasPrefix("Argument \"date\" has invalid value ") == true
    )
    #expect(root.at("errors.0.locations.0.column") == 22)
  }

  @Test(arguments: [.boolean(true), ["2026-05-01"], ["day": 1], [], 12] as [JSONValue])
  func `nor is it the server's fault in a variable`(value: JSONValue) throws {
    let server = try GraphServer.shared
    for query in [
      "query($v: Date!) { dailyContent(date: $v) { __typename } }",
      """
      query($v: DateTime!) {
        schedule(filter: {from: "2026-01-01T00:00:00Z", to: $v}) { totalCount }
      }
      """,
    ] {
      let errors = try told(query, ["v": value], on: server)
      #expect(errors.map(\.code) == ["BAD_USER_INPUT"], "\(errors)")
      #expect(errors.first?.message.hasPrefix("Variable \"$v\" got an invalid value") == true)
    }
    let filter: JSONValue = ["from": value, "to": "2026-01-02T00:00:00Z"]
    let inside = try told(
      "query($f: ScheduleFilter!) { schedule(filter: $f) { totalCount } }", ["f": filter],
      on: server)
    #expect(inside.map(\.code) == ["BAD_USER_INPUT"])
    #expect(inside.first?.message.contains("at \"f.from\"") == true, "\(inside)")
  }

  // MARK: Ids and numbers

  @Test(arguments: ["hello world", "?", "", "AQEAAAAAAAAAAAAAAA", "-4"])
  func `what is no id finds nothing, like the id of what is not there`(id: String) throws {
    let server = try GraphServer.shared
    let query = """
      query($id: ID!, $ids: [ID!]!) {
        node(id: $id) { id } post(id: $id) { id } circle(id: $id) { id } product(id: $id) { id }
        user(by: {id: $id}) { id } location(by: {id: $id}) { id }
        posts(filter: {withinId: $id}) { totalCount }
        schedule(filter: {from: "2026-01-01T00:00:00Z", to: "2027-01-01T00:00:00Z", circleIds: $ids}) {
          totalCount } }
      """
    let nothing: JSONValue = [
      "node": nil, "post": nil, "circle": nil, "product": nil, "user": nil, "location": nil,
      "posts": ["totalCount": 0], "schedule": ["totalCount": 0],
    ]
    #expect(try server.data(query, ["id": .string(id), "ids": [.string(id)]]) == nothing)
    let literal = query.replacing("query($id: ID!, $ids: [ID!]!) ", with: "")
      .replacing("$ids", with: "[\(JSONValue.string(id))]")
      .replacing("$id", with: "\(JSONValue.string(id))")
    #expect(try server.data(literal) == nothing)
  }

  @Test func `what is no id is null in its place among others`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (anna, post) = (try data.person("anna"), try data.post(.text, by: data.person("ben")))
    let ids: JSONValue = ["no id", post.json, "", anna.json, "-4"]
    let expected: JSONValue = [
      "nodes": [.null, ["id": post.json], .null, ["id": anna.json], .null]
    ]
    let found = try server.data(
      "query($ids: [ID!]!) { nodes(ids: $ids) { id } }", ["ids": ids])
    #expect(found == expected, "\(found)")
    #expect(try server.data("{ nodes(ids: \(ids)) { id } }") == expected)
    #expect(
      try server.data("{ nodes(ids: [\"?\", \"!\"]) { id } }") == ["nodes": [.null, .null]])
    #expect(try server.data("{ nodes(ids: \"?\") { id } }") == ["nodes": [.null]])
  }

  @Test func `an integer that no Int holds is a number where a Float is to be`() throws {
    let server = try GraphServer.shared
    func errors(_ longitude: String) throws -> JSONValue? {
      try server.execute(
        """
        { locations(filter: {near: {center: {latitude: 1, longitude: \(longitude)}, radiusMeters: 1}}) {
          totalCount
        } }
        """, as: nil
      ).at("errors.0.message")
    }
    #expect(try errors("3000000000") == errors("3e9"))
  }
}
