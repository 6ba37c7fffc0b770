/// The share of a queue that work counts toward: a client, and within it a subject, such as the
/// account that a password is for.
package struct WorkShare: Hashable, Sendable {
  package var client: String
  package var subject: String

  /// The share of all work that has no client.
  package static let common = WorkShare(client: "")

  package init(client: String, subject: String = "") {
    self.client = client
    self.subject = subject
  }
}

/// A queue that takes elements from one client after the other, and within a client from one
/// subject after the other, oldest first:
///
///     a: ada 1 2, ben 3      b: eve 4 5      ->  1 4 3 5 2
///
/// A full queue accepts an element of a client that has fewer elements than another: it evicts the
/// last element of the client with the most. Within one client the same applies to its subjects.
struct ShareQueue<Element> {
  enum Admission {
    case added
    /// The element was added, and this one evicted.
    case replaced(Element)
    case refused
  }

  private struct Line {
    let subject: String
    var elements: [Element]
  }

  private struct Client {
    let name: String
    /// The subjects in scheduling order; none has an empty list.
    var lines: [Line] = []
    var count = 0
  }

  /// The clients in scheduling order; none is empty.
  private var clients: [Client] = []
  private(set) var count = 0
  private let room: Int

  init(room: Int) { self.room = room }

  mutating func add(_ element: Element, for share: WorkShare) -> Admission {
    if count < room {
      append(element, for: share)
      return .added
    }
    guard let removed = removeLast(forRoomOf: share) else { return .refused }
    append(element, for: share)
    return .replaced(removed)
  }

  /// - Parameter isReady: whether a client may be the next.
  mutating func next(where isReady: (String) -> Bool = { _ in true }) -> (Element, client: String)?
  {
    guard let place = clients.firstIndex(where: { isReady($0.name) }) else { return nil }
    var client = clients.remove(at: place)
    var line = client.lines.removeFirst()
    let element = line.elements.removeFirst()
    if !line.elements.isEmpty { client.lines.append(line) }
    client.count -= 1
    if client.count > 0 { clients.append(client) }
    count -= 1
    return (element, client.name)
  }

  private mutating func append(_ element: Element, for share: WorkShare) {
    count += 1
    let place = clients.firstIndex { $0.name == share.client } ?? clients.endIndex
    if place == clients.endIndex { clients.append(Client(name: share.client)) }
    clients[place].count += 1
    if let line = clients[place].lines.firstIndex(where: { $0.subject == share.subject }) {
      clients[place].lines[line].elements.append(element)
    } else {
      clients[place].lines.append(Line(subject: share.subject, elements: [element]))
    }
  }

  /// Removes the last element of the client, or the client's subject, with the most elements, if
  /// the share with one more element would still have fewer; otherwise returns nil.
  private mutating func removeLast(forRoomOf share: WorkShare) -> Element? {
    guard let most = clients.indices.max(by: { clients[$0].count < clients[$1].count }) else {
      return nil
    }
    let own = clients.firstIndex { $0.name == share.client }
    if (own.map { clients[$0].count } ?? 0) + 1 < clients[most].count {
      return removeLast(ofClient: most, line: longestLine(of: most))
    }
    guard let own else { return nil }
    let line = longestLine(of: own)
    let lines = clients[own].lines
    let ownCount = lines.first { $0.subject == share.subject }?.elements.count ?? 0
    guard ownCount + 1 < lines[line].elements.count else { return nil }
    return removeLast(ofClient: own, line: line)
  }

  private func longestLine(of client: Int) -> Int {
    let lines = clients[client].lines
    // Of several longest ones, the one whose turn comes last.
    return lines.indices.reversed().max { lines[$0].elements.count < lines[$1].elements.count } ?? 0
  }

  private mutating func removeLast(ofClient place: Int, line: Int) -> Element {
    let element = clients[place].lines[line].elements.removeLast()
    if clients[place].lines[line].elements.isEmpty { clients[place].lines.remove(at: line) }
    clients[place].count -= 1
    if clients[place].count == 0 { clients.remove(at: place) }
    count -= 1
    return element
  }
}
