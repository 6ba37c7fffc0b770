import GraphQLLanguage
import GraphQLPlanning
import GraphQLSchema
import GraphQLValidation
import Postgres

/// The limits of operations, and what all loops share of them.
package struct ExecutionSettings: Sendable {
  package var parserLimits = ParserLimits.default
  package var validationLimits = ValidationLimits.server
  package var plannerLimits = PlannerLimits()
  package var suggestions = true
  /// The maximum number of documents that a loop keeps, with their plans.
  package var maximumCachedDocuments = 1_000
  /// The maximum size of these documents and plans, in bytes.
  package var maximumCachedBytes = 32 << 20
  package var cursorSigner = CursorSigner()
  /// The maximum size of a statement's record, and of the response that is written from it, in bytes.
  package var maximumResponseBytes = 8 << 20
  /// Shared by the loops.
  package var statementRecords = StatementRecords()
  /// The catalog that live queries are planned by, or nil if the server has none.
  package var liveCatalog: LiveCatalog?
  /// Whether queries are planned like live ones, so that their responses can be kept.
  package var keepsAnswers = false
  /// Whether clients receive the messages that functions and triggers of the database raise.
  package var tellsRaisedMessages = true

  package init() {}
}
