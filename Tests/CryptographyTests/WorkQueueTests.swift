import Dispatch
import Foundation
import Synchronization
import Testing

@testable import Cryptography

@Suite struct WorkQueueTests {
  private final class Record: Sendable {
    let outcomes = Mutex<[(String, Bool)]>([])
    let now = Mutex(ContinuousClock.Instant.now)
    func note(_ name: String, _ value: Bool) { outcomes.withLock { $0.append((name, value)) } }
    var names: [String] { outcomes.withLock { $0.map { "\($0.0):\($0.1)" } } }
  }

  @Test func `what finds the queue full is refused, what waits is done in order`() async {
    var limits = WorkQueue.Limits()
    limits.maximumWaiting = 2
    let queue = WorkQueue(label: "full", limits: limits)
    let record = Record()
    let gate = DispatchSemaphore(value: 0)
    let done = DispatchGroup()
    for name in ["a", "b", "c", "d"] {
      done.enter()
      queue.run {
        if name == "a" { gate.wait() }
        return name
      } completion: { value in
        record.note(name, value != nil)
        if name == "d" { gate.signal() }
        done.leave()
      }
    }
    await withCheckedContinuation { waiter in done.notify(queue: .global()) { waiter.resume() } }
    #expect(record.names == ["d:false", "a:true", "b:true", "c:true"])
  }

  @Test func `a client with long work leaves a thread to others, and does all of its own`() async {
    var limits = WorkQueue.Limits()
    limits.concurrency = 2
    limits.maximumRunningOfClient = 1
    limits.maximumWait = .seconds(600)
    let queue = WorkQueue(label: "shares", limits: limits)
    let record = Record()
    let gate = DispatchSemaphore(value: 0)
    let (floods, others) = (DispatchGroup(), DispatchGroup())
    for name in ["a", "b", "c"] {
      floods.enter()
      queue.run(for: WorkShare(client: "flood")) {
        gate.wait()
        return name
      } completion: { value in
        record.note(name, value != nil)
        floods.leave()
      }
    }
    for name in ["x", "y"] {
      others.enter()
      queue.run(for: WorkShare(client: name)) {
        name
      } completion: { value in
        record.note(name, value != nil)
        others.leave()
      }
    }
    await withCheckedContinuation { waiter in others.notify(queue: .global()) { waiter.resume() } }
    #expect(Set(record.names) == ["x:true", "y:true"])
    for _ in 0..<3 { gate.signal() }
    await withCheckedContinuation { waiter in floods.notify(queue: .global()) { waiter.resume() } }
    #expect(record.names.suffix(3) == ["a:true", "b:true", "c:true"])
  }

  @Test func `work stands behind other threads, and they stay where they were`() async {
    var limits = WorkQueue.Limits()
    limits.niceness = 3
    let queue = WorkQueue(label: "nice", limits: limits)
    let inside = await withCheckedContinuation { waiter in
      queue.run(Self.niceness) { waiter.resume(returning: $0) }
    }
    let outside = Self.niceness()
    #expect(inside == min(outside + 3, 19))
  }

  @Sendable private static func niceness() -> Int32 { getpriority(.init(PRIO_PROCESS.rawValue), 0) }

  @Test func `what has waited too long when its turn comes is not done`() async {
    let record = Record()
    let queue = WorkQueue(label: "late", now: { record.now.withLock { $0 } })
    let gate = DispatchSemaphore(value: 0)
    let done = DispatchGroup()
    for name in ["first", "late"] {
      done.enter()
      queue.run {
        if name == "first" { gate.wait() }
        return name
      } completion: { value in
        record.note(name, value != nil)
        done.leave()
      }
    }
    record.now.withLock { $0 += .seconds(3) }
    gate.signal()
    await withCheckedContinuation { waiter in done.notify(queue: .global()) { waiter.resume() } }
    #expect(record.names == ["first:true", "late:false"])
    done.enter()
    queue.run {
      true
    } completion: { value in
      record.note("next", value != nil)
      done.leave()
    }
    await withCheckedContinuation { waiter in done.notify(queue: .global()) { waiter.resume() } }
    #expect(record.names.last == "next:true")
  }
}
