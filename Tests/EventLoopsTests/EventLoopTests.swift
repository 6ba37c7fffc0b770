import Dispatch
import EventLoops
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// The order of events on a loop. No verdict depends on durations: a test waits only for events
/// that must happen.
@Suite(.blocks) struct EventLoopTests {
  /// Two ends of a stream, neither blocking.
  private struct Pair: ~Copyable {
    let near: Int32
    let far: Int32

    init() throws {
      var ends: [Int32] = [-1, -1]
      let made = unsafe ends.withUnsafeMutableBufferPointer {
        unsafe socketpair(
          AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, $0.baseAddress)
      }
      try #require(made == 0)
      (near, far) = (ends[0], ends[1])
    }

    func send(_ byte: UInt8 = 1) {
      let bytes = [byte]
      _ = unsafe bytes.withUnsafeBytes { unsafe write(far, $0.baseAddress, 1) }
    }

    func fill() {
      let bytes = [UInt8](repeating: 0, count: 1 << 16)
      while unsafe bytes.withUnsafeBytes({ unsafe write(near, $0.baseAddress, $0.count) }) > 0 {}
    }

    deinit {
      close(near)
      close(far)
    }
  }

  private static func receive(_ descriptor: Int32) -> UInt8? {
    var byte: [UInt8] = [0]
    let count = unsafe byte.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, 1) }
    return count == 1 ? byte[0] : nil
  }

  /// The events in order, from any thread.
  private final class Record: Sendable {
    private let lines = Mutex<[String]>([])

    func add(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
  }

  /// Waits for what must come; only a test that fails waits long.
  private func wait(_ done: DispatchSemaphore) throws {
    try #require(done.wait(timeout: .now() + 60) == .success)
  }

  /// Takes a place back when it goes.
  private final class Owner {
    let loop: EventLoop
    let token: EventLoop.Token
    let record: Record

    init(_ loop: EventLoop, _ descriptor: Int32, _ record: Record) throws {
      self.loop = loop
      self.record = record
      token = try loop.register(descriptor, for: .readable) { _ in }
    }

    deinit {
      loop.unregister(token)
      record.add("gone")
    }
  }

  // MARK: - Readiness

  @Test(arguments: [false, true])
  func `what goes with a handler takes its own places back`(isLast: Bool) throws {
    let loop = try EventLoop(label: "test")
    let first = try Pair()
    let second = try Pair()
    let (near, other) = (first.near, second.near)
    let record = Record()
    let done = DispatchSemaphore(value: 0)
    let token = try loop.sync {
      let owner = try Owner(loop, other, record)
      return try loop.register(near, for: .readable) { _ in withExtendedLifetime(owner) {} }
    }
    if isLast {
      loop.stop()
    } else {
      loop.sync { loop.unregister(token) }
    }
    // Runs on the loop's queue behind its end, if it was stopped.
    loop.execute { done.signal() }
    try wait(done)
    #expect(record.all == ["gone"])
    loop.stop()
    // Both were open until here.
    #expect(first.near == near && second.near == other)
  }

  @Test func `an owner that goes on another thread leaves its place on the loop`() throws {
    final class Descriptor: Sendable {
      let record: Record
      init(_ record: Record) { self.record = record }
      deinit { record.add("closed") }
    }
    let loop = try EventLoop(label: "test")
    let pair = try Pair()
    let near = pair.near
    let record = Record()
    let token = try loop.sync { try loop.register(near, for: .readable) { _ in } }
    let isHeld = DispatchSemaphore(value: 0)
    loop.execute { isHeld.wait() }
    loop.unregister(token, keeping: Descriptor(record))
    record.add("left")
    isHeld.signal()
    // There would be one already.
    try loop.sync { _ = try loop.register(near, for: .readable) { _ in } }
    loop.sync {}
    #expect(record.all == ["left", "closed"])
    loop.stop()
  }

  @Test func `a handler is called on its loop for what the descriptor is ready for`() throws {
    let loop = try EventLoop(label: "test")
    let pair = try Pair()
    let done = DispatchSemaphore(value: 0)
    let record = Record()
    let near = pair.near
    try loop.sync {
      _ = try loop.register(near, for: [.readable, .peerClosed]) { readiness in
        loop.preconditionOnLoop()
        if let byte = Self.receive(near) {
          record.add("\(byte)")
          done.signal()
        }
        if readiness.contains(.peerClosed) {
          record.add("closed")
          done.signal()
          loop.stop()
        }
      }
    }
    pair.send(5)
    try wait(done)
    pair.send(6)
    try wait(done)
    shutdown(pair.far, Int32(SHUT_WR))
    try wait(done)
    loop.sync {}
    #expect(record.all.prefix(3) == ["5", "6", "closed"])
  }

  @Test func `only what was asked for last is reported`() throws {
    let loop = try EventLoop(label: "test")
    let pair = try Pair()
    let done = DispatchSemaphore(value: 0)
    let record = Record()
    let near = pair.near
    let token = Mutex<EventLoop.Token?>(nil)
    try loop.sync {
      let made = try loop.register(near, for: .writable) { readiness in
        record.add(readiness.contains(.writable) ? "writable" : "readable")
        guard let own = token.withLock({ $0 }) else { return }
        if readiness.contains(.writable) {
          loop.update(own, for: .readable)
        } else {
          loop.unregister(own)
        }
        done.signal()
      }
      token.withLock { $0 = made }
    }
    try wait(done)
    pair.send()
    try wait(done)
    loop.sync {}
    #expect(record.all == ["writable", "readable"])
    loop.stop()
  }

  @Test func `a handler that another one of the same batch takes away is not called`() throws {
    let loop = try EventLoop(label: "test")
    let first = try Pair()
    let second = try Pair()
    let ends = [first.near, second.near]
    let done = DispatchSemaphore(value: 0)
    let record = Record()
    let tokens = Mutex<[EventLoop.Token]>([])
    loop.sync {
      // Both are ready before the loop can look.
      first.send()
      second.send()
      for (index, end) in ends.enumerated() {
        let token = try? loop.register(end, for: .readable) { _ in
          record.add("\(index)")
          for token in tokens.withLock({ $0 }) { loop.unregister(token) }
          done.signal()
        }
        guard let token else { continue }
        tokens.withLock { $0.append(token) }
      }
    }
    try wait(done)
    loop.sync {}
    #expect(record.all.count == 1)
    loop.stop()
  }

  @Test func `a descriptor that is used again has a token of its own`() throws {
    let loop = try EventLoop(label: "test")
    let pair = try Pair()
    let done = DispatchSemaphore(value: 0)
    let record = Record()
    let near = pair.near
    try loop.sync {
      let old = try loop.register(near, for: .readable) { _ in record.add("old") }
      loop.unregister(old)
      _ = try loop.register(near, for: .readable) { _ in
        record.add("new")
        _ = Self.receive(near)
        done.signal()
      }
      // What is done with the old token does nothing to the new one.
      loop.update(old, for: [])
      loop.unregister(old)
    }
    pair.send()
    try wait(done)
    #expect(record.all == ["new"])
    loop.stop()
  }

  @Test func `a descriptor that there is none of is refused by name`() throws {
    let loop = try EventLoop(label: "test")
    loop.sync {
      do {
        _ = try loop.register(-1, for: .readable) { _ in }
        Issue.record("It was registered.")
      } catch {
        let error = error as? EventLoopError
        #expect(error?.call == "epoll_ctl")
        #expect(error?.code == EBADF)
      }
    }
    loop.stop()
  }

  @Test func `a loop that was stopped calls nobody`() throws {
    let loop = try EventLoop(label: "test")
    let pair = try Pair()
    let record = Record()
    let near = pair.near
    try loop.sync {
      _ = try loop.register(near, for: .readable) { _ in record.add("called") }
    }
    loop.stop()
    loop.sync {}
    pair.send()
    // Two turns of the queue: the first could still have been behind a wake-up.
    loop.sync {}
    loop.sync {}
    #expect(record.all == [])
  }

  @Test func `a descriptor that is always ready does not keep others from the loop`() throws {
    let loop = try EventLoop(label: "test")
    let pair = try Pair()
    pair.send()
    let near = pair.near
    let token = try loop.sync {
      // Never read, so it is ready at every look.
      try loop.register(near, for: .readable) { _ in }
    }
    for _ in 0..<20 {
      let done = DispatchSemaphore(value: 0)
      loop.execute { done.signal() }
      try wait(done)
    }
    loop.sync { loop.unregister(token) }
    loop.stop()
  }

  // MARK: - Batches

  @Test func `work after a batch comes after all its events, once`() throws {
    let loop = try EventLoop(label: "test")
    let first = try Pair()
    let second = try Pair()
    let done = DispatchSemaphore(value: 0)
    let record = Record()
    loop.sync {
      first.send()
      second.send()
      for end in [first.near, second.near] {
        _ = try? loop.register(end, for: .readable) { _ in
          guard Self.receive(end) != nil else { return }
          record.add("event")
          loop.afterThisBatch {
            record.add("after")
            done.signal()
          }
        }
      }
    }
    try wait(done)
    try wait(done)
    #expect(record.all == ["event", "event", "after", "after"])
    loop.stop()
  }

  @Test func `work after a batch may ask for more, also outside of batches`() throws {
    let loop = try EventLoop(label: "test")
    let done = DispatchSemaphore(value: 0)
    let record = Record()
    loop.execute {
      loop.afterThisBatch {
        record.add("first")
        loop.afterThisBatch {
          record.add("third")
          done.signal()
        }
      }
      loop.afterThisBatch { record.add("second") }
      record.add("now")
    }
    try wait(done)
    #expect(record.all == ["now", "first", "second", "third"])
    loop.stop()
  }

  // MARK: - Timers

  @Test func `timers come in the order of their times, and those let go of never`() throws {
    let loop = try EventLoop(label: "test")
    let done = DispatchSemaphore(value: 0)
    let record = Record()
    let kept = Mutex<[Box]>([])
    loop.sync {
      let cancelled = loop.schedule(after: .zero) { record.add("cancelled") }
      _ = loop.schedule(after: .zero) { record.add("let go of") }
      let last = loop.schedule(after: .milliseconds(20)) {
        record.add("last")
        done.signal()
      }
      let first = loop.schedule(after: .milliseconds(1)) { record.add("first") }
      cancelled.cancel()
      kept.withLock { $0 = [Box(cancelled), Box(last), Box(first)] }
    }
    try wait(done)
    #expect(record.all == ["first", "last"])
    loop.stop()
  }

  @Test func `a timer that repeats does so until it is cancelled`() throws {
    let loop = try EventLoop(label: "test")
    let done = DispatchSemaphore(value: 0)
    let record = Record()
    let kept = Mutex<[Box]>([])
    loop.sync {
      let timer = loop.schedule(after: .zero, repeating: .milliseconds(1)) {
        loop.preconditionOnLoop()
        record.add("tick")
        guard record.all.count == 3 else { return }
        for box in kept.withLock({ $0 }) { box.timer.cancel() }
        let last = loop.schedule(after: .milliseconds(20)) { done.signal() }
        kept.withLock { $0.append(Box(last)) }
      }
      kept.withLock { $0 = [Box(timer)] }
    }
    try wait(done)
    #expect(record.all == ["tick", "tick", "tick"])
    loop.stop()
  }

  /// Touched on the loop alone.
  private final class Box: @unchecked Sendable {
    let timer: LoopTimer

    init(_ timer: LoopTimer) { self.timer = timer }
  }

  @Test func `a timer for ages is never due and one of the past at once`() throws {
    let loop = try EventLoop(label: "test")
    let done = DispatchSemaphore(value: 0)
    let record = Record()
    let kept = Mutex<[Box]>([])
    loop.sync {
      let never = loop.schedule(after: .seconds(Int64.max / 2)) { record.add("never") }
      let late = loop.schedule(after: .seconds(-5)) {
        record.add("late")
        done.signal()
      }
      kept.withLock { $0 = [Box(never), Box(late)] }
    }
    try wait(done)
    #expect(record.all == ["late"])
    loop.stop()
  }

  @Test func `a timer let go of on another thread comes no more`() throws {
    let loop = try EventLoop(label: "test")
    let record = Record()
    let kept = Mutex<[Box]>([])
    loop.sync {
      let timer = loop.schedule(after: .milliseconds(1)) { record.add("called") }
      kept.withLock { $0 = [Box(timer)] }
      // The loop is here until the timer is gone, so that it cannot come first.
      let isGone = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        kept.withLock { $0 = [] }
        isGone.signal()
      }
      isGone.wait()
    }
    let done = DispatchSemaphore(value: 0)
    loop.sync {
      let last = loop.schedule(after: .milliseconds(20)) { done.signal() }
      kept.withLock { $0 = [Box(last)] }
    }
    try wait(done)
    #expect(record.all == [])
    loop.stop()
  }

  // MARK: - Other threads

  @Test func `work of many threads is done once each, in the order of its thread`() throws {
    let loop = try EventLoop(label: "test")
    let done = DispatchSemaphore(value: 0)
    let found = Mutex<[Int: [Int]]>([:])
    for thread in 0..<8 {
      Thread.detachNewThread {
        for number in 0..<2_000 {
          loop.execute {
            loop.preconditionOnLoop()
            found.withLock { $0[thread, default: []].append(number) }
          }
        }
        loop.execute { done.signal() }
      }
    }
    for _ in 0..<8 { try wait(done) }
    #expect(
      found.withLock { $0 }
        == Dictionary(uniqueKeysWithValues: (0..<8).map { ($0, Array(0..<2_000)) }))
    loop.stop()
  }

  @Test func `work that is posted after the end still runs, after what was posted before`() throws {
    let loop = try EventLoop(label: "test")
    let record = Record()
    loop.execute {
      loop.execute { record.add("before") }
      loop.stop()
    }
    for number in 0..<3 { loop.sync { record.add("\(number)") } }
    loop.stop()
    #expect(record.all.filter { $0 != "before" } == ["0", "1", "2"])
    #expect(record.all.contains("before"))
  }

  // MARK: - Accepting

  @Test func `what waits at a listening socket is taken, and nothing is told as such`() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
    try #require(listener >= 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(listener, $0, length) == 0 && listen(listener, 4) == 0
          && getsockname(listener, $0, &length) == 0
      }
    }
    try #require(isListening)
    var peer = sockaddr_storage()
    let none = EventLoop.acceptSocket(from: listener, peer: &peer)
    #expect(none.descriptor == -1)
    #expect(none.error == EAGAIN)

    let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(client) }
    let isConnected = unsafe withUnsafePointer(to: address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(client, $0, length) == 0
      }
    }
    try #require(isConnected)
    let taken = EventLoop.acceptSocket(from: listener, peer: &peer)
    try #require(taken.descriptor >= 0)
    defer { close(taken.descriptor) }
    #expect(taken.error == 0)
    #expect(peer.ss_family == sa_family_t(AF_INET))
    #expect(fcntl(taken.descriptor, F_GETFL) & O_NONBLOCK != 0)
    #expect(fcntl(taken.descriptor, F_GETFD) & FD_CLOEXEC != 0)
  }
}
