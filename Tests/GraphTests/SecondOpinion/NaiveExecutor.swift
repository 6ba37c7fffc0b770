import GraphQLPlanning
import GraphQLSchema
import JSON

/// The value of a field of a `NaiveObject`.
indirect enum NaiveValue {
  case leaf(Expected)
  case object(NaiveObject)
  case list([NaiveValue])

  var isEmpty: Bool {
    switch self {
    case .leaf(.null): true
    case .list(let elements): elements.isEmpty
    case .leaf, .object: false
    }
  }

  static var null: NaiveValue { .leaf(.null) }
  static func text(_ text: String) -> NaiveValue { .leaf(.text(text)) }
  static func optional(_ text: String?) -> NaiveValue { .leaf(.text(text)) }
  static func int(_ number: Int) -> NaiveValue { .leaf(.int(number)) }
  static func optionalInt(_ number: String?) -> NaiveValue {
    .leaf(number.map { .value(.number($0)) } ?? .null)
  }
  static func bool(_ flag: Bool) -> NaiveValue { .leaf(.bool(flag)) }
  static func time(_ text: String?) -> NaiveValue { .leaf(NaiveTime.json(text)) }
  static func id(_ number: Int64) -> NaiveValue { .leaf(.text(NodeID.encode(number))) }
  static func object(_ object: NaiveObject?) -> NaiveValue { object.map { .object($0) } ?? .null }
  static func objects(_ objects: [NaiveObject]) -> NaiveValue { .list(objects.map { .object($0) }) }
  static func texts(_ texts: [String]) -> NaiveValue { .list(texts.map { .text($0) }) }
}

/// An object of the graph: its type, and a way to get each field.
struct NaiveObject {
  let type: String
  /// Returns a field's value; nil for a field that is missing in the naive graph.
  let field: (String, NaiveArguments) throws -> NaiveValue?
}

/// The arguments of a field, or the fields of an input object, with defaults filled in.
struct NaiveArguments {
  /// The coordinate of the field, for cursors.
  var field = ""
  var values: [String: JSONValue] = [:]

  /// The value of an argument; nil if it is absent or null.
  subscript(_ name: String) -> JSONValue? {
    guard let value = values[name], value != .null else { return nil }
    return value
  }

  func string(_ name: String) -> String? { self[name]?.string }
  func int(_ name: String) -> Int? { self[name]?.int }
  func bool(_ name: String) -> Bool? { self[name]?.bool }
  func double(_ name: String) -> Double? { self[name]?.double }
  func time(_ name: String) -> String? { string(name).map(NaiveTime.stored) }

  func id(_ name: String) -> Int64? { string(name).map { NodeID.decode($0) ?? -1 } }

  func ids(_ name: String) -> [Int64]? {
    self[name]?.array?.map { NodeID.decode($0.string ?? "") ?? -1 }
  }

  func strings(_ name: String) -> [String]? { self[name]?.array?.map { $0.string ?? "" } }

  func object(_ name: String) -> NaiveArguments? {
    guard let members = self[name]?.members else { return nil }
    return NaiveArguments(
      field: field,
      values: Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 }))
  }
}

/// Executes an operation by the plain words of the specification: collect the fields, resolve each,
/// complete its value.
struct NaiveExecutor {
  let schema: Schema
  let operation: RandomOperation
  private let variables: [String: JSONValue]
  /// Told the coordinate of each field resolved, and whether it came to something.
  var visit: (String, Bool) -> Void = { _, _ in }

  init(_ operation: RandomOperation, schema: Schema) throws {
    self.schema = schema
    self.operation = operation
    var values: [String: JSONValue] = [:]
    for variable in operation.variables {
      if let value = variable.value {
        values[variable.name] = value
      } else if let value = variable.defaultValue {
        values[variable.name] = try Self.constant(value)
      }
    }
    variables = values
  }

  func execute(_ root: NaiveObject) throws -> Expected {
    try complete(root, operation.selections)
  }

  private func complete(_ object: NaiveObject, _ selections: [RandomSelection]) throws -> Expected {
    var names: [String] = []
    var groups: [String: [RandomField]] = [:]
    try collect(selections, object.type, &names, &groups)
    var members: [(name: String, value: Expected)] = []
    for name in names {
      guard let fields = groups[name], let first = fields.first else { continue }
      if first.name == "__typename" {
        members.append((name, .text(object.type)))
        continue
      }
      guard let definition = schema.type(named: object.type)?.field(named: first.name) else {
        throw GraphTestFailure("no field \(object.type).\(first.name)")
      }
      var arguments = try arguments(first, definition)
      arguments.field = "\(object.type).\(first.name)"
      guard let value = try object.field(first.name, arguments) else {
        throw GraphTestFailure("the naive graph does not know \(object.type).\(first.name)")
      }
      visit(arguments.field, !value.isEmpty)
      members.append((name, try complete(value, fields.flatMap(\.selections))))
    }
    return .object(members)
  }

