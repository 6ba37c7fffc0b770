import JSON
import TestSupport
import Testing

@Suite(.usesCluster) struct UserTests {
  @Test func `nobody follows, or is followed by, somebody who is only named`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, other, third) = (
      try data.person("viewer"), try data.person("other", name: "Otto"), try data.person("third")
    )
    // The third is hidden from the viewer too, so what is hidden outnumbers what is shown.
    try data.block(viewer, third)
    try data.follow(third, other)
    try data.follow(other, third)
    try data.block(viewer, other)
    let lists = try server.data(
      """
      { viewer { blockedUsers { nodes { displayName
        followers { totalCount summary nodes { id } } following { totalCount summary nodes { id } }
      } } } }
      """, as: viewer)
    let otto = try #require(
      lists.at("viewer.blockedUsers.nodes")?.array?.first { $0["displayName"] == "Otto" })
    #expect(
      otto["followers"]
        == ["totalCount": 0, "summary": "0 people following Otto", "nodes": []])
    #expect(
      otto["following"]
        == ["totalCount": 0, "summary": "Otto is following 0 people", "nodes": []])
  }
}
