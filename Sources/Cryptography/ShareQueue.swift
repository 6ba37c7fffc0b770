/// Whose share of a queue some work takes: a client's, and within it that of a subject, such as the
/// account that a password is for.
package struct WorkShare: Hashable, Sendable {
  package var client: String
  package var subject: String

  /// The share of all work that is not told apart.
  package static let common = WorkShare(client: "")

  package init(client: String, subject: String = "") {
    self.client = client
    self.subject = subject
  }
}

/// Elements that wait. They are taken from one client after the other, and within a client from one
/// subject after the other, the first of each first:
///
///     a: ada 1 2, ben 3      b: eve 4 5      ->  1 4 3 5 2
///
/// A full queue takes an element of a client that has fewer than another: the last element of the
/// client with the most makes room. Within one client the same holds for its subjects.
struct ShareQueue<Element> {
  enum Admission {
    case added
    /// In place of this one.
    case replaced(Element)
    case refused
  }

  private struct Line {
    let subject: String
    var elements: [Element]
  }

  private struct Client {
    let name: String
    /// In the order of their turns; none is empty.
    var lines: [Line] = []
    var count = 0
  }

  /// In the order of their turns; none is empty.
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

  mutating func next() -> Element? {
    guard !clients.isEmpty else { return nil }
    var client = clients.removeFirst()
    var line = client.lines.removeFirst()
    let element = line.elements.removeFirst()
    if !line.elements.isEmpty { client.lines.append(line) }
    client.count -= 1
    if client.count > 0 { clients.append(client) }
    count -= 1
    return element
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

  /// The last element of whoever has the most, if that is more than the share has with one more.
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
    // Of several the one whose turn is the latest.
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
