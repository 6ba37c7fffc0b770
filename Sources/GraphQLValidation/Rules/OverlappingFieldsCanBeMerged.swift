import GraphQLLanguage
import GraphQLSchema

/// A selection set the walk has passed, with the turn its findings have.
struct SelectionSetRecord {
  let set: SelectionSet
  let parent: TypeDefinition?
  let turn: Int
  /// Of an inline fragment: its fields are also those of the set around it.
  let isInline: Bool
  /// The fragment definition it lies in.
  let fragment: Int?
}

/// What comes of comparing fields with one response name.
enum MergeOutcome {
  case mergeable
  case conflict
  /// Deciding would take more work than allowed.
  case undecided
}

// Fields with one response name in one place must mean the same.
//
// Two steps. `FieldMerging` decides in time near the size of the document whether there is any
// conflict at all; a valid document pays for no more. Only when there is one does `FieldConflicts`
// compare fields pair by pair, in the order in which other engines do, to say where and why.
//
// GraphQL September 2025, 5.3.2 Field Selection Merging.
extension ValidationWalk {
  mutating func checkOverlappingFields() {
    let budget = limits.mergeComparisons ?? 500_000 + 8 * document.source.bytes.count
    var merging = FieldMerging(self, budget: budget)
    switch merging.check(selectionSets) {
    case .mergeable:
      return
    case .undecided:
      reportUndecidedMerge()
    case .conflict:
      var conflicts = FieldConflicts(self, maximumFindings: maximumErrors + 1)
      let found = errors.count
      for record in selectionSets {
        for conflict in conflicts.within(record) {
          report(
            .overlappingFieldsCanBeMerged, at: conflict.positions, turn: record.turn,
            conflict.message)
        }
        if errors.count - found > maximumErrors || conflicts.isExhausted { break }
      }
      // Too much to find it the way others do, or they would overlook it.
      if errors.count == found, let conflict = merging.conflict {
        report(
          .overlappingFieldsCanBeMerged, at: conflict.positions, turn: conflict.turn,
          conflict.message)
      }
    }
  }
}

/// Two fields that cannot be merged, worded.
struct MergeConflict {
  let responseName: String
  let reason: String
  let positions: [Position]
  var turn = 0

  var message: String {
    """
    Fields "\(responseName)" conflict because \(reason). Use different aliases on the fields \
    to fetch both if this was intentional.
    """
  }
}

/// A field where it stands: in a selection set of this type.
struct PlacedField {
  let field: Field
  let parent: TypeDefinition?
}

extension ValidationWalk {
  func definition(of placed: PlacedField) -> FieldDefinition? {
    placed.parent.flatMap { fieldDefinition(named: placed.field.name.text, on: $0) }
  }

  /// The type of the sets a field's selections are in.
  func selectionType(of definition: FieldDefinition?) -> TypeDefinition? {
    guard let definition else { return nil }
    let type = schema[definition.type.namedType]
    return type.isComposite ? type : nil
  }

  /// The type of an inline fragment's or fragment's selections.
  func conditionType(_ condition: Name?, in parent: TypeDefinition?) -> TypeDefinition? {
    guard let condition else { return parent }
    return schema.type(named: condition.text).flatMap { $0.isComposite ? $0 : nil }
  }

  /// Whether no value can have both shapes: lists and non-nulls must match, and leaf types be the
  /// same.
  func shapesConflict(_ left: TypeReference, _ right: TypeReference) -> Bool {
    switch (left, right) {
    case (.list(let left), .list(let right)): shapesConflict(left, right)
    case (.list, _), (_, .list): true
    case (.nonNull(let left), .nonNull(let right)): shapesConflict(left, right)
    case (.nonNull, _), (_, .nonNull): true
    case (.named(let left), .named(let right)):
      left != right && (schema[left].isLeaf || schema[right].isLeaf)
    }
  }

  /// What two fields of one name are asked for differently; nil where they are the same.
  func argumentDifference(_ left: Field, _ right: Field) -> String? {
    guard left !== right else { return nil }
    if !areSame(left.arguments, right.arguments) { return "they have differing arguments" }
    let (stream, other) = (left.stream, right.stream)
    if stream == nil, other == nil { return nil }
    guard let stream, let other, areSame(stream.arguments, other.arguments) else {
      return "they have differing stream directives"
    }
    return nil
  }

  /// In any order; fields of objects too.
  private func areSame(_ left: [Argument], _ right: [Argument]) -> Bool {
    guard left.count == right.count else { return false }
    return zip(sorted(left, \.name.text), sorted(right, \.name.text)).allSatisfy {
      $0.name.text == $1.name.text && areSame($0.value, $1.value)
    }
  }

  private func sorted<Item>(_ items: [Item], _ name: (Item) -> String) -> [Item] {
    guard items.count > 1 else { return items }
    return items.enumerated().sorted {
      (name($0.element), $0.offset) < (name($1.element), $1.offset)
    }.map(\.element)
  }

  private func areSame(_ left: Value, _ right: Value) -> Bool {
    switch (left.content, right.content) {
    case (.variable(let left), .variable(let right)): left == right
    case (.int(let left), .int(let right)): left == right
    case (.float(let left), .float(let right)): left == right
    case (.string(let left), .string(let right)):
      left.text.utf8.elementsEqual(right.text.utf8) && left.isBlock == right.isBlock
    case (.boolean(let left), .boolean(let right)): left == right
    case (.null, .null): true
    case (.enum(let left), .enum(let right)): left == right
    case (.list(let left), .list(let right)):
      left.count == right.count && zip(left, right).allSatisfy { areSame($0, $1) }
    case (.object(let left), .object(let right)):
      areSame(left, right)
    case (.variable, _), (.int, _), (.float, _), (.string, _), (.boolean, _), (.null, _),
      (.enum, _), (.list, _), (.object, _):
      false
    }
  }

  private func areSame(_ left: [ObjectField], _ right: [ObjectField]) -> Bool {
    guard left.count == right.count else { return false }
    return zip(sorted(left, \.name.text), sorted(right, \.name.text)).allSatisfy {
      $0.name.text == $1.name.text && areSame($0.value, $1.value)
    }
  }

  /// Why two fields that are both read cannot be merged, looking at them alone.
  func difference(_ left: PlacedField, _ right: PlacedField, isExclusive: Bool) -> String? {
    if !isExclusive {
      let (name, other) = (left.field.name.text, right.field.name.text)
      if name != other { return "\"\(name)\" and \"\(other)\" are different fields" }
      if let reason = argumentDifference(left.field, right.field) { return reason }
    }
    if let type = definition(of: left)?.type, let other = definition(of: right)?.type,
      shapesConflict(type, other)
    {
      return "they return conflicting types \"\(text(type))\" and \"\(text(other))\""
    }
    return nil
  }
}

extension TypeDefinition {
  /// Two different ones never describe the same value.
  var isObject: Bool { if case .object = kind { true } else { false } }
}

extension Field {
  /// Has the items of its list come later.
  fileprivate var stream: Directive? { directives.first { $0.name.text == "stream" } }

  /// Whether it can be merged with any field of its name and kind.
  var isPlain: Bool { arguments.isEmpty && stream == nil }
}
