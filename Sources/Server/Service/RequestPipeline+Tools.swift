import GraphQLResponse
import GraphQLTransport
import HTTP
import JSON

/// The Model Context Protocol over streamable HTTP: each request has one response of JSON.
///
/// There are no sessions and no streams, because the server sends nothing on its own. A tool's
/// operation goes the same way as one of GraphQL over HTTP, with the same viewer, limits and points.
extension RequestPipeline {
  func callTool(
    _ request: HTTPRequest, _ head: RequestHead, _ tools: PublishedTools,
    _ exchange: HTTPExchange, as identity: RequestIdentity
  ) {
    let methods = "POST, OPTIONS"
    let policy = endpoint.configuration.crossOrigin
    if request.method == .options, let answer = try? policy.preflight(request, path: methods) {
      return answer.send(to: exchange)
    }
    guard policy.admitsSocket(of: request) else {
      return text(
        "Pages of this origin may not call tools; --allow-origin lists those that may.",
        .forbidden, exchange)
    }
    let call = ToolCall(
      tools: tools, request: request, head: head, exchange: exchange, identity: identity,
      headers: policy.headers(for: request))
    guard request.method == .post else {
      return exchange.respond(
        .methodNotAllowed, headers: call.headers + [HTTPField("Allow", methods)])
    }
    guard request.header("content-type")?.lowercased().hasPrefix("application/json") == true else {
      return text(
        "Send application/json.", .unsupportedMediaType, exchange, headers: call.headers)
    }
    if let version = request.header("mcp-protocol-version"),
      !ToolMessage.versions.contains(version)
    {
      return text(
        "MCP-Protocol-Version must be one of \(ToolMessage.versions.joined(separator: ", ")).",
        .badRequest, exchange, headers: call.headers)
    }
    authenticate(call)
  }

  /// One message to `/mcp`.
  private struct ToolCall {
    let tools: PublishedTools
    let request: HTTPRequest
    let head: RequestHead
    let exchange: HTTPExchange
    let identity: RequestIdentity
    /// The headers of each response, for pages of other origins.
    let headers: [HTTPField]
  }

  /// Refuses a bearer that is none, whatever the message is: clients then ask for another.
  private func authenticate(_ call: ToolCall) {
    let refuse = { [self] in
      text(
        "The bearer token is not valid, or no longer.", .unauthorized, call.exchange,
        headers: call.headers
          + [HTTPField("WWW-Authenticate", "Bearer error=\"invalid_token\"")])
    }
    switch call.head.caller.credential {
    case .none: read(call)
    case .malformed, .tooLong: refuse()
    case .token(let token):
      if sessions.known(token) != nil { return read(call) }
      sessions.resolve(token) { [self] resolution in
        switch resolution {
        case .viewer: read(call)
        case .unknown: refuse()
        case .failed:
          text(
            "The database cannot be reached.", .serviceUnavailable, call.exchange,
            headers: call.headers + [HTTPField("Retry-After", "1")])
        }
      }
    }
  }

  private func read(_ call: ToolCall) {
    switch ToolMessage.read(call.request.body) {
    case .failure(let failure, let id):
      answer(
        ToolMessage.response(id, failure, "Expected one message of JSON-RPC 2.0."), .badRequest,
        call)
    case .message(let message):
      guard let id = message.id else {
        return call.exchange.respond(.accepted, headers: call.headers)
      }
      take(message, id, call)
    }
  }

  private func take(_ message: ToolMessage, _ id: JSONValue, _ call: ToolCall) {
    switch message.method {
    case "initialize":
      answer(ToolMessage.response(id, ToolMessage.greeting(message.parameters)), .ok, call)
    case "ping": answer(ToolMessage.response(id, .object([])), .ok, call)
    case "tools/list":
      let result = JSONValue.object([JSONValue.Member(name: "tools", value: call.tools.list)])
      answer(ToolMessage.response(id, result), .ok, call)
    case "tools/call": run(message.parameters, id, call)
    default:
      answer(
        ToolMessage.response(id, .unknownMethod, "There is no method \"\(message.method)\"."), .ok,
        call)
    }
  }

  private func run(_ parameters: JSONValue, _ id: JSONValue, _ call: ToolCall) {
    func refuse(_ reason: String) {
      answer(ToolMessage.response(id, .invalidParameters, reason), .ok, call)
    }
    guard case .string(let name)? = parameters["name"] else { return refuse("Name a tool.") }
    let arguments: [JSONValue.Member]
    switch parameters["arguments"] {
    case nil, .null?: arguments = []
    case .object(let members)?: arguments = members
    default: return refuse("\"arguments\" must be an object.")
    }
    if let unknown = call.tools.unknownArgument(of: name, arguments) {
      return refuse("The tool \"\(name)\" has no argument \"\(unknown)\".")
    }
    if name == PublishedTools.searchName {
      guard case .string(let question)? = JSONValue.object(arguments)["question"] else {
        return refuse("Ask a \"question\".")
      }
      let most = PublishedTools.maximumQuestionBytes
      guard question.utf8.count <= most else {
        return refuse("A \"question\" has at most \(most) bytes.")
      }
      if case .refused(let errors, _)? = chargeSearch(for: question, call.head.caller) {
        return answer(ToolMessage.toolRefusal(id, errors), .ok, call)
      }
      return answer(
        ToolMessage.toolResponse(
          id, Array(call.tools.results(for: question).description.utf8), isError: false), .ok,
        call)
    }
    guard let operation = call.tools.operations[name] else {
      return refuse("There is no tool \"\(name)\".")
    }
    let record = RequestRecord(
      call.identity, peer: call.head.caller.peer, bytes: call.request.body.count)
    let batch = BatchReply(
      of: 1, as: ResponseFormat(mediaType: .json), mayHold: call.exchange.mayHold
    ) { [self] list, _ in
      // The batch is a list of one response.
      let body = Array(list.dropFirst().dropLast())
      answer(
        ToolMessage.toolResponse(id, body, isError: !record.errors.isEmpty), .ok, call)
    }
    call.exchange.onClose { batch.leave() }
    answer(
      GraphQLRequest(
        identity: call.identity, document: operation.document, trustedID: operation.documentID,
        operationName: operation.name, variables: arguments),
      begin(.batch(batch, place: 0), from: call.head.caller, record))
  }

  private func answer(_ body: [UInt8], _ status: HTTPStatus, _ call: ToolCall) {
    call.exchange.respond(
      status, contentType: "application/json",
      headers: call.headers + [HTTPField("Cache-Control", "no-store")], body: body)
  }
}
