import Foundation
import TestSupport
import Testing

/// Live queries over tables that report no changes.
@Suite(.usesCluster) struct DraftLiveTests {
  @Test func `a live query with an interval looks again, and one without is refused`() throws {
    let database = try TestCluster.newDatabase()
    let session = try TestCluster.session(database)
    try session.execute(
      "CREATE TABLE note (note_id int PRIMARY KEY, body text); INSERT INTO note VALUES (1, 'one')")
    let server = try DraftedServer(database)
    let folder = try TemporaryFolder()
    let output = folder.path + "/events"
    func ask(_ document: String) throws -> Process {
      try Process.run(
        URL(filePath: "/usr/bin/env"),
        arguments: [
          "curl", "-sN", "-H", "Content-Type: application/json", "-H", "Accept: text/event-stream",
          "-d", "{\"query\": \"\(document)\"}", "-o", output,
          "http://127.0.0.1:\(server.port)/graphql",
        ])
    }
    try ask("query @live { notes { nodes { body } } }").waitUntilExit()
    func events() -> String { (try? String(contentsOfFile: output, encoding: .utf8)) ?? "" }
    #expect(
      events().contains(
        "The query cannot be live: this database reports no changes. Say at which interval to look"),
      "\(events())")

    let client = try ask("query @live(interval: 10000) { notes { nodes { body } } }")
    defer {
      // A thread of tests blocks SIGTERM, and so does what it starts.
      kill(client.processIdentifier, SIGKILL)
      client.waitUntilExit()
    }
    #expect(eventually { events().contains(#"{"body":"one"}"#) }, "\(events())")
    try session.execute("UPDATE note SET body = 'two'")
    #expect(eventually { events().contains(#"{"body":"two"}"#) }, "\(events())")
  }
}
