import GraphQLLanguage
import GraphQLSchema

// The rules for fragment definitions and spreads, cycles apart.
extension ValidationWalk {
  /// Reports a fragment on a leaf or input type (GraphQL September 2025, 5.5.1.3 Fragments on
  /// Object, Interface or Union Types).
  mutating func checkComposite(_ fragment: FragmentDefinition, _ type: TypeDefinition?) {
    guard let type, !type.isComposite else { return }
    let condition = fragment.typeCondition
    report(
      .fragmentsOnCompositeTypes, at: [condition.position],
      """
      Fragment "\(fragment.name.text)" cannot condition on non composite type \
      "\(condition.text)".
      """)
  }

  /// Reports repeated fragment names (GraphQL September 2025, 5.5.1.1 Fragment Name Uniqueness).
  mutating func checkUniqueName(of fragment: FragmentDefinition) {
    if let first = fragmentNames[fragment.name.text] {
      report(
        .uniqueFragmentNames, at: [first.position, fragment.name.position],
        "There can be only one fragment named \"\(fragment.name.text)\".")
    } else {
      fragmentNames[fragment.name.text] = fragment.name
    }
  }

  /// Reports unused fragments (GraphQL September 2025, 5.5.1.4 Fragments Must Be Used).
  mutating func checkUnusedFragments() {
    guard rules.contains(.noUnusedFragments), !fragments.isEmpty else { return }
    var isUsed = [Bool](repeating: false, count: fragments.count)
    for (index, operation) in document.operations.enumerated() {
      graph.reach(from: operation.selectionSet, continuing: index > 0) { isUsed[$0] = true }
    }
    for definition in document.definitions {
      guard case .fragment(let fragment) = definition,
        let index = fragmentIndices[fragment.name.text], !isUsed[index]
      else { continue }
      report(
        .noUnusedFragments, at: [fragment.description?.position ?? fragment.position],
        "Fragment \"\(fragment.name.text)\" is never used.")
    }
  }

  /// Reports a spread whose type cannot apply (GraphQL September 2025, 5.5.2.3 Fragment Spread Is
  /// Possible).
  mutating func checkPossible(
    _ spread: FragmentSpread, _ fragment: FragmentDefinition, _ parent: TypeDefinition
  ) {
    guard let type = schema.type(named: fragment.typeCondition.text), type.isComposite,
      !overlap(type, parent)
    else { return }
    report(
      .possibleFragmentSpreads, at: [spread.position],
      """
      Fragment "\(spread.name.text)" cannot be spread here as objects of type \
      "\(parent.name)" can never be of type "\(type.name)".
      """)
  }

  mutating func checkPossible(
    _ inline: InlineFragment, _ type: TypeDefinition, _ parent: TypeDefinition
  ) {
    guard !overlap(type, parent) else { return }
    report(
      .possibleFragmentSpreads, at: [inline.position],
      """
      Fragment cannot be spread here as objects of type "\(parent.name)" can never be of \
      type "\(type.name)".
      """)
  }
}
