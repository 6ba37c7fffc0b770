import GraphQLLanguage

/// The coerced default values of a schema whose definitions do not know theirs yet.
///
/// A default of an input object takes in the defaults of the fields it leaves out, so each is worked
/// out when it is first needed and remembered. A default that needs itself has no value (validity
/// reports it), and neither has one that would hold more than `sizeLimit` values: a chain of thirty
/// types, each with two fields defaulting to the next, would otherwise hold a thousand million.
final class DefaultValues {
  static let sizeLimit = 10_000
  static let depthLimit = 100

  private enum State {
    case beingCoerced
    case coerced(InputValue?)
  }

  private let schema: Schema
  private var states: [ObjectIdentifier: State] = [:]
  private var depth = 0

  init(_ schema: Schema) { self.schema = schema }

  func value(of input: InputValueDefinition) -> InputValue? {
    guard let literal = input.defaultValue else { return nil }
    switch states[ObjectIdentifier(input)] {
    case .coerced(let value): return value
    case .beingCoerced: return nil
    case nil: break
    }
    // Too deep now may be fine when it is asked for itself: not remembered.
    guard depth < Self.depthLimit else { return nil }
    depth += 1
    states[ObjectIdentifier(input)] = .beingCoerced
    var value = LiteralCoercion(schema, variables: CoercedVariables(), defaults: self)
      .coerce(literal, to: input.type)
    depth -= 1
    if let found = value, Self.size(of: found, limit: Self.sizeLimit) > Self.sizeLimit {
      value = nil
    }
    states[ObjectIdentifier(input)] = .coerced(value)
    return value
  }

  /// How many values are in a value; counting stops past the limit.
  private static func size(of value: InputValue, limit: Int) -> Int {
    var size = 1
    switch value {
    case .null, .boolean, .int, .bigInt, .float, .string, .enum: break
    case .list(let items):
      for item in items where size <= limit { size += self.size(of: item, limit: limit - size) }
    case .object(let members):
      for member in members where size <= limit {
        size += self.size(of: member.value, limit: limit - size)
      }
    }
    return size
  }
}
