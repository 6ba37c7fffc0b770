import GraphQLLanguage

/// The coerced default values of a schema whose definitions do not know theirs yet.
///
/// A default of an input object takes in the defaults of the fields it leaves out, so each is worked
/// out when it is first needed and remembered. A default that needs itself has no value (validity
/// reports it), and neither has one that would take more than `sizeLimit` values from others: a chain of thirty
/// types, each with two fields defaulting to the next, would otherwise hold a thousand million.
final class DefaultValues {
  static let sizeLimit = 10_000
  static let depthLimit = 100

  private enum State {
    case beingCoerced
    case coerced(InputValue?, size: Int)
  }

  private let schema: Schema
  private var states: [ObjectIdentifier: State] = [:]
  private var depth = 0
  /// How many values the default at hand has taken from the defaults of fields so far.
  private var taken = 0

  init(_ schema: Schema) { self.schema = schema }

  /// Of an argument or a field by itself.
  func value(of input: InputValueDefinition) -> InputValue? {
    guard let literal = input.defaultValue else { return nil }
    switch states[ObjectIdentifier(input)] {
    case .coerced(let value, _): return value
    case .beingCoerced: return nil
    case nil: break
    }
    // Too deep now may be fine when it is asked for itself: not remembered.
    guard depth < Self.depthLimit else { return nil }
    let outer = taken
    taken = 0
    depth += 1
    states[ObjectIdentifier(input)] = .beingCoerced
    let value = LiteralCoercion(schema, variables: CoercedVariables(), defaults: self)
      .coerce(literal, to: input.type)
    states[ObjectIdentifier(input)] = .coerced(value, size: taken + 1)
    depth -= 1
    taken = outer
    return value
  }

  /// Of a field that a literal leaves out: nil, too, when the literal would grow too large.
  func value(leftOut field: InputValueDefinition) -> InputValue? {
    guard taken <= Self.sizeLimit, let value = value(of: field) else { return nil }
    if case .coerced(_, let size) = states[ObjectIdentifier(field)] { taken += size }
    return taken <= Self.sizeLimit ? value : nil
  }
}
