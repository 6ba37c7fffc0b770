import GraphQLResponse
import JSON
import Postgres

/// The roles of PostgreSQL that clients may have: the claim `role` of a token names one.
package final class ClientRoles: Sendable {
  /// That of a request without a token, and of a token without the claim.
  package let anonymous: String
  private let names: Set<String>

  /// - Parameter names: the roles that clients may have.
  package init(anonymous: String, names: Set<String>) {
    self.anonymous = anonymous
    self.names = names.union([anonymous])
  }

  /// Returns the role of a request.
  ///
  /// - Parameter claims: those of its token; nil without one.
  package func role(of claims: JSONValue?) throws(GraphQLError) -> ClientRole {
    var name = anonymous
    if let named = claims?["role"], named != .null {
      guard case .string(let text) = named, names.contains(text) else {
        throw GraphQLError("The role that the token names is not served.", code: .forbidden)
      }
      name = text
    }
    var json = JSONWriter(capacity: 256)
    json.write(
      claims ?? .object([JSONValue.Member(name: "role", value: .string(name))]))
    return ClientRole(name: name, claims: String(decoding: json.finish(), as: UTF8.self))
  }
}
