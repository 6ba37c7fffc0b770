import Glibc
import JSON
import Testing

/// One entry of a payload's user errors.
struct Refusal: Equatable, CustomStringConvertible {
  let code: String
  let path: [String]?

  /// By the code and the argument at fault: `Refusal("NOT_FOUND", "userIds", "3")`.
  init(_ code: String, _ path: String...) {
    self.code = code
    self.path = path.isEmpty ? nil : path
  }

  init(_ error: JSONValue) {
    code = error["code"]?.string ?? ""
    path = error["field"]?.array?.map { $0.string ?? "" }
  }

  var description: String { ([code] + (path ?? [])).joined(separator: " ") }
}

extension GraphServer {
  /// Runs one mutation field that must be done, and gives its payload.
  ///
  /// - Parameters:
  ///   - field: such as `react(subjectId: $id, kind: HEART)`.
  ///   - selection: of the payload; its `userErrors` are selected besides.
  ///   - variables: those that `field` and `selection` use, with their types:
  ///     `["id: ID!": post.json]`.
  @discardableResult
  func mutate(
    _ field: String, _ selection: String = "__typename",
    _ variables: KeyValuePairs<String, JSONValue> = [:], as person: Person?, key: String? = nil
  ) throws -> JSONValue {
    let payload = try payload(field, selection, variables, as: person, key: key)
    guard payload["userErrors"] == [] else {
      throw GraphTestFailure("\(field) was refused: \(payload["userErrors"] ?? .null)")
    }
    return payload
  }

  /// Why a mutation was refused; empty when it was done. When it was refused, nothing of the
  /// payload's own is there.
  func refusals(
    _ field: String, _ variables: KeyValuePairs<String, JSONValue> = [:], as person: Person?
  ) throws -> [Refusal] {
    let payload = try payload(field, "__typename", variables, as: person)
    return (payload["userErrors"]?.array ?? []).map { Refusal($0) }
  }

  /// The payload of one mutation field, which must have no errors of the other kind, and whose user
  /// errors name arguments it has.
  func payload(
    _ field: String, _ selection: String, _ variables: KeyValuePairs<String, JSONValue> = [:],
    as person: Person?, key: String? = nil
  ) throws -> JSONValue {
    let (document, values) = Self.mutation([field], selection, variables)
    // A server that says it is busy is asked again, as clients do.
    var answer = JSONValue.null
    for attempt in 0..<200 {
      if attempt > 0 { usleep(50_000) }
      let response = try sendMutation(document, values, token: person?.token, key: key)
      answer = try JSONParser.parse(response.body)
      if answer.at("errors")?.array?.first?["extensions"]?["code"] != "SERVICE_OVERLOADED" { break }
    }
    guard answer["errors"] == nil, let payload = answer["data"]?["f0"] else {
      throw GraphTestFailure("\(field): \(answer)")
    }
    try ArgumentPath.check(payload["userErrors"], of: field)
    return payload
  }

  /// The codes of the errors that only a program can cause.
  func mutationErrorCodes(
    _ field: String, _ variables: KeyValuePairs<String, JSONValue> = [:], as person: Person?
  ) throws -> [String] {
    let (document, values) = Self.mutation([field], "__typename", variables)
    return try errorCodes(document, values, as: person)
  }

  /// A document of mutation fields under the names `f0`, `f1`, ..., with its variables.
  static func mutation(
    _ fields: [String], _ selection: String, _ variables: KeyValuePairs<String, JSONValue>
  ) -> (document: String, variables: JSONValue) {
    var members: [JSONValue.Member] = []
    var declarations: [String] = []
    for (declaration, value) in variables {
      let name = String(declaration.prefix { $0 != ":" })
      declarations.append("$\(declaration)")
      members.append(JSONValue.Member(name: name, value: value))
    }
    let head =
      declarations.isEmpty ? "mutation" : "mutation(\(declarations.joined(separator: ", ")))"
    let calls = fields.enumerated().map { index, field in
      "f\(index): \(field) { \(selection) userErrors { code message field } }"
    }
    return ("\(head) { \(calls.joined(separator: " ")) }", .object(members))
  }

  /// - Parameter key: the `Idempotency-Key`.
  func sendMutation(
    _ document: String, _ variables: JSONValue, token: String?, key: String? = nil
  ) throws -> HTTPClients.Response {
    var headers = [("Content-Type", "application/json")]
    if let token { headers.append(("Authorization", "Bearer \(token)")) }
    if let key { headers.append(("Idempotency-Key", key)) }
    let body: JSONValue = .object([
      JSONValue.Member(name: "query", value: .string(document)),
      JSONValue.Member(name: "variables", value: variables),
    ])
    return try send("POST", "/graphql", headers: headers, body: Array("\(body)".utf8))
  }
}
