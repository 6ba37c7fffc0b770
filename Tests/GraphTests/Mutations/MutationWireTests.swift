import Foundation
import JSON
import Postgres
import Server
import TestSupport
import Testing

/// The round trips of mutations, counted on the wire: one Sync, and so one wait, for each field.
@Suite(.usesCluster) struct MutationWireTests {
  @Test func `a mutation field waits once`() throws {
    let database = try TestCluster.newDatabase(migrated: true)
    let (tap, tapped) = try Self.tap(database)
    let server = try GraphServer(database: tapped, settings: { $0.loopCount = 1 })
    defer {
      server.stop()
      tap.stop()
    }
    let data = try GraphData(database)
    let (anna, ben) = (try data.person("anna"), try data.person("ben"))
    let post = try data.post(.text, by: anna)
    let selection = "subject { ... on Post { id author { username } reactionCount(kind: HEART) } }"
    let react = "react(subjectId: \"\(post.wire)\", kind: HEART)"
    let comment = "addComment(subjectId: \"\(post.wire)\", body: \"so\")"
    let cases: [(fields: [String], selection: String, key: Bool)] = [
      ([react], selection, false),
      (["unreact(subjectId: \"\(post.wire)\", kind: HEART)"], selection, false),
      // With a request row, by the server's key and by the client's.
      ([comment], "comment { id author { username } }", false),
      ([comment], "comment { id author { username } }", true),
      (["createTextPost(input: {body: \"so\"})"], "textPost { id body }", true),
      (
        ["followUsers(userIds: [\"\(anna.wire)\"])"], "users { username followers { totalCount } }",
        false
      ),
      (["sendMessage(to: {userIds: [\"\(anna.wire)\"]}, body: \"hi\")"], "message { body }", false),
      // Several fields are several transactions.
      ([react, react, react], selection, false),
    ]
    for round in 0..<3 {
      for (index, one) in cases.enumerated() {
        let (document, variables) = GraphServer.mutation(one.fields, one.selection, [:])
        let before = tap.all
        let response = try server.sendMutation(
          document, variables, token: ben.token, key: one.key ? "k\(round)-\(index)" : nil)
        #expect(!response.text.contains("errors\":"), "\(response.text)")
        #expect(!response.text.contains("\"userErrors\":[{"), "\(response.text)")
        let sent = Self.sent(tap, since: before)
        let syncs = sent.count { $0 == UInt8(ascii: "S") }
        // In the first round connections are opened as well.
        if round == 0 { continue }
        #expect(
          syncs == one.fields.count,
          "\(one.fields[0]) in round \(round): \(String(decoding: sent, as: UTF8.self))")
        // Nothing is sent by itself, nor asked for before the Sync: no BEGIN, no COMMIT, no Flush.
        #expect(sent.allSatisfy { "BDES".utf8.contains($0) })
        #expect(sent.count { $0 == UInt8(ascii: "E") } >= 2 * one.fields.count)
      }
    }
    // A refusal is no longer way.
    let before = tap.all
    #expect(
      try server.refusals("react(subjectId: \"\(post.wire)\", kind: AGREE)", as: ben)
        == [Refusal("INVALID", "kind")])
    let sent = Self.sent(tap, since: before)
    #expect(sent.count { $0 == UInt8(ascii: "S") } == 1)
  }

  @Test func `the check at the start waits a few times, however many mutations there are`() throws {
    let (tap, tapped) = try Self.tap(TestCluster.newDatabase(migrated: true))
    defer { tap.stop() }
    let session = try PostgresSession(PostgresConfiguration(tapped))
    #expect(try MutationCheck(mapping: GraphServer.mapping.get()).run(session) == [])
    let sent = tap.all.flatMap(\.messages)
    #expect(sent.count { $0 == UInt8(ascii: "P") } > 100)
    // What is described goes out together; what is run is waited for.
    #expect(sent.count { $0 == UInt8(ascii: "B") || $0 == UInt8(ascii: "Q") } <= 3)
  }

  /// A tap before a database, and how to reach the database through it.
  private static func tap(_ database: String) throws -> (WireTap, String) {
    let words = database.split(separator: " ").map(String.init)
    let host = try #require(words.first { $0.hasPrefix("host=") })
    let target = host.dropFirst(5).trimmingPrefix("'").prefix { $0 != "'" }
    let tap = try WireTap(target: String(target))
    return (tap, database.replacing(host, with: "host=\(tap.folder)"))
  }

  /// Returns the bytes sent since then on connections for mutations, without the texts of new
  /// statements.
  private static func sent(_ tap: WireTap, since before: [WireTap.Conversation]) -> [UInt8] {
    tap.all.enumerated().flatMap { index, conversation -> [UInt8] in
      guard conversation.statements.contains(where: { $0.contains("sociograph.result") }) else {
        return []
      }
      let known = index < before.count ? before[index].messages.count : 0
      return conversation.messages.dropFirst(known).filter { $0 != UInt8(ascii: "P") }
    }
  }
}
