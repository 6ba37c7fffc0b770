import EventLoops
import OracleSupport
import Testing

@testable import Subscriptions

/// The collections of the registry, against plain ones.
@Suite struct CollectionTests {
  @Test func `deadlines come in their order, each once`() {
    var random = SeededGenerator(seed: 1)
    var deadlines = Deadlines<Int>()
    var plain: [Int: Int64] = [:]
    for _ in 0..<20_000 {
      let key = Int.random(in: 0..<50, using: &random)
      let time = Int64.random(in: 0..<1_000, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0, 1:
        deadlines.set(key, at: Moment(nanoseconds: time))
        plain[key] = time
      case 2:
        deadlines.remove(key)
        plain[key] = nil
      default:
        let due = deadlines.popDue(Moment(nanoseconds: time))
        let least = plain.values.min()
        if let due {
          #expect(plain[due] == least && plain[due].map { $0 <= time } == true)
          plain[due] = nil
        } else {
          #expect(least.map { $0 > time } ?? true)
        }
      }
      #expect(deadlines.next?.nanoseconds == plain.values.min())
    }
  }

  @Test func `a list holds each stream once, however long it is`() {
    var random = SeededGenerator(seed: 2)
    var list = StreamList()
    var plain: Set<UInt64> = []
    for step in 0..<20_000 {
      let number = UInt64.random(in: 0..<40, using: &random)
      if Int.random(in: 0..<(step % 2_000 < 1_000 ? 3 : 6), using: &random) < 2 {
        list.insert(StreamID(number))
        plain.insert(number)
      } else {
        list.remove(StreamID(number))
        plain.remove(number)
      }
      #expect(
        list.count == plain.count && list.contains(StreamID(number)) == plain.contains(number))
    }
    #expect(Set(list.ids.map(\.number)) == plain)
  }

  @Test func `a queue keeps its order, also of what returns to its head`() {
    var random = SeededGenerator(seed: 3)
    var queue = Queue<Int>()
    var plain: [Int] = []
    for step in 0..<20_000 {
      switch Int.random(in: 0..<5, using: &random) {
      case 0, 1:
        queue.append(step)
        plain.append(step)
      case 2:
        queue.prepend(step)
        plain.insert(step, at: 0)
      default: #expect(queue.popFirst() == (plain.isEmpty ? nil : plain.removeFirst()))
      }
      #expect(queue.count == plain.count && queue.first == plain.first)
    }
  }

  @Test func `the backlog keeps the batches that somebody reads`() {
    func batch(_ number: Int) -> EventBatch {
      EventBatch(events: [], snapshot: RegistryHarness.snapshot("\(number + 1):\(number + 1):"))
    }
    var random = SeededGenerator(seed: 4)
    var backlog = EventBacklog()
    var readers: [Int] = []
    for _ in 0..<5_000 {
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        backlog.open(at: backlog.end)
        readers.append(backlog.end)
      case 1 where !readers.isEmpty:
        let position = readers.remove(at: Int.random(in: readers.indices, using: &random))
        #expect(
          backlog.batches(from: position).map { $0.1.snapshot.first }
            == (position..<backlog.end).map { UInt64($0 + 1) })
        backlog.close(position)
        backlog.trim()
      default:
        backlog.append(batch(backlog.end))
        if readers.isEmpty { backlog.trim() }
      }
      #expect(!readers.isEmpty || backlog.isEmpty)
    }
  }
}
