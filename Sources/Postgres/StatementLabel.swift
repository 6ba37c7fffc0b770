/// What a statement is for, in the comment in front of its text. The comment also has the statement's
/// name. PostgreSQL shows it in `pg_stat_activity` and `pg_stat_statements`, and programs that read
/// either know its form:
///
///     /*action='Feed',application='sociograph',document='8c1f0e4b7a90d2c3',statement='s_5d1e0c9a'*/ SELECT ...
///
/// The form is that of sqlcommenter: values are percent-encoded, and keys are in alphabetical order.
/// It is in front, not behind, because PostgreSQL shows only the beginning of a long text.
package struct StatementLabel: Sendable, Hashable {
  /// The label as people read it: `Feed 8c1f0e4b7a90d2c3`.
  package let text: String
  private let pairs: [Pair]

  private struct Pair: Hashable {
    let key: String
    let value: String
  }

  /// Creates the label of a client's operation.
  ///
  /// - Parameters:
  ///   - operation: its name, if it has one.
  ///   - document: the hash of its document.
  package init(operation: String?, document: String) {
    let name = operation.map(Self.word)
    let hash = Self.word(document)
    text = "\(name ?? "(unnamed)") \(hash)"
    pairs =
      (name.map { [Pair(key: "action", value: $0)] } ?? [])
      + [Self.application, Pair(key: "document", value: hash)]
  }

  /// Creates the label of the server's own work.
  package init(task: String) {
    let task = Self.word(task)
    text = "(\(task))"
    pairs = [Self.application, Pair(key: "task", value: task)]
  }

  private init(_ text: String, _ pairs: [Pair]) {
    self.text = text
    self.pairs = pairs
  }

  /// Returns the label of a statement that is several executions of another one.
  func batching(_ statement: String) -> StatementLabel {
    StatementLabel(
      "\(text) \(statement) batched", pairs + [Pair(key: "batch_of", value: statement)])
  }

  /// Returns the comment of a statement.
  func comment(of statement: String) -> String {
    let all = (pairs + [Pair(key: "statement", value: statement)]).sorted { $0.key < $1.key }
    return "/*\(all.map { "\($0.key)='\($0.value)'" }.joined(separator: ","))*/"
  }

  private static let application = Pair(key: "application", value: "sociograph")

  /// Returns a word that cannot end the comment or the value, and needs no encoding: up to 100 ASCII
  /// letters, digits, `_` and `-`.
  private static func word(_ text: String) -> String {
    let kept = text.utf8.prefix(100).filter { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
        true
      default: false
      }
    }
    return String(decoding: kept, as: UTF8.self)
  }
}
