/// How much a document may cost, whatever it says.
///
/// Each limit has its own code: `DOCUMENT_TOO_LARGE`, `TOKEN_LIMIT_EXCEEDED` and
/// `NESTING_LIMIT_EXCEEDED`. Nesting counts selection sets, lists, objects and list types that are
/// open at once; it also bounds the recursion of everything that walks the tree later.
package struct ParserLimits: Sendable {
  package var maximumBytes: Int
  package var maximumTokens: Int
  package var maximumNesting: Int

  package init(maximumBytes: Int, maximumTokens: Int, maximumNesting: Int) {
    self.maximumBytes = maximumBytes
    self.maximumTokens = maximumTokens
    self.maximumNesting = maximumNesting
  }

  /// For documents of clients.
  package static let `default` = ParserLimits(
    maximumBytes: 64 * 1024, maximumTokens: 2_000, maximumNesting: 64)

  /// For schemas and files of one's own: any size, but still no way to exhaust the stack.
  ///
  /// A level takes at most 1.5 KiB of stack to parse (2 KiB in a debug build), 0.6 KiB to print and
  /// 0.3 KiB to free; the threads of Dispatch have 512 KiB.
  package static let unlimited = unlimited(nesting: 200)

  /// The same, for a thread whose stack has room for more levels.
  package static func unlimited(nesting: Int) -> ParserLimits {
    ParserLimits(
      maximumBytes: Int(Int32.max) - 1, maximumTokens: .max, maximumNesting: nesting)
  }
}
