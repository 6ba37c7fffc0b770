import JSON

extension GraphServer {
  /// The `data` of an operation that is sent with further headers; there must be no errors.
  func data(
    _ query: String, _ variables: JSONValue? = nil, as person: Person?,
    headers: [(String, String)]
  ) throws -> JSONValue {
    var members = [JSONValue.Member(name: "query", value: .string(query))]
    if let variables { members.append(JSONValue.Member(name: "variables", value: variables)) }
    var all = [("Content-Type", "application/json")] + headers
    if let person { all.append(("Authorization", "Bearer \(person.token)")) }
    let response = try send(
      "POST", "/graphql", headers: all, body: Array("\(JSONValue.object(members))".utf8))
    let answer = try JSONParser.parse(response.body)
    guard answer["errors"] == nil, let data = answer["data"] else {
      throw GraphTestFailure("\(query): \(answer)")
    }
    return data
  }

  /// The user errors of a mutation that is sent with a language.
  func userErrors(
    _ field: String, _ variables: KeyValuePairs<String, JSONValue> = [:], as person: Person?,
    language: String
  ) throws -> [JSONValue] {
    let (document, values) = Self.mutation([field], "__typename", variables)
    let found = try data(
      document.replacing("{ code message field }", with: "{ code message field min max }"), values,
      as: person, headers: [("Accept-Language", language)])
    return found.at("f0.userErrors")?.array ?? []
  }
}
