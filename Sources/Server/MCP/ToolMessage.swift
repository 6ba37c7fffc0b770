import GraphQLResponse
import JSON

/// A message of JSON-RPC 2.0 to the server, as the Model Context Protocol has them.
struct ToolMessage {
  /// The ID of a request; nil for a notification or a response, which has no answer.
  let id: JSONValue?
  let method: String
  let parameters: JSONValue

  /// The errors of JSON-RPC 2.0, section 5.1.
  enum Failure: Int {
    case unreadable = -32700
    case invalidRequest = -32600
    case unknownMethod = -32601
    case invalidParameters = -32602
  }

  /// The versions of the protocol that the server knows, the newest first.
  static let versions = ["2025-11-25", "2025-06-18", "2025-03-26"]

  enum Reading {
    case message(ToolMessage)
    case failure(Failure, id: JSONValue)
  }

  static func read(_ body: [UInt8]) -> Reading {
    guard let value = try? JSONParser.parse(body) else { return .failure(.unreadable, id: .null) }
    guard case .object = value, value["jsonrpc"] == .string("2.0") else {
      return .failure(.invalidRequest, id: .null)
    }
    let id: JSONValue?
    switch value["id"] {
    case nil: id = nil
    case .string?, .number?: id = value["id"]
    case .null?, .boolean?, .array?, .object?: return .failure(.invalidRequest, id: .null)
    }
    guard case .string(let method)? = value["method"] else {
      // A response of the client to a request that the server never sends.
      guard value["result"] != nil || value["error"] != nil else {
        return .failure(.invalidRequest, id: id ?? .null)
      }
      return .message(ToolMessage(id: nil, method: "", parameters: .null))
    }
    return .message(ToolMessage(id: id, method: method, parameters: value["params"] ?? .null))
  }

  /// Returns a response with a result.
  static func response(_ id: JSONValue, _ result: JSONValue) -> [UInt8] {
    var writer = begin(id)
    writer.append(",\"result\":")
    writer.write(result)
    writer.append("}")
    return writer.finish()
  }

  static func response(_ id: JSONValue, _ failure: Failure, _ message: String) -> [UInt8] {
    var writer = begin(id)
    writer.append(",\"error\":{\"code\":")
    writer.write(failure.rawValue)
    writer.append(",\"message\":")
    writer.write(message)
    writer.append("}}")
    return writer.finish()
  }

  /// Returns the result of a tool: JSON, as text and as it is.
  static func toolResponse(_ id: JSONValue, _ json: [UInt8], isError: Bool) -> [UInt8] {
    var writer = begin(id)
    writer.append(",\"result\":{\"content\":[{\"type\":\"text\",\"text\":")
    writer.write(String(decoding: json, as: UTF8.self))
    writer.append("}],\"structuredContent\":")
    writer.append(json)
    writer.append(",\"isError\":")
    writer.write(isError)
    writer.append("}}")
    return writer.finish()
  }

  /// Returns the result of a tool that was refused: the errors, as GraphQL has them.
  static func toolRefusal(_ id: JSONValue, _ errors: [GraphQLError]) -> [UInt8] {
    var writer = JSONWriter()
    writer.append("{\"errors\":[")
    for (place, error) in errors.enumerated() {
      if place > 0 { writer.append(",") }
      writer.append("{\"message\":")
      writer.write(error.message)
      writer.append(",\"extensions\":{\"code\":")
      writer.write(error.code.rawValue)
      writer.append("}}")
    }
    writer.append("]}")
    return toolResponse(id, writer.finish(), isError: true)
  }

  private static func begin(_ id: JSONValue) -> JSONWriter {
    var writer = JSONWriter()
    writer.append("{\"jsonrpc\":\"2.0\",\"id\":")
    writer.write(id)
    return writer
  }

  /// Returns the result of `initialize`.
  static func greeting(_ parameters: JSONValue) -> JSONValue {
    var version = versions[0]
    if case .string(let wanted)? = parameters["protocolVersion"], versions.contains(wanted) {
      version = wanted
    }
    return .object([
      JSONValue.Member(name: "protocolVersion", value: .string(version)),
      JSONValue.Member(
        name: "capabilities",
        value: .object([JSONValue.Member(name: "tools", value: .object([]))])),
      JSONValue.Member(
        name: "serverInfo",
        value: .object([
          JSONValue.Member(name: "name", value: .string("sociograph")),
          JSONValue.Member(name: "version", value: .string(serverVersion)),
        ])),
    ])
  }
}
