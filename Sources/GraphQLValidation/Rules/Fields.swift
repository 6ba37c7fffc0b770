import GraphQLLanguage
import GraphQLSchema

// The rules for single fields; their merging is `OverlappingFieldsCanBeMerged`.
extension ValidationWalk {
  /// Reports selections on leaf fields, and composite fields without (GraphQL September 2025, 5.3.3
  /// Leaf Field Selections).
  mutating func checkLeaf(_ field: Field, _ definition: FieldDefinition) {
    let isLeaf = schema[definition.type.namedType].isLeaf
    if isLeaf, let set = field.selectionSet {
      report(
        .scalarLeafs, at: [set.position],
        """
        Field "\(field.name.text)" must not have a selection since type \
        "\(text(definition.type))" has no subfields.
        """)
    } else if !isLeaf, field.selectionSet == nil {
      let name = field.name.text
      report(
        .scalarLeafs, at: [field.position],
        """
        Field "\(name)" of type "\(text(definition.type))" must have a selection of \
        subfields.\(suggests ? " Did you mean \"\(name) { ... }\"?" : "")
        """)
    }
  }

  /// Reports a field that the type does not have (GraphQL September 2025, 5.3.1 Field Selections).
  mutating func reportUnknown(_ field: Field, on parent: TypeDefinition) {
    let name = field.name.text
    var suggestion = ""
    if suggests {
      suggestion = Suggestions.phrase(
        typesWithField(named: name, of: parent), subject: "to use an inline fragment on")
      if suggestion.isEmpty {
        suggestion = didYouMean(name, among: parent.fields.map(\.name))
      }
    }
    report(
      .fieldsOnCorrectType, at: [field.position],
      "Cannot query field \"\(name)\" on type \"\(parent.name)\".\(suggestion)")
  }

  /// Returns the possible types of an abstract type, and their interfaces, that have the field: the
  /// most used first, supertypes before subtypes.
  private func typesWithField(named name: String, of parent: TypeDefinition) -> [String] {
    guard parent.isAbstract else { return [] }
    var uses: [TypeID: Int] = [:]
    var found: [TypeID] = []
    func note(_ id: TypeID) {
      if uses[id] == nil { found.append(id) }
      uses[id, default: 0] += 1
    }
    for id in schema.possibleTypes[Int(parent.id.index)] {
      guard schema[id].field(named: name) != nil else { continue }
      note(id)
      for interface in schema[id].interfaces where schema[interface].field(named: name) != nil {
        note(interface)
      }
    }
    func isSubtype(_ id: TypeID, of other: TypeID) -> Bool {
      schema[id].interfaces.contains(other)
    }
    func precedes(_ left: TypeID, _ right: TypeID) -> Bool {
      let (leftUses, rightUses) = (uses[left, default: 0], uses[right, default: 0])
      if leftUses != rightUses { return leftUses > rightUses }
      if isSubtype(right, of: left) { return true }
      if isSubtype(left, of: right) { return false }
      return naturalOrder(schema[left].name, schema[right].name) < 0
    }
    return Self.sorted(found, by: precedes).map { schema[$0].name }
  }

  /// Sorts types as other engines do: a run from the start, then insertion one by one.
  ///
  /// Supertypes before subtypes and the rest by name is not a consistent order, so the result
  /// depends on the algorithm.
  private static func sorted(
    _ ids: [TypeID], by precedes: (TypeID, TypeID) -> Bool
  ) -> [TypeID] {
    guard ids.count > 1 else { return ids }
    var sorted = [ids[0], ids[1]]
    let isDescending = precedes(ids[1], ids[0])
    var next = 2
    while next < ids.count, precedes(ids[next], ids[next - 1]) == isDescending {
      sorted.append(ids[next])
      next += 1
    }
    if isDescending { sorted.reverse() }
    for id in ids[next...] {
      var (low, high) = (0, sorted.count)
      while low < high {
        let middle = low + (high - low) / 2
        if precedes(id, sorted[middle]) { high = middle } else { low = middle + 1 }
      }
      sorted.insert(id, at: low)
    }
    return sorted
  }
}
