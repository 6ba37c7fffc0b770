import JSON
import TestSupport

/// Reads on in a guide as people do: an id that one answer had is what the next document names.
struct GuideReader {
  let server: GraphServer
  /// By the name of the member whose object, or first element, has it.
  var ids: [String: String] = [:]

  /// The data of a document's answer, which must have no errors.
  mutating func execute(_ document: Guide.Block, token: String?) throws -> JSONValue {
    var variables: [JSONValue.Member] = []
    for name in document.variables {
      guard let id = ids[name] else { throw GraphTestFailure("nothing was called \(name)") }
      variables.append(JSONValue.Member(name: name, value: .string(id)))
    }
    let answer = try server.execute(document.text, .object(variables), token: token)
    guard answer["errors"] == nil, let data = answer["data"] else {
      throw GraphTestFailure("\(document.text)\n\(answer)")
    }
    note(data, as: "data")
    return data
  }

  private mutating func note(_ value: JSONValue, as name: String) {
    if let id = value["id"]?.string { ids[name] = id }
    for member in value.members ?? [] { note(member.value, as: member.name) }
    if let first = value.array?.first { note(first, as: name) }
  }
}
