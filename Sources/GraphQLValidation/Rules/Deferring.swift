import GraphQLLanguage
import GraphQLSchema

// The rules of `@defer` and `@stream`, if the schema has them. Labels are literals, and unique. The
// root fields of mutations and subscriptions cannot be deferred. Inside of subscriptions, both
// directives need an `if` that can be false. Only lists are streamed.
//
// O(selections). GraphQL incremental delivery, pull request 1223 of graphql-spec.
extension ValidationWalk {
  /// The names of the two directives in messages.
  private static let delivering = ["defer": "Defer", "stream": "Stream"]

  var knowsDefer: Bool {
    schema.directivesByName["defer"] != nil || schema.directivesByName["stream"] != nil
  }

  mutating func checkStream(
    _ field: Field, _ definition: FieldDefinition, on parent: TypeDefinition
  ) {
    guard let directive = field.directives.first(where: { $0.name.text == "stream" }) else {
      return
    }
    if case .list = definition.type.nullable { return }
    report(
      .streamOnLists, at: [directive.position],
      "Stream directive cannot be used on non-list field '\(definition.name)' on type"
        + " '\(parent.name)'.")
  }

  mutating func checkDeferLabels(_ directives: [Directive]) {
    for directive in directives {
      guard let word = Self.delivering[directive.name.text] else { continue }
      guard let label = directive.arguments.first(where: { $0.name.text == "label" })?.value else {
        continue
      }
      switch label.content {
      case .null: break
      case .string(let literal):
        if let first = deferLabels[literal.text] {
          report(
            .deferLabels, at: [first, directive.position],
            "Defer/Stream directive label argument must be unique.")
        } else {
          deferLabels[literal.text] = directive.position
        }
      case .variable, .int, .float, .boolean, .enum, .list, .object:
        report(
          .deferLabels, at: [directive.position],
          "\(word) directive label argument must be a static string.")
      }
    }
  }

  /// Reports `@defer` and `@stream` on root fields of mutations and subscriptions, where they are
  /// not allowed.
  mutating func checkDeferOnRoot(_ operation: OperationDefinition) {
    guard operation.kind != .query, let root = schema.rootType(for: operation.kind) else { return }
    let name = schema[root].name
    var visited: Set<Int> = []
    var pending: [Selection] = operation.selectionSet.selections.reversed()
    while let selection = pending.popLast() {
      let directives: [Directive]
      var inner: SelectionSet?
      switch selection {
      case .field(let field): directives = field.directives.filter { $0.name.text == "stream" }
      case .inlineFragment(let inline):
        directives = inline.directives.filter { $0.name.text == "defer" }
        inner = inline.selectionSet
      case .fragmentSpread(let spread):
        guard let index = fragmentIndices[spread.name.text], visited.insert(index).inserted else {
          continue
        }
        directives = spread.directives.filter { $0.name.text == "defer" }
        inner = fragments[index].selectionSet
      }
      if let directive = directives.first, let word = Self.delivering[directive.name.text] {
        report(
          .deferOnRoot, at: [directive.position],
          "\(word) directive cannot be used on root \(operation.kind.rawValue) type '\(name)'.")
      }
      pending.append(contentsOf: inner?.selections.reversed() ?? [])
    }
  }

  /// Reports `@defer` and `@stream` in a subscription, where they are not allowed.
  mutating func checkDeferInSubscription(_ operation: OperationDefinition) {
    guard operation.kind == .subscription else { return }
    var visited: Set<Int> = []
    checkDeferrable(operation.selectionSet, [], &visited)
  }

  /// - Parameter spreads: the positions of the spreads that led here, the innermost first.
  private mutating func checkDeferrable(
    _ set: SelectionSet, _ spreads: [Position], _ visited: inout Set<Int>
  ) {
    for selection in set.selections {
      let directives: [Directive] =
        switch selection {
        case .field(let field): field.directives
        case .inlineFragment(let inline): inline.directives
        case .fragmentSpread(let spread): spread.directives
        }
      if canBe(false, "include", directives) || canBe(true, "skip", directives) { continue }
      for directive in directives {
        let name = directive.name.text
        guard let word = Self.delivering[name], !canBe(false, name, directives) else { continue }
        report(
          .deferInSubscriptions, at: [directive.position] + spreads,
          "\(word) directive not supported on subscription operations."
            + " Disable `@\(name)` by setting the `if` argument to `false`.")
      }
      switch selection {
      case .field(let field):
        if let inner = field.selectionSet { checkDeferrable(inner, spreads, &visited) }
      case .inlineFragment(let inline): checkDeferrable(inline.selectionSet, spreads, &visited)
      case .fragmentSpread(let spread):
        guard let index = fragmentIndices[spread.name.text], visited.insert(index).inserted else {
          continue
        }
        checkDeferrable(fragments[index].selectionSet, [spread.position] + spreads, &visited)
      }
    }
  }

  /// Returns whether the condition of a directive is this value or a variable.
  private func canBe(_ value: Bool, _ name: String, _ directives: [Directive]) -> Bool {
    guard let directive = directives.first(where: { $0.name.text == name }),
      let condition = directive.arguments.first(where: { $0.name.text == "if" })?.value
    else { return false }
    switch condition.content {
    case .variable: return true
    case .boolean(let flag): return flag == value
    case .int, .float, .string, .null, .enum, .list, .object: return false
    }
  }
}
