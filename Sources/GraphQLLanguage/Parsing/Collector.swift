/// Items on their way into arrays whose length is not yet known.
///
/// The collector is a stack, which nested lists share. Taking items moves them into an array of
/// exactly their number, so that a list costs one allocation however long it grows.
@safe
struct Collector<Item>: ~Copyable {
  private var base: UnsafeMutablePointer<Item>
  private var capacity: Int
  private var ownsMemory = false
  private(set) var count = 0

  /// Creates a collector in the caller's stack memory, which moves to the heap when that is full.
  @unsafe
  init(startingIn buffer: UnsafeMutableBufferPointer<Item>) {
    // A temporary allocation of one item or more has an address.
    unsafe base = buffer.baseAddress.unsafelyUnwrapped
    capacity = buffer.count
  }

  deinit {
    unsafe base.deinitialize(count: count)
    if ownsMemory { unsafe base.deallocate() }
  }

  @inline(__always)
  mutating func append(_ item: consuming Item) {
    if count == capacity { grow() }
    unsafe (base + count).initialize(to: item)
    count &+= 1
  }

  @inline(never)
  private mutating func grow() {
    let target = UnsafeMutablePointer<Item>.allocate(capacity: capacity * 2)
    unsafe target.moveInitialize(from: base, count: count)
    if ownsMemory { unsafe base.deallocate() }
    unsafe base = target
    capacity *= 2
    ownsMemory = true
  }

  /// Removes the items from an index on, and returns them.
  @inline(__always)
  mutating func take(from start: Int) -> [Item] {
    precondition(start >= 0 && start <= count)
    let length = count - start
    guard length > 0 else { return [] }
    count = start
    var items: [Item] = []
    items.reserveCapacity(length)
    for index in start..<start + length { items.append(unsafe (base + index).move()) }
    return items
  }
}
