import HTTPTestSupport
import JSON
import Postgres
import TestSupport
import Testing

extension LiveTests {
  /// Obstacles to the delivery of events: two-phase transactions, failing reads, many subscriptions
  /// that start at once, the end of the server.
  @Suite struct EventDeliveryTests {
    private static let comments = "subscription($id: ID!) { commentAdded(subjectId: $id) { body } }"
    private static let posts = "subscription { postAdded { body } }"

    // MARK: Two phases

    @Test func `what is prepared is told when it is committed, and never when it is rolled back`()
      throws
    {
      let server = try LiveServer()
      let (data, other) = (try server.graph.data(), try server.graph.data())
      let bob = try data.person()
      let socket = try server.socket()
      socket.subscribe("1", Self.posts)
      try server.waitForHearing(1)
      let (late, never) = (GraphData.unique("late"), GraphData.unique("never"))
      for name in [late, never] {
        try data.run("BEGIN")
        _ = try data.post(.text, by: bob, name)
        try data.run("PREPARE TRANSACTION '\(name)'")
      }
      func isTold(_ text: String) throws {
        #expect(try socket.data().at("postAdded.body") == .string(text))
      }
      _ = try data.post(.text, by: bob, "meanwhile")
      try isTold("meanwhile")
      // By another session than prepared it.
      try other.run("COMMIT PREPARED '\(late)'")
      try isTold(late)
      try other.run("ROLLBACK PREPARED '\(never)'")
      _ = try data.post(.text, by: bob, "last")
      try isTold("last")
    }

    // MARK: Reads that fail

    @Test(arguments: ["RAISE EXCEPTION 'No.'", "PERFORM 1 / 0"])
    func `of many who are told at once, whose read fails is told so, and the others hear on`(
      _ failure: String
    ) throws {
      let database = try TestCluster.newDatabase(migrated: true)
      let data = try GraphData(database)
      try data.run(
        """
        CREATE TABLE trap (viewer bigint);
        CREATE OR REPLACE FUNCTION hidden_user(viewer bigint) RETURNS TABLE (id bigint)
        LANGUAGE plpgsql STABLE AS $$
        BEGIN
          IF EXISTS (SELECT FROM trap t WHERE t.viewer = hidden_user.viewer) THEN \(failure); END IF;
          RETURN QUERY SELECT h.user_id FROM hidden h WHERE h.viewer_id = viewer;
        END $$
        """)
      let server = try LiveServer(database: database) {
        $0.statementRunner = { pool in
          var settings = StatementBatcher.Settings()
          settings.frequent = 0
          settings.longestTogether = .seconds(600)
          return StatementBatcher(pool, settings: settings)
        }
      }
      let author = try data.person()
      let post = try data.post(.text, by: author)
      let people = try (0..<6).map { _ in try data.person() }
      let sockets = try people.map { try server.socket($0) }
      for socket in sockets { socket.subscribe("1", Self.comments, ["id": post.json]) }
      try server.waitForHearing(sockets.count)
      func comment(_ text: String, isTo heard: ArraySlice<GraphQLSocket>) throws {
        try server.graph.mutate(
          "addComment(subjectId: $id, body: $body)", "__typename",
          ["id: ID!": post.json, "body: String!": .string(text)], as: author, key: text)
        for socket in heard {
          #expect(try socket.data().at("commentAdded.body") == .string(text))
        }
      }
      try comment("before", isTo: sockets[...])
      try data.run("INSERT INTO trap VALUES ($1)", [people[0].key.number])
      let combined = try server.metric("sociograph_batched_executions_total")
      try comment("amid", isTo: sockets[1...])
      #expect(try server.metric("sociograph_batched_executions_total") == combined + sockets.count)
      let answer = sockets[0].answer("1")
      #expect(answer.map(\.type) == ["error"])
      #expect(
        answer.first?.payload?.array?.first?.at("extensions.code") == "INTERNAL_SERVER_ERROR")
      try server.waitForHearing(sockets.count - 1)
      try comment("after", isTo: sockets[1...])
      // The socket of the one lives, and so does who subscribes anew once the fault is mended.
      try data.run("DELETE FROM trap")
      sockets[0].subscribe("1", Self.comments, ["id": post.json])
      try server.waitForHearing(sockets.count)
      try comment("mended", isTo: sockets[...])
    }

    // MARK: Many at once

