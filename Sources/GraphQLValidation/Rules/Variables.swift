import GraphQLLanguage
import GraphQLSchema

/// A place where a variable stands for a value.
struct VariableUsage {
  let name: String
  let position: Position
  let type: TypeReference?
  /// The place has a value of its own when the variable has none.
  let hasDefault: Bool
  /// The OneOf input object it is a field of, which null cannot fill.
  let oneOf: TypeID?
}

/// An operation the walk has left, waiting until the fragments it reaches have been seen.
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
  /// 5.8.1 Variable Uniqueness.
  mutating func checkUniqueVariables(of operation: OperationDefinition) {
    guard operation.variables.count > 1 else { return }
    reportRepeated(.uniqueVariableNames, operation.variables.map(\.name)) {
      "There can be only one variable named \"$\($0)\"."
    }
  }

  /// 5.8.3 All Variable Uses Defined, 5.8.4 All Variables Used, 5.8.5 All Variable Usages Are
  /// Allowed: of every operation, through all fragments it reaches.
  mutating func checkVariables() {
    for operation in finishedOperations {
      let found = errors.count
      checkVariables(of: operation)
      if errors.count - found > maximumErrors { return }
    }
  }

  private mutating func checkVariables(of finished: FinishedOperation) {
    let operation = finished.operation
    let reached = fragmentsReached(from: operation.selectionSet)
    if operation.variables.isEmpty, finished.usages.isEmpty,
      reached.allSatisfy({ usagesOfFragments[$0].isEmpty })
    {
      return
    }
    var definitions: [String: VariableDefinition] = [:]
    for variable in operation.variables { definitions[variable.name.text] = variable }
    let name = operation.name.map { " by operation \"\($0.text)\"" } ?? ""
    let inName = operation.name.map { " in operation \"\($0.text)\"" } ?? ""
    let limit = errors.count + maximumErrors

    var used: Set<String> = []
    let checksUndefined = requestedRules.contains(.noUndefinedVariables)
    let lists = [finished.usages] + reached.map { usagesOfFragments[$0] }
    for usages in lists {
      for usage in usages {
        used.insert(usage.name)
        if checksUndefined, definitions[usage.name] == nil, errors.count <= limit {
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
    let types = definitions.mapValues { resolve($0.type) }
    for usages in lists {
      for usage in usages {
        guard errors.count <= limit, let definition = definitions[usage.name],
          let type = types[usage.name] ?? nil
        else { continue }
        checkPosition(usage, definition, type, turn: finished.turn)
      }
    }
  }

  private mutating func checkPosition(
    _ usage: VariableUsage, _ definition: VariableDefinition, _ type: TypeReference, turn: Int
  ) {
    guard let location = usage.type else { return }
    var hasDefault = usage.hasDefault
    var hasOwnDefault = false
    if let value = definition.defaultValue {
      if case .null = value.content {} else { hasOwnDefault = true }
    }
    hasDefault = hasDefault || hasOwnDefault
    let isAllowed =
      if location.isNonNull, !type.isNonNull {
        hasDefault && accepts(location.nullable, type)
      } else {
        accepts(location, type)
      }
    if !isAllowed {
      report(
        .variablesInAllowedPosition, at: [definition.place, usage.position], turn: turn,
        """
        Variable "$\(usage.name)" of type "\(text(type))" used in position expecting type \
        "\(text(location))".
        """)
    }
    if let oneOf = usage.oneOf, !type.isNonNull, !hasOwnDefault {
      report(
        .variablesInAllowedPosition, at: [definition.place, usage.position], turn: turn,
        """
        Variable "$\(usage.name)" is of type "\(text(type))" but must be non-nullable to be \
        used for OneOf Input Object "\(schema[oneOf].name)".
        """)
    }
  }

  /// Whether a value of one type is always one of the other.
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
}
