import GraphQLLanguage

/// Checks whether types that passed the rules for their text are a valid type system.
///
/// It follows the reference implementation's `validateSchema` (version 16) in order, words and
/// positions. Checks that the September 2025 edition adds are marked, and worded as in version 17
/// if that has them. The cost is proportional to the text, and to the findings up to their limit.
///
/// GraphQL September 2025, 3 Type System, the sections "Type Validation".
struct TypeSystemValidator {
  let schema: Schema
  let draft: TypeSystemDraft
  var findings: Findings
  var suggestions: Suggestions
  /// The indices of each input object's required fields; filled as defaults need them.
  var requiredFields: [TypeID: [Int]] = [:]

  init(
    _ schema: Schema, _ draft: TypeSystemDraft, findings: Findings, suggestions: Suggestions
  ) {
    self.schema = schema
    self.draft = draft
    self.findings = findings
    self.suggestions = suggestions
  }

  mutating func validate() {
    checkRootTypes()
    checkDirectives()
    var cycles = InputCycles(schema, draft)
    for index in schema.types.indices where !schema.types[index].isBuiltIn {
      guard !findings.isFull else { return }
      check(schema.types[index], draft.types[index], &cycles)
    }
    FiniteInputs(schema, draft).check(&self)
    checkDefaultsAreKnown()
  }

  mutating func report(_ message: String, at positions: [Position]) {
    findings.report(.typeSystem, message, at: positions)
  }

  mutating func report(_ message: String, at position: Position) {
    findings.report(.typeSystem, message, at: position)
  }

  // MARK: - Root operation types

  private mutating func checkRootTypes() {
    if schema.queryType == nil {
      report(
        "Query root type must be provided.",
        at: draft.schemaDefinition.map { [$0.position] } ?? [])
    }
    var uses: [(type: TypeID, kinds: [OperationKind])] = []
    for kind in OperationKind.allCases {
      guard let id = schema.rootType(for: kind) else { continue }
      let type = schema[id]
      guard case .object = type.kind else {
        let name = kind.rawValue.prefix(1).uppercased() + kind.rawValue.dropFirst()
        let provided = kind == .query ? "" : " if provided"
        report(
          "\(name) root type must be Object type\(provided), it cannot be \(type.name).",
          at: rootPosition(kind) ?? draft.types[Int(id.index)].positions.first.map { [$0] } ?? [])
        continue
      }
      if let place = uses.firstIndex(where: { $0.type == id }) {
        uses[place].kinds.append(kind)
      } else {
        uses.append((id, [kind]))
      }
    }
    // Beyond version 16: 3.3.1, "must all be different types if provided".
    for use in uses where use.kinds.count > 1 {
      let names = use.kinds.map(\.rawValue)
      let list =
        names.count == 2
        ? "\(names[0]) and \(names[1])" : "\(names[0]), \(names[1]), and \(names[2])"
      report(
        "All root types must be different, \"\(schema[use.type].name)\" type is used as "
          + "\(list) root types.",
        at: use.kinds.flatMap { rootPosition($0) ?? [] })
    }
  }

  /// Returns the position where the schema definition or an extension of it names the type of an
  /// operation.
  private func rootPosition(_ kind: OperationKind) -> [Position]? {
    for part in [draft.schemaDefinition].compactMap({ $0 }) + draft.schemaExtensions {
      if let operation = part.operationTypes.first(where: { $0.kind == kind }) {
        return [operation.type.position]
      }
    }
    return nil
  }

  // MARK: - Directives

  private mutating func checkDirectives() {
    let selfReferring = DirectiveReferences(schema, draft).selfReferring()
    for (directive, syntax) in zip(schema.directives, draft.directives)
    where !directive.isBuiltIn {
      guard !findings.isFull else { return }
      checkName(directive.name, at: syntax.syntax.position)
      if directive.locations.isEmpty {
        report(
          "Directive @\(directive.name) must include 1 or more locations.",
          at: syntax.syntax.position)
      }
      for (argument, syntax) in zip(directive.arguments, syntax.arguments) {
        check(
          argument, syntax, coordinate: "@\(directive.name)(\(argument.name):)",
          typePosition: syntax.position)
      }
      // Beyond version 16: 3.13, "must not contain the use of a Directive which references itself".
      if selfReferring.contains(directive.name) {
        report(
          "Directive @\(directive.name) must not reference itself directly or indirectly.",
          at: syntax.syntax.position)
      }
    }
  }

  /// Checks an argument of a field or a directive.
  mutating func check(
    _ argument: InputValueDefinition, _ syntax: InputValueDefinitionSyntax, coordinate: String,
    typePosition: Position
  ) {
    checkName(argument.name, at: syntax.position)
    if !schema[argument.type.namedType].isInputType {
      report(
        "The type of \(coordinate) must be Input Type but got: "
          + "\(schema.text(of: argument.type)).", at: typePosition)
    }
    if argument.isRequired, argument.deprecationReason != nil {
      report(
        "Required argument \(coordinate) cannot be deprecated.", at: deprecationPlaces(syntax))
    }
    checkDefault(argument, coordinate: coordinate)
  }

