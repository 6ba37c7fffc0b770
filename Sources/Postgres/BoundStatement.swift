/// A statement with the values of one execution.
package struct BoundStatement: Sendable {
  package let statement: PostgresStatement
  package let parameters: PostgresParameters

  package init(_ statement: PostgresStatement, _ parameters: PostgresParameters) {
    self.statement = statement
    self.parameters = parameters
  }
}
