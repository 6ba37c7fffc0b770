import GraphQLPlanning
import StorageChecking
import Subscriptions

/// Reads the lines of PostgreSQL's output plugin `test_decoding`, of which each is a change:
///
///     BEGIN 771
///     table public.album: INSERT: album_id[integer]:1 title[text]:'It''s' made[date]:null
///     table public.album: UPDATE: old-key: album_id[integer]:1 new-tuple: album_id[integer]:2 ...
///     table public.album: DELETE: album_id[integer]:2
///     COMMIT 771
///
/// O(bytes of the line); only the values of keys are kept.
struct ChangeParser {
  enum Line {
    /// The end of a transaction, with the low half of its ID.
    case commit(UInt32)
    case touched([CommittedEvent.Topic])
    /// Something changed, and what depends on it is not known.
    case unknown
    case nothing
  }

  let tables: [String: DecodedTables.Table]

  func parse(_ line: [UInt8]) -> Line {
    var scanner = Scanner(bytes: line)
    if scanner.take("BEGIN ") { return .nothing }
    if scanner.take("COMMIT ") {
      return UInt32(String(decoding: scanner.rest.prefix { $0 != 0x20 }, as: UTF8.self))
        .map { .commit($0) } ?? .unknown
    }
    // What programs write into the log for themselves.
    if scanner.take("message: ") { return .nothing }
    guard scanner.take("table "), let table = scanner.qualifiedName() else { return .unknown }
    // TRUNCATE names several tables; a table that is not known is none that a query reads.
    guard scanner.take(": "), let found = tables[table] else {
      return scanner.rest.first == UInt8(ascii: ",") || tables[table] != nil ? .unknown : .nothing
    }
    if scanner.take("INSERT:") { return rows(of: found, &scanner, isNew: true) }
    if scanner.take("UPDATE:") || scanner.take("DELETE:") {
      return rows(of: found, &scanner, isNew: false)
    }
    return .unknown
  }

  /// Reads the values of a row, after and before its change.
  private func rows(
    of table: DecodedTables.Table, _ scanner: inout Scanner, isNew: Bool
  ) -> Line {
    var topics = table.names.map {
      CommittedEvent.Topic(name: DecodedTables.topic($0), key: 0)
    }
    var isUnknown = !isNew && table.hasUnknown
    while scanner.take(" ") {
      if scanner.take("old-key:") || scanner.take("new-tuple:") || scanner.take("(no-tuple-data)") {
        continue
      }
      guard let column = scanner.name(), scanner.type(), scanner.take(":") else { return .unknown }
      let isKey = table.attributes.contains(column)
      switch scanner.value() {
      case .null: continue
      // It is as it was, which is not said.
      case .unchanged: if isKey { isUnknown = true }
      case .text(let value):
        guard isKey else { continue }
        let key = LiveKey.of(value)
        topics += table.names.map {
          CommittedEvent.Topic(name: DecodedTables.topic($0, column), key: key)
        }
      case nil: return .unknown
      }
    }
    guard scanner.rest.isEmpty else { return .unknown }
    if isUnknown {
      topics += table.names.map {
        CommittedEvent.Topic(name: DecodedTables.unknownTopic($0), key: 0)
      }
    }
    return .touched(topics)
  }
}

private struct Scanner {
  private let bytes: [UInt8]
  private var place = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  var rest: ArraySlice<UInt8> { bytes[place...] }

  private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

  mutating func take(_ text: StaticString) -> Bool {
    let isThere = text.withUTF8Buffer { text in
      unsafe rest.count >= text.count && rest.prefix(text.count).elementsEqual(text)
    }
    if isThere { place += text.utf8CodeUnitCount }
    return isThere
  }

  /// Returns two names with the dot, as they are written.
  mutating func qualifiedName() -> String? {
    let start = place
    guard name() != nil, take("."), name() != nil else { return nil }
    return String(decoding: bytes[start..<place], as: UTF8.self)
  }

  /// Returns a name without its quotes.
  mutating func name() -> String? {
    guard next == UInt8(ascii: "\"") else {
      let start = place
      while let byte = next,
        byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || byte >= 0x80
          || (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
      {
        place += 1
      }
      return place > start ? String(decoding: bytes[start..<place], as: UTF8.self) : nil
    }
    return quoted().map { String(decoding: $0, as: UTF8.self) }
  }

  /// Returns what is between quotes, with each doubled quote once.
  private mutating func quoted() -> [UInt8]? {
    guard let quote = next else { return nil }
    place += 1
    var text: [UInt8] = []
    while let byte = next {
      place += 1
      if byte == quote {
        guard next == quote else { return text }
        place += 1
      }
      text.append(byte)
    }
    return nil
  }

  /// Takes the type of a column: `[text]`, `[character varying]`, `[integer[]]`, `["My Type"]`.
  mutating func type() -> Bool {
    guard take("[") else { return false }
    while let byte = next {
      if byte == UInt8(ascii: "\"") {
        guard quoted() != nil else { return false }
        continue
      }
      place += 1
      if byte == UInt8(ascii: "]"), next == UInt8(ascii: ":") { return true }
    }
    return false
  }

  enum Value {
    case null, unchanged
    case text([UInt8])
  }

  /// Returns a value: a number, a word, or a text in quotes; nil if it has no end.
  mutating func value() -> Value? {
    _ = take("B")
    if next == UInt8(ascii: "'") { return quoted().map { .text($0) } }
    let start = place
    while let byte = next, byte != 0x20 { place += 1 }
    let word = Array(bytes[start..<place])
    if word.elementsEqual("null".utf8) { return .null }
    if word.elementsEqual("unchanged-toast-datum".utf8) { return .unchanged }
    return .text(word)
  }
}
