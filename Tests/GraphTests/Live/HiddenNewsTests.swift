import HTTPTestSupport
import JSON
import TestSupport
import Testing

extension LiveTests {
  /// The times and the number of events reveal nothing that a viewer may not see.
  @Suite struct HiddenNewsTests {
    private static func changes(_ selection: String) -> String {
      "subscription($id: ID!) { nodeChanged(id: $id) { \(selection) } }"
    }

    /// The comment of a stranger beneath makes the whole response another one, and leaves no touch of the person.
    private static let profile = changes(
      "... on User { bio posts(first: 1) { nodes { commentCount } } }")

    @Test func `blocks and private details are told to nobody else, whatever else has changed`()
      throws
    {
      let server = try LiveServer()
      let data = try server.graph.data()
      let (ann, bob, cem) = (try data.person(), try data.person(), try data.person())
      let posts = try [ann, bob].map { try data.post(.text, by: $0) }
      let hidden: [() throws -> Void] = [
        { try data.block(ann, bob) },
        { try data.run("DELETE FROM block WHERE blocker_id = \(ann)") },
        { try data.run("UPDATE app_user SET address = 'Road 2' WHERE id = \(ann)") },
        { try data.run("UPDATE app_user SET email = 'ann@example.org' WHERE id = \(ann)") },
        { try data.run("UPDATE app_user SET email_verified = true WHERE id = \(ann)") },
        {
          try server.graph.mutate(
            "updateProfile(input: { address: \"Road 3\", shipsToLocationIds: [] })", as: ann)
        },
      ]
      for (place, viewer) in [cem, nil].enumerated() {
        let (hers, his) = (try server.socket(viewer), try server.socket(viewer))
        hers.subscribe("1", Self.profile, ["id": ann.json])
        his.subscribe("1", Self.profile, ["id": bob.json])
        try server.waitForHearing(2)
        for act in hidden {
          for post in posts { _ = try data.comment(post, by: cem, "a comment") }
          try act()
        }
        for (socket, person) in [(hers, ann), (his, bob)] {
          try data.run("UPDATE app_user SET bio = 'words \(place)' WHERE id = \(person)")
          #expect(try socket.data().at("nodeChanged.bio") == .string("words \(place)"))
          socket.complete("1")
        }
        try server.waitForHearing(0)
      }
    }

    @Test func `the two whom a block parts are told`() throws {
      let server = try LiveServer()
      let data = try server.graph.data()
      let (ann, bob) = (try data.person(), try data.person())
      let (hers, his) = (try server.socket(ann), try server.socket(bob))
      hers.subscribe("1", Self.profile, ["id": bob.json])
      his.subscribe("1", Self.profile, ["id": ann.json])
      let live = try server.socket(bob)
      live.subscribe("1", "query($id: ID!) @live { node(id: $id) { id } }", ["id": ann.json])
      #expect(try live.data().at("node.id") == ann.json)
      try server.waitForHearing(2)
      try server.graph.mutate("blockUser(userId: $id)", ["id: ID!": bob.json], as: ann)
      for socket in [hers, his] {
        #expect(try socket.data() == ["nodeChanged": .null])
        #expect(socket.message()?["type"] == "complete")
      }
      #expect(try live.data() == ["node": .null])
      try server.graph.mutate("unblockUser(userId: $id)", ["id: ID!": bob.json], as: ann)
      #expect(try live.data().at("node.id") == ann.json)
    }

    @Test func `private details are told to whoever may read them`() throws {
      let server = try LiveServer()
      let data = try server.graph.data()
      let (ann, bob) = (try data.person("ann", ["address": "Road 1"]), try data.person())
      let offer = try data.post(.cardOffer, by: bob)
      let card = try data.insert(
        "follow_up", ["post_id": offer, "sender_id": bob.key, "recipient_id": ann.key])
      let (mine, sender) = (try server.socket(ann), try server.socket(bob))
      mine.subscribe("1", "query @live { viewer { email address } }")
      sender.subscribe(
        "1", "query($id: ID!) @live { node(id: $id) { ... on FollowUp { recipientAddress } } }",
        ["id": card.json])
      #expect(try mine.data().at("viewer.address") == "Road 1")
      #expect(try sender.data().at("node.recipientAddress") == "Road 1")
      try data.run("UPDATE app_user SET address = 'Road 2' WHERE id = \(ann)")
      #expect(try mine.data().at("viewer.address") == "Road 2")
      #expect(try sender.data().at("node.recipientAddress") == "Road 2")
      try data.run("UPDATE app_user SET email = 'ann@example.org' WHERE id = \(ann)")
      #expect(try mine.data().at("viewer.email") == "ann@example.org")
    }

