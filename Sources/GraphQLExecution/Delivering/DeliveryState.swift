import GraphQLPlanning
import GraphQLResponse
import JSON

/// The pending parts of a response and their payloads, as plain data: without statements and
/// sockets.
///
/// A fragment is deferred once for each object that it applies to. The fields that the same
/// fragments select on one object are a group. A fragment is complete when all of its groups are
/// complete. Each group is sent once. A fragment inside of a deferred fragment becomes pending
/// after it. The later items of a streamed list are a fragment of one group, which becomes pending
/// when its initial items were sent.
///
/// GraphQL incremental delivery (v0.2). In the format of 2022 each group is a fragment, and is sent
/// when it is complete.
struct DeliveryState {
  /// A fragment of one object, or the later items of one list.
  private final class Fragment {
    let usage: Int
    let path: [PathSegment]
    let parent: Fragment?
    var id: Int?
    var isOver = false
    var groups: [Group] = []
    var children: [Fragment] = []

    init(_ usage: Int, _ path: [PathSegment], in parent: Fragment?) {
      self.usage = usage
      self.path = path
      self.parent = parent
      parent?.children.append(self)
    }
  }

  private final class Group {
    let path: [PathSegment]
    let fragments: [Fragment]
    /// Its object's fields, or the items, once they are there.
    var data: [UInt8]?
    /// The errors of fields inside of it.
    var inner: [GraphQLError] = []
    /// Why it has no data, or no more items.
    var errors: [GraphQLError]?
    /// The item that these are of.
    var failedItem: Int?
    /// Lists in it of which more is to come.
    var streams: [Fragment] = []
    var isSent = false

    init(_ path: [PathSegment], _ fragments: [Fragment]) {
      self.path = path
      self.fragments = fragments
    }

    var isThere: Bool { data != nil || errors != nil }
  }

  private struct Key: Hashable {
    let usage: Int
    let path: [PathSegment]
  }

  private let delivery: DeliveryPlan
  private let requestID: String
  private var fragments: [Key: Fragment] = [:]
  /// The fragments that are in no other fragment, in the order of the response.
  private var outermost: [Fragment] = []
  private var groups: [[Group]]
  private var places: [[[PathSegment]: Group]]
  /// The number of outstanding parts of each fragment.
  private var partsLeft: [Int]
  private var pending: [Fragment] = []
  private var nextID = 0
  /// The errors of all parts so far.
  private(set) var errors: [GraphQLError] = []

  init(_ delivery: DeliveryPlan, requestID: String) {
    self.delivery = delivery
    self.requestID = requestID
    groups = Array(repeating: [], count: delivery.parts.count)
    places = Array(repeating: [:], count: delivery.parts.count)
    partsLeft = delivery.usages.indices.map { usage in
      delivery.parts.count { $0.usages.contains(usage) }
    }
  }

  /// Something is still to come.
  var isPending: Bool {
    switch delivery.format {
    case .v02: pending.contains { !$0.isOver }
    case .v20220824: groups.contains { $0.contains { !$0.isThere } }
    }
  }

  // MARK: - What is met

  /// - Parameter source: the group that has what was met; nil for the first part.
  private mutating func note(_ notes: [ResponseWriter.Note], in source: Group?) {
    for case .pending(let part, let path) in notes where places[part][path] == nil {
      var members: [Fragment] = []
      for usage in delivery.parts[part].usages {
        let member = fragment(usage, at: path)
        if delivery.usages[usage].firstItem != nil { source?.streams.append(member) }
        members.append(member)
      }
      let group = Group(path, members)
      for member in members { member.groups.append(group) }
      groups[part].append(group)
      places[part][path] = group
    }
  }

  private mutating func fragment(_ usage: Int, at path: [PathSegment]) -> Fragment {
    let own = Array(path.prefix(delivery.usages[usage].depth))
    if let known = fragments[Key(usage: usage, path: own)] { return known }
    var parent: Fragment?
    if let enclosing = delivery.usages[usage].parent { parent = fragment(enclosing, at: path) }
    let found = Fragment(usage, own, in: parent)
    fragments[Key(usage: usage, path: own)] = found
    if parent == nil { outermost.append(found) }
    return found
  }

