/// A schema as introspection shows it: the value of each field of `__Schema`, `__Type` and the
/// others.
///
/// An executor walks it like any other data: start at `.schema` or `.type(...)`, request a field,
/// and select from the returned objects. Lists keep source order.
///
/// GraphQL September 2026, 4.2 Schema Introspection.
package enum IntrospectionObject: Sendable {
  case schema
  case type(TypeReference)
  case field(FieldDefinition)
  case inputValue(InputValueDefinition)
  case enumValue(EnumValueDefinition)
  case directive(DirectiveDefinition)

  /// The value of `__typename`.
  package var typeName: String {
    switch self {
    case .schema: "__Schema"
    case .type: "__Type"
    case .field: "__Field"
    case .inputValue: "__InputValue"
    case .enumValue: "__EnumValue"
    case .directive: "__Directive"
    }
  }
}

package indirect enum IntrospectionValue: Sendable {
  case null
  case boolean(Bool)
  /// A string, or the name of an enum value.
  case string(String)
  case object(IntrospectionObject)
  case list([IntrospectionValue])

  fileprivate init(_ text: String?) { self = text.map { .string($0) } ?? .null }

  fileprivate static func types(_ ids: [TypeID]) -> IntrospectionValue {
    .list(ids.map { .object(.type(.named($0))) })
  }
}

extension Schema {
  /// Returns the value of a field of an introspection type; null for a field that the type does not
  /// have.
  package func introspect(
    _ object: IntrospectionObject, _ field: String, includeDeprecated: Bool = false
  ) -> IntrospectionValue {
    switch object {
    case .schema: schemaField(field, includeDeprecated)
    case .type(let reference): typeField(reference, field, includeDeprecated)
    case .field(let definition): fieldField(definition, field, includeDeprecated)
    case .inputValue(let definition): inputValueField(definition, field)
    case .enumValue(let definition): enumValueField(definition, field)
    case .directive(let definition): directiveField(definition, field, includeDeprecated)
    }
  }

  /// Returns the value of `__type(name:)`.
  package func introspect(typeNamed name: String) -> IntrospectionValue {
    type(named: name).map { .object(.type(.named($0.id))) } ?? .null
  }

  private func schemaField(_ field: String, _ includeDeprecated: Bool) -> IntrospectionValue {
    func root(_ id: TypeID?) -> IntrospectionValue {
      id.map { .object(.type(.named($0))) } ?? .null
    }
    return switch field {
    case "description": IntrospectionValue(description)
    case "types": .types(types.map(\.id))
    case "queryType": root(queryType)
    case "mutationType": root(mutationType)
    case "subscriptionType": root(subscriptionType)
    case "directives":
      .list(
        directives.filter { includeDeprecated || $0.deprecationReason == nil }
          .map { .object(.directive($0)) })
    default: .null
    }
  }

  private func typeField(
    _ reference: TypeReference, _ field: String, _ includeDeprecated: Bool
  ) -> IntrospectionValue {
    switch reference {
    case .list(let inner):
      wrapperField(field, kind: "LIST", inner)
    case .nonNull(let inner):
      wrapperField(field, kind: "NON_NULL", inner)
    case .named(let id):
      namedTypeField(self[id], field, includeDeprecated)
    }
  }

  private func wrapperField(
    _ field: String, kind: String, _ inner: TypeReference
  ) -> IntrospectionValue {
    switch field {
    case "kind": .string(kind)
    case "ofType": .object(.type(inner))
    default: .null
    }
  }

