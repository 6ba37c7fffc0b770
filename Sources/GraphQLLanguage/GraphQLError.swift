/// What the language, the type system and validation report: the *error* entry of a response.
///
/// GraphQL September 2025, 7.1.2 Errors.
package struct GraphQLError: Error, Sendable, Equatable {
  package var message: String
  /// Both numbers count from 1.
  package var locations: [SourceLocation]
  package var path: [PathSegment]?
  /// The validation rule that found it, under the name all engines share (`NoUnusedVariables`).
  package var rule: String?
  /// `extensions.code`, from the documented closed list; nil lets the caller choose.
  package var code: String?

  package init(
    _ message: String, locations: [SourceLocation] = [], path: [PathSegment]? = nil,
    rule: String? = nil, code: String? = nil
  ) {
    self.message = message
    self.locations = locations
    self.path = path
    self.rule = rule
    self.code = code
  }
}

/// A line and a column, both from 1. Columns count Unicode code points; `\n`, `\r\n` and `\r` end
/// lines.
package struct SourceLocation: Sendable, Hashable {
  package var line: Int
  package var column: Int

  package init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }
}

/// One step of a response path: a response name or an index from 0.
package enum PathSegment: Sendable, Hashable {
  case name(String)
  case index(Int)
}
