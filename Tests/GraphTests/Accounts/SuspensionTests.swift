import Foundation
import JSON
import TestSupport
import Testing

/// Staff keep somebody from signing in, for a time or for good.
@Suite(.usesCluster) struct SuspensionTests {
  private var graph: GraphServer { get throws { try GraphServer.newcomers } }

  @Test func `whoever is suspended is signed out at once, and cannot sign in`() throws {
    let graph = try graph
    let data = try graph.data()
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let name = GraphData.unique("zed")
    let ben = try graph.signUp("ben")
    let credential = TestAccounts.credential(name)
    try graph.mutate(
      "linkProvider(provider: GOOGLE, credential: $it)", ["it: String!": credential], as: ben)
    func signIn(_ password: String) throws -> [Refusal] {
      try graph.refusals(
        "signIn(username: $name, password: $password)",
        ["name: String!": .string(ben.username), "password: String!": .string(password)], as: nil)
    }
    func suspended() throws -> [String] {
      try graph.data(
        "{ viewer { moderation { suspendedUsers(first: 100) { nodes { id } } } } }", as: staff
      ).strings("viewer.moderation.suspendedUsers.nodes", "id")
    }
    let suspend = "suspendUser(userId: $id, until: $until, note: $note)"
    let me = "{ viewer { user { id } } }"
    // Every loop knows the session when it ends.
    for _ in 0..<8 { _ = try graph.data(me, as: ben) }
    let done = try graph.mutate(
      suspend, "user { id username }",
      ["id: ID!": ben.json, "until: DateTime": "2100-01-01T00:00:00Z", "note: String": "spam"],
      as: staff)
    #expect(done.at("user.id") == ben.json)
    for _ in 0..<8 { #expect(try graph.errorCodes(me, as: ben) == ["UNAUTHENTICATED"]) }
    #expect(try suspended().contains(ben.wire))
    // Only whoever knows the password learns of it.
    #expect(try signIn("wrong horse").map(\.code) == ["WRONG_CREDENTIALS"])
    #expect(try signIn("correct horse") == [Refusal("SUSPENDED")])
    #expect(
      try graph.refusals(
        "signInWithProvider(provider: GOOGLE, credential: $it)",
        ["it: String!": TestAccounts.credential(name)], as: nil)
        == [Refusal("SUSPENDED")])
    #expect(
      try data.run(
        "SELECT detail FROM audit_log WHERE act = 'SUSPEND_USER' AND about_id = $1", [ben])
        == [["spam"]])
    // What is over is over; for good is until somebody ends it.
    try data.run(
      "UPDATE app_user SET suspended_until = now() - interval '1 second' WHERE id = $1", [ben])
    #expect(try !suspended().contains(ben.wire))
    #expect(try signIn("correct horse") == [])
    try graph.mutate("suspendUser(userId: $id)", ["id: ID!": ben.json], as: staff)
    #expect(try signIn("correct horse") == [Refusal("SUSPENDED")])
    for _ in 0..<2 {
      try graph.mutate("unsuspendUser(userId: $id)", ["id: ID!": ben.json], as: staff)
    }
    #expect(try signIn("correct horse") == [])
    #expect(try !suspended().contains(ben.wire))
  }

  @Test func `staff are not suspended, nor anybody until a time that is over`() throws {
    let graph = try graph
    let data = try graph.data()
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let chief = try data.person("chief", roles: ["MEMBER", "STAFF"])
    let ben = try data.person("ben")
    func refusals(_ arguments: String, _ person: Person, as actor: Person) throws -> [Refusal] {
      try graph.refusals(
        "suspendUser(userId: $id\(arguments))", ["id: ID!": person.json], as: actor)
    }
    for person in [staff, chief] {
      #expect(try refusals("", person, as: staff) == [Refusal("FORBIDDEN", "userId")])
    }
    #expect(try refusals("", staff, as: ben) == [Refusal("FORBIDDEN")])
    #expect(
      try refusals(
        ", until: \"2020-01-01T00:00:00Z\", note: \"\(String(repeating: "a", count: 2_001))\"", ben,
        as: staff) == [Refusal("PAST", "until"), Refusal("TOO_LONG", "note")])
    let product = try data.product("Coat")
    for field in ["suspendUser", "unsuspendUser"] {
      #expect(
        try graph.refusals("\(field)(userId: $id)", ["id: ID!": product.json], as: staff)
          == [Refusal("NOT_FOUND", "userId")])
    }
    #expect(
      try graph.refusals("unsuspendUser(userId: $id)", ["id: ID!": ben.json], as: ben)
        == [Refusal("FORBIDDEN")])
  }

  @Test func `nobody signs in while they are being suspended`() throws {
    let graph = try graph
    let data = try graph.data()
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let ben = try graph.signUp("ben")
    _ = try crowd(of: 6) { number in
      if number == 0 {
        try graph.mutate("suspendUser(userId: $id)", ["id: ID!": ben.json], as: staff)
      } else {
        _ = try graph.refusals(
          "signIn(username: \"\(ben.username)\", password: \"correct horse\")", as: nil)
      }
    }
    #expect(try data.run("SELECT FROM session WHERE user_id = $1", [ben]).isEmpty)
  }
}
