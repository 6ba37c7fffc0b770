import Foundation
import JSON
import Testing

@testable import GraphQLPlanning

/// Plans of small schemas. Tests/Fixtures/planning has a folder for each case with its schema,
/// operation and variables, and the statement, parameters and shape of its plan.
///
/// `SOCIOGRAPH_UPDATE_FIXTURES=1` writes the plans again: read the difference before you commit it.
@Suite struct PlanningCasesTests {
  private static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Fixtures/planning")

  static let names: [String] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
    return names.filter { !$0.hasPrefix(".") }.sorted()
  }()

  private static let isUpdating =
    ProcessInfo.processInfo.environment["SOCIOGRAPH_UPDATE_FIXTURES"] == "1"

  @Test func `the cases are there`() {
    #expect(Self.names.count >= 40)
  }

  @Test(arguments: PlanningCasesTests.names)
  func `an operation has the plan of its case`(name: String) throws {
    let folder = Self.folder.appending(path: name)
    func text(_ file: String) -> String? {
      try? String(contentsOf: folder.appending(path: file), encoding: .utf8)
    }
    let query = try #require(text("operation.graphql"))
    #expect(query.hasPrefix("# "), "The first line says what the case is about.")
    let mapping = try PlanningFixture.mapping(#require(text("schema.graphql")))
    let variables = try text("variables.json").map { try JSONParser.parse(Array($0.utf8)) }
    let plan = try PlanningFixture.plan(query, variables, in: mapping)

    let names = try PlanningFixture.variableNames(of: query)
    var lines =
      [plan.statement?.text ?? "-- no statement", ""]
      + plan.parameterLines(variableNames: names).map { "-- \($0)" }
    if case .mutation(let mutation) = plan {
      lines = mutation.fields.flatMap { field -> [String] in
        guard case .call(let call) = field else { return [] }
        return [call.call, call.selection].compactMap(\.self).flatMap { statement in
          [statement.text, ""]
            + statement.parameters.enumerated().map { "-- $\($0 + 1) \($1.description(names))" }
        }
      }
    }
    let found = [
      "statement.sql": lines.joined(separator: "\n") + "\n",
      "shape.txt": plan.shapeLines.joined(separator: "\n") + "\n",
    ]
    for (file, content) in found {
      if Self.isUpdating {
        try content.write(
          to: folder.appending(path: file), atomically: true, encoding: .utf8)
      } else {
        #expect(text(file) == content, "\(name)/\(file)")
      }
    }
  }
}
