import JSON
import OracleSupport

/// Random documents for one schema: mostly valid, with mistakes of every kind.
///
/// Features that the other implementations get wrong, or do not support yet, do not occur: OneOf
/// objects, subscriptions, `__typename` next to another field with its response name.
struct RandomOperation {
  static let schema = """
    directive @onField(a: Int!, b: [String!] = ["x"], e: Color) repeatable on FIELD | INLINE_FRAGMENT | FRAGMENT_SPREAD
    directive @once(in: In) on FIELD | QUERY | FRAGMENT_DEFINITION
    scalar Any
    enum Color { RED GREEN BLUE }
    input In { a: Int, b: [Int!], c: In, d: String! = "d", e: Color, any: Any, req: Boolean! }
    interface Node { id: ID!, other(first: Int = 1): Node }
    interface Named implements Node { id: ID!, other(first: Int = 1, x: String): Named, name: String }
    type User implements Node & Named {
      id: ID!, name: String, other(first: Int = 1, x: String, y: Float): User
      friends(first: Int!, after: String, in: In): [User!]!, color: Color, pet: Pet, val: Int!
    }
    type Dog implements Node {
      id: ID!, other(first: Int = 1): Dog, name: String!, barks: Boolean, owner: User, val: String
    }
    type Cat implements Node & Named {
      id: ID!, other(first: Int = 1, x: String): Cat, name: String, val: Int, size: Float
    }
    union Pet = Dog | Cat
    type Query {
      user(id: ID!): User, node(id: ID): Node, named: Named, pets(colors: [Color!], n: [[Int]]): [Pet]
      scalars(i: Int, f: Float, s: String, b: Boolean, id: ID, e: Color, in: In, any: Any, li: [Int!]! = [1]): String
    }
    type Mutation { add(in: In!): User, remove(id: ID!, c: Color = RED): Boolean }
    """

  private struct Field {
    let name: String
    let type: String
    let arguments: [(String, String)]
  }

  private static let other: [(String, String)] = [("first", "Int"), ("x", "String")]
  private static let types: [String: [Field]] = [
    "Query": [
      Field(name: "user", type: "User", arguments: [("id", "ID!")]),
      Field(name: "node", type: "Node", arguments: [("id", "ID")]),
      Field(name: "named", type: "Named", arguments: []),
      Field(name: "pets", type: "Pet", arguments: [("colors", "[Color!]"), ("n", "[[Int]]")]),
      Field(
        name: "scalars", type: "",
        arguments: [
          ("i", "Int"), ("f", "Float"), ("s", "String"), ("b", "Boolean"), ("id", "ID"),
          ("e", "Color"), ("in", "In"), ("any", "Any"), ("li", "[Int!]!"),
        ]),
    ],
    "Mutation": [
      Field(name: "add", type: "User", arguments: [("in", "In!")]),
      Field(name: "remove", type: "", arguments: [("id", "ID!"), ("c", "Color")]),
    ],
    "Node": [
      Field(name: "id", type: "", arguments: []),
      Field(name: "other", type: "Node", arguments: [("first", "Int")]),
    ],
    "Named": [
      Field(name: "id", type: "", arguments: []), Field(name: "name", type: "", arguments: []),
      Field(name: "other", type: "Named", arguments: other),
    ],
    "User": [
      Field(name: "id", type: "", arguments: []), Field(name: "name", type: "", arguments: []),
      Field(name: "val", type: "", arguments: []), Field(name: "color", type: "", arguments: []),
      Field(name: "other", type: "User", arguments: other + [("y", "Float")]),
      Field(name: "pet", type: "Pet", arguments: []),
      Field(
        name: "friends", type: "User",
        arguments: [("first", "Int!"), ("after", "String"), ("in", "In")]),
    ],
    "Dog": [
      Field(name: "id", type: "", arguments: []), Field(name: "name", type: "", arguments: []),
      Field(name: "val", type: "", arguments: []), Field(name: "barks", type: "", arguments: []),
      Field(name: "owner", type: "User", arguments: []),
      Field(name: "other", type: "Dog", arguments: [("first", "Int")]),
    ],
    "Cat": [
      Field(name: "id", type: "", arguments: []), Field(name: "name", type: "", arguments: []),
      Field(name: "val", type: "", arguments: []), Field(name: "size", type: "", arguments: []),
      Field(name: "other", type: "Cat", arguments: other),
    ],
    "Pet": [],
  ]
  private static let narrower: [String: [String]] = [
    "Node": ["User", "Dog", "Cat", "Named", "Node"], "Named": ["User", "Cat", "Node"],
    "Pet": ["Dog", "Cat", "Pet", "Node"], "User": ["User", "Node"], "Dog": ["Dog", "Pet"],
    "Cat": ["Cat", "Named"], "Query": ["Query"], "Mutation": ["Mutation"],
  ]
  private static let inputFields = [
    ("a", "Int"), ("b", "[Int!]"), ("c", "In"), ("d", "String!"), ("e", "Color"), ("any", "Any"),
  ]

