import GraphQLPlanning
import GraphQLSchema
import JSON
import Server

/// `sociograph schema search`: the elements of a schema that a question is about.
enum SchemaSearchCommand {
  static func run(_ words: [String], _ options: CommandOptions) throws {
    guard !words.isEmpty else { throw UsageError("schema search needs WORDS to search for.") }
    let mapping = try SchemaFiles.load(
      SettingOptions.shippedFolder("Schema", "schema", options))
    let results = SchemaSearch(StorageDirectives.clientSchema(of: mapping.schema))
      .results(for: words.joined(separator: " "), limit: 10)
    if try options.isSet("json") { return Console.write(json(results)) }
    for result in results {
      let type = result.type.map { ": \($0)" } ?? ""
      Console.print("\(result.coordinate)\(type)")
      if let description = result.description {
        Console.print("  \(description.split(separator: "\n").joined(separator: " "))")
      }
    }
  }

  private static func json(_ results: [SchemaSearch.Result]) -> [UInt8] {
    let items = results.map { result -> JSONValue in
      .object([
        JSONValue.Member(name: "coordinate", value: .string("\(result.coordinate)")),
        JSONValue.Member(name: "type", value: result.type.map { .string($0) } ?? .null),
        JSONValue.Member(
          name: "description", value: result.description.map { .string($0) } ?? .null),
      ])
    }
    var writer = JSONWriter()
    writer.write(.object([JSONValue.Member(name: "results", value: .array(items))]))
    writer.append("\n")
    return writer.finish()
  }
}
