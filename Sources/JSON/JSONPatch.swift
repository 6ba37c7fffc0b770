/// A patch that turns one JSON value into another: the operations of RFC 6902, as bytes.
///
/// The patch does not touch equal members. In an array, elements that both values have in the same
/// order stay; elements between them are replaced in place, then added or removed. An element that
/// enters a page at its head and pushes out the last one thus takes two operations.
package struct JSONPatch {
  private var json = JSONWriter(capacity: 256)
  private var isFirst = true
  private var path = ""

  /// Returns the operations, such as `[{"op":"replace","path":"/a","value":1}]`, for values nested
  /// no deeper than the parser allows.
  package static func bytes(from old: JSONValue, to new: JSONValue) -> [UInt8] {
    var patch = JSONPatch()
    patch.json.append(UInt8(ascii: "["))
    patch.change(old, new)
    patch.json.append(UInt8(ascii: "]"))
    return patch.json.finish()
  }

  private mutating func change(_ old: JSONValue, _ new: JSONValue) {
    guard !old.isIdentical(to: new) else { return }
    switch (old, new) {
    case (.object(let old), .object(let new)) where Self.haveSameNames(old, new):
      for (old, new) in zip(old, new) {
        at(new.name) { $0.change(old.value, new.value) }
      }
    case (.array(let old), .array(let new)): change(old, new)
    case (.null, _), (.boolean, _), (.number, _), (.string, _), (.array, _), (.object, _):
      add("replace", new)
    }
  }

  /// Returns whether both have the same names in the same order, as two responses to one operation
  /// do. An object with other names is replaced as a whole.
  private static func haveSameNames(
    _ old: [JSONValue.Member], _ new: [JSONValue.Member]
  ) -> Bool {
    old.count == new.count && zip(old, new).allSatisfy { $0.isNamed($1.name) }
  }

  // MARK: Arrays

  private mutating func change(_ old: [JSONValue], _ new: [JSONValue]) {
    var (oldEnd, newEnd) = (old.count, new.count)
    // From behind, so that places before are still what they were.
    for kept in Self.kept(old, new).reversed() + [(-1, -1)] {
      let (oldStart, newStart) = (kept.0 + 1, kept.1 + 1)
      change(old, oldStart..<oldEnd, new, newStart..<newEnd)
      (oldEnd, newEnd) = (kept.0, kept.1)
    }
  }

  private mutating func change(
    _ old: [JSONValue], _ removed: Range<Int>, _ new: [JSONValue], _ added: Range<Int>
  ) {
    let both = min(removed.count, added.count)
    for place in removed.dropFirst(both).reversed() {
      at(String(place)) { $0.add("remove", nil) }
    }
    for step in 0..<both {
      at(String(removed.lowerBound + step)) {
        $0.change(old[removed.lowerBound + step], new[added.lowerBound + step])
      }
    }
    for step in both..<max(both, added.count) {
      at(String(removed.lowerBound + step)) { $0.add("add", new[added.lowerBound + step]) }
    }
  }

  /// The maximum number of elements between the equal ends of two arrays that are searched for
  /// elements that stay.
  private static let maximumCompared = 200

  /// Returns the indices of the elements that stay, in both arrays, in order.
  private static func kept(_ old: [JSONValue], _ new: [JSONValue]) -> [(Int, Int)] {
    let most = min(old.count, new.count)
    var head = 0
    while head < most, old[head].isIdentical(to: new[head]) { head += 1 }
    var tail = 0
    while tail < most - head,
      old[old.count - 1 - tail].isIdentical(to: new[new.count - 1 - tail])
    {
      tail += 1
    }
    let oldMiddle = head..<old.count - tail
    let newMiddle = head..<new.count - tail
    var kept = (0..<head).map { ($0, $0) }
    if max(oldMiddle.count, newMiddle.count) <= maximumCompared {
      let difference = new[newMiddle].difference(from: old[oldMiddle]) { $0.isIdentical(to: $1) }
      let removed = Set(difference.removals.map(\.place))
      let added = Set(difference.insertions.map(\.place))
      kept += zip(
        oldMiddle.filter { !removed.contains($0 - head) },
        newMiddle.filter { !added.contains($0 - head) })
    }
    return kept + (0..<tail).reversed().map { (old.count - 1 - $0, new.count - 1 - $0) }
  }

  // MARK: Operations

  /// Runs `work` with the path extended by a name, whose `~` and `/` are written `~0` and `~1` (RFC
  /// 6901).
  private mutating func at(_ step: String, _ work: (inout JSONPatch) -> Void) {
    let length = path.utf8.count
    path += "/"
    for character in step.unicodeScalars {
      switch character {
      case "~": path += "~0"
      case "/": path += "~1"
      default: path.unicodeScalars.append(character)
      }
    }
    work(&self)
    path = String(decoding: path.utf8.prefix(length), as: UTF8.self)
  }

  private mutating func add(_ operation: String, _ value: JSONValue?) {
    if !isFirst { json.append(UInt8(ascii: ",")) }
    isFirst = false
    json.append(#"{"op":""#)
    json.append(Array(operation.utf8))
    json.append(#"","path":"#)
    json.write(path)
    if let value {
      json.append(#","value":"#)
      json.write(value)
    }
    json.append(UInt8(ascii: "}"))
  }
}

extension CollectionDifference.Change {
  fileprivate var place: Int {
    switch self {
    case .insert(let offset, _, _), .remove(let offset, _, _): offset
    }
  }
}

extension JSONValue {
  /// Whether both strings have the same UTF-8 bytes. `==` compares by canonical equivalence.
  func isIdentical(to other: JSONValue) -> Bool {
    switch (self, other) {
    case (.null, .null): true
    case (.boolean(let value), .boolean(let other)): value == other
    case (.number(let text), .number(let other)), (.string(let text), .string(let other)):
      text.utf8.elementsEqual(other.utf8)
    case (.array(let elements), .array(let others)):
      elements.count == others.count && zip(elements, others).allSatisfy { $0.isIdentical(to: $1) }
    case (.object(let members), .object(let others)):
      members.count == others.count
        && zip(members, others).allSatisfy {
          $0.name.utf8.elementsEqual($1.name.utf8) && $0.value.isIdentical(to: $1.value)
        }
    case (.null, _), (.boolean, _), (.number, _), (.string, _), (.array, _), (.object, _): false
    }
  }
}
