/// Which transactions are visible: PostgreSQL's `pg_snapshot`, as text `xmin:xmax:xip,xip,...`.
package struct PostgresSnapshot: Sendable, Hashable {
  /// Everything before it had ended.
  package let first: UInt64
  /// Nothing from it on had.
  package let end: UInt64
  /// The transactions in between that were still open.
  private let open: Set<UInt64>
  package let text: String

  private init(first: UInt64, end: UInt64, open: Set<UInt64>, text: String) {
    self.first = first
    self.end = end
    self.open = open
    self.text = text
  }

  package static func == (left: PostgresSnapshot, right: PostgresSnapshot) -> Bool {
    left.text == right.text
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(first)
    hasher.combine(end)
  }

  package init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard text.utf8.count <= 8192, parts.count == 3, let first = UInt64(parts[0]),
      let end = UInt64(parts[1]), 0 < first, first <= end, end <= UInt64(Int64.max)
    else { return nil }
    var open: [UInt64] = []
    for part in parts[2].split(separator: ",", omittingEmptySubsequences: false)
    where !parts[2].isEmpty {
      guard let number = UInt64(part), first <= number, number < end, number > open.last ?? 0 else {
        return nil
      }
      open.append(number)
    }
    self.init(first: first, end: end, open: Set(open), text: text)
  }

  /// Returns the part of the snapshot before a transaction. Later transactions left nothing, and
  /// their IDs are used again.
  package func before(_ transaction: UInt64) -> PostgresSnapshot {
    guard transaction < end else { return self }
    let open = open.filter { $0 < transaction }
    let first = min(first, transaction)
    let list = open.sorted().map(String.init).joined(separator: ",")
    return PostgresSnapshot(
      first: first, end: transaction, open: open, text: "\(first):\(transaction):\(list)")
  }

  /// Whether the transaction, which has committed, is visible.
  package func contains(_ transaction: UInt64) -> Bool {
    transaction < first || transaction < end && !open.contains(transaction)
  }

  /// Whether all that is visible in the other is visible here, by what is known without looking at each.
  package func covers(_ other: PostgresSnapshot) -> Bool {
    other.end <= first || (other.end <= end && open.allSatisfy { !other.contains($0) })
  }
}
