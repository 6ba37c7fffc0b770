import Server
import TestSupport
import Testing

/// Folders of SDL files, and what is wrong in them.
@Suite struct SchemaFilesTests {
  /// - Parameter files: the texts by name.
  /// - Returns: the lines of the refusal; none if the schema is loaded.
  private func problems(_ files: [String: String]) throws -> [String] {
    let folder = try TemporaryFolder()
    for (name, text) in files { _ = try folder.write(name, text) }
    do {
      _ = try SchemaFiles.load(folder.path)
      return []
    } catch {
      return error.description.split(separator: "\n").map(String.init)
    }
  }

  private static let places = """
    type Query { places: [Place!]! @list(orderBy: "this.id") }
    type Place @table(name: "place") { id: ID! name: String! }
    """

  @Test func `a brace that is not closed is an error of its file`() throws {
    let found = try problems([
      "a.graphql": Self.places, "b.graphql": "type Shop {\n  name: String\n",
      "c.graphql": "type Street {\n  name: String\n}\n",
    ])
    #expect(found.count == 1 && found[0].hasPrefix("b.graphql:3:1: Syntax Error: "), "\(found)")
  }

  @Test func `errors of syntax in several files are reported at once, by file and line`() throws {
    let found = try problems([
      "a.graphql": "# Nothing yet.\n", "b.graphql": "\ntype Shop { name String }\n",
      "c.graphql": Self.places, "d.graphql": "typo Street { name: String }\n",
    ])
    #expect(found.count == 2, "\(found)")
    #expect(found.first?.hasPrefix("b.graphql:2:18: ") == true, "\(found)")
    #expect(found.last?.hasPrefix("d.graphql:1:1: ") == true, "\(found)")
  }

  @Test func `an error of the schema has the file and line, behind a file without a last newline`()
    throws
  {
    let found = try problems([
      "a.graphql": Self.places, "b.graphql": "\n\ntype Shop {\n  street: Stret\n}",
    ])
    #expect(found == [#"b.graphql:4:11: Unknown type "Stret". Did you mean "String"?"#], "\(found)")
  }
}
