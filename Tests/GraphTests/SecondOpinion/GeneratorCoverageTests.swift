import GraphQLSchema
import JSON
import TestSupport
import Testing

/// A difference is only found in what is asked for: every field that can be read, every argument, every
/// value of an enum and every input field is drawn sooner or later.
@Suite(.usesCluster(isFirst: true)) struct GeneratorCoverageTests {
  @Test func `everything that can be asked is asked`() throws {
    let opinions = try SecondOpinion(seed: 4)
    var drawn = Drawn(schema: opinions.schema)
    for _ in 0..<12_000 { drawn.add(opinions.next()) }
    // Cursors are drawn from answers, of which there are none here.
    // What is found by relevance has tests of its own.
    let missing = drawn.reachable.subtracting(drawn.found).filter {
      !$0.hasSuffix("(after:)") && !$0.hasSuffix("(before:)") && !$0.hasSuffix("Order.RELEVANCE")
    }
    #expect(missing.sorted() == [])
  }
}

/// Schema coordinates that operations use.
private struct Drawn {
  let schema: Schema
  private(set) var found: Set<String> = []

  init(schema: Schema) { self.schema = schema }

  /// All fields, arguments and values below `Query`.
  var reachable: Set<String> {
    var result: Set<String> = []
    var types: Set<String> = []
    func visit(input type: TypeReference) {
      let named = schema[type.namedType]
      switch named.kind {
      case .enum(let values): result.formUnion(values.map { "\(named.name).\($0.name)" })
      case .inputObject(let fields, _):
        guard types.insert(named.name).inserted else { return }
        for field in fields {
          result.insert("\(named.name).\(field.name)")
          visit(input: field.type)
        }
      case .scalar, .object, .interface, .union: break
      }
    }
    func visit(_ type: TypeDefinition) {
      guard type.isComposite, types.insert(type.name).inserted else { return }
      for object in schema.possibleTypes[Int(type.id.index)] { visit(schema[object]) }
      for field in type.fields {
        let coordinate = "\(type.name).\(field.name)"
        result.insert(coordinate)
        for argument in field.arguments {
          result.insert("\(coordinate)(\(argument.name):)")
          visit(input: argument.type)
        }
        visit(schema[field.type.namedType])
      }
    }
    if let query = schema.queryType { visit(schema[query]) }
    return result
  }

  mutating func add(_ operation: RandomOperation) {
    let variables = Dictionary(
      operation.variables.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    add(operation.selections, on: "Query", variables)
    for fragment in operation.fragments {
      add(fragment.selections, on: fragment.condition, variables)
    }
  }

  private mutating func add(
    _ selections: [RandomSelection], on type: String, _ variables: [String: RandomVariable]
  ) {
    for selection in selections {
      switch selection {
      case .spread: break
      case .inline(let condition, _, let inner): add(inner, on: condition ?? type, variables)
      case .field(let field):
        guard let definition = schema.type(named: type)?.field(named: field.name) else { continue }
        let coordinate = "\(type).\(field.name)"
        found.insert(coordinate)
        for argument in field.arguments {
          found.insert("\(coordinate)(\(argument.name):)")
          if let type = definition.argument(named: argument.name)?.type {
            add(argument.value, type, variables)
          }
        }
        add(field.selections, on: schema[definition.type.namedType].name, variables)
      }
    }
  }

  private mutating func add(
    _ input: RandomInput, _ type: TypeReference, _ variables: [String: RandomVariable]
  ) {
    switch input {
    case .variable(let name):
      if let value = variables[name]?.value { add(value, type) }
      if let value = variables[name]?.defaultValue { add(value, type, variables) }
    case .enumeration(let name): found.insert("\(schema[type.namedType].name).\(name)")
    case .list(let elements): for element in elements { add(element, type, variables) }
    case .object(let fields):
      for field in fields {
        add(member: field.name, type) { drawn, inner in drawn.add(field.value, inner, variables) }
      }
    case .constant: break
    }
  }

  private mutating func add(_ value: JSONValue, _ type: TypeReference) {
    switch value {
    case .string(let text):
      if case .enum = schema[type.namedType].kind {
        found.insert("\(schema[type.namedType].name).\(text)")
      }
    case .array(let elements): for element in elements { add(element, type) }
    case .object(let members):
      for member in members {
        add(member: member.name, type) { drawn, inner in drawn.add(member.value, inner) }
      }
    case .null, .boolean, .number: break
    }
  }

  private mutating func add(
    member name: String, _ type: TypeReference, _ value: (inout Drawn, TypeReference) -> Void
  ) {
    let named = schema[type.namedType]
    found.insert("\(named.name).\(name)")
    if let field = named.inputField(named: name) { value(&self, field.type) }
  }
}
