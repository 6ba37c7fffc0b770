import JSON
import TestSupport
import Testing

/// People suggested to follow, by staff or by common followees.
@Suite(.usesCluster) struct SuggestedPeopleTests {
  @Test func `GTIO-1.8a, read: people staff suggest, in their order, without those followed`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, people) = (try data.person(), try (0..<4).map { _ in try data.person() })
    let chosen = [people[2], people[0], viewer, people[3], people[1]]
    try data.run(
      "INSERT INTO app_config (app, support_email, quick_add_user_ids) VALUES ($1, 'a@b', $2)",
      [GraphData.unique("gtio"), chosen.map(\.key)])
    try data.follow(viewer, people[3])
    try data.block(people[1], viewer)
    let names = try server.data("{ viewer { quickAddUsers { username } } }", as: viewer)
      .strings("viewer.quickAddUsers", "username")
    let own = Set(chosen.map(\.username))
    #expect(names.filter(own.contains) == [people[2].username, people[0].username])
  }

  @Test func `GTIO-6.1a: three suggested people for a button's icons`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, friends) = try data.viewer(following: ["Friend"])
    for number in 0..<5 { try data.follow(friends[0], data.person(name: "Person \(number)")) }
    let few = try server.data(
      "{ viewer { suggestedUsers(limit: 3) { displayName avatar { url } } } }", as: viewer)
    let names = few.strings("viewer.suggestedUsers", "displayName")
    #expect(names.count == 3 && names.allSatisfy { $0.hasPrefix("Person ") })
  }

  @Test func `GTIO-6.2a: suggestions by common followees, never oneself, followed, blocked`() throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, friends) = try data.viewer(following: ["F1", "F2", "F3"])
    let people = try (0..<5).map { try data.person(name: "P\($0)") }
    // P0 is followed by one friend, P1 by three, P2 by two; P3 blocks and P4 is blocked.
    for (person, count) in zip(people, [1, 3, 2, 3, 3]) {
      for friend in friends[..<count] { try data.follow(friend, person) }
    }
    for friend in friends { try data.follow(friend, viewer) }
    try data.follow(friends[0], friends[1])
    try data.block(people[3], viewer)
    try data.block(viewer, people[4])
    let query = "query($n: Int) { viewer { suggestedUsers(limit: $n) { displayName id } } }"
    let three = try server.data(query, ["n": 3], as: viewer)
    #expect(three.strings("viewer.suggestedUsers", "displayName") == ["P1", "P2", "P0"])
    // Beyond these come others, but still none of those.
    let many = try server.data(query, ["n": 100], as: viewer)
    let ids = many.list("viewer.suggestedUsers", "id")
    for person in [viewer, people[3], people[4]] + friends { #expect(!ids.contains(person.json)) }
  }

  @Test func `GTIO-6.2b: another seed gives another selection, the same seed the same`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, friends) = try data.viewer(following: ["Friend"])
    for _ in 0..<40 { try data.follow(friends[0], data.person()) }
    func names(_ seed: Int) throws -> Set<String> {
      let list = try server.data(
        "query($seed: Int!) { viewer { suggestedUsers(limit: 6, seed: $seed) { username } } }",
        ["seed": .number("\(seed)")], as: viewer)
      return Set(list.strings("viewer.suggestedUsers", "username"))
    }
    let selections = try (1...4).map(names)
    #expect(selections.allSatisfy { $0.count == 6 })
    #expect(Set(selections).count > 1)
    #expect(try (1...4).map(names) == selections)
  }

  @Test func `GTIO-1.8a: staff choose whom new users are shown, and nobody else does`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let staff = try data.person(roles: ["MEMBER", "STAFF"])
    let (viewer, people) = (try data.person(), try (0..<3).map { _ in try data.person() })
    let app = GraphData.unique("gtio")
    let field = """
      setAppConfig(app: $app, input: {supportEmail: "a@b.example", quickAddUserIds: $people})
      """
    let variables: KeyValuePairs<String, JSONValue> = [
      "app: String!": .string(app), "people: [ID!]": .array([2, 0, 1].map { people[$0].json }),
    ]
    #expect(try server.refusals(field, variables, as: viewer) == [Refusal("FORBIDDEN")])
    try server.mutate(field, variables, as: staff)
    func shown() throws -> [String] {
      try server.data(
        "query($app: String) { viewer { quickAddUsers(app: $app) { username } } }",
        ["app": .string(app)], as: viewer
      ).strings("viewer.quickAddUsers", "username")
    }
    #expect(try shown() == [2, 0, 1].map { people[$0].username })
    try server.mutate(
      "followUsers(userIds: [$id])", ["id: ID!": people[0].json], as: viewer)
    #expect(try shown() == [2, 1].map { people[$0].username })
    #expect(
      try server.refusals(
        "setAppConfig(app: $app, input: {quickAddUserIds: [$id, \"no id\"]})",
        ["app: String!": .string(app), "id: ID!": viewer.json], as: staff)
        == [Refusal("NOT_FOUND", "input", "quickAddUserIds", "1")])
  }

  @Test func `refreshed suggestions begin with others, however few there are`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, friends) = try data.viewer(following: ["One", "Two"])
    let best = try data.person()
    for friend in friends { try data.follow(friend, best) }
    for _ in 0..<5 { try data.follow(friends[0], data.person()) }
    func first(_ seed: Int) throws -> String? {
      try server.data(
        "query($seed: Int!) { viewer { suggestedUsers(limit: 6, seed: $seed) { id } } }",
        ["seed": .number("\(seed)")], as: viewer
      ).strings("viewer.suggestedUsers", "id").first
    }
    #expect(try first(0) == best.wire)
    #expect(Set(try (1...8).map(first)).count > 1)
  }
}
