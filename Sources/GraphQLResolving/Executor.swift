import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import GraphQLValidation
import JSON

// Execution over values: a valid operation and a root value -> the JSON of its `data`, and its errors.
//
// The reference of what the planner's statements have to answer, in `sociograph check`; and the server's
// own answer to introspection, where there is no database to ask. It neither parses nor validates, and
// has the plainest resolvers: a field's value is the property of its name.

/// Runs one operation with its variables over a root value.
///
/// Results are written as they are completed; if an error makes a field null, its output so far is
/// removed.
///
/// GraphQL September 2025, 6 Execution.
package struct Executor {
  let document: ValidDocument
  let schema: Schema
  let operation: OperationDefinition
  let limits: ExecutionLimits
  let selection: FieldSelection
  private let variables: CoercedVariables
  private let arguments: ArgumentCoercion

  var writer = JSONWriter()
  private(set) var errors: [GraphQLError] = []
  private var path: [PathSegment] = []
  /// The size of the root fields that are done, where each has a writer of its own.
  private var doneBytes = 0

  package init(
    _ document: ValidDocument, _ operation: OperationDefinition, variables: CoercedVariables,
    limits: ExecutionLimits = ExecutionLimits()
  ) {
    self.document = document
    schema = document.schema
    self.operation = operation
    self.variables = variables
    self.limits = limits
    arguments = ArgumentCoercion(
      document.schema, source: document.document.source, variables: variables)
    selection = FieldSelection(document, arguments: arguments)
  }

  /// Executes the root fields in order, so that mutations are serial.
  package consuming func execute(root: JSONValue) -> ExecutionResult {
    guard let rootType = schema.rootType(for: operation.kind) else {
      return ExecutionResult(
        data: Array("null".utf8),
        errors: [
          error(
            "Schema is not configured to execute \(operation.kind.rawValue) operation.",
            at: [operation.position])
        ])
    }
    do throws(GraphQLError) {
      let groups = try selection.fields(
        of: [operation.selectionSet], on: schema[rootType])
      try executeFields(groups, of: .json(root), on: schema[rootType])
    } catch {
      errors.append(error)
      writer.truncate(to: 0)
      writer.writeNull()
    }
    return ExecutionResult(data: writer.finish(), errors: errors)
  }

  /// Executes only the root fields that are answered from the schema, and returns each with its response name
  /// and its JSON.
  package consuming func executeIntrospection() -> IntrospectionResult {
    guard operation.kind == .query, let rootType = schema.queryType else {
      return IntrospectionResult(members: [], errors: [])
    }
    var members: [IntrospectionResult.Member] = []
    do throws(GraphQLError) {
      let groups = try selection.fields(of: [operation.selectionSet], on: schema[rootType])
      for group in groups where Schema.isIntrospection(group.name) {
        writer = JSONWriter()
        path = [.name(group.responseName)]
        do throws(GraphQLError) {
          try executeField(group, of: .json(.null), on: schema[rootType])
          doneBytes += writer.count
          members.append(
            IntrospectionResult.Member(
              responseName: group.responseName, json: writer.finish(), isFailed: false))
        } catch {
          errors.append(error)
          members.append(
            IntrospectionResult.Member(
              responseName: group.responseName, json: Array("null".utf8), isFailed: true))
        }
      }
    } catch {
      errors.append(error)
    }
    return IntrospectionResult(members: members, errors: errors)
  }

  // MARK: - Fields

  /// Executes a selection set (6.4 Executing Selection Sets).
  private mutating func executeFields(
    _ groups: [FieldGroup], of source: ResolvedValue, on type: TypeDefinition
  ) throws(GraphQLError) {
    guard path.count < limits.maximumDepth else {
      throw error("The result is nested too deeply.", at: [], code: .resultLimitExceeded)
    }
    writer.append(UInt8(ascii: "{"))
    var isFirst = true
    for group in groups {
      if !isFirst { writer.append(UInt8(ascii: ",")) }
      isFirst = false
      writer.writeKey(group.responseName)
      path.append(.name(group.responseName))
      try executeField(group, of: source, on: type)
      path.removeLast()
    }
    writer.append(UInt8(ascii: "}"))
  }

  /// Executes a field. An error becomes null if the field is nullable, and propagates otherwise;
  /// its path is that of the field at fault (6.4.4 Handling Execution Errors).
  private mutating func executeField(
    _ group: FieldGroup, of source: ResolvedValue, on type: TypeDefinition
  ) throws(GraphQLError) {
    let start = writer.count
    let depth = path.count
    guard let definition = group.definition else { return writer.writeNull() }
    do throws(GraphQLError) {
      let value = try resolve(group, definition, of: source, on: type)
      let place = FieldPlace(group: group, parent: type)
      try complete(value, as: definition.type, place)
    } catch {
      let located = self.located(error, group, depth: depth)
      path.removeLast(path.count - depth)
      if definition.type.isNonNull || located.code == .resultLimitExceeded { throw located }
      errors.append(located)
      writer.truncate(to: start)
      writer.writeNull()
    }
  }

  private func located(_ error: GraphQLError, _ group: FieldGroup, depth: Int) -> GraphQLError {
    guard error.path == nil else { return error }
    var located = error
    located.path = path
    if located.locations.isEmpty { located.locations = group.locations(in: document) }
    return located
  }

  private func resolve(
    _ group: FieldGroup, _ definition: FieldDefinition, of source: ResolvedValue,
    on type: TypeDefinition
  ) throws(GraphQLError) -> ResolvedValue {
    let arguments = try self.arguments.coerce(
      group.first.arguments, as: definition.arguments, at: group.first.position)
    switch definition.name {
    case "__typename":
      return .json(.string(type.name))
    case "__schema" where type.id == schema.queryType:
      return .introspection(.object(.schema))
    case "__type" where type.id == schema.queryType:
      guard case .string(let name)? = arguments["name"] else { return .json(.null) }
      return .introspection(schema.introspect(typeNamed: name))
    default:
      break
    }
    switch source {
    case .json(let value):
      return .json(value[definition.name] ?? .null)
    case .introspection(.object(let object)):
      return .introspection(
        schema.introspect(
          object, definition.name,
          includeDeprecated: arguments["includeDeprecated"] == .boolean(true)))
    case .introspection(.null), .introspection(.boolean), .introspection(.string),
      .introspection(.list):
      return .json(.null)
    }
  }

  // MARK: - Completing values

  /// Completes a value (6.4.3 Value Completion).
  private mutating func complete(
    _ value: ResolvedValue, as type: TypeReference, _ place: FieldPlace
  ) throws(GraphQLError) {
    if doneBytes + writer.count > limits.maximumBytes {
      throw error("The result is too large.", at: [], code: .resultLimitExceeded)
    }
    switch type {
    case .nonNull(let inner):
      if value.isNull {
        throw error("Cannot return null for non-nullable field \(place.coordinate).", at: [])
      }
      try complete(value, as: inner, place)
    case .list(let item):
      if value.isNull { return writer.writeNull() }
      try completeList(value, of: item, place)
    case .named(let id):
      if value.isNull { return writer.writeNull() }
      let named = schema[id]
      switch named.kind {
      case .scalar, .enum:
        try completeLeaf(value, as: named)
      case .object:
        try completeObject(value, as: named, place)
      case .interface, .union:
        try completeObject(value, as: try objectType(of: value, named, place), place)
      case .inputObject:
        writer.writeNull()
      }
    }
  }

  private mutating func completeList(
    _ value: ResolvedValue, of type: TypeReference, _ place: FieldPlace
  ) throws(GraphQLError) {
    guard let items = value.items else {
      throw error(
        "Expected Iterable, but did not find one for field \"\(place.coordinate)\".", at: [])
    }
    writer.append(UInt8(ascii: "["))
    for (index, item) in items.enumerated() {
      if index > 0 { writer.append(UInt8(ascii: ",")) }
      let start = writer.count
      path.append(.index(index))
      let depth = path.count
      do throws(GraphQLError) {
        try complete(item, as: type, place)
      } catch {
        let located = located(error, place.group, depth: depth)
        path.removeLast(path.count - depth)
        if type.isNonNull || located.code == .resultLimitExceeded { throw located }
        errors.append(located)
        writer.truncate(to: start)
        writer.writeNull()
      }
      path.removeLast()
    }
    writer.append(UInt8(ascii: "]"))
  }

  private mutating func completeLeaf(
    _ value: ResolvedValue, as type: TypeDefinition
  ) throws(GraphQLError) {
    switch value {
    case .json(let value):
      if let message = LeafResult.write(value, as: type, to: &writer) {
        throw error(message, at: [])
      }
    case .introspection(.string(let text)): writer.write(text)
    case .introspection(.boolean(let value)): writer.write(value)
    case .introspection(.null), .introspection(.object), .introspection(.list):
      writer.writeNull()
    }
  }

  private mutating func completeObject(
    _ value: ResolvedValue, as type: TypeDefinition, _ place: FieldPlace
  ) throws(GraphQLError) {
    try executeFields(
      try place.group.selected(on: type, by: selection), of: value, on: type)
  }

  /// Returns the object type that `__typename` of the value names.
  private func objectType(
    of value: ResolvedValue, _ abstract: TypeDefinition, _ place: FieldPlace
  ) throws(GraphQLError) -> TypeDefinition {
    guard case .json(let json) = value, case .string(let name)? = json["__typename"] else {
      throw error(
        """
        Abstract type "\(abstract.name)" must resolve to an Object type at runtime for field \
        "\(place.coordinate)". Either the "\(abstract.name)" type should provide a \
        "resolveType" function or each possible type should provide an "isTypeOf" function.
        """, at: [])
    }
    guard let type = schema.type(named: name) else {
      throw error(
        """
        Abstract type "\(abstract.name)" was resolved to a type "\(name)" that does not exist \
        inside the schema.
        """, at: [])
    }
    guard case .object = type.kind else {
      throw error(
        "Abstract type \"\(abstract.name)\" was resolved to a non-object type \"\(name)\".",
        at: [])
    }
    guard schema.possibleTypes[Int(abstract.id.index)].contains(type.id) else {
      throw error(
        "Runtime Object type \"\(name)\" is not a possible type for \"\(abstract.name)\".",
        at: [])
    }
    return type
  }

  private func error(
    _ message: String, at positions: [Position], code: ErrorCode = .internalServerError
  ) -> GraphQLError {
    GraphQLError(
      message, locations: positions.map { document.document.source.location(of: $0) },
      code: code)
  }
}
