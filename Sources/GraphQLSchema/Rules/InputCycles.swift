import GraphQLLanguage

/// Finds input objects that cannot be given in full: those that require themselves, and defaults
/// that need themselves. Cycles through `@oneOf` are in `FiniteInputs`.
///
/// Both walks go depth first with an explicit stack, so that a long chain costs no recursion.
struct InputCycles {
  private let schema: Schema
  private let draft: TypeSystemDraft
  private var visitedTypes: Set<TypeID> = []
  private var visitedFields: Set<ObjectIdentifier> = []

  init(_ schema: Schema, _ draft: TypeSystemDraft) {
    self.schema = schema
    self.draft = draft
  }

  mutating func check(_ type: TypeID, _ validator: inout TypeSystemValidator) {
    checkNonNullFields(type, &validator)
    checkDefaults(type, &validator)
  }

  private func fields(of type: TypeID) -> [InputValueDefinition] {
    if case .inputObject(let fields, _) = schema[type].kind { fields } else { [] }
  }

  private func isInputObject(_ type: TypeID) -> Bool {
    if case .inputObject = schema[type].kind { true } else { false }
  }

  // MARK: - Through non-null fields

  private mutating func checkNonNullFields(
    _ root: TypeID, _ validator: inout TypeSystemValidator
  ) {
    guard visitedTypes.insert(root).inserted else { return }
    struct Step {
      let type: TypeID
      var next = 0
    }
    var stack = [Step(type: root)]
    var path: [(type: TypeID, field: Int)] = []
    var depths = [root: 0]
    while let step = stack.last {
      let fields = fields(of: step.type)
      guard step.next < fields.count, !validator.findings.isFull else {
        depths[step.type] = nil
        stack.removeLast()
        if !path.isEmpty { path.removeLast() }
        continue
      }
      stack[stack.count - 1].next += 1
      guard case .nonNull(.named(let id)) = fields[step.next].type, isInputObject(id) else {
        continue
      }
      path.append((step.type, step.next))
      if let depth = depths[id] {
        report(id, path[depth...], &validator)
        path.removeLast()
      } else if visitedTypes.insert(id).inserted {
        depths[id] = path.count
        stack.append(Step(type: id))
      } else {
        path.removeLast()
      }
    }
  }

  private func report(
    _ type: TypeID, _ path: ArraySlice<(type: TypeID, field: Int)>,
    _ validator: inout TypeSystemValidator
  ) {
    let syntax = path.map { draft.types[Int($0.type.index)].inputs[$0.field] }
    validator.report(
      "Cannot reference Input Object \"\(schema[type].name)\" within itself through a series of "
        + "non-null fields: \"\(syntax.map(\.name.text).joined(separator: "."))\".",
      at: syntax.map(\.position))
  }

  // MARK: - Through default values

  // Beyond version 16: 3.10, InputObjectDefaultValueHasCycle; worded as version 17 does.

  private struct DefaultStep {
    let key: ObjectIdentifier
    let coordinate: String
    let position: Position
  }

  private enum DefaultTask {
    /// Visit a value; `nil` stands for an object without fields, whose defaults all apply.
    case value(Value?, of: TypeID)
    case fieldDefault(of: TypeID, field: InputValueDefinition)
    case leave
  }

  private mutating func checkDefaults(_ root: TypeID, _ validator: inout TypeSystemValidator) {
    var tasks = [DefaultTask.value(nil, of: root)]
    var path: [DefaultStep] = []
    var places: [ObjectIdentifier: Int] = [:]
    while let task = tasks.popLast(), !validator.findings.isFull {
      switch task {
      case .value(let value, let type): tasks += inner(value, of: type).reversed()
      case .fieldDefault(let type, let field):
        guard let value = field.defaultValue else { continue }
        let key = ObjectIdentifier(field)
        let step = DefaultStep(
          key: key, coordinate: "\(schema[type].name).\(field.name)", position: value.position)
        if let place = places[key] {
          reportDefault(step.coordinate, path[place...], &validator)
        } else if visitedFields.insert(key).inserted {
          places[key] = path.count
          path.append(step)
          tasks.append(.leave)
          tasks.append(.value(value, of: field.type.namedType))
        }
      case .leave:
        if let step = path.popLast() { places[step.key] = nil }
      }
    }
  }

  private func inner(_ value: Value?, of type: TypeID) -> [DefaultTask] {
    var given: [String: Value] = [:]
    switch value?.content {
    case .list(let items): return items.map { .value($0, of: type) }
    case .object(let fields):
      given = Dictionary(
        fields.map { ($0.name.text, $0.value) }, uniquingKeysWith: { _, last in last })
    case nil: break
    case .variable, .int, .float, .string, .boolean, .null, .enum: return []
    }
    return fields(of: type).compactMap { field in
      guard isInputObject(field.type.namedType) else { return nil }
      if let value = given[field.name] { return .value(value, of: field.type.namedType) }
      return field.defaultValue == nil ? nil : .fieldDefault(of: type, field: field)
    }
  }

  private func reportDefault(
    _ coordinate: String, _ path: ArraySlice<DefaultStep>, _ validator: inout TypeSystemValidator
  ) {
    let via = path.dropFirst().map(\.coordinate).joined(separator: ", ")
    validator.report(
      "Invalid circular reference. The default value of Input Object field \(coordinate) references "
        + "itself\(via.isEmpty ? "" : " via the default values of: \(via)").",
      at: path.map(\.position))
  }
}
