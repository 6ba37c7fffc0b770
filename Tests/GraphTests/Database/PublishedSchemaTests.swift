import Foundation
import GraphQLLanguage
import GraphQLPlanning
import GraphQLSchema
import TestSupport
import Testing

/// The schema that clients see equals Tests/Fixtures/schema/published.graphql, whatever the files
/// in Schema/ omit.
///
/// `SOCIOGRAPH_UPDATE_FIXTURES=1` writes it again: read the difference before you commit it,
/// because clients depend on it.
@Suite(.usesCluster) struct PublishedSchemaTests {
  private let path = TestCluster.packageFolder + "/Tests/Fixtures/schema/published.graphql"

  private func published() throws -> String {
    let schema = try GraphServer.mapping.get().schema
    return SchemaPrinter(StorageDirectives.clientSchema(of: schema)).print() + "\n"
  }

  @Test func `the published schema is the one clients know, to the byte`() throws {
    let found = try published()
    if ProcessInfo.processInfo.environment["SOCIOGRAPH_UPDATE_FIXTURES"] == "1" {
      try found.write(toFile: path, atomically: true, encoding: .utf8)
    }
    let known = try String(contentsOfFile: path, encoding: .utf8)
    #expect(Array(found.utf8) == Array(known.utf8))
  }

  @Test func `the published schema says everything, so that completing it changes nothing`() throws
  {
    let text = try published()
    let document = try Parser.parse(text, limits: .unlimited)
    let completed = try SchemaBuilder.build(SchemaCompletion.complete(document))
    #expect(SchemaPrinter(completed).print() + "\n" == text)
    #expect(SchemaBuilder.check(document).errors == [])
  }
}
