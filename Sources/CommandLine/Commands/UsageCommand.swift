import HTTP
import JSON
import Load
import Server

/// `sociograph usage`: what clients use of the schema, as a running server counted it.
enum UsageCommand {
  static let specification = CommandSpecification(
    "usage", "Prints which elements of the schema clients use, as a server has counted them.",
    operands: "[COORDINATE]",
    options: [
      CommandSpecification.Option(
        "from", "URL", environment: "SOCIOGRAPH_USAGE_FROM", default: "http://127.0.0.1:9464",
        "the server's address for operators, as of serve --admin-listen"),
      CommandSpecification.Option(
        "deprecated", nil, environment: "SOCIOGRAPH_USAGE_DEPRECATED",
        "print only what is deprecated and still used, with the clients that use it"),
      CommandSpecification.Option(
        "json", nil, environment: "SOCIOGRAPH_USAGE_JSON",
        "print the report as JSON, also for schema diff --usage"),
    ],
    notes: """
      Prints "EXECUTIONS COORDINATE" for each field, argument, input field, enum value, type of a
      variable or a fragment, and directive that operations name. With COORDINATE, such as User.name,
      prints "EXECUTIONS OPERATION DOCUMENT CLIENT VERSION..." for each operation that uses it.
      """)

  static func run(_ options: CommandOptions) throws {
    guard options.operands.count < 2 else { throw UsageError("usage takes one COORDINATE.") }
    let text = options.text("from") ?? ""
    guard let target = HTTPTarget(text) else {
      throw UsageError(
        "\(options.origin("from")) must be a URL such as http://127.0.0.1:9464 or unix:PATH, not "
          + "\"\(text)\".")
    }
    let bytes = try fetch(target, text)
    if try options.isSet("json") { return Console.write(bytes) }
    guard let report = try? JSONParser.parse(bytes, maximumNesting: 16),
      report["format"] == .string("sociograph-usage/1")
    else { throw CommandFailure("\(text) sent no usage report.") }
    let lines: [String]
    if let coordinate = options.operands.first {
      lines = operations(of: coordinate, in: report)
    } else {
      lines = elements(of: report, onlyDeprecated: try options.isSet("deprecated"))
    }
    for line in lines { Console.print(line) }
  }

  private static func fetch(_ target: HTTPTarget, _ text: String) throws -> [UInt8] {
    let head = "GET /usage HTTP/1.1\r\nHost: \(target.authority)\r\n"
    do {
      let client = BlockingClient(
        try HTTPClientEndpoint(target), head: Array(head.utf8), timeout: 10_000_000_000)
      let (status, body) = try client.ask([], token: nil)
      guard status == 200 else {
        throw CommandFailure("\(text) answered with status \(status); is it --admin-listen's?")
      }
      return body
    } catch let error as HTTPClientError {
      throw CommandFailure("\(text): \(error.reason).")
    }
  }

  private static func elements(of report: JSONValue, onlyDeprecated: Bool) -> [String] {
    report["coordinates"].items.compactMap { element in
      let line = "\(element["executions"].shown) \(element["coordinate"].shown)"
      guard let reason = element["deprecated"] else { return onlyDeprecated ? nil : line }
      return "\(line) deprecated (\(reason.shown)): \(clients(of: element))"
    }
  }

  private static func operations(of coordinate: String, in report: JSONValue) -> [String] {
    report["operations"].items.compactMap { operation in
      guard operation["coordinates"].items.contains(.string(coordinate)) else { return nil }
      let name = operation["name"] == .null ? "(anonymous)" : operation["name"].shown
      return "\(operation["executions"].shown) \(name) \(operation["document"].shown) "
        + clients(of: operation)
    }
  }

  private static func clients(of value: JSONValue) -> String {
    value["clients"].items.map { client in
      let name = client["name"] == .string("") ? "(unnamed)" : client["name"].shown
      let version = client["version"] == .string("") ? "" : " \(client["version"].shown)"
      return "\(name)\(version) (\(client["executions"].shown))"
    }.joined(separator: ", ")
  }
}

extension JSONValue? {
  fileprivate var items: [JSONValue] {
    if case .array(let items)? = self { items } else { [] }
  }

  /// The value as a word, a string without its quotes.
  fileprivate var shown: String {
    switch self {
    case .string(let text)?: text
    case let other?: "\(other)"
    case nil: ""
    }
  }
}

extension JSONValue {
  fileprivate var shown: String { Optional(self).shown }
}
