import GraphQLLanguage
import GraphQLSchema

// The executable part of the walk: which rule looks at which node, before or after its children.
extension ValidationWalk {
  mutating func walk(_ operation: OperationDefinition) {
    let place = operation.description?.position ?? operation.position
    if rules.contains(.knownOperationTypes) { checkOperationType(operation, at: place) }
    if rules.contains(.uniqueOperationNames) { checkUniqueName(of: operation) }
    if rules.contains(.loneAnonymousOperation) { checkLone(operation, at: place) }
    if rules.contains(.singleFieldSubscriptions) { checkSingleField(operation) }
    if rules.contains(.uniqueVariableNames) { checkUniqueVariables(of: operation) }
    checkUniqueDirectives(operation.directives)
    if knowsDefer, operation.kind != .query {
      if rules.contains(.deferOnRoot) { checkDeferOnRoot(operation) }
      if rules.contains(.deferInSubscriptions) { checkDeferInSubscription(operation) }
    }

    usages.removeAll(keepingCapacity: true)
    for variable in operation.variables { walk(variable) }
    walk(operation.directives, on: operation.kind.directiveLocation, field: nil)
    let root = schema.rootType(for: operation.kind).map { schema[$0] }
    walk(operation.selectionSet, parent: root, enclosing: nil)

    finishedOperations.append(
      FinishedOperation(operation: operation, place: place, turn: takeTurn(), usages: usages))
  }

  mutating func walk(_ fragment: FragmentDefinition) {
    let type = schema.type(named: fragment.typeCondition.text)
    if rules.contains(.fragmentsOnCompositeTypes) { checkComposite(fragment, type) }
    if rules.contains(.uniqueFragmentNames) { checkUniqueName(of: fragment) }
    if rules.contains(.noFragmentCycles) { checkCycles(from: fragment) }
    checkUniqueDirectives(fragment.directives)

    usages.removeAll(keepingCapacity: true)
    checkKnown(fragment.typeCondition, isTypeSystem: false)
    walk(fragment.directives, on: .fragmentDefinition, field: nil)
    let parent = type.flatMap { $0.isComposite ? $0 : nil }
    let index = fragmentIndices[fragment.name.text]
    currentFragment = index
    defer { currentFragment = nil }
    walk(fragment.selectionSet, parent: parent, enclosing: nil)
    if let index { usagesOfFragments[index] = usages }
  }

  private mutating func walk(_ variable: VariableDefinition) {
    if rules.contains(.variablesAreInputTypes) { checkInputType(of: variable) }
    checkUniqueDirectives(variable.directives)
    checkKnown(variable.type, isTypeSystem: false)
    if let value = variable.defaultValue {
      let type = resolve(variable.type).flatMap { schema[$0.namedType].isInputType ? $0 : nil }
      walk(value, type: type)
    }
    walk(variable.directives, on: .variableDefinition, field: nil)
  }

  /// Walks a selection set. `enclosing` is the definition of the field that the set belongs to,
  /// however many inline fragments are between.
  private mutating func walk(
    _ set: SelectionSet, parent: TypeDefinition?, enclosing: FieldDefinition?,
    isInline: Bool = false
  ) {
    selectionSets.append(
      SelectionSetRecord(
        set: set, parent: parent, turn: takeTurn(), isInline: isInline,
        fragment: currentFragment))
    for selection in set.selections {
      switch selection {
      case .field(let field): walk(field, parent: parent)
      case .fragmentSpread(let spread): walk(spread, parent: parent, enclosing: enclosing)
      case .inlineFragment(let inline): walk(inline, parent: parent, enclosing: enclosing)
      }
    }
  }

  private mutating func walk(_ field: Field, parent: TypeDefinition?) {
    let definition = parent.flatMap { fieldDefinition(named: field.name.text, on: $0) }
    if let definition {
      if rules.contains(.scalarLeafs) { checkLeaf(field, definition) }
    } else if let parent, rules.contains(.fieldsOnCorrectType) {
      reportUnknown(field, on: parent)
    }
    if field.directives.count > 1 { checkUniqueDirectives(field.directives) }
    if field.arguments.count > 1, rules.contains(.uniqueArgumentNames) {
      checkUnique(field.arguments)
    }

    for argument in field.arguments {
      let input = definition?.argument(named: argument.name.text)
      if input == nil, let definition, let parent, rules.contains(.knownArgumentNames) {
        reportUnknown(argument, of: definition, on: parent)
      }
      walk(argument, input)
    }
    if !field.directives.isEmpty {
      walk(field.directives, on: .field, field: definition)
      if knowsDefer {
        if rules.contains(.deferLabels) { checkDeferLabels(field.directives) }
        if let definition, let parent, rules.contains(.streamOnLists) {
          checkStream(field, definition, on: parent)
        }
      }
    }
    if let set = field.selectionSet {
      let type = definition.map { schema[$0.type.namedType] }
      let composite = type.flatMap { $0.isComposite ? $0 : nil }
      walk(set, parent: composite, enclosing: definition)
    }

    if let definition, rules.contains(.providedRequiredArguments) {
      checkRequired(field, definition)
    }
  }

