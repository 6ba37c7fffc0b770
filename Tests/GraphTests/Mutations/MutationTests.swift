import JSON
import TestSupport
import Testing

/// The first mutations, each form of payload among them, over HTTP.
@Suite(.usesCluster) struct MutationTests {
  /// The ID of a post that does not exist.
  private static let nothing = NodeKey(Int64(1) << 50 | 24).json

  // MARK: An object by its id

  @Test func `reacting and taking it back can be repeated, and the counts are new`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (anna, ben) = (try data.person("anna"), try data.person("ben"))
    let post = try data.post(.text, by: anna)
    for _ in 0..<2 {
      let payload = try server.mutate(
        "react(subjectId: $id, kind: HEART)",
        "__typename subject { __typename id viewerReactions reactionCount(kind: HEART) }",
        ["id: ID!": post.json], as: ben)
      #expect(
        payload["subject"] == [
          "__typename": "TextPost", "id": post.json, "viewerReactions": ["HEART"],
          "reactionCount": 1,
        ])
    }
    for _ in 0..<2 {
      let payload = try server.mutate(
        "unreact(subjectId: $id, kind: HEART)", "subject { viewerReactions }",
        ["id: ID!": post.json], as: ben)
      #expect(payload["subject"] == ["viewerReactions": []])
    }
  }

  @Test
  func `what the viewer may not see, what is not there and what is no id are not found alike`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (anna, ben) = (try data.person("anna"), try data.person("ben"))
    let group = try data.circle("Group", owner: anna)
    let hidden = try data.post(.text, by: anna, circle: group, visibility: "CIRCLE")
    let answers = try [hidden.json, Self.nothing, "no id", "", "12345678901234567890"].map {
      try server.payload(
        "react(subjectId: $id, kind: HEART)", "subject { id }", ["id: ID!": $0], as: ben)
    }
    #expect(
      answers[0] == [
        "subject": .null,
        "userErrors": [
          [
            "code": "NOT_FOUND",
            "message": "This does not exist, or you may not see it.",
            "field": ["subjectId"],
          ]
        ],
      ])
    #expect(Set(answers.map { "\($0)" }).count == 1)
  }

  @Test func `a broken constraint is a user error, and nothing of it stands in the answer`() throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let anna = try data.person("anna")
    let post = try data.post(.text, by: anna)
    #expect(
      try server.refusals("react(subjectId: $id, kind: AGREE)", ["id: ID!": post.json], as: anna)
        == [Refusal("INVALID", "kind")])
    let ben = try data.person("ben")
    #expect(
      try server.refusals(
        "updateProfile(input: {username: $name})", ["name: String!": .string(ben.username)],
        as: anna) == [Refusal("TAKEN", "input", "username")])
  }

  // MARK: Objects by their ids

  @Test func `a list comes back in its order, and each bad element is an error of its own`() throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let people = try (0..<4).map { try data.person("p\($0)") }
    let (anna, others) = (people[0], people.dropFirst().map(\.json))
    let payload = try server.mutate(
      "followUsers(userIds: $ids)", "users { id viewerIsFollowing }",
      ["ids: [ID!]!": .array([others[2], others[0], others[1]])], as: anna)
    #expect(
      payload["users"]
        == .array(
          [others[2], others[0], others[1]].map { ["id": $0, "viewerIsFollowing": true] }))
    try data.block(anna, people[1])
    try data.block(people[2], anna)
    #expect(
      try server.refusals(
        "unfollowUsers(userIds: $ids)",
        ["ids: [ID!]!": .array([others[2], others[0], others[1], anna.json, Self.nothing])],
        as: anna)
        == [
          Refusal("BLOCKED", "userIds", "1"), Refusal("NOT_FOUND", "userIds", "2"),
          Refusal("INVALID", "userIds", "3"), Refusal("NOT_FOUND", "userIds", "4"),
        ])
    // All or nothing.
    let followed = try server.data(
      "query($id: ID!) { node(id: $id) { ... on User { viewerIsFollowing } } }",
      ["id": others[2]], as: anna)
    #expect(followed.at("node.viewerIsFollowing") == true)
    #expect(
      try server.payload(
        "followUsers(userIds: $ids)", "users { id }", ["ids: [ID!]!": [Self.nothing]], as: anna)[
          "users"] == .null)
    #expect(
      try server.refusals(
        "followUsers(userIds: $ids)",
        ["ids: [ID!]!": .array(Array(repeating: others[2], count: 101))], as: anna)
        == [Refusal("TOO_MANY", "userIds")])
  }

  /// The mutations that take lists, each with its list as `$list`.
  private static let lists: [(field: String, type: String, path: [String])] = [
    ("followUsers(userIds: $list)", "[ID!]!", ["userIds"]),
    ("unfollowUsers(userIds: $list)", "[ID!]!", ["userIds"]),
    (
      "createAnnouncement(input: {body: \"b\", notifyUserIds: $list})", "[ID!]!",
      ["input", "notifyUserIds"]
    ),
    (
      "createAnnouncement(input: {body: \"b\", notifyCircleIds: $list})", "[ID!]!",
      ["input", "notifyCircleIds"]
    ),
    (
      "createEvent(input: {title: \"t\", startsAt: \"2090-01-01T00:00:00.000Z\", inviteUserIds: $list})",
      "[ID!]!", ["input", "inviteUserIds"]
    ),
    (
      "createEvent(input: {title: \"t\", startsAt: \"2090-01-01T00:00:00.000Z\", inviteCircleIds: $list})",
      "[ID!]!", ["input", "inviteCircleIds"]
    ),
    ("createCircle(input: {name: \"n\", memberIds: $list})", "[ID!]!", ["input", "memberIds"]),
    (
      "createThankYou(input: {body: \"b\", taggedUserIds: $list})", "[ID!]!",
      ["input", "taggedUserIds"]
    ),
    (
      "createTextPost(input: {body: \"b\", photoIds: $list})", "[ID!]!", ["input", "photoIds"]
    ),
    (
      "createCardOffer(input: {body: \"b\", regionIds: $list})", "[ID!]!", ["input", "regionIds"]
    ),
    (
      "updateProfile(input: {shipsToLocationIds: $list})", "[ID!]!",
      ["input", "shipsToLocationIds"]
    ),
    ("deleteNotifications(notificationIds: $list)", "[ID!]!", ["notificationIds"]),
  ]

  @Test(arguments: lists.indices)
  func `a list that is too long is one error, and its elements are not looked at`(_ place: Int)
    throws
  {
    let server = try GraphServer.shared
    let anna = try server.data().person()
    let list = Self.lists[place]
    let many = JSONValue.array(Array(repeating: Self.nothing, count: 10_000))
    let found = try server.payload(
      list.field, "__typename", ["list: \(list.type)": many], as: anna)["userErrors"]?.array
    #expect(found?.count == 1)
    #expect(found?.first?["code"] == "TOO_MANY", "\(list.field): \(found ?? [])")
    #expect(
      found?.first?["field"] == .array(list.path.map { .string($0) }), "\(list.field)")
  }

  // MARK: Creations and deletions

  @Test func `a post is made with its photos and place, and read as others read it`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let anna = try data.person("anna")
    let photos = try (0..<2).map { _ in try data.photo(of: anna) }
    let place = try data.location("Harbour")
    let payload = try server.mutate(
      "createTextPost(input: {body: $body, photoIds: $photos, location: {id: $place}})",
      """
      textPost { body visibility author { username } location { name } photos { id } \
      comments(first: 1) { totalCount } }
      """,
      [
        "body: String!": "Words with \"quotes\" and \u{1F600}.",
        "photos: [ID!]": .array(photos.reversed().map(\.json)), "place: ID!": place.json,
      ], as: anna)
    #expect(
      payload["textPost"] == [
        "body": "Words with \"quotes\" and \u{1F600}.", "visibility": "PUBLIC",
        "author": ["username": .string(anna.username)], "location": ["name": "Harbour"],
        "photos": .array(photos.reversed().map { ["id": $0.json] }),
        "comments": ["totalCount": 0],
      ])
  }

  @Test func `what does not fit a post is refused, all of it at once, and leaves nothing`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (anna, ben) = (try data.person("anna"), try data.person("ben"))
    let rejected = try data.photo(of: anna, moderation: "REJECTED")
    let group = try data.circle("Group", owner: ben)
    let refusals = try server.refusals(
      "createTextPost(input: {body: \"x\", photoIds: $photos, circleId: $circle, visibility: INVITED})",
      [
        "photos: [ID!]": [rejected.json, try data.photo(of: ben).json], "circle: ID": group.json,
      ], as: anna)
    // In the order of the input's fields.
    #expect(
      refusals == [
        Refusal("NOT_FOUND", "input", "circleId"), Refusal("INVALID", "input", "visibility"),
        Refusal("REJECTED_PHOTO", "input", "photoIds", "0"),
        Refusal("NOT_FOUND", "input", "photoIds", "1"),
      ])
    #expect(
      try server.refusals("createTextPost(input: {body: \" \\n\"})", as: anna)
        == [Refusal("REQUIRED", "input", "body")])
    #expect(
      try server.refusals(
        "createTextPost(input: {body: $b})",
        ["b: String!": .string(String(repeating: "x", count: 5001))], as: anna)
        == [Refusal("TOO_LONG", "input", "body")])
    // The place was added before the post was refused by its table.
    #expect(
      try server.refusals(
        """
        createTextPost(input: {body: "x", location: {new: {
          name: "Nowhere \(anna.username)", coordinates: {latitude: 91, longitude: 0}}}})
        """, as: anna
      ).first?.code == "INVALID")
    #expect(
      try data.run("SELECT count(*) FROM post WHERE author_id = $1", [anna.key])[0][0] == "0")
    #expect(
      try data.run(
        "SELECT count(*) FROM location WHERE name = 'Nowhere \(anna.username)'")[0][0] == "0")
  }

  @Test func `only the author and staff delete a post, and it is gone with what was said about it`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (anna, ben) = (try data.person("anna"), try data.person("ben"))
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let posts = try (0..<2).map { _ in try data.post(.text, by: anna) }
    let comment = try server.mutate(
      "addComment(subjectId: $id, body: \"well\")", "comment { id body author { username } }",
      ["id: ID!": posts[0].json], as: ben)
    #expect(comment.at("comment.author.username") == .string(ben.username))
    #expect(
      try server.payload(
        "deletePost(postId: $id)", "deletedId", ["id: ID!": posts[0].json], as: ben
      )
      .at("deletedId") == .null)
    #expect(
      try server.refusals("deletePost(postId: $id)", ["id: ID!": posts[0].json], as: ben)
        == [Refusal("FORBIDDEN", "postId")])
    for (post, person) in zip(posts, [anna, staff]) {
      #expect(
        try server.mutate(
          "deletePost(postId: $id)", "deletedId", ["id: ID!": post.json], as: person)["deletedId"]
          == post.json)
    }
    #expect(
      try server.data(
        "query($ids: [ID!]!) { nodes(ids: $ids) { id } }",
        ["ids": [posts[0].json, try #require(comment.at("comment.id"))]], as: anna)["nodes"]
        == [.null, .null])
    #expect(
      try server.refusals("deletePost(postId: $id)", ["id: ID!": posts[0].json], as: anna)
        == [Refusal("NOT_FOUND", "postId")])
  }

  @Test func `a vote is final, and secret before`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (anna, ben) = (try data.person("anna"), try data.person("ben"))
    let outfit = try data.post(.outfit, by: anna)
    func cast(_ choice: String, _ person: Person) throws -> [Refusal] {
      try server.refusals(
        "castVote(postId: $id, choice: \(choice))", ["id: ID!": outfit.json], as: person)
    }
    #expect(try cast("WEAR_IT", anna) == [Refusal("FORBIDDEN", "postId")])
    let payload = try server.mutate(
      "castVote(postId: $id, choice: WEAR_IT)", "post { __typename viewerVote }",
      ["id: ID!": outfit.json], as: ben)
    #expect(payload["post"] == ["__typename": "OutfitPost", "viewerVote": "WEAR_IT"])
    #expect(try cast("WEAR_IT", ben) == [])
    #expect(try cast("CHANGE_IT", ben) == [Refusal("ALREADY_DONE", "choice")])
    try data.run("UPDATE votable_post SET voting_enabled = false WHERE post_id = $1", [outfit])
    #expect(try cast("WEAR_IT", try data.person("eve")) == [Refusal("CLOSED", "postId")])
  }

  @Test func `a circle is made with its members`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (anna, ben) = (try data.person("anna"), try data.person("ben"))
    let payload = try server.mutate(
      "createCircle(input: {name: \"Walkers\", memberIds: [$ben]})",
      "circle { name kind viewerRole members { totalCount } }", ["ben: ID!": ben.json], as: anna)
    #expect(
      payload["circle"] == [
        "name": "Walkers", "kind": "GROUP", "viewerRole": "OWNER", "members": ["totalCount": 2],
      ])
    #expect(
      try server.refusals(
        "createCircle(input: {name: \"\", kind: CHANNEL, memberIds: [$ben]})",
        ["ben: ID!": ben.json], as: anna)
        == [
          Refusal("REQUIRED", "input", "name"), Refusal("FORBIDDEN", "input", "kind"),
          Refusal("INVALID", "input", "memberIds"),
        ])
  }

  @Test func `an offer takes as many answers as it says, each person once`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let author = try data.person("author")
    let people = try (0..<3).map { try data.person("p\($0)", ["address": "Street \($0)"]) }
    let offer = try data.post(.cardOffer, by: author)
    try data.run(
      "UPDATE card_post SET response_limit = 2 WHERE post_id = $1", [offer])
    func respond(_ person: Person) throws -> [Refusal] {
      try server.refusals("respondToOffer(cardOfferId: $id)", ["id: ID!": offer.json], as: person)
    }
    #expect(try respond(author) == [Refusal("FORBIDDEN", "cardOfferId")])
    #expect(try respond(people[0]) == [])
    #expect(try respond(people[0]) == [])
    let payload = try server.mutate(
      "respondToOffer(cardOfferId: $id)", "cardOffer { isOpen responseCount }",
      ["id: ID!": offer.json], as: people[1])
    #expect(payload["cardOffer"] == ["isOpen": false, "responseCount": 2])
    #expect(try respond(people[2]) == [Refusal("CLOSED", "cardOfferId")])
    #expect(try respond(people[0]) == [])
  }

  // MARK: Left out and null

  @Test func `what is left out stays, null clears, and a variable that is not given is left out`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let anna = try data.person(
      "anna", name: "Anna", ["bio": "before", "website": "https://a.example"])
    func update(_ input: String, _ variables: KeyValuePairs<String, JSONValue> = [:]) throws
      -> JSONValue?
    {
      try server.mutate(
        "updateProfile(input: \(input))", "viewer { user { displayName bio website } address }",
        variables, as: anna)["viewer"]
    }
    #expect(
      try update("{address: \"Road 1\"}") == [
        "user": ["displayName": "Anna", "bio": "before", "website": "https://a.example"],
        "address": "Road 1",
      ])
    #expect(
      try update("{website: null, displayName: $name, bio: \"after\"}", ["name: String": "Ana"])
        == [
          "user": ["displayName": "Ana", "bio": "after", "website": .null], "address": "Road 1",
        ])
    let document =
      "mutation($bio: String, $input: UpdateProfileInput!) {"
      + " a: updateProfile(input: {bio: $bio}) { viewer { user { bio } } }"
      + " b: updateProfile(input: $input) { viewer { user { bio } address } } }"
    #expect(
      try server.data(document, ["input": ["address": .null]], as: anna) == [
        "a": ["viewer": ["user": ["bio": "after"]]],
        "b": ["viewer": ["user": ["bio": "after"], "address": .null]],
      ])
    #expect(
      try server.data(document, ["bio": .null, "input": ["bio": "last"]], as: anna) == [
        "a": ["viewer": ["user": ["bio": ""]]],
        "b": ["viewer": ["user": ["bio": "last"], "address": .null]],
      ])
    #expect(
      try server.refusals(
        "updateProfile(input: {displayName: null, homeLocationId: \"no id\"})", as: anna)
        == [
          Refusal("REQUIRED", "input", "displayName"),
          Refusal("NOT_FOUND", "input", "homeLocationId"),
        ])
  }

  // MARK: Several fields

  @Test func `a field that fails takes nothing from those before and after it`() throws {
    let server = try GraphServer.shared
    let name = GraphData.unique("ada")
    let answer = try server.execute(
      """
      mutation($input: SignUpInput!) {
        a: signUp(input: $input) { token userErrors { code } }
        b: createTextPost(input: {body: "Hello"}) { textPost { id } }
        c: requestPasswordReset(email: "nobody@mail.example") { userErrors { code } }
      }
      """, ["input": ["username": .string(name), "password": "correct horse"]], as: nil)
    #expect(answer.at("data.a.userErrors") == [])
    #expect(answer.at("data.b") == .null)
    #expect(answer.at("data.c") == ["userErrors": []])
    #expect(answer["errors"]?.array?.count == 1)
    #expect(answer.at("errors.0.path") == ["b"])
    #expect(answer.at("errors.0.extensions.code") == "UNAUTHENTICATED")
    let token = try #require(answer.at("data.a.token")?.string)
    #expect(
      try server.execute("{ viewer { user { username } } }", token: token)["data"]
        == ["viewer": ["user": ["username": .string(name)]]])
  }

  @Test func `every field of a mutation may be null`() throws {
    let schema = try GraphServer.mapping.get().schema
    let mutation = schema[try #require(schema.mutationType)]
    #expect(mutation.fields.count > 70)
    #expect(mutation.fields.filter { $0.type.isNonNull }.map(\.name) == [])
  }
}
