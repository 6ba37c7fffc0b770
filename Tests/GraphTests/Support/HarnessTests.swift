import JSON
import TestSupport
import Testing

@Suite(.usesCluster) struct HarnessTests {
  @Test func `a person put into the database is found over HTTP`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let anna = try data.person("anna", name: "Anna")
    let found = try server.data(
      "query($name: String!) { user(by: {username: $name}) { id displayName } }",
      ["name": .string(anna.username)])
    #expect(found == ["user": ["id": anna.json, "displayName": "Anna"]])
  }

  @Test func `a session's token makes its person the viewer`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let anna = try data.person("anna")
    let query = "{ viewer { user { username } } }"
    #expect(
      try server.data(query, as: anna) == ["viewer": ["user": ["username": .string(anna.username)]]]
    )
    #expect(try server.data(query) == ["viewer": nil])
    #expect(
      try server.execute(query, token: "nobody's").at("errors.0.extensions.code")
        == "UNAUTHENTICATED")
  }

  @Test func `the seeded graph has people`() throws {
    let found = try GraphServer.seeded.data("{ users(first: 0) { totalCount } }")
    #expect(try #require(found.at("users.totalCount")?.int) > 900)
  }
}
