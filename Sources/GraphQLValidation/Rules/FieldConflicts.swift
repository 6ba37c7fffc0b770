import GraphQLLanguage
import GraphQLSchema

/// Finds the fields that conflict and the reasons, pair by pair, in the order and words that other
/// engines share.
///
/// It runs only if there is a conflict, and within a budget of compared pairs. It compares every
/// selection set within itself, with each fragment that it spreads, and each of these fragments
/// with the others. For two fields with selections, it also compares those. It records the sets and
/// fragments that it has compared, so that no comparison is made twice.
struct FieldConflicts {
  /// A response name, with the reasons found in its subfields if it is not itself the conflict.
  private struct Finding {
    let responseName: String
    let reason: String
    let left: [Position]
    let right: [Position]
  }

  /// The fields of a selection set by response name, in order, and the fragments it spreads.
  private struct FieldMap {
    var names: [String] = []
    var fields: [String: [PlacedField]] = [:]
    var fragments: [Int] = []
  }

  private struct Pair: Hashable {
    let first: Int
    let second: Int
  }

  private let walk: ValidationWalk
  private var budget: Int
  /// The current nesting. Fragments can nest as deep as the document is long, but the stack is
  /// bounded.
  private var depth = 0
  private let maximumDepth: Int
  private let maximumFindings: Int

  private var maps: [FieldMap] = []
  private var mapsBySet: [Int32: Int] = [:]
  /// The compared pairs. The value is whether only exclusive parents were assumed, so that less was
  /// compared.
  private var comparedWithFragment: [Pair: Bool] = [:]
  private var comparedFragments: [Pair: Bool] = [:]

  init(_ walk: ValidationWalk, maximumFindings: Int) {
    self.walk = walk
    budget = walk.limits.conflictPairs
    maximumDepth = walk.limits.conflictDepth
    self.maximumFindings = maximumFindings
  }

  var isExhausted: Bool { budget < 0 }

  mutating func within(_ record: SelectionSetRecord) -> [MergeConflict] {
    let map = map(of: record.set, parent: record.parent)
    var findings: [Finding] = []
    for name in maps[map].names {
      guard let fields = maps[map].fields[name], fields.count > 1 else { continue }
      for index in fields.indices {
        for other in fields[(index + 1)...] {
          compare(fields[index], other, name, isExclusive: false, &findings)
          if isExhausted || findings.count >= maximumFindings { return conflicts(findings) }
        }
      }
    }
    let fragments = maps[map].fragments
    for (index, fragment) in fragments.enumerated() {
      compare(map, withFragment: fragment, isExclusive: false, &findings)
      for other in fragments[(index + 1)...] {
        compareFragments(fragment, other, isExclusive: false, &findings)
        if isExhausted || findings.count >= maximumFindings { return conflicts(findings) }
      }
    }
    return conflicts(findings)
  }

  private func conflicts(_ findings: [Finding]) -> [MergeConflict] {
    findings.map {
      MergeConflict(
        responseName: $0.responseName, reason: $0.reason, positions: $0.left + $0.right)
    }
  }

  // MARK: - Comparing

  private mutating func compare(
    _ map: Int, withFragment fragment: Int, isExclusive: Bool, _ findings: inout [Finding]
  ) {
    let pair = Pair(first: map, second: fragment)
    if let known = comparedWithFragment[pair], isExclusive || !known { return }
    comparedWithFragment[pair] = isExclusive
    let other = self.map(ofFragment: fragment)
    guard map != other, enter() else { return }
    defer { depth -= 1 }
    compareMaps(map, other, isExclusive: isExclusive, &findings)
    for inner in maps[other].fragments {
      compare(map, withFragment: inner, isExclusive: isExclusive, &findings)
    }
  }

  private mutating func compareFragments(
    _ first: Int, _ second: Int, isExclusive: Bool, _ findings: inout [Finding]
  ) {
    guard first != second else { return }
    let pair = Pair(first: min(first, second), second: max(first, second))
    if let known = comparedFragments[pair], isExclusive || !known { return }
    comparedFragments[pair] = isExclusive
    guard enter() else { return }
    defer { depth -= 1 }
    let left = map(ofFragment: first)
    let right = map(ofFragment: second)
    compareMaps(left, right, isExclusive: isExclusive, &findings)
    for inner in maps[right].fragments {
      compareFragments(first, inner, isExclusive: isExclusive, &findings)
    }
    for inner in maps[left].fragments {
      compareFragments(inner, second, isExclusive: isExclusive, &findings)
    }
  }

