import Foundation
import GraphQLPlanning
import GraphQLSchema
import JSON
import Server
import TestSupport
import Testing

/// Changes that a viewer may not see do not affect the viewer's responses: the same queries of the
/// same people, before and after mutations, return the same bytes, except for times, tokens of the
/// log of changes and request IDs.
///
/// `SOCIOGRAPH_OPERATIONS=200000` runs more, `SOCIOGRAPH_SEED=7` runs others.
@Suite(.usesCluster(isFirst: true)) struct NonInterferenceTests {
  @Test(arguments: [false, true])
  func `nobody notices what is hidden from them`(isPublic: Bool) throws {
    let environment = ProcessInfo.processInfo.environment
    let count =
      environment["SOCIOGRAPH_OPERATIONS"].flatMap { Int($0) } ?? (isPublic ? 1_000 : 6_000)
    let seed = environment["SOCIOGRAPH_SEED"].flatMap { UInt64($0) } ?? 1
    let acts = try HiddenActs(isPublic: isPublic)
    defer { acts.stop() }
    var questions = try acts.pointed()
    // Ids of what is hidden are drawn often; before the acts they were nothing's.
    let naive = try NaiveDatabase(acts.after.database)
    let known = Set(try NaiveDatabase(acts.before.database).ids("SELECT id FROM every_node"))
    let hidden = try naive.ids("SELECT id FROM every_node").filter { !known.contains($0) }
    #expect(hidden.count > 20)
    let viewers = try naive.ids(
      "SELECT id FROM app_user WHERE username IN (\(acts.viewers.compactMap { $0 }.map { "'\($0)'" }.joined(separator: ", ")))"
    )
    var pool = try ArgumentPool(naive, around: viewers)
    for id in hidden {
      pool.ids[Int(id & 255), default: []] += [id, id]
    }
    pool.ids[5, default: []] += try acts.groups()
    pool.words += ["secret", "loud", "secretbrand"]
    var generator = OperationGenerator(
      try GraphServer.mapping.get().schema, pool, CursorBook(), seed: seed, maximumFields: 20)
    // Everybody is asked each: the statement of an operation is made once, and its viewer a parameter.
    while questions.count * acts.viewers.count < count {
      let operation = generator.next(viewers: acts.viewers)
      questions.append(
        HiddenActs.Question(text: operation.text, variables: operation.variableValues))
    }
    let began = ContinuousClock.now
    for difference in try acts.differences(questions, as: acts.viewers) {
      Issue.record(Comment(rawValue: difference))
    }
    print(
      "non-interference: \(questions.count) operations of \(acts.viewers.count) viewers, seed \(seed), \(hidden.count) hidden nodes, in \(began.duration(to: .now))"
    )
  }

  /// A leak that was there once: what closes it, and what stood in its place.
  struct Leak: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let isPublic: Bool
    let file: String
    let fix: String
    let fault: String
  }

  static let leaks = [
    Leak(
      testDescription: "an event by invitation is told to its channel", isPublic: false,
      file: "change",
      fix: "    (CASE WHEN c.visibility <> 'INVITED' THEN c.circle_id END)) s(id);",
      fault: "    (c.circle_id)) s(id);"),
    Leak(
      testDescription: "the log tells of comments that went with their post", isPublic: true,
      file: "change",
      fix: "  PERFORM log_changes(nodes, scopes, true, authors, hosts);",
      fault: "  PERFORM log_changes(nodes, scopes, true);"),
    Leak(
      testDescription: "a filter ties what is public to a hidden group", isPublic: false,
      file: "calendar",
      fix: "SELECT c.id FROM visible_circle(viewer) c", fault: "SELECT c.id FROM circle c"),
    Leak(
      testDescription: "the log tells of people whom one does not see", isPublic: true,
      file: "change",
      fix: """
          hidden bigint[] := ARRAY(SELECT h.id FROM hidden_user(viewer) h
            UNION SELECT p.user_id FROM hidden_past p WHERE p.viewer_id = viewer);
        """,
      fault: "  hidden bigint[] := '{}';"),
    Leak(
      testDescription: "thanks in a group are in the score", isPublic: false, file: "counter",
      fix: "(SELECT p.visibility = 'PUBLIC' FROM post p WHERE p.id = NEW.post_id)",
      fault: "true"),
    Leak(
      testDescription: "places are ordered by comments one does not see", isPublic: true,
      file: "location", fix: "r.comment_count - hidden_comments(viewer, r.location_id)",
      fault: "r.comment_count"),
    Leak(
      testDescription: "places are filtered by comments one does not see", isPublic: true,
      file: "location.graphql",
      fix: "THEN hidden_comments(:viewer, this.id) ELSE 0 END\n    \"\"\")",
      fault: "THEN 0 ELSE 0 END\n    \"\"\")"),
    Leak(
      testDescription: "suggestions are ordered by followers one does not see", isPublic: true,
      file: "network", fix: "CASE WHEN is_apart THEN hidden_followers(viewer, a.id) ELSE 0 END",
      fault: "0"),
  ]

  @Test(arguments: leaks) func `a leak would be found`(leak: Leak) throws {
    let isSchema = leak.file.hasSuffix(".graphql")
    let path =
      TestCluster.packageFolder
      + (isSchema ? "/Schema/\(leak.file)" : "/sql/functions/\(leak.file).sql")
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.contains(leak.fix))
    let broken = text.replacing(leak.fix, with: leak.fault)
    var mapping: StorageMapping?
    if isSchema {
      let folder = FileManager.default.temporaryDirectory.path + "/" + GraphData.unique("schema")
      defer { try? FileManager.default.removeItem(atPath: folder) }
      try FileManager.default.copyItem(
        atPath: TestCluster.packageFolder + "/Schema", toPath: folder)
      try broken.write(toFile: folder + "/" + leak.file, atomically: true, encoding: .utf8)
      mapping = try SchemaFiles.load(folder)
    }
    let acts = try HiddenActs(
      isPublic: leak.isPublic, fault: isSchema ? [] : [broken], mapping: mapping)
    defer { acts.stop() }
    let viewers = acts.viewers.filter { $0?.hasPrefix("quiet_") ?? true }
    #expect(try acts.differences(acts.pointed(), as: viewers, atMost: 1) != [])
  }

  @Test func `an export has no address of a photo that was refused`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let owner = try data.person("owner")
    _ = try data.photo(of: owner, url: "https://photos.example/kept.jpg")
    _ = try data.photo(of: owner, moderation: "REJECTED", url: "https://photos.example/refused.jpg")
    let export = try server.data("{ viewer { dataExport } }", as: owner).description
    #expect(export.contains("kept.jpg"))
    #expect(!export.contains("refused.jpg"))
  }
}
