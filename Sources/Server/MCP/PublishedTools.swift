import GraphQLLanguage
import GraphQLPlanning
import GraphQLResponse
import GraphQLSchema
import GraphQLTransport
import GraphQLValidation
import JSON

/// The published operations as tools of the Model Context Protocol, and a search of the schema.
///
/// Made once for all event loops. Subscriptions are left out, and documents that the schema refuses.
package struct PublishedTools: Sendable {
  /// An operation that a tool executes.
  struct Operation: Sendable {
    let document: String
    let documentID: String
    let name: String?
    let variables: Set<String>
    /// The number of its root fields if it is a mutation; 0 for a query, nil if a fragment has some.
    let mutationFields: Int?

    /// Whether a token could change the whole response: a mutation is not done in part.
    func wasRefused(_ errors: [GraphQLError]) -> Bool {
      let refused = errors.count { $0.code == .unauthenticated }
      return mutationFields.map { refused > 0 && refused >= $0 } ?? false
    }
  }

  static let searchName = "search_schema"
  static let maximumQuestionBytes = 500

  let operations: [String: Operation]
  /// The tools as `tools/list` has them.
  let list: JSONValue
  let search: SchemaSearch
  /// The IDs of documents that are no tools, because they are not valid.
  package let invalid: [String]

  /// - Parameter documents: nothing else can be executed.
  package init(mapping: StorageMapping, documents: TrustedDocuments) {
    let schema = StorageDirectives.clientSchema(of: mapping.schema)
    search = SchemaSearch(schema)
    var operations: [String: Operation] = [:]
    var listed = [Self.searchTool]
    var invalid: [String] = []
    for (id, text) in documents.documents {
      guard let document = try? Parser.parse(text, limits: .unlimited),
        let valid = try? Validator.validate(document, against: schema)
      else {
        invalid.append(id)
        continue
      }
      for operation in valid.operations where operation.kind != .subscription {
        let name = Self.name(of: operation, id, besides: operations)
        operations[name] = Operation(
          document: text, documentID: id, name: operation.name?.text,
          variables: Set(operation.variables.map(\.name.text)),
          mutationFields: Self.mutationFields(of: operation))
        listed.append(Self.tool(name, operation, schema))
      }
    }
    self.operations = operations
    self.invalid = invalid
    list = .array(listed)
  }

  private static func mutationFields(of operation: OperationDefinition) -> Int? {
    guard operation.kind == .mutation else { return 0 }
    let isPlain = operation.selectionSet.selections.allSatisfy {
      if case .field = $0 { true } else { false }
    }
    return isPlain ? operation.selectionSet.selections.count : nil
  }

  /// Returns the operation's name, or the ID of its document; several of one name are numbered.
  private static func name(
    of operation: OperationDefinition, _ id: String, besides known: [String: Operation]
  ) -> String {
    let stem = String((operation.name?.text ?? "document_\(id)").prefix(100)).map { character in
      character.isASCII && (character.isLetter || character.isNumber || "_-".contains(character))
        ? character : "_"
    }
    var name = String(stem)
    var number = 2
    while known[name] != nil || name == searchName {
      name = "\(String(stem))_\(number)"
      number += 1
    }
    return name
  }

  private static func tool(
    _ name: String, _ operation: OperationDefinition, _ schema: Schema
  ) -> JSONValue {
    .object([
      JSONValue.Member(name: "name", value: .string(name)),
      JSONValue.Member(name: "description", value: .string(description(operation, schema))),
      JSONValue.Member(name: "inputSchema", value: InputSchema.of(operation, schema)),
      JSONValue.Member(
        name: "annotations",
        value: .object([
          JSONValue.Member(name: "readOnlyHint", value: .boolean(operation.kind == .query))
        ])),
    ])
  }

  /// Returns the operation's description, or those of its root fields.
  private static func description(_ operation: OperationDefinition, _ schema: Schema) -> String {
    if let text = operation.description?.text, !text.isEmpty { return text }
    let root = schema.rootType(for: operation.kind).map { schema[$0] }
    let texts = operation.selectionSet.selections.compactMap { selection -> String? in
      guard case .field(let field) = selection else { return nil }
      return root?.field(named: field.name.text)?.description ?? field.name.text
    }
    return texts.isEmpty ? "A published \(operation.kind.rawValue)." : texts.joined(separator: " ")
  }

  private static let searchTool = JSONValue.object([
    JSONValue.Member(name: "name", value: .string(searchName)),
    JSONValue.Member(
      name: "description",
      value: .string(
        "Finds the fields, types and enum values of the schema that a question is about, by the words of their "
          + "names and descriptions.")),
    JSONValue.Member(
      name: "inputSchema",
      value: .object([
        JSONValue.Member(name: "type", value: .string("object")),
        JSONValue.Member(
          name: "properties",
          value: .object([
            JSONValue.Member(
              name: "question",
              value: .object([
                JSONValue.Member(name: "type", value: .string("string")),
                JSONValue.Member(name: "maxLength", value: .number("\(maximumQuestionBytes)")),
              ]))
          ])),
        JSONValue.Member(name: "additionalProperties", value: .boolean(false)),
        JSONValue.Member(name: "required", value: .array([.string("question")])),
      ])),
    JSONValue.Member(
      name: "annotations",
      value: .object([JSONValue.Member(name: "readOnlyHint", value: .boolean(true))])),
  ])

  /// Returns the argument that a tool does not have; nil if there is none.
  func unknownArgument(of tool: String, _ arguments: [JSONValue.Member]) -> String? {
    let known = operations[tool]?.variables ?? (tool == Self.searchName ? ["question"] : nil)
    return known.flatMap { known in arguments.first { !known.contains($0.name) }?.name }
  }

  /// Returns what a question is about, as JSON.
  func results(for question: String) -> JSONValue {
    .object([
      JSONValue.Member(
        name: "results",
        value: .array(
          search.results(for: question, limit: 10).map { result in
            .object([
              JSONValue.Member(name: "coordinate", value: .string("\(result.coordinate)")),
              JSONValue.Member(
                name: "type", value: result.type.map { .string($0) } ?? .null),
              JSONValue.Member(
                name: "description", value: result.description.map { .string($0) } ?? .null),
            ])
          }))
    ])
  }
}
