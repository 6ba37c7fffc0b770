import GraphQLLanguage
import GraphQLSchema

/// A use of a variable as a value.
struct VariableUsage {
  let name: String
  let position: Position
  let type: TypeReference?
  /// Whether the location has a default value, which applies if the variable has none.
  let hasDefault: Bool
  /// The OneOf input object of which the location is a field, and where null is not allowed.
  let oneOf: TypeID?

  /// The usage without its position in the text.
  struct Kind: Hashable {
    let name: String
    let type: TypeReference?
    let hasDefault: Bool
    let oneOf: TypeID?
  }

  var kind: Kind { Kind(name: name, type: type, hasDefault: hasDefault, oneOf: oneOf) }
}

/// An operation that the walk has left, and that waits until the fragments it reaches were visited.
struct FinishedOperation {
  let operation: OperationDefinition
  let place: Position
  let turn: Int
  let usages: [VariableUsage]
}

// The rules for variables.
//
// GraphQL September 2025, 5.8 Variables.
extension ValidationWalk {
  /// Reports repeated variables (5.8.1 Variable Uniqueness).
  mutating func checkUniqueVariables(of operation: OperationDefinition) {
    guard operation.variables.count > 1 else { return }
    reportRepeated(.uniqueVariableNames, operation.variables.map(\.name)) {
      "There can be only one variable named \"$\($0)\"."
    }
  }

  /// Checks the variables of every operation, through all fragments that it reaches (5.8.3 All
  /// Variable Uses Defined, 5.8.4 All Variables Used, 5.8.5 All Variable Usages Are Allowed).
  mutating func checkVariables() {
    let rules: [ValidationRule] = [
      .noUndefinedVariables, .noUnusedVariables, .variablesInAllowedPosition,
    ]
    guard rules.contains(where: { requestedRules.contains($0) }) else { return }
    hasUsagesInFragments = usagesOfFragments.contains { !$0.isEmpty }
    for operation in finishedOperations {
      let found = errors.count
      checkVariables(of: operation)
      if errors.count - found > maximumErrors { return }
    }
  }

  private mutating func checkVariables(of finished: FinishedOperation) {
    let operation = finished.operation
    if operation.variables.isEmpty, finished.usages.isEmpty, !hasUsagesInFragments { return }
    let reached = graph.reached(from: operation.selectionSet).filter {
      !usagesOfFragments[$0].isEmpty
    }
    if operation.variables.isEmpty, finished.usages.isEmpty, reached.isEmpty { return }

    var definitions: [String: (definition: VariableDefinition, type: TypeReference?)] = [:]
    definitions.reserveCapacity(operation.variables.count)
    for variable in operation.variables {
      definitions[variable.name.text] = (variable, resolve(variable.type))
    }
    // One look at each kind of usage says whether there is anything to report at all.
    var used: Set<String> = []
    var isSound = true
    for usages in [finished.usages] + reached.map({ distinctUsages(ofFragmentAt: $0) }) {
      for usage in usages {
        used.insert(usage.name)
        guard let (definition, type) = definitions[usage.name] else {
          isSound = false
          continue
        }
        if let type, let location = usage.type {
          if !isAllowed(usage, location, definition, type) { isSound = false }
        }
      }
    }
    let name = operation.name.map { " by operation \"\($0.text)\"" } ?? ""
    let inName = operation.name.map { " in operation \"\($0.text)\"" } ?? ""
    let limit = errors.count + maximumErrors
    let lists = isSound ? [] : [finished.usages] + reached.map { usagesOfFragments[$0] }
    if requestedRules.contains(.noUndefinedVariables) {
      for usages in lists {
        for usage in usages where definitions[usage.name] == nil && errors.count <= limit {
          report(
            .noUndefinedVariables, at: [usage.position, finished.place], turn: finished.turn,
            "Variable \"$\(usage.name)\" is not defined\(name).")
        }
      }
    }
    if requestedRules.contains(.noUnusedVariables) {
      for variable in operation.variables where !used.contains(variable.name.text) {
        report(
          .noUnusedVariables, at: [variable.place], turn: finished.turn,
          "Variable \"$\(variable.name.text)\" is never used\(inName).")
      }
    }
    guard requestedRules.contains(.variablesInAllowedPosition) else { return }
    for usages in lists {
      for usage in usages {
        guard errors.count <= limit, let (definition, type) = definitions[usage.name], let type
        else { continue }
        checkPosition(usage, definition, type, turn: finished.turn)
      }
    }
  }

  /// Returns the usages of a fragment without those equal to an earlier one.
  private mutating func distinctUsages(ofFragmentAt index: Int) -> [VariableUsage] {
    let usages = usagesOfFragments[index]
    if usages.count < 16 { return usages }
    if let known = distinctUsagesOfFragments[index] { return known }
    var seen: Set<VariableUsage.Kind> = []
    let distinct = usages.filter { seen.insert($0.kind).inserted }
    distinctUsagesOfFragments[index] = distinct
    return distinct
  }

  private mutating func checkPosition(
    _ usage: VariableUsage, _ definition: VariableDefinition, _ type: TypeReference, turn: Int
  ) {
    guard let location = usage.type else { return }
    if !fits(usage, location, definition, type) {
      report(
        .variablesInAllowedPosition, at: [definition.place, usage.position], turn: turn,
        """
        Variable "$\(usage.name)" of type "\(text(type))" used in position expecting type \
        "\(text(location))".
        """)
    }
    if let oneOf = usage.oneOf, !type.isNonNull, !definition.hasDefault {
      report(
        .variablesInAllowedPosition, at: [definition.place, usage.position], turn: turn,
        """
        Variable "$\(usage.name)" is of type "\(text(type))" but must be non-nullable to be \
        used for OneOf Input Object "\(schema[oneOf].name)".
        """)
    }
  }

  private func isAllowed(
    _ usage: VariableUsage, _ location: TypeReference, _ definition: VariableDefinition,
    _ type: TypeReference
  ) -> Bool {
    fits(usage, location, definition, type)
      && (usage.oneOf == nil || type.isNonNull || definition.hasDefault)
  }

  /// Returns whether a usage is allowed. A default, of the variable or of the location, replaces
  /// null.
  private func fits(
    _ usage: VariableUsage, _ location: TypeReference, _ definition: VariableDefinition,
    _ type: TypeReference
  ) -> Bool {
    if location.isNonNull, !type.isNonNull {
      (usage.hasDefault || definition.hasDefault) && accepts(location.nullable, type)
    } else {
      accepts(location, type)
    }
  }

  /// Returns whether every value of one type is also one of the other.
  private func accepts(_ location: TypeReference, _ type: TypeReference) -> Bool {
    switch (location, type) {
    case (.nonNull(let location), .nonNull(let type)): accepts(location, type)
    case (.nonNull, _): false
    case (_, .nonNull(let type)): accepts(location, type)
    case (.list(let location), .list(let type)): accepts(location, type)
    case (.named(let location), .named(let type)): location == type
    case (.list, .named), (.named, .list): false
    }
  }
}

extension VariableDefinition {
  var place: Position { description?.position ?? position }

  /// Whether there is a default that is not null.
  fileprivate var hasDefault: Bool {
    switch defaultValue?.content {
    case nil, .null?: false
    case .variable?, .int?, .float?, .string?, .boolean?, .enum?, .list?, .object?: true
    }
  }
}
