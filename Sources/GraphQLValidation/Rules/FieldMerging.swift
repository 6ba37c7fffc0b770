import GraphQLLanguage
import GraphQLSchema

/// Decides whether all fields with one response name can be merged.
///
/// Instead of comparing every pair, it groups fields that merge, and compares each with the first
/// of its group. Their selections are one merged set, which is treated the same way:
///
///     { a { x } a { y } }    group a: { a, a }    merged set: { x } + { y }
///
/// As in the specification, a group is checked twice: all fields must have the same shape, and
/// those that can be read from one object must be the same field with the same arguments. The
/// second check is made for each object type, together with the fields of abstract types, or once
/// for all if there is at most one. A set that was part of a larger one is not checked again, and
/// fragments that are spread together several times are expanded once.
///
/// Fields, names and selection sets are numbers here; a set is read when it is first needed.
struct FieldMerging {
  private struct Entry {
    let field: Field
    let parent: TypeDefinition?
    let name: Int
    /// The type of `parent` if that is an object type.
    let object: Int32?
    var definition: FieldDefinition?
    var set: Int?
    var isResolved = false
  }

  /// The fields of a selection set, including its inline fragments but not its spreads.
  private struct SetFields {
    let entries: Range<Int>
    let fragments: [Int]
  }

  private struct FieldMeaning: Hashable {
    let responseName: Int
    let field: Int
    let parent: TypeID?
    let set: Int?
  }

  private struct SetMeaning: Hashable {
    let fields: Set<Int>
    let fragments: Set<Int>
  }

  private struct MergedSet {
    let sets: [Int]
    let isShapeOnly: Bool
  }

  private let walk: ValidationWalk
  private var budget: Int
  private(set) var conflict: MergeConflict?

  private var names: [String: Int] = [:]
  private var entries: [Entry] = []
  private var sets: [SetFields] = []
  private var setsByOffset: [Int32: Int] = [:]
  private var setsOfFragments: [Int?]

  private var pending: [MergedSet] = []
  private var seen: Set<MergeKey> = []
  private var covered: [Bool] = []
  /// The fields of fragments spread together, in the order of their names.
  private var spreads: [MergeKey: [Int]] = [:]

  private var fieldMeanings: [FieldMeaning: Int] = [:]
  private var setMeanings: [SetMeaning: Int] = [:]
  private var meaningsOfSets: [Int: Int] = [:]

  // What is valid for one merged set only, marked with its number.
  private var visit = 0
  private var visitedFragments: [Int]
  private var visitedNames: [Int] = []
  private var placesByName: [Int] = []

  init(_ walk: ValidationWalk, budget: Int) {
    self.walk = walk
    self.budget = budget
    setsOfFragments = Array(repeating: nil, count: walk.fragments.count)
    visitedFragments = Array(repeating: 0, count: walk.fragments.count)
  }

  /// Checks all sets: operations first, then fragments that none spreads. Their nested sets need
  /// not be checked separately.
  mutating func check(_ records: [SelectionSetRecord]) -> MergeOutcome {
    let relevant = records.filter { !$0.isInline && !isTrivial($0.set) }
    if relevant.isEmpty { return .mergeable }
    let later = relevant.filter { $0.fragment != nil }
    var isSpread = [Bool](repeating: false, count: walk.fragments.count)
    for record in relevant where record.fragment == nil { check(record, &isSpread) }
    for record in later { noteSpreads(of: record.set, &isSpread) }
    for wanted in [false, true] {
      for record in later where record.fragment.map({ isSpread[$0] }) == wanted {
        check(record, &isSpread)
      }
    }
    if conflict != nil { return .conflict }
    return budget < 0 ? .undecided : .mergeable
  }

  private mutating func check(_ record: SelectionSetRecord, _ isSpread: inout [Bool]) {
    guard conflict == nil, budget >= 0 else { return }
    let set = self.set(record.set, parent: record.parent)
    if covered[set] { return }
    covered[set] = true
    if sets[set].fragments.isEmpty {
      check(groups(of: Array(sets[set].entries)), isShapeOnly: false)
    } else {
      check(setWithSpreads: set)
    }
    while conflict == nil, budget >= 0, let merged = pending.popLast() {
      check(groups(of: fields(of: merged)), isShapeOnly: merged.isShapeOnly)
    }
    if conflict != nil { conflict?.turn = record.turn }
  }

