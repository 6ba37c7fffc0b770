import Foundation
import GraphQLChecking
import GraphQLLanguage
import GraphQLPlanning
import GraphQLResponse
import GraphQLSchema
import GraphQLTransport
import JSON
import Server

/// `sociograph schema diff`: the changes from one version of a schema to another.
enum SchemaDiff {
  static let section = CommandSpecification.Section(
    "Diff",
    [
      option(
        "usage", "FILE",
        "what clients use, as sociograph usage --json prints it: other changes are marked unused"),
      option(
        "documents", "MANIFEST",
        "the operations of clients, a manifest of trusted documents: other changes are marked unused"
      ),
      option(
        "unused-is-safe", nil, "report a change of what no known operation uses as safe"),
      option("json", nil, "print one JSON object instead of lines, also for search"),
    ])

  private static func option(
    _ name: String, _ placeholder: String?, _ summary: String
  ) -> CommandSpecification.Option {
    CommandSpecification.Option(
      name, placeholder,
      environment: "SOCIOGRAPH_SCHEMA_"
        + name.uppercased().split(separator: "-").joined(separator: "_"), summary)
  }

  /// - Returns: the exit code: 1 if a change is breaking.
  static func run(_ files: [String], _ options: CommandOptions) throws -> Int32 {
    guard files.count == 2 else {
      throw UsageError("schema diff needs OLD and NEW; see sociograph schema --help.")
    }
    let usage = try options.text("usage").map { try self.usage($0) }
    let documents = try options.text("documents").map { try self.documents($0) }
    let allowsUnused = try options.isSet("unused-is-safe")
    guard !allowsUnused || usage != nil || documents != nil else {
      throw UsageError("--unused-is-safe needs --usage or --documents.")
    }
    let comparison = SchemaComparison(
      try schema(files[0]), try schema(files[1]), usage: usage, documents: documents,
      allowsUnused: allowsUnused)
    if !comparison.invalidDocuments.isEmpty {
      let names = comparison.invalidDocuments.prefix(5).joined(separator: ", ")
      Console.warn(
        "\(comparison.invalidDocuments.count) documents are not valid for \(files[0]) and are left "
          + "out: \(names)")
    }
    if try options.isSet("json") {
      Console.write(comparison.json)
    } else {
      for finding in comparison.findings { Console.print(finding.line) }
    }
    return comparison.isBreaking ? 1 : 0
  }

  /// Reads a schema: a file of SDL, or a folder with storage directives, as clients see it.
  static func schema(_ name: String) throws(UsageError) -> Schema {
    if (try? FileManager.default.contentsOfDirectory(atPath: name)) != nil {
      do {
        return StorageDirectives.clientSchema(of: try SchemaFiles.load(name).schema)
      } catch {
        throw UsageError(error.description)
      }
    }
    do {
      let source = Source(try Console.contents(of: name))
      return try SchemaBuilder.build(Parser.parse(source, limits: .unlimited))
    } catch let error as SyntaxError {
      throw unreadable(name, [GraphQLError(error)])
    } catch let error as SchemaErrors {
      throw unreadable(name, error.errors)
    } catch {
      throw UsageError("\(error)")
    }
  }

  private static func unreadable(_ name: String, _ errors: [GraphQLError]) -> UsageError {
    UsageError(
      errors.map { error in
        let place = error.locations.first.map { ":\($0.line):\($0.column)" } ?? ""
        return "\(name)\(place): \(error.message)"
      }.joined(separator: "\n"))
  }

  /// Reads the documents of a manifest.
  static func documents(_ name: String) throws(UsageError) -> [(id: String, text: String)] {
    do {
      return try TrustedDocuments(manifest: Console.contents(of: name)).documents
    } catch let error as ManifestError {
      throw UsageError("\(name): \(error)")
    } catch {
      throw UsageError("\(error)")
    }
  }

  /// Reads the coordinates with executions: those of `usage --json`, or the members of one object
  /// that have a positive number.
  private static func usage(_ name: String) throws(UsageError) -> Set<SchemaCoordinate> {
    let counts: [(name: String, count: JSONValue?)]
    do {
      let value = try JSONParser.parse(Console.contents(of: name))
      if case .array(let items)? = value["coordinates"] {
        counts = items.compactMap { item in
          guard case .string(let name)? = item["coordinate"] else { return nil }
          return (name, item["executions"])
        }
      } else if case .object(let members) = value {
        counts = members.map { ($0.name, $0.value) }
      } else {
        throw UsageError("\(name): expected a JSON object with \"coordinates\".")
      }
    } catch let error as UsageError {
      throw error
    } catch {
      throw UsageError("\(name): \(error)")
    }
    var used: Set<SchemaCoordinate> = []
    for (text, count) in counts {
      guard case .number(let digits)? = count, let number = Double(digits), number > 0 else {
        continue
      }
      do {
        used.insert(try SchemaCoordinate.parse(Source(text)))
      } catch {
        throw UsageError("\(name): \"\(text)\" is not a schema coordinate.")
      }
    }
    return used
  }
}
