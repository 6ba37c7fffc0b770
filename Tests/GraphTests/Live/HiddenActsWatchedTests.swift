import HTTPTestSupport
import JSON
import OracleSupport
import TestSupport
import Testing

extension LiveTests {
  /// A thousand acts that others must not notice, while they use everything they can:
  /// subscriptions, live queries, the log of changes, their notifications and the export of their
  /// data.
  @Suite struct HiddenActsWatchedTests {
    @Test(arguments: [1])
    func `of a thousand hidden acts nothing is told`(seed: UInt64) throws {
      let server = try LiveServer()
      let world = try World(server, seed: seed)
      defer { print("hidden acts: \(world.counts.sorted { $0.key < $1.key })") }
      // Everybody has heard of what there is so far.
      try world.data.session.waitForChanges()
      let before = try world.observers.map { try $0.known(server) }
      let since = try world.observers.map { try $0.token(server) }
      var watches: [Watching] = []
      for observer in world.observers { watches.append(try Watching(server, observer)) }
      try server.waitForHearing(world.observers.map(\.subscriptions.count).reduce(0, +))
      try server.wait("sociograph_live_queries", world.observers.map(\.queries.count).reduce(0, +))
      for watch in watches { try watch.readAnswers() }
      for _ in 0..<1_000 { try world.act() }
      // Whoever looks each second has looked twice.
      try world.data.session.waitForChanges()
      for (place, observer) in world.observers.enumerated() {
        #expect(try observer.changes(server, since[place]) == [], "\(observer.name)")
        #expect(try observer.known(server) == before[place], "\(observer.name)")
      }
      // The first that each of them hears is what comes now.
      try world.actOpenly()
      for watch in watches { try watch.expectOpen() }
    }

    private struct Observer {
      let name: String
      let person: Person?
      /// Documents, with the words that the first event of each has.
      var subscriptions: [(document: String, word: String)]
      var queries: [(document: String, word: String)]
      let asked: String

      /// But for when an export was made, and how long a session lasts.
      func known(_ server: LiveServer) throws -> String {
        try server.graph.data(asked, as: person).description
          .replacing(/\\"(exportedAt|expiresAt)\\": \\"[^"\\]*\\"/, with: "")
      }

      private static let query =
        "query($since: String) { changes(since: $since) { token changes { nodeId operation } } }"

      func token(_ server: LiveServer) throws -> JSONValue {
        try server.graph.data(Self.query, as: person).at("changes.token") ?? .null
      }

      func changes(_ server: LiveServer, _ since: JSONValue) throws -> JSONValue? {
        try server.graph.data(Self.query, ["since": since], as: person).at("changes.changes")
      }
    }

    /// The sockets of one observer: one for each, so that what comes first on it is known.
    private struct Watching {
      let observer: Observer
      private var sockets: [GraphQLSocket] = []
      private var live: [GraphQLSocket] = []

      init(_ server: LiveServer, _ observer: Observer) throws {
        self.observer = observer
        for (document, _) in observer.subscriptions {
          let socket = try server.socket(observer.person)
          socket.subscribe("1", document)
          sockets.append(socket)
        }
        for (document, _) in observer.queries {
          let socket = try server.socket(observer.person)
          socket.subscribe("1", document)
          live.append(socket)
        }
      }

      func readAnswers() throws { for socket in live { _ = try socket.data() } }

      func expectOpen() throws {
        for (socket, one) in zip(
          sockets + live, observer.subscriptions + observer.queries)
        {
          let told = try socket.data()
          #expect("\(told)".contains(one.word), "\(observer.name): \(one.document): \(told)")
        }
      }
    }

    /// The people who act, and the objects of their acts.
    private final class World {
      let data: GraphData
      private let server: LiveServer
      private var random: SeededGenerator
      private let (ann, bob, cem, dan): (Person, Person, Person, Person)
      private let blocked: Person
      private let voters: [Person]
      private let (group, secret, outfit, party): (NodeKey, NodeKey, NodeKey, NodeKey)
      private let sentinel: NodeKey
      private(set) var observers: [Observer] = []
      private(set) var counts: [String: Int] = [:]
      private var number = 0