  /// Returns whether a set cannot conflict: it has few fields with different names, or only one
  /// fragment that is as simple.
  private func isTrivial(_ set: SelectionSet) -> Bool {
    let selections = set.selections
    if selections.count == 1, case .fragmentSpread(let spread) = selections[0] {
      guard let index = walk.fragmentIndices[spread.name.text] else { return true }
      return Self.isTrivial(walk.fragments[index].selectionSet.selections)
    }
    return Self.isTrivial(selections)
  }

  private static func isTrivial(_ selections: [Selection]) -> Bool {
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

  private func noteSpreads(of set: SelectionSet, _ isSpread: inout [Bool]) {
    for selection in set.selections {
      if case .fragmentSpread(let spread) = selection,
        let index = walk.fragmentIndices[spread.name.text]
      {
        isSpread[index] = true
      }
    }
  }

  // MARK: - Reading sets

  private mutating func set(_ set: SelectionSet, parent: TypeDefinition?) -> Int {
    if let known = setsByOffset[set.position.offset] { return known }
    let start = entries.count
    var fragments: [Int] = []
    // Inline fragments behind the fields around them: order does not matter here.
    var open = [(set: set, parent: parent)]
    while let next = open.popLast() {
      for selection in next.set.selections {
        switch selection {
        case .field(let field):
          append(field, next.parent)
        case .inlineFragment(let inline):
          open.append(
            (inline.selectionSet, walk.conditionType(inline.typeCondition, in: next.parent)))
        case .fragmentSpread(let spread):
          if let index = walk.fragmentIndices[spread.name.text] { fragments.append(index) }
        }
      }
    }
    sets.append(SetFields(entries: start..<entries.count, fragments: fragments))
    covered.append(false)
    setsByOffset[set.position.offset] = sets.count - 1
    return sets.count - 1
  }

  private mutating func number(ofName text: String) -> Int {
    let name = names[text] ?? names.count
    if name == names.count {
      names[text] = name
      visitedNames.append(0)
      placesByName.append(0)
    }
    return name
  }

  private mutating func append(_ field: Field, _ parent: TypeDefinition?) {
    let name = number(ofName: field.responseName)
    let object = parent.flatMap { $0.isObject ? $0.id.index : nil }
    entries.append(Entry(field: field, parent: parent, name: name, object: object))
  }

  private mutating func set(ofFragment index: Int) -> Int {
    if let known = setsOfFragments[index] { return known }
    let fragment = walk.fragments[index]
    let set = set(
      fragment.selectionSet, parent: walk.conditionType(fragment.typeCondition, in: nil))
    setsOfFragments[index] = set
    return set
  }

  /// Resolves the definition of a field and the set that it selects.
  private mutating func resolve(_ entry: Int) {
    if entries[entry].isResolved { return }
    entries[entry].isResolved = true
    let field = entries[entry].field
    let definition = entries[entry].parent.flatMap {
      walk.fieldDefinition(named: field.name.text, on: $0)
    }
    entries[entry].definition = definition
    if let set = field.selectionSet {
      entries[entry].set = self.set(set, parent: walk.selectionType(of: definition))
    }
  }

  // MARK: - Bringing fields together

  /// Returns the fields of several sets with their spreads expanded, each fragment once.
  private mutating func fields(of merged: MergedSet) -> [Int] {
    visit += 1
    var fields: [Int] = []
    var open = merged.sets
    while let next = open.popLast() {
      if !merged.isShapeOnly { covered[next] = true }
      budget -= sets[next].entries.count + sets[next].fragments.count + 1
      if budget < 0 { return [] }
      fields.append(contentsOf: sets[next].entries)
      for fragment in sets[next].fragments where visitedFragments[fragment] != visit {
        visitedFragments[fragment] = visit
        open.append(set(ofFragment: fragment))
      }
    }
    return fields
  }

  /// Returns the lists of fields with one name, if there are several.
  private mutating func groups(of fields: [Int]) -> [[Int]] {
    if fields.count < 2 { return [] }
    visit += 1
    var groups: [[Int]] = []
    for entry in fields {
      let name = entries[entry].name
      if visitedNames[name] != visit {
        visitedNames[name] = visit
        // The first of a name, until there is a second.
        placesByName[name] = -1 - entry
      } else if placesByName[name] < 0 {
        groups.append([-1 - placesByName[name], entry])
        placesByName[name] = groups.count - 1
      } else {
        groups[placesByName[name]].append(entry)
      }
    }
    return groups
  }

  /// Checks a set's own fields against those of the fragments that it spreads. The fragments are
  /// compared with each other once, however many sets spread them.
  private mutating func check(setWithSpreads set: Int) {
    let fragments = sets[set].fragments
    let own = Array(sets[set].entries)
    if own.isEmpty, fragments.count == 1, let only = fragments.first {
      if covered[self.set(ofFragment: only)] { return }
    }
    let key = MergeKey(fragments, 0)
    let spread: [Int]
    if let known = spreads[key] {
      spread = known
    } else {
      let targets = Set(fragments).map { self.set(ofFragment: $0) }
      let fields = fields(of: MergedSet(sets: targets, isShapeOnly: false))
      check(groups(of: fields), isShapeOnly: false)
      spread = fields.sorted { entries[$0].name < entries[$1].name }
      spreads[key] = spread
    }
    if own.isEmpty || conflict != nil || budget < 0 { return }
    budget -= own.count
    var groups: [[Int]] = []
    for (name, members) in byName(own) {
      let others = spread[range(of: name, in: spread)]
      budget -= others.count
      if budget < 0 { return }
      if members.count + others.count > 1 { groups.append(members + others) }
    }
    check(groups, isShapeOnly: false)
  }

  private mutating func byName(_ fields: [Int]) -> [(name: Int, members: [Int])] {
    visit += 1
    var lists: [(name: Int, members: [Int])] = []
    for entry in fields {
      let name = entries[entry].name
      if visitedNames[name] != visit {
        visitedNames[name] = visit
        placesByName[name] = lists.count
        lists.append((name, [entry]))
      } else {
        lists[placesByName[name]].members.append(entry)
      }
    }
    return lists
  }

  /// Returns the range of a name in a list ordered by names.
  private func range(of name: Int, in list: [Int]) -> Range<Int> {
    func firstIndex(where isBeyond: (Int) -> Bool) -> Int {
      var (low, high) = (0, list.count)
      while low < high {
        let middle = low + (high - low) / 2
        if isBeyond(entries[list[middle]].name) { high = middle } else { low = middle + 1 }
      }
      return low
    }
    return firstIndex { $0 >= name }..<firstIndex { $0 > name }
  }

  // MARK: - Comparing

  private mutating func check(_ groups: [[Int]], isShapeOnly: Bool) {
    for group in groups where conflict == nil && budget >= 0 {
      check(group, isShapeOnly: isShapeOnly)
    }
  }

  private mutating func check(_ group: [Int], isShapeOnly: Bool) {
    guard !isShapeOnly, hasSeveralObjects(group) else {
      return compare(group, isShapeOnly: isShapeOnly)
    }
    compare(group, isShapeOnly: true)
    var group = group
    // Each object type meets the fields of all abstract ones: those that say the same again need not.
    if group.count > 16 { group = distinct(group) }
    let abstract = group.filter { entries[$0].object == nil }
    var byObject: [Int32: [Int]] = [:]
    for entry in group {
      if let object = entries[entry].object { byObject[object, default: abstract].append(entry) }
    }
    for members in byObject.values where conflict == nil && members.count > 1 {
      budget -= members.count
      if budget < 0 { return }
      compare(members, isShapeOnly: false)
    }
  }

  private static func number<Key: Hashable>(of key: Key, in numbers: inout [Key: Int]) -> Int {
    if let known = numbers[key] { return known }
    numbers[key] = numbers.count
    return numbers.count - 1
  }

  // MARK: - Telling what says the same again

  /// Returns the fields of a group without redundant ones.
  private mutating func distinct(_ group: [Int]) -> [Int] {
    var known: Set<Int> = []
    return group.filter { known.insert(meaning(ofEntry: $0)).inserted }
  }

  /// Returns a number that two fields share only if merging with one of them means merging with the
  /// other.
  ///
  /// It is recursive, as deep as the document; each set is visited once.
  private mutating func meaning(ofEntry entry: Int) -> Int {
    resolve(entry)
    let field = entries[entry].field
    let set = entries[entry].set.map { meaning(ofSet: $0) }
    let key = FieldMeaning(
      responseName: entries[entry].name,
      // Comparing arguments would cost more than it brings: each field with some is one of its own.
      field: field.isPlain ? number(ofName: field.name.text) : -1 - entry,
      parent: entries[entry].parent?.id, set: set)
    return Self.number(of: key, in: &fieldMeanings)
  }

  private mutating func meaning(ofSet set: Int) -> Int {
    if let known = meaningsOfSets[set] { return known }
    budget -= sets[set].entries.count
    let fields = Set(sets[set].entries.map { meaning(ofEntry: $0) })
    let key = SetMeaning(fields: fields, fragments: Set(sets[set].fragments))
    let result = Self.number(of: key, in: &setMeanings)
    meaningsOfSets[set] = result
    return result
  }

  private func hasSeveralObjects(_ group: [Int]) -> Bool {
    var first: Int32?
    for entry in group {
      guard let object = entries[entry].object else { continue }
      if let first, first != object { return true }
      first = object
    }
    return false
  }

  /// Compares all fields with the first, which suffices because the relation is an equivalence.
  private mutating func compare(_ group: [Int], isShapeOnly: Bool) {
    for entry in group { resolve(entry) }
    guard let first = group.first else { return }
    // A field whose definition is unknown has no shape to compare.
    let shaped = group.first { entries[$0].definition != nil } ?? first
    var merged: [Int] = []
    for entry in group {
      if entry != first, !isShapeOnly, let reason = difference(first, entry) {
        return note(reason, first, entry)
      }
      if entry != shaped, let reason = shapeDifference(shaped, entry) {
        return note(reason, shaped, entry)
      }
      if let set = entries[entry].set { merged.append(set) }
    }
    if merged.count > 1, seen.insert(MergeKey(merged, isShapeOnly ? 1 : 2)).inserted {
      pending.append(MergedSet(sets: merged, isShapeOnly: isShapeOnly))
    }
  }

  private func difference(_ left: Int, _ right: Int) -> String? {
    let (field, other) = (entries[left].field, entries[right].field)
    if field.name.text != other.name.text {
      return "\"\(field.name.text)\" and \"\(other.name.text)\" are different fields"
    }
    return field.isPlain && other.isPlain ? nil : walk.argumentDifference(field, other)
  }

  private func shapeDifference(_ left: Int, _ right: Int) -> String? {
    guard let definition = entries[left].definition, let other = entries[right].definition,
      definition !== other, walk.shapesConflict(definition.type, other.type)
    else { return nil }
    return """
      they return conflicting types "\(walk.text(definition.type))" and \
      "\(walk.text(other.type))"
      """
  }

  private mutating func note(_ reason: String, _ left: Int, _ right: Int) {
    let field = entries[left].field
    conflict = MergeConflict(
      responseName: field.responseName, reason: reason,
      positions: [field.position, entries[right].field.position])
  }
}

/// A hash of a set of numbers, in any order. Two different sets collide with a probability of 1 in
/// 2^128, even if a client chooses them, because each process has its own random seed.
private struct MergeKey: Hashable {
  private let first: UInt64
  private let second: UInt64

  private static let seeds = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))

  init(_ numbers: [Int], _ kind: Int) {
    var sums = (UInt64(bitPattern: Int64(kind)), UInt64(bitPattern: Int64(numbers.count)))
    for number in numbers {
      let bits = UInt64(bitPattern: Int64(number))
      sums.0 &+= Self.mixed(bits ^ Self.seeds.0)
      sums.1 &+= Self.mixed(bits ^ Self.seeds.1)
    }
    (first, second) = sums
  }

  /// Returns the bits mixed by the finalizer of SplitMix64.
  private static func mixed(_ bits: UInt64) -> UInt64 {
    var bits = bits &+ 0x9E37_79B9_7F4A_7C15
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }
}
