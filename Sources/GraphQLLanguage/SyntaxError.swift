/// The reason why a text is not a document, or why the parser stopped reading it.
package struct SyntaxError: Error, Sendable, Equatable {
  package enum Cause: Sendable, Equatable {
    /// The text does not match the grammar.
    case syntax
    /// The text exceeds a limit of `ParserLimits`.
    case tooManyBytes, tooManyTokens, nestedTooDeep
  }

  package let message: String
  package let location: SourceLocation
  package let cause: Cause

  package init(_ message: String, at location: SourceLocation, cause: Cause = .syntax) {
    self.message = message
    self.location = location
    self.cause = cause
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