    @Test func `who subscribes while others do waits for a turn, and none is refused`() throws {
      let server = try LiveServer { $0.live.deliveries = 1 }
      let data = try server.graph.data()
      let start = "pg_current_snapshot"
      let lock = try server.lock("circle_member")
      let people = try (0..<5).map { _ in try data.person() }
      let sockets = try people.map { try server.socket($0) }
      for socket in sockets { socket.subscribe("1", "subscription { changesAvailable }") }
      try server.wait("sociograph_subscriptions_starting", sockets.count)
      try server.waitForWaiting(1, start)
      // The pool would have run another: it answers what comes later.
      #expect(try server.graph.data("{ programs { totalCount } }")["programs"] != nil)
      try server.waitForWaiting(1, start)
      // Whose turn has not come leaves, and who leaves makes room.
      sockets[4].complete("1")
      try server.wait("sociograph_subscriptions_starting", 4)
      sockets[0].complete("1")
      try server.wait("sociograph_subscriptions_starting", 3)
      try server.waitForWaiting(1, start)
      try lock.run("ROLLBACK")
      try server.waitForHearing(3)
      let post = try data.post(.text, by: data.person())
      for person in people[1..<4] { _ = try data.comment(post, by: person, person.username) }
      for socket in sockets[1..<4] {
        #expect(try socket.data().at("changesAvailable")?.string?.count == 44)
      }
      for socket in [sockets[0], sockets[4]] {
        socket.client.send(#"{"type":"ping"}"#)
        #expect(socket.text() == #"{"type":"pong"}"#)
      }
    }

    /// Has room for one statement, and for one that waits.
    private func narrowServer(patience: Duration) throws -> LiveServer {
      try LiveServer {
        $0.pool.size = 1
        $0.pool.pipelineDepth = 1
        $0.pool.longPipelineDepth = 1
        $0.pool.queueLimit = 1
        $0.pool.quickQueueLimit = 1
        $0.live.patience = patience
        $0.live.livePercent = 100
      }
    }

    @Test(arguments: [Self.comments, "query($id: ID!) @live { node(id: $id) { id } }"])
    func `who begins while too much waits for the database has its turn, and is not refused`(
      _ document: String
    ) throws {
      let server = try narrowServer(patience: .seconds(3600))
      let data = try server.graph.data()
      let ann = try data.person()
      let posts = try (0..<60).map { _ in try data.post(.text, by: ann) }
      let socket = try server.socket()
      for (number, post) in posts.enumerated() {
        socket.subscribe("\(number)", document, ["id": post.json])
      }
      if document == Self.comments {
        try server.waitForHearing(posts.count)
        for post in posts { _ = try data.comment(post, by: ann, "heard") }
      }
      let answers = posts.map { _ in socket.message() }
      #expect(answers.allSatisfy { $0?["type"] == "next" })
      #expect(Set(answers.map { $0?["id"]?.string }).count == posts.count)
    }

    @Test func `who comes while too much waits for the database is known later, and not sent away`()
      throws
    {
      let server = try narrowServer(patience: .seconds(3600))
      let people = try { data in try (0..<5).map { _ in try data.person() } }(server.graph.data())
      let lock = try server.lock("session")
      let sockets = try people.map { person in
        let socket = try GraphQLSocket(port: server.graph.port, initialised: false)
        socket.initialise(#"{"authorization":"Bearer \#(person.token)"}"#)
        socket.client.send(#"{"type":"ping"}"#)
        #expect(socket.text() == #"{"type":"pong"}"#)
        return socket
      }
      try lock.run("ROLLBACK")
      for socket in sockets { #expect(socket.text() == #"{"type":"connection_ack"}"#) }
    }

    @Test func `who cannot wait any longer for room is refused`() throws {
      let server = try narrowServer(patience: .zero)
      let data = try server.graph.data()
      let lock = try server.lock("circle_member")
      let socket = try server.socket(data.person())
      for number in 0..<3 { socket.subscribe("\(number)", "subscription { changesAvailable }") }
      let refusal = socket.message()
      #expect(refusal?["type"] == "error")
      #expect(
        refusal?["payload"]?.array?.first?.at("extensions.code") == "SERVICE_OVERLOADED")
      try lock.run("ROLLBACK")
    }

    @Test func `who leaves while it is looked up who it is leaves nothing behind`() throws {
      let server = try LiveServer()
      let data = try server.graph.data()
      let (ann, bob) = (try data.person(), try data.person())
      let sockets = try server.metric("sociograph_http_connections")
      let lock = try server.lock("session")
      var leaving: GraphQLSocket? = try GraphQLSocket(port: server.graph.port, initialised: false)
      leaving?.initialise(#"{"authorization":"Bearer \#(ann.token)"}"#)
      try server.waitForWaiting(1, "viewer_of_session")
      leaving?.client.raw.reset()
      leaving = nil
      try server.wait("sociograph_http_connections", sockets)
      try lock.run("COMMIT")
      let staying = try server.socket(bob)
      staying.subscribe("1", Self.posts)
      try server.waitForHearing(1)
      #expect(try server.metric("sociograph_monitored_sessions") == 1)
    }

    // MARK: Slow clients

    @Test func `who does not read is sent away by 1013, and the others hear on`() throws {
      let server = try LiveServer {
        $0.http.maximumUnsentBytes = 64 * 1024
        // It is not sent away for the time that it takes.
        $0.http.writeStall = .seconds(3600)
        $0.http.readGrace = .seconds(3600)
      }
      let data = try server.graph.data()
      let ann = try data.person()
      let post = try data.post(.text, by: ann)
      let slow = try GraphQLSocket(port: server.graph.port, receiveBuffer: 4096)
      let reader = try server.socket()
      for number in 1...100 { slow.subscribe("\(number)", Self.comments, ["id": post.json]) }
      reader.subscribe("1", Self.comments, ["id": post.json])
      try server.waitForHearing(101)
      // More than the buffers of two sockets take: it is not known how much that is.
      let words = String(repeating: "words ", count: 300)
      var count = 0
      while try server.metric("sociograph_subscriptions") == 101, count < 300 {
        count += 1
        try server.graph.mutate(
          "addComment(subjectId: $id, body: $body)", "__typename",
          ["id: ID!": post.json, "body: String!": .string("\(words)\(count)")], as: ann,
          key: "\(count)")
        #expect(try reader.data().at("commentAdded.body")?.string?.hasSuffix(" \(count)") == true)
      }
      #expect(slow.client.closeCode() == 1013)
      try server.waitForHearing(1)
      try server.wait("sociograph_response_buffer_bytes", 0)
    }

    // MARK: The end of the server

    @Test func `what a socket has begun ends as it is told of the server's end`() throws {
      let server = try LiveServer {
        // Its client takes its time.
        $0.http.linger = .seconds(3600)
      }
      let data = try server.graph.data()
      let ann = try data.person()
      let post = try data.post(.text, by: ann)
      let lock = try server.lock("program")
      let socket = try server.socket(ann)
      socket.subscribe("1", Self.comments, ["id": post.json])
      socket.subscribe("2", "query($id: ID!) @live { node(id: $id) { id } }", ["id": post.json])
      socket.subscribe("3", "{ programs { totalCount } }")
      try server.waitForHearing(1)
      try server.wait("sociograph_live_queries", 1)
      try server.waitForWaiting(1, "program")
      server.graph.announceEnd(over: .milliseconds(10))
      #expect(socket.client.closeCode() == 1001)
      try server.waitForHearing(0)
      try server.wait("sociograph_live_queries", 0)
      try server.wait("sociograph_monitored_sessions", 0)
      try server.waitForWaiting(0, "program")
      try lock.run("ROLLBACK")
    }

    @Test func `before its end a server sends sockets and streams away, and answers on`() throws {
      let server = try LiveServer()
      let data = try server.graph.data()
      let post = try data.post(.text, by: data.person())
      let live = "query($id: ID!) @live { node(id: $id) { id } }"
      var sockets = try [Self.comments, live].map { document in
        let socket = try server.socket()
        socket.subscribe("1", document, ["id": post.json])
        return socket
      }
      #expect(try sockets[1].data().at("node.id") == post.json)
      let streams = try ["text/event-stream", "multipart/mixed;subscriptionSpec=1.0"].map {
        try server.open(accept: $0, Self.comments, ["id": post.json])
      }
      for stream in streams { #expect(stream.answer(isHead: true).status == 200) }
      try server.waitForHearing(3)
      server.graph.announceEnd(over: .milliseconds(50))
      for socket in sockets { #expect(socket.client.closeCode() == 1001) }
      sockets = []
      for stream in streams {
        // Nothing says that it is complete: its client comes back.
        let rest = stream.rest()
        #expect(rest.hasSuffix("\r\n0\r\n\r\n"))
        #expect(!rest.contains("event: complete") && !rest.contains("--\r\n\r\n0\r\n"))
      }
      try server.waitForHearing(0)
      try server.wait("sociograph_live_queries", 0)
      #expect(try server.graph.data("{ programs { totalCount } }")["programs"] != nil)
    }
  }
}