  private mutating func walk(
    _ spread: FragmentSpread, parent: TypeDefinition?, enclosing: FieldDefinition?
  ) {
    if let index = fragmentIndices[spread.name.text] {
      if let parent, rules.contains(.possibleFragmentSpreads) {
        checkPossible(spread, fragments[index], parent)
      }
    } else if rules.contains(.knownFragmentNames) {
      report(
        .knownFragmentNames, at: [spread.name.position],
        "Unknown fragment \"\(spread.name.text)\".")
    }
    if !spread.directives.isEmpty {
      checkUniqueDirectives(spread.directives)
      walk(spread.directives, on: .fragmentSpread, field: enclosing)
      if knowsDefer, rules.contains(.deferLabels) { checkDeferLabels(spread.directives) }
    }
  }

  private mutating func walk(
    _ inline: InlineFragment, parent: TypeDefinition?, enclosing: FieldDefinition?
  ) {
    var type = parent
    if let condition = inline.typeCondition {
      type = schema.type(named: condition.text)
      if let type, !type.isComposite, rules.contains(.fragmentsOnCompositeTypes) {
        report(
          .fragmentsOnCompositeTypes, at: [condition.position],
          "Fragment cannot condition on non composite type \"\(condition.text)\".")
      }
      if let found = type, !found.isComposite { type = nil }
      if let type, let parent, rules.contains(.possibleFragmentSpreads) {
        checkPossible(inline, type, parent)
      }
    }
    checkUniqueDirectives(inline.directives)
    if let condition = inline.typeCondition { checkKnown(condition, isTypeSystem: false) }
    walk(inline.directives, on: .inlineFragment, field: enclosing)
    if !inline.directives.isEmpty, knowsDefer, rules.contains(.deferLabels) {
      checkDeferLabels(inline.directives)
    }
    walk(inline.selectionSet, parent: type, enclosing: enclosing, isInline: true)
  }

  // MARK: - Directives, arguments, values

  /// Walks directives. Arguments of an unknown directive on a field are read as if they were the
  /// field's: other engines look up their types there.
  mutating func walk(
    _ directives: [Directive], on location: DirectiveLocation, field: FieldDefinition?
  ) {
    for directive in directives {
      let definition = schema.directivesByName[directive.name.text]
      if rules.contains(.knownDirectives) { checkKnown(directive, definition, on: location) }
      if rules.contains(.knownArgumentNames), !directive.arguments.isEmpty {
        checkArgumentNames(of: directive, definition)
      }
      if rules.contains(.uniqueArgumentNames) { checkUnique(directive.arguments) }
      for argument in directive.arguments {
        let name = argument.name.text
        let input =
          definition.map { $0.argument(named: name) } ?? field?.argument(named: name)
        walk(argument, input)
      }
      if rules.contains(.providedRequiredArguments) { checkRequired(directive, definition) }
    }
  }

  private mutating func walk(_ argument: Argument, _ input: InputValueDefinition?) {
    walk(
      argument.value, type: input?.type, hasDefault: input?.defaultValue != nil)
  }

  /// Walks a value. `isChecked` is false inside a value that was refused as a whole; its parts are
  /// then checked only by rules that hold for any value.
  mutating func walk(
    _ value: Value, type: TypeReference?, hasDefault: Bool = false, oneOf: TypeID? = nil,
    isChecked: Bool = true
  ) {
    switch value.content {
    case .variable(let name):
      usages.append(
        VariableUsage(
          name: name, position: value.position, type: type, hasDefault: hasDefault,
          oneOf: oneOf))
    case .list(let items):
      let nullable = type?.nullable
      var itemType = nullable
      var isList = false
      if case .list(let inner)? = nullable {
        itemType = inner
        isList = true
      }
      if !isList, isChecked, rules.contains(.valuesOfCorrectType) {
        checkLeaf(value, itemType)
      }
      for item in items { walk(item, type: itemType, isChecked: isChecked && isList) }
    case .object(let fields):
      walk(fields, of: value, type: type, isChecked: isChecked)
    case .null:
      if isChecked, let type, type.isNonNull, rules.contains(.valuesOfCorrectType) {
        report(
          .valuesOfCorrectType, at: [value.position],
          "Expected value of type \"\(text(type))\", found null.")
      }
    case .int, .float, .string, .boolean, .enum:
      if isChecked, let type, rules.contains(.valuesOfCorrectType) { checkLeaf(value, type) }
    }
  }

  private mutating func walk(
    _ fields: [ObjectField], of value: Value, type: TypeReference?, isChecked: Bool
  ) {
    var inputType: TypeDefinition?
    var isOneOf = false
    if let type {
      let named = schema[type.namedType]
      if case .inputObject(let inputs, let oneOf) = named.kind {
        inputType = named
        isOneOf = oneOf
        if isChecked, rules.contains(.valuesOfCorrectType) {
          checkObject(value, fields, named, inputs, isOneOf: oneOf)
        }
      } else if isChecked, rules.contains(.valuesOfCorrectType) {
        checkLeaf(value, type)
      }
    }
    var names: [String: Name] = [:]
    for field in fields {
      let input = inputType?.inputField(named: field.name.text)
      if isChecked, let inputType, input == nil, rules.contains(.valuesOfCorrectType) {
        reportUnknown(field, of: inputType)
      }
      if fields.count > 1, rules.contains(.uniqueInputFieldNames) {
        checkUnique(field, &names)
      }
      walk(
        field.value, type: input?.type, hasDefault: input?.defaultValue != nil,
        oneOf: isOneOf ? inputType?.id : nil, isChecked: isChecked && inputType != nil)
    }
  }
}

extension OperationKind {
  var directiveLocation: DirectiveLocation {
    switch self {
    case .query: .query
    case .mutation: .mutation
    case .subscription: .subscription
    }
  }
}
