import GraphQLLanguage

/// The fragments of a document by number, and the fragments that each of them spreads.
///
/// The spreads of a fragment are collected on first use. It is a class, because rules use it while
/// they change other parts of the walk; it stays within one validation.
final class FragmentGraph {
  /// The numbers by name; the last of several with one name counts.
  let indices: [String: Int]
  let fragments: [FragmentDefinition]

  private var spreads: [[FragmentSpread]?]
  private var targets: [[Int]?]
  /// The number of the search that last visited each fragment.
  private var searched: [Int]
  private var search = 0

  init(_ document: Document) {
    var indices: [String: Int] = [:]
    var fragments: [FragmentDefinition] = []
    for definition in document.definitions {
      guard case .fragment(let fragment) = definition else { continue }
      if let index = indices[fragment.name.text] {
        fragments[index] = fragment
      } else {
        indices[fragment.name.text] = fragments.count
        fragments.append(fragment)
      }
    }
    self.indices = indices
    self.fragments = fragments
    spreads = Array(repeating: nil, count: fragments.count)
    targets = Array(repeating: nil, count: fragments.count)
    searched = Array(repeating: 0, count: fragments.count)
  }

  /// Returns the spreads within a fragment, each selection set's own before nested ones.
  func spreads(ofFragmentAt index: Int) -> [FragmentSpread] {
    if let known = spreads[index] { return known }
    let found = Self.spreads(in: fragments[index].selectionSet)
    spreads[index] = found
    return found
  }

  static func spreads(in set: SelectionSet) -> [FragmentSpread] {
    var found: [FragmentSpread] = []
    var sets = [set]
    while let next = sets.popLast() {
      for selection in next.selections {
        switch selection {
        case .fragmentSpread(let spread): found.append(spread)
        case .field(let field): if let inner = field.selectionSet { sets.append(inner) }
        case .inlineFragment(let inline): sets.append(inline.selectionSet)
        }
      }
    }
    return found
  }

  /// Returns the fragments that an operation reaches, in the order of other engines.
  func reached(from set: SelectionSet) -> [Int] {
    if fragments.isEmpty { return [] }
    var reached: [Int] = []
    reach(from: set) { reached.append($0) }
    return reached
  }

  /// Visits each fragment once; if the search continues, only fragments not yet found.
  func reach(from set: SelectionSet, continuing: Bool = false, _ visit: (Int) -> Void) {
    if !continuing { search += 1 }
    var pending = [targets(of: Self.spreads(in: set))]
    while let next = pending.popLast() {
      for index in next where searched[index] != search {
        searched[index] = search
        visit(index)
        let inner = targets(ofFragmentAt: index)
        if !inner.isEmpty { pending.append(inner) }
      }
    }
  }

  private func targets(ofFragmentAt index: Int) -> [Int] {
    if let known = targets[index] { return known }
    let found = targets(of: spreads(ofFragmentAt: index))
    targets[index] = found
    return found
  }

  private func targets(of spreads: [FragmentSpread]) -> [Int] {
    spreads.compactMap { indices[$0.name.text] }
  }
}
