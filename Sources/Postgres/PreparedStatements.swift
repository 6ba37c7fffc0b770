/// The statements one connection has prepared, the least recently used making room for new ones.
///
/// Bounded by count and by the bytes of their texts: the server keeps some 150 bytes for each, so
/// that a few hundred wide statements would take all of its memory.
struct PreparedStatements {
  private struct Entry {
    let statement: PostgresStatement
    let generation: UInt32
    var lastUse: UInt64
  }

  private var entries: [UInt64: Entry] = [:]
  private var uses: UInt64 = 0
  private var generations: UInt32 = 0
  private(set) var textBytes = 0
  let limit: Int
  let textLimit: Int

  init(limit: Int, textLimit: Int = 512 << 10) {
    self.limit = max(limit, 1)
    self.textLimit = textLimit
    entries.reserveCapacity(self.limit)
  }

  var count: Int { entries.count }

  enum Use {
    case prepared(generation: UInt32)
    /// To be prepared under its name, after closing the statements that it evicts.
    case new(generation: UInt32, closing: [PostgresStatement])
  }

  /// O(1), but for a new statement when the limit is reached.
  mutating func use(_ statement: PostgresStatement) -> Use {
    uses += 1
    if let index = entries.index(forKey: statement.hash) {
      let entry = entries.values[index]
      if entry.statement === statement || entry.statement.text == statement.text {
        entries.values[index].lastUse = uses
        return .prepared(generation: entry.generation)
      }
      // Two texts of one hash share a name, so only one of them can be prepared.
      forget(statement.hash)
      return .new(generation: insert(statement), closing: [entry.statement])
    }
    var closing: [PostgresStatement] = []
    while entries.count >= limit || textBytes + statement.textBytes.count > textLimit,
      let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
    {
      closing.append(oldest.value.statement)
      forget(oldest.key)
    }
    return .new(generation: insert(statement), closing: closing)
  }

  /// Whether it is still the one that got this generation.
  func knows(_ statement: PostgresStatement, _ generation: UInt32) -> Bool {
    entries[statement.hash]?.generation == generation
  }

  /// Forgets a statement, unless it was prepared again since. True if it was known.
  mutating func remove(_ statement: PostgresStatement, generation: UInt32) -> Bool {
    guard let entry = entries[statement.hash], entry.generation == generation else { return false }
    forget(statement.hash)
    return true
  }

  private mutating func forget(_ hash: UInt64) {
    guard let entry = entries.removeValue(forKey: hash) else { return }
    textBytes -= entry.statement.textBytes.count
  }

  private mutating func insert(_ statement: PostgresStatement) -> UInt32 {
    generations &+= 1
    textBytes += statement.textBytes.count
    entries[statement.hash] = Entry(
      statement: statement, generation: generations, lastUse: uses)
    return generations
  }
}
