import JSON
import TestSupport
import Testing

/// Sailor+: adding places, topping, reviewing and commenting.
@Suite(.usesCluster) struct SailorWritingTests {
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
      create, "location", ["input: NewLocationInput!": input("Strand", maps: maps)], as: sailor)
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
        "query($in: ID!) { locations(filter: {within: $in, placeTypes: [BEACH]}) { nodes { id } } }",
        ["in": place.json])
      #expect(found.list("locations.nodes", "id") == [made.json])
    }
    // Somebody else adds the same place of the map: it is the one that is there.
    #expect(
      try server.make(
        create, "location", ["input: NewLocationInput!": input("The Strand", maps: maps)],
        as: data.person()) == made)
    #expect(
      try server.refusals(
        create,
        ["input: NewLocationInput!": ["name": " ", "parentId": sailor.json, "gmapsId": nil]],
        as: sailor) == [
          Refusal("REQUIRED", "input", "name"), Refusal("REQUIRED", "input", "coordinates"),
          Refusal("NOT_FOUND", "input", "parentId"),
        ])
    #expect(
      try server.refusals(
        create,
        ["input: NewLocationInput!": input("State", maps: GraphData.unique("g"), level: "CITY")],
        as: sailor) == [
          Refusal("FORBIDDEN", "input", "level"), Refusal("INVALID", "input", "parentId"),
        ])
    #expect(
      try server.mutationErrorCodes(
        create, ["input: NewLocationInput!": input("Strand", maps: maps)], as: nil)
        == ["UNAUTHENTICATED"])
  }

  @Test func `SP-R11: a post is topped once by each, and taken back`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, fan, stranger) = (try data.person(), try data.person(), try data.person())
    let post = try data.photoPost(by: author)
    let query = """
      query($id: ID!) { post(id: $id) {
        viewerReactions reactionCount(kind: TOP) reactions(kind: TOP) { nodes { id } } } }
      """
    func seen(_ person: Person?) throws -> JSONValue? {
      try server.data(query, ["id": post.json], as: person)["post"]
    }
    for _ in 0..<2 {
      try server.mutate("react(subjectId: $id, kind: TOP)", ["id: ID!": post.json], as: fan)
    }
    let fans: JSONValue = ["nodes": [["id": fan.json]]]
    #expect(
      try seen(fan) == ["viewerReactions": ["TOP"], "reactionCount": 1, "reactions": fans])
    for person in [author, nil] {
      #expect(
        try seen(person) == ["viewerReactions": [], "reactionCount": 1, "reactions": fans])
    }
    try data.block(author, stranger)
    #expect(
      try server.refusals("react(subjectId: $id, kind: TOP)", ["id: ID!": post.json], as: stranger)
        == [Refusal("NOT_FOUND", "subjectId")])
    #expect(
      try server.refusals("react(subjectId: $id, kind: AGREE)", ["id: ID!": post.json], as: fan)
        == [Refusal("INVALID", "kind")])
    for _ in 0..<2 {
      try server.mutate("unreact(subjectId: $id, kind: TOP)", ["id: ID!": post.json], as: fan)
    }
    #expect(
      try seen(fan)
        == ["viewerReactions": [], "reactionCount": 0, "reactions": ["nodes": []]])
  }

  @Test func `SP-R12: topping a place makes it more popular`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let country = try data.location("Country", level: "COUNTRY")
    let places = try ["one", "two"].map { try data.location($0, parent: country) }
    let query = """
      query($in: ID!) { locations(filter: {within: $in}) {
        nodes { name popularity reactionCount viewerReactions } } }
      """
    let fan = try data.person()
    func seen() throws -> JSONValue? {
      try server.data(query, ["in": country.json], as: fan).at("locations.nodes")
    }
    let payload = try server.mutate(
      "react(subjectId: $id, kind: TOP)", "subject { ... on Location { name reactionCount } }",
      ["id: ID!": places[0].json], as: fan)
    #expect(payload["subject"] == ["name": "one", "reactionCount": 1])
    try data.rank()
    #expect(
      try seen() == [
        ["name": "one", "popularity": 1, "reactionCount": 1, "viewerReactions": ["TOP"]],
        ["name": "two", "popularity": 0, "reactionCount": 0, "viewerReactions": []],
      ])
    #expect(
      try server.refusals(
        "react(subjectId: $id, kind: HEART)", ["id: ID!": places[1].json], as: fan)
        == [Refusal("INVALID", "kind")])
    #expect(
      try server.mutationErrorCodes(
        "react(subjectId: $id, kind: TOP)", ["id: ID!": places[1].json], as: nil)
        == ["UNAUTHENTICATED"])
  }

  @Test func `SP-O05: a review of a place is read and counted`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (critic, blocked) = (try data.person(name: "Critic"), try data.person())
    try data.block(critic, blocked)
    let place = try data.location("Pier")
    let add = "addComment(subjectId: $id, body: $body)"
    let payload = try server.mutate(
      add, "comment { body subject { id commentCount } }",
      ["id: ID!": place.json, "body: String!": "  Windy.  "], as: critic)
    #expect(
      payload["comment"]
        == ["body": "Windy.", "subject": ["id": place.json, "commentCount": 1]])
    let query = """
      query($id: ID!) { location(by: {id: $id}) {
        commentCount comments { nodes { body author { displayName } viewerCanDelete } } } }
      """
    #expect(
      try server.data(query, ["id": place.json]) == [
        "location": [
          "commentCount": 1,
          "comments": [
            "nodes": [
              [
                "body": "Windy.", "author": ["displayName": "Critic"], "viewerCanDelete": false,
              ]
            ]
          ],
        ]
      ])
    #expect(
      try server.data(query, ["id": place.json], as: blocked)
        == ["location": ["commentCount": 0, "comments": ["nodes": []]]])
    #expect(
      try server.refusals(
        add,
        ["id: ID!": place.json, "body: String!": .string(String(repeating: "x", count: 2001))],
        as: critic) == [Refusal("TOO_LONG", "body")])
    #expect(
      try server.refusals(add, ["id: ID!": critic.json, "body: String!": "Hm."], as: critic)
        == [Refusal("NOT_FOUND", "subjectId")])
  }

  @Test func `after a block host and writer still delete a comment, which others go on reading`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (host, writer, reader) = (try data.person(), try data.person(), try data.person())
    let group = try data.circle("Group", owner: host, members: [writer, reader])
    let delete = "deleteComment(commentId: $id)"
    for (blocker, blocked) in [(host, writer), (writer, host)] {
      for person in [host, writer] {
        for subject in [try data.photoPost(by: host), group] {
          let comment = try data.comment(subject, by: writer, "Ugly")
          try data.block(blocker, blocked)
          #expect(try server.finds(comment, as: reader))
          #expect(
            try server.refusals(delete, ["id: ID!": comment.json], as: reader)
              == [Refusal("FORBIDDEN", "commentId")])
          #expect(
            try server.mutate(delete, "deletedId", ["id: ID!": comment.json], as: person)[
              "deletedId"] == comment.json)
          #expect(try !server.finds(comment, as: reader))
          #expect(
            try server.refusals(delete, ["id: ID!": comment.json], as: person)
              == [Refusal("NOT_FOUND", "commentId")])
          try data.run("DELETE FROM block WHERE blocker_id = $1", [blocker])
        }
      }
    }
    // What somebody hidden wrote elsewhere is not there.
    try data.block(writer, host)
    let elsewhere = try data.comment(data.photoPost(by: reader), by: writer, "Hm")
    #expect(
      try server.refusals(delete, ["id: ID!": elsewhere.json], as: host)
        == [Refusal("NOT_FOUND", "commentId")])
  }

  @Test func `SP-O06: a message is read by those it is for, and goes to nobody who blocks`() throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (anna, ben, eve) = (
      try data.person(name: "Anna"), try data.person(name: "Ben"), try data.person()
    )
    let send = "sendMessage(to: {userIds: [$to]}, body: $body)"
    func write(_ body: JSONValue, from: Person, to: Person) throws -> JSONValue {
      try server.mutate(
        send, "message { id body author { displayName } conversation { id } }",
        ["to: ID!": to.json, "body: String!": body], as: from)["message"] ?? .null
    }
    let first = try write("Ahoy", from: anna, to: ben)
    #expect(first["author"] == ["displayName": "Anna"])
    let second = try write("Ahoy yourself", from: ben, to: anna)
    let conversation = try #require(first.at("conversation.id"))
    #expect(second.at("conversation.id") == conversation)
    let query = """
      { viewer { conversations { nodes {
        id participants { displayName } messages { nodes { body } } } } } }
      """
    for person in [anna, ben] {
      #expect(
        try server.data(query, as: person).at("viewer.conversations.nodes") == [
          [
            "id": conversation, "participants": [["displayName": "Anna"], ["displayName": "Ben"]],
            "messages": ["nodes": [["body": "Ahoy"], ["body": "Ahoy yourself"]]],
          ]
        ])
    }
    #expect(try server.data(query, as: eve).at("viewer.conversations.nodes") == [])
    let id = try #require(first["id"])
    #expect(
      try server.data(
        "query($ids: [ID!]!) { nodes(ids: $ids) { id } }", ["ids": [id, conversation]], as: eve)
        == ["nodes": [nil, nil]])
    #expect(
      try server.refusals(
        "sendMessage(to: {conversationId: $id}, body: \"Me too\")", ["id: ID!": conversation],
        as: eve) == [Refusal("NOT_FOUND", "to", "conversationId")])
    try server.mutate("blockUser(userId: $id)", ["id: ID!": ben.json], as: anna)
    #expect(
      try server.refusals(send, ["to: ID!": ben.json, "body: String!": "x"], as: anna)
        == [Refusal("BLOCKED", "to", "userIds", "0")])
    #expect(
      try server.refusals(send, ["to: ID!": anna.json, "body: String!": "x"], as: ben)
        == [Refusal("CLOSED", "to", "userIds")])
    #expect(
      try server.refusals(send, ["to: ID!": eve.json, "body: String!": " "], as: ben)
        == [Refusal("REQUIRED", "body")])
  }

  @Test func `SP-O07: a conversation pages back from the newest, and knows what is unread`() throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (anna, ben, eve) = (try data.person(), try data.person(), try data.person())
    var conversation: JSONValue = nil
    for number in 0..<5 {
      conversation =
        try server.mutate(
          "sendMessage(to: {userIds: [$to]}, body: $body)", "message { conversation { id } }",
          ["to: ID!": ben.json, "body: String!": .string("message \(number)")], as: anna
        ).at("message.conversation.id") ?? .null
    }
    let query = """
      query($id: ID!, $before: String) { node(id: $id) { ... on Conversation { unreadCount
        messages(last: 2, before: $before) {
          nodes { body } pageInfo { startCursor hasPreviousPage } } } } }
      """
    func page(_ before: JSONValue, as person: Person) throws -> JSONValue? {
      try server.data(query, ["id": conversation, "before": before], as: person)["node"]
    }
    let latest = try #require(try page(nil, as: ben))
    #expect(latest["unreadCount"] == 5)
    #expect(latest.strings("messages.nodes", "body") == ["message 3", "message 4"])
    #expect(latest.at("messages.pageInfo.hasPreviousPage") == true)
    let before = try #require(
      try page(latest.at("messages.pageInfo.startCursor") ?? .null, as: ben))
    #expect(before.strings("messages.nodes", "body") == ["message 1", "message 2"])
    #expect(try page(nil, as: anna)?["unreadCount"] == 0)
    #expect(try page(nil, as: eve) == .null)
    let payload = try server.mutate(
      "markConversationRead(conversationId: $id)", "conversation { unreadCount }",
      ["id: ID!": conversation], as: ben)
    #expect(payload["conversation"] == ["unreadCount": 0])
    #expect(
      try server.data("{ viewer { unreadNotificationCount } }", as: ben)
        == ["viewer": ["unreadNotificationCount": 0]])
    #expect(
      try server.refusals(
        "markConversationRead(conversationId: $id)", ["id: ID!": conversation], as: eve)
        == [Refusal("NOT_FOUND", "conversationId")])
  }

  @Test func `SP-O08: a comment on a post is read by whoever sees the post`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, reader, stranger) = (try data.person(), try data.person(), try data.person())
    let circle = try data.circle("Crew", owner: author, members: [reader])
    let post = try data.photoPost(by: author, circle: circle, visibility: "CIRCLE")
    let add = "addComment(subjectId: $id, body: \"Fair winds\")"
    try server.mutate(add, ["id: ID!": post.json], as: reader)
    let query = """
      query($id: ID!) { post(id: $id) { commentCount
        comments { totalCount nodes { body author { id } viewerCanDelete } } } }
      """
    for (person, canDelete) in [(author, true), (reader, true)] {
      #expect(
        try server.data(query, ["id": post.json], as: person) == [
          "post": [
            "commentCount": 1,
            "comments": [
              "totalCount": 1,
              "nodes": [
                [
                  "body": "Fair winds", "author": ["id": reader.json],
                  "viewerCanDelete": .boolean(canDelete),
                ]
              ],
            ],
          ]
        ])
    }
    #expect(
      try server.refusals(add, ["id: ID!": post.json], as: stranger)
        == [Refusal("NOT_FOUND", "subjectId")])
    #expect(
      try server.mutationErrorCodes(add, ["id: ID!": post.json], as: nil) == ["UNAUTHENTICATED"])
  }

  @Test func `SP-O09: its author, the post's author and staff delete a comment, and nobody else`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, writer, stranger) = (try data.person(), try data.person(), try data.person())
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let post = try data.photoPost(by: author)
    let query = """
      query($id: ID!) { post(id: $id) { commentCount comments { nodes { id viewerCanDelete } } } }
      """
    let delete = "deleteComment(commentId: $id)"
    for person in [writer, author, staff] {
      let comment = try server.make(
        "addComment(subjectId: $id, body: \"Ahoy\")", "comment", ["id: ID!": post.json], as: writer)
      #expect(
        try server.refusals(delete, ["id: ID!": comment.json], as: stranger)
          == [Refusal("FORBIDDEN", "commentId")])
      for (reader, canDelete) in [(person, true), (stranger, false)] {
        #expect(
          try server.data(query, ["id": post.json], as: reader).at("post.comments.nodes")
            == [["id": comment.json, "viewerCanDelete": .boolean(canDelete)]])
      }
      #expect(
        try server.mutate(delete, "deletedId", ["id: ID!": comment.json], as: person)["deletedId"]
          == comment.json)
      #expect(
        try server.data(query, ["id": post.json])
          == ["post": ["commentCount": 0, "comments": ["nodes": []]]])
      #expect(
        try server.refusals(delete, ["id: ID!": comment.json], as: person)
          == [Refusal("NOT_FOUND", "commentId")])
    }
  }
}