  /// The first part is written.
  mutating func begin(_ notes: [ResponseWriter.Note]) {
    note(notes, in: nil)
    for case .error(let error) in notes { errors.append(error) }
    guard delivery.format == .v02 else { return }
    pending = begun(outermost)
  }

  /// Returns the candidates that are still pending. A candidate whose data was sent with another
  /// fragment is replaced by the fragments inside of it.
  private mutating func begun(_ candidates: [Fragment]) -> [Fragment] {
    var found: [Fragment] = []
    for fragment in candidates {
      if fragment.groups.allSatisfy(\.isSent) {
        found += begun(fragment.children)
      } else {
        fragment.id = nextID
        nextID += 1
        found.append(fragment)
      }
    }
    return found
  }

  /// A part is there.
  ///
  /// - Parameter text: in which the entries' data stands.
  mutating func receive(_ part: Int, _ entries: [ResponseWriter.Entry], in text: [UInt8]) {
    for entry in entries {
      guard let group = places[part][entry.path], !group.isThere else { continue }
      group.data = entry.data.map { Array(text[$0]) }
      for case .error(let error) in entry.notes { group.inner.append(error) }
      note(entry.notes, in: group)
      if !entry.failure.isEmpty {
        group.errors = entry.failure
        group.failedItem = entry.failedItem
      } else if entry.data == nil {
        group.errors = [.fault("A part has no data.", path: entry.path)]
      }
    }
    end(part, .fault("A part has no object where the first part has one."))
  }

  /// Fails a part. Its missing groups are not sent.
  private mutating func end(_ part: Int, _ error: GraphQLError) {
    for group in groups[part] where !group.isThere {
      var error = error
      error.path = group.path
      group.errors = [error]
    }
    for usage in delivery.parts[part].usages { partsLeft[usage] -= 1 }
    for group in groups[part] { errors += group.inner + (group.errors ?? []) }
  }

  /// Neither this part nor any behind it comes.
  mutating func fail(from part: Int, _ error: GraphQLError) {
    for part in part..<delivery.parts.count { end(part, error) }
  }

  // MARK: - What is told

  /// Writes the members behind the first part's `data` and `errors`.
  mutating func writeBeginning(to json: inout JSONWriter) {
    guard isPending else { return }
    if delivery.format == .v02 {
      json.append(",\"pending\":")
      write(pending, to: &json)
    }
    json.append(",\"hasNext\":true")
  }

  /// Returns the next response without its closing brace, or nil if a part causes none.
  mutating func next(after part: Int) -> JSONWriter? {
    switch delivery.format {
    case .v02: next()
    case .v20220824: nextFragments(part)
    }
  }

  private mutating func next() -> JSONWriter? {
    var entries = JSONWriter()
    var completed = JSONWriter()
    var begun: [Fragment] = []
    var place = 0
    // Completing one can make others pending, which may be complete as well.
    while place < pending.count {
      let fragment = pending[place]
      place += 1
      guard !fragment.isOver, let id = fragment.id else { continue }
      let failure = fragment.groups.first { $0.errors != nil }?.errors
      guard failure != nil || partsLeft[fragment.usage] == 0 else { continue }
      // The items before one that failed are there all the same.
      let isThere = failure == nil || delivery.usages[fragment.usage].firstItem != nil
      var inner: [Fragment] = isThere ? fragment.children : []
      for group in fragment.groups where isThere && !group.isSent {
        write(group, of: fragment, to: &entries)
        inner += group.streams
      }
      fragment.isOver = true
      completed.append(completed.count > 0 ? ",{\"id\":" : "{\"id\":")
      completed.write("\(id)")
      if let failure {
        completed.append(",\"errors\":")
        completed.write(failure, requestID: requestID)
      }
      completed.append("}")
      inner = self.begun(inner)
      begun += inner
      pending += inner
    }
    pending.removeAll { $0.isOver }
    guard completed.count > 0 else { return nil }
    var json = JSONWriter(capacity: entries.count + completed.count + 256)
    json.append("{")
    if !begun.isEmpty {
      json.append("\"pending\":")
      write(begun, to: &json)
      json.append(",")
    }
    if entries.count > 0 {
      json.append("\"incremental\":[")
      json.append(entries.finish())
      json.append("],")
    }
    json.append("\"completed\":[")
    json.append(completed.finish())
    json.append(isPending ? "],\"hasNext\":true" : "],\"hasNext\":false")
    return json
  }

