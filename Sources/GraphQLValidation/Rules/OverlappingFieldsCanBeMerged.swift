import GraphQLLanguage
import GraphQLSchema

/// A selection set that the walk has visited, with the place of its findings in the report.
struct SelectionSetRecord {
  let set: SelectionSet
  let parent: TypeDefinition?
  let turn: Int
  /// Whether it belongs to an inline fragment, whose fields are also those of the set around it.
  let isInline: Bool
  /// The number of the fragment definition that contains the set.
  let fragment: Int?
}

/// The result of comparing fields with one response name.
enum MergeOutcome {
  case mergeable
  case conflict
  /// The comparison would exceed the limit.
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

/// Two fields that cannot be merged, with a message.
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

/// A field with the type of its selection set.
struct PlacedField {
  let field: Field
  let parent: TypeDefinition?
}

extension ValidationWalk {
  func definition(of placed: PlacedField) -> FieldDefinition? {
    placed.parent.flatMap { fieldDefinition(named: placed.field.name.text, on: $0) }
  }

  /// Returns the type of the sets that a field selects.
  func selectionType(of definition: FieldDefinition?) -> TypeDefinition? {
    guard let definition else { return nil }
    let type = schema[definition.type.namedType]
    return type.isComposite ? type : nil
  }

  /// Returns the type of an inline fragment's or fragment's selections.
  func conditionType(_ condition: Name?, in parent: TypeDefinition?) -> TypeDefinition? {
    guard let condition else { return parent }
    return schema.type(named: condition.text).flatMap { $0.isComposite ? $0 : nil }
  }

  /// Returns whether no value can have both shapes: lists and non-nulls must match, and leaf types
  /// be the same.
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

  /// Returns the difference between the arguments of two fields with one name; nil if they are
  /// equal.
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

  /// Returns whether arguments are equal in any order, including the fields of objects.
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

  /// Returns the reason why two fields that are both read cannot be merged, without their
  /// selections.
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
  /// Whether the type is an object type. A value never has two different object types.
  var isObject: Bool { if case .object = kind { true } else { false } }
}

extension Field {
  /// The `@stream` directive of the field, if it has one.
  fileprivate var stream: Directive? { directives.first { $0.name.text == "stream" } }

  /// Whether the field can be merged with any field of its name and kind.
  var isPlain: Bool { arguments.isEmpty && stream == nil }
}
