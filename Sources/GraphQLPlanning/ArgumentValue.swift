import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema

/// An argument during planning. Values that determine the statement (enums, booleans, nulls,
/// objects) stay; a value that becomes a parameter is represented by its source.
indirect enum ArgumentValue {
  case null
  case boolean(Bool)
  case `enum`(String)
  /// A scalar. `value` is that of the current request; only code for values in the key of
  /// `OperationChoices` may read it.
  case scalar(InputSource, value: InputValue)
  /// A list of enums or objects.
  case list([ArgumentValue])
  /// A list of scalars, also of Booleans, bound as one array.
  case scalars(InputSource, values: [InputValue])
  case object([(name: String, value: ArgumentValue)])
  /// Objects with these members, each of which is bound as one array.
  case rows(InputSource, members: [String])

  subscript(_ name: String) -> ArgumentValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  var isNull: Bool { if case .null = self { true } else { false } }
}

/// All arguments that a field declares, with their current values; nil for one without a value.
struct FieldArguments {
  /// The coordinate of the field.
  var coordinate = ""
  var values: [(definition: InputValueDefinition, value: ArgumentValue?)] = []
  /// The arguments whose value is the schema's default.
  var defaulted: Set<String> = []
  /// The positions of the given values.
  var positions: [String: Position] = [:]

  subscript(_ name: String) -> (definition: InputValueDefinition, value: ArgumentValue?)? {
    values.first { $0.definition.name == name }
  }

  /// Returns the value of an argument; nil if it is absent or null.
  func value(_ name: String) -> ArgumentValue? {
    guard let value = self[name]?.value, !value.isNull else { return nil }
    return value
  }
}

/// Turns the arguments of a field into `ArgumentValue`s, for the variables of a request.
struct ArgumentReader {
  let schema: Schema
  let variableIndices: [String: Int]
  /// The variables by index; nil if absent.
  let variables: [InputValue?]
  let inputs: OperationInputs

  var source: Source { inputs.source }

  /// An argument or input field, for errors about its value.
  private struct Target {
    let definition: InputValueDefinition
    /// The input object; nil for an argument.
    var owner: TypeDefinition?

    var name: String {
      owner.map { "Field \"\($0.name).\(definition.name)\"" }
        ?? "Argument \"\(definition.name)\""
    }
  }

  /// Reads the arguments of a field.
  ///
  /// - Parameters:
  ///   - takesWhole: returns whether an input object, given as a variable, is passed
  ///   unchanged, so that the plan serves any content.
  ///   - rows: returns the rule by which the objects of a list, given as a variable, are arrays.
  func arguments(
    of field: Field, _ definition: FieldDefinition, takesWhole: (String) -> Bool = { _ in false },
    rows: (InputValueDefinition) -> UniformRows? = { _ in nil }
  ) throws(GraphQLError) -> FieldArguments {
    var result = FieldArguments()
    for argument in definition.arguments {
      let given = field.arguments.first { $0.name.text == argument.name }
      if let given { result.positions[argument.name] = given.value.position }
      let target = Target(definition: argument)
      if let given, case .variable(let name) = given.value.content,
        case .inputObject = schema[argument.type.namedType].kind, takesWhole(argument.name),
        let index = variableIndices[name], let value = variables[index], value != .null
      {
        result.values.append((argument, .object([])))
        continue
      }
      if let given, case .variable(let name) = given.value.content, let rows = rows(argument),
        let index = variableIndices[name], let value = variables[index],
        let members = rows.members(of: value)
      {
        result.values.append((argument, .rows(.variable(index, path: []), members: members)))
        continue
      }
      if let given, let value = try read(given.value, as: argument.type, for: target) {
        if value.isNull, argument.type.isNonNull {
          throw unexpectedNull("Argument \"\(argument.name)\"", argument.type, given.value)
        }
        result.values.append((argument, value))
      } else if let fallback = argument.coercedDefault {
        result.values.append((argument, try constant(fallback, as: argument.type, for: target)))
        result.defaulted.insert(argument.name)
      } else {
        result.values.append((argument, nil))
      }
    }
    return result
  }

  /// Returns the arguments of a field for which nothing is given.
  func defaults(of definition: FieldDefinition) -> FieldArguments {
    var result = FieldArguments()
    for argument in definition.arguments {
      let value = argument.coercedDefault.flatMap {
        try? constant($0, as: argument.type, for: Target(definition: argument))
      }
      if value != nil { result.defaulted.insert(argument.name) }
      result.values.append((argument, value))
    }
    return result
  }