  func deprecationPlaces(_ syntax: InputValueDefinitionSyntax) -> [Position] {
    syntax.directives.filter { $0.name.text == "deprecated" }.prefix(1).map(\.position)
      + [syntax.type.position]
  }

  mutating func checkName(_ name: String, at position: Position) {
    guard name.hasPrefix("__") else { return }
    report(
      "Name \"\(name)\" must not begin with \"__\", which is reserved by GraphQL introspection.",
      at: position)
  }

  // MARK: - Types

  private mutating func check(
    _ type: TypeDefinition, _ syntax: TypeSystemDraft.DraftType, _ cycles: inout InputCycles
  ) {
    checkName(type.name, at: syntax.definition.position)
    switch type.kind {
    case .scalar: break
    case .object, .interface:
      checkFields(type, syntax)
      checkInterfaces(type, syntax)
    case .union(let members): checkMembers(members, type, syntax)
    case .enum(let values):
      if values.isEmpty {
        report("Enum type \(type.name) must define one or more values.", at: syntax.positions)
      }
      for (value, syntax) in zip(values, syntax.values) {
        checkName(value.name, at: syntax.position)
      }
    case .inputObject(let fields, let isOneOf):
      checkInputFields(fields, isOneOf: isOneOf, type, syntax)
      cycles.check(type.id, &self)
    }
  }

  private mutating func checkFields(_ type: TypeDefinition, _ syntax: TypeSystemDraft.DraftType) {
    if type.fields.isEmpty {
      report("Type \(type.name) must define one or more fields.", at: syntax.positions)
    }
    for (field, syntax) in zip(type.fields, syntax.fields) {
      checkName(field.name, at: syntax.syntax.position)
      if case .inputObject = schema[field.type.namedType].kind {
        report(
          "The type of \(type.name).\(field.name) must be Output Type but got: "
            + "\(schema.text(of: field.type)).", at: syntax.syntax.type.position)
      }
      for (argument, syntax) in zip(field.arguments, syntax.arguments) {
        check(
          argument, syntax, coordinate: "\(type.name).\(field.name)(\(argument.name):)",
          typePosition: syntax.type.position)
      }
    }
  }

  private mutating func checkMembers(
    _ members: [TypeID], _ type: TypeDefinition, _ syntax: TypeSystemDraft.DraftType
  ) {
    if members.isEmpty {
      report(
        "Union type \(type.name) must define one or more member types.", at: syntax.positions)
    }
    var places: [String: [Position]] = [:]
    for member in syntax.members { places[member.text, default: []].append(member.position) }
    var seen: Set<TypeID> = []
    for member in members where !findings.isFull {
      let member = schema[member]
      guard seen.insert(member.id).inserted else {
        report(
          "Union type \(type.name) can only include type \(member.name) once.",
          at: places[member.name] ?? [])
        continue
      }
      guard case .object = member.kind else {
        report(
          "Union type \(type.name) can only include Object types, it cannot include "
            + "\(member.name).", at: places[member.name] ?? [])
        continue
      }
    }
  }

  private mutating func checkInputFields(
    _ fields: [InputValueDefinition], isOneOf: Bool, _ type: TypeDefinition,
    _ syntax: TypeSystemDraft.DraftType
  ) {
    if fields.isEmpty {
      report("Input Object type \(type.name) must define one or more fields.", at: syntax.positions)
    }
    // Beyond version 16: 3.10.3, "must not be provided by an Input Object type extension".
    for directive in syntax.extensions.flatMap(\.directives) where directive.name.text == "oneOf" {
      report(
        "Directive @oneOf must not be provided by an extension of Input Object \(type.name).",
        at: directive.position)
    }
    for (field, syntax) in zip(fields, syntax.inputs) {
      guard !findings.isFull else { return }
      let coordinate = "\(type.name).\(field.name)"
      checkName(field.name, at: syntax.position)
      if !schema[field.type.namedType].isInputType {
        report(
          "The type of \(coordinate) must be Input Type but got: "
            + "\(schema.text(of: field.type)).", at: syntax.type.position)
      }
      if field.isRequired, field.deprecationReason != nil {
        report(
          "Required input field \(coordinate) cannot be deprecated.",
          at: deprecationPlaces(syntax))
      }
      checkDefault(field, coordinate: coordinate)
      if isOneOf {
        if field.type.isNonNull {
          report("OneOf input field \(coordinate) must be nullable.", at: syntax.type.position)
        }
        if field.defaultValue != nil {
          report(
            "OneOf input field \(coordinate) cannot have a default value.", at: syntax.position)
        }
      }
    }
  }
}
