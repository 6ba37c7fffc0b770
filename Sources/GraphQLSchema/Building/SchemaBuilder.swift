import GraphQLLanguage
import GraphQLResponse

/// Makes a `Schema` of type system text: rules first, then the types, then their validity.
///
/// Extensions in the same text are merged, the specification's own types and directives added. Two
/// questions are kept apart, as the reference implementation does: the rules look at the text alone,
/// and only a text without findings is built and asked whether it makes a valid type system.
///
/// GraphQL September 2025, 3 Type System.
package enum SchemaBuilder {
  /// A valid schema, or everything that keeps it from being one.
  package static func build(
    _ document: Document, suggestions: Bool = true
  ) throws(SchemaErrors) -> Schema {
    let check = check(document, suggestions: suggestions)
    guard let schema = check.schema, check.errors.isEmpty else { throw SchemaErrors(check.errors) }
    return schema
  }

  /// Applies only the named rules. There is a schema when the type system itself was asked for
  /// (`rules` nil or with `TypeSystemRule`) and nothing was found.
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
