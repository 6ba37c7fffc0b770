import Foundation
import JSON
import TestSupport
import Testing

/// Sessions on one or several devices.
@Suite(.usesCluster) struct SessionTests {
  @Test func `HM-R05: a session goes on wherever its token is sent, until it ends`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let person = try data.person()
    let query = "{ viewer { user { username } } }"
    let expected: JSONValue = ["viewer": ["user": ["username": .string(person.username)]]]
    #expect(try server.data(query, as: person) == expected)
    // Another server, as after a restart.
    let restarted = try GraphServer(database: server.database)
    defer { restarted.stop() }
    #expect(try restarted.data(query, as: person) == expected)
    // 90 days from its last use, which no answer waits for.
    try data.run(
      """
      UPDATE session SET expires_at = now() + interval '1 day', last_used_at = NULL
      WHERE user_id = $1
      """, [person])
    let used = try GraphServer(database: server.database)
    defer { used.stop() }
    #expect(try used.data(query, as: person) == expected)
    let days = "SELECT extract(day FROM expires_at - last_used_at) FROM session WHERE user_id = $1"
    #expect(try eventually { try data.run(days, [person]).first?.first == "90" })
    try data.run("UPDATE session SET expires_at = now() WHERE user_id = $1", [person])
    let ended = try GraphServer(database: server.database)
    defer { ended.stop() }
    let refused = try ended.execute(query, as: person)
    #expect(refused.at("errors.0.extensions.code") == "UNAUTHENTICATED")
    #expect(refused.at("data.viewer.user") == nil)
  }

  @Test func `SP-R02: a user signs in, and stays so on every device`() throws {
    let server = try GraphServer.newcomers
    let sailor = try server.signUp("sailor")
    let payload = try server.mutate(
      "signIn(username: $name, password: \"correct horse\")",
      "isNewUser token viewer { user { id } }",
      ["name: String!": .string(sailor.username)], as: nil)
    #expect(payload["isNewUser"] == false)
    let again = try GraphServer.person(payload, username: sailor.username)
    #expect(again.key == sailor.key)
    #expect(again.token != sailor.token)
    for phone in [sailor, again] {
      #expect(
        try server.data("{ viewer { user { id } } }", as: phone).at("viewer.user.id")
          == sailor.json)
    }
    #expect(
      try server.refusals(
        "signIn(username: $name, password: \"wrong horse\")",
        ["name: String!": .string(sailor.username)], as: nil) == [Refusal("WRONG_CREDENTIALS")])
  }

  @Test func `SP-R03: who logs out is signed in no more, there alone`() throws {
    let server = try GraphServer.newcomers
    let sailor = try server.signUp("sailor")
    let other = try GraphServer.person(
      server.mutate(
        "signIn(username: $name, password: \"correct horse\")",
        "token viewer { user { id } }",
        ["name: String!": .string(sailor.username)], as: nil), username: sailor.username)
    try server.mutate("signOut", as: sailor)
    #expect(
      try server.errorCodes("{ viewer { user { id } } }", as: sailor) == ["UNAUTHENTICATED"])
    #expect(
      try server.data("{ viewer { user { id } } }", as: other).at("viewer.user.id") == sailor.json)
    #expect(try server.mutationErrorCodes("signOut", as: nil) == ["UNAUTHENTICATED"])
  }
}
