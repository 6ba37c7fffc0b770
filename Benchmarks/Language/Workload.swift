import GraphQLLanguage
import GraphQLSchema
import GraphQLValidation
import JSON

/// Something to do again and again. To measure more, add a line here and one of the same name to
/// `Benchmarks/graphql_js.js`.
struct Workload {
  let name: String
  /// Does it once; the result keeps the compiler from leaving it out.
  let run: () throws -> Int

  static func all(_ inputs: Inputs) throws -> [Workload] {
    let domainSource = Source(inputs["domain-schema.graphql"])
    let largeSource = Source(inputs["large-schema.graphql"])
    let domain = try SchemaBuilder.build(try Parser.parse(domainSource, limits: .unlimited))
    let large = try SchemaBuilder.build(try Parser.parse(largeSource, limits: .unlimited))

    func parse(_ name: String, _ file: String) -> Workload {
      let source = Source(inputs[file])
      return Workload(name: "parse \(name)") {
        try Parser.parse(source, limits: .unlimited).definitions.count
      }
    }
    func validate(_ name: String, _ file: String, _ schema: Schema) throws -> Workload {
      let document = try Parser.parse(Source(inputs[file]), limits: .unlimited)
      return Workload(name: "validate \(name)") {
        try Validator.validate(document, against: schema).operations.count
      }
    }
    func print(_ name: String, _ file: String) throws -> Workload {
      let document = try Parser.parse(Source(inputs[file]), limits: .unlimited)
      return Workload(name: "print \(name)") { Printer.print(document).utf8.count }
    }
    func build(_ name: String, _ source: Source) throws -> Workload {
      let document = try Parser.parse(source, limits: .unlimited)
      return Workload(name: "build \(name)") { try SchemaBuilder.build(document).types.count }
    }
    func coerce(_ name: String, _ file: String, _ variables: String) throws -> Workload {
      let document = try Parser.parse(Source(inputs[file]))
      let values = try JSONParser.parse(Array(inputs[variables].utf8))
      let coercion = VariableCoercion(domain, document.operations[0], source: document.source)
      return Workload(name: "coerce \(name)") {
        _ = try coercion.coerce(values)
        return 1
      }
    }

    return try [
      parse("introspection", "introspection.graphql"),
      parse("Q14", "q14.graphql"),
      parse("400 fields", "fields400.graphql"),
      parse("domain schema", "domain-schema.graphql"),
      parse("1000 types", "large-schema.graphql"),
      validate("introspection", "introspection.graphql", domain),
      validate("Q14", "q14.graphql", domain),
      validate("400 fields", "fields400.graphql", domain),
      validate("introspection, 1000 types", "introspection.graphql", large),
      validate("400 fields, 1000 types", "large400.graphql", large),
      coerce("Q14", "q14.graphql", "q14.variables.json"),
      print("Q14", "q14.graphql"),
      print("400 fields", "fields400.graphql"),
      build("domain schema", domainSource),
      build("1000 types", largeSource),
    ] + jsonWorkloads()
  }

  /// Of the writer of responses; graphql-js has no counterpart.
  private static func jsonWorkloads() throws -> [Workload] {
    let texts = [
      "ada", "Ada Lovelace", "Berlin, Prenzlauer Berg",
      "Coffee at the corner, then a long walk along the canal until it rained.",
      "two\nlines and a \"quote\"", "Zoë am Müggelsee 🚣",
    ]
    let key = JSONWriter.key("displayName")
    let body = Array("{\"variables\":{\"ids\":[1,2,3],\"name\":\"Ada\",\"first\":20}}".utf8)
    return [
      Workload(name: "write 600 JSON strings") {
        var writer = JSONWriter(capacity: 64 * 1024)
        for _ in 0..<100 {
          for text in texts {
            writer.append(key)
            writer.write(text)
          }
        }
        return writer.count
      },
      Workload(name: "write 1000 JSON numbers") {
        var writer = JSONWriter(capacity: 64 * 1024)
        for number in 0..<500 {
          writer.write(Int64(number) * 7_919)
          writer.write(Double(number) / 64)
        }
        return writer.count
      },
      Workload(name: "read a JSON request") {
        try JSONParser.parse(body)["variables"] == nil ? 0 : 1
      },
    ]
  }
}
