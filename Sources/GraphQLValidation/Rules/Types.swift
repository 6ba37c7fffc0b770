import GraphQLLanguage
import GraphQLSchema

// The rules about names of types.
extension ValidationWalk {
  /// Reports an unknown type (GraphQL September 2025, 5.5.1.2 Fragment Spread Type Existence).
  mutating func checkKnown(_ name: Name, isTypeSystem: Bool) {
    guard rules.contains(.knownTypeNames), schema.typesByName[name.text] == nil,
      !definedTypes.contains(name.text)
    else { return }
    let standard = isTypeSystem ? schema.types.filter(\.isBuiltIn).map(\.name) : []
    if isTypeSystem, standardScalars.contains(name.text) { return }
    var known: [String] = []
    if suggests {
      known = schema.types.map(\.name) + definedTypes
      if isTypeSystem { known += standard + standardScalars }
    }
    report(
      .knownTypeNames, at: [name.position],
      "Unknown type \"\(name.text)\"." + didYouMean(name.text, among: known))
  }

  mutating func checkKnown(_ type: TypeSyntax, isTypeSystem: Bool) {
    guard rules.contains(.knownTypeNames) else { return }
    var type = type
    while true {
      switch type {
      case .named(let name): return checkKnown(name, isTypeSystem: isTypeSystem)
      case .list(let inner, _), .nonNull(let inner): type = inner
      }
    }
  }

  /// Reports a variable whose type is not an input type (GraphQL September 2025, 5.8.2 Variables
  /// Are Input Types).
  mutating func checkInputType(of variable: VariableDefinition) {
    guard let type = resolve(variable.type), !schema[type.namedType].isInputType else { return }
    report(
      .variablesAreInputTypes, at: [variable.type.position],
      """
      Variable "$\(variable.name.text)" cannot be non-input type "\(text(variable.type))".
      """)
  }
}

private let standardScalars = ["String", "Int", "Float", "Boolean", "ID"]
