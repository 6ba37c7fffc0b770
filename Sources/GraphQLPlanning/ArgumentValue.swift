import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema

/// An argument while planning: what shapes the statement (enums, booleans, nulls, objects) as it is,
/// and what becomes a parameter as the place its value will come from.
indirect enum ArgumentValue {
  case null
  case boolean(Bool)
  case `enum`(String)
  /// `value` is the one at hand; only what `OperationChoices` keys plans by may look at it.
  case scalar(InputSource, value: InputValue)
  /// Of enums and objects.
  case list([ArgumentValue])
  /// Of scalars, bound as one array.
  case scalars(InputSource, values: [InputValue])
  case object([(name: String, value: ArgumentValue)])

  subscript(_ name: String) -> ArgumentValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  var isNull: Bool { if case .null = self { true } else { false } }
}

/// All arguments a field declares, with what they are here; nil for one without a value.
struct FieldArguments {
  var values: [(definition: InputValueDefinition, value: ArgumentValue?)] = []
  /// Those whose value is the schema's default.
  var defaulted: Set<String> = []

  subscript(_ name: String) -> (definition: InputValueDefinition, value: ArgumentValue?)? {
    values.first { $0.definition.name == name }
  }

  /// Nil when absent or null.
  func value(_ name: String) -> ArgumentValue? {
    guard let value = self[name]?.value, !value.isNull else { return nil }
    return value
  }
}

/// Turns the arguments of a field into `ArgumentValue`s, for the variables at hand.
struct ArgumentReader {
  let schema: Schema
  let variableIndices: [String: Int]
  /// By variable index; nil when absent.
  let variables: [InputValue?]
  let source: Source

  func arguments(of field: Field, _ definition: FieldDefinition) throws(GraphQLError)
    -> FieldArguments
  {
    var result = FieldArguments()
    for argument in definition.arguments {
      let given = field.arguments.first { $0.name.text == argument.name }
      if let given, let value = try read(given.value, as: argument.type) {
        if value.isNull, argument.type.isNonNull {
          throw unexpectedNull("Argument \"\(argument.name)\"", argument.type, given.value)
        }
        result.values.append((argument, value))
      } else if let fallback = argument.coercedDefault {
        result.values.append((argument, try constant(fallback, as: argument.type)))
        result.defaulted.insert(argument.name)
      } else {
        result.values.append((argument, nil))
      }
    }
    return result
  }

  /// Nil when the value is a variable that was not given.
  private func read(_ value: Value, as type: TypeReference) throws(GraphQLError) -> ArgumentValue? {
    if case .variable(let name) = value.content {
      guard let index = variableIndices[name], let actual = variables[index] else { return nil }
      return try convert(actual, as: type, from: .variable(index, path: []))
    }
    if case .null = value.content { return .null }
    switch type.nullable {
    case .list(let element):
      var items: [ArgumentValue] = []
      if case .list(let values) = value.content {
        for item in values {
          let value = try read(item, as: element) ?? .null
          if value.isNull, element.isNonNull { throw unexpectedNull("An element", element, item) }
          items.append(value)
        }
      } else {
        items = [try read(value, as: element) ?? .null]
      }
      return gather(items, element: element)
    case .named(let id):
      let named = schema[id]
      if case .inputObject(let fields, let isOneOf) = named.kind,
        case .object(let given) = value.content
      {
        var members: [(name: String, value: ArgumentValue)] = []
        for field in fields {
          let member = given.first { $0.name.text == field.name }
          if let member, let value = try read(member.value, as: field.type) {
            if value.isNull, field.type.isNonNull || isOneOf {
              throw unexpectedNull(
                "Field \"\(named.name).\(field.name)\"", field.type, member.value)
            }
            members.append((field.name, value))
          } else if let fallback = field.coercedDefault {
            members.append((field.name, try constant(fallback, as: field.type)))
          }
        }
        return .object(members)
      }
      return literal(value, isID: named.name == "ID")
    case .nonNull(let inner):
      return try read(value, as: inner)
    }
  }

  /// A variable that may be null, since its own default is not, stands where null may not.
  private func unexpectedNull(
    _ place: String, _ type: TypeReference, _ value: Value
  ) -> GraphQLError {
    GraphQLError(
      type.isNonNull
        ? "\(place) of non-null type \"\(schema.text(of: type))\" must not be null."
        : "\(place) must not be null.",
      locations: [source.location(of: value.position)], code: .badUserInput)
  }

  private func literal(_ value: Value, isID: Bool) -> ArgumentValue {
    switch value.content {
    // An id may be all digits, and then be written without quotes.
    case .int(let text) where isID: .scalar(.string(text), value: .string(text))
    case .boolean(let flag): .boolean(flag)
    case .enum(let name): .enum(name)
    case .int(let text):
      if let number = Int32(text) {
        .scalar(.int(Int64(number)), value: .int(number))
      } else {
        .scalar(.string(text), value: .string(text))
      }
    case .float(let text):
      .scalar(.float(Double(text) ?? 0), value: .float(Double(text) ?? 0))
    case .string(let string): .scalar(.string(string.text), value: .string(string.text))
    case .null, .variable, .list, .object: .null
    }
  }

  private func constant(_ value: InputValue, as type: TypeReference) throws(GraphQLError)
    -> ArgumentValue
  {
    try convert(value, as: type, from: nil)
  }

  /// - Parameter origin: the variable and path the value came from; nil for a constant.
  private func convert(_ value: InputValue, as type: TypeReference, from origin: InputSource?)
    throws(GraphQLError) -> ArgumentValue
  {
    switch value {
    case .null: return .null
    case .boolean(let flag): return .boolean(flag)
    case .enum(let name): return .enum(name)
    case .int(let number): return .scalar(origin ?? .int(Int64(number)), value: value)
    case .bigInt(let number): return .scalar(origin ?? .int(number), value: value)
    case .float(let number): return .scalar(origin ?? .float(number), value: value)
    case .string(let text): return .scalar(origin ?? .string(text), value: value)
    case .object(let members):
      guard case .inputObject = schema[type.namedType].kind else {
        return .null  // an object given to a custom scalar: no storage type takes one
      }
      var result: [(name: String, value: ArgumentValue)] = []
      for member in members {
        guard let field = schema[type.namedType].inputField(named: member.name) else { continue }
        result.append(
          (
            member.name,
            try convert(member.value, as: field.type, from: origin?.appending(member.name))
          ))
      }
      return .object(result)
    case .list(let items):
      guard case .list(let element) = type.nullable else { return .null }
      if let origin, isScalar(element) {
        return .scalars(origin, values: items)
      }
      var converted: [ArgumentValue] = []
      for item in items { converted.append(try convert(item, as: element, from: nil)) }
      return gather(converted, element: element)
    }
  }

  private func isScalar(_ type: TypeReference) -> Bool {
    if case .scalar = schema[type.namedType].kind {
      schema[type.namedType].name != "Boolean"
    } else {
      false
    }
  }

  private func gather(_ items: [ArgumentValue], element: TypeReference) -> ArgumentValue {
    guard isScalar(element) else { return .list(items) }
    var sources: [InputSource] = []
    var values: [InputValue] = []
    for item in items {
      if case .scalar(let source, let value) = item {
        sources.append(source)
        values.append(value)
      }
    }
    return .scalars(.list(sources), values: values)
  }
}

extension InputSource {
  func appending(_ name: String) -> InputSource {
    if case .variable(let index, let path) = self {
      .variable(index, path: path + [name])
    } else {
      self
    }
  }
}
