import GraphQLLanguage
import GraphQLSchema

// A subscription has one root field, known without looking at variables.
//
// O(selections of the root, fragments included).
// GraphQL September 2026, 5.2.4.1 Single Root Field.
extension ValidationWalk {
  mutating func checkSingleField(_ operation: OperationDefinition) {
    guard operation.kind == .subscription, let root = schema.subscriptionType else { return }
    let collected = collectRootFields(of: operation, on: root)
    let subject =
      operation.name.map { "Subscription \"\($0.text)\"" } ?? "Anonymous Subscription"
    if !collected.forbidden.isEmpty {
      report(
        .singleFieldSubscriptions, at: collected.forbidden,
        "\(subject) must not use `@skip` or `@include` directives in the top level selection.")
      return
    }
    if collected.groups.isEmpty {
      report(
        .singleFieldSubscriptions, at: [operation.selectionSet.position],
        "\(subject) must select one top level field.")
    }
    if collected.groups.count > 1 {
      report(
        .singleFieldSubscriptions,
        at: collected.groups.dropFirst().flatMap { $0.map(\.position) },
        "\(subject) must select only one top level field.")
    }
    for group in collected.groups {
      guard let field = group.first, field.name.text.hasPrefix("__") else { continue }
      report(
        .singleFieldSubscriptions, at: group.map(\.position),
        "\(subject) must not select an introspection top level field.")
    }
  }

  private struct RootFields {
    var groups: [[Field]] = []
    var forbidden: [Position] = []
  }

  private func collectRootFields(
    of operation: OperationDefinition, on root: TypeID
  ) -> RootFields {
    var result = RootFields()
    var groupIndices: [String: Int] = [:]
    var visited: Set<Int> = []
    // Selections still to be read, next one last.
    var pending: [Selection] = operation.selectionSet.selections.reversed()

    func isForbidden(_ directives: [Directive]) -> Bool {
      for name in ["skip", "include"] {
        if let directive = directives.first(where: { $0.name.text == name }) {
          result.forbidden.append(directive.position)
          return true
        }
      }
      return false
    }
    func applies(_ condition: Name?) -> Bool {
      guard let condition else { return true }
      guard let id = schema.typesByName[condition.text] else { return false }
      return id == root
        || schema[id].isAbstract && schema.possibleTypes[Int(id.index)].contains(root)
    }

    while let selection = pending.popLast() {
      switch selection {
      case .field(let field):
        if isForbidden(field.directives) { continue }
        if let index = groupIndices[field.responseName] {
          result.groups[index].append(field)
        } else {
          groupIndices[field.responseName] = result.groups.count
          result.groups.append([field])
        }
      case .inlineFragment(let inline):
        if isForbidden(inline.directives) || !applies(inline.typeCondition) { continue }
        pending.append(contentsOf: inline.selectionSet.selections.reversed())
      case .fragmentSpread(let spread):
        let index = fragmentIndices[spread.name.text]
        if let index, visited.contains(index) { continue }
        if isForbidden(spread.directives) { continue }
        guard let index, applies(fragments[index].typeCondition) else { continue }
        visited.insert(index)
        pending.append(contentsOf: fragments[index].selectionSet.selections.reversed())
      }
    }
    return result
  }
}
