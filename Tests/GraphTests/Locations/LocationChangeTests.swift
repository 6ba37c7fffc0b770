import JSON
import TestSupport
import Testing

/// Places that are mended and deleted, and the city that a new one lies in.
@Suite(.usesCluster) struct LocationChangeTests {
  private var server: GraphServer { get throws { try .shared } }

  private static let fields =
    "name level placeType coordinates { latitude longitude } gmapsId parent { id }"

  private func create(_ name: String, _ more: String, as person: Person) throws -> JSONValue {
    try server.mutate(
      "createLocation(input: {name: $name\(more)})", "location { id \(Self.fields) }",
      ["name: String!": .string(name)], as: person)["location"] ?? .null
  }

  private func refusals(_ id: JSONValue?, _ input: String, as person: Person?) throws -> [Refusal] {
    try server.refusals(
      "updateLocation(locationId: $id, input: {\(input)})", ["id: ID!": id ?? .null], as: person)
  }

  @Test func `a place is changed field by field by who added it`() throws {
    let server = try server
    let data = try server.data()
    let (ann, ben) = (try data.person("ann"), try data.person("ben"))
    let country = try data.location("Land", level: "COUNTRY")
    let city = try data.location("Town", level: "CITY", parent: country)
    let place = try create(
      GraphData.unique("Kiosk "), ", coordinates: {latitude: -71, longitude: 3}", as: ann)
    let id = try #require(place["id"])
    func change(_ input: String) throws -> JSONValue {
      try server.mutate(
        "updateLocation(locationId: $id, input: {\(input)})", "location { \(Self.fields) }",
        ["id: ID!": id], as: ann)["location"] ?? .null
    }
    let maps = GraphData.unique("maps")
    #expect(try change("name: \" New name \"")["name"] == "New name")
    #expect(try change("placeType: SHOP")["placeType"] == "SHOP")
    #expect(try change("gmapsId: \"\(maps)\"")["gmapsId"] == .string(maps))
    #expect(try change("coordinates: {latitude: 1, longitude: 2}").at("coordinates.latitude") == 1)
    #expect(try change("parentId: \"\(city.wire)\"").at("parent.id") == city.json)
    // What was left out stays, null clears what is optional.
    #expect(
      try change("placeType: null, gmapsId: null, parentId: null") == [
        "name": "New name", "level": "PLACE", "placeType": nil,
        "coordinates": ["latitude": 1, "longitude": 2], "gmapsId": nil, "parent": nil,
      ])
    #expect(try refusals(id, "name: null", as: ann) == [Refusal("REQUIRED", "input", "name")])
    #expect(
      try refusals(id, "coordinates: null", as: ann) == [
        Refusal("REQUIRED", "input", "coordinates")
      ])
    // All faults together, in the order of the input.
    #expect(
      try refusals(
        id, "name: \"\", coordinates: {latitude: 91, longitude: 0}, parentId: \"\(ben.wire)\"",
        as: ann)
        == [
          Refusal("REQUIRED", "input", "name"), Refusal("INVALID", "input", "coordinates"),
          Refusal("NOT_FOUND", "input", "parentId"),
        ])
    #expect(
      try refusals(id, "parentId: \(id)", as: ann) == [Refusal("INVALID", "input", "parentId")])
    let other = try create(
      "Other", ", coordinates: {latitude: -71, longitude: 9}, gmapsId: \"\(maps)\"", as: ann)
    #expect(other["gmapsId"] == .string(maps))
    #expect(
      try refusals(id, "gmapsId: \"\(maps)\"", as: ann) == [Refusal("TAKEN", "input", "gmapsId")])
    #expect(try refusals(id, "name: \"x\"", as: ben) == [Refusal("FORBIDDEN", "locationId")])
    #expect(try refusals(ben.json, "name: \"x\"", as: ann) == [Refusal("NOT_FOUND", "locationId")])
  }

  @Test func `a place that others use, or that is old, is staff's`() throws {
    let server = try server
    let data = try server.data()
    let (ann, ben) = (try data.person("ann"), try data.person("ben"))
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let delete = "deleteLocation(locationId: $id)"
    func place() throws -> JSONValue {
      try #require(
        create(GraphData.unique("Bar "), ", coordinates: {latitude: -72, longitude: 3}", as: ann)[
          "id"])
    }
    let used = try place()
    let post = try data.post(.text, by: ben, location: NodeKey(wire: used.string ?? ""))
    #expect(try refusals(used, "name: \"x\"", as: ann) == [Refusal("FORBIDDEN", "locationId")])
    #expect(
      try server.refusals(delete, ["id: ID!": used], as: ann) == [
        Refusal("FORBIDDEN", "locationId")
      ])
    #expect(try refusals(used, "name: \"Mended\"", as: staff) == [])
    #expect(
      try server.refusals(delete, ["id: ID!": used], as: staff) == [Refusal("IN_USE", "locationId")]
    )
    try server.mutate("deletePost(postId: $id)", ["id: ID!": post.json], as: ben)
    #expect(
      try server.mutate(delete, "deletedId", ["id: ID!": used], as: staff)["deletedId"] == used)
    #expect(
      try server.data("query($id: ID!) { node(id: $id) { id } }", ["id": used]) == ["node": nil])
    #expect(
      try server.refusals(delete, ["id: ID!": used], as: staff) == [
        Refusal("NOT_FOUND", "locationId")
      ])

    let own = try place()
    let said = try data.comment(NodeKey(wire: own.string ?? ""), by: ann, "mine")
    #expect(try refusals(own, "name: \"Mine\"", as: ann) == [])
    #expect(
      try server.refusals(delete, ["id: ID!": own], as: ann) == [Refusal("IN_USE", "locationId")])
    try server.mutate("deleteComment(commentId: $id)", ["id: ID!": said.json], as: ann)
    try data.run(
      "UPDATE location SET created_at = now() - interval '25 hours' WHERE id = $1",
      [NodeKey(wire: own.string ?? "")])
    #expect(
      try server.refusals(delete, ["id: ID!": own], as: ann) == [Refusal("FORBIDDEN", "locationId")]
    )
    #expect(try server.mutate(delete, "deletedId", ["id: ID!": own], as: staff)["deletedId"] == own)
  }

  @Test func `what lies in a city moves with it`() throws {
    let server = try server
    let data = try server.data()
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let (first, second) = (
      try data.location("First", level: "COUNTRY"), try data.location("Second", level: "COUNTRY")
    )
    let city = try data.location("Moved", level: "CITY", parent: first)
    let place = try data.location("Square", parent: city, latitude: 1, longitude: 1)
    try server.mutate(
      "updateLocation(locationId: $id, input: {parentId: $to})",
      ["id: ID!": city.json, "to: ID": second.json], as: staff)
    #expect(
      try server.data(
        "query($id: ID!) { node(id: $id) { ... on Location { ancestors { id } } } }",
        ["id": place.json]
      ).at("node.ancestors") == [["id": second.json], ["id": city.json]])
  }

  @Test func `a new place lies in the nearest city within 50 km`() throws {
    let server = try server
    let data = try server.data()
    let ann = try data.person("ann")
    let portugal = try data.location("Portugal", level: "COUNTRY")
    let lisbon = try data.location(
      "Lisbon", level: "CITY", parent: portugal, latitude: -68.72, longitude: -9.14)
    let near = try data.location(
      "Sintra", level: "CITY", parent: portugal, latitude: -68.80, longitude: -9.38)
    // Fiji lies on both sides of the date line.
    let fiji = try data.location("Taveuni", level: "CITY", latitude: -66.8, longitude: 179.99)
    func parent(_ latitude: Double, _ longitude: Double, _ more: String = "") throws -> JSONValue? {
      try create(
        GraphData.unique("Café "),
        ", coordinates: {latitude: \(latitude), longitude: \(longitude)}\(more)", as: ann
      ).at("parent.id") ?? .null
    }
    #expect(try parent(-68.71, -9.15) == lisbon.json)
    #expect(try parent(-68.79, -9.37) == near.json)
    #expect(try parent(-66.8, -179.98) == fiji.json)
    #expect(try parent(-60, -30) == .null)
    #expect(try parent(-68.71, -9.15, ", parentId: \"\(near.wire)\"") == near.json)
    let found = try server.data(
      "query($id: ID!) { locations(filter: {withinId: $id, levels: [PLACE]}) { totalCount } }",
      ["id": portugal.json])
    #expect(found.at("locations.totalCount") == 3)
  }

  @Test func `a place deleted while somebody posts there is gone or in use`() throws {
    let server = try server
    let data = try server.data()
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let person = try data.person()
    for _ in 0..<8 {
      let place = try data.location(GraphData.unique("Pub "), latitude: 1, longitude: 1)
      let answers = try crowd(of: 8) { number in
        number == 0
          ? try server.refusals(
            "deleteLocation(locationId: $id)", ["id: ID!": place.json], as: staff)
          : try server.refusals(
            "createTextPost(input: {body: \"b\", location: {id: $id}})", ["id: ID!": place.json],
            as: person)
      }
      let isGone = answers[0] == []
      #expect(isGone || answers[0] == [Refusal("IN_USE", "locationId")])
      let posts = try data.run("SELECT id FROM post WHERE location_id = $1", [place]).count
      #expect(isGone == (posts == 0))
      #expect(answers.dropFirst().count { $0 == [] } == posts || isGone)
    }
  }

  @Test func `the same name within 50 m is the same place, and beyond it another`() throws {
    let server = try server
    let ann = try server.data().person("ann")
    let name = GraphData.unique("Kiosk ")
    func id(_ name: String, _ latitude: Double, _ more: String = "") throws -> JSONValue? {
      try create(name, ", coordinates: {latitude: \(latitude), longitude: 3}\(more)", as: ann)["id"]
    }
    let first = try id(name, -72)
    #expect(try id(" " + name.uppercased(), -72.0004) == first)
    #expect(try id(name, -72.0006) != first)
    #expect(try id(name + "s", -72) != first)
    // Where Google Maps knows two, there are two.
    let maps = GraphData.unique("maps")
    let known = try id(name + "t", -72, ", gmapsId: \"\(maps)\"")
    #expect(try id(name + "t", -72) == known)
    #expect(try id(name + "t", -72, ", gmapsId: \"\(maps)2\"") != known)
  }

  @Test func `staff make two places one, with all that is there`() throws {
    let server = try server
    let data = try server.data()
    let (ann, ben) = (try data.person("ann"), try data.person("ben"))
    let staff = try data.person(roles: ["MEMBER", "STAFF"])
    let kept = try data.location(GraphData.unique("Kept "), latitude: -73, longitude: 3)
    let gone = try data.location(GraphData.unique("Gone "), latitude: -73, longitude: 3)
    let maps = GraphData.unique("maps")
    try data.run("UPDATE location SET gmaps_id = $1 WHERE id = \(gone)", [maps])
    let post = try data.post(.text, by: ann, location: gone)
    try data.react(ben, "HEART", to: post)
    for person in [ann, ben] { try data.react(person, "TOP", to: gone) }
    try data.react(ann, "TOP", to: kept)
    let review = try data.comment(gone, by: ben, "Nice.")
    try data.run("UPDATE app_user SET home_id = \(gone) WHERE id = \(ann)")
    let merge = "mergeLocations(locationId: $kept, duplicateId: $gone)"
    let variables: KeyValuePairs<String, JSONValue> = [
      "kept: ID!": kept.json, "gone: ID!": gone.json,
    ]
    #expect(try server.refusals(merge, variables, as: ann) == [Refusal("FORBIDDEN")])
    #expect(
      try server.refusals(
        merge, ["kept: ID!": kept.json, "gone: ID!": kept.json], as: staff)
        == [Refusal("INVALID", "duplicateId")])
    let merged = try server.mutate(
      merge,
      """
      location { id gmapsId postCount popularity reactionCount commentCount
        posts { nodes { id } } comments { nodes { id } } visitors { nodes { id } } }
      """, variables, as: staff)
    #expect(
      merged["location"] == [
        "id": kept.json, "gmapsId": .string(maps), "postCount": 1, "popularity": 3,
        "reactionCount": 2, "commentCount": 1, "posts": ["nodes": [["id": post.json]]],
        "comments": ["nodes": [["id": review.json]]], "visitors": ["nodes": [["id": ann.json]]],
      ])
    #expect(try !server.finds(gone, as: nil))
    #expect(try data.run("SELECT home_id FROM app_user WHERE id = \(ann)") == [["\(kept)"]])
    #expect(
      try server.refusals(merge, variables, as: staff) == [Refusal("NOT_FOUND", "duplicateId")])
  }
}
