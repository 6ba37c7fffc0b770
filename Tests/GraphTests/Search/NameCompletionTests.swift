import JSON
import TestSupport
import Testing

/// Completion of the names of people and circles.
@Suite(.usesCluster) struct NameCompletionTests {
  @Test func `PK-POST.h: names of people and circles complete while typing`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let stem = GraphData.unique("zy")
    let (viewer, blocked) = (try data.person(), try data.person(name: "\(stem)blocked"))
    try data.block(blocked, viewer)
    for name in ["\(stem)anna Smith", "Ben \(stem)anders", "\(stem)cleo"] {
      _ = try data.person(name: name)
      _ = try data.circle("\(name)'s circle", owner: viewer)
      _ = try data.circle("\(name)'s other circle", owner: blocked)
    }
    func complete(_ text: String) throws -> JSONValue {
      try server.data(
        """
        query($text: String!) { users(search: $text) { nodes { displayName } }
          viewer { circles(search: $text) { nodes { name } } } }
        """, ["text": .string(text)], as: viewer)
    }
    // A name that begins so comes before one with a word that does.
    let some = try complete("\(stem)an")
    #expect(
      some.strings("users.nodes", "displayName") == ["\(stem)anna Smith", "Ben \(stem)anders"])
    #expect(
      some.strings("viewer.circles.nodes", "name")
        == ["Ben \(stem)anders's circle", "\(stem)anna Smith's circle"])
    #expect(try complete(stem).at("users.nodes")?.array?.count == 3)
    #expect(try complete("\(stem)anna smi").at("users.nodes")?.array?.count == 1)
    #expect(try complete("\(stem)x").at("users.nodes") == [])
  }
}
