import Testing

@testable import Server

@Suite struct FairQueueTests {
  @Test func `clients take turns, each in its own order`() {
    var queue = FairQueue<String, Int>(room: 100)
    var added = (0..<20).map { queue.add($0, for: "crowd") }
    added += [queue.add(100, for: "one"), queue.add(101, for: "one"), queue.add(200, for: "other")]
    #expect(added.allSatisfy { $0 })
    var taken: [Int] = []
    while let next = queue.next() { taken.append(next) }
    #expect(taken == [0, 100, 200, 1, 101] + Array(2..<20))
    #expect(queue.count == 0)
  }

  @Test func `one client has a quarter of the room, and all have it together`() {
    var queue = FairQueue<Int, Int>(room: 8)
    let first = (0..<3).map { queue.add($0, for: 1) }
    #expect(first == [true, true, false])
    let others = [2, 2, 3, 3, 4, 4, 5].map { queue.add(0, for: $0) }
    #expect(others == [true, true, true, true, true, true, false])
    _ = queue.next()
    let last = queue.add(0, for: 5)
    #expect(last && queue.count == 8)
  }
}
