import Foundation
import JSON
import TestSupport
import Testing

/// The configuration of an application, its intro images, and its usage events.
@Suite(.usesCluster) struct ApplicationTests {
  @Test func `GTIO-1.1a: an application loads its own configuration, signed in or not`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (app, other) = (GraphData.unique("gtio"), GraphData.unique("peck"))
    for (name, votes) in [(app, true), (other, false)] {
      try data.add(
        "app_config",
        [
          "app": name, "support_email": "help@\(name).example", "voting_enabled_by_default": votes,
        ])
    }
    let query = """
      query($app: String!) {
        appConfig(app: $app) { app introImages isVotingEnabledByDefault supportEmail } }
      """
    let expected: JSONValue = [
      "appConfig": [
        "app": .string(app), "introImages": [], "isVotingEnabledByDefault": true,
        "supportEmail": .string("help@\(app).example"),
      ]
    ]
    #expect(try server.data(query, ["app": .string(app)]) == expected)
    #expect(try server.data(query, ["app": .string(app)], as: data.person()) == expected)
    let unknown = GraphData.unique("none")
    #expect(try server.data(query, ["app": .string(unknown)]) == ["appConfig": nil])
  }

  @Test func `GTIO-1.1b: the viewer is null unless a token is sent`() throws {
    let server = try GraphServer.shared
    let person = try server.data().person()
    let query = "{ viewer { user { id } } }"
    #expect(try server.data(query) == ["viewer": nil])
    #expect(try server.data(query, as: person) == ["viewer": ["user": ["id": person.json]]])
  }

  @Test func `GTIO-1.2a: intro images, at most five, in order`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let app = GraphData.unique("gtio")
    let images = [3, 1, 5, 2, 4].map { "https://images.example/\($0).png" }
    try data.add(
      "app_config", ["app": app, "support_email": "a@b.example", "intro_images": images])
    let shown = try server.data(
      "query($app: String!) { appConfig(app: $app) { introImages } }", ["app": .string(app)])
    #expect(shown.at("appConfig.introImages") == .array(images.map { .string($0) }))
    #expect(throws: (any Error).self) {
      try data.run(
        "UPDATE app_config SET intro_images = $1 WHERE app = $2", [images + ["sixth"], app])
    }
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
        "setAppConfig(app: $app, input: {\(fields)})", ["app: String!": .string(app)], as: person)
    }
    let images = (1...5).map { "\"https://i.example/\($0)\"" }.joined(separator: ", ")
    #expect(
      try configure("introImages: [\(images), \"https://i.example/6\"]", as: staff)
        == [Refusal("TOO_MANY", "input", "introImages")])
    #expect(
      try configure("introImages: [\"www.i.example/1\", \"javascript:x\"]", as: staff)
        == [Refusal("INVALID", "input", "introImages", "1")])
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
    // Names are one in any case, and have no other signs.
    #expect(
      try server.data(
        "query($app: String!) { appConfig(app: $app) { app } }", ["app": .string(app.uppercased())]
      ) == ["appConfig": ["app": .string(app)]])
    for name in ["two words", "über", "under_score"] {
      #expect(
        try server.refusals("setAppConfig(app: \"\(name)\", input: {})", as: staff)
          == [Refusal("INVALID", "app")])
    }
    #expect(try configure("supportEmail: null", as: staff) == [])
    #expect(try address() == .null)
    #expect(try configure("supportEmail: \"a@b.example\"", as: staff) == [])
    #expect(try configure("supportEmail: \"c@b.example\"", as: service) == [Refusal("FORBIDDEN")])
    // What is left out stays.
    #expect(try configure("isVotingEnabledByDefault: false", as: staff) == [])
    #expect(
      try server.data(
        """
        query($app: String!) { appConfig(app: $app) {
          introImages isVotingEnabledByDefault supportEmail } }
        """, ["app": .string(app)])
        == [
          "appConfig": [
            "introImages": .array((1...5).map { .string("https://i.example/\($0)") }),
            "isVotingEnabledByDefault": false, "supportEmail": "a@b.example",
          ]
        ])
    #expect(try configure("isVotingEnabledByDefault: true", as: member) == [Refusal("FORBIDDEN")])

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

  @Test func `GTIO-1.3c: screens and actions are noted, and noting never fails`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let person = try data.person()
    let product = try data.product("Coat")
    let event = GraphData.unique("screen")
    func track(_ subject: JSONValue, _ event: String, as person: Person?) throws -> [Refusal] {
      try server.refusals(
        "track(event: $event, subjectId: $subject)",
        ["event: String!": .string(event), "subject: ID": subject], as: person)
    }
    #expect(try track(nil, event, as: nil) == [])
    #expect(try track(product.json, event, as: person) == [])
    #expect(try track("no id", event, as: person) == [])
    #expect(try track(nil, event + String(repeating: "x", count: 5_000), as: person) == [])
    #expect(try track(nil, "", as: nil) == [])
    #expect(
      try data.run(
        "SELECT user_id, subject_id, length(event) FROM tracking WHERE event LIKE $1 ORDER BY id",
        [event + "%"])
        == [
          [nil, nil, String(event.utf8.count)],
          ["\(person.key)", "\(product)", String(event.utf8.count)],
          ["\(person.key)", nil, String(event.utf8.count)], ["\(person.key)", nil, "200"],
        ])
  }
}