      init(_ server: LiveServer, seed: UInt64) throws {
        self.server = server
        let data = try server.graph.data()
        self.data = data
        random = SeededGenerator(seed: seed)
        // Ann acts; Bob and Cem are with her, Dan is neutral.
        (ann, bob, cem, dan) = (
          try data.person("ann"), try data.person("bob"), try data.person("cem"),
          try data.person("dan")
        )
        blocked = try data.person("blocked")
        let (blocker, stranger) = (try data.person("blocker"), try data.person("stranger"))
        voters = try (0..<8).map { _ in try data.person("voter") }
        try data.block(ann, blocked)
        try data.block(blocker, ann)
        group = try data.circle("Group", owner: dan, members: [blocked, blocker])
        secret = try data.circle("Secret", owner: ann, members: [bob])
        outfit = try data.post(.outfit, by: bob)
        party = try data.post(.event, by: ann)
        sentinel = try data.post(.text, by: dan)
        let own = """
          { viewer { dataExport notifications { totalCount nodes { text } }
            conversations { totalCount } unreadNotificationCount } }
          """
        func node(_ id: NodeKey, _ selection: String) -> String {
          "subscription { nodeChanged(id: \"\(id.wire)\") { \(selection) } }"
        }
        func live(_ id: NodeKey, _ selection: String) -> String {
          "query @live { node(id: \"\(id.wire)\") { \(selection) } }"
        }
        let user = "... on User { bio }"
        let circle = "... on Circle { members { totalCount } comments { totalCount } }"
        let common: [(String, String)] = [
          (node(bob.key, user), "open bio"),
          (node(outfit, "... on OutfitPost { body verdict { wearItCount } }"), "open words"),
          ("subscription { postAdded { body } }", "open post"),
          (
            "subscription { commentAdded(subjectId: \"\(sentinel.wire)\") { body } }",
            "open comment"
          ),
        ]
        let personal: [(String, String)] = [
          ("subscription { notificationAdded { text } }", "open notification"),
          ("subscription { messageAdded { body } }", "open message"),
          ("subscription { changesAvailable }", "changesAvailable"),
        ]
        let commonLive = [(live(bob.key, user), "open bio")]
        observers = [
          Observer(
            name: "nobody", person: nil,
            subscriptions: common + [(node(ann.key, user), "open bio")],
            queries: commonLive + [(live(ann.key, user), "open bio")], asked: "{ __typename }"),
          Observer(
            name: "a stranger", person: stranger,
            subscriptions: common + personal + [(node(ann.key, user), "open bio")],
            queries: commonLive + [(live(ann.key, user), "open bio")], asked: own),
        ]
        for (name, person) in [("who is blocked", blocked), ("who blocks", blocker)] {
          observers.append(
            Observer(
              name: name, person: person,
              subscriptions: common + personal + [
                (node(group, circle), "totalCount"),
                (
                  "subscription { commentAdded(subjectId: \"\(group.wire)\") { body } }",
                  "open comment"
                ),
              ],
              queries: commonLive + [(live(group, circle), "totalCount")], asked: own))
        }
      }

      private func toggle(_ table: String, _ columns: String, _ values: String) throws {
        let rows = try data.run("DELETE FROM \(table) WHERE (\(columns)) = (\(values)) RETURNING 1")
        if rows.isEmpty { try data.run("INSERT INTO \(table) (\(columns)) VALUES (\(values))") }
      }