    @Test func `votes are told to whoever may see the verdict, from their own vote on`() throws {
      let server = try LiveServer()
      let data = try server.graph.data()
      let (ann, bob, cem) = (try data.person(), try data.person(), try data.person())
      let outfit = try data.post(.outfit, by: ann)
      func vote(_ person: Person) throws {
        try server.graph.mutate(
          "castVote(postId: $id, choice: WEAR_IT)", ["id: ID!": outfit.json], as: person)
      }
      let socket = try server.socket(bob)
      socket.subscribe(
        "1",
        Self.changes(
          "... on OutfitPost { verdict { wearItCount } author { viewerIsFollowing } }"),
        ["id": outfit.json])
      try server.waitForHearing(1)
      // The whole response is another one before each vote.
      try data.follow(bob, ann)
      try vote(cem)
      try data.run("DELETE FROM follow WHERE follower_id = \(bob)")
      try vote(data.person())
      try vote(bob)
      #expect(try socket.data().at("nodeChanged.verdict.wearItCount") == 3)
      try vote(data.person())
      #expect(try socket.data().at("nodeChanged.verdict.wearItCount") == 4)
    }

    @Test func `what a hidden member does in a group is told to nobody who does not see them`()
      throws
    {
      let server = try LiveServer()
      let data = try server.graph.data()
      let (ann, bob, cem) = (try data.person(), try data.person(), try data.person())
      let group = try data.circle("Group", owner: cem, members: [bob])
      try data.block(ann, bob)
      try data.session.waitForChanges()
      let (node, sync) = (try server.socket(bob), try server.socket(bob))
      node.subscribe(
        "1", Self.changes("... on Circle { members { totalCount } comments { totalCount } }"),
        ["id": group.json])
      sync.subscribe("1", "subscription { changesAvailable }")
      try server.waitForHearing(2)
      let query = "query($since: String) { changes(since: $since) { token changes { nodeId } } }"
      let start = try server.graph.data(query, as: bob).at("changes.token") ?? .null
      try data.join(group, ann)
      let comment = try data.comment(group, by: ann, "hidden words")
      let post = try data.post(.text, by: ann, circle: group, visibility: "CIRCLE")
      try data.run("DELETE FROM comment WHERE id = \(comment)")
      try data.run("DELETE FROM post WHERE id = \(post)")
      try data.run("DELETE FROM circle_member WHERE user_id = \(ann)")
      try data.session.waitForChanges()
      #expect(try server.graph.data(query, ["since": start], as: bob).at("changes.changes") == [])
      sync.client.send(#"{"type":"ping"}"#)
      #expect(sync.text() == #"{"type":"pong"}"#)
      let seen = try data.comment(group, by: cem, "words")
      #expect(
        try node.data()
          == ["nodeChanged": ["members": ["totalCount": 2], "comments": ["totalCount": 1]]])
      let token = try sync.data().at("changesAvailable")
      #expect(token != nil && token != start)
      let changes = try server.graph.data(query, ["since": start], as: bob)
      #expect(changes.at("changes.changes") == [["nodeId": seen.json]])
    }

    @Test func `who comes back to a node is told what is another, and nothing of what was hidden`()
      throws
    {
      let server = try LiveServer()
      let data = try server.graph.data()
      let (ann, bob) = (try data.person(), try data.person())
      func open(_ last: String?) throws -> RawClient {
        let client = try server.open(
          accept: "text/event-stream", Self.changes("... on User { bio }"), ["id": ann.json],
          headers: last.map { "Last-Event-ID: \($0)\r\n" } ?? "")
        #expect(client.answer(isHead: true).status == 200)
        try server.waitForHearing(1)
        return client
      }
      /// The next event's id and bio.
      func event(_ client: RawClient) throws -> (id: String, bio: JSONValue?) {
        var id = ""
        while let line = client.line() {
          if line.hasPrefix("id: ") { id = String(line.dropFirst(4)) }
          guard line.hasPrefix("data: {") else { continue }
          return (
            id,
            try JSONParser.parse(Array(line.utf8.dropFirst(6))).at("data.nodeChanged.bio")
          )
        }
        throw GraphTestFailure("the stream has ended")
      }
      func write(_ bio: String) throws {
        try data.run("UPDATE app_user SET bio = $1 WHERE id = \(ann)", [bio])
      }
      var client = try open(nil)
      try write("first")
      let first = try event(client)
      #expect(first.bio == "first")
      client.finishSending()
      try server.waitForHearing(0)
      // Touched, and not for everybody to see.
      try data.run("UPDATE app_user SET bio = bio, address = 'Road 2' WHERE id = \(ann)")
      try data.block(ann, bob)
      client = try open(first.id)
      try write("second")
      let second = try event(client)
      #expect(second.bio == "second")
      client.finishSending()
      try server.waitForHearing(0)
      try write("third")
      client = try open(second.id)
      #expect(try event(client).bio == "third")
    }
  }
}