  private func namedTypeField(
    _ type: TypeDefinition, _ field: String, _ includeDeprecated: Bool
  ) -> IntrospectionValue {
    switch (field, type.kind) {
    case ("kind", _): .string(type.kindName)
    case ("name", _): .string(type.name)
    case ("description", _): IntrospectionValue(type.description)
    case ("specifiedByURL", .scalar(let url)): IntrospectionValue(url)
    case ("fields", .object), ("fields", .interface):
      .list(
        type.fields.filter { includeDeprecated || $0.deprecationReason == nil }
          .map { .object(.field($0)) })
    case ("interfaces", .object), ("interfaces", .interface): .types(type.interfaces)
    case ("possibleTypes", .interface), ("possibleTypes", .union):
      .types(possibleTypes[Int(type.id.index)])
    case ("enumValues", .enum(let values)):
      .list(
        values.filter { includeDeprecated || $0.deprecationReason == nil }
          .map { .object(.enumValue($0)) })
    case ("inputFields", .inputObject(let fields, _)): inputValues(fields, includeDeprecated)
    case ("isOneOf", .inputObject(_, let isOneOf)): .boolean(isOneOf)
    default: .null
    }
  }

  private func inputValues(
    _ values: [InputValueDefinition], _ includeDeprecated: Bool
  ) -> IntrospectionValue {
    .list(
      values.filter { includeDeprecated || $0.deprecationReason == nil }
        .map { .object(.inputValue($0)) })
  }

  private func fieldField(
    _ definition: FieldDefinition, _ field: String, _ includeDeprecated: Bool
  ) -> IntrospectionValue {
    switch field {
    case "name": .string(definition.name)
    case "description": IntrospectionValue(definition.description)
    case "args": inputValues(definition.arguments, includeDeprecated)
    case "type": .object(.type(definition.type))
    case "isDeprecated": .boolean(definition.deprecationReason != nil)
    case "deprecationReason": IntrospectionValue(definition.deprecationReason)
    default: .null
    }
  }

  private func inputValueField(
    _ definition: InputValueDefinition, _ field: String
  ) -> IntrospectionValue {
    switch field {
    case "name": .string(definition.name)
    case "description": IntrospectionValue(definition.description)
    case "type": .object(.type(definition.type))
    case "defaultValue": IntrospectionValue(defaultText(of: definition))
    case "isDeprecated": .boolean(definition.deprecationReason != nil)
    case "deprecationReason": IntrospectionValue(definition.deprecationReason)
    default: .null
    }
  }

  private func enumValueField(
    _ definition: EnumValueDefinition, _ field: String
  ) -> IntrospectionValue {
    switch field {
    case "name": .string(definition.name)
    case "description": IntrospectionValue(definition.description)
    case "isDeprecated": .boolean(definition.deprecationReason != nil)
    case "deprecationReason": IntrospectionValue(definition.deprecationReason)
    default: .null
    }
  }

  private func directiveField(
    _ definition: DirectiveDefinition, _ field: String, _ includeDeprecated: Bool
  ) -> IntrospectionValue {
    switch field {
    case "name": .string(definition.name)
    case "description": IntrospectionValue(definition.description)
    case "isRepeatable": .boolean(definition.isRepeatable)
    case "locations": .list(locations(of: definition).map { .string($0.rawValue) })
    case "args": inputValues(definition.arguments, includeDeprecated)
    case "isDeprecated": .boolean(definition.deprecationReason != nil)
    case "deprecationReason": IntrospectionValue(definition.deprecationReason)
    default: .null
    }
  }

  /// Returns the locations of a directive. Clients of September 2025 and before refuse a schema with
  /// one that they do not know, so that `@deprecated` has it only where a directive uses it.
  private func locations(of definition: DirectiveDefinition) -> [DirectiveLocation] {
    guard definition.isBuiltIn, directives.allSatisfy({ $0.appliedDirectives.isEmpty }) else {
      return definition.locations
    }
    return definition.locations.filter { $0 != .directiveDefinition }
  }
}

extension TypeDefinition {
  /// The value of `__TypeKind`.
  package var kindName: String {
    switch kind {
    case .scalar: "SCALAR"
    case .object: "OBJECT"
    case .interface: "INTERFACE"
    case .union: "UNION"
    case .enum: "ENUM"
    case .inputObject: "INPUT_OBJECT"
    }
  }
}
