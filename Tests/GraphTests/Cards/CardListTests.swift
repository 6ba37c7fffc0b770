import Foundation
import JSON
import TestSupport
import Testing

/// Lists of offers, requests, and the cards that are owed.
@Suite(.usesCluster) struct CardListTests {
  @Test func `HM-R15: requests for one's address that wait, newest first, for oneself`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let owner = try data.person()
    let people = try (0..<4).map { try data.person(name: "Asker \($0)") }
    let posts = try (0..<2).map { try data.cardRequest(by: owner, "Request \($0)") }
    for (number, person) in people.enumerated() {
      _ = try data.infoRequest(
        posts[number % 2], of: owner, by: person, status: number == 2 ? "DECLINED" : "PENDING")
    }
    try data.block(people[3], owner)
    let query = """
      { viewer { infoRequests(status: PENDING) { totalCount nodes { status requester { displayName }
        post { body } } } all: infoRequests { totalCount } } }
      """
    #expect(
      try server.data(query, as: owner) == [
        "viewer": [
          "infoRequests": [
            "totalCount": 2,
            "nodes": [
              [
                "status": "PENDING", "requester": ["displayName": "Asker 1"],
                "post": ["body": "Request 1"],
              ],
              [
                "status": "PENDING", "requester": ["displayName": "Asker 0"],
                "post": ["body": "Request 0"],
              ],
            ],
          ], "all": ["totalCount": 3],
        ]
      ])
    // The asker has asked, and was not.
    #expect(
      try server.data(query, as: people[0])
        == ["viewer": ["infoRequests": ["totalCount": 0, "nodes": []], "all": ["totalCount": 0]]])
  }

  @Test func `HM-R16: only the sender sees the address, only while the follow-up is open`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let sender = try data.person(name: "Sender", ["address": "Sender street"])
    let recipient = try data.person(name: "Recipient", ["address": "Recipient street"])
    let stranger = try data.person()
    let (offer, request) = (
      try data.offer(by: sender, "Offer"), try data.cardRequest(by: recipient, "Request")
    )
    let done = try data.followUp(offer, from: sender, to: recipient, state: "COMPLETED")
    let open = try data.followUp(request, from: sender, to: recipient)
    let query = """
      { viewer {
        followUps(role: SENDER, state: OPEN) { nodes { id state sender { displayName } recipient { displayName }
          recipientAddress post { ... on Post { body } } } }
        done: followUps(role: SENDER, state: COMPLETED) { nodes { id recipientAddress } }
        toGet: followUps(role: RECIPIENT) { nodes { id recipientAddress } }
      } }
      """
    #expect(
      try server.data(query, as: sender) == [
        "viewer": [
          "followUps": [
            "nodes": [
              [
                "id": open.json, "state": "OPEN", "sender": ["displayName": "Sender"],
                "recipient": ["displayName": "Recipient"],
                "recipientAddress": "Recipient street", "post": ["body": "Request"],
              ]
            ]
          ],
          "done": ["nodes": [["id": done.json, "recipientAddress": nil]]],
          "toGet": ["nodes": []],
        ]
      ])
    #expect(
      try server.data(query, as: recipient) == [
        "viewer": [
          "followUps": ["nodes": []], "done": ["nodes": []],
          "toGet": [
            "nodes": [
              ["id": open.json, "recipientAddress": nil],
              ["id": done.json, "recipientAddress": nil],
            ]
          ],
        ]
      ])
    let node = "query($id: ID!) { node(id: $id) { ... on FollowUp { recipientAddress } } }"
    for person in [stranger, nil] {
      #expect(try server.data(node, ["id": open.json], as: person) == ["node": nil])
    }
    #expect(
      try server.data(node, ["id": open.json], as: sender)
        == ["node": ["recipientAddress": "Recipient street"]])
  }

  @Test func `HM-O11, read: where an offer and a person send to; nothing means worldwide`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let person = try data.person()
    let places = try ["Peru", "Chad"].map { try data.location($0, level: "COUNTRY") }
    for place in places {
      try data.add("user_ships_to", ["user_id": person.key, "location_id": place])
    }
    let (some, all) = (try data.offer(by: person, regions: places), try data.offer(by: person))
    let found = try server.data(
      """
      query($some: ID!, $all: ID!) {
        some: post(id: $some) { author { shipsTo { name } } ... on CardOffer { regions { name } } }
        all: post(id: $all) { ... on CardOffer { regions { name } } }
      }
      """, ["some": some.json, "all": all.json])
    let names: JSONValue = [["name": "Chad"], ["name": "Peru"]]
    #expect(
      found == [
        "some": ["author": ["shipsTo": names], "regions": names], "all": ["regions": []],
      ])
  }

  /// A query for posts with a filter, which includes a word of the test.
  private static let stream = """
    query($filter: PostFilter!) { posts(filter: $filter) { totalCount nodes {
      __typename body author { id }
      ... on CardOffer { isOpen responseLimit responseCount }
      ... on CardRequest { isOpen responseCount } } } }
    """

  private static func bodies(
    _ server: GraphServer, _ filter: JSONValue, as viewer: Person? = nil
  ) throws -> [String] {
    let found = try server.data(stream, ["filter": filter], as: viewer)
    let bodies = found.strings("posts.nodes", "body")
    #expect(found.at("posts.totalCount")?.int == bodies.count)
    return bodies.map { String($0.drop { $0 != " " }.dropFirst()) }
  }

  @Test func `HM-R08: offers, newest first, with author and number of responses`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, other, word) = (try data.person(), try data.person(), GraphData.unique("word"))
    let limited = try data.offer(by: author, "\(word) limited", limit: 3, at: "2026-03-01 11:00Z")
    _ = try data.offer(by: other, "\(word) free", at: "2026-03-01 12:00Z")
    _ = try data.cardRequest(by: author, "\(word) request")
    _ = try data.followUp(limited, from: author, to: other)
    let found = try server.data(
      Self.stream, ["filter": ["kinds": ["CARD_OFFER"], "search": .string(word)]])
    #expect(
      found.at("posts.nodes") == [
        [
          "__typename": "CardOffer", "body": .string("\(word) free"), "author": ["id": other.json],
          "isOpen": true, "responseLimit": nil, "responseCount": 0,
        ],
        [
          "__typename": "CardOffer", "body": .string("\(word) limited"),
          "author": ["id": author.json], "isOpen": true, "responseLimit": 3, "responseCount": 1,
        ],
      ])
  }

  @Test func `HM-R09: requests, newest first, with author, open or not`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, other, word) = (try data.person(), try data.person(), GraphData.unique("word"))
    let open = try data.cardRequest(by: author, "\(word) open", at: "2026-03-01 11:00Z")
    _ = try data.cardRequest(by: other, "\(word) done", isOpen: false, at: "2026-03-01 12:00Z")
    _ = try data.offer(by: author, "\(word) offer")
    _ = try data.infoRequest(open, of: author, by: other)
    let found = try server.data(
      Self.stream, ["filter": ["kinds": ["CARD_REQUEST"], "search": .string(word)]])
    #expect(
      found.at("posts.nodes") == [
        [
          "__typename": "CardRequest", "body": .string("\(word) done"),
          "author": ["id": other.json], "isOpen": false, "responseCount": 0,
        ],
        [
          "__typename": "CardRequest", "body": .string("\(word) open"),
          "author": ["id": author.json], "isOpen": true, "responseCount": 1,
        ],
      ])
  }

  @Test func `HM-R10: a post's details, and what the viewer may do next`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, viewer, blocked) = (try data.person(), try data.person(), try data.person())
    let region = try data.location("Iceland", level: "COUNTRY")
    let offer = try data.offer(by: author, "Three cards", regions: [region], limit: 2)
    let request = try data.cardRequest(by: author, "Birthday!")
    let closed = try data.offer(by: author, "Gone", isOpen: false)
    let photo = try data.photo(of: author, url: "https://p.example/card")
    try data.show([photo], in: offer)
    try data.block(author, blocked)
    let query = """
      query($id: ID!) { post(id: $id) { body author { id } photos { url } viewerActions
        ... on CardOffer { regions { name } responseLimit } } }
      """
    #expect(
      try server.data(query, ["id": offer.json], as: viewer) == [
        "post": [
          "body": "Three cards", "author": ["id": author.json],
          "photos": [["url": "https://p.example/card"]],
          "viewerActions": ["TWEET", "FLAG", "REACT", "COMMENT", "RESPOND"],
          "regions": [["name": "Iceland"]], "responseLimit": 2,
        ]
      ])
    func actions(_ post: NodeKey, _ viewer: Person?) throws -> [JSONValue] {
      let found = try server.data(query, ["id": post.json], as: viewer)
      return try #require(found.at("post.viewerActions")?.array)
    }
    #expect(try actions(request, viewer).contains("REQUEST_ADDRESS"))
    #expect(try !actions(closed, viewer).contains("RESPOND"))
    #expect(try actions(offer, author).contains("CLOSE"))
    #expect(try !actions(offer, author).contains("RESPOND"))
    #expect(try !actions(closed, author).contains("CLOSE"))
    #expect(try actions(offer, nil) == [])
    #expect(try server.data(query, ["id": offer.json], as: blocked) == ["post": nil])
  }

  @Test func `HM-O02: the stream narrows to some kinds`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, word) = (try data.person(), GraphData.unique("word"))
    _ = try data.offer(by: author, "\(word) offer", at: "2026-03-01 10:00Z")
    _ = try data.cardRequest(by: author, "\(word) request", at: "2026-03-01 11:00Z")
    _ = try data.thankYou(
      by: author, "\(word) thanks", tagging: [data.person()], at: "2026-03-01 12:00Z")
    _ = try data.post(.text, by: author, "\(word) text", at: "2026-03-01 13:00Z")
    func kinds(_ kinds: JSONValue) throws -> [String] {
      try Self.bodies(server, ["search": .string(word), "kinds": kinds])
    }
    #expect(try kinds(["CARD_OFFER"]) == ["offer"])
    #expect(try kinds(["THANK_YOU", "CARD_OFFER"]) == ["thanks", "offer"])
    #expect(
      try kinds(["CARD_OFFER", "CARD_REQUEST", "THANK_YOU"]) == ["thanks", "request", "offer"])
    #expect(try kinds(["OUTFIT"]) == [])
    #expect(try kinds(nil) == ["text", "thanks", "request", "offer"])
  }

  @Test func `HM-O03: posts are searched; every word must occur, newest first`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, viewer) = (try data.person(), try data.person())
    let word = GraphData.unique("word")
    let circle = try data.circle("Group", owner: author)
    _ = try data.offer(by: author, "\(word) Cats and dogs")
    _ = try data.cardRequest(by: author, "\(word) dogs")
    _ = try data.post(.text, by: author, "\(word) cats, DOGS.")
    _ = try data.post(
      .text, by: author, "\(word) cats dogs", circle: circle, visibility: "CIRCLE")
    func search(_ words: String) throws -> [String] {
      let text: JSONValue = .string("\(words) \(word)")
      let found = try server.data(
        """
        query($text: String!) { search(query: $text, types: [POST], orderBy: NEWEST) {
          nodes { ... on Post { body } } } }
        """, ["text": text], as: viewer)
      let bodies = try Self.bodies(server, ["search": text], as: viewer)
      #expect(found.strings("search.nodes", "body") == bodies.map { "\(word) \($0)" })
      return bodies
    }
    #expect(try search("dogs") == ["cats, DOGS.", "dogs", "Cats and dogs"])
    #expect(try search("CATS dogs") == ["cats, DOGS.", "Cats and dogs"])
    #expect(try search("cats birds") == [])
    #expect(try search("cat") == [])
  }

  @Test func `HM-O12: offers that reach a region, a place around it, or the world`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, word) = (try data.person(), GraphData.unique("word"))
    let country = try data.location("Country", level: "COUNTRY")
    let region = try data.location("Region", level: "REGION", parent: country)
    let city = try data.location("City", level: "CITY", parent: region)
    let other = try data.location("Elsewhere", level: "COUNTRY")
    _ = try data.offer(by: author, "\(word) country", regions: [country])
    _ = try data.offer(by: author, "\(word) region", regions: [other, region])
    _ = try data.offer(by: author, "\(word) city", regions: [city])
    _ = try data.offer(by: author, "\(word) elsewhere", regions: [other])
    _ = try data.offer(by: author, "\(word) world")
    _ = try data.cardRequest(by: author, "\(word) request")
    func offers(_ place: NodeKey) throws -> [String] {
      try Self.bodies(server, ["search": .string(word), "sendsToId": place.json])
    }
    #expect(try offers(city) == ["world", "city", "region", "country"])
    #expect(try offers(region) == ["world", "region", "country"])
    #expect(try offers(country) == ["world", "country"])
    #expect(try offers(other) == ["world", "elsewhere", "region"])
  }

  @Test func `HM-O16, read: likes are counted, apart from hearts`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, fan) = (try data.person(), try data.person())
    let offer = try data.offer(by: author, "Cards")
    for kind in ["LIKE", "HEART"] { try data.react(fan, kind, to: offer) }
    try data.react(author, "LIKE", to: offer)
    let query = """
      query($id: ID!) { post(id: $id) { likes: reactionCount(kind: LIKE) viewerReactions
        reactions(kind: LIKE) { totalCount } } }
      """
    #expect(
      try server.data(query, ["id": offer.json], as: fan) == [
        "post": [
          "likes": 2, "viewerReactions": ["HEART", "LIKE"], "reactions": ["totalCount": 2],
        ]
      ])
  }

  @Test func `HM-O20: only its author sees who responded to an offer, in that order`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, people) = (
      try data.person(), try ["Zoe", "Ann"].map { try data.person(name: $0) }
    )
    let offer = try data.offer(by: author, "Cards")
    for person in people { _ = try data.followUp(offer, from: author, to: person) }
    let query = """
      query($id: ID!) { post(id: $id) { ... on CardOffer { responseCount
        respondents { totalCount nodes { displayName } } } } }
      """
    #expect(
      try server.data(query, ["id": offer.json], as: author) == [
        "post": [
          "responseCount": 2,
          "respondents": [
            "totalCount": 2, "nodes": [["displayName": "Zoe"], ["displayName": "Ann"]],
          ],
        ]
      ])
    for viewer in [people[0], nil] {
      #expect(
        try server.data(query, ["id": offer.json], as: viewer)
          == ["post": ["responseCount": 2, "respondents": ["totalCount": 0, "nodes": []]]])
    }
  }

  @Test func `HM-O23: only open offers and requests, or only closed ones`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, word) = (try data.person(), GraphData.unique("word"))
    for (name, isOpen) in [("open", true), ("closed", false)] {
      _ = try data.offer(by: author, "\(word) \(name) offer", isOpen: isOpen)
      _ = try data.cardRequest(by: author, "\(word) \(name) request", isOpen: isOpen)
    }
    _ = try data.post(.text, by: author, "\(word) text")
    func posts(_ filter: (String, JSONValue)...) throws -> [String] {
      let members = [("search", .string(word))] + filter
      return try Self.bodies(
        server, .object(members.map { JSONValue.Member(name: $0.0, value: $0.1) }))
    }
    #expect(try posts(("isOpen", true)) == ["open request", "open offer"])
    #expect(try posts(("isOpen", false)) == ["closed request", "closed offer"])
    #expect(try posts(("isOpen", true), ("kinds", ["CARD_OFFER"])) == ["open offer"])
    #expect(try posts().count == 5)
  }
}
