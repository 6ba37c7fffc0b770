import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema

/// The statements of a mutation's field, to check them against a database in advance.
package struct MutationProbe: Sendable {
  /// The coordinate `Mutation.field`.
  package let coordinate: String
  /// The function's name in the directive; nil for a field that writes rows.
  package let function: String?
  /// The type that the function has to return; nil if the payload does not determine it.
  package let resultType: String?
  package let statements: [PlannedStatement]
}

extension Planner {
  /// Returns a probe for each field with `@call`: its function without arguments, and all fields of
  /// its payload.
  package func mutationProbes() throws(GraphQLError) -> [MutationProbe] {
    guard let root = mapping.schema.mutationType else { return [] }
    var probes: [MutationProbe] = []
    var checked: Set<TypeID> = []
    var limits = limits
    limits.maximumInsertedRows = .max
    for definition in mapping.schema[root].fields {
      guard let storage = mapping[root]?.fields[definition.name],
        case .call(let call) = storage.kind
      else { continue }
      let payload = definition.type.namedType
      let text = "{ \(definition.name) { \(selection(of: payload)) } }"
      guard let document = try? Parser.parse(Source(text), limits: .unlimited),
        case .field(let field)? = document.operations.first?.selectionSet.selections.first
      else { continue }
      let compiler = CallCompiler(
        mapping: mapping, fragments: [:],
        reader: ArgumentReader(
          schema: mapping.schema, variableIndices: [:], variables: [],
          inputs: OperationInputs([], source: document.source)),
        limits: limits)
      let plan = try compiler.probe(field, storage, call, &checked)
      probes.append(
        MutationProbe(
          coordinate: storage.coordinate, function: call.functionName,
          resultType: call.functionName == nil ? nil : resultType(of: payload),
          statements: ([plan.call, plan.selection, plan.keeping, plan.replay, plan.again]
            + plan.transforms.map(\.lookup)).compactMap { $0 }))
    }
    return probes
  }

  private func selection(of payload: TypeID) -> String {
    let schema = mapping.schema
    return schema[payload].fields.compactMap { field in
      if case .some(.none) = mapping[payload]?.fields[field.name].map(\.kind) { return nil }
      return field.name + (schema[field.type.namedType].isLeaf ? "" : " { __typename }")
    }.joined(separator: " ") + " __typename"
  }

  /// Returns the type that the payload's first field with `@result` requires.
  private func resultType(of payload: TypeID) -> String? {
    for field in mapping.schema[payload].fields {
      guard
        let directive = field.appliedDirectives.first(named: "result")
      else { continue }
      if directive.string("key") != nil { return "jsonb" }
      guard mapping.schema[field.type.namedType].isComposite else {
        return ResultText.sqlType(field.type, in: mapping.schema)
      }
      if case .list = field.type.nullable { return "bigint[]" }
      return "bigint"
    }
    return nil
  }
}
