import GraphQLLanguage
import GraphQLSchema

/// The types that values of a leaf type are bound as and written from.
struct ScalarStorage: Sendable {
  let parameter: ParameterType
  let format: LeafFormat

  init(_ type: TypeDefinition) {
    switch type.builtInScalar {
    case .id?: (parameter, format) = (.id, .id)
    case .int?: (parameter, format) = (.int4, .int)
    case .float?: (parameter, format) = (.float8, .float)
    case .string?: (parameter, format) = (.text, .string)
    case .boolean?: (parameter, format) = (.text, .boolean)
    case nil:
      switch type.appliedDirectives.first(named: "scalar")?.string("type") {
      case "timestamptz": (parameter, format) = (.timestamptz, .dateTime)
      case "date": (parameter, format) = (.date, .date)
      case "numeric": (parameter, format) = (.numeric, .decimal)
      default: (parameter, format) = (.text, .string)
      }
    }
  }
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
