import GraphQLLanguage
import GraphQLSchema
import JSON

/// The variables of an operation as JSON Schema, 2020-12.
struct InputSchema {
  private let schema: Schema
  private var definitions: [(name: String, schema: JSONValue)] = []
  private var pending: [TypeDefinition] = []
  private var known: Set<String> = []

  private init(_ schema: Schema) { self.schema = schema }

  /// Returns the schema of an object with the operation's variables.
  static func of(_ operation: OperationDefinition, _ schema: Schema) -> JSONValue {
    var builder = InputSchema(schema)
    var properties: [JSONValue.Member] = []
    var required: [JSONValue] = []
    for variable in operation.variables {
      guard let type = builder.resolve(variable.type) else { continue }
      var property = builder.json(type)
      if let text = variable.description?.text {
        property = Self.with("description", .string(text), in: property)
      }
      properties.append(JSONValue.Member(name: variable.name.text, value: property))
      if type.isNonNull, variable.defaultValue == nil {
        required.append(.string(variable.name.text))
      }
    }
    var members = builder.object(properties, required)
    while let type = builder.pending.popLast() {
      builder.definitions.append((type.name, builder.definition(type)))
    }
    if !builder.definitions.isEmpty {
      let sorted = builder.definitions.sorted { $0.name < $1.name }
      members.append(
        JSONValue.Member(
          name: "$defs",
          value: .object(sorted.map { JSONValue.Member(name: $0.name, value: $0.schema) })))
    }
    return .object(members)
  }

  private func resolve(_ syntax: TypeSyntax) -> TypeReference? {
    switch syntax {
    case .named(let name): schema.typesByName[name.text].map { .named($0) }
    case .list(let inner, _): resolve(inner).map { .list($0) }
    case .nonNull(let inner): resolve(inner).map { .nonNull($0) }
    }
  }

  private func object(
    _ properties: [JSONValue.Member], _ required: [JSONValue]
  ) -> [JSONValue.Member] {
    var members = [
      JSONValue.Member(name: "type", value: .string("object")),
      JSONValue.Member(name: "properties", value: .object(properties)),
      JSONValue.Member(name: "additionalProperties", value: .boolean(false)),
    ]
    if !required.isEmpty {
      members.append(JSONValue.Member(name: "required", value: .array(required)))
    }
    return members
  }

  private mutating func json(_ type: TypeReference) -> JSONValue {
    switch type {
    case .nonNull(let inner): return bare(inner)
    case .named, .list:
      let null = JSONValue.object([JSONValue.Member(name: "type", value: .string("null"))])
      return .object([JSONValue.Member(name: "anyOf", value: .array([bare(type), null]))])
    }
  }

  /// Returns the schema of a type without null.
  private mutating func bare(_ type: TypeReference) -> JSONValue {
    switch type {
    case .nonNull(let inner): bare(inner)
    case .list(let item):
      .object([
        JSONValue.Member(name: "type", value: .string("array")),
        JSONValue.Member(name: "items", value: json(item)),
      ])
    case .named(let id): named(schema[id])
    }
  }

  private mutating func named(_ type: TypeDefinition) -> JSONValue {
    let word: String
    switch type.builtInScalar {
    case .int: word = "integer"
    case .float: word = "number"
    case .boolean: word = "boolean"
    case .string, .id: word = "string"
    case nil:
      if known.insert(type.name).inserted { pending.append(type) }
      return .object([
        JSONValue.Member(name: "$ref", value: .string("#/$defs/\(type.name)"))
      ])
    }
    return .object([JSONValue.Member(name: "type", value: .string(word))])
  }

  private mutating func definition(_ type: TypeDefinition) -> JSONValue {
    var members: [JSONValue.Member] = []
    switch type.kind {
    case .enum(let values):
      members = [
        JSONValue.Member(name: "type", value: .string("string")),
        JSONValue.Member(name: "enum", value: .array(values.map { .string($0.name) })),
      ]
    case .inputObject(let inputs, let isOneOf):
      let properties = inputs.map { input -> JSONValue.Member in
        var property = isOneOf ? bare(input.type) : json(input.type)
        if let text = input.description {
          property = Self.with("description", .string(text), in: property)
        }
        return JSONValue.Member(name: input.name, value: property)
      }
      members = object(
        properties, inputs.filter(\.isRequired).map { .string($0.name) })
      if isOneOf {
        for name in ["minProperties", "maxProperties"] {
          members.append(JSONValue.Member(name: name, value: .number("1")))
        }
      }
    case .scalar, .object, .interface, .union: break
    }
    if let text = type.description {
      members.append(JSONValue.Member(name: "description", value: .string(text)))
    }
    return .object(members)
  }

  private static func with(_ name: String, _ value: JSONValue, in object: JSONValue) -> JSONValue {
    guard case .object(let members) = object else { return object }
    return .object(members + [JSONValue.Member(name: name, value: value)])
  }
}
