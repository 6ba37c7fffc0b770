import GraphQLLanguage

// Fragments may not reach themselves through what they spread.
//
// One depth-first search over all fragments, each entered once, with its own stack: how deep
// fragments lie in each other is up to the document.
// GraphQL September 2025, 5.5.2.2 Fragment Spreads Must Not Form Cycles.
extension ValidationWalk {
  private struct Step {
    let name: String
    let spreads: [FragmentSpread]
    var next = 0
  }

  mutating func checkCycles(from fragment: FragmentDefinition) {
    guard fragmentsSearchedForCycles.insert(fragment.name.text).inserted else { return }
    let spreads = FragmentGraph.spreads(in: fragment.selectionSet)
    if spreads.isEmpty { return }
    var steps = [Step(name: fragment.name.text, spreads: spreads)]
    // The spreads that lead from the first fragment to the present one, and where in them each
    // fragment on that way was entered.
    var path: [FragmentSpread] = []
    var entered = [fragment.name.text: 0]

    while let step = steps.last {
      guard step.next < step.spreads.count else {
        entered[step.name] = nil
        steps.removeLast()
        if !path.isEmpty { path.removeLast() }
        continue
      }
      steps[steps.count - 1].next += 1
      let spread = step.spreads[step.next]
      let name = spread.name.text
      if let start = entered[name] {
        reportCycle(path[start...] + [spread])
        if rules.contains(.noFragmentCycles) { continue } else { return }
      }
      guard let index = fragmentIndices[name], fragmentsSearchedForCycles.insert(name).inserted
      else { continue }
      let inner = graph.spreads(ofFragmentAt: index)
      if inner.isEmpty { continue }
      path.append(spread)
      entered[name] = path.count
      steps.append(Step(name: name, spreads: inner))
    }
  }

  private mutating func reportCycle(_ path: ArraySlice<FragmentSpread>) {
    guard let spread = path.last else { return }
    let via = path.dropLast().map { "\"\($0.name.text)\"" }.joined(separator: ", ")
    report(
      .noFragmentCycles, at: path.map(\.position),
      "Cannot spread fragment \"\(spread.name.text)\" within itself"
        + (via.isEmpty ? "." : " via \(via)."))
  }
}
