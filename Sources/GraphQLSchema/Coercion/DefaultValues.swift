import GraphQLLanguage

/// The coerced default values of a schema that is being built.
///
/// A default of an input object includes the defaults of the fields that it omits. So each is
/// computed when it is first needed, and cached. A default that needs itself has no value (validity
/// reports it). A default that would take more than `sizeLimit` values from others has none either.
/// A chain of thirty types, each with two fields defaulting to the next, would otherwise take a
/// thousand million.
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
  /// The number of values that the current default has taken from the defaults of fields.
  private var taken = 0

  init(_ schema: Schema) { self.schema = schema }

  /// Returns the default of an argument or a field.
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

  /// Returns the default of a field that a literal omits; nil, too, if the literal would grow too
  /// large.
  func value(leftOut field: InputValueDefinition) -> InputValue? {
    guard taken <= Self.sizeLimit, let value = value(of: field) else { return nil }
    if case .coerced(_, let size) = states[ObjectIdentifier(field)] { taken += size }
    return taken <= Self.sizeLimit ? value : nil
  }
}