  private mutating func compareMaps(
    _ left: Int, _ right: Int, isExclusive: Bool, _ findings: inout [Finding]
  ) {
    for name in maps[left].names {
      guard let fields = maps[left].fields[name], let others = maps[right].fields[name] else {
        continue
      }
      for field in fields {
        for other in others {
          compare(field, other, name, isExclusive: isExclusive, &findings)
          if isExhausted { return }
        }
      }
    }
  }

  private mutating func compare(
    _ left: PlacedField, _ right: PlacedField, _ name: String, isExclusive: Bool,
    _ findings: inout [Finding]
  ) {
    budget -= 1
    let isExclusive = isExclusive || areExclusive(left.parent, right.parent)
    if let reason = walk.difference(left, right, isExclusive: isExclusive) {
      findings.append(
        Finding(
          responseName: name, reason: reason, left: [left.field.position],
          right: [right.field.position]))
      return
    }
    guard let set = left.field.selectionSet, let other = right.field.selectionSet, enter() else {
      return
    }
    defer { depth -= 1 }
    var inner: [Finding] = []
    compareSets(
      map(of: set, parent: walk.selectionType(of: walk.definition(of: left))),
      map(of: other, parent: walk.selectionType(of: walk.definition(of: right))),
      isExclusive: isExclusive, &inner)
    if inner.isEmpty { return }
    findings.append(
      Finding(
        responseName: name,
        reason: inner.map { "subfields \"\($0.responseName)\" conflict because \($0.reason)" }
          .joined(separator: " and "),
        left: [left.field.position] + inner.flatMap(\.left),
        right: [right.field.position] + inner.flatMap(\.right)))
  }

  private mutating func compareSets(
    _ left: Int, _ right: Int, isExclusive: Bool, _ findings: inout [Finding]
  ) {
    compareMaps(left, right, isExclusive: isExclusive, &findings)
    for fragment in maps[right].fragments {
      compare(left, withFragment: fragment, isExclusive: isExclusive, &findings)
    }
    for fragment in maps[left].fragments {
      compare(right, withFragment: fragment, isExclusive: isExclusive, &findings)
    }
    for fragment in maps[left].fragments {
      for other in maps[right].fragments {
        compareFragments(fragment, other, isExclusive: isExclusive, &findings)
      }
    }
  }

  private func areExclusive(_ left: TypeDefinition?, _ right: TypeDefinition?) -> Bool {
    guard let left, let right else { return false }
    return left.id != right.id && left.isObject && right.isObject
  }

  private mutating func enter() -> Bool {
    if isExhausted { return false }
    guard depth < maximumDepth else {
      budget = -1
      return false
    }
    depth += 1
    return true
  }

  // MARK: - Fields by response name

  private mutating func map(ofFragment index: Int) -> Int {
    let fragment = walk.fragments[index]
    return map(
      of: fragment.selectionSet, parent: walk.conditionType(fragment.typeCondition, in: nil))
  }

  private mutating func map(of set: SelectionSet, parent: TypeDefinition?) -> Int {
    if let known = mapsBySet[set.position.offset] { return known }
    var map = FieldMap()
    collect(set, parent, &map)
    maps.append(map)
    mapsBySet[set.position.offset] = maps.count - 1
    return maps.count - 1
  }

  private mutating func collect(
    _ set: SelectionSet, _ parent: TypeDefinition?, _ map: inout FieldMap
  ) {
    for selection in set.selections {
      switch selection {
      case .field(let field):
        let name = field.responseName
        if map.fields[name] == nil { map.names.append(name) }
        map.fields[name, default: []].append(PlacedField(field: field, parent: parent))
      case .inlineFragment(let inline):
        collect(inline.selectionSet, walk.conditionType(inline.typeCondition, in: parent), &map)
      case .fragmentSpread(let spread):
        if let index = walk.fragmentIndices[spread.name.text], !map.fragments.contains(index) {
          map.fragments.append(index)
        }
      }
    }
  }
}
