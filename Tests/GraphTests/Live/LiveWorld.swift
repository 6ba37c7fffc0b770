import OracleSupport
import TestSupport

/// People, what they write about, and the naive rule of who sees what is written.
struct LiveWorld: Sendable {
  let host: Person
  let people: [Person]
  /// Posts of the host, who is in no block: two for everybody, one in the group, and one for everybody on which only the
  /// longest transaction comments.
  let subjects: [NodeKey]
  let group: NodeKey
  /// The blocks, as indices of the people.
  private var blocks: Set<[Int]> = []
  private var members: Set<Int> = []

  /// The place, behind those of the subjects, of what is written on none: new posts.
  static let posts = 4
  /// The index of the subject in the group.
  private static let inGroup = 2
  /// The index of the subject of the longest transaction.
  static let quiet = 3

  init(_ data: GraphData) throws {
    host = try data.person()
    people = try (0..<8).map { _ in try data.person() }
    let group = try data.circle("Group", owner: host)
    subjects = [
      try data.post(.text, by: host), try data.post(.text, by: host),
      try data.post(.text, by: host, circle: group, visibility: "CIRCLE"),
      try data.post(.text, by: host),
    ]
    self.group = group
  }

  /// - Parameters:
  ///   - viewer: nil for an anonymous client.
  ///   - author: nil for the host.
  func sees(_ viewer: Int?, _ place: Int, by author: Int?) -> Bool {
    if place == Self.inGroup, viewer.map({ !members.contains($0) }) ?? true { return false }
    guard let viewer, let author else { return true }
    return !blocks.contains([viewer, author]) && !blocks.contains([author, viewer])
  }

  /// One of the people blocks or unblocks another, or enters or leaves the group.
  mutating func change(_ random: inout SeededGenerator, _ data: GraphData) throws {
    let one = Int.random(in: 0..<people.count, using: &random)
    let other = (one + Int.random(in: 1..<people.count, using: &random)) % people.count
    if Bool.random(using: &random) {
      try set(block: [one, other], to: !blocks.contains([one, other]), data)
    } else {
      try set(member: one, to: !members.contains(one), data)
    }
  }

  /// So that everybody sees everything.
  mutating func open(_ data: GraphData) throws {
    for block in blocks { try set(block: block, to: false, data) }
    for person in people.indices where !members.contains(person) {
      try set(member: person, to: true, data)
    }
  }

  private mutating func set(block: [Int], to isOn: Bool, _ data: GraphData) throws {
    let (one, other) = (people[block[0]], people[block[1]])
    if isOn {
      try data.block(one, other)
      blocks.insert(block)
    } else {
      try data.run("DELETE FROM block WHERE blocker_id = \(one) AND blocked_id = \(other)")
      blocks.remove(block)
    }
  }

  private mutating func set(member: Int, to isOn: Bool, _ data: GraphData) throws {
    if isOn {
      try data.join(group, people[member])
      members.insert(member)
    } else {
      try data.run(
        "DELETE FROM circle_member WHERE circle_id = \(group) AND user_id = \(people[member])")
      members.remove(member)
    }
  }
}

/// A comment or post that was committed.
struct LiveNews: Sendable {
  /// The index of its subject, or that of posts.
  let place: Int
  /// The author's index; nil for the host.
  let author: Int?
  let body: String
  /// The number of its writer, who writes one after the other.
  let writer: Int
}
