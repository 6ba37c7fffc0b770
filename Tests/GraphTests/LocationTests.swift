import JSON
import Testing

@Suite struct LocationTests {
  @Test func `a distance needs a place to measure from and one to measure to`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let name = GraphData.unique("pier")
    _ = try data.location(name, latitude: 10, longitude: 20)
    let query = """
      query($name: String, $near: RadiusInput) {
        locations(filter: {search: $name, near: $near}) { edges { distance } }
      }
      """
    let without = try server.data(query, ["name": .string(name)])
    #expect(without == ["locations": ["edges": [["distance": .null]]]])
    let near: JSONValue = ["center": ["latitude": 10, "longitude": 21], "radius": 500_000]
    let with = try server.data(query, ["name": .string(name), "near": near])
    let distance = try #require(with.at("locations.edges.0.distance")?.double)
    #expect(abs(distance - 109_506) < 100)
  }
}
