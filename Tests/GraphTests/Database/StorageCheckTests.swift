import Foundation
import Postgres
import StorageChecking
import TestSupport
import Testing

@testable import Server

/// A storage directive that does not fit the tables is found before the server serves, wherever in
/// the schema it stands.
@Suite(.usesCluster) struct StorageCheckTests {
  private func problems(changing file: String, _ text: String, to other: String) throws -> [String]
  {
    let manager = FileManager.default
    let folder = manager.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? manager.removeItem(at: folder) }
    try manager.copyItem(
      at: URL(fileURLWithPath: TestCluster.packageFolder + "/Schema"), to: folder)
    let path = folder.appendingPathComponent(file)
    let whole = try String(contentsOf: path, encoding: .utf8)
    #expect(whole.contains(text))
    try whole.replacing(text, with: other).write(to: path, atomically: true, encoding: .utf8)
    do {
      return try StorageCheck(mapping: SchemaFiles.load(folder.path)).run(
        PostgresConfiguration(TestCluster.migratedDatabase())
      ).map(\.description)
    } catch let failure as CommandFailure {
      return failure.description.split(separator: "\n").map(String.init)
    }
  }

  @Test func `the graph's own directives hold`() throws {
    let problems = try StorageCheck(mapping: GraphServer.mapping.get()).run(
      PostgresConfiguration(TestCluster.migratedDatabase()))
    #expect(!problems.hasErrors, "\(problems)")
  }

  @Test(arguments: [
    // A column of a type that is first met as one of many that an id can be of.
    (
      "message.graphql", "  createdAt: DateTime!", #"  createdAt: DateTime! @column(name: "sent")"#,
      "error: Message.createdAt: column this.sent does not exist."
    ),
    // One that several types have from an interface.
    (
      "post.graphql", "  body: String!", #"  body: String! @column(name: "words")"#,
      "error: Post.body: column this.words does not exist."
    ),
    // The second choice of an input that takes one of several.
    (
      "location.graphql", "this.gmaps_id = :value", "this.maps_id = :value",
      "error: Query.location: column this.maps_id does not exist."
    ),
    // An order that is not the first.
    (
      "location.graphql", #"NAME @orderBy(by: "this.name_key"#,
      #"NAME @orderBy(by: "this.name_text"#,
      "error: Query.locations: column this.name_text does not exist."
    ),
    // No order at all.
    (
      "circle.graphql", #"@connection(orderBy: "lower(this.name), this.id")"#, "@connection",
      "Query.circles: pages need an order: orderBy, or an enum with @orderBy."
    ),
    // Words that nothing gives a meaning.
    (
      "user.graphql", "shown_photo(:viewer)", "shown_photo(:viewr)",
      "User.avatar: \":viewr\" in @reference names no argument."
    ),
    (
      "circle.graphql", "visible_circle(:viewer)", "visible_circle(:viewer.id)",
      "Circle: \":viewer.id\" in @table names no argument."
    ),
    // No directive at all.
    (
      "user.graphql", #"home: Location @reference(column: "home_id")"#, "home: Location",
      "error: User.home: it has no storage; write @reference, @connection, @list or @embed."
    ),
    // Nothing that says which row.
    (
      "application.graphql", #"AppConfig @reference(where: "this.app = lower(:app)")"#,
      "AppConfig @reference",
      "Query.appConfig: @reference needs one of column, id, where and from, or a @where."
    ),
  ])
  func `a directive that does not hold is named`(
    file: String, text: String, other: String, problem: String
  ) throws {
    let found = try problems(changing: file, text, to: other)
    #expect(found.contains { $0.hasPrefix(problem) }, "\(found)")
  }
}
