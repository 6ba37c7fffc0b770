/// The PostgreSQL role of a request and the claims of its token. Its statements run under them: they
/// are set at the start of the transaction, in the same Sync, and end with it.
package final class ClientRole: Sendable, Hashable {
  package let name: String
  /// The claims as JSON, which policies read as `current_setting('request.jwt.claims')`.
  package let claims: String

  package init(name: String, claims: String) {
    self.name = name
    self.claims = claims
  }

  /// That of the connection, without claims.
  static let none = ClientRole(name: "none", claims: "")

  package static func == (left: ClientRole, right: ClientRole) -> Bool {
    left.name == right.name && left.claims == right.claims
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(claims)
  }

  /// The statement that sets them for the rest of a transaction.
  package var setting: BoundStatement {
    var parameters = PostgresParameters()
    parameters.append(name)
    parameters.append(claims)
    return BoundStatement(Self.statement, parameters)
  }

  private static let statement = PostgresStatement(
    "SELECT set_config('role', $1::text, true), set_config('request.jwt.claims', $2::text, true)",
    parameterCount: 2, label: StatementLabel(task: "role"))
}
