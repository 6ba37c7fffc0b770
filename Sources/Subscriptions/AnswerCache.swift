import EventLoops

/// The responses of one event loop that are known to be what PostgreSQL would answer, until one of
/// their dependencies is touched. A value without a database or a clock, as the registry is.
///
/// A response is kept with the dependencies of its result. Batches of events remove it. Those that
/// arrive while its statement runs are compared when its result is there: the statement's snapshot is
/// not known, but every batch that arrived before the statement was sent is in it.
///
/// Nothing is answered from it before the reader is joined, after a gap, and while nothing has been
/// heard of the reader for `maximumSilence`. A client that wrote is answered only once a batch has
/// come whose poll began after its write was acknowledged.
package struct AnswerCache<Key: Hashable, Answer> {
  /// The number of events during a statement beyond which its response is not kept.
  private static var maximumCompared: Int { 10_000 }

  /// The beginning of a statement: the batches from here on may not be in its result.
  package struct Position: Hashable, Sendable { fileprivate let batch: Int }

  private struct Entry {
    let answer: Answer
    let dependencies: Set<Dependency>
    let bytes: Int
    var lastUse: UInt64
  }

  private let maximumBytes: Int
  private let maximumSilence: Duration
  private var entries: [Key: Entry] = [:]
  private var dependents: [Dependency: Set<Key>] = [:]
  private var clock: UInt64 = 0
  /// What was touched in the batches from `firstBatch` on; nil for a batch with a gap.
  private var batches: [Set<Dependency>?] = []
  private var firstBatch = 0
  private var readings: [Position: Int] = [:]
  /// When the reader was last heard of; nil before it is joined.
  private var heardAt: Moment?
  /// The number of writes that were acknowledged before the last poll began.
  private var writes: UInt64 = 0
  private var connection = 0
  /// The size of the entries, estimated.
  package private(set) var bytes = 0
  package var count: Int { entries.count }

  /// - Parameter maximumSilence: the longest time without a batch; the reader polls each second.
  package init(maximumBytes: Int, maximumSilence: Duration = .seconds(3)) {
    self.maximumBytes = maximumBytes
    self.maximumSilence = maximumSilence
  }

  // MARK: Requests

  /// Returns the response to a request, if it is known to be the current one.
  ///
  /// - Parameter writes: the number of acknowledged writes that its client must see.
  package mutating func answer(_ key: Key, after writes: UInt64, at now: Moment) -> Answer? {
    guard writes <= self.writes, isHeard(at: now), let entry = entries[key] else { return nil }
    clock &+= 1
    entries[key]?.lastUse = clock
    return entry.answer
  }

  private func isHeard(at now: Moment) -> Bool {
    heardAt.map { $0.duration(to: now) <= maximumSilence } ?? false
  }

  /// Begins a statement whose response may be kept; `end` must follow.
  package mutating func begin() -> Position {
    let position = Position(batch: firstBatch + batches.count)
    readings[position, default: 0] += 1
    return position
  }

  /// Ends a statement whose response is not kept.
  package mutating func end(_ position: Position) {
    guard let count = readings[position] else { return }
    readings[position] = count > 1 ? count - 1 : nil
    let first = readings.keys.map(\.batch).min() ?? firstBatch + batches.count
    guard first > firstBatch else { return }
    batches.removeFirst(first - firstBatch)
    firstBatch = first
  }

  /// Ends a statement, and keeps its response, unless a dependency was touched meanwhile.
  ///
  /// - Parameter bytes: the size of key and response.
  package mutating func end(
    _ position: Position, keeping answer: Answer, for key: Key, bytes: Int,
    dependencies: Set<Dependency>
  ) {
    defer { end(position) }
    let size = bytes + 512 + 128 * dependencies.count
    guard heardAt != nil, size <= maximumBytes / 8,
      !isTouched(dependencies, since: position)
    else { return }
    remove(key)
    clock &+= 1
    entries[key] = Entry(
      answer: answer, dependencies: dependencies, bytes: size, lastUse: clock)
    for dependency in dependencies { dependents[dependency, default: []].insert(key) }
    self.bytes += size
    evict()
  }

  private func isTouched(_ dependencies: Set<Dependency>, since position: Position) -> Bool {
    var compared = 0
    for batch in batches.dropFirst(position.batch - firstBatch) {
      guard let batch else { return true }
      compared += batch.count
      guard compared <= Self.maximumCompared, batch.isDisjoint(with: dependencies) else {
        return true
      }
    }
    return false
  }

  // MARK: The commit reader

  /// The reader sends batches from now on.
  package mutating func joined(at now: Moment) {
    clear()
    heardAt = now
  }

  package mutating func receive(_ batch: EventBatch, at now: Moment) {
    guard heardAt != nil else { return }
    heardAt = now
    writes = max(writes, batch.writes)
    if batch.hasGap || batch.crash != nil || batch.connection != connection {
      connection = batch.connection
      clear()
      if !readings.isEmpty { batches.append(nil) }
    }
    guard !batch.events.isEmpty, !entries.isEmpty || !readings.isEmpty else { return }
    var touched: Set<Dependency> = []
    for event in batch.events { touched.formUnion(Dependency.touched(by: event)) }
    for dependency in touched {
      for key in dependents[dependency] ?? [] { remove(key) }
    }
    if !readings.isEmpty { batches.append(touched) }
  }

  // MARK: Removing

  private mutating func clear() {
    entries = [:]
    dependents = [:]
    bytes = 0
  }

  private mutating func remove(_ key: Key) {
    guard let entry = entries.removeValue(forKey: key) else { return }
    bytes -= entry.bytes
    for dependency in entry.dependencies {
      dependents[dependency]?.remove(key)
      if dependents[dependency]?.isEmpty == true { dependents[dependency] = nil }
    }
  }

  /// Removes the older half at once, so that the work is constant per entry over time.
  private mutating func evict() {
    guard bytes > maximumBytes else { return }
    let uses = entries.values.map(\.lastUse).sorted()
    let middle = uses[uses.count / 2]
    for key in entries.filter({ $0.value.lastUse <= middle }).keys { remove(key) }
  }
}
