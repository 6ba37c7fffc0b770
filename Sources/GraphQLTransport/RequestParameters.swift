import GraphQLResponse
import JSON

/// The parameters as they were sent, with their types checked; the document is still to be found.
struct RequestParameters: Equatable {
  var query: String?
  var documentID: String?
  var operationName: String?
  var variables: [JSONValue.Member] = []
  /// The list in place of the variables, whose elements are still to be checked.
  var variableSets: [JSONValue]?
  var extensions: [JSONValue.Member] = []
  var onError: ErrorBehavior?

  /// Reads the object of a POST body. Unknown names are ignored, and null means absent (GraphQL
  /// over HTTP, September 2026, "Request Parameters").
  ///
  /// The edition has four members, and `extensions` for everything else. `onError` and `documentId`
  /// are proposals: they count there, and also next to the four, where clients send them today. Next
  /// to the four, the server ignores other values of these names.
  init(_ members: [JSONValue.Member]) throws(TransportError) {
    for member in members {
      switch (member.name, member.value) {
      case (_, .null): continue
      case ("query", .string(let text)): query = text
      case ("query", _): throw .parameter("query", expected: "a string")
      case ("operationName", .string(let name)): operationName = name.isEmpty ? nil : name
      case ("operationName", _): throw .parameter("operationName", expected: "a string")
      case ("variables", .object(let values)): variables = values
      case ("variables", .array(let sets)): variableSets = sets
      case ("variables", _): throw .parameter("variables", expected: "an object")
      case ("extensions", .object(let values)): extensions = values
      case ("extensions", _): throw .parameter("extensions", expected: "an object")
      case ("onError", .string(let name)): onError = ErrorBehavior(rawValue: name) ?? onError
      case ("documentId", .string(let id)): documentID = id
      case ("doc_id", .string(let id)), ("id", .string(let id)): documentID = documentID ?? id
      case ("doc_id", .number(let id)): documentID = documentID ?? id
      default: continue
      }
    }
    try readExtensions()
  }

  private mutating func readExtensions() throws(TransportError) {
    for member in extensions {
      switch (member.name, member.value) {
      case ("onError", .string(let name)):
        guard let behavior = ErrorBehavior(rawValue: name) else {
          throw .parameter("extensions.onError", expected: Self.errorBehaviors)
        }
        onError = onError ?? behavior
      case ("onError", .null), ("documentId", .null): continue
      case ("onError", _): throw .parameter("extensions.onError", expected: Self.errorBehaviors)
      case ("documentId", .string(let id)): documentID = documentID ?? id
      case ("documentId", _): throw .parameter("extensions.documentId", expected: "a string")
      default: continue
      }
    }
  }

  /// Reads a URL's query.
  init(urlQuery: ArraySlice<UInt8>, maximumNesting: Int) throws(TransportError) {
    var seen: Set<String> = []
    for (name, value) in try FormParameters.parse(urlQuery) {
      guard Self.names.contains(name) else { continue }
      guard seen.insert(name).inserted else { throw .repeatedParameter(name) }
      guard !value.isEmpty else { continue }
      switch name {
      case "query": query = value
      case "operationName": operationName = value
      case "onError": onError = ErrorBehavior(rawValue: value) ?? onError
      case "documentId": documentID = value
      case "doc_id", "id": documentID = documentID ?? value
      case "variables":
        variables = try Self.object(value, name, maximumNesting)
      case "extensions":
        extensions = try Self.object(value, name, maximumNesting)
      default: break
      }
    }
    try readExtensions()
  }

  private static let names: Set<String> = [
    "query", "operationName", "documentId", "doc_id", "id", "variables", "extensions",
    "onError",
  ]

  private static let errorBehaviors = "PROPAGATE, NULL or HALT"

  private static func object(
    _ text: String, _ name: String, _ maximumNesting: Int
  ) throws(TransportError) -> [JSONValue.Member] {
    let bytes = Array(text.utf8)
    switch try TransportError.parse(bytes, parameter: name, maximumNesting: maximumNesting) {
    case .object(let members): return members
    case .null: return []
    default: throw .parameter(name, expected: "an object")
    }
  }
}