  private var random: SeededGenerator
  private let mistakesPerThousand: Int
  private var variables: [(String, String)] = []
  private var fragments: [(name: String, type: String)] = []

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    mistakesPerThousand = [0, 0, 10, 30, 80][Int(seed % 5)]
  }

  // MARK: - Choices

  private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
  private mutating func pick<Item>(_ items: [Item]) -> Item { items[number(0..<items.count)] }
  private mutating func sometimes(_ percent: Int) -> Bool { number(0..<100) < percent }
  private mutating func errs() -> Bool { number(0..<1_000) < mistakesPerThousand }

  // MARK: - Documents

  mutating func document() -> String {
    let isMutation = sometimes(10)
    let root = isMutation ? "Mutation" : "Query"
    let body = selections(of: root, 0)
    var parts: [String] = []
    var next = 0
    while next < fragments.count, next < 8 {
      let (name, type) = fragments[next]
      next += 1
      if errs() { continue }
      let condition = errs() ? pick(["Nope", "Int", "Query", "In"]) : type
      parts.append(
        "fragment \(name) on \(condition)\(errs() ? " @once @once" : "") "
          + selections(of: type, 3))
    }
    if errs() { parts.append("fragment Unused on Query { __typename ...F1 ...Unused }") }
    if errs() { parts.append("type Extra { a: Nope @nope }") }
    if errs(), !variables.isEmpty { variables.removeLast() }
    if errs() { variables.append(("unused", "[In!]")) }
    var definitions: [String] = []
    for (name, type) in variables {
      let value = sometimes(20) && !errs() ? " = \(literal(type, 9))" : ""
      definitions.append("$\(name): \(type)\(value.contains("$") ? "" : value)")
    }
    let head = definitions.isEmpty ? "" : "(\(definitions.joined(separator: ", ")))"
    let operation =
      "\(isMutation ? "mutation" : "query")\(sometimes(50) ? " Op" : "")\(head) \(body)"
    parts.insert(operation, at: number(0..<parts.count + 1))
    if errs() { parts.append("query Op { named { id } }") }
    return parts.joined(separator: "\n")
  }

  private mutating func selections(of type: String, _ depth: Int) -> String {
    var result: [String] = []
    let fields = Self.types[type] ?? []
    for _ in 0..<number(1..<(depth < 3 ? 5 : 3)) {
      switch number(0..<100) {
      case 0..<64 where !fields.isEmpty:
        let field = pick(fields)
        if !field.type.isEmpty, depth > 5 { continue }
        let alias = sometimes(30) ? pick(["a: ", "b: ", "name: ", "id: "]) : ""
        let name = errs() ? pick(["nme", "frends", "__schema", "color"]) : field.name
        var text = alias + name + arguments(field.arguments) + directives()
        if field.type.isEmpty == errs() {
          text += " " + selections(of: field.type.isEmpty ? "User" : field.type, depth + 1)
        }
        result.append(text)
      case 64..<74:
        result.append("__typename")
      case 74..<88:
        if depth > 6 { continue }
        let condition =
          errs()
          ? pick(["Nope", "Int", "Cat", "Query", "Usr"]) : pick(Self.narrower[type] ?? [type])
        result.append(
          "...\(sometimes(85) ? " on \(condition)" : "")\(directives()) "
            + selections(of: Self.types[condition] == nil ? type : condition, depth + 1))
      default:
        let name = "F\(number(0..<(errs() ? 9 : 5)))"
        if !fragments.contains(where: { $0.name == name }) {
          fragments.append((name, pick(Self.narrower[type] ?? [type])))
        }
        result.append("...\(name)\(directives())")
      }
    }
    return "{ \(result.isEmpty ? "__typename" : result.joined(separator: " ")) }"
  }

  private mutating func arguments(_ known: [(String, String)]) -> String {
    var result: [String] = []
    for (name, type) in known where (type.hasSuffix("!") && !errs()) || sometimes(35) {
      result.append("\(name): \(literal(type, 0))")
    }
    if errs() { result.append("\(pick(["firs", "zzz", "id", "first"])): 1") }
    return result.isEmpty ? "" : "(\(result.shuffled(using: &random).joined(separator: ", ")))"
  }

  private mutating func directives() -> String {
    var result = ""
    if sometimes(6) { result += " @\(pick(["skip", "include"]))(if: \(literal("Boolean!", 0)))" }
    if sometimes(4) { result += " @onField(a: \(literal("Int!", 0)))" }
    if errs() {
      result +=
        " "
        + pick([
          "@nope", "@once @once", "@skip", "@include(if: true, iff: false)", "@nope(id: 1)",
          "@once(in: {a: \"x\"})", "@deprecated", "@onField(a: 1, a: 2)",
        ])
    }
    return result
  }

  private mutating func literal(_ type: String, _ depth: Int) -> String {
    if errs() {
      return pick([
        "1", "\"x\"", "1.5", "true", "null", "RED", "[1]", "{}", "{a: 1}", "[[\"a\"], null]",
        "99999999999", "PURPLE", "{a: $v0, zz: [{q: 1, q: 2}]}", "\"\"\"block\"\"\"",
      ])
    }
    if depth < 9, sometimes(15) {
      let name = "v\(number(0..<4))"
      if !variables.contains(where: { $0.0 == name }) { variables.append((name, type)) }
      return "$\(name)"
    }
    if type.hasSuffix("!") { return literal(String(type.dropLast()), depth) }
    if sometimes(5) { return "null" }
    if type.hasPrefix("[") {
      let inner = String(type.dropFirst().dropLast())
      if sometimes(20) { return literal(inner, depth) }
      return
        "[\((0..<number(0..<3)).map { _ in literal(inner, depth + 1) }.joined(separator: ", "))]"
    }
    switch type {
    case "Int": return "\(number(-5..<50))"
    case "Float": return pick(["1.5", "2", "-1e3"])
    case "String": return pick(["\"s\"", "\"\"", "\"\"\"b\"\"\"", "\"q\\\"u\""])
    case "Boolean": return pick(["true", "false"])
    case "ID": return pick(["\"1\"", "7"])
    case "Color": return pick(["RED", "GREEN", "BLUE"])
    case "In":
      var fields = ["req: true"]
      for (name, type) in Self.inputFields where depth % 9 < 3 && sometimes(25) {
        fields.append("\(name): \(literal(type, depth + 1))")
      }
      if errs() { fields.append(pick(["zz: 1", "req: false"])) }
      if errs() { fields.removeFirst() }
      return "{\(fields.joined(separator: ", "))}"
    default: return pick(["1", "{a: [1, {b: \"x\"}]}", "ANY", "true"])
    }
  }

  // MARK: - Values

  /// A root value for the schema, with values of other types here and there.
  mutating func root() -> JSONValue { value(of: "Query", 0) }

  private mutating func value(of type: String, _ depth: Int) -> JSONValue {
    if sometimes(4) {
      return pick([
        .null, .number("1"), .number("1.5"), .string("x"), .boolean(true), .array([]),
        .array([.number("1"), .null]), .string("12"), .number("2147483648"), .string(""),
      ])
    }
    if type == "Pet" || type == "Node" || type == "Named" {
      let object = pick(type == "Pet" ? ["Dog", "Cat"] : ["User", "Cat"])
      guard case .object(let members) = value(of: object, depth) else { return .null }
      let name = JSONValue.string(sometimes(5) ? pick(["Nope", "Pet", "Query"]) : object)
      return .object(members + [JSONValue.Member(name: "__typename", value: name)])
    }
    var members: [JSONValue.Member] = []
    for field in Self.types[type] ?? [] where sometimes(92) {
      let value: JSONValue =
        if field.type.isEmpty {
          leaf(field.name)
        } else if depth > 3 {
          .null
        } else if field.name == "pets" || field.name == "friends" {
          .array((0..<number(0..<3)).map { _ in self.value(of: field.type, depth + 1) })
        } else {
          self.value(of: field.type, depth + 1)
        }
      members.append(JSONValue.Member(name: field.name, value: value))
    }
    return .object(members)
  }

  private mutating func leaf(_ name: String) -> JSONValue {
    if sometimes(5) {
      return pick([.null, .string("x"), .number("7"), .boolean(false), .array([])])
    }
    switch name {
    case "val", "size": return .number("\(number(0..<99))")
    case "barks": return .boolean(true)
    case "color": return .string(pick(["RED", "GREEN", "GREY"]))
    default: return .string(pick(["a", "b", ""]))
    }
  }

  mutating func variableValues() -> JSONValue {
    .object(
      (0..<4).map { index in
        JSONValue.Member(
          name: "v\(index)",
          value: pick([
            .number("1"), .string("x"), .boolean(true), .null, .array([.number("1")]),
            .object([JSONValue.Member(name: "req", value: .boolean(true))]), .string("RED"),
          ]))
      })
  }
}