  /// Writes a group under its closest pending fragment, which gives the shortest path.
  private func write(_ group: Group, of fragment: Fragment, to json: inout JSONWriter) {
    group.isSent = true
    guard let data = group.data, !data.isEmpty else { return }
    var nearest = fragment
    for other in group.fragments
    where other.id != nil && !other.isOver && other.path.count > nearest.path.count {
      nearest = other
    }
    json.append(json.count > 0 ? ",{\"id\":" : "{\"id\":")
    json.write("\(nearest.id ?? 0)")
    if group.path.count > nearest.path.count {
      json.append(",\"subPath\":")
      json.write(Array(group.path.dropFirst(nearest.path.count)))
    }
    write(data, isItems: delivery.usages[fragment.usage].firstItem != nil, group.inner, to: &json)
    json.append("}")
  }

  private func write(
    _ data: [UInt8]?, isItems: Bool, _ errors: [GraphQLError], to json: inout JSONWriter
  ) {
    json.append(isItems ? ",\"items\":" : ",\"data\":")
    if let data {
      if isItems { json.append("[") }
      json.append(data)
      if isItems { json.append("]") }
    } else {
      json.writeNull()
    }
    if !errors.isEmpty {
      json.append(",\"errors\":")
      json.write(errors, requestID: requestID)
    }
  }

  private func write(_ fragments: [Fragment], to json: inout JSONWriter) {
    json.append("[")
    for (index, fragment) in fragments.enumerated() {
      json.append(index > 0 ? ",{\"id\":" : "{\"id\":")
      json.write("\(fragment.id ?? 0)")
      json.append(",\"path\":")
      json.write(fragment.path)
      if let label = delivery.usages[fragment.usage].label {
        json.append(",\"label\":")
        json.write(label)
      }
      json.append("}")
    }
    json.append("]")
  }

  private mutating func nextFragments(_ part: Int) -> JSONWriter? {
    let there = groups.joined().filter { $0.isThere && !$0.isSent }
    guard !there.isEmpty else { return nil }
    var entries = JSONWriter(capacity: there.reduce(256) { $0 + ($1.data?.count ?? 4) + 64 })
    for group in there {
      group.isSent = true
      guard let usage = group.fragments.first?.usage else { continue }
      let errors = group.errors ?? []
      guard let first = delivery.usages[usage].firstItem else {
        write(
          group.data, of: usage, at: group.path, isItems: false, group.inner + errors, to: &entries)
        continue
      }
      if let data = group.data, !data.isEmpty {
        let path = group.path + [.index(first)]
        write(data, of: usage, at: path, isItems: true, group.inner, to: &entries)
      }
      if !errors.isEmpty {
        let path = group.path + [.index(group.failedItem ?? first)]
        write(nil, of: usage, at: path, isItems: true, errors, to: &entries)
      }
    }
    var json = JSONWriter(capacity: entries.count + 64)
    json.append("{\"incremental\":[")
    json.append(entries.finish())
    json.append(isPending ? "],\"hasNext\":true" : "],\"hasNext\":false")
    return json
  }

  private func write(
    _ data: [UInt8]?, of usage: Int, at path: [PathSegment], isItems: Bool,
    _ errors: [GraphQLError], to json: inout JSONWriter
  ) {
    json.append(json.count > 0 ? ",{" : "{")
    if let label = delivery.usages[usage].label {
      json.append("\"label\":")
      json.write(label)
      json.append(",")
    }
    json.append("\"path\":")
    json.write(path)
    write(data, isItems: isItems, errors, to: &json)
    json.append("}")
  }
}
