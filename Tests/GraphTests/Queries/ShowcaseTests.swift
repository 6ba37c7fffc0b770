import DatabaseSetup
import Foundation
import GraphQLExecution
import GraphQLPlanning
import GraphQLResponse
import JSON
import Postgres
import TestSupport
import Testing

/// The 20 showcase reads: the statement of each and its response over HTTP equal the files in
/// Tests/Fixtures/showcase.
///
/// `SOCIOGRAPH_UPDATE_FIXTURES=1` writes the files again: read the difference before you commit it.
@Suite(.usesCluster) struct ShowcaseTests {
  static let folder = TestCluster.packageFolder + "/Tests/Fixtures/showcase"
  static let names: [String] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasPrefix("Q") }.sorted()
  }()

  private static let isUpdating =
    ProcessInfo.processInfo.environment["SOCIOGRAPH_UPDATE_FIXTURES"] == "1"

  @Test func `there are twenty showcase reads`() {
    #expect(Self.names.count == 20)
  }

  @Test(arguments: ShowcaseTests.names)
  func `a read has the statement of its fixture`(name: String) throws {
    guard
      case .object(let variables) = try JSONParser.parse(
        Array(text(name, "variables.json").utf8))
    else {
      Issue.record("The variables of \(name) are no object.")
      return
    }
    let operation = try OperationPreparer(mapping: GraphServer.mapping.get()).prepare(
      GraphQLRequest(
        identity: .random(), document: text(name, "operation.graphql"), variables: variables)
    ).get()
    let plan = operation.plan.plan
    let parameters = plan.parameterLines(variableNames: operation.variableNames)
    try compare(
      ((plan.statement?.text ?? "") + "\n\n" + parameters.map { "-- " + $0 }.joined(separator: "\n"))
        + "\n", name, "statement.sql")
  }

  @Test(arguments: ShowcaseTests.names)
  func `a read is well within the limits that hold when nobody says otherwise`(name: String) throws
  {
    guard
      case .object(let variables) = try JSONParser.parse(
        Array(text(name, "variables.json").utf8))
    else {
      Issue.record("The variables of \(name) are no object.")
      return
    }
    let operation = try OperationPreparer(mapping: GraphServer.mapping.get()).prepare(
      GraphQLRequest(
        identity: .random(), document: text(name, "operation.graphql"), variables: variables)
    ).get()
    let size = operation.plan.plan.size.size(for: operation.variables)
    let limits = PlannerLimits()
    #expect(size.elements * 2 <= limits.maximumElements)
    #expect(size.cost * 2 <= limits.maximumCost ?? .max)
    #expect(size.nameBytes * 2 <= limits.maximumNameBytes)
  }

  @Test(arguments: ShowcaseTests.names)
  func `a read is answered as its fixture says`(name: String) throws {
    var variables = try JSONParser.parse(Array(text(name, "variables.json").utf8))
    let world = try PinnedGraph.shared.get()
    if name.hasPrefix("Q19") {
      variables = .object([JSONValue.Member(name: "since", value: .string(world.token))])
    }
    let response = try world.server.execute(
      text(name, "operation.graphql"), variables, token: "demo-marisol")
    #expect(response["errors"] == nil)
    try compare(pretty(masked(response)) + "\n", name, "response.json")
  }

  private func text(_ name: String, _ file: String) throws -> String {
    try String(contentsOfFile: "\(Self.folder)/\(name)/\(file)", encoding: .utf8)
  }

  private func compare(_ found: String, _ name: String, _ file: String) throws {
    let path = "\(Self.folder)/\(name)/\(file)"
    if Self.isUpdating {
      try found.write(toFile: path, atomically: true, encoding: .utf8)
      return
    }
    let expected = try String(contentsOfFile: path, encoding: .utf8)
    guard found != expected else { return }
    let pairs = zip(found.split(separator: "\n"), expected.split(separator: "\n"))
    let first = pairs.enumerated().first { $0.element.0 != $0.element.1 }
    Issue.record(
      """
      \(name)/\(file) differs from line \((first?.offset ?? 0) + 1):
      found    \(first?.element.0 ?? "more or fewer lines")
      expected \(first?.element.1 ?? "")
      """)
  }

  /// Sync tokens count the transactions of the cluster: no two runs have the same.
  private func masked(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(let members):
      .object(
        members.map {
          JSONValue.Member(
            name: $0.name, value: $0.name == "token" ? .string("TOKEN") : masked($0.value))
        })
    case .array(let elements): .array(elements.map(masked))
    case .null, .boolean, .number, .string: value
    }
  }

  private func pretty(_ value: JSONValue, _ indent: String = "") -> String {
    let inner = indent + "  "
    switch value {
    case .object(let members) where !members.isEmpty:
      return "{\n"
        + members.map { "\(inner)\(JSONValue.string($0.name)): \(pretty($0.value, inner))" }
        .joined(separator: ",\n") + "\n\(indent)}"
    case .array(let elements) where !elements.isEmpty:
      return "[\n" + elements.map { inner + pretty($0, inner) }.joined(separator: ",\n")
        + "\n\(indent)]"
    default: return "\(value)"
    }
  }
}

/// The demo graph of scale 1 on a day that is always to come, so that events, classes and sessions
/// never run out, with a few changes after a sync token was taken.
private struct PinnedGraph {
  static let shared = Result { try PinnedGraph() }

  let server: GraphServer
  let token: String

  private init() throws {
    let database = try TestCluster.newDatabase(migrated: true)
    var configuration = try PostgresConfiguration(database)
    configuration.settings.append(("sociograph.demo_day", "2096-05-01"))
    _ = try Seeder.read(TestCluster.packageFolder + "/sql/demo", scale: 1, seed: 1)
      .run(configuration) { _ in }
    server = try GraphServer(database: database)
    let session = try PostgresSession(PostgresConfiguration(database))
    try session.waitForChanges()
    let answer = try server.execute("{ changes { token } }", token: "demo-marisol")
    guard let token = answer["data"]?["changes"]?["token"]?.string else {
      throw GraphTestFailure("no sync token: \(answer)")
    }
    self.token = token
    try session.execute(
      """
      UPDATE circle SET description = 'Changed.' WHERE id = (
        SELECT min(circle_id) FROM circle_member WHERE user_id = viewer_named('marisol'));
      UPDATE notification SET read_at = '2096-05-01T12:00:00.000Z' WHERE id = (
        SELECT max(id) FROM notification
        WHERE recipient_id = viewer_named('marisol') AND read_at IS NULL);
      SELECT delete_node((
        SELECT min(id) FROM booking WHERE user_id = viewer_named('marisol')));
      """)
    try session.waitForChanges()
  }
}