  private func complete(_ value: NaiveValue, _ selections: [RandomSelection]) throws -> Expected {
    switch value {
    case .leaf(let leaf): leaf
    case .object(let object): try complete(object, selections)
    case .list(let elements): .list(try elements.map { try complete($0, selections) })
    }
  }

  private func collect(
    _ selections: [RandomSelection], _ type: String, _ names: inout [String],
    _ groups: inout [String: [RandomField]]
  ) throws {
    // GraphQL September 2025, 6.3.2: a fragment spread counts once.
    var visited: Set<String> = []
    try collect(selections, type, &names, &groups, &visited)
  }

  private func collect(
    _ selections: [RandomSelection], _ type: String, _ names: inout [String],
    _ groups: inout [String: [RandomField]], _ visited: inout Set<String>
  ) throws {
    for selection in selections {
      switch selection {
      case .field(let field):
        guard try isIncluded(field.directives) else { continue }
        if groups[field.responseName] == nil { names.append(field.responseName) }
        groups[field.responseName, default: []].append(field)
      case .inline(let condition, let directives, let inner):
        guard try isIncluded(directives), condition.map({ applies($0, to: type) }) ?? true else {
          continue
        }
        try collect(inner, type, &names, &groups, &visited)
      case .spread(let name, let directives):
        guard try isIncluded(directives), visited.insert(name).inserted,
          let fragment = operation.fragments.first(where: { $0.name == name }),
          applies(fragment.condition, to: type)
        else { continue }
        try collect(fragment.selections, type, &names, &groups, &visited)
      }
    }
  }

  private func applies(_ condition: String, to type: String) -> Bool {
    guard let wanted = schema.type(named: condition), let found = schema.type(named: type) else {
      return false
    }
    return schema.possibleTypes[Int(wanted.id.index)].contains(found.id)
  }

  private func isIncluded(_ directives: RandomDirectives) throws -> Bool {
    if let skip = directives.skip, try constant(skip) == .boolean(true) { return false }
    if let include = directives.include, try constant(include) == .boolean(false) { return false }
    return true
  }

  // MARK: Values

  private func arguments(
    _ field: RandomField, _ definition: FieldDefinition
  ) throws -> NaiveArguments {
    var arguments = NaiveArguments()
    for argument in definition.arguments {
      if let given = field.arguments.first(where: { $0.name == argument.name }),
        let value = try constant(given.value),
        // Null asks for a page of the usual size.
        argument.name != "first" || value != .null || argument.defaultValue == nil
      {
        arguments.values[argument.name] = coerced(value, argument.type)
      } else if let value = argument.coercedDefault {
        arguments.values[argument.name] = Self.json(value)
      }
    }
    return arguments
  }

  /// GraphQL September 2025, 3.11 and 3.10: one value is a list of one, input fields have defaults.
  private func coerced(_ value: JSONValue, _ type: TypeReference) -> JSONValue {
    if value == .null { return value }
    if case .list(let item) = type.nullable {
      return .array((value.array ?? [value]).map { coerced($0, item) })
    }
    guard case .inputObject(let fields, _) = schema[type.namedType].kind else { return value }
    var members: [JSONValue.Member] = []
    for field in fields {
      if let given = value[field.name] {
        members.append(JSONValue.Member(name: field.name, value: coerced(given, field.type)))
      } else if let value = field.coercedDefault {
        members.append(JSONValue.Member(name: field.name, value: Self.json(value)))
      }
    }
    return .object(members)
  }

  /// Returns a constant; nil for a variable without a value.
  private func constant(_ input: RandomInput) throws -> JSONValue? {
    switch input {
    case .constant(let value): return value
    case .enumeration(let name): return .string(name)
    case .variable(let name): return variables[name]
    case .list(let elements): return .array(try elements.map { try constant($0) ?? .null })
    case .object(let fields):
      var members: [JSONValue.Member] = []
      for field in fields {
        if let value = try constant(field.value) {
          members.append(JSONValue.Member(name: field.name, value: value))
        }
      }
      return .object(members)
    }
  }

  private static func constant(_ input: RandomInput) throws -> JSONValue {
    switch input {
    case .constant(let value): value
    case .enumeration(let name): .string(name)
    case .variable: throw GraphTestFailure("a default value has a variable")
    case .list(let elements): .array(try elements.map(constant))
    case .object(let fields):
      .object(try fields.map { JSONValue.Member(name: $0.name, value: try constant($0.value)) })
    }
  }

  private static func json(_ value: InputValue) -> JSONValue {
    switch value {
    case .null: .null
    case .boolean(let flag): .boolean(flag)
    case .int(let number): .number(String(number))
    case .bigInt(let number): .number(String(number))
    case .float(let number): .number(String(number))
    case .number(let text): .number(text)
    case .string(let text), .enum(let text): .string(text)
    case .list(let elements): .array(elements.map(json))
    case .object(let members):
      .object(members.map { JSONValue.Member(name: $0.name, value: json($0.value)) })
    }
  }
}
