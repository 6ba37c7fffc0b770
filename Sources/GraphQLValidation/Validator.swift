import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema

// Validation: document x schema -> `ValidDocument`, or all errors of the document.
//
// The third stage of a request. It does not stop at the first error, executes nothing and reads no
// variables. Its cost is bounded by the size of the document: `ValidationLimits` are checked first,
// and no rule compares every field with every other.

package enum Validator {
  /// Returns the proof that a document satisfies every rule.
  ///
  /// - Throws: all findings, in the order of the document.
  package static func validate(
    _ document: Document, against schema: Schema, suggestions: Bool = true,
    limits: ValidationLimits = .processOnly
  ) throws(RequestErrors) -> ValidDocument {
    let errors = errors(
      in: document, against: schema, suggestions: suggestions, limits: limits)
    guard errors.isEmpty else { throw RequestErrors(errors) }
    return ValidDocument(document: document, schema: schema)
  }

  /// Returns the findings of the named rules alone; of all rules for nil.
  package static func errors(
    in document: Document, against schema: Schema, rules: Set<ValidationRule>? = nil,
    suggestions: Bool = true, limits: ValidationLimits = .processOnly
  ) -> [GraphQLError] {
    var limitCheck = LimitCheck(document: document, limits: limits)
    if let error = limitCheck.firstExceeded() { return [error] }
    var walk = ValidationWalk(
      document: document, schema: schema, rules: rules.map { RuleSet($0) } ?? RuleSet.all,
      suggestions: suggestions, limits: limits)
    walk.walk()
    return report(walk)
  }

  private static func report(_ walk: ValidationWalk) -> [GraphQLError] {
    if walk.errors.isEmpty { return [] }
    let ordered = walk.errors.enumerated().sorted {
      ($0.element.turn, $0.offset) < ($1.element.turn, $1.offset)
    }.map(\.element)
    let shown = ordered.prefix(walk.maximumErrors)
    let locations = walk.document.source.locations(of: shown.flatMap(\.positions))
    var errors = shown.map { error in
      GraphQLError(
        error.message, locations: error.positions.compactMap { locations[$0] },
        rule: error.rule.rawValue, code: error.code)
    }
    if ordered.count > walk.maximumErrors {
      errors.append(
        GraphQLError(
          "Too many validation errors, error limit reached. Validation aborted.",
          code: .validationErrorLimitExceeded))
    }
    return errors
  }
}
