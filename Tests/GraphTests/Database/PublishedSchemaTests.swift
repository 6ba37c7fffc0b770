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

  @Test func `every description stands alone`() throws {
    let schema = StorageDirectives.clientSchema(of: try GraphServer.mapping.get().schema)
    let descriptions = Self.descriptions(of: schema)
    #expect(descriptions.count > 1000)
    let wrong = descriptions.compactMap { coordinate, text in
      Self.fault(in: text).map { "\(coordinate): \($0): \(text ?? "")" }
    }
    #expect(wrong == [], "\(wrong.joined(separator: "\n"))")
  }

  @Test(
    arguments: [
      (nil, "missing"), ("", "missing"), ("Its name.", "fewer than three words"),
      ("The name of the user", "no period at the end"),
      ("Who wrote the comment.", "starts with Who"), ("What it is called.", "starts with What"),
      ("Which of the events.", "starts with Which"), ("Of a wall post.", "starts with Of"),
      ("the name of the user.", "starts in lower case"),
      ("The user who wrote the comment.", nil), ("Whether the viewer may vote.", nil),
    ] as [(String?, String?)])
  func `a description that needs its neighbors is found`(text: String?, fault: String?) {
    #expect(Self.fault(in: text) == fault)
  }

  /// Returns why a description does not stand alone, or nil if it does.
  private static func fault(in text: String?) -> String? {
    guard let text, let first = text.first else { return "missing" }
    let words = text.split(whereSeparator: \.isWhitespace)
    if words.count < 3 { return "fewer than three words" }
    if !text.hasSuffix(".") { return "no period at the end" }
    if let word = ["Who", "What", "Which", "Of"].first(where: { words[0] == $0 }) {
      return "starts with \(word)"
    }
    return first.isLowercase ? "starts in lower case" : nil
  }

  /// Returns the description of everything that the schema defines, by its coordinate.
  private static func descriptions(of schema: Schema) -> [(coordinate: String, text: String?)] {
    var found: [(coordinate: String, text: String?)] = [("schema", schema.description)]
    for type in schema.types where !type.isBuiltIn {
      found.append((type.name, type.description))
      for field in type.fields {
        found.append(("\(type.name).\(field.name)", field.description))
        found += field.arguments.map {
          ("\(type.name).\(field.name)(\($0.name):)", $0.description)
        }
      }
      switch type.kind {
      case .enum(let values):
        found += values.map { ("\(type.name).\($0.name)", $0.description) }
      case .inputObject(let fields, _):
        found += fields.map { ("\(type.name).\($0.name)", $0.description) }
      case .scalar, .object, .interface, .union: break
      }
    }
    for directive in schema.directives {
      found.append(("@\(directive.name)", directive.description))
      found += directive.arguments.map { ("@\(directive.name)(\($0.name):)", $0.description) }
    }
    return found
  }
}
