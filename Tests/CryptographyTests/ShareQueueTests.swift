import Testing

@testable import Cryptography

@Suite struct ShareQueueTests {
  private func share(_ client: String, _ subject: String = "") -> WorkShare {
    WorkShare(client: client, subject: subject)
  }

  /// Knuth's, of which the high bits are good.
  private struct Generator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      func step() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 32
      }
      return step() << 32 | step()
    }
  }

  private func rest(_ queue: inout ShareQueue<Int>) -> [Int] {
    var all: [Int] = []
    while let (next, _) = queue.next() { all.append(next) }
    return all
  }

  @Test func `clients take turns, and the subjects of each`() {
    var queue = ShareQueue<Int>(room: 10)
    for (number, share) in [
      (1, share("a", "ada")), (2, share("a", "ada")), (3, share("a", "ben")), (4, share("b")),
      (5, share("b")),
    ] {
      guard case .added = queue.add(number, for: share) else {
        Issue.record("\(number) was not added")
        continue
      }
    }
    #expect(queue.count == 5)
    #expect(rest(&queue) == [1, 4, 3, 5, 2])
    #expect(queue.count == 0)
  }

  @Test func `clients that may not be next are passed over, and keep their place`() {
    var queue = ShareQueue<Int>(room: 10)
    for (number, client) in [(1, "a"), (2, "a"), (3, "b")] {
      _ = queue.add(number, for: share(client))
    }
    #expect(queue.next { $0 != "a" }?.0 == 3)
    #expect(queue.next { $0 != "a" } == nil)
    #expect(queue.count == 2)
    #expect(rest(&queue) == [1, 2])
  }

  @Test func `a full queue takes who has less in place of the last of who has most`() {
    var queue = ShareQueue<Int>(room: 6)
    for number in 0..<6 { _ = queue.add(number, for: share("flood", "n\(number % 3)")) }
    guard case .refused = queue.add(6, for: share("flood", "n0")) else {
      Issue.record("the flood got more")
      return
    }
    var replaced: [Int] = []
    for number in 10..<16 {
      if case .replaced(let one) = queue.add(number, for: share("other\(number)")) {
        replaced.append(one)
      }
    }
    // The flood keeps one, as each of the others has one.
    #expect(replaced.count == 5)
    #expect(replaced.allSatisfy { $0 < 6 })
    let left = rest(&queue)
    #expect(left.count == 6)
    #expect(left.filter { $0 >= 10 } == [10, 11, 12, 13, 14])
  }

  @Test func `within a client that has most, a subject that has less comes in`() {
    var queue = ShareQueue<Int>(room: 4)
    for number in 0..<4 { _ = queue.add(number, for: share("a", "guessed")) }
    guard case .replaced(3) = queue.add(4, for: share("a", "other")) else {
      Issue.record("the last of the guessed name should have made room")
      return
    }
    guard case .refused = queue.add(5, for: share("a", "guessed")) else {
      Issue.record("the guessed name got more")
      return
    }
    #expect(rest(&queue) == [0, 4, 1, 2])
  }

  @Test func `no order of shares loses or doubles an element`() {
    var random = Generator(state: 7)
    var queue = ShareQueue<Int>(room: 20)
    var waiting: Set<Int> = []
    for number in 0..<20_000 {
      if Bool.random(using: &random) {
        let share = share(
          "c\(Int.random(in: 0..<6, using: &random))", "s\(Int.random(in: 0..<4, using: &random))")
        switch queue.add(number, for: share) {
        case .added: waiting.insert(number)
        case .replaced(let one):
          #expect(waiting.remove(one) != nil)
          waiting.insert(number)
        case .refused: break
        }
      } else if let (next, _) = queue.next() {
        #expect(waiting.remove(next) != nil)
      }
      #expect(queue.count == waiting.count && queue.count <= 20)
    }
    #expect(Set(rest(&queue)) == waiting)
  }
}
