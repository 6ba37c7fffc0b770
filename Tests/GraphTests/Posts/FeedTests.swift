import JSON
import TestSupport
import Testing

@Suite(.usesCluster) struct FeedTests {
  @Test func `a post friends topped again and again is in the feed once, at its latest top`() throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let viewer = try data.person("viewer")
    let friends = try (0..<3).map { _ in try data.person("friend") }
    for friend in friends { try data.follow(viewer, friend) }
    let author = try data.person("author")
    let place = try data.location(GraphData.unique("place"))
    // Post k is topped by friend f at minute 10 f + k of the hour: each friend once, in turns.
    var posts: [NodeKey] = []
    for k in 0..<7 {
      let post = try data.post(.photo, by: author, "post \(k)", location: place)
      for (f, friend) in friends.enumerated() where (k + f) % 3 != 0 {
        try data.react(friend, "TOP", to: post, at: "2026-03-01 12:\(10 + 10 * f + k):00Z")
      }
      posts.append(post)
    }
    let whole = try server.data(
      "{ viewer { reactedFeed { totalCount nodes { body } } } }", as: viewer
    ).strings("viewer.reactedFeed.nodes", "body")
    #expect(whole == [6, 5, 3, 2, 0, 4, 1].map { "post \($0)" })

    var walked: [String] = []
    var cursor: JSONValue = .null
    repeat {
      let page = try server.data(
        """
        query($after: String) {
          viewer { reactedFeed(first: 2, after: $after) {
            totalCount nodes { body } pageInfo { hasNextPage endCursor } } }
        }
        """, ["after": cursor], as: viewer)
      walked += page.strings("viewer.reactedFeed.nodes", "body")
      #expect(page.at("viewer.reactedFeed.totalCount") == 7)
      cursor =
        page.at("viewer.reactedFeed.pageInfo.hasNextPage") == true
        ? page.at("viewer.reactedFeed.pageInfo.endCursor") ?? .null : .null
    } while cursor != .null && walked.count < 20
    #expect(walked == whole)
  }

  @Test func `a post by somebody followed in a circle joined is in the feed once`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, friend, stranger) = (
      try data.person(), try data.person(), try data.person()
    )
    try data.follow(viewer, friend)
    let circle = try data.circle("Circle", owner: friend, members: [viewer, stranger])
    _ = try data.post(.text, by: friend, "both", circle: circle, visibility: "CIRCLE")
    _ = try data.post(.text, by: stranger, "circle", circle: circle, visibility: "CIRCLE")
    _ = try data.post(.text, by: friend, "people")
    _ = try data.post(.text, by: viewer, "own")
    _ = try data.post(.text, by: stranger, "neither")
    let feeds = try server.data(
      """
      { viewer {
        all: feed { totalCount nodes { body } }
        people: feed(source: PEOPLE) { nodes { body } }
        circles: feed(source: CIRCLES) { nodes { body } }
      } }
      """, as: viewer)
    #expect(feeds.at("viewer.all.totalCount") == 4)
    #expect(feeds.strings("viewer.all.nodes", "body") == ["own", "people", "circle", "both"])
    #expect(feeds.strings("viewer.people.nodes", "body") == ["own", "people", "both"])
    #expect(feeds.strings("viewer.circles.nodes", "body") == ["circle", "both"])
  }
}
