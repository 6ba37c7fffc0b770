import GraphQLLanguage

/// The differences between two versions of a schema, as graphql-js finds them.
///
/// A type or a directive is the same in both if it has the same name. Descriptions and deprecations
/// are not compared. The order is that of the old schema, with what was added after it.
package struct SchemaChanges {
  private let old: Schema
  private let new: Schema
  private var found: [SchemaChange] = []

  private init(_ old: Schema, _ new: Schema) {
    self.old = old
    self.new = new
  }

  /// Returns every change from one version to the other, the breaking ones first.
  package static func between(_ old: Schema, _ new: Schema) -> [SchemaChange] {
    var changes = SchemaChanges(old, new)
    changes.compareTypes()
    changes.compareDirectives()
    return SchemaChange.Severity.allCases.flatMap { severity in
      changes.found.filter { $0.kind.severity == severity }
    }
  }

  private mutating func add(
    _ kind: SchemaChange.Kind, _ coordinate: SchemaCoordinate, _ description: String
  ) {
    found.append(SchemaChange(kind: kind, coordinate: coordinate, description: description))
  }

  // MARK: - Types

  private mutating func compareTypes() {
    let types = Pairs(old.comparedTypes, new.comparedTypes, by: \.name)
    for type in types.removed {
      add(
        .typeRemoved, .type(type.name),
        type.isBuiltIn
          ? "Standard scalar \(type.name) was removed because it is not referenced anymore."
          : "\(type.name) was removed.")
    }
    for (old, new) in types.kept { compare(old, new) }
    for type in types.added { add(.typeAdded, .type(type.name), "\(type.name) was added.") }
  }

  private mutating func compare(_ oldType: TypeDefinition, _ newType: TypeDefinition) {
    switch (oldType.kind, newType.kind) {
    case (.enum(let old), .enum(let new)): compareValues(old, new, of: oldType)
    case (.union(let old), .union(let new)): compareMembers(old, new, of: oldType)
    case (.inputObject(let old, _), .inputObject(let new, _)):
      compareInputs(old, new, of: oldType)
    case (.object, .object), (.interface, .interface):
      compareFields(oldType, newType)
      compareInterfaces(oldType, newType)
    case (.scalar, .scalar): break
    case (.scalar, _), (.object, _), (.interface, _), (.union, _), (.enum, _), (.inputObject, _):
      add(
        .typeChangedKind, .type(oldType.name),
        "\(oldType.name) changed from \(oldType.kind.words) to \(newType.kind.words).")
    }
  }

  private mutating func compareValues(
    _ old: [EnumValueDefinition], _ new: [EnumValueDefinition], of type: TypeDefinition
  ) {
    let values = Pairs(old, new, by: \.name)
    for value in values.added {
      add(
        .valueAddedToEnum, .member(type: type.name, name: value.name),
        "\(value.name) was added to enum type \(type.name).")
    }
    for value in values.removed {
      add(
        .valueRemovedFromEnum, .member(type: type.name, name: value.name),
        "\(value.name) was removed from enum type \(type.name).")
    }
  }

  private mutating func compareMembers(
    _ oldMembers: [TypeID], _ newMembers: [TypeID], of type: TypeDefinition
  ) {
    let members = Pairs(
      oldMembers.map { old[$0] }, newMembers.map { new[$0] }, by: \.name)
    for member in members.added {
      add(
        .typeAddedToUnion, .type(type.name),
        "\(member.name) was added to union type \(type.name).")
    }
    for member in members.removed {
      add(
        .typeRemovedFromUnion, .type(type.name),
        "\(member.name) was removed from union type \(type.name).")
    }
  }

  private mutating func compareInterfaces(_ oldType: TypeDefinition, _ newType: TypeDefinition) {
    let interfaces = Pairs(
      oldType.interfaces.map { old[$0] }, newType.interfaces.map { new[$0] }, by: \.name)
    for interface in interfaces.added {
      add(
        .implementedInterfaceAdded, .type(oldType.name),
        "\(interface.name) added to interfaces implemented by \(oldType.name).")
    }
    for interface in interfaces.removed {
      add(
        .implementedInterfaceRemoved, .type(oldType.name),
        "\(oldType.name) no longer implements interface \(interface.name).")
    }
  }

  // MARK: - Fields and inputs

  private mutating func compareInputs(
    _ oldFields: [InputValueDefinition], _ newFields: [InputValueDefinition],
    of type: TypeDefinition
  ) {
    let fields = Pairs(oldFields, newFields, by: \.name)
    for field in fields.added {
      let coordinate = SchemaCoordinate.member(type: type.name, name: field.name)
      if field.isRequired {
        add(
          .requiredInputFieldAdded, coordinate,
          "A required field \(field.name) on input type \(type.name) was added.")
      } else {
        add(
          .optionalInputFieldAdded, coordinate,
          "An optional field \(field.name) on input type \(type.name) was added.")
      }
    }
    for field in fields.removed {
      let coordinate = SchemaCoordinate.member(type: type.name, name: field.name)
      add(.fieldRemoved, coordinate, "\(coordinate) was removed.")
    }
    for (old, new) in fields.kept {
      let coordinate = SchemaCoordinate.member(type: type.name, name: old.name)
      let isSafe = isSafeInput(old.type, new.type)
      compareKinds(of: coordinate, old.type, new.type, isSafe: isSafe)
      if isSafe {
        compareDefaults(
          old, new, at: coordinate, subject: "\(coordinate)",
          changed: .inputFieldDefaultChanged, added: .inputFieldDefaultAdded)
      }
    }
  }

  private mutating func compareFields(_ oldType: TypeDefinition, _ newType: TypeDefinition) {
    let fields = Pairs(oldType.fields, newType.fields, by: \.name)
    for field in fields.removed {
      let coordinate = SchemaCoordinate.member(type: oldType.name, name: field.name)
      add(.fieldRemoved, coordinate, "\(coordinate) was removed.")
    }
    for (old, new) in fields.kept {
      let coordinate = SchemaCoordinate.member(type: oldType.name, name: old.name)
      compareArguments(old, new, of: oldType)
      compareKinds(
        of: coordinate, old.type, new.type, isSafe: isSafeOutput(old.type, new.type))
    }
    for field in fields.added {
      let coordinate = SchemaCoordinate.member(type: oldType.name, name: field.name)
      add(.fieldAdded, coordinate, "\(coordinate) was added.")
    }
  }

  /// Reports that a field or an input field has another type.
  private mutating func compareKinds(
    of coordinate: SchemaCoordinate, _ oldType: TypeReference, _ newType: TypeReference,
    isSafe: Bool
  ) {
    let (oldText, newText) = (old.text(of: oldType), new.text(of: newType))
    guard oldText != newText else { return }
    add(
      isSafe ? .fieldChangedKindSafely : .fieldChangedKind, coordinate,
      "\(coordinate) changed type from \(oldText) to \(newText).")
  }

  private mutating func compareArguments(
    _ oldField: FieldDefinition, _ newField: FieldDefinition, of type: TypeDefinition
  ) {
    let field = "\(type.name).\(oldField.name)"
    func coordinate(_ argument: InputValueDefinition) -> SchemaCoordinate {
      .argument(type: type.name, field: oldField.name, name: argument.name)
    }
    let arguments = Pairs(oldField.arguments, newField.arguments, by: \.name)
    for argument in arguments.removed {
      add(.argumentRemoved, coordinate(argument), "\(field) arg \(argument.name) was removed.")
    }
    for (old, new) in arguments.kept { compare(old, new, at: coordinate(old), of: field) }
    for argument in arguments.added {
      if argument.isRequired {
        add(
          .requiredArgumentAdded, coordinate(argument),
          "A required arg \(argument.name) on \(field) was added.")
      } else {
        add(
          .optionalArgumentAdded, coordinate(argument),
          "An optional arg \(argument.name) on \(field) was added.")
      }
    }
  }

  private mutating func compare(
    _ oldArgument: InputValueDefinition, _ newArgument: InputValueDefinition,
    at coordinate: SchemaCoordinate, of field: String
  ) {
    let subject = "\(field) arg \(oldArgument.name)"
    let (oldText, newText) = (old.text(of: oldArgument.type), new.text(of: newArgument.type))
    let isSafe = isSafeInput(oldArgument.type, newArgument.type)
    if oldText != newText {
      add(
        isSafe ? .argumentChangedKindSafely : .argumentChangedKind, coordinate,
        "\(subject) has changed type from \(oldText) to \(newText).")
    }
    if isSafe {
      compareDefaults(
        oldArgument, newArgument, at: coordinate, subject: subject,
        changed: .argumentDefaultChanged, added: .argumentDefaultAdded)
    }
  }

  private mutating func compareDefaults(
    _ oldInput: InputValueDefinition, _ newInput: InputValueDefinition,
    at coordinate: SchemaCoordinate, subject: String,
    changed: SchemaChange.Kind, added: SchemaChange.Kind
  ) {
    switch (old.sortedDefaultText(of: oldInput), new.sortedDefaultText(of: newInput)) {
    case (nil, nil): break
    case (nil, let value?):
      add(added, coordinate, "\(subject) has the new defaultValue \(value).")
    case (_?, nil):
      add(changed, coordinate, "\(subject) defaultValue was removed.")
    case (let before?, let after?):
      guard before != after else { return }
      add(
        changed, coordinate, "\(subject) has changed defaultValue from \(before) to \(after).")
    }
  }

  /// Returns whether every value of the new type was one of the old.
  private func isSafeOutput(_ before: TypeReference, _ after: TypeReference) -> Bool {
    switch (before, after) {
    case (.nonNull(let before), .nonNull(let after)): isSafeOutput(before, after)
    case (.nonNull, .named), (.nonNull, .list): false
    case (_, .nonNull(let after)): isSafeOutput(before, after)
    case (.list(let before), .list(let after)): isSafeOutput(before, after)
    case (.named(let before), .named(let after)): old[before].name == new[after].name
    case (.list, .named), (.named, .list): false
    }
  }

  /// Returns whether every value that the old type accepts, the new type accepts.
  private func isSafeInput(_ before: TypeReference, _ after: TypeReference) -> Bool {
    switch (before, after) {
    case (.nonNull(let before), .nonNull(let after)): isSafeInput(before, after)
    case (.nonNull(let before), _): isSafeInput(before, after)
    case (.list(let before), .list(let after)): isSafeInput(before, after)
    case (.named(let before), .named(let after)): old[before].name == new[after].name
    case (.list, .named), (.list, .nonNull), (.named, .list), (.named, .nonNull): false
    }
  }

  // MARK: - Directives

  private mutating func compareDirectives() {
    let directives = Pairs(old.directives, new.directives, by: \.name)
    for directive in directives.removed {
      add(.directiveRemoved, .directive(directive.name), "\(directive.name) was removed.")
    }
    for (old, new) in directives.kept { compare(old, new) }
    for directive in directives.added {
      add(.directiveAdded, .directive(directive.name), "\(directive.name) was added.")
    }
  }

  private mutating func compare(_ old: DirectiveDefinition, _ new: DirectiveDefinition) {
    func coordinate(_ argument: InputValueDefinition) -> SchemaCoordinate {
      .directiveArgument(directive: old.name, name: argument.name)
    }
    let arguments = Pairs(old.arguments, new.arguments, by: \.name)
    for argument in arguments.added {
      if argument.isRequired {
        add(
          .requiredDirectiveArgumentAdded, coordinate(argument),
          "A required arg \(argument.name) on directive \(old.name) was added.")
      } else {
        add(
          .optionalDirectiveArgumentAdded, coordinate(argument),
          "An optional arg \(argument.name) on directive \(old.name) was added.")
      }
    }
    for argument in arguments.removed {
      add(
        .directiveArgumentRemoved, coordinate(argument),
        "\(argument.name) was removed from \(old.name).")
    }
    for (before, after) in arguments.kept {
      compare(before, after, at: coordinate(before), of: "@\(old.name)")
    }
    if old.isRepeatable, !new.isRepeatable {
      add(
        .directiveRepeatableRemoved, .directive(old.name),
        "Repeatable flag was removed from \(old.name).")
    } else if new.isRepeatable, !old.isRepeatable {
      add(
        .directiveRepeatableAdded, .directive(old.name),
        "Repeatable flag was added to \(old.name).")
    }
    for location in old.locations where !new.locations.contains(location) {
      add(
        .directiveLocationRemoved, .directive(old.name),
        "\(location.rawValue) was removed from \(old.name).")
    }
    for location in new.locations where !old.locations.contains(location) {
      add(
        .directiveLocationAdded, .directive(old.name),
        "\(location.rawValue) was added to \(old.name).")
    }
  }
}

