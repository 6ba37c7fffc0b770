import Foundation
import JSON

/// An expected response: a JSON value in which some leaves are known only in part.
indirect enum Expected {
  case null
  case value(JSONValue)
  /// A number computed by sines, equal but for the last digits.
  case number(Double)
  /// A cursor: whatever text the server chose for a row with these sort keys.
  case cursor(CursorPlace)
  /// A text that depends on the moment.
  case anyText
  /// A count up to a limit, or the stored number.
  case either(JSONValue, JSONValue)
  case list([Expected])
  case object([(name: String, value: Expected)])

  static func text(_ text: String) -> Expected { .value(.string(text)) }
  static func text(_ text: String?) -> Expected { text.map { .value(.string($0)) } ?? .null }
  static func int(_ number: Int) -> Expected { .value(.number(String(number))) }
  static func bool(_ flag: Bool) -> Expected { .value(.boolean(flag)) }

  /// As JSON, for messages.
  var description: String {
    switch self {
    case .null: "null"
    case .value(let value): value.description
    case .number(let number): "\(number)"
    case .cursor(let place): "<cursor \(place.keys)>"
    case .anyText: "<any text>"
    case .either(let one, let other): "<\(one) or \(other)>"
    case .list(let elements): "[" + elements.map(\.description).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.map { "\"\($0.name)\":\($0.value.description)" }.joined(separator: ",") + "}"
    }
  }
}

/// Where a cursor points: the connection it is of, and the sort keys of its row.
struct CursorPlace: Hashable {
  let connection: String
  let keys: [SortKey]
}

/// One column of an order. Nulls come last.
enum SortKey: Hashable {
  case up(Int64)
  case down(Int64)
  case textUp(String)
  case textDown(String)
  case doubleUp(Double)
  case nullLast

  /// Negative when this comes first.
  func compared(to other: SortKey) -> Int {
    switch (self, other) {
    case (.up(let a), .up(let b)): a < b ? -1 : a > b ? 1 : 0
    case (.down(let a), .down(let b)): a > b ? -1 : a < b ? 1 : 0
    case (.doubleUp(let a), .doubleUp(let b)): a < b ? -1 : a > b ? 1 : 0
    case (.textUp(let a), .textUp(let b)): Self.compare(a, b)
    case (.textDown(let a), .textDown(let b)): Self.compare(b, a)
    case (.nullLast, .nullLast): 0
    case (.nullLast, _): 1
    case (_, .nullLast): -1
    default: preconditionFailure("Keys of different columns are compared.")
    }
  }

  private static func compare(_ a: String, _ b: String) -> Int {
    if a.utf8.elementsEqual(b.utf8) { return 0 }
    return a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : 1
  }

  static func compare(_ a: [SortKey], _ b: [SortKey]) -> Int {
    for (x, y) in zip(a, b) {
      let order = x.compared(to: y)
      if order != 0 { return order }
    }
    return 0
  }
}

/// The cursors seen so far and what they point at.
final class CursorBook {
  private(set) var places: [String: CursorPlace] = [:]
  private(set) var cursors: [String: [String]] = [:]

  /// Returns false if the cursor is known to point elsewhere.
  func bind(_ cursor: String, _ place: CursorPlace) -> Bool {
    if let known = places[cursor] { return known.keys == place.keys }
    places[cursor] = place
    cursors[place.connection, default: []].append(cursor)
    return true
  }
}

/// Compares an answer with what it should be.
struct Comparison {
  let book: CursorBook
  private(set) var differences: [String] = []

  init(_ book: CursorBook) { self.book = book }

  mutating func compare(_ actual: JSONValue?, _ expected: Expected, _ path: String = "data") {
    guard let actual else { return differ(path, "nothing", expected) }
    switch expected {
    case .null: if actual != .null { differ(path, actual.description, expected) }
    case .value(let value):
      if actual != value, !isSameNumber(actual, value) {
        differ(path, actual.description, expected)
      }
    case .number(let number):
      guard let found = actual.double,
        abs(found - number) <= 1e-9 * max(1, abs(number))
      else { return differ(path, actual.description, expected) }
    case .anyText: if actual.string == nil { differ(path, actual.description, expected) }
    case .either(let one, let other):
      if actual != one, actual != other { differ(path, actual.description, expected) }
    case .cursor(let place):
      guard let text = actual.string else { return differ(path, actual.description, expected) }
      if !book.bind(text, place) { differ(path, "the cursor of another row, \(text)", expected) }
    case .list(let elements):
      guard let found = actual.array else { return differ(path, actual.description, expected) }
      for (index, element) in elements.enumerated() {
        compare(index < found.count ? found[index] : nil, element, "\(path).\(index)")
      }
      for index in elements.count..<max(found.count, elements.count) {
        differences.append("\(path).\(index): the server has \(found[index]), expected nothing")
      }
    case .object(let members):
      guard let found = actual.members else { return differ(path, actual.description, expected) }
      if found.map(\.name) != members.map(\.name) {
        differences.append(
          "\(path): the server has the fields \(found.map(\.name)), expected \(members.map(\.name))"
        )
      }
      for member in members {
        compare(actual[member.name], member.value, "\(path).\(member.name)")
      }
    }
  }

  private func isSameNumber(_ a: JSONValue, _ b: JSONValue) -> Bool {
    guard let a = a.double, let b = b.double else { return false }
    return a == b
  }

  private mutating func differ(_ path: String, _ actual: String, _ expected: Expected) {
    differences.append("\(path): the server has \(actual), expected \(expected.description)")
  }
}
