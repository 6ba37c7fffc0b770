/// The limits on the size and the nesting of a document.
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

  /// The limits for documents of clients.
  package static let `default` = ParserLimits(
    maximumBytes: 64 * 1024, maximumTokens: 2_000, maximumNesting: 64)

  /// The limits for trusted schemas and files: any size, but bounded nesting, to protect the stack.
  ///
  /// Parsing takes at most 1.5 KiB of stack for each level (2 KiB in a debug build), printing 0.6
  /// KiB and freeing 0.3 KiB. The threads of Dispatch have 512 KiB.
  package static let unlimited = unlimited(nesting: 200)

  /// Returns the limits for trusted texts on a thread whose stack holds more levels.
  package static func unlimited(nesting: Int) -> ParserLimits {
    ParserLimits(
      maximumBytes: Int(Int32.max) - 1, maximumTokens: .max, maximumNesting: nesting)
  }
}
