import GraphQLPlanning
import GraphQLResponse
import GraphQLSchema
import JSON

extension ParameterBinder {
  /// An input as `jsonb` takes it: ids as numbers, what was left out left out.
  ///
  /// Recursion is as deep as the request's JSON, which is limited.
  func json(_ value: InputValue, _ form: JSONForm) throws(InputProblem) -> String {
    guard let schema = call?.schema else {
      throw InputProblem(message: "an input without its schema.")
    }
    var json = JSONWriter(capacity: 256)
    switch form {
    case .value(let type): try write(value, type, schema, to: &json)
    case .members(let members):
      try write(
        value, schema, to: &json,
        type: { name in members.first { $0.name == name }?.type })
    }
    return String(decoding: json.finish(), as: UTF8.self)
  }

  /// Writes a JSON document as it was given.
  func write(document value: InputValue, to json: inout JSONWriter) throws(InputProblem) {
    switch value {
    case .null: json.writeNull()
    case .boolean(let flag): json.write(flag)
    case .int(let number): json.write(number)
    case .bigInt(let number): json.write(number)
    case .float(let number): json.write(number)
    case .number(let number):
      try check(number: number)
      json.write(JSONValue.number(number))
    case .string, .enum: json.write(try text(value))
    case .list(let items):
      json.append(UInt8(ascii: "["))
      for (index, item) in items.enumerated() {
        if index > 0 { json.append(UInt8(ascii: ",")) }
        do throws(InputProblem) {
          try write(document: item, to: &json)
        } catch {
          throw error.inside(.index(index))
        }
      }
      json.append(UInt8(ascii: "]"))
    case .object(let members):
      json.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { json.append(UInt8(ascii: ",")) }
        do throws(InputProblem) {
          json.writeKey(try text(.string(member.name)))
          try write(document: member.value, to: &json)
        } catch {
          throw error.inside(.name(member.name))
        }
      }
      json.append(UInt8(ascii: "}"))
    }
  }

  private func write(
    _ value: InputValue, _ type: TypeReference, _ schema: Schema, to json: inout JSONWriter
  ) throws(InputProblem) {
    if case .named(let id) = type.nullable, case .document? = call?.scalarTypes[id] {
      return try write(document: value, to: &json)
    }
    switch value {
    case .null: json.writeNull()
    case .boolean, .list, .object:
      try writeParts(value, type, schema, to: &json)
    case .int(let number): json.write(number)
    case .bigInt(let number): json.write(number)
    case .float(let number): json.write(number)
    case .number(let number):
      try check(number: number)
      json.write(JSONValue.number(number))
    case .enum(let name): json.write(name)
    case .string(let text):
      if schema[type.namedType].builtInScalar == .id {
        json.write(anyID(value))
      } else if case .timestamptz? = call?.scalarTypes[type.namedType] {
        try write(timestamp: value, to: &json)
      } else if case .instant? = call?.scalarTypes[type.namedType] {
        _ = try instant(value)
        try refuseWideYear(value)
        json.write(text)
      } else {
        try check(value, schema[type.namedType])
        json.write(text)
      }
    }
  }

  /// Writes a list or an object, which is not a custom scalar.
  private func writeParts(
    _ value: InputValue, _ type: TypeReference, _ schema: Schema, to json: inout JSONWriter
  ) throws(InputProblem) {
    let definition = schema[type.namedType]
    if case .list(let items) = value, case .list(let element) = type.nullable {
      json.append(UInt8(ascii: "["))
      for (index, item) in items.enumerated() {
        if index > 0 { json.append(UInt8(ascii: ",")) }
        do throws(InputProblem) {
          try write(item, element, schema, to: &json)
        } catch {
          throw error.inside(.index(index))
        }
      }
      return json.append(UInt8(ascii: "]"))
    }
    guard !definition.isCustomScalar else {
      throw mismatch(
        value, "a value of \"\(definition.name)\", which is a string or a number")
    }
    if case .boolean(let flag) = value { return json.write(flag) }
    try write(
      value, schema, to: &json,
      type: { name in
        guard let field = definition.inputField(named: name), !field.isForServerAlone else {
          return nil
        }
        return field.type
      })
  }

  private func write(
    _ object: InputValue, _ schema: Schema, to json: inout JSONWriter,
    type: (String) -> TypeReference?
  ) throws(InputProblem) {
    guard case .object(let members) = object else { return json.writeNull() }
    var isFirst = true
    for member in members {
      guard let type = type(member.name) else { continue }
      json.append(UInt8(ascii: isFirst ? "{" : ","))
      isFirst = false
      json.writeKey(member.name)
      do throws(InputProblem) {
        try write(member.value, type, schema, to: &json)
      } catch {
        throw error.inside(.name(member.name))
      }
    }
    json.append(isFirst ? "{}" : "}")
  }

  /// In UTC, in milliseconds, as a response has it.
  private func write(timestamp value: InputValue, to json: inout JSONWriter) throws(InputProblem) {
    let instant = try timestamp(value)
    var isWritten = false
    json.append { text in
      text.append(UInt8(ascii: "\""))
      isWritten = Timestamp.append(microseconds: instant, to: { text.append($0) })
      text.append(UInt8(ascii: "\""))
    }
    // Beyond the years that can be written, by its offset.
    if !isWritten { throw mismatch(value, Self.instant) }
  }

  /// Refuses a year with a sign, which PostgreSQL does not read from text.
  private func refuseWideYear(_ value: InputValue) throws(InputProblem) {
    guard case .string(let text) = value, text.hasPrefix("+") || text.hasPrefix("-"),
      text != Timestamp.negativeInfinity
    else { return }
    throw mismatch(value, "a date in the years 0 to 9999")
  }

  /// Text that its scalar's type would not take is refused here, as in any other place.
  private func check(_ value: InputValue, _ type: TypeDefinition) throws(InputProblem) {
    switch call?.scalarTypes[type.id] {
    case .date:
      _ = try date(value)
      try refuseWideYear(value)
    case .numeric: _ = try decimal(value)
    default: _ = try text(value)
    }
  }
}
