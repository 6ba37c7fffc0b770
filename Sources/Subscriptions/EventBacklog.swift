/// Recent batches, kept as long as a stream is starting or a live query is executing that has to compare them with its
/// result. A reader is a position: the number of the first batch that matters to it.
struct EventBacklog {
  private var batches: [EventBatch] = []
  /// The number of readers that begin at each batch, and after the last one.
  private var readers = [0]
  /// The number of the first batch kept.
  private var start = 0
  private var readerCount = 0

  var isEmpty: Bool { batches.isEmpty && readerCount == 0 }
  /// The number of the next batch.
  var end: Int { start + batches.count }

  mutating func append(_ batch: EventBatch) {
    batches.append(batch)
    readers.append(0)
  }

  /// Keeps all batches from `position` on, until `close`.
  mutating func open(at position: Int) {
    readers[position - start] += 1
    readerCount += 1
  }

  mutating func close(_ position: Int) {
    readers[position - start] -= 1
    readerCount -= 1
  }

  /// The batches from `position` on, with their numbers.
  func batches(from position: Int) -> Zip2Sequence<Range<Int>, ArraySlice<EventBatch>> {
    zip(position..<end, batches[(position - start)...])
  }

  /// Forgets the batches before the first reader.
  mutating func trim() {
    guard readers[0] == 0, !batches.isEmpty else { return }
    let count =
      readerCount == 0 ? batches.count : readers.firstIndex { $0 > 0 } ?? batches.count
    guard count == batches.count || count > 32 || count > batches.count / 2 else { return }
    batches.removeFirst(count)
    readers.removeFirst(count)
    start += count
  }

  /// Removes what snapshots say about transactions from this one on.
  mutating func forget(from transaction: UInt64) {
    batches = batches.map { $0.before(transaction) }
  }
}
