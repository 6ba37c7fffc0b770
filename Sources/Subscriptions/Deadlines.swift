import EventLoops

/// The times at which keys are due: one for each key, which can be replaced and removed.
///
/// - Complexity: O(log *n*) for each call, amortized.
struct Deadlines<Key: Hashable> {
  private var times: [Key: Moment] = [:]
  /// A heap, the earliest first. An entry is outdated if `times` says otherwise.
  private var heap: [(moment: Moment, key: Key)] = []

  var isEmpty: Bool { times.isEmpty }

  /// The earliest time.
  var next: Moment? {
    mutating get {
      while let first = heap.first {
        if times[first.key] == first.moment { return first.moment }
        removeFirst()
      }
      return nil
    }
  }

  mutating func set(_ key: Key, at moment: Moment) {
    times[key] = moment
    heap.append((moment, key))
    rise(heap.count - 1)
    if heap.count > 2 * times.count + 64 { compact() }
  }

  mutating func remove(_ key: Key) { times[key] = nil }

  /// Removes and returns the earliest key that is due.
  mutating func popDue(_ now: Moment) -> Key? {
    guard let next, next <= now, let key = heap.first?.key else { return nil }
    removeFirst()
    times[key] = nil
    return key
  }

  private mutating func compact() {
    let current = heap.filter { times[$0.key] == $0.moment }
    heap = []
    for entry in current {
      heap.append(entry)
      rise(heap.count - 1)
    }
  }

  private mutating func removeFirst() {
    guard let last = heap.popLast(), !heap.isEmpty else { return }
    heap[0] = last
    var place = 0
    while true {
      var least = place
      for child in [2 * place + 1, 2 * place + 2]
      where child < heap.count && heap[child].moment < heap[least].moment { least = child }
      guard least != place else { return }
      heap.swapAt(place, least)
      place = least
    }
  }

  private mutating func rise(_ start: Int) {
    var place = start
    while place > 0, heap[place].moment < heap[(place - 1) / 2].moment {
      heap.swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }
}
