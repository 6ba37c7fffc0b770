import JSON
import TestSupport
import Testing

/// Copies that give lists their order: names of followers and members, and the times of visits to
/// places. `verify_copies` finds differences.
@Suite(.usesCluster) struct CopyTests {
  private func differences(_ data: GraphData) throws -> [[String?]] {
    try data.run("SELECT * FROM verify_copies()")
  }

  @Test func `followers and members move in their lists when they are renamed`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let star = try data.person("star")
    let people = try ["Mia", "Noa", "Ole"].map { try data.person($0, name: $0) }
    let circle = try data.circle("Names", owner: star, members: people)
    for person in people { try data.follow(person, star) }
    func lists() throws -> JSONValue? {
      try server.data(
        """
        query($star: ID!, $circle: ID!) {
          followers: node(id: $star) { ... on User { followers { nodes { displayName } } } }
          members: node(id: $circle) { ... on Circle {
            members(search: "a") { nodes { displayName } } } } }
        """, ["star": star.json, "circle": circle.json], as: star)
    }
    func names(_ names: String...) -> JSONValue {
      .array(names.map { ["displayName": .string($0)] })
    }
    #expect(try lists()?.at("followers.followers.nodes") == names("Mia", "Noa", "Ole"))
    #expect(try lists()?.at("members.members.nodes") == names())
    try server.mutate("updateProfile(input: {displayName: \"Zoë\"})", as: people[0])
    try server.mutate("updateProfile(input: {displayName: \"Ada A.\"})", as: people[2])
    #expect(try lists()?.at("followers.followers.nodes") == names("Ada A.", "Noa", "Zoë"))
    #expect(try lists()?.at("members.members.nodes") == names("Ada A."))
    #expect(
      try data.run(
        """
        SELECT f.follower_name FROM follow f WHERE f.followee_id = \(star.key)
          AND f.follower_name <> (SELECT u.name_key FROM app_user u WHERE u.id = f.follower_id)
        """) == [])
  }

  /// A person who follows while being renamed is listed by either name, and by the last one at the
  /// end.
  @Test func `names are right after people were renamed and followed at once`() throws {
    let server = try GraphServer.alone()
    let data = try server.data()
    let person = try data.person("person", name: "Person")
    let stars = try (0..<24).map { try data.person("s\($0)_") }
    let channels = try (0..<8).map {
      try data.circle("c\($0)", kind: "CHANNEL", owner: stars[0])
    }
    _ = try crowd(of: 48) { number in
      switch number % 4 {
      case 0:
        try server.mutate(
          "updateProfile(input: {displayName: $name})", ["name: String!": .string("N\(number)")],
          as: person)
      case 1 where number < 32:
        try server.mutate(
          "joinCircle(circleId: $id)", ["id: ID!": channels[number / 4].json], as: person)
      default:
        try server.mutate(
          "followUsers(userIds: [$id])", ["id: ID!": stars[number / 2].json], as: person)
      }
    }
    #expect(try differences(data) == [])
    #expect(try data.run("SELECT count(DISTINCT follower_name) FROM follow") == [["1"]])
  }

  @Test func `visits come and go with the posts that everyone may see`() throws {
    let server = try GraphServer.alone()
    let data = try server.data()
    let (ann, bob, eve) = (try data.person("ann"), try data.person("bob"), try data.person("eve"))
    let (here, there) = (try data.location("Here"), try data.location("There"))
    let circle = try data.circle("Friends", owner: ann, members: [bob])
    func visitors(_ place: NodeKey, as viewer: Person) throws -> [String] {
      let found = try server.data(
        "query($id: ID!) { node(id: $id) { ... on Location { visitors { nodes { username } } } } }",
        ["id": place.json], as: viewer)
      return (found.at("node.visitors.nodes")?.array ?? []).map { $0["username"]?.string ?? "" }
    }
    func day(_ number: Int) -> String { "2026-02-0\(number) 12:00:00+00" }
    let first = try data.post(.text, by: ann, location: here, at: day(1))
    let second = try data.post(.text, by: ann, location: here, at: day(3))
    _ = try data.post(.text, by: bob, location: here, at: day(2))
    #expect(try visitors(here, as: eve) == [ann.username, bob.username])

    // Seen by their circle alone: it puts them first for those in it.
    let closed = try data.post(
      .text, by: bob, location: here, circle: circle, visibility: "CIRCLE", at: day(4))
    _ = try data.post(
      .text, by: ann, location: there, circle: circle, visibility: "CIRCLE", at: day(4))
    #expect(try visitors(here, as: ann) == [bob.username, ann.username])
    #expect(try visitors(here, as: eve) == [ann.username, bob.username])
    #expect(try visitors(there, as: bob) == [ann.username])
    #expect(try visitors(there, as: eve) == [])
    #expect(try differences(data) == [])

    try data.run("UPDATE post SET visibility = 'PUBLIC', circle_id = NULL WHERE id = \(closed)")
    #expect(try visitors(here, as: eve) == [bob.username, ann.username])
    try data.run("UPDATE post SET location_id = \(there) WHERE id = \(closed)")
    #expect(try visitors(here, as: eve) == [ann.username, bob.username])
    #expect(try visitors(there, as: eve) == [bob.username])
    #expect(try differences(data) == [])

    try server.mutate("deletePost(postId: $id)", ["id: ID!": second.json], as: ann)
    #expect(try visitors(here, as: eve) == [bob.username, ann.username])
    try server.mutate("deletePost(postId: $id)", ["id: ID!": first.json], as: ann)
    #expect(try visitors(here, as: eve) == [bob.username])
    try data.run("DELETE FROM location WHERE id = \(there)")
    #expect(try differences(data) == [])
    try data.run("DELETE FROM app_user WHERE id = \(bob.key)")
    #expect(try visitors(here, as: eve) == [])
    #expect(try differences(data) == [])
  }

  @Test func `visits are right after many posted and deleted at one place at once`() throws {
    let server = try GraphServer.alone()
    let data = try server.data()
    let person = try data.person("person")
    let place = try data.location("Place")
    let posts = try (0..<16).map { _ in try data.post(.text, by: person, location: place) }
    _ = try crowd(of: 32) { number in
      if number % 2 == 0 {
        try server.mutate(
          "deletePost(postId: $id)", ["id: ID!": posts[number / 2].json], as: person)
      } else {
        try server.mutate(
          "createTextPost(input: {body: \"Here.\", location: {id: $id}})",
          ["id: ID!": place.json], as: person)
      }
    }
    #expect(try differences(data) == [])
    #expect(try data.run("SELECT count(*) FROM visit") == [["1"]])
  }
}
