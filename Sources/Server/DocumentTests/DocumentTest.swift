import Cryptography
import GraphQLResponse
import JSON

/// A document with its viewers and expected responses.
///
/// The file `NAME.json` beside `NAME.graphql` has one step or a list of steps, which share one
/// transaction:
///
///     {"viewer": "ada", "operation": "Rename", "variables": {"name": "Ada"},
///      "response": {"data": {"rename": {"name": "Ada", "id": "..."}}}}
///
/// `"claims": {"sub": "ada"}` is a client with a signed token in place of a user. Each member but
/// `response` may be left out. `...` in an expected text stands for any text, and
/// the text `...` for any value.
package struct DocumentTest: Sendable {
  package struct Step: Sendable {
    /// The username; nil for an anonymous client.
    package let viewer: String?
    /// The claims of the client's signed token; nil without one.
    package let claims: JSONValue?
    package let operation: String?
    package let variables: [JSONValue.Member]
    package let response: JSONValue

    /// The number of a viewer who is known by claims only: positive, and the same for the same claims.
    var claimedViewer: Int64 {
      guard let claims else { return 0 }
      var json = JSONWriter()
      json.write(claims)
      let digest = SHA256.hash(json.finish())
      return max(Int64(digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } >> 1), 1)
    }
  }

  package let name: String
  package let document: String
  package let steps: [Step]

  /// - Parameter expectation: the contents of the JSON file.
  /// - Throws: a `CommandFailure` that says what is wrong with it.
  package init(name: String, document: String, expectation: [UInt8]) throws(CommandFailure) {
    self.name = name
    self.document = document
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONParser.parse(expectation)
    } catch {
      throw CommandFailure("\(name).json: \(error)")
    }
    var steps: [Step] = []
    let items: [JSONValue] = if case .array(let items) = value { items } else { [value] }
    for item in items {
      steps.append(try Self.step(item, "\(name).json, step \(steps.count + 1)"))
    }
    guard !steps.isEmpty else { throw CommandFailure("\(name).json has no step.") }
    self.steps = steps
  }

  private static func step(_ value: JSONValue, _ place: String) throws(CommandFailure) -> Step {
    guard case .object(let members) = value else {
      throw CommandFailure("\(place): expected a JSON object.")
    }
    let known = ["viewer", "claims", "operation", "variables", "response"]
    if let other = members.first(where: { !known.contains($0.name) }) {
      throw CommandFailure(
        "\(place): there is no member \"\(other.name)\"; there are \(known.joined(separator: ", "))."
      )
    }
    guard let response = value["response"], case .object = response else {
      throw CommandFailure("\(place): \"response\" must be a JSON object.")
    }
    let variables: [JSONValue.Member]
    switch value["variables"] {
    case nil, .null?: variables = []
    case .object(let members)?: variables = members
    default: throw CommandFailure("\(place): \"variables\" must be a JSON object.")
    }
    let claims: JSONValue?
    switch value["claims"] {
    case nil, .null?: claims = nil
    case .object?: claims = value["claims"]
    default: throw CommandFailure("\(place): \"claims\" must be a JSON object.")
    }
    return Step(
      viewer: try text("viewer", of: value, place), claims: claims,
      operation: try text("operation", of: value, place), variables: variables,
      response: response)
  }

  private static func text(
    _ name: String, of value: JSONValue, _ place: String
  ) throws(CommandFailure) -> String? {
    switch value[name] {
    case nil, .null?: nil
    case .string(let text)?: text
    default: throw CommandFailure("\(place): \"\(name)\" must be a string.")
    }
  }
}
