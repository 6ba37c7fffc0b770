import GraphQLLanguage

// Types keep what they promise by `implements`.
extension TypeSystemValidator {
  mutating func checkInterfaces(_ type: TypeDefinition, _ syntax: TypeSystemDraft.DraftType) {
    guard !type.interfaces.isEmpty else { return }
    let own = Set(type.interfaces)
    let places = Dictionary(grouping: syntax.interfaces, by: \.text).mapValues {
      $0.map(\.position)
    }
    var seen: Set<TypeID> = []
    for id in type.interfaces {
      guard !findings.isFull else { return }
      let interface = schema[id]
      guard case .interface = interface.kind else {
        report(
          "Type \(type.name) must only implement Interface types, it cannot implement "
            + "\(interface.name).", at: places[interface.name] ?? [])
        continue
      }
      if id == type.id {
        report(
          "Type \(type.name) cannot implement itself because it would create a circular reference.",
          at: places[interface.name] ?? [])
        continue
      }
      guard seen.insert(id).inserted else {
        report(
          "Type \(type.name) can only implement \(interface.name) once.",
          at: places[interface.name] ?? [])
        continue
      }
      checkAncestors(type, own, interface, at: places[interface.name] ?? [])
      checkImplementation(type, syntax, interface)
    }
  }

  private mutating func checkAncestors(
    _ type: TypeDefinition, _ own: Set<TypeID>, _ interface: TypeDefinition,
    at positions: [Position]
  ) {
    for ancestor in interface.interfaces where !own.contains(ancestor) {
      guard !findings.isFull else { return }
      let message =
        ancestor == type.id
        ? "Type \(type.name) cannot implement \(interface.name) because it would create a "
          + "circular reference."
        : "Type \(type.name) must implement \(schema[ancestor].name) because it is implemented by "
          + "\(interface.name)."
      report(
        message,
        at: draft.types[Int(interface.id.index)].interfaces
          .filter { $0.text == schema[ancestor].name }.map(\.position) + positions)
    }
  }

  private mutating func checkImplementation(
    _ type: TypeDefinition, _ syntax: TypeSystemDraft.DraftType, _ interface: TypeDefinition
  ) {
    let interfaceSyntax = draft.types[Int(interface.id.index)]
    for (promised, promisedSyntax) in zip(interface.fields, interfaceSyntax.fields) {
      guard !findings.isFull else { return }
      let name = promised.name
      guard let index = type.fieldIndex(named: name) else {
        report(
          "Interface field \(interface.name).\(name) expected but \(type.name) does not provide it.",
          at: [promisedSyntax.syntax.position] + syntax.positions)
        continue
      }
      let field = type.fields[index]
      let fieldSyntax = syntax.fields[index]
      if !schema.isSubtype(field.type, of: promised.type) {
        report(
          "Interface field \(interface.name).\(name) expects type "
            + "\(schema.text(of: promised.type)) but \(type.name).\(name) is type "
            + "\(schema.text(of: field.type)).",
          at: [promisedSyntax.syntax.type.position, fieldSyntax.syntax.type.position])
      }
      checkArguments(
        (type, field, fieldSyntax), promised: (interface, promised, promisedSyntax))
      // Beyond version 16: 3.6, "If field is deprecated then implementedField must also be".
      if field.deprecationReason != nil, promised.deprecationReason == nil {
        let directive = fieldSyntax.syntax.directives.first { $0.name.text == "deprecated" }
        report(
          "Interface field \(interface.name).\(name) is not deprecated, so implementation field "
            + "\(type.name).\(name) must not be deprecated.",
          at: (directive.map { [$0.position] } ?? []) + [fieldSyntax.syntax.type.position])
      }
    }
  }

  private typealias FieldPlace = (
    type: TypeDefinition, field: FieldDefinition, syntax: TypeSystemDraft.DraftField
  )

  private mutating func checkArguments(_ own: FieldPlace, promised: FieldPlace) {
    guard !own.field.arguments.isEmpty || !promised.field.arguments.isEmpty else { return }
    let ownCoordinate = "\(own.type.name).\(own.field.name)"
    let promisedCoordinate = "\(promised.type.name).\(promised.field.name)"
    let ownIndices = indices(own.field.arguments)
    for (argument, syntax) in zip(promised.field.arguments, promised.syntax.arguments) {
      guard !findings.isFull else { return }
      guard let index = ownIndices[argument.name] else {
        report(
          "Interface field argument \(promisedCoordinate)(\(argument.name):) expected but "
            + "\(ownCoordinate) does not provide it.",
          at: [syntax.position, own.syntax.syntax.position])
        continue
      }
      let given = own.field.arguments[index]
      if given.type != argument.type {
        report(
          "Interface field argument \(promisedCoordinate)(\(argument.name):) expects type "
            + "\(schema.text(of: argument.type)) but \(ownCoordinate)(\(argument.name):) is type "
            + "\(schema.text(of: given.type)).",
          at: [syntax.type.position, own.syntax.arguments[index].type.position])
      }
    }
    let promisedIndices = indices(promised.field.arguments)
    for (argument, syntax) in zip(own.field.arguments, own.syntax.arguments)
    where argument.isRequired && promisedIndices[argument.name] == nil {
      report(
        "Object field \(ownCoordinate) includes required argument \(argument.name) that is missing "
          + "from the Interface field \(promisedCoordinate).",
        at: [syntax.position, promised.syntax.syntax.position])
    }
  }

  private func indices(_ arguments: [InputValueDefinition]) -> [String: Int] {
    Dictionary(
      arguments.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
  }
}

extension Schema {
  /// Returns whether a value of the first type may be used as one of the second (covariance).
  func isSubtype(_ type: TypeReference, of promised: TypeReference) -> Bool {
    if type == promised { return true }
    switch (type, promised) {
    case (.nonNull(let inner), .nonNull(let promisedInner)):
      return isSubtype(inner, of: promisedInner)
    case (.nonNull(let inner), _): return isSubtype(inner, of: promised)
    case (.list(let item), .list(let promisedItem)): return isSubtype(item, of: promisedItem)
    case (.named(let id), .named(let promisedID)):
      switch (self[id].kind, self[promisedID].kind) {
      case (.object, .union(let members)): return members.contains(id)
      case (.object, .interface), (.interface, .interface):
        return self[id].interfaces.contains(promisedID)
      default: return false
      }
    default: return false
    }
  }
}
