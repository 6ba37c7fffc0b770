import JSON
import TestSupport
import Testing

/// The search for people by name or username.
@Suite(.usesCluster) struct PeopleSearchTests {
  @Test func `GTIO-6.4a: the community is searched by name or username`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let stem = GraphData.unique("q")
    let (viewer, others) = try data.viewer(following: ["Maria \(stem)"])
    let byUsername = try data.person(stem, name: "Bob")
    let blocked = try data.person(name: "Carl \(stem)")
    try data.block(blocked, viewer)
    let query = """
      query($words: String!) { users(search: $words) { totalCount
        nodes { id viewerIsFollowing } } }
      """
    #expect(
      try server.data(query, ["words": .string(stem.uppercased())], as: viewer) == [
        "users": [
          "totalCount": 2,
          "nodes": [
            ["id": byUsername.json, "viewerIsFollowing": false],
            ["id": others[0].json, "viewerIsFollowing": true],
          ],
        ]
      ])
    let visitor = try server.data(query, ["words": .string(stem)])
    #expect(visitor.list("users.nodes", "viewerIsFollowing") == [false, false, false])
    let narrowed = try server.data(query, ["words": .string("\(stem) mar")], as: viewer)
    #expect(narrowed.list("users.nodes", "id") == [others[0].json])
  }
}
