/// An operation without arguments that a schema can answer, to try a server that has just started.
package struct ExampleOperation {
  package let schema: Schema

  package init(_ schema: Schema) { self.schema = schema }

  /// The operation: the first field of the query type that needs no arguments, preferably a list or
  /// a page, with the first leaves of its type. It has neither quotes nor line breaks.
  package var text: String {
    guard let root = schema.queryType else { return "{ __typename }" }
    var calls: [(text: String, isList: Bool)] = []
    for field in schema[root].fields where isFree(field) {
      guard let selection = selection(of: field.type.namedType) else { continue }
      let first = field.argument(named: "first") == nil ? "" : "(first: 3)"
      let isPage = schema[field.type.namedType].field(named: "nodes") != nil
      let isList = if case .list = field.type.nullable { true } else { isPage }
      calls.append((field.name + first + selection, isList))
    }
    guard let call = calls.first(where: \.isList) ?? calls.first else { return "{ __typename }" }
    return "{ \(call.text) }"
  }

  /// Returns a selection of a type: empty for a leaf type, nil if an object has no leaf without
  /// required arguments.
  private func selection(of type: TypeID) -> String? {
    let definition = schema[type]
    if definition.isLeaf { return "" }
    if let nodes = definition.field(named: "nodes"), isFree(nodes),
      let leaves = leaves(of: nodes.type.namedType)
    {
      return " { nodes { \(leaves) } }"
    }
    return leaves(of: type).map { " { \($0) }" }
  }

  private func leaves(of type: TypeID) -> String? {
    let leaves = schema[type].fields.filter { isFree($0) && schema[$0.type.namedType].isLeaf }
      .prefix(2).map(\.name)
    return leaves.isEmpty ? nil : leaves.joined(separator: " ")
  }

  private func isFree(_ field: FieldDefinition) -> Bool {
    field.deprecationReason == nil && !field.arguments.contains { $0.isRequired }
  }
}
