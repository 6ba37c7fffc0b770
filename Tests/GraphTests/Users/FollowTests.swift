import JSON
import TestSupport
import Testing

/// Views 1.7, 1.8 and 7.4, and what staff keep: profiles, first friends, settings and products.
@Suite(.usesCluster) struct GTIOProfileTests {
  @Test func `GTIO-1.7b: a new user completes the profile, and others see what is public`() throws {
    let server = try GraphServer.newcomers
    let data = try server.data()
    let (ada, ben) = (try server.signUp("ada"), try server.signUp("ben"))
    let home = try data.location("Home", level: "CITY")
    let payload = try server.mutate(
      """
      updateProfile(input: {displayName: "Ada L.", website: "https://ada.example", bio: "Hats.",
        homeLocationId: $home, address: "Street 1", email: $email})
      """, "viewer { missingProfileFields email emailVerified address }",
      ["home: ID": home.json, "email: String": .string("\(ada.username)@mail.example")], as: ada)
    #expect(
      payload["viewer"] == [
        "missingProfileFields": ["AVATAR"], "email": .string("\(ada.username)@mail.example"),
        "emailVerified": false, "address": "Street 1",
      ])
    #expect(
      try server.data(
        "query($id: ID!) { user(by: {id: $id}) { displayName website bio home { name } } }",
        ["id": ada.json], as: ben)
        == [
          "user": [
            "displayName": "Ada L.", "website": "https://ada.example", "bio": "Hats.",
            "home": ["name": "Home"],
          ]
        ])
    #expect(
      try server.refusals(
        "updateProfile(input: {displayName: $name, homeLocationId: \"no id\", email: \"nobody\"})",
        ["name: String": .string(String(repeating: "x", count: 81))], as: ada)
        == [
          Refusal("INVALID", "input", "email"), Refusal("TOO_LONG", "input", "displayName"),
          Refusal("NOT_FOUND", "input", "homeLocationId"),
        ])
    #expect(
      try server.mutationErrorCodes("updateProfile(input: {bio: \"x\"})", as: nil)
        == ["UNAUTHENTICATED"])
  }

  @Test func `GTIO-7.4a: the profile is edited later; what is left out stays, null clears`() throws
  {
    let server = try GraphServer.newcomers
    let ada = try server.signUp("ada", ", displayName: \"Ada\", address: \"Street 1\"")
    try server.mutate(
      "updateProfile(input: {bio: \"Hats.\", website: \"https://ada.example\"})", as: ada)
    try server.mutate("updateProfile(input: {website: null, displayName: \"Ada L.\"})", as: ada)
    #expect(
      try server.data("{ viewer { address user { displayName bio website } } }", as: ada)
        == [
          "viewer": [
            "address": "Street 1",
            "user": ["displayName": "Ada L.", "bio": "Hats.", "website": nil],
          ]
        ])
    // Found by the new name, and by the username that is changed.
    let name = GraphData.unique("lovelace")
    try server.mutate(
      "updateProfile(input: {username: $name})", ["name: String": .string(name)], as: ada)
    #expect(
      try server.data(
        "query($name: String!) { users(search: $name) { nodes { id } } }",
        ["name": .string(name)]) == ["users": ["nodes": [["id": ada.json]]]])
    let ben = try server.signUp("ben")
    #expect(
      try server.refusals(
        "updateProfile(input: {username: $name, displayName: \" \"})",
        ["name: String": .string(name.uppercased())], as: ben)
        == [Refusal("TAKEN", "input", "username"), Refusal("REQUIRED", "input", "displayName")])
  }

  @Test func `GTIO-1.8a: staff choose whom new users are shown, and nobody else does`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let staff = try data.person(roles: ["MEMBER", "STAFF"])
    let (viewer, people) = (try data.person(), try (0..<3).map { _ in try data.person() })
    let app = GraphData.unique("gtio")
    let field = """
      setAppConfig(input: {app: $app, supportEmail: "a@b.example", quickAddUserIds: $people})
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
        "setAppConfig(input: {app: $app, quickAddUserIds: [$id, \"no id\"]})",
        ["app: String!": .string(app), "id: ID!": viewer.json], as: staff)
        == [Refusal("NOT_FOUND", "input", "quickAddUserIds", "1")])
  }

  @Test func `GTIO-1.8b: all the selected people are followed at once, again changes nothing`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let viewer = try data.person()
    let people = try (0..<100).map { _ in try data.person() }
    let ids = JSONValue.array(people.map(\.json))
    for _ in 0..<2 {
      let payload = try server.mutate(
        "followUsers(userIds: $ids)", "users { viewerIsFollowing followers { totalCount } }",
        ["ids: [ID!]!": ids], as: viewer)
      #expect(
        payload["users"]
          == .array(
            Array(
              repeating: ["viewerIsFollowing": true, "followers": ["totalCount": 1]], count: 100)))
    }
    #expect(
      try server.data("{ viewer { user { following { totalCount } } } }", as: viewer)
        == ["viewer": ["user": ["following": ["totalCount": 100]]]])
    // Each is told once.
    #expect(
      try server.data(
        "{ viewer { notifications { nodes { reason actor { id } } } } }", as: people[50])
        == [
          "viewer": [
            "notifications": ["nodes": [["reason": "FOLLOWED", "actor": ["id": viewer.json]]]]
          ]
        ])
    #expect(
      try server.refusals("followUsers(userIds: [])", as: viewer)
        == [Refusal("REQUIRED", "userIds")])
    #expect(
      try server.refusals("followUsers(userIds: [$id])", ["id: ID!": viewer.json], as: viewer)
        == [Refusal("INVALID", "userIds", "0")])
  }

  @Test func `GTIO-6.1c, GTIO-6.3a: following is switched off and on from one's own list`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, people) = (
      try data.person(), try ["Ann", "Ben", "Cat"].map { try data.person(name: $0) }
    )
    try server.mutate(
      "followUsers(userIds: $ids)", ["ids: [ID!]!": .array(people.map(\.json))], as: viewer)
    func list() throws -> JSONValue? {
      try server.data(
        """
        { viewer { user { following { summary
          nodes { displayName viewerIsFollowing } } } feed { totalCount } } }
        """, as: viewer
      ).at("viewer.user.following")
    }
    let off = try server.mutate(
      "unfollowUsers(userIds: [$id])", "users { displayName viewerIsFollowing }",
      ["id: ID!": people[1].json], as: viewer)
    #expect(off["users"] == [["displayName": "Ben", "viewerIsFollowing": false]])
    #expect(
      try list() == [
        "summary": "You are following 2 people",
        "nodes": [
          ["displayName": "Ann", "viewerIsFollowing": true],
          ["displayName": "Cat", "viewerIsFollowing": true],
        ],
      ])
    let on = try server.mutate(
      "followUsers(userIds: [$id])", "users { displayName viewerIsFollowing }",
      ["id: ID!": people[1].json], as: viewer)
    #expect(on["users"] == [["displayName": "Ben", "viewerIsFollowing": true]])
    #expect(try list()?["summary"] == "You are following 3 people")
    #expect(
      try server.mutationErrorCodes(
        "unfollowUsers(userIds: [$id])", ["id: ID!": people[1].json], as: nil)
        == ["UNAUTHENTICATED"])
  }

  @Test func `GTIO-3.5b: somebody is followed from any list, and is told with a way to answer`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, hearter, viewer) = (try data.person(), try data.person(), try data.person())
    let outfit = try data.post(.outfit, by: author)
    try server.mutate(
      "react(subjectId: $id, kind: HEART)", ["id: ID!": outfit.json], as: hearter)
    let query = """
      query($id: ID!) { post(id: $id) { reactions { nodes { id viewerIsFollowing } } } }
      """
    func state() throws -> JSONValue? {
      try server.data(query, ["id": outfit.json], as: viewer).at("post.reactions.nodes")
    }
    #expect(try state() == [["id": hearter.json, "viewerIsFollowing": false]])
    try server.mutate("followUsers(userIds: [$id])", ["id: ID!": hearter.json], as: viewer)
    #expect(try state() == [["id": hearter.json, "viewerIsFollowing": true]])
    #expect(
      try server.data(query, ["id": outfit.json], as: author).at("post.reactions.nodes")
        == [["id": hearter.json, "viewerIsFollowing": false]])
    #expect(
      try server.data(
        "{ viewer { notifications { nodes { reason action { kind } } } } }", as: hearter)
        == [
          "viewer": [
            "notifications": [
              "nodes": [["reason": "FOLLOWED", "action": ["kind": "FOLLOW_BACK"]]]
            ]
          ]
        ])
    // Taken back before it was read, it was never told.
    try server.mutate("unfollowUsers(userIds: [$id])", ["id: ID!": hearter.json], as: viewer)
    #expect(try state() == [["id": hearter.json, "viewerIsFollowing": false]])
    #expect(
      try server.data("{ viewer { notifications { totalCount } } }", as: hearter)
        == ["viewer": ["notifications": ["totalCount": 0]]])
    #expect(
      try server.refusals("followUsers(userIds: [$id])", ["id: ID!": viewer.json], as: viewer)
        == [Refusal("INVALID", "userIds", "0")])
  }

  @Test func `GTIO-I.b: staff keep intro images and defaults, they and services products`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let staff = try data.person(roles: ["MEMBER", "STAFF"])
    let service = try data.person(roles: ["MEMBER", "SERVICE"])
    let member = try data.person()
    let app = GraphData.unique("gtio")
    func configure(_ fields: String, as person: Person) throws -> [Refusal] {
      try server.refusals(
        "setAppConfig(input: {app: $app, \(fields)})", ["app: String!": .string(app)], as: person)
    }
    let images = (1...5).map { "\"https://i.example/\($0)\"" }.joined(separator: ", ")
    // An application need not have an address.
    #expect(try configure("introImages: [\(images)]", as: staff) == [])
    func address() throws -> JSONValue? {
      try server.data(
        "query($app: String!) { appConfig(app: $app) { supportEmail } }", ["app": .string(app)]
      ).at("appConfig.supportEmail")
    }
    #expect(try address() == .null)
    #expect(try configure("supportEmail: \"a@b.example\"", as: staff) == [])
    #expect(try configure("introImages: [\(images)]", as: staff) == [])
    #expect(try address() == "a@b.example")
    #expect(try configure("supportEmail: null", as: staff) == [])
    #expect(try address() == .null)
    #expect(try configure("supportEmail: \"a@b.example\"", as: staff) == [])
    #expect(try configure("supportEmail: \"c@b.example\"", as: service) == [Refusal("FORBIDDEN")])
    // What is left out stays.
    #expect(try configure("votingEnabledByDefault: false", as: staff) == [])
    #expect(
      try configure("introImages: [\(images), \"https://i.example/6\"]", as: staff)
        == [Refusal("INVALID", "input", "introImages")])
    #expect(
      try server.data(
        """
        query($app: String!) { appConfig(app: $app) {
          introImages votingEnabledByDefault supportEmail } }
        """, ["app": .string(app)])
        == [
          "appConfig": [
            "introImages": .array((1...5).map { .string("https://i.example/\($0)") }),
            "votingEnabledByDefault": false, "supportEmail": "a@b.example",
          ]
        ])
    #expect(try configure("votingEnabledByDefault: true", as: member) == [Refusal("FORBIDDEN")])

    func upsert(_ name: String, _ more: String = "") -> String {
      """
      upsertProduct(input: {retailer: "shop", externalId: $id, name: "\(name)", brand: "Acme",
        buyUrl: "https://shop.example/c" \(more)})
      """
    }
    let variables: KeyValuePairs<String, JSONValue> = ["id: String!": .string(app)]
    let made = try server.make(
      upsert("Coat", ", price: {amount: \"12.50\", currency: \"EUR\"}"), "product", variables,
      as: staff)
    let renewed = try server.make(upsert("Warm coat"), "product", variables, as: service)
    #expect(made == renewed)
    #expect(
      try server.data(
        "query($id: ID!) { product(id: $id) { name brand retailer price { amount } buyUrl } }",
        ["id": made.json])
        == [
          "product": [
            "name": "Warm coat", "brand": "Acme", "retailer": "shop", "price": nil,
            "buyUrl": "https://shop.example/c",
          ]
        ])
    #expect(try server.refusals(upsert("x"), variables, as: member) == [Refusal("FORBIDDEN")])
    #expect(
      try server.refusals(
        upsert(" ", ", price: {amount: \"-1\", currency: \"euro\"}")
          .replacing("https:", with: "ftp:"),
        variables, as: staff)
        == [
          Refusal("REQUIRED", "input", "name"), Refusal("INVALID", "input", "buyUrl"),
          Refusal("INVALID", "input", "price", "amount"),
          Refusal("INVALID", "input", "price", "currency"),
        ])
  }
}
