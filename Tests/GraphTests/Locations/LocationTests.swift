import JSON
import TestSupport
import Testing

@Suite(.usesCluster) struct LocationTests {
  @Test(arguments: [
    (0.0, 0.0, 500_000.5), (0, 0, -1), (90.1, 0, 10), (-91, 0, 10), (1e300, 0, 1), (0, 0, 1e308),
  ])
  func `a circle that is not on the earth is refused`(
    latitude: Double, longitude: Double, radius: Double
  ) throws {
    let near: JSONValue = [
      "center": ["latitude": .number("\(latitude)"), "longitude": .number("\(longitude)")],
      "radiusMeters": .number("\(radius)"),
    ]
    let server = try GraphServer.shared
    // Where nothing is, nothing is compared with the circle.
    let data = try server.data()
    let place = try data.location(GraphData.unique("here"), latitude: 1, longitude: 1)
    _ = try data.post(.text, by: data.person("anna"), location: place)
    for field in ["locations(filter: {near: $near})", "posts(filter: {near: $near})"] {
      let query = "query($near: RadiusInput) { \(field) { totalCount nodes { id } } }"
      #expect(try server.errorCodes(query, ["near": near]) == ["BAD_USER_INPUT"])
    }
  }

  @Test func `a distance needs a place to measure from and one to measure to`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let name = GraphData.unique("pier")
    _ = try data.location(name, latitude: 10, longitude: 20)
    let query = """
      query($name: String, $near: RadiusInput) {
        locations(filter: {search: $name, near: $near}) { edges { distanceMeters } }
      }
      """
    let without = try server.data(query, ["name": .string(name)])
    #expect(without == ["locations": ["edges": [["distanceMeters": .null]]]])
    let unplaced =
      "query($near: RadiusInput) { locations(filter: {near: $near}, orderBy: NEAREST) { totalCount } }"
    for text in [unplaced, "{ locations(orderBy: NEAREST) { nodes { id } } }"] {
      #expect(try server.errorCodes(text) == ["BAD_USER_INPUT"])
    }
    let near: JSONValue = ["center": ["latitude": 10, "longitude": 21], "radiusMeters": 500_000]
    let with = try server.data(query, ["name": .string(name), "near": near])
    let distance = try #require(with.at("locations.edges.0.distanceMeters")?.double)
    #expect(abs(distance - 109_506) < 100)
  }

  @Test func `a circle reaches over the date line and around the pole`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let name = GraphData.unique("far")
    for (word, latitude, longitude) in [
      ("east", -17.0, 179.9), ("west", -17.0, -179.9), ("away", -17.0, 170.0),
      ("pole", 89.9, 10.0), ("beyond", 89.9, -170.0),
    ] {
      _ = try data.location("\(name) \(word)", latitude: latitude, longitude: longitude)
    }
    func near(_ latitude: Double, _ longitude: Double) throws -> [String] {
      try server.data(
        """
        query($name: String, $near: RadiusInput) {
          locations(filter: {search: $name, near: $near}, orderBy: NEAREST) { nodes { name } }
        }
        """,
        [
          "name": .string(name),
          "near": [
            "center": ["latitude": .number("\(latitude)"), "longitude": .number("\(longitude)")],
            "radiusMeters": 50_000,
          ],
        ]
      ).strings("locations.nodes", "name").map { String($0.dropFirst(name.count + 1)) }
    }
    #expect(try near(-17, 180).count == 2)
    #expect(try near(-17, 179.95) == ["east", "west"])
    #expect(try near(-17, -179.95) == ["west", "east"])
    #expect(try near(90, 0).count == 2)
    #expect(try near(89.8, -170) == ["beyond", "pole"])
    #expect(try near(0, 1e308) == [])
  }
}