/// The elements of two lists, matched by name.
private struct Pairs<Element> {
  private(set) var removed: [Element] = []
  private(set) var kept: [(old: Element, new: Element)] = []
  private(set) var added: [Element] = []

  init(_ old: [Element], _ new: [Element], by name: (Element) -> String) {
    let newByName = Dictionary(new.map { (name($0), $0) }, uniquingKeysWith: { first, _ in first })
    let oldNames = Set(old.map(name))
    for element in old {
      if let other = newByName[name(element)] {
        kept.append((element, other))
      } else {
        removed.append(element)
      }
    }
    added = new.filter { !oldNames.contains(name($0)) }
  }
}

extension TypeDefinition.Kind {
  /// The kind with its article, as graphql-js writes it.
  fileprivate var words: String {
    switch self {
    case .scalar: "a Scalar type"
    case .object: "an Object type"
    case .interface: "an Interface type"
    case .union: "a Union type"
    case .enum: "an Enum type"
    case .inputObject: "an Input type"
    }
  }
}

extension Schema {
  /// The schema's own types, and the built-in scalars that it refers to. Introspection refers to two.
  fileprivate var comparedTypes: [TypeDefinition] {
    var referenced: Set<String> = [
      BuiltInScalar.string.rawValue, BuiltInScalar.boolean.rawValue,
    ]
    func refer(to inputs: [InputValueDefinition]) {
      for input in inputs { referenced.insert(self[input.type.namedType].name) }
    }
    for type in types {
      for field in type.fields {
        referenced.insert(self[field.type.namedType].name)
        refer(to: field.arguments)
      }
      if case .inputObject(let inputs, _) = type.kind { refer(to: inputs) }
    }
    for directive in directives { refer(to: directive.arguments) }
    return types.filter {
      !$0.isBuiltIn || $0.builtInScalar != nil && referenced.contains($0.name)
    }
  }

  /// Returns a default value as introspection shows it, its objects in the order of names.
  fileprivate func sortedDefaultText(of input: InputValueDefinition) -> String? {
    input.coercedDefault.map { text(of: $0.sorted, as: input.type) }
  }
}

extension InputValue {
  /// The value with the members of its objects in natural order.
  fileprivate var sorted: InputValue {
    switch self {
    case .null, .boolean, .int, .bigInt, .float, .number, .string, .enum: self
    case .list(let items): .list(items.map(\.sorted))
    case .object(let members):
      .object(
        members.map { Member(name: $0.name, value: $0.value.sorted) }
          .sorted { naturalOrder($0.name, $1.name) < 0 })
    }
  }
}
