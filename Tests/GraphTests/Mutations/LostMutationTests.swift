import DatabaseSetup
import Foundation
import JSON
import Postgres
import Synchronization
import TestSupport
import Testing

/// Connections that are lost around the commit, in a separate cluster: the server finds out whether
/// a mutation was committed, and runs it once.
///
/// With a standby that is absent, a commit is written and not acknowledged; exactly then its
/// backend is ended. A transaction that waits for a lock is ended before its commit.
@Suite(.serialized, .usesCluster(isFirst: true)) struct LostMutationTests {
  private static let cluster = Result { () throws -> EmbeddedCluster in
    var options = EmbeddedCluster.Options()
    let folder = "/tmp/sociograph-lost-\(getpid())"
    options.dataDirectory = folder
    options.restarts = false
    options.settings = [
      ("synchronous_commit", "on"), ("max_connections", "60"), ("search_path", "graph, public"),
    ]
    try TestCluster.endWithProcess(folder)
    return try EmbeddedCluster.start(options) { _ in }
  }

  private static let server = Result { () throws -> GraphServer in
    let database = try cluster.get().connectionString
    try Migrations.read(TestCluster.packageFolder + "/sql").apply(
      to: PostgresConfiguration(database))
    return try GraphServer(database: database)
  }

  /// Runs a mutation, and ends the backend it runs on each time it waits for `event`.
  private func answer(
    to field: String, _ selection: String, _ variables: KeyValuePairs<String, JSONValue>,
    as person: Person, key: String? = nil, endingAt event: String, afterwards: () throws -> Void
  ) throws -> HTTPClients.Response {
    let server = try Self.server.get()
    let (document, values) = GraphServer.mutation([field], selection, variables)
    let result = Mutex<Result<HTTPClients.Response, any Error>?>(nil)
    let done = DispatchSemaphore(value: 0)
    Thread {
      let answer = Result {
        try server.sendMutation(document, values, token: person.token, key: key)
      }
      result.withLock { $0 = answer }
      done.signal()
    }.start()
    let session = try TestCluster.session(server.database)
    var isEnded = false
    for _ in 0..<60_000 where !isEnded {
      isEnded =
        try session.execute(
          """
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE wait_event = '\(event)' AND query LIKE '%sociograph.result%' AND pid <> pg_backend_pid()
          """) != []
      if !isEnded { usleep(10_000) }
    }
    #expect(isEnded)
    try afterwards()
    done.wait()
    return try #require(result.withLock { $0 }).get()
  }

  private func waitForStandby(_ isOn: Bool) throws {
    let session = try TestCluster.session(Self.cluster.get().connectionString)
    try session.execute(
      "ALTER SYSTEM SET synchronous_standby_names = '\(isOn ? "nobody" : "")'")
    try session.execute("SELECT pg_reload_conf()")
    let wanted = isOn ? "nobody" : ""
    for _ in 0..<60_000 {
      if try TestCluster.session(Self.cluster.get().connectionString).execute(
        "SHOW synchronous_standby_names"
      ).first?.first == wanted {
        return
      }
      usleep(10_000)
    }
    throw GraphTestFailure("the setting was not taken")
  }

  @Test(arguments: [nil, "the client's"] as [String?])
  func `a creation that was committed and not acknowledged is answered as done, and done once`(
    key: String?
  ) throws {
    let server = try Self.server.get()
    let data = try server.data()
    let anna = try data.person("anna")
    try waitForStandby(true)
    let response = try answer(
      to: "createTextPost(input: {body: \"once\"})", "textPost { body author { username } }", [:],
      as: anna, key: key, endingAt: "SyncRep"
    ) { try waitForStandby(false) }
    let answer = try JSONParser.parse(response.body)
    #expect(
      answer.at("data.f0.textPost") == [
        "body": "once", "author": ["username": .string(anna.username)],
      ])
    #expect(response.header("Idempotency-Replayed") == nil)
    #expect(try data.run("SELECT FROM post WHERE author_id = $1", [anna.key]).count == 1)
  }

  @Test func `a deletion that was committed and not acknowledged is no NOT_FOUND`() throws {
    let server = try Self.server.get()
    let data = try server.data()
    let anna = try data.person("anna")
    let post = try data.post(.text, by: anna)
    try waitForStandby(true)
    let response = try answer(
      to: "deletePost(postId: $id)", "deletedId", ["id: ID!": post.json], as: anna,
      endingAt: "SyncRep"
    ) { try waitForStandby(false) }
    #expect(
      try JSONParser.parse(response.body)
        == ["data": ["f0": ["deletedId": post.json, "userErrors": []]]])
  }

  @Test func `a toggle that was committed and not acknowledged is sent again`() throws {
    let server = try Self.server.get()
    let data = try server.data()
    let anna = try data.person("anna")
    let post = try data.post(.text, by: anna)
    try waitForStandby(true)
    let response = try answer(
      to: "react(subjectId: $id, kind: HEART)", "subject { reactionCount(kind: HEART) }",
      ["id: ID!": post.json], as: anna, endingAt: "SyncRep"
    ) { try waitForStandby(false) }
    #expect(
      try JSONParser.parse(response.body)
        == ["data": ["f0": ["subject": ["reactionCount": 1], "userErrors": []]]])
  }

  @Test func `what was done before and is only told again waits for it to last, too`() throws {
    let server = try Self.server.get()
    let data = try server.data()
    let anna = try data.person("anna")
    let field = "createTextPost(input: {body: \"again\"})"
    let (document, values) = GraphServer.mutation([field], "textPost { body }", [:])
    let first = try server.sendMutation(document, values, token: anna.token, key: "again")
    #expect(first.status == 200)
    try waitForStandby(true)
    // It writes nothing, and what it finds may be another's whose answer is still held.
    let response = try answer(
      to: field, "textPost { body }", [:], as: anna, key: "again", endingAt: "SyncRep"
    ) { try waitForStandby(false) }
    #expect(
      try JSONParser.parse(response.body)
        == ["data": ["f0": ["textPost": ["body": "again"], "userErrors": []]]])
    #expect(try data.run("SELECT FROM post WHERE author_id = $1", [anna.key]).count == 1)
  }

  /// There is one connection for mutations, and one mutation on it that waits for the standby.
  /// Later mutations have to wait for the connection, and then do not wait for the disk one by one.
  @Test func `who waited for a connection is answered when the log is flushed, and done once`()
    throws
  {
    let live = try LiveServer(database: Self.server.get().database) {
      $0.writers = 1
      // A busy machine answers as slowly as a distant one, where each mutation waits for its own commit.
      $0.pool.shortestRoundTrip = .seconds(60)
    }
    let server = live.graph
    let data = try server.data()
    let people = try data.people(5)
    let answers = Mutex<[HTTPClients.Response?]>(Array(repeating: nil, count: people.count))
    let done = DispatchGroup()
    func post(_ index: Int) {
      let (document, values) = GraphServer.mutation(
        ["createTextPost(input: {body: \"post \(index)\"})"], "textPost { body }", [:])
      done.enter()
      // A thread of its own: those of a queue may all be waiting in other tests.
      Thread {
        let answer = try? server.sendMutation(document, values, token: people[index].token)
        answers.withLock { $0[index] = answer }
        done.leave()
      }.start()
    }
    /// Backends that wait for the standby while they do something.
    func waiting(for text: String) throws -> [[String?]] {
      try TestCluster.session(server.database).execute(
        "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%\(text)%'")
    }
    func wait(until holds: () throws -> Bool) throws {
      for _ in 0..<60_000 {
        if try holds() { return }
        usleep(10_000)
      }
      throw GraphTestFailure("it did not come to that")
    }
    func end(_ backends: [[String?]]) throws {
      for case let pid?? in backends.map(\.first) {
        try TestCluster.session(server.database).execute("SELECT pg_terminate_backend(\(pid))")
      }
    }
    let made = { (person: Person) in
      try data.run("SELECT FROM post WHERE author_id = $1", [person.key]).count
    }

    try waitForStandby(true)
    defer { try? waitForStandby(false) }
    post(0)
    try wait { try waiting(for: "sociograph.result").count == 1 }
    for index in people.indices.dropFirst() { post(index) }
    try wait { try live.metric("sociograph_pool_waiting{pool=\"writes\"}") == people.count - 1 }
    // From here on the connection is free for the others, whose commits are there for all to see, and for none to rely on.
    try end(waiting(for: "sociograph.result"))
    try wait { try people.allSatisfy { try made($0) == 1 } }
    try wait { try waiting(for: "emit_message").contains { _ in true } }
    #expect(answers.withLock { $0.allSatisfy { $0 == nil } })
    // Nobody knows now whether they last: they are sent again, and found done.
    try end(waiting(for: "emit_message"))
    try waitForStandby(false)
    done.wait()
    for (index, answer) in answers.withLock({ $0 }).enumerated() {
      #expect(
        try JSONParser.parse(#require(answer).body)
          == ["data": ["f0": ["textPost": ["body": "post \(index)"], "userErrors": []]]])
      #expect(try made(people[index]) == 1)
    }
  }

  @Test func `what was lost before its commit is done by the next try`() throws {
    let server = try Self.server.get()
    let data = try server.data()
    let anna = try data.person("anna")
    let lock = try server.data()
    try lock.run("BEGIN")
    try lock.run("SELECT FROM app_user WHERE id = $1 FOR UPDATE", [anna.key])
    let response = try answer(
      to: "createTextPost(input: {body: \"late\"})", "textPost { body }", [:], as: anna,
      endingAt: "transactionid"
    ) { try lock.run("COMMIT") }
    #expect(
      try JSONParser.parse(response.body)
        == ["data": ["f0": ["textPost": ["body": "late"], "userErrors": []]]])
    #expect(try data.run("SELECT FROM post WHERE author_id = $1", [anna.key]).count == 1)
  }

  @Test func `what is not resolved in time is told so, and the key resolves it`() throws {
    let database = try Self.server.get().database
    // No time for a second try.
    let server = try GraphServer(
      database: database, settings: { $0.mutationTimeout = .milliseconds(1_500) })
    let data = try server.data()
    let anna = try data.person("anna")
    let lock = try server.data()
    try lock.run("BEGIN")
    try lock.run("LOCK TABLE sociograph_request IN ACCESS EXCLUSIVE MODE")
    let (document, values) = GraphServer.mutation(
      ["createTextPost(input: {body: \"slow\"})"], "textPost { body }", [:])
    let first = try server.sendMutation(document, values, token: anna.token, key: "k")
    #expect([503, 504, 200].contains(first.status))
    #expect(!first.text.contains("slow"))
    try lock.run("COMMIT")
    let second = try server.sendMutation(document, values, token: anna.token, key: "k")
    #expect(second.text.contains("slow"))
    #expect(try data.run("SELECT FROM post WHERE author_id = $1", [anna.key]).count == 1)
    server.stop()
  }
}