  /// Reads a value; nil if it is a variable that was not given.
  private func read(
    _ value: Value, as type: TypeReference, for target: Target
  ) throws(GraphQLError) -> ArgumentValue? {
    if case .variable(let name) = value.content {
      guard let index = variableIndices[name], let actual = variables[index] else { return nil }
      do throws(Unfit) {
        return try convert(actual, as: type, from: .variable(index, path: []))
      } catch {
        throw inputs.error(
          .variable(index, path: []), at: error.path, of: nil,
          "\(error.value.shown) is not a value of \"\(error.type)\", which is a string or a number."
        )
      }
    }
    if case .null = value.content { return .null }
    if case .named(let id) = type.nullable, schema[id].isDocument {
      return .scalar(document(value), value: .null)
    }
    switch type.nullable {
    case .list(let element):
      var items: [ArgumentValue] = []
      if case .list(let values) = value.content {
        for item in values {
          let value = try read(item, as: element, for: target) ?? .null
          if value.isNull, element.isNonNull { throw unexpectedNull("An element", element, item) }
          items.append(value)
        }
      } else {
        items = [try read(value, as: element, for: target) ?? .null]
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
          let inner = Target(definition: field, owner: named)
          if let member, let value = try read(member.value, as: field.type, for: inner) {
            if value.isNull, field.type.isNonNull || isOneOf {
              throw unexpectedNull(
                "Field \"\(named.name).\(field.name)\"", field.type, member.value)
            }
            members.append((field.name, value))
          } else if let fallback = field.coercedDefault {
            members.append((field.name, try constant(fallback, as: field.type, for: inner)))
          }
        }
        return .object(members)
      }
      return try literal(value, named, for: target)
    case .nonNull(let inner):
      return try read(value, as: inner, for: target)
    }
  }

  /// Returns the source of a JSON document, which may have variables in it.
  private func document(_ value: Value) -> InputSource {
    switch value.content {
    case .null: .constant(.null)
    case .boolean(let flag): .constant(.boolean(flag))
    case .enum(let name): .string(name)
    case .string(let text): .string(text.text)
    case .int(let text), .float(let text): .constant(InputValue(number: text))
    case .variable(let name):
      variableIndices[name].map { .variable($0, path: []) } ?? .constant(.null)
    case .list(let items): .list(items.map { document($0) })
    case .object(let fields):
      .object(
        fields.map { InputSource.Member(name: $0.name.text, source: document($0.value)) })
    }
  }

  /// Returns the error for null in a non-null location. The variable may be null, although its
  /// default is not.
  private func unexpectedNull(
    _ place: String, _ type: TypeReference, _ value: Value
  ) -> GraphQLError {
    GraphQLError(
      type.isNonNull
        ? "\(place) of non-null type \"\(schema.text(of: type))\" must not be null."
        : "\(place) must not be null.",
      locations: [source.location(of: value.position)], code: .badUserInput)
  }

  private func literal(
    _ value: Value, _ type: TypeDefinition, for target: Target
  ) throws(GraphQLError) -> ArgumentValue {
    switch value.content {
    case .boolean, .enum, .list, .object:
      // Validation leaves the form of custom scalars to the server.
      if type.isCustomScalar {
        throw GraphQLError(
          "\(target.name) has invalid value \(Printer.print(value)); \"\(type.name)\" is "
            + "a string or a number.",
          locations: [source.location(of: value.position)], code: .badUserInput)
      }
    case .int, .float, .string, .null, .variable: break
    }
    switch value.content {
    case .boolean(let flag): return .boolean(flag)
    case .enum(let name): return .enum(name)
    case .int(let text), .float(let text):
      let number = InputValue(literal: text, type.builtInScalar)
      return .scalar(InputSource(number), value: number)
    case .string(let string): return .scalar(.string(string.text), value: .string(string.text))
    case .null, .variable, .list, .object: return .null
    }
  }

  private func constant(
    _ value: InputValue, as type: TypeReference, for target: Target
  ) throws(GraphQLError) -> ArgumentValue {
    do throws(Unfit) {
      return try convert(value, as: type, from: nil)
    } catch {
      throw .fault(
        "\(target.name): its default is not a value of the scalar, which is a string or a number.")
    }
  }

  /// The error of a variable's value that is not one of a custom scalar.
  private struct Unfit: Error {
    var path: [PathSegment] = []
    let value: InputValue
    /// The scalar's name.
    let type: String

    func inside(_ step: PathSegment) -> Unfit {
      Unfit(path: [step] + path, value: value, type: type)
    }
  }

  /// Converts a coerced value.
  ///
  /// - Parameter origin: the variable and path that the value came from; nil for a constant.
  private func convert(
    _ value: InputValue, as type: TypeReference, from origin: InputSource?
  ) throws(Unfit) -> ArgumentValue {
    if value != .null, case .named(let id) = type.nullable, schema[id].isDocument {
      return .scalar(origin ?? .constant(value), value: .null)
    }
    switch value {
    case .null: return .null
    case .boolean(let flag):
      try refuseInCustomScalar(value, type)
      return .boolean(flag)
    case .enum(let name): return .enum(name)
    case .int(let number): return .scalar(origin ?? .int(Int64(number)), value: value)
    case .bigInt(let number): return .scalar(origin ?? .int(number), value: value)
    case .float(let number): return .scalar(origin ?? .float(number), value: value)
    case .number: return .scalar(origin ?? .constant(value), value: value)
    case .string(let text): return .scalar(origin ?? .string(text), value: value)
    case .object(let members):
      try refuseInCustomScalar(value, type)
      var result: [(name: String, value: ArgumentValue)] = []
      for member in members {
        guard let field = schema[type.namedType].inputField(named: member.name) else { continue }
        do throws(Unfit) {
          result.append(
            (
              member.name,
              try convert(member.value, as: field.type, from: origin?.appending(.name(member.name)))
            ))
        } catch {
          throw error.inside(.name(member.name))
        }
      }
      return .object(result)
    case .list(let items):
      guard case .list(let element) = type.nullable else {
        try refuseInCustomScalar(value, type)
        return .null
      }
      if let origin, isScalar(element) {
        return .scalars(origin, values: items)
      }
      var converted: [ArgumentValue] = []
      for (index, item) in items.enumerated() {
        do throws(Unfit) {
          converted.append(
            try convert(item, as: element, from: origin?.appending(.index(index))))
        } catch {
          throw error.inside(.index(index))
        }
      }
      return gather(converted, element: element)
    }
  }

  private func refuseInCustomScalar(
    _ value: InputValue, _ type: TypeReference
  ) throws(Unfit) {
    let named = schema[type.namedType]
    if named.isCustomScalar { throw Unfit(value: value, type: named.name) }
  }

  private func isScalar(_ type: TypeReference) -> Bool {
    if case .scalar = schema[type.namedType].kind { true } else { false }
  }

  private func gather(_ items: [ArgumentValue], element: TypeReference) -> ArgumentValue {
    guard isScalar(element) else { return .list(items) }
    var sources: [InputSource] = []
    var values: [InputValue] = []
    for item in items {
      let (source, value): (InputSource, InputValue) =
        switch item {
        case .scalar(let source, let value): (source, value)
        case .boolean(let flag): (.constant(.boolean(flag)), .boolean(flag))
        case .null, .enum, .list, .scalars, .object, .rows: (.constant(.null), .null)
        }
      sources.append(source)
      values.append(value)
    }
    return .scalars(.list(sources), values: values)
  }
}

extension InputSource {
  func appending(_ step: PathSegment) -> InputSource {
    if case .variable(let index, let path) = self {
      .variable(index, path: path + [step])
    } else {
      self
    }
  }

  /// Creates a number as it is written, which may exceed an `Int32`.
  init(_ number: InputValue) {
    self =
      switch number {
      case .int(let number): .int(Int64(number))
      case .bigInt(let number): .int(number)
      case .float(let number): .float(number)
      case .string(let text): .string(text)
      case .null, .boolean, .number, .enum, .list, .object: .constant(number)
      }
  }
}

extension InputValue {
  /// Creates a scalar from a number in a document. Validation has checked that it fits a built-in
  /// scalar.
  init(literal text: String, _ scalar: BuiltInScalar?) {
    switch scalar {
    // An id may be all digits, and then be written without quotes.
    case .id: self = .string(text)
    case .float: self = .float(Double(text) ?? 0)
    case .int, .string, .boolean, nil: self = InputValue(number: text)
    }
  }
}

extension TypeDefinition {
  /// Whether the type is a scalar other than the built-in ones. Its values may be strings or
  /// numbers.
  package var isCustomScalar: Bool {
    if case .scalar = kind { builtInScalar == nil } else { false }
  }
}
