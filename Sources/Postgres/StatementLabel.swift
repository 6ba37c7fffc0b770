/// The name of an operation in the comment in front of a statement's text. The comment also has the
/// statement's name. PostgreSQL shows it in `pg_stat_activity` and `pg_stat_statements`:
///
///     /* Feed 8c1f0e4b7a90d2c3 s_5d1e0c9a7b3f2e64 */ SELECT ...
package struct StatementLabel: Sendable, Hashable {
  package let text: String

  /// Creates a label that cannot end the comment. Each word keeps only ASCII letters, digits, `_`,
  /// `-` and round brackets, and the label keeps 100 bytes.
  package init(_ text: String) {
    var kept: [UInt8] = []
    for byte in text.utf8.prefix(100) {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
        UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: " "):
        kept.append(byte)
      default: continue
      }
    }
    self.text = String(decoding: kept, as: UTF8.self)
  }
}
