/// An operation without arguments that a schema can answer, to try a server that has just started.
package struct ExampleOperation {
  package let schema: Schema

  package init(_ schema: Schema) { self.schema = schema }

  /// The operation: a field of the query type that needs no arguments, with the first leaves of its
  /// type. The first page is preferred, then the first list. It has neither quotes nor line breaks.
  package var text: String {
    guard let root = schema.queryType else { return "{ __typename }" }
    var pages: [String] = []
    var lists: [String] = []
    var others: [String] = []
    for field in schema[root].fields where isFree(field) {
      guard let selection = selection(of: field.type.namedType) else { continue }
      let size = ["first", "limit"].first { field.argument(named: $0) != nil }
      let isPage = schema[field.type.namedType].field(named: "nodes") != nil
      let call = field.name + (size.map { "(\($0): 3)" } ?? "") + selection
      if isPage {
        pages.append(call)
      } else if case .list = field.type.nullable {
        lists.append(call)
      } else {
        others.append(call)
      }
    }
    guard let call = pages.first ?? lists.first ?? others.first else { return "{ __typename }" }
    return "{ \(call) }"
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
