/// Things that wait, taken from one client after the other, the first of each first.
///
/// There is room for so many; while there is, a client may have a quarter of it.
struct FairQueue<Client: Hashable, Element> {
  private var lines: [Client: [Element]] = [:]
  /// The clients with queued elements, in the order of their turns.
  private var turns: [Client] = []
  private(set) var count = 0
  private let room: Int

  init(room: Int) { self.room = max(room, 1) }

  /// Adds an element.
  ///
  /// - Returns: whether there was capacity for it.
  mutating func add(_ element: Element, for client: Client) -> Bool {
    guard count < room, (lines[client]?.count ?? 0) < max(room / 4, 1) else { return false }
    if lines[client] == nil { turns.append(client) }
    lines[client, default: []].append(element)
    count += 1
    return true
  }

  mutating func next() -> Element? {
    guard !turns.isEmpty else { return nil }
    let client = turns.removeFirst()
    guard var line = lines.removeValue(forKey: client), !line.isEmpty else { return next() }
    let element = line.removeFirst()
    if !line.isEmpty {
      lines[client] = line
      turns.append(client)
    }
    count -= 1
    return element
  }
}
