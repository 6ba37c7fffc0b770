import JSON
import TestSupport
import Testing

/// Places: creation, popularity, distance, and the regions they are in.
@Suite(.usesCluster) struct PlaceTests {
  @Test func `SP-R04: the map shows the 20 most popular places`() throws {
    let server = try GraphServer.alone()
    defer { server.stop() }
    let data = try server.data()
    let people = try data.people(5)
    let places = try (0..<22).map {
      try data.location("place \($0)", latitude: Double($0), longitude: -0.5)
    }
    // Popularity is tops of the place and any reactions to its public posts.
    try data.top(places[0], by: people.prefix(1))
    let post = try data.photoPost(by: people[0], at: places[0])
    for (person, kind) in [(people[0], "HEART"), (people[0], "TOP"), (people[1], "LIKE")] {
      try data.react(person, kind, to: post)
    }
    try data.top(places[1], by: people.prefix(3))
    let circle = try data.circle("Circle", owner: people[0])
    try data.top(
      data.photoPost(by: people[0], at: places[2], circle: circle, visibility: "CIRCLE"),
      by: people)
    try data.top(data.location("city", level: "CITY"), by: people)

    let found = try server.data(
      """
      { locations(filter: {levels: [PLACE]}, orderBy: POPULAR, first: 20) {
        nodes { name popularity coordinates { latitude longitude } } } }
      """)
    let names = ["place 0", "place 1"] + (4...21).reversed().map { "place \($0)" }
    #expect(found.strings("locations.nodes", "name") == names)
    #expect(
      found.list("locations.nodes", "popularity") == [4, 3] + Array(repeating: 0, count: 18))
    #expect(found.at("locations.nodes.2.coordinates.latitude")?.double == 21)
    #expect(found.at("locations.nodes.2.coordinates.longitude")?.double == -0.5)
  }

  @Test func `SP-R05: a place's top photos come first, of equals the newest`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let people = try data.people(3)
    let blocked = try data.person()
    try data.block(people[0], blocked)
    let place = try data.location("Pier")
    let gmapsID = GraphData.unique("gmaps")
    try data.run("UPDATE location SET gmaps_id = $1 WHERE id = \(place)", [gmapsID])
    for (body, tops) in [("one", 1), ("two", 2), ("another one", 1), ("none", 0)] {
      try data.top(
        data.photoPost(by: people[0], body, at: place), by: people.prefix(tops))
    }
    try data.top(data.post(.text, by: people[0], "text", location: place), by: people)
    try data.top(data.photoPost(by: blocked, "blocked", at: place), by: people)

    let query = """
      query($place: String!) { location(by: {gmapsId: $place}) { name postCount
        posts(kinds: [PHOTO], orderBy: TOP) {
          totalCount nodes { body reactionCount(kind: TOP) photos { url } } } } }
      """
    let seen = try server.data(query, ["place": .string(gmapsID)], as: people[0])
    let posts = "location.posts.nodes"
    #expect(seen.strings(posts, "body") == ["two", "another one", "one", "none"])
    #expect(seen.list(posts, "reactionCount") == [2, 1, 1, 0])
    #expect(seen.at("location.posts.totalCount") == 4)
    #expect(seen.at("location.postCount") == 5)
    #expect(seen.at("\(posts).0.photos") == [["url": "/photos/two.jpg"]])
    let anonymous = try server.data(query, ["place": .string(gmapsID)])
    #expect(anonymous.strings(posts, "body").first == "blocked")
    #expect(anonymous.at("location.postCount") == 6)
    #expect(try server.data(query, ["place": .string(gmapsID + "x")]) == ["location": nil])
  }

  @Test func `SP-R06: only places where friends posted, by popularity`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, friend, stranger) = (
      try data.person(), try data.person(name: "Friend"), try data.person()
    )
    try data.follow(viewer, friend)
    let country = try data.location("Country", level: "COUNTRY")
    func place(_ name: String, tops: [Person] = []) throws -> NodeKey {
      let place = try data.location(name, parent: country)
      try data.top(place, by: tops)
      return place
    }
    let (quiet, busy) = (try place("quiet"), try place("busy", tops: [stranger]))
    for place in [quiet, busy, busy] { _ = try data.photoPost(by: friend, at: place) }
    _ = try data.photoPost(by: stranger, at: busy)
    _ = try data.photoPost(by: stranger, at: place("strange", tops: [stranger]))
    _ = try place("topped only", tops: [friend])
    let circle = try data.circle("Secret", owner: friend)
    _ = try data.photoPost(
      by: friend, at: place("secret"), circle: circle, visibility: "CIRCLE")

    let query = """
      query($country: ID!) {
        locations(filter: {withinId: $country, visitedBy: FOLLOWING}, orderBy: POPULAR) {
          totalCount nodes { name popularity visitors(by: FOLLOWING) { nodes { displayName } } } } }
      """
    let found = try server.data(query, ["country": country.json], as: viewer)
    let friends: JSONValue = ["nodes": [["displayName": "Friend"]]]
    #expect(
      found == [
        "locations": [
          "totalCount": 2,
          "nodes": [
            ["name": "busy", "popularity": 1, "visitors": friends],
            ["name": "quiet", "popularity": 0, "visitors": friends],
          ],
        ]
      ])
    #expect(
      try server.data(query, ["country": country.json])
        == ["locations": ["totalCount": 0, "nodes": []]])
  }

  @Test func `SP-R13: from a post to the top posts of its place in one request`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let people = try data.people(2)
    let place = try data.location("Pier")
    let post = try data.photoPost(by: people[0], "plain", at: place)
    try data.top(data.photoPost(by: people[1], "topped", at: place), by: people)
    _ = try data.photoPost(by: people[1], "elsewhere")
    let found = try server.data(
      """
      query($id: ID!) { post(id: $id) { ... on PhotoPost { location {
        name posts(kinds: [PHOTO], orderBy: TOP) { nodes { body } } } } } }
      """, ["id": post.json])
    #expect(found.at("post.location.name") == "Pier")
    #expect(found.strings("post.location.posts.nodes", "body") == ["topped", "plain"])
  }

  @Test func `SP-P01: places within a distance, and how far they are`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let name = GraphData.unique("lighthouse")
    // A degree of latitude is 111,195 metres.
    for (word, latitude) in [("here", 50.0), ("near", 50.1), ("far", 54.4), ("away", 55.0)] {
      _ = try data.location("\(name) \(word)", latitude: latitude, longitude: 7)
    }
    _ = try data.location("\(name) nowhere")
    func near(_ radius: Double) throws -> JSONValue {
      try server.execute(
        """
        query($name: String, $near: RadiusInput) {
          locations(filter: {search: $name, near: $near}, orderBy: NEAREST) {
            edges { distanceMeters node { name } } } }
        """,
        [
          "name": .string(name),
          "near": [
            "center": ["latitude": 50, "longitude": 7], "radiusMeters": .number("\(radius)"),
          ],
        ])
    }
    let found = try near(500_000)
    #expect(
      found.strings("data.locations.edges", "node.name")
        == ["here", "near", "far"].map { "\(name) \($0)" })
    let distances = found.list("data.locations.edges", "distanceMeters").map { $0.double ?? -1 }
    for (distance, expected) in zip(distances, [0, 11_119.5, 489_258]) {
      #expect(abs(distance - expected) < 5)
    }
    #expect(try near(11_110).at("data.locations.edges")?.array?.count == 1)
    #expect(try near(11_130).at("data.locations.edges")?.array?.count == 2)
    let tooFar = try near(500_001)
    #expect(tooFar.at("errors.0.extensions.code") == "BAD_USER_INPUT")
    #expect(tooFar.at("errors.0.message")?.string?.contains("500000") == true)
  }

  @Test func `SP-P04: places by type`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let country = try data.location("Country", level: "COUNTRY")
    for type in ["BEACH", "MUSEUM", "SHOP"] {
      _ = try data.location(type.lowercased(), parent: country, type)
    }
    _ = try data.location("untyped", parent: country)
    func places(_ types: JSONValue) throws -> JSONValue {
      try server.data(
        """
        query($in: ID!, $types: [PlaceType!]) {
          locations(filter: {withinId: $in, placeTypes: $types}, orderBy: NAME) {
            nodes { name placeType } } }
        """, ["in": country.json, "types": types])
    }
    let found = try places(["SHOP", "BEACH"])
    #expect(found.strings("locations.nodes", "name") == ["beach", "shop"])
    #expect(found.strings("locations.nodes", "placeType") == ["BEACH", "SHOP"])
    #expect(
      try places(nil).strings("locations.nodes", "name") == ["beach", "museum", "shop", "untyped"])
    #expect(try places(["DINING"]).at("locations.nodes") == [])
  }

  @Test func `SP-O01: places liked by friends and their friends, not yet visited`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, friend, far, stranger) = (
      try data.person(), try data.person(), try data.person(), try data.person()
    )
    try data.follow(viewer, friend)
    try data.follow(friend, far)
    try data.follow(far, stranger)
    let country = try data.location("Country", level: "COUNTRY")
    for (name, fans) in [
      ("friend's", [friend, stranger]), ("friend of friend's", [far]), ("stranger's", [stranger]),
      ("own", [viewer]), ("visited", [friend, far]), ("unloved", []),
    ] {
      let place = try data.location(name, parent: country)
      try data.top(place, by: fans)
      if name == "visited" { _ = try data.photoPost(by: viewer, at: place) }
    }
    let query = """
      query($in: ID!) { locations(filter: {withinId: $in, isRecommended: true}) { nodes { name } } }
      """
    let found = try server.data(query, ["in": country.json], as: viewer)
    #expect(found.strings("locations.nodes", "name") == ["friend's", "friend of friend's"])
    #expect(try server.data(query, ["in": country.json]).at("locations.nodes") == [])
  }

  @Test func `SP-O02: places with at least so many reviews, the most reviewed first`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (critic, blocked) = (try data.person(), try data.person())
    let country = try data.location("Country", level: "COUNTRY")
    for count in [1, 3, 0, 2] {
      let place = try data.location("\(count) reviews", parent: country)
      for number in 0..<count { _ = try data.comment(place, by: critic, "review \(number)") }
      if count == 3 { _ = try data.comment(place, by: blocked, "blocked") }
    }
    try data.block(blocked, critic)
    func reviewed(_ minimum: JSONValue, _ order: JSONValue, as person: Person? = nil) throws
      -> JSONValue
    {
      try server.data(
        """
        query($in: ID!, $minimum: Int, $order: LocationOrder!) {
          locations(filter: {withinId: $in, minReviews: $minimum}, orderBy: $order) {
            nodes { name commentCount } } }
        """, ["in": country.json, "minimum": minimum, "order": order], as: person)
    }
    let all = try reviewed(nil, "MOST_REVIEWED")
    #expect(
      all.strings("locations.nodes", "name")
        == ["3 reviews", "2 reviews", "1 reviews", "0 reviews"])
    #expect(all.list("locations.nodes", "commentCount") == [4, 2, 1, 0])
    let many = try reviewed(2, "NAME", as: critic)
    #expect(many.strings("locations.nodes", "name") == ["2 reviews", "3 reviews"])
    #expect(many.list("locations.nodes", "commentCount") == [2, 3])
  }

  /// A country of two regions, with a place in a city, one in a region, one in the other region.
  private func country(_ data: GraphData) throws -> (
    country: NodeKey, regions: [NodeKey], city: NodeKey, elsewhere: NodeKey
  ) {
    let country = try data.location("Country", level: "COUNTRY")
    let regions = try ["North", "South"].map {
      try data.location($0, level: "REGION", parent: country)
    }
    let city = try data.location("City", level: "CITY", parent: regions[0])
    _ = try data.location("in the city", parent: city)
    _ = try data.location("in the north", parent: regions[0])
    _ = try data.location("in the south", parent: regions[1])
    let elsewhere = try data.location("Elsewhere", level: "COUNTRY")
    _ = try data.location("abroad", parent: elsewhere)
    return (country, regions, city, elsewhere)
  }

  private static let within = """
    query($in: ID!) { locations(filter: {withinId: $in, levels: [PLACE]}, orderBy: NAME) {
      nodes { name parent { name } ancestors { level name } } } }
    """

  @Test func `SP-O03: places inside a country`() throws {
    let server = try GraphServer.shared
    let world = try country(server.data())
    let found = try server.data(Self.within, ["in": world.country.json])
    #expect(
      found.strings("locations.nodes", "name") == ["in the city", "in the north", "in the south"])
    #expect(
      found.at("locations.nodes.0.ancestors") == [
        ["level": "COUNTRY", "name": "Country"], ["level": "REGION", "name": "North"],
        ["level": "CITY", "name": "City"],
      ])
    #expect(found.strings("locations.nodes", "parent.name") == ["City", "North", "South"])
    #expect(
      try server.data(Self.within, ["in": world.elsewhere.json])
        .strings("locations.nodes", "name") == ["abroad"])
  }

  @Test func `SP-O04: places inside a state`() throws {
    let server = try GraphServer.shared
    let world = try country(server.data())
    func places(_ key: NodeKey) throws -> [String] {
      try server.data(Self.within, ["in": key.json]).strings("locations.nodes", "name")
    }
    #expect(try places(world.regions[0]) == ["in the city", "in the north"])
    #expect(try places(world.regions[1]) == ["in the south"])
    #expect(try places(world.city) == ["in the city"])
  }

  @Test func `SP-R08: a new place belongs to its city, region and country, and is there once`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let sailor = try data.person()
    let country = try data.location("Country", level: "COUNTRY")
    let region = try data.location("Region", level: "REGION", parent: country)
    let city = try data.location("City", level: "CITY", parent: region)
    let maps = GraphData.unique("gmaps")
    let create = "createLocation(input: $input)"
    func input(_ name: JSONValue, maps: String, level: JSONValue = "PLACE") -> JSONValue {
      [
        "name": name, "level": level, "placeType": level == "PLACE" ? "BEACH" : nil,
        "gmapsId": .string(maps), "parentId": city.json,
        "coordinates": ["latitude": 53.5, "longitude": -9.5],
      ]
    }
    let made = try server.make(
      create, "location", ["input: CreateLocationInput!": input("Strand", maps: maps)], as: sailor)
    let query = """
      query($maps: String!) { location(by: {gmapsId: $maps}) {
        id name level placeType coordinates { latitude longitude } ancestors { name } } }
      """
    #expect(
      try server.data(query, ["maps": .string(maps)]) == [
        "location": [
          "id": made.json, "name": "Strand", "level": "PLACE", "placeType": "BEACH",
          "coordinates": ["latitude": 53.5, "longitude": -9.5],
          "ancestors": [["name": "Country"], ["name": "Region"], ["name": "City"]],
        ]
      ])
    for place in [country, region, city] {
      let found = try server.data(
        "query($in: ID!) { locations(filter: {withinId: $in, placeTypes: [BEACH]}) { nodes { id } } }",
        ["in": place.json])
      #expect(found.list("locations.nodes", "id") == [made.json])
    }
    // Somebody else adds the same place of the map: it is the one that is there.
    #expect(
      try server.make(
        create, "location", ["input: CreateLocationInput!": input("The Strand", maps: maps)],
        as: data.person()) == made)
    #expect(
      try server.refusals(
        create,
        ["input: CreateLocationInput!": ["name": " ", "parentId": sailor.json, "gmapsId": nil]],
        as: sailor) == [
          Refusal("REQUIRED", "input", "name"), Refusal("REQUIRED", "input", "coordinates"),
          Refusal("NOT_FOUND", "input", "parentId"),
        ])
    #expect(
      try server.refusals(
        create,
        ["input: CreateLocationInput!": input("State", maps: GraphData.unique("g"), level: "CITY")],
        as: sailor) == [
          Refusal("FORBIDDEN", "input", "level"), Refusal("INVALID", "input", "parentId"),
        ])
    #expect(
      try server.mutationErrorCodes(
        create, ["input: CreateLocationInput!": input("Strand", maps: maps)], as: nil)
        == ["UNAUTHENTICATED"])
  }

  @Test func `a map shows the places between its borders, past the date line too`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let stem = GraphData.unique("Map")
    for (name, longitude) in [("west", 179.0), ("east", -179.0), ("far", 100.0)] {
      _ = try data.location("\(stem) \(name)", latitude: -74, longitude: longitude)
    }
    func names(_ box: String) throws -> Set<String> {
      let found = try server.data(
        "query($s: String!) { locations(filter: {search: $s, within: {\(box)}}) { nodes { name } } }",
        ["s": .string(stem)])
      return Set(
        found.strings("locations.nodes", "name").map { String($0.dropFirst(stem.count + 1)) })
    }
    #expect(try names("south: -75, west: 178, north: -73, east: -178") == ["west", "east"])
    #expect(try names("south: -75, west: 90, north: -73, east: 180") == ["west", "far"])
    #expect(try names("south: -74, west: -180, north: -74, east: 180") == ["west", "east", "far"])
    #expect(try names("south: -73, west: -180, north: 90, east: 180") == [])
    for box in ["south: 1, west: 0, north: 0, east: 1", "south: 0, west: 0, north: 91, east: 1"] {
      #expect(
        try server.errorCodes("{ locations(filter: {within: {\(box)}}) { totalCount } }")
          == ["BAD_USER_INPUT"])
    }
  }
}
