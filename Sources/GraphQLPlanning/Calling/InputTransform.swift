import GraphQLLanguage
import GraphQLSchema
import SQL

/// A transformation of an input before the call, so that the database never sees the original:
/// passwords, credentials and pictures.
package enum InputTransform: Sendable {
  /// `@password`: a new password. Its hash is passed on; for a refused password, `!` and the
  /// reason. `@password(again:)` also compares it with the hash that `again` returns, if the
  /// request was done before: `@call(again:)` then receives the result of `knownPassword`.
  case newPassword(InputSource, again: PlannedStatement?)
  /// `@password(of:)`: an existing password. `lookup` returns the stored hash. The hash is passed
  /// on if the password matches, an empty text if it does not, and null if no password was given.
  case knownPassword(InputSource, lookup: PlannedStatement)
  /// `@identityToken`: its claims are passed on as `jsonb`; null for a token that is not accepted.
  case identityToken(InputSource, provider: InputSource)
  /// `@sealed`: bytes that only the server can open; null for null, and without a key. What was
  /// given is passed on as `:name.plain`, for checks of its form.
  case sealed(InputSource)
  /// `@picture`: a picture in base64. What was stored of it is passed on as `jsonb`; null without one.
  case picture(InputSource)
}

/// A part of the result of a transformation.
package struct PreparedValue: Sendable, Hashable {
  package enum Part: Sendable, Hashable {
    /// The result as `text`.
    case text
    /// The result as `jsonb`.
    case json
    case bytes
    /// The new hash of a known password, if its hash needs to be replaced.
    case renewed
  }

  /// The index of the call's transformation.
  package let index: Int
  package let part: Part
}

extension InputTransform {
  /// The statement that returns the hash to compare a password with.
  package var lookup: PlannedStatement? {
    switch self {
    case .knownPassword(_, let lookup): lookup
    case .newPassword(_, let again): again
    case .identityToken, .sealed, .picture: nil
    }
  }
}

/// The transformed inputs of a field, found by location: an argument, or a field of an argument's
/// input object.
struct PreparedInputs {
  private(set) var transforms: [InputTransform] = []
  private var places: [[String]: PreparedValue] = [:]

  subscript(path: [String]) -> PreparedValue? { places[path] }

  /// Returns the source of an input that is encrypted, for the path that ends in `plain`.
  func plain(_ path: [String]) -> InputSource? {
    guard path.count > 1, path.last == "plain", let value = places[path.dropLast()],
      case .sealed(let source) = transforms[value.index]
    else { return nil }
    return source
  }

  mutating func add(_ transform: InputTransform, at path: [String]) {
    let index = transforms.count
    transforms.append(transform)
    let part: PreparedValue.Part
    switch transform {
    case .newPassword: part = .text
    case .knownPassword:
      part = .text
      places[path + ["renewed"]] = PreparedValue(index: index, part: .renewed)
    case .identityToken, .picture: part = .json
    case .sealed: part = .bytes
    }
    places[path] = PreparedValue(index: index, part: part)
  }
}

/// The directives of transformed inputs.
enum TransformedInput {
  static let directives: Set<String> = ["password", "identityToken", "sealed", "picture"]

  /// Returns whether an input is for the server alone: it is omitted from the `jsonb` that
  /// functions get.
  static func isHidden(_ definition: InputValueDefinition) -> Bool {
    definition.appliedDirectives.contains { directives.contains($0.name.text) }
  }
}

extension InputValueDefinition {
  /// Whether an input is for the server alone, for code that writes inputs as `jsonb`.
  package var isForServerAlone: Bool { TransformedInput.isHidden(self) }
}

extension InputSource {
  /// Returns the source of a field of this input.
  func member(_ name: String) -> InputSource {
    switch self {
    case .variable(let index, let path): .variable(index, path: path + [.name(name)])
    case .object(let members): members.first { $0.name == name }?.source ?? .constant(.null)
    case .constant(let value): .constant(value[name] ?? .null)
    case .string, .int, .float, .list, .each: .constant(.null)
    }
  }
}
