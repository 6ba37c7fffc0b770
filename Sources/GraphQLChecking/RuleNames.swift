import GraphQLSchema
import GraphQLValidation

/// The rules requested by name, for documents and for schemas; some names are rules of both.
package struct RuleNames: Sendable {
  let executable: Set<ValidationRule>
  let typeSystem: Set<SDLRule>

  /// Creates a set of rules; nil if a name is unknown.
  package init?(_ names: [String]) {
    var executable: Set<ValidationRule> = []
    var typeSystem: Set<SDLRule> = []
    for name in names {
      let rule = ValidationRule(rawValue: name)
      let typeSystemRule = SDLRule(rawValue: name)
      if rule == nil, typeSystemRule == nil { return nil }
      if let rule { executable.insert(rule) }
      if let typeSystemRule { typeSystem.insert(typeSystemRule) }
    }
    self.executable = executable
    self.typeSystem = typeSystem
  }

  /// All names, in the order in which the rules run.
  package static var all: [String] {
    var names = ValidationRule.allCases.map(\.rawValue)
    for rule in SDLRule.allCases where !names.contains(rule.rawValue) {
      names.append(rule.rawValue)
    }
    return names
  }
}
