import DatabaseSetup
import Foundation
import JSON
import Postgres
import Synchronization
import TestSupport
import Testing

/// Many clients with random concurrent mutations: nothing is lost or half done, no client gets a
/// deadlock, and each response is explained.
///
/// `script/schedule` runs for a minute instead of 2,000 operations, and kills a hundred times
/// instead of six.
@Suite(.serialized, .usesCluster(isFirst: true)) struct RandomScheduleTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let seed = environment["SOCIOGRAPH_SEED"].flatMap { UInt64($0) } ?? 1
  private static let kills = environment["SOCIOGRAPH_KILLS"].flatMap { Int($0) } ?? 6
  /// The duration in seconds; nil to run a number of operations.
  private static let seconds = environment["SOCIOGRAPH_SCHEDULE"].flatMap { Double($0) }

  @Test func `whatever 32 clients do at once, each answer has its reason`() throws {
    let server = try GraphServer.new()
    let data = try server.data()
    let all = Set(
      try #require(GraphServer.mapping.get().schema.type(named: "Mutation")).fields.map {
        "\($0.name)"
      })
    let world = try ScheduleWorld(data, clients: 32) { document, variables, token, key in
      try server.sendMutation(document, variables, token: token, key: key)
    }
    let witness = try TouchWitness(server.database)
    let seconds = Self.seconds
    let steps = 2_000 / world.clients.count
    let start = Date()
    var clients = try crowd(of: world.clients.count) { number in
      var client = ScheduleClient(number, world, seed: Self.seed)
      var count = 0
      while true {
        let passed = -start.timeIntervalSinceNow
        if number == 0, let seconds { Self.show("\(Int(passed)) s of \(Int(seconds))", world) }
        let isOver = seconds.map { passed >= $0 } ?? (count >= steps)
        // However long that takes, everything comes up.
        if isOver, count >= steps * 50 || world.progress.fields.isSuperset(of: all) { break }
        try client.step()
        count += 1
      }
      return client
    }
    #expect(all.subtracting(world.progress.fields) == [])
    try Self.doTheRest(world, server)
    // However long that takes, here as well.
    var rounds = 0
    while rounds < 200, try !witness.unseen.isEmpty {
      for _ in 0..<50 { try clients[0].step() }
      rounds += 1
    }
    try Self.verify(clients, world, server.database)
    server.stop()
    let (faults, unseen) = (try witness.faults, try witness.unseen)
    #expect(faults == [])
    #expect(unseen == [])
    #expect(try LastOneTests.deadlocks(server.database) == 0)
  }

  @Test func `backends and servers that are killed lose nothing that was acknowledged`() throws {
    let cluster = try Self.durableCluster()
    let server = try KilledServer(cluster.connectionString)
    let world = try ScheduleWorld(
      GraphData(cluster.connectionString), clients: 16, hasOutages: true
    ) { document, variables, token, key in
      try server.send(document, variables, token: token, key: key)
    }
    let done = Atomic(false)
    let clients = try crowd(of: world.clients.count + 1) { number -> ScheduleClient? in
      if number == world.clients.count {
        defer { done.store(true, ordering: .releasing) }
        for kill in 0..<Self.kills {
          if Self.seconds != nil { Self.show("\(kill) kills of \(Self.kills)", world) }
          try world.progress.wait(for: 20)
          if kill.isMultiple(of: 2) {
            try Self.killBackend(cluster.connectionString)
          } else {
            try server.killAndStart()
          }
        }
        try world.progress.wait(for: 20)
        return nil
      }
      var client = ScheduleClient(number, world, seed: Self.seed)
      while !done.load(ordering: .acquiring) { try client.step() }
      return client
    }.compactMap { $0 }
    try Self.verify(clients, world, cluster.connectionString)
    server.stop()
    cluster.stop()
  }

  /// Makes the changes that no client makes, so that each line of `live_source` has one.
  private static func doTheRest(_ world: ScheduleWorld, _ server: GraphServer) throws {
    let (place, product) = (world.place.wire, world.product.wire)
    for field in [
      #"createCardOffer(input: {body: "b", regionIds: ["\#(place)"]})"#,
      """
      createEvent(input: {title: "t", startsAt: "2041-03-03T10:00:00Z", location: {id: "\(place)"},
        category: DINING, venues: [{locationId: "\(place)"}]})
      """,
      #"updateProfile(input: {shipsToLocationIds: ["\#(place)"]})"#,
      #"addComment(subjectId: "\#(place)", body: "b")"#,
      #"react(subjectId: "\#(product)", kind: HEART)"#,
      #"followUsers(userIds: ["\#(world.trainer.wire)"])"#,
      #"suggestProduct(productId: "\#(product)", toUserId: "\#(world.trainer.wire)")"#,
    ] {
      try server.mutate(field, as: world.staff, key: "the rest: \(field.prefix(12))")
    }
    // Operators, not clients, say what the server says.
    try server.data().run(
      """
      INSERT INTO locale (name) VALUES ('en-GB');
      INSERT INTO phrase (locale, key, words) VALUES ('en-GB', 'x', 'y')
      """)
    try server.data().rank()
  }

  /// A line for who waits.
  private static func show(_ text: String, _ world: ScheduleWorld) {
    let line = "\rschedule: \(text), \(world.progress.count) mutations "
    try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
  }

  // MARK: What must be so afterwards

  private static func verify(
    _ clients: [ScheduleClient], _ world: ScheduleWorld, _ database: String
  ) throws {
    var clients = clients
    // Whatever has a key is answered as before, and done once: what follows counts it.
    for index in clients.indices { clients[index].repeatKept() }
    let progress = world.progress
    print(
      """
      random schedule: \(progress.count) mutations of \(progress.fields.count) fields, \
      \(progress.repeats) of them sent more than once, \(world.history.count) answers about what \
      others did, seed \(seed)
      """)
    #expect(clients.flatMap(\.unexpected).prefix(5) == [])
    #expect(world.history.unexplained().prefix(5) == [])
    for (index, session) in world.sessions.enumerated() {
      #expect(world.history.faults(of: "seat \(index) ", most: session.seats).prefix(5) == [])
    }
    for (index, offer) in world.offers.enumerated() {
      let faults = world.history.faults(of: "response \(index) ", most: offer.limit ?? .max)
      #expect(faults.prefix(5) == [])
    }
    // What `sociograph verify` says.
    var configuration = try PostgresConfiguration(database)
    configuration.namespaces = ["graph"]
    var faults: [String] = []
    let outcome = try GraphVerification(configuration).run { event in
      switch event {
      case .began: break
      case .found(let fault): faults.append(fault)
      case .failed(let check, let error): faults.append("\(check): \(error)")
      }
    }
    #expect(outcome.checks > 2 && faults.prefix(5) == [])
    let data = try GraphData(database)
    var differences: [String] = []
    func expect(
      _ what: String, _ client: ScheduleClient, _ found: Set<String>, _ known: Set<String>
    ) {
      guard found != known else { return }
      differences.append(
        "\(what) of \(client.number): lost \(known.subtracting(found)), too many \(found.subtracting(known))"
      )
    }
    func column(_ statement: String) throws -> Set<String> {
      Set(try data.run(statement).map { $0.map { $0 ?? "" }.joined(separator: " ") })
    }
    func wire(_ statement: String) throws -> Set<String> {
      Set(try data.run(statement).map { NodeKey(Int64($0[0] ?? "") ?? 0).wire })
    }
    let shared = (world.outfits + world.texts + [world.event]).map(\.description)
      .joined(separator: ", ")
    for client in clients {
      let me = client.me.key
      expect(
        "reactions", client,
        try column(
          "SELECT subject_id, kind FROM reaction WHERE user_id = \(me) AND subject_id IN (\(shared))"
        ),
        client.reactions)
      expect(
        "votes", client, try column("SELECT post_id, choice FROM vote WHERE user_id = \(me)"),
        Set(client.votes.map { "\(world.outfits[$0.key]) \($0.value)" }))
      expect(
        "bookings", client,
        try wire("SELECT id FROM booking WHERE user_id = \(me) AND cancelled_at IS NULL"),
        Set(client.bookings.values))
      expect(
        "responses", client,
        try column(
          "SELECT post_id FROM follow_up WHERE recipient_id = \(me) AND post_id IN (\(world.offers.map(\.key.description).joined(separator: ", ")))"
        ), Set(client.responded.map { world.offers[$0].key.description }))
      if let attendance = client.attendance {
        expect(
          "attendance", client,
          try column(
            "SELECT status FROM attendance WHERE user_id = \(me) AND event_id = \(world.event)"),
          attendance.isEmpty ? [] : [attendance])
      }
      let comments = try wire("SELECT id FROM comment WHERE author_id = \(me) AND body LIKE 'so%'")
      expect("comments", client, comments, Set(client.comments.keys))
      let deleted = clients.reduce(into: Set<String>()) { $0.formUnion($1.deletedPosts) }
      expect(
        "posts", client, try wire("SELECT id FROM post WHERE author_id = \(me)"),
        Set(client.posts.keys).subtracting(deleted))
      expect(
        "circles", client, try wire("SELECT id FROM circle WHERE owner_id = \(me)"), client.circles)
      expect(
        "tracks", client, try wire("SELECT id FROM activity_track WHERE user_id = \(me)"),
        client.tracks)
      expect(
        "numbers", client,
        try column(
          """
          SELECT (SELECT count(*) FROM test_result WHERE user_id = \(me)),
            (SELECT count(*) FROM message WHERE author_id = \(me)),
            (SELECT count(*) FROM circle_member WHERE user_id = \(me) AND circle_id = \(world.channel)),
            (SELECT count(*) FROM shopping_list_item WHERE user_id = \(me)),
            (SELECT count(*) FROM info_request WHERE requester_id = \(me) AND post_id = \(world.request)),
            (SELECT count(*) FROM invitation WHERE inviter_id = \(me) AND event_id IS NULL)
          """),
        [
          "\(client.results) \(client.messages) \(client.isSubscribed ? 1 : 0) \(client.isListed ? 1 : 0) \(client.asked ? 1 : 0) \(client.invitations)"
        ])
      if let name = client.displayName {
        expect(
          "name", client, try column("SELECT display_name FROM app_user WHERE id = \(me)"), [name])
      }
      // Between two who never were in a block it is the follower's word alone.
      for (other, peer) in clients.enumerated()
      where !client.apart.contains(other) && !peer.apart.contains(client.number)
        && other != client.number
      {
        expect(
          "follow of \(other)", client,
          try column(
            "SELECT 1 FROM follow WHERE follower_id = \(me) AND followee_id = \(peer.me.key)"),
          client.follows.contains(other) ? ["1"] : [])
      }
    }
    #expect(differences.prefix(5) == [])
    // Who blocks each other does not follow each other.
    #expect(
      try data.run(
        """
        SELECT f.* FROM follow f JOIN block b ON (b.blocker_id, b.blocked_id) IN (
          (f.follower_id, f.followee_id), (f.followee_id, f.follower_id))
        """) == [])
  }

  // MARK: Databases

  /// One that loses nothing that it says is written.
  private static func durableCluster() throws -> EmbeddedCluster {
    var options = EmbeddedCluster.Options()
    let folder = "/tmp/sociograph-schedule-\(getpid())"
    options.dataDirectory = folder
    options.restarts = false
    options.settings = [
      ("synchronous_commit", "on"), ("max_connections", "80"), ("search_path", "graph, public"),
      // Otherwise every file is synced before each recovery.
      ("recovery_init_sync_method", "syncfs"),
    ]
    try TestCluster.endWithProcess(folder)
    let cluster = try EmbeddedCluster.start(options) { _ in }
    var configuration = try PostgresConfiguration(cluster.connectionString)
    configuration.namespaces = ["graph"]
    try Migrations.read(TestCluster.packageFolder + "/sql").apply(to: configuration)
    return cluster
  }

  /// Kills a backend in the middle of a mutation, and waits for PostgreSQL, which then restarts all
  /// its backends.
  private static func killBackend(_ database: String) throws {
    for _ in 0..<12_000 {
      if let session = try? TestCluster.session(database),
        let row = try? session.execute(
          """
          SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'
            AND state = 'active' AND query LIKE '%sociograph.result%' AND pid <> pg_backend_pid()
          ORDER BY random() LIMIT 1
          """
        ).first, let backend = pid_t(row[0] ?? "")
      {
        kill(backend, SIGKILL)
        // This one dies with it.
        _ = eventually { (try? session.execute("SELECT 1")) == nil }
        for _ in 0..<12_000 {
          if let session = try? TestCluster.session(database),
            (try? session.execute("SELECT 1")) != nil
          {
            return
          }
          usleep(10_000)
        }
        throw GraphTestFailure("PostgreSQL does not come back")
      }
      usleep(5_000)
    }
    throw GraphTestFailure("no backend is in the middle of a mutation")
  }
}
