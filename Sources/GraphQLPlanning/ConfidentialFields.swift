import GraphQLLanguage
import GraphQLSchema

extension StorageMapping {
  /// Returns whether an operation selects a field with `@secret` or `@confidential`, so that its
  /// responses must not be compressed. O(document).
  ///
  /// Of an interface or union, the field of any of its types counts.
  package func isConfidential(
    _ operation: OperationDefinition, fragments: [String: FragmentDefinition]
  ) -> Bool {
    guard let root = schema.rootType(for: operation.kind) else { return false }
    var walker = ConfidentialFields(schema: schema, fragments: fragments)
    return walker.contains(operation.selectionSet, on: root)
  }
}

private struct ConfidentialFields {
  let schema: Schema
  let fragments: [String: FragmentDefinition]
  private var visited: Set<String> = []

  init(schema: Schema, fragments: [String: FragmentDefinition]) {
    self.schema = schema
    self.fragments = fragments
  }

  mutating func contains(_ set: SelectionSet, on type: TypeID) -> Bool {
    for selection in set.selections {
      if contains(selection, on: type) { return true }
    }
    return false
  }

  private mutating func contains(_ selection: Selection, on type: TypeID) -> Bool {
    switch selection {
    case .field(let field):
      guard let definition = schema[type].field(named: field.name.text) else { return false }
      if isConfidential(definition, of: type) { return true }
      guard let inner = field.selectionSet else { return false }
      return contains(inner, on: definition.type.namedType)
    case .inlineFragment(let inline):
      let condition = inline.typeCondition.flatMap { schema.typesByName[$0.text] }
      return contains(inline.selectionSet, on: condition ?? type)
    case .fragmentSpread(let spread):
      guard visited.insert(spread.name.text).inserted, let fragment = fragments[spread.name.text],
        let condition = schema.typesByName[fragment.typeCondition.text]
      else { return false }
      return contains(fragment.selectionSet, on: condition)
    }
  }

  private func isConfidential(_ definition: FieldDefinition, of type: TypeID) -> Bool {
    guard !Self.isMarked(definition) else { return true }
    guard case .interface = schema[type].kind else { return false }
    return schema.types.contains { object in
      object.interfaces.contains(type)
        && object.field(named: definition.name).map(Self.isMarked) == true
    }
  }

  private static func isMarked(_ definition: FieldDefinition) -> Bool {
    definition.appliedDirectives.contains {
      $0.name.text == "secret" || $0.name.text == "confidential"
    }
  }
}
