/// The statements one connection has prepared, the least recently used making room for new ones.
struct PreparedStatements {
  private struct Entry {
    let statement: PostgresStatement
    let generation: UInt32
    var lastUse: UInt64
  }

  private var entries: [UInt64: Entry] = [:]
  private var uses: UInt64 = 0
  private var generations: UInt32 = 0
  let limit: Int

  init(limit: Int) {
    self.limit = max(limit, 1)
    entries.reserveCapacity(self.limit)
  }

  var count: Int { entries.count }

  enum Use {
    case prepared(generation: UInt32)
    /// Prepare it under its name, after closing what had to make room.
    case new(generation: UInt32, closing: PostgresStatement?)
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
      return .new(generation: insert(statement), closing: entry.statement)
    }
    var closing: PostgresStatement?
    if entries.count >= limit, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
    {
      closing = oldest.value.statement
      entries[oldest.key] = nil
    }
    return .new(generation: insert(statement), closing: closing)
  }

  /// Forgets a statement, unless it was prepared again since. True if it was known.
  mutating func remove(_ statement: PostgresStatement, generation: UInt32) -> Bool {
    guard let entry = entries[statement.hash], entry.generation == generation else { return false }
    entries[statement.hash] = nil
    return true
  }

  private mutating func insert(_ statement: PostgresStatement) -> UInt32 {
    generations &+= 1
    entries[statement.hash] = Entry(
      statement: statement, generation: generations, lastUse: uses)
    return generations
  }
}
