import Foundation
import GraphQLChecking
import GraphQLPlanning
import Server

/// `sociograph schema docs`: a static site of the schema.
enum SchemaDocs {
  static let section = CommandSpecification.Section(
    "Docs",
    [
      CommandSpecification.Option(
        "examples", "DIR", environment: "SOCIOGRAPH_SCHEMA_EXAMPLES", isRepeatable: true,
        "a folder of .graphql documents, also in its folders: examples of root fields"),
      CommandSpecification.Option(
        "rights", "FILE", environment: "SOCIOGRAPH_SCHEMA_RIGHTS",
        "a table of who may call which mutation, a line each"),
    ])

  static func run(_ operands: [String], _ options: CommandOptions) throws {
    guard let folder = operands.first, operands.count == 1 else {
      throw UsageError("schema docs needs one DIR to write to.")
    }
    var rights = SchemaRights()
    if let file = options.text("rights") {
      let text = String(decoding: try Console.contents(of: file), as: UTF8.self)
      guard let read = SchemaRights(text) else {
        throw UsageError("\(file): each line must have the columns that \"# mutation\" names.")
      }
      rights = read
    }
    let examples = try options.texts("examples").flatMap { try documents(in: $0) }
    let mapping = try SchemaFiles.load(
      SettingOptions.shippedFolder("Schema", "schema", options))
    let site = SchemaSite(
      StorageDirectives.clientSchema(of: mapping.schema), examples: examples, rights: rights)
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    } catch {
      throw CommandFailure("the folder \"\(folder)\" cannot be created.")
    }
    let files = site.files
    for file in files { try LoadFiles.write(file.bytes, to: "\(folder)/\(file.path)") }
    Console.say("wrote \(files.count) files to \(folder)")
  }

  private static func documents(in folder: String) throws -> [String] {
    guard (try? FileManager.default.contentsOfDirectory(atPath: folder)) != nil,
      let names = FileManager.default.enumerator(atPath: folder)
    else {
      throw UsageError("the folder \"\(folder)\" cannot be read.")
    }
    var documents: [String] = []
    for case let name as String in names where name.hasSuffix(".graphql") {
      documents.append(
        String(decoding: try Console.contents(of: "\(folder)/\(name)"), as: UTF8.self))
    }
    return documents
  }
}
