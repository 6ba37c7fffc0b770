import JSON
import TestSupport
import Testing

/// The explore list of public posts.
@Suite(.usesCluster) struct ExploreTests {
  private static let explore = """
    query($after: String) { explore(first: 3, after: $after) {
      totalCount pageInfo { hasNextPage endCursor }
      nodes { __typename body ... on Event { title } } } }
    """

  private func names(_ page: JSONValue) -> [String] {
    (page.at("explore.nodes")?.array ?? []).map {
      $0["title"]?.string ?? $0["body"]?.string ?? ""
    }
  }

  /// All pages together.
  private func explore(_ server: GraphServer, as person: Person? = nil) throws -> [String] {
    var found: [String] = []
    var cursor: JSONValue = .null
    for _ in 0..<20 {
      let page = try server.data(Self.explore, ["after": cursor], as: person)
      found += names(page)
      guard page.at("explore.pageInfo.hasNextPage") == true else {
        #expect(page.at("explore.totalCount")?.int == found.count)
        break
      }
      cursor = page.at("explore.pageInfo.endCursor") ?? .null
    }
    return found
  }

  @Test func `PK-EXP.a: explore shows public items one has not chosen`() throws {
    let server = try GraphServer.alone()
    defer { server.stop() }
    let data = try server.data()
    let (viewer, host, blocked) = (try data.person(), try data.person(), try data.person())
    try data.block(blocked, viewer)
    let channel = try data.circle("Joined", kind: "CHANNEL", owner: host, members: [viewer])
    let other = try data.circle("Not joined", kind: "CHANNEL", owner: host)
    func event(
      _ title: String, by author: Person? = nil, circle: NodeKey? = nil,
      visibility: String = "PUBLIC", from: String = "tomorrow", to: String? = nil
    ) throws -> NodeKey {
      try data.post(
        .event, by: author ?? host, circle: circle, visibility: visibility, title: title,
        startsAt: from, endsAt: to)
    }
    _ = try event("to come")
    _ = try event("running", from: "yesterday", to: "tomorrow")
    _ = try event("over", from: "yesterday")
    _ = try event("own", by: viewer)
    _ = try data.invite(host, viewer, to: event("invited"))
    try data.attend(viewer, event("refused"), "NOT_GOING")
    _ = try event("subscribed", circle: channel)
    _ = try event("of another channel", circle: other)
    _ = try event("private", visibility: "INVITED")
    _ = try event("blocked", by: blocked)
    try data.run(
      "UPDATE event SET cancelled_at = now() WHERE post_id = \(event("cancelled"))")
    _ = try data.post(.announcement, by: host, "announcement")
    _ = try data.post(.announcement, by: host, "subscribed announcement", circle: channel)
    _ = try data.post(.announcement, by: viewer, "own announcement")
    _ = try data.post(.text, by: host, "text")
    #expect(
      try explore(server, as: viewer)
        == ["announcement", "of another channel", "running", "to come"])
  }

  @Test func `PK-EXP.b: explore loads more while new items arrive`() throws {
    let server = try GraphServer.alone()
    defer { server.stop() }
    let data = try server.data()
    let host = try data.person()
    for number in 0..<7 {
      _ = try data.post(
        .announcement, by: host, "\(number)", at: "2026-03-01 12:0\(number / 3):00Z")
    }
    let first = try server.data(Self.explore)
    #expect(names(first) == ["6", "5", "4"])
    _ = try data.post(.announcement, by: host, "new")
    let cursor = first.at("explore.pageInfo.endCursor") ?? .null
    let second = try server.data(Self.explore, ["after": cursor])
    #expect(names(second) == ["3", "2", "1"])
    #expect(second.at("explore.pageInfo.hasNextPage") == true)
    let third = try server.data(
      Self.explore, ["after": second.at("explore.pageInfo.endCursor") ?? .null])
    #expect(names(third) == ["0"])
    #expect(third.at("explore.pageInfo.hasNextPage") == false)
  }

  @Test func `PK-EXP.c: explore shows all public items before sign-up`() throws {
    let server = try GraphServer.alone()
    defer { server.stop() }
    let data = try server.data()
    let host = try data.person()
    let channel = try data.circle("Channel", kind: "CHANNEL", owner: host, isDefault: true)
    _ = try data.post(.event, by: host, title: "event")
    _ = try data.post(.event, by: host, circle: channel, title: "event of a channel")
    _ = try data.post(.event, by: host, visibility: "INVITED", title: "private")
    _ = try data.post(.event, by: host, title: "over", startsAt: "yesterday")
    _ = try data.post(.announcement, by: host, "announcement", circle: channel)
    _ = try data.post(.text, by: host, "text")
    #expect(try explore(server) == ["announcement", "event of a channel", "event"])
    let events = try server.data("{ explore(kinds: [EVENT, TEXT]) { nodes { __typename } } }")
    #expect(events.strings("explore.nodes", "__typename") == ["Event", "Event"])
  }

  @Test func `PK-EV.c: for anyone not invited a private event does not exist`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (host, guest, stranger, member) = (
      try data.person(), try data.person(), try data.person(), try data.person()
    )
    let word = GraphData.unique("surprise")
    let place = try data.location("Cellar")
    let circle = try data.circle("Friends", owner: host, members: [guest, member])
    let event = try data.post(
      .event, by: host, word, location: place, circle: circle, visibility: "INVITED",
      title: "A \(word) party", startsAt: "2043-01-01 12:00Z")
    _ = try data.comment(event, by: host, "\(word) comment")
    _ = try data.invite(host, guest, to: event)
    try data.attend(host, event)
    func everywhere(_ person: Person?) throws -> JSONValue {
      try server.data(
        """
        query($id: ID!, $word: String!, $host: ID!, $place: ID!, $circle: ID!) {
          node(id: $id) { id }
          nodes(ids: [$id]) { id }
          post(id: $id) { id }
          search(query: $word) { totalCount nodes { ... on Event { id } } }
          explore(first: 100) { nodes { id } }
          posts(filter: {search: $word}) { totalCount nodes { id } }
          schedule(filter: {from: "2043-01-01T00:00:00.000Z", to: "2043-01-02T00:00:00.000Z"}) {
            totalCount nodes { id } }
          user(by: {id: $host}) { posts { totalCount nodes { id } } }
          location(by: {id: $place}) { postCount posts { totalCount nodes { id } }
            visitors { totalCount nodes { id } } }
          circle(id: $circle) { posts { totalCount nodes { id } } }
        }
        """,
        [
          "id": event.json, "word": .string(word), "host": host.json, "place": place.json,
          "circle": circle.json,
        ], as: person)
    }
    for person in [nil, stranger, member] {
      let found = try everywhere(person)
      #expect(!found.description.contains("\"\(event.wire)\""))
      for path in [
        "search", "posts", "schedule", "user.posts", "location.posts", "location.visitors",
      ] {
        #expect(found.at("\(path).totalCount") == 0, "\(path)")
      }
      #expect(found.at("node") == .null)
      #expect(found.at("nodes") == [.null])
      #expect(found.at("location.postCount") == 0)
      let circlePosts = found.at("circle.posts.totalCount")
      #expect(person?.key == member.key ? circlePosts == 0 : circlePosts == nil)
    }
    // It is not public for the invited either, but they find it.
    for person in [guest, host] {
      let found = try everywhere(person)
      #expect(found.at("post.id") == event.json)
      #expect(found.at("search.nodes") == [["id": event.json]])
      #expect(found.at("user.posts.totalCount") == 1)
      #expect(found.at("circle.posts.totalCount") == 1)
      for path in ["posts", "schedule"] { #expect(found.at("\(path).totalCount") == 0, "\(path)") }
      #expect(found.list("explore.nodes", "id").contains(event.json) == false)
    }
  }
}
