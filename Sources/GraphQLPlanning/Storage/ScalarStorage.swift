import GraphQLLanguage
import GraphQLSchema
import SQL

/// The types that values of a leaf type are bound as and written from.
struct ScalarStorage: Sendable {
  let parameter: ParameterType
  let format: LeafFormat
  /// Whether values are read as their text.
  var isReadAsText = false

  init(_ type: TypeDefinition) {
    switch type.builtInScalar {
    case .id?: (parameter, format) = (.id, .id)
    case .int?: (parameter, format) = (.int4, .int)
    case .float?: (parameter, format) = (.float8, .float)
    case .string?: (parameter, format) = (.text, .string)
    case .boolean?: (parameter, format) = (.boolean, .boolean)
    case nil:
      switch type.postgresType {
      case "timestamptz"?: (parameter, format) = (.timestamptz, .dateTime)
      case "timestamptz(6)"?: (parameter, format) = (.instant, .instant)
      case "date"?: (parameter, format) = (.date, .date)
      case "numeric"?: (parameter, format, isReadAsText) = (.numeric, .decimal, true)
      case "int2"?, "int4"?: (parameter, format) = (.int4, .int)
      case "int8"?: (parameter, format) = (.named("int8"), .integerText)
      case "uuid"?: (parameter, format) = (.named("uuid"), .uuid)
      case let name? where TypeDefinition.jsonTypes.contains(name):
        (parameter, format) = (.document(name), .json)
      case "text"?, nil: (parameter, format) = (.text, .string)
      case let name?: (parameter, format, isReadAsText) = (.named(name), .string, true)
      }
    }
  }

  /// Returns why a scalar's `@scalar(type:)` names no type; nil if it does.
  static func problem(of type: TypeDefinition) -> String? {
    guard let name = type.postgresType else { return nil }
    do throws(SQLSyntaxError) {
      try SQLQuoting.checkType(name)
      return nil
    } catch {
      return "\(type.name): @scalar(type:) does not hold: \(error)"
    }
  }
}

extension TypeDefinition {
  /// The type in PostgreSQL that a scalar's `@scalar` names, by its short name.
  var postgresType: String? {
    appliedDirectives.first(named: "scalar")?.string("type").map { Self.shortNames[$0] ?? $0 }
  }

  static let jsonTypes: Set<String> = ["json", "jsonb"]

  private static let shortNames = [
    "integer": "int4", "int": "int4", "smallint": "int2", "bigint": "int8", "varchar": "text",
    "character varying": "text", "timestamp with time zone": "timestamptz", "decimal": "numeric",
  ]

  /// Whether the type is a scalar whose values are JSON documents of any form.
  var isDocument: Bool { isCustomScalar && postgresType.map(Self.jsonTypes.contains) ?? false }
}

extension StorageMapping {
  /// The types that values of each scalar except `Boolean` are bound as.
  package var scalarTypes: [TypeID: ParameterType] {
    var types: [TypeID: ParameterType] = [:]
    for type in schema.types where type.builtInScalar != .boolean {
      if case .scalar = type.kind { types[type.id] = parameterType(of: type.id) }
    }
    return types
  }
}
