import Foundation
import JSON
import TestSupport
import Testing

/// Sessions, profiles, and the cards people owe each other.
@Suite(.usesCluster) struct HappyMailProfileTests {
  @Test func `HM-R05: a session goes on wherever its token is sent, until it ends`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let person = try data.person()
    let query = "{ viewer { user { username } } }"
    let expected: JSONValue = ["viewer": ["user": ["username": .string(person.username)]]]
    #expect(try server.data(query, as: person) == expected)
    // Another server, as after a restart.
    let restarted = try GraphServer(database: server.database)
    defer { restarted.stop() }
    #expect(try restarted.data(query, as: person) == expected)
    // 90 days from its last use, which no answer waits for.
    try data.run(
      """
      UPDATE session SET expires_at = now() + interval '1 day', last_used_at = NULL
      WHERE user_id = $1
      """, [person])
    let used = try GraphServer(database: server.database)
    defer { used.stop() }
    #expect(try used.data(query, as: person) == expected)
    let days = "SELECT extract(day FROM expires_at - last_used_at) FROM session WHERE user_id = $1"
    for _ in 0..<60_000 where try data.run(days, [person]).first?.first != "90" { usleep(10_000) }
    #expect(try data.run(days, [person]).first?.first == "90")
    try data.run("UPDATE session SET expires_at = now() WHERE user_id = $1", [person])
    let ended = try GraphServer(database: server.database)
    defer { ended.stop() }
    let refused = try ended.execute(query, as: person)
    #expect(refused.at("errors.0.extensions.code") == "UNAUTHENTICATED")
    #expect(refused.at("data.viewer.user") == nil)
  }

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
      { viewer { infoRequests { totalCount nodes { status requester { displayName }
        post { body } } } all: infoRequests(status: null) { totalCount } } }
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
        followUps { nodes { id state sender { displayName } recipient { displayName }
          recipientAddress post { ... on Post { body } } } }
        done: followUps(state: COMPLETED) { nodes { id recipientAddress } }
        toGet: followUps(role: RECIPIENT, state: null) { nodes { id recipientAddress } }
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

  @Test func `HM-R19: one's own profile has the address`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (name, home) = (GraphData.unique("mail"), try data.location("Oslo", level: "CITY"))
    let person = try data.person(
      name: "Ann",
      [
        "address": "Street 1\n0150 Oslo", "email": "\(name)@a.example", "bio": "Hi",
        "home_id": home, "card_preference": "POSTCARDS",
      ])
    let own = try server.data(
      """
      { viewer { address email emailVerified
        user { displayName bio home { name } cardPreference thankYouScore } } }
      """, as: person)
    #expect(
      own == [
        "viewer": [
          "address": "Street 1\n0150 Oslo", "email": .string("\(name)@a.example"),
          "emailVerified": false,
          "user": [
            "displayName": "Ann", "bio": "Hi", "home": ["name": "Oslo"],
            "cardPreference": "POSTCARDS", "thankYouScore": 0,
          ],
        ]
      ])
  }

  @Test func `HM-R20: another's profile never has address, e-mail or follow-ups`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, blocked) = (try data.person(), try data.person())
    let secret = GraphData.unique("secret")
    let other = try data.person(
      name: "Otto", ["address": secret, "email": "\(secret)@a.example", "bio": "Hello"])
    _ = try data.followUp(data.offer(by: other), from: other, to: viewer)
    try data.block(other, blocked)
    let query = """
      query($id: ID!) { user(by: {id: $id}) { displayName bio
        posts(kinds: [CARD_OFFER]) { totalCount } } }
      """
    #expect(
      try server.data(query, ["id": other.json], as: viewer)
        == ["user": ["displayName": "Otto", "bio": "Hello", "posts": ["totalCount": 1]]])
    #expect(try server.data(query, ["id": other.json], as: blocked) == ["user": nil])
    for field in ["address", "email", "emailVerified", "followUps { totalCount }"] {
      #expect(
        try server.errorCodes(
          "query($id: ID!) { user(by: {id: $id}) { \(field) } }", ["id": other.json], as: viewer)
          == ["GRAPHQL_VALIDATION_FAILED"], "\(field)")
    }
    let found = try server.data(
      """
      query($word: String!) { users(search: $word) { totalCount }
        search(query: $word) { totalCount } }
      """, ["word": .string(secret)], as: viewer)
    #expect(found == ["users": ["totalCount": 0], "search": ["totalCount": 0]])
  }

  @Test func `HM-O01: places sent to and received from, never finer than a city`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let country = try data.location("Norway", level: "COUNTRY")
    let city = try data.location("Oslo", level: "CITY", parent: country)
    let house = try data.location("House", parent: city, latitude: 59.9, longitude: 10.7)
    let viewer = try data.person(name: "Me", ["home_id": city])
    let inHouse = try data.person(name: "House", ["home_id": house])
    let inCountry = try data.person(name: "Country", ["home_id": country])
    let nowhere = try data.person(name: "Nowhere")
    let offer = try data.offer(by: viewer)
    for person in [inHouse, inCountry, nowhere] {
      _ = try data.followUp(offer, from: viewer, to: person, state: "COMPLETED")
    }
    _ = try data.followUp(offer, from: viewer, to: data.person("near", ["home_id": city]))
    _ = try data.followUp(data.offer(by: inHouse), from: inHouse, to: viewer, state: "COMPLETED")
    let map = try server.data(
      """
      { viewer {
        sent: followUps(role: SENDER, state: COMPLETED) {
          nodes { recipient { displayName } place { name level } } }
        received: followUps(role: RECIPIENT, state: COMPLETED) {
          nodes { sender { displayName } place { name level } } }
      } }
      """, as: viewer)
    let oslo: JSONValue = ["name": "Oslo", "level": "CITY"]
    #expect(
      map.at("viewer.sent.nodes") == [
        ["recipient": ["displayName": "Nowhere"], "place": nil],
        [
          "recipient": ["displayName": "Country"],
          "place": ["name": "Norway", "level": "COUNTRY"],
        ],
        ["recipient": ["displayName": "House"], "place": oslo],
      ])
    #expect(
      map.at("viewer.received.nodes") == [["sender": ["displayName": "House"], "place": oslo]])
  }

  @Test func `HM-O04: one's own posts on the profile, newest first`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let person = try data.person()
    _ = try data.offer(by: person, "offer", isOpen: false, at: "2026-03-01 11:00Z")
    _ = try data.cardRequest(by: person, "request", at: "2026-03-01 12:00Z")
    _ = try data.thankYou(by: person, "thanks", tagging: [data.person()], at: "2026-03-01 10:00Z")
    _ = try data.offer(by: data.person(), "another's")
    let own = try server.data(
      "{ viewer { user { posts { totalCount nodes { body } } } } }", as: person)
    #expect(own.strings("viewer.user.posts.nodes", "body") == ["request", "offer", "thanks"])
    #expect(own.at("viewer.user.posts.totalCount") == 3)
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

  @Test func `HM-O13: each thank-you received counts, until it is deleted`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (person, author) = (try data.person(), try data.person())
    func score() throws -> JSONValue? {
      try server.data(
        "query($id: ID!) { user(by: {id: $id}) { thankYouScore } }", ["id": person.json]
      ).at("user.thankYouScore")
    }
    #expect(try score() == 0)
    let first = try data.thankYou(by: author, tagging: [person, data.person()])
    _ = try data.thankYou(by: author, tagging: [person])
    _ = try data.thankYou(by: author, tagging: [data.person()])
    #expect(try score() == 2)
    try data.run("SELECT delete_node($1)", [first])
    #expect(try score() == 1)
    try data.run("DELETE FROM app_user WHERE id = $1", [author])
    #expect(try score() == 0)
  }

  @Test func `HM-O14: all thank-yous tagging somebody, newest first, for everyone`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (person, author, blocked) = (try data.person(), try data.person(), try data.person())
    for text in ["first", "second", "third"] {
      _ = try data.thankYou(by: text == "second" ? blocked : author, text, tagging: [person])
    }
    _ = try data.thankYou(by: author, "to another", tagging: [blocked])
    let viewer = try data.person()
    try data.block(viewer, blocked)
    let query = """
      query($id: ID!) { user(by: {id: $id}) { taggedIn(kinds: [THANK_YOU]) {
        totalCount nodes { body } } } }
      """
    let visitor = try server.data(query, ["id": person.json])
    #expect(visitor.strings("user.taggedIn.nodes", "body") == ["third", "second", "first"])
    #expect(visitor.at("user.taggedIn.totalCount") == 3)
    let seen = try server.data(query, ["id": person.json], as: viewer)
    #expect(seen.strings("user.taggedIn.nodes", "body") == ["third", "first"])
    #expect(seen.at("user.taggedIn.totalCount") == 2)
  }

  @Test func `HM-O15, HM-O17, read: what becomes of cards is told, with a button to approve`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (owner, sender) = (try data.person(), try data.person(name: "Sue"))
    let post = try data.cardRequest(by: owner, "Request")
    let asked = try data.infoRequest(post, of: owner, by: sender)
    let followUp = try data.followUp(post, from: sender, to: owner, state: "UNABLE")
    let first = try data.tell(owner, "asks", reason: "INFO_REQUESTED", by: sender, about: asked)
    try data.run(
      """
      UPDATE notification SET action_kind = 'APPROVE_INFO_REQUEST', action_label = 'Approve'
      WHERE id = $1
      """, [first])
    _ = try data.tell(owner, "cannot", reason: "FOLLOW_UP_UNABLE", by: sender, about: followUp)
    let list = try server.data(
      """
      { viewer { notifications { nodes { reason actor { displayName } action { kind }
        about { __typename ... on FollowUp { state } ... on InfoRequest { status } } } } } }
      """, as: owner)
    #expect(
      list.at("viewer.notifications.nodes") == [
        [
          "reason": "FOLLOW_UP_UNABLE", "actor": ["displayName": "Sue"], "action": nil,
          "about": ["__typename": "FollowUp", "state": "UNABLE"],
        ],
        [
          "reason": "INFO_REQUESTED", "actor": ["displayName": "Sue"],
          "action": ["kind": "APPROVE_INFO_REQUEST"],
          "about": ["__typename": "InfoRequest", "status": "PENDING"],
        ],
      ])
  }

  @Test func `HM-O19, HM-O21, read: everyone sees card preference, about text and country`() throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let country = try data.location("Peru", level: "COUNTRY")
    let query = """
      query($id: ID!) { user(by: {id: $id}) { cardPreference bio home { name level } } }
      """
    let person = try data.person(
      "card",
      ["card_preference": "CARDS", "bio": "About me", "home_id": country, "address": "Oslo"])
    #expect(
      try server.data(query, ["id": person.json]) == [
        "user": [
          "cardPreference": "CARDS", "bio": "About me",
          "home": ["name": "Peru", "level": "COUNTRY"],
        ]
      ])
    #expect(
      try server.data(query, ["id": data.person().json])
        == ["user": ["cardPreference": nil, "bio": "", "home": nil]])
  }

  @Test func `HM-O22, read: whether one's e-mail address is verified`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    for isVerified in [true, false] {
      let person = try data.person("mail", ["email_verified": isVerified])
      #expect(
        try server.data("{ viewer { emailVerified } }", as: person)
          == ["viewer": ["emailVerified": .boolean(isVerified)]])
    }
  }
}