      /// One act that none of the observers may notice.
      func act() throws {
        number += 1
        let acts: [(String, () throws -> Void)] = [
          ("block", { [self] in try toggle("block", "blocker_id, blocked_id", "\(ann), \(cem)") }),
          (
            "block back",
            { [self] in try toggle("block", "blocker_id, blocked_id", "\(bob), \(cem)") }
          ),
          ("address", { [self] in try update("address = 'Road \(number)'") }),
          (
            "e-mail",
            { [self] in try update("email = 'ann\(number)@example.org', email_verified = false") }
          ),
          ("verification", { [self] in try update("email_verified = NOT email_verified") }),
          (
            "vote",
            { [self] in
              let voter = voters[Int.random(in: 0..<voters.count, using: &random)]
              try toggle("vote", "post_id, user_id, choice", "\(outfit), \(voter), 'WEAR_IT'")
            }
          ),
          (
            "member",
            { [self] in try toggle("circle_member", "circle_id, user_id", "\(group), \(ann)") }
          ),
          (
            "comment",
            { [self] in
              let comment = try data.comment(group, by: ann, "hidden \(number)")
              if Bool.random(using: &random) {
                try data.run("DELETE FROM comment WHERE id = \(comment)")
              }
            }
          ),
          (
            "post",
            { [self] in
              let post = try data.post(
                .text, by: ann, "hidden", circle: group, visibility: "CIRCLE")
              _ = try data.comment(post, by: ann, "hidden")
              if Bool.random(using: &random) { try data.run("DELETE FROM post WHERE id = \(post)") }
            }
          ),
          (
            "secret group",
            { [self] in
              let post = try data.post(
                .outfit, by: ann, "hidden", circle: secret, visibility: "CIRCLE")
              try data.add("vote", ["post_id": post, "user_id": bob.key, "choice": "WEAR_IT"])
              _ = try data.comment(secret, by: bob, "hidden")
              try data.run(
                "UPDATE circle SET description = 'hidden \(number)' WHERE id = \(secret)")
            }
          ),
          (
            "message",
            { [self] in
              try server.graph.mutate(
                "sendMessage(to: { userIds: $ids }, body: \"hidden\")",
                ["ids: [ID!]!": [bob.json]], as: ann)
            }
          ),
          (
            "invitation",
            { [self] in
              try toggle(
                "invitation", "inviter_id, invitee_id, event_id", "\(dan), \(blocked), \(party)")
            }
          ),
          (
            "event",
            { [self] in
              try data.run("UPDATE event SET title = 'hidden \(number)' WHERE post_id = \(party)")
            }
          ),
          (
            "event that goes",
            { [self] in
              let event = try data.post(.event, by: ann, visibility: "INVITED")
              _ = try data.invite(dan, blocked, to: event)
              _ = try data.invite(ann, bob, to: event)
              try data.run("DELETE FROM post WHERE id = \(event)")
            }
          ),
          (
            "notification",
            { [self] in
              let made = try data.insert(
                "notification",
                [
                  "recipient_id": blocked.key, "actor_id": ann.key, "reason": "COMMENTED",
                  "phrase": "hidden", "destination": "x",
                ])
              if Bool.random(using: &random) {
                try data.run("DELETE FROM notification WHERE id = \(made)")
              }
            }
          ),
          (
            "account that goes",
            { [self] in
              let leaver = try data.person("leaver")
              for other in observers.compactMap(\.person) { try data.block(other, leaver) }
              try data.join(group, leaver)
              _ = try data.comment(group, by: leaver, "hidden")
              try data.run("DELETE FROM app_user WHERE id = \(leaver)")
            }
          ),
        ]
        let (name, act) = acts[Int.random(in: 0..<acts.count, using: &random)]
        counts[name, default: 0] += 1
        try act()
      }

      private func update(_ change: String) throws {
        try data.run("UPDATE app_user SET \(change) WHERE id = \(ann)")
      }

      /// Makes changes that all subscribers receive.
      func actOpenly() throws {
        for person in [ann, bob] {
          try data.run("UPDATE app_user SET bio = 'open bio' WHERE id = \(person)")
        }
        try data.run("UPDATE post SET body = 'open words' WHERE id = \(outfit)")
        _ = try data.post(.text, by: dan, "open post")
        for subject in [sentinel, group] { _ = try data.comment(subject, by: dan, "open comment") }
        for person in observers.compactMap(\.person) {
          try data.insert(
            "notification",
            [
              "recipient_id": person.key, "actor_id": dan.key, "reason": "FOLLOWED",
              "phrase": "open notification", "destination": "x",
            ])
          try server.graph.mutate(
            "sendMessage(to: { userIds: $ids }, body: \"open message\")",
            ["ids: [ID!]!": [person.json]], as: dan)
        }
      }
    }
  }
}
