import GraphQLLanguage
import GraphQLSchema

// The rules for directives, their arguments apart.
extension ValidationWalk {
  /// Reports unknown and misplaced directives (GraphQL September 2025, 5.7.1 Directives Are Defined
  /// and 5.7.2 Directives Are in Valid Locations).
  mutating func checkKnown(
    _ directive: Directive, _ definition: DirectiveDefinition?, on location: DirectiveLocation
  ) {
    let name = directive.name.text
    let isAllowed: Bool
    if let written = definedDirectives[name] {
      isAllowed = written.locations.contains { $0.text == location.rawValue }
    } else if let definition {
      isAllowed = definition.locations.contains(location)
    } else {
      report(.knownDirectives, at: [directive.position], "Unknown directive \"@\(name)\".")
      return
    }
    if !isAllowed {
      report(
        .knownDirectives, at: [directive.position],
        "Directive \"@\(name)\" may not be used on \(location.rawValue).")
    }
  }

  /// Reports repeated directives (GraphQL September 2025, 5.7.3 Directives Are Unique per
  /// Location).
  mutating func checkUniqueDirectives(_ directives: [Directive]) {
    guard directives.count > 1, rules.contains(.uniqueDirectivesPerLocation) else { return }
    var seen: [String: Directive] = [:]
    checkUnique(directives, &seen)
  }

  /// Reports repeated directives of the schema (`nil`) or of a named type, together with its
  /// extensions.
  mutating func checkUniqueDirectives(_ directives: [Directive], onSchemaOrType name: String?) {
    guard !directives.isEmpty, rules.contains(.uniqueDirectivesPerLocation) else { return }
    if let name {
      var seen = typeDirectives[name] ?? [:]
      checkUnique(directives, &seen)
      typeDirectives[name] = seen
    } else {
      var seen = schemaDirectives
      checkUnique(directives, &seen)
      schemaDirectives = seen
    }
  }

  private mutating func checkUnique(
    _ directives: [Directive], _ seen: inout [String: Directive]
  ) {
    for directive in directives {
      let name = directive.name.text
      let isRepeatable =
        definedDirectives[name]?.isRepeatable ?? schema.directivesByName[name]?.isRepeatable
      guard isRepeatable == false else { continue }
      if let first = seen[name] {
        report(
          .uniqueDirectivesPerLocation, at: [first.position, directive.position],
          "The directive \"@\(name)\" can only be used once at this location.")
      } else {
        seen[name] = directive
      }
    }
  }
}
