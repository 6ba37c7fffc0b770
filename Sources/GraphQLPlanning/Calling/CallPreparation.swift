import GraphQLLanguage
import GraphQLSchema
import SQL

/// What the server does with an input before the call, so that the database never sees it: passwords
/// and credentials.
package enum CallPreparation: Sendable {
  /// `@password`: a password from now on. Its hash is handed on; `!` and what is wrong with it for one
  /// that is not taken. `@password(again:)` also compares it with the hash that `again` returns, if the
  /// request was done before: `@call(again:)` then receives what `knownPassword` hands on.
  case newPassword(InputSource, again: PlannedStatement?)
  /// `@password(of:)`: a password that somebody has. The stored hash, which `lookup` gives, is handed
  /// on when it is its; an empty text when it is not; null when none was given.
  case knownPassword(InputSource, lookup: PlannedStatement)
  /// `@identityToken`: its claims are handed on as `jsonb`; null for one that must not be accepted.
  case identityToken(InputSource, provider: InputSource)
  /// `@sealed`: bytes that only the server can open; null for null.
  case sealed(InputSource)
}

/// A part of what a preparation came to.
package struct PreparedValue: Sendable, Hashable {
  package enum Part: Sendable, Hashable {
    /// As `text`.
    case text
    /// As `jsonb`.
    case json
    case bytes
    /// Of a known password: its hash made anew, where that is due.
    case renewed
  }

  /// Which of the call's preparations.
  package let index: Int
  package let part: Part
}

extension CallPreparation {
  /// The statement that returns the hash that a password is compared with.
  package var lookup: PlannedStatement? {
    switch self {
    case .knownPassword(_, let lookup): lookup
    case .newPassword(_, let again): again
    case .identityToken, .sealed: nil
    }
  }
}

/// The inputs of a field that are prepared, found by their place: an argument, or a field of an input
/// that is one.
struct PreparedInputs {
  private(set) var preparations: [CallPreparation] = []
  private var places: [[String]: PreparedValue] = [:]

  subscript(path: [String]) -> PreparedValue? { places[path] }

  mutating func add(_ preparation: CallPreparation, at path: [String]) {
    let index = preparations.count
    preparations.append(preparation)
    let part: PreparedValue.Part
    switch preparation {
    case .newPassword: part = .text
    case .knownPassword:
      part = .text
      places[path + ["renewed"]] = PreparedValue(index: index, part: .renewed)
    case .identityToken: part = .json
    case .sealed: part = .bytes
    }
    places[path] = PreparedValue(index: index, part: part)
  }
}

/// The directives that say what is prepared.
enum PreparedInput {
  static let directives: Set<String> = ["password", "identityToken", "sealed"]

  /// Whether an input is for the server alone: it stands in no `jsonb` that a function gets.
  static func isHidden(_ definition: InputValueDefinition) -> Bool {
    definition.appliedDirectives.contains { directives.contains($0.name.text) }
  }
}

extension InputValueDefinition {
  /// `PreparedInput.isHidden`, for what writes inputs as `jsonb`.
  package var isForServerAlone: Bool { PreparedInput.isHidden(self) }
}

extension InputSource {
  /// A field of the input that this is.
  func member(_ name: String) -> InputSource {
    switch self {
    case .variable(let index, let path): .variable(index, path: path + [.name(name)])
    case .object(let members): members.first { $0.name == name }?.source ?? .constant(.null)
    case .constant(let value): .constant(value[name] ?? .null)
    case .string, .int, .float, .list: .constant(.null)
    }
  }
}
