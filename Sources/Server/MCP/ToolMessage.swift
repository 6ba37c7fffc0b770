import Foundation
import GraphQLResponse
import JSON

/// A message of JSON-RPC 2.0 to the server, as the Model Context Protocol has them.
struct ToolMessage {
  /// The ID of a request; nil for a notification or a response, which has no answer.
  let id: JSONValue?
  let method: String
  let parameters: JSONValue

  /// The errors of JSON-RPC 2.0, section 5.1, and those of the Model Context Protocol.
  enum Failure: Int {
    case unreadable = -32700
    case invalidRequest = -32600
    case unknownMethod = -32601
    case invalidParameters = -32602
    case headerMismatch = -32020
    case unsupportedVersion = -32022
  }

  /// The revision in which each request says all by itself.
  static let current = "2026-07-28"
  /// The revisions before, which begin with `initialize`, the newest first.
  static let earlier = ["2025-11-25", "2025-06-18", "2025-03-26"]
  static let versions = [current] + earlier

  /// The members of `_meta`.
  private enum Meta {
    static let version = "io.modelcontextprotocol/protocolVersion"
    static let capabilities = "io.modelcontextprotocol/clientCapabilities"
    static let server = "io.modelcontextprotocol/serverInfo"
  }

  /// The revision that the request says it is of; nil for one of the revisions before.
  var statedVersion: JSONValue? { parameters["_meta"]?[Meta.version] }

  /// Why a request is refused before its method is looked at.
  struct Refusal {
    let failure: Failure
    let message: String
    var data: JSONValue?
  }

  /// Returns why a request of the current revision is refused: by its `_meta`, by headers that are
  /// missing or say something else, or by its version.
  ///
  /// - Parameter header: returns the value of a header; those of one that is repeated, with commas.
  func refusal(_ header: (StaticString) -> String?) -> Refusal? {
    guard case .string(let version)? = statedVersion,
      case .object? = parameters["_meta"]?[Meta.capabilities]
    else {
      return Refusal(
        failure: .invalidParameters,
        message:
          "\"params._meta\" has \"\(Meta.version)\", a string, and \"\(Meta.capabilities)\", an object."
      )
    }
    if Self.earlier.contains(version) {
      return Refusal(
        failure: .invalidParameters,
        message: "The version \(version) of the protocol begins with \"initialize\".")
    }
    func mismatch(_ name: String, _ wanted: String) -> Refusal {
      Refusal(
        failure: .headerMismatch,
        message: "The header \(name) must be \"\(wanted.prefix(200))\", as the message says.")
    }
    if header("mcp-protocol-version") != version {
      return mismatch("MCP-Protocol-Version", version)
    }
    if header("mcp-method") != method { return mismatch("Mcp-Method", method) }
    if method == "tools/call", case .string(let name)? = parameters["name"],
      header("mcp-name").flatMap(Self.decoded) != name
    {
      return mismatch("Mcp-Name", name)
    }
    return version == Self.current ? nil : Self.unsupported(version)
  }

  static func unsupported(_ version: String) -> Refusal {
    Refusal(
      failure: .unsupportedVersion,
      message:
        "The server speaks the versions \(versions.joined(separator: ", ")) of the protocol.",
      data: .object([
        JSONValue.Member(name: "supported", value: .array(versions.map { .string($0) })),
        JSONValue.Member(name: "requested", value: .string(version)),
      ]))
  }

  /// Returns the value of a header that may be in base64: `=?base64?...?=`.
  private static func decoded(_ value: String) -> String? {
    let (start, end) = ("=?base64?", "?=")
    guard value.hasPrefix(start), value.hasSuffix(end), value.count >= start.count + end.count
    else { return value }
    return Data(base64Encoded: String(value.dropFirst(start.count).dropLast(end.count)))
      .flatMap { String(validating: $0, as: UTF8.self) }
  }

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

  static func response(_ id: JSONValue, _ refusal: Refusal) -> [UInt8] {
    var writer = begin(id)
    writer.append(",\"error\":{\"code\":")
    writer.write(refusal.failure.rawValue)
    writer.append(",\"message\":")
    writer.write(refusal.message)
    if let data = refusal.data {
      writer.append(",\"data\":")
      writer.write(data)
    }
    writer.append("}}")
    return writer.finish()
  }

  /// Returns the result of a tool: JSON, as text and as it is.
  ///
  /// - Parameter isCurrent: whether the request is of the current revision.
  static func toolResponse(
    _ id: JSONValue, _ json: [UInt8], isError: Bool, isCurrent: Bool
  ) -> [UInt8] {
    var writer = begin(id)
    writer.append(",\"result\":{\"content\":[{\"type\":\"text\",\"text\":")
    writer.write(String(decoding: json, as: UTF8.self))
    writer.append("}],\"structuredContent\":")
    writer.append(json)
    writer.append(",\"isError\":")
    writer.write(isError)
    if isCurrent {
      for member in completion {
        writer.append(",")
        writer.writeKey(member.name)
        writer.write(member.value)
      }
    }
    writer.append("}}")
    return writer.finish()
  }

  /// Returns the result of a tool that was refused: the errors, as GraphQL has them.
  static func toolRefusal(
    _ id: JSONValue, _ errors: [GraphQLError], isCurrent: Bool
  ) -> [UInt8] {
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
    return toolResponse(id, writer.finish(), isError: true, isCurrent: isCurrent)
  }

  private static func begin(_ id: JSONValue) -> JSONWriter {
    var writer = JSONWriter()
    writer.append("{\"jsonrpc\":\"2.0\",\"id\":")
    writer.write(id)
    return writer
  }

  private static let server = JSONValue.object([
    JSONValue.Member(name: "name", value: .string("sociograph")),
    JSONValue.Member(name: "version", value: .string(serverVersion)),
  ])

  private static let capabilities = JSONValue.object([
    JSONValue.Member(name: "tools", value: .object([]))
  ])

  /// The members that each result of the current revision has.
  private static let completion = [
    JSONValue.Member(name: "resultType", value: .string("complete")),
    JSONValue.Member(
      name: "_meta", value: .object([JSONValue.Member(name: Meta.server, value: server)])),
  ]

  /// The milliseconds for which a client may keep a list that is the same for everybody.
  private static let keptFor = 60_000

  private static var hints: [JSONValue.Member] {
    [
      JSONValue.Member(name: "ttlMs", value: .number("\(keptFor)")),
      JSONValue.Member(name: "cacheScope", value: .string("public")),
    ] + completion
  }

  /// Returns the result of `server/discover`.
  static var discovery: JSONValue {
    .object(
      [
        JSONValue.Member(
          name: "supportedVersions", value: .array(versions.map { .string($0) })),
        JSONValue.Member(name: "capabilities", value: capabilities),
      ] + hints)
  }

  /// Returns the result of `tools/list`.
  static func list(_ tools: JSONValue, isCurrent: Bool) -> JSONValue {
    .object([JSONValue.Member(name: "tools", value: tools)] + (isCurrent ? hints : []))
  }

  /// Returns the result of `initialize`.
  static func greeting(_ parameters: JSONValue) -> JSONValue {
    var version = earlier[0]
    if case .string(let wanted)? = parameters["protocolVersion"], earlier.contains(wanted) {
      version = wanted
    }
    return .object([
      JSONValue.Member(name: "protocolVersion", value: .string(version)),
      JSONValue.Member(name: "capabilities", value: capabilities),
      JSONValue.Member(name: "serverInfo", value: server),
    ])
  }
}
