import JSON

/// One line of `check --batch`.
struct BatchRequest {
  enum Operation {
    case parse(source: [UInt8])
    case schema(schema: [UInt8], rules: RuleNames?)
    case validate(
      schema: [UInt8], document: [UInt8], rules: RuleNames?, suggestions: Bool)
    case execute(
      schema: [UInt8], document: [UInt8], root: JSONValue, variables: JSONValue?,
      operationName: String?)
    /// A request of a kind, or with a rule, that this program does not know.
    case unsupported
  }

  /// A line that is not a request, and the reason.
  struct Malformed: Error {
    let message: String
  }

  let id: String
  let operation: Operation

  init(line: BatchLine, maximumNesting: Int) throws(Malformed) {
    let value: JSONValue
    do {
      value = try JSONParser.parse(line.bytes, maximumNesting: maximumNesting, hasLargeStack: true)
    } catch {
      throw Malformed(message: "The line is not JSON: \(error.description)")
    }
    guard case .object = value else { throw Malformed(message: "The line is not a JSON object.") }
    guard case .string(let id)? = value["id"] else {
      throw Malformed(message: "The request has no \"id\" that is a string.")
    }
    guard case .string(let name)? = value["op"] else {
      throw Malformed(message: "The request has no \"op\" that is a string.")
    }
    self.id = id
    operation = try Self.operation(name, of: value, in: line)
  }

  private static func operation(
    _ name: String, of value: JSONValue, in line: BatchLine
  ) throws(Malformed) -> Operation {
    switch name {
    case "parse":
      return .parse(source: try text("source", of: value, in: line))
    case "schema":
      let schema = try text("schema", of: value, in: line)
      guard let rules = try rules(of: value) else { return .unsupported }
      return .schema(schema: schema, rules: rules.names)
    case "validate":
      let schema = try text("schema", of: value, in: line)
      let document = try text("document", of: value, in: line)
      let suggestions = try suggestions(of: value)
      guard let rules = try rules(of: value) else { return .unsupported }
      return .validate(
        schema: schema, document: document, rules: rules.names, suggestions: suggestions)
    case "execute":
      return .execute(
        schema: try text("schema", of: value, in: line),
        document: try text("document", of: value, in: line),
        root: value["root"] ?? .null, variables: try variables(of: value),
        operationName: try optionalText("operationName", of: value))
    default:
      return .unsupported
    }
  }

  private static func text(
    _ name: String, of value: JSONValue, in line: BatchLine
  ) throws(Malformed) -> [UInt8] {
    guard case .string(let text)? = value[name] else {
      throw Malformed(message: "The request has no \"\(name)\" that is a string.")
    }
    return line.sourceBytes(of: text)
  }

  private static func optionalText(
    _ name: String, of value: JSONValue
  ) throws(Malformed) -> String? {
    switch value[name] {
    case .null?, nil: return nil
    case .string(let text)?: return text
    case .boolean?, .number?, .array?, .object?:
      throw Malformed(message: "The request's \"\(name)\" is neither a string nor null.")
    }
  }

  private static func variables(of value: JSONValue) throws(Malformed) -> JSONValue? {
    switch value["variables"] {
    case .null?, nil: return nil
    case .object(let members)?: return .object(members)
    case .boolean?, .number?, .string?, .array?:
      throw Malformed(message: "The request's \"variables\" are neither an object nor null.")
    }
  }

  private static func suggestions(of value: JSONValue) throws(Malformed) -> Bool {
    switch value["suggestions"] {
    case .null?, nil: return true
    case .boolean(let value)?: return value
    case .number?, .string?, .array?, .object?:
      throw Malformed(message: "The request's \"suggestions\" is not a boolean.")
    }
  }

  /// Returns the named rules; nil for an unknown name, names of nil for all rules.
  private static func rules(
    of value: JSONValue
  ) throws(Malformed) -> (names: RuleNames?, Void)? {
    switch value["rules"] {
    case .null?, nil: return (nil, ())
    case .array(let items)?:
      var names: [String] = []
      for item in items {
        guard case .string(let name) = item else {
          throw Malformed(message: "The request's \"rules\" are not all strings.")
        }
        names.append(name)
      }
      return RuleNames(names).map { ($0, ()) }
    case .boolean?, .number?, .string?, .object?:
      throw Malformed(message: "The request's \"rules\" are neither an array nor null.")
    }
  }
}
