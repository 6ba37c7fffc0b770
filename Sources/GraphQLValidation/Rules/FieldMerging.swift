import GraphQLLanguage
import GraphQLSchema

/// Decides whether all fields with one response name can be merged.
///
/// Instead of comparing every pair, fields that meet in one place are put into groups and compared
/// with the first of their group; what they select is then one merged set, and goes the same way:
///
///     { a { x } a { y } }    group a: { a, a }    merged set: { x } + { y }
///
/// Two questions are asked of a group, as in the specification: have all of them one shape, and are
/// those that can be read from one object the same field with the same arguments? The second is
/// asked of each object type on its own, together with the fields of abstract types, and of all at
/// once if there is at most one. A set that has been part of a larger one is not looked at again.
struct FieldMerging {
  private struct Contribution {
    let set: SelectionSet
    let parent: TypeDefinition?
  }

  private struct MergedSet {
    let contributions: [Contribution]
    let isShapeOnly: Bool
    let turn: Int
  }

  private let walk: ValidationWalk
  private var budget: Int
  private(set) var conflict: MergeConflict?

  private var pending: [MergedSet] = []
  private var seen: Set<[Int32]> = []
  private var covered: Set<Int32> = []
  private var entries: [PlacedField] = []
  private var visitedFragments: [Int]
  private var visit = 0

  init(_ walk: ValidationWalk, budget: Int) {
    self.walk = walk
    self.budget = budget
    visitedFragments = Array(repeating: 0, count: walk.fragments.count)
  }

  mutating func check(_ records: [SelectionSetRecord]) -> MergeOutcome {
    for record in records where !record.isInline {
      if isTrivial(record.set) || covered.contains(record.set.position.offset) { continue }
      pending.append(
        MergedSet(
          contributions: [Contribution(set: record.set, parent: record.parent)],
          isShapeOnly: false, turn: record.turn))
      while let set = pending.popLast() {
        collect(set)
        if budget < 0 { return .undecided }
        group(set)
        if conflict != nil { return .conflict }
      }
    }
    return .mergeable
  }

  /// Nothing to compare, or nothing that is not compared elsewhere.
  private func isTrivial(_ set: SelectionSet) -> Bool {
    let selections = set.selections
    if selections.count == 1 {
      if case .inlineFragment = selections[0] { return false }
      return true
    }
    // Few fields, no fragments and no two names the same.
    if selections.count > 12 { return false }
    for index in selections.indices {
      guard case .field(let field) = selections[index] else { return false }
      let name = field.responseName
      for earlier in selections[..<index] {
        if case .field(let other) = earlier, other.responseName == name { return false }
      }
    }
    return true
  }

  /// Writes out the fields of a set, inline fragments and spreads resolved, each fragment once.
  private mutating func collect(_ merged: MergedSet) {
    entries.removeAll(keepingCapacity: true)
    visit += 1
    var open = merged.contributions
    while let next = open.popLast() {
      if !merged.isShapeOnly { covered.insert(next.set.position.offset) }
      budget -= next.set.selections.count
      if budget < 0 { return }
      for selection in next.set.selections {
        switch selection {
        case .field(let field):
          entries.append(PlacedField(field: field, parent: next.parent))
        case .inlineFragment(let inline):
          open.append(
            Contribution(
              set: inline.selectionSet,
              parent: walk.conditionType(inline.typeCondition, in: next.parent)))
        case .fragmentSpread(let spread):
          guard let index = walk.fragmentIndices[spread.name.text],
            visitedFragments[index] != visit
          else { continue }
          visitedFragments[index] = visit
          let fragment = walk.fragments[index]
          open.append(
            Contribution(
              set: fragment.selectionSet,
              parent: walk.conditionType(fragment.typeCondition, in: nil)))
        }
      }
    }
  }

  private mutating func group(_ merged: MergedSet) {
    guard entries.count > 1 else { return }
    var firsts: [String: Int] = [:]
    firsts.reserveCapacity(entries.count)
    var groups: [Int: [PlacedField]] = [:]
    for (index, entry) in entries.enumerated() {
      let name = entry.field.responseName
      guard let first = firsts[name] else {
        firsts[name] = index
        continue
      }
      groups[first, default: [entries[first]]].append(entry)
    }
    for (_, group) in groups.sorted(by: { $0.key < $1.key }) {
      check(group, in: merged)
      if conflict != nil { return }
    }
  }

  private mutating func check(_ group: [PlacedField], in merged: MergedSet) {
    let objects = merged.isShapeOnly ? [] : Set(group.compactMap(\.objectType))
    compare(group, isShapeOnly: merged.isShapeOnly || objects.count > 1, in: merged)
    guard objects.count > 1, conflict == nil else { return }
    let abstract = group.filter { $0.objectType == nil }
    var byObject: [TypeID: [PlacedField]] = [:]
    for placed in group {
      if let object = placed.objectType { byObject[object, default: []].append(placed) }
    }
    for (_, members) in byObject where conflict == nil {
      budget -= abstract.count
      if budget < 0 { return }
      if members.count + abstract.count > 1 {
        compare(members + abstract, isShapeOnly: false, in: merged)
      }
    }
  }

  /// All with the first, which is enough: what they must agree in is an equivalence.
  private mutating func compare(_ group: [PlacedField], isShapeOnly: Bool, in merged: MergedSet) {
    guard let first = group.first else { return }
    // A field whose definition is unknown has no shape to compare.
    var shaped = first
    if walk.definition(of: first) == nil {
      shaped = group.first { walk.definition(of: $0) != nil } ?? first
    }
    var contributions: [Contribution] = []
    for placed in group {
      if placed.field !== first.field || placed.parent?.id != first.parent?.id {
        if let reason = walk.difference(first, placed, isExclusive: isShapeOnly)
          ?? walk.difference(shaped, placed, isExclusive: true)
        {
          conflict = MergeConflict(
            responseName: first.field.responseName, reason: reason,
            positions: [first.field.position, placed.field.position], turn: merged.turn)
          return
        }
      }
      if let set = placed.field.selectionSet {
        let type = walk.selectionType(of: walk.definition(of: placed))
        contributions.append(Contribution(set: set, parent: type))
      }
    }
    guard contributions.count > 1 else { return }
    var key = contributions.map(\.set.position.offset).sorted()
    key.append(isShapeOnly ? -1 : -2)
    guard seen.insert(key).inserted else { return }
    pending.append(
      MergedSet(contributions: contributions, isShapeOnly: isShapeOnly, turn: merged.turn))
  }
}

extension PlacedField {
  fileprivate var objectType: TypeID? { parent.flatMap { $0.isObject ? $0.id : nil } }
}
