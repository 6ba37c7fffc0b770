import GraphQLLanguage
import GraphQLResponse

/// Builds a `Schema` from type system text: rules first, then the types, then their validity.
///
/// It merges extensions in the same text, and adds the specification's own types and directives. As
/// in the reference implementation, the rules check the text alone. Only a text without findings is
/// built, and then checked to be a valid type system.
///
/// GraphQL September 2025, 3 Type System.
package enum SchemaBuilder {
  /// Returns a valid schema.
  ///
  /// - Throws: all errors, if it is not valid.
  package static func build(
    _ document: Document, suggestions: Bool = true
  ) throws(SchemaErrors) -> Schema {
    let check = check(document, suggestions: suggestions)
    guard let schema = check.schema, check.errors.isEmpty else { throw SchemaErrors(check.errors) }
    return schema
  }

  /// Applies only the named rules. There is a schema if the type system itself is checked (`rules`
  /// is nil or contains `TypeSystemRule`) and there are no errors.
  package static func check(
    _ document: Document, rules: Set<SDLRule>? = nil, suggestions: Bool = true
  ) -> (schema: Schema?, errors: [GraphQLError]) {
    let rules = rules ?? Set(SDLRule.allCases)
    var validator = SDLValidator(document, rules: rules, suggestions: suggestions)
    validator.validate()
    guard validator.findings.isEmpty, rules.contains(.typeSystem) else {
      return (nil, validator.findings.errors(in: document.source))
    }
    var findings = Findings()
    let draft = TypeSystemDraft(document)
    var assembly = SchemaAssembly(draft)
    guard let schema = assembly.schema(&findings) else {
      return (nil, findings.errors(in: document.source))
    }
    var types = TypeSystemValidator(
      schema, draft, findings: findings, suggestions: Suggestions(enabled: suggestions))
    types.validate()
    let errors = types.findings.errors(in: document.source)
    return (errors.isEmpty ? schema : nil, errors)
  }
}
