import GraphQLLanguage

/// A type system: named types, root operation types and directives, in source order.
///
/// It is immutable once built. Types refer to each other by `TypeID`, an index into `types`, so
/// following a type reference is an array access. Directives applied in SDL are kept as written,
/// for the modules above that interpret them; the type system itself reads only `@deprecated`,
/// `@specifiedBy` and `@oneOf`.
///
/// GraphQL September 2025, 3 Type System.
package struct Schema: Sendable {
  package let description: String?
  /// All types, including built-in scalars and introspection types.
  package let types: [TypeDefinition]
  package let directives: [DirectiveDefinition]
  package let queryType: TypeID?
  package let mutationType: TypeID?
  package let subscriptionType: TypeID?
  /// The directives applied to `schema` and `extend schema`.
  package let appliedDirectives: [Directive]
  package let typesByName: [String: TypeID]
  package let directivesByName: [String: DirectiveDefinition]
  /// The possible types of each type, by type index, in source order: an object type has itself,
  /// leaf and input types none.
  package let possibleTypes: [[TypeID]]

  package subscript(_ id: TypeID) -> TypeDefinition { types[Int(id.index)] }

  package func type(named name: String) -> TypeDefinition? {
    typesByName[name].map { self[$0] }.flatMap { $0.name.hasLength(of: name) ? $0 : nil }
  }

  package func rootType(for kind: OperationKind) -> TypeID? {
    switch kind {
    case .query: queryType
    case .mutation: mutationType
    case .subscription: subscriptionType
    }
  }

  package init(
    description: String?, types: [TypeDefinition], directives: [DirectiveDefinition],
    queryType: TypeID?, mutationType: TypeID?, subscriptionType: TypeID?,
    appliedDirectives: [Directive], possibleTypes: [[TypeID]]
  ) {
    self.description = description
    self.types = types
    self.directives = directives
    self.queryType = queryType
    self.mutationType = mutationType
    self.subscriptionType = subscriptionType
    self.appliedDirectives = appliedDirectives
    self.possibleTypes = possibleTypes
    typesByName = Dictionary(
      types.map { ($0.name, $0.id) }, uniquingKeysWith: { first, _ in first })
    directivesByName = Dictionary(
      directives.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }
}

extension Schema {
  /// Returns whether a field of the query type is answered from the schema.
  package static func isIntrospection(_ field: String) -> Bool {
    field == "__schema" || field == "__type"
  }
}

/// An index into `Schema.types`.
package struct TypeID: Sendable, Hashable {
  package let index: Int32

  package init(index: Int32) { self.index = index }
}

/// A use of a type: `[User!]!`.
package indirect enum TypeReference: Sendable, Hashable {
  case named(TypeID)
  case list(TypeReference)
  case nonNull(TypeReference)

  package var isNonNull: Bool { if case .nonNull = self { true } else { false } }

  /// The type without an outer non-null.
  package var nullable: TypeReference {
    if case .nonNull(let inner) = self { inner } else { self }
  }

  /// The named type inside every list and non-null.
  package var namedType: TypeID {
    switch self {
    case .named(let id): id
    case .list(let inner), .nonNull(let inner): inner.namedType
    }
  }
}

/// The scalars of every GraphQL service (September 2025, 3.5).
package enum BuiltInScalar: String, Sendable, CaseIterable {
  case int = "Int"
  case float = "Float"
  case string = "String"
  case boolean = "Boolean"
  case id = "ID"
}

package final class TypeDefinition: Sendable {
  package enum Kind: Sendable {
    case scalar(specifiedByURL: String?)
    case object
    case interface
    case union(members: [TypeID])
    case `enum`([EnumValueDefinition])
    case inputObject([InputValueDefinition], isOneOf: Bool)
  }

  package let id: TypeID
  package let name: String
  package let description: String?
  package let kind: Kind
  /// The fields of object and interface types, in source order; empty for other types.
  package let fields: [FieldDefinition]
  /// The interfaces of object and interface types, as declared; empty for other types.
  package let interfaces: [TypeID]
  package let appliedDirectives: [Directive]
  /// Whether the type comes from the specification, not from the SDL: built-in scalars and
  /// introspection types.
  package let isBuiltIn: Bool
  /// The built-in scalar that this type is, or nil for any other type.
  package let builtInScalar: BuiltInScalar?
  private let fieldIndices: [String: Int]
  private let inputIndices: [String: Int]
  private let valueIndices: [String: Int]

  package init(
    id: TypeID, name: String, description: String?, kind: Kind, fields: [FieldDefinition] = [],
    interfaces: [TypeID] = [], appliedDirectives: [Directive] = [], isBuiltIn: Bool = false
  ) {
    self.id = id
    self.name = name
    self.description = description
    self.kind = kind
    self.fields = fields
    self.interfaces = interfaces
    self.appliedDirectives = appliedDirectives
    self.isBuiltIn = isBuiltIn
    if case .scalar = kind {
      builtInScalar = BuiltInScalar(rawValue: name)
    } else {
      builtInScalar = nil
    }
    func indices(_ names: [String]) -> [String: Int] {
      Dictionary(
        names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }
    fieldIndices = indices(fields.map(\.name))
    if case .inputObject(let inputs, _) = kind {
      inputIndices = indices(inputs.map(\.name))
    } else {
      inputIndices = [:]
    }
    if case .enum(let values) = kind {
      valueIndices = indices(values.map(\.name))
    } else {
      valueIndices = [:]
    }
  }

  package func field(named name: String) -> FieldDefinition? {
    fieldIndices[name].map { fields[$0] }
  }

  package func fieldIndex(named name: String) -> Int? { fieldIndices[name] }

  package func inputField(named name: String) -> InputValueDefinition? {
    guard case .inputObject(let inputs, _) = kind else { return nil }
    return inputIndices[name].map { inputs[$0] }.flatMap {
      $0.name.hasLength(of: name) ? $0 : nil
    }
  }

  package func inputFieldIndex(named name: String) -> Int? { inputIndices[name] }

  package func enumValue(named name: String) -> EnumValueDefinition? {
    guard case .enum(let values) = kind else { return nil }
    return valueIndices[name].map { values[$0] }.flatMap {
      $0.name.hasLength(of: name) ? $0 : nil
    }
  }

  package var isComposite: Bool {
    switch kind {
    case .object, .interface, .union: true
    case .scalar, .enum, .inputObject: false
    }
  }

  package var isAbstract: Bool {
    switch kind {
    case .interface, .union: true
    case .object, .scalar, .enum, .inputObject: false
    }
  }

  package var isLeaf: Bool {
    switch kind {
    case .scalar, .enum: true
    case .object, .interface, .union, .inputObject: false
    }
  }

  package var isInputType: Bool {
    switch kind {
    case .scalar, .enum, .inputObject: true
    case .object, .interface, .union: false
    }
  }
}

package final class FieldDefinition: Sendable {
  package let name: String
  package let description: String?
  package let arguments: [InputValueDefinition]
  package let type: TypeReference
  package let deprecationReason: String?
  package let appliedDirectives: [Directive]

  package init(
    name: String, description: String?, arguments: [InputValueDefinition], type: TypeReference,
    deprecationReason: String?, appliedDirectives: [Directive] = []
  ) {
    self.name = name
    self.description = description
    self.arguments = arguments
    self.type = type
    self.deprecationReason = deprecationReason
    self.appliedDirectives = appliedDirectives
  }

  package func argument(named name: String) -> InputValueDefinition? {
    arguments.first { $0.name == name }
  }
}

/// An argument or an input field.
package final class InputValueDefinition: Sendable {
  package let name: String
  package let description: String?
  package let type: TypeReference
  /// The default value as written in the SDL; a constant.
  package let defaultValue: Value?
  /// The `defaultValue` coerced to `type`, with nested defaults filled in; nil if there is none.
  package let coercedDefault: InputValue?
  package let deprecationReason: String?
  package let appliedDirectives: [Directive]

  package init(
    name: String, description: String?, type: TypeReference, defaultValue: Value?,
    coercedDefault: InputValue?, deprecationReason: String?, appliedDirectives: [Directive] = []
  ) {
    self.name = name
    self.description = description
    self.type = type
    self.defaultValue = defaultValue
    self.coercedDefault = coercedDefault
    self.deprecationReason = deprecationReason
    self.appliedDirectives = appliedDirectives
  }

  /// Whether a value must be given: the type is non-null, and there is no default.
  package var isRequired: Bool { type.isNonNull && defaultValue == nil }
}

package final class EnumValueDefinition: Sendable {
  package let name: String
  package let description: String?
  package let deprecationReason: String?
  package let appliedDirectives: [Directive]

  package init(
    name: String, description: String?, deprecationReason: String?,
    appliedDirectives: [Directive] = []
  ) {
    self.name = name
    self.description = description
    self.deprecationReason = deprecationReason
    self.appliedDirectives = appliedDirectives
  }
}

package final class DirectiveDefinition: Sendable {
  package let name: String
  package let description: String?
  package let arguments: [InputValueDefinition]
  package let isRepeatable: Bool
  package let locations: [DirectiveLocation]
  package let deprecationReason: String?
  package let appliedDirectives: [Directive]
  package let isBuiltIn: Bool

  package init(
    name: String, description: String?, arguments: [InputValueDefinition], isRepeatable: Bool,
    locations: [DirectiveLocation], deprecationReason: String? = nil,
    appliedDirectives: [Directive] = [], isBuiltIn: Bool
  ) {
    self.deprecationReason = deprecationReason
    self.appliedDirectives = appliedDirectives
    self.name = name
    self.description = description
    self.arguments = arguments
    self.isRepeatable = isRepeatable
    self.locations = locations
    self.isBuiltIn = isBuiltIn
  }

  package func argument(named name: String) -> InputValueDefinition? {
    arguments.first { $0.name == name }
  }
}

extension Schema {
  /// Returns a type reference as it is written: `[User!]!`.
  package func text(of reference: TypeReference) -> String {
    switch reference {
    case .named(let id): self[id].name
    case .list(let inner): "[\(text(of: inner))]"
    case .nonNull(let inner): "\(text(of: inner))!"
    }
  }
}

package enum DirectiveLocation: String, Sendable, CaseIterable {
  case query = "QUERY"
  case mutation = "MUTATION"
  case subscription = "SUBSCRIPTION"
  case field = "FIELD"
  case fragmentDefinition = "FRAGMENT_DEFINITION"
  case fragmentSpread = "FRAGMENT_SPREAD"
  case inlineFragment = "INLINE_FRAGMENT"
  case variableDefinition = "VARIABLE_DEFINITION"
  case schema = "SCHEMA"
  case scalar = "SCALAR"
  case object = "OBJECT"
  case fieldDefinition = "FIELD_DEFINITION"
  case argumentDefinition = "ARGUMENT_DEFINITION"
  case interface = "INTERFACE"
  case union = "UNION"
  case `enum` = "ENUM"
  case enumValue = "ENUM_VALUE"
  case inputObject = "INPUT_OBJECT"
  case inputFieldDefinition = "INPUT_FIELD_DEFINITION"
  case directiveDefinition = "DIRECTIVE_DEFINITION"
}

extension String {
  /// Returns whether both strings have the same UTF-8 length. `==` treats U+212A (kelvin sign) and
  /// `K` as equal, and the lengths differ then.
  fileprivate func hasLength(of other: String) -> Bool { utf8.count == other.utf8.count }
}
