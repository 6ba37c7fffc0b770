/// A first-in, first-out queue in one allocation that grows and is kept, unless it was for many.
package struct RingBuffer<Element> {
  private var storage: [Element?] = []
  private var head = 0
  package private(set) var count = 0

  package init() {}

  package var isEmpty: Bool { count == 0 }

  var first: Element? { count == 0 ? nil : storage[head] }

  /// Accesses an element by its age. The oldest has the index 0.
  subscript(index: Int) -> Element? {
    get { index < count ? storage[place(index)] : nil }
    set { if index < count { storage[place(index)] = newValue } }
  }

  package mutating func append(_ element: Element) {
    if count == storage.count { grow() }
    storage[place(count)] = element
    count += 1
  }

  @discardableResult
  package mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    let element = storage[head]
    storage[head] = nil
    head = place(1)
    count -= 1
    if count == 0, storage.count > 1024 { self = Self() }
    return element
  }

  mutating func removeAll() {
    while popFirst() != nil {}
  }

  /// The capacity is a power of two.
  private func place(_ index: Int) -> Int { (head + index) & (storage.count - 1) }

  private mutating func grow() {
    var larger: [Element?] = []
    larger.reserveCapacity(max(8, storage.count * 2))
    for index in 0..<count { larger.append(storage[place(index)]) }
    while larger.count < max(8, storage.count * 2) { larger.append(nil) }
    storage = larger
    head = 0
  }
}
