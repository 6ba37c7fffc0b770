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
    /// The ID of the request; null until it is read.
    var id = JSONValue.null
    /// Whether the request is of the current revision of the protocol.
    var isCurrent = false
  }

  /// Refuses a bearer that is none, whatever the message is: clients then ask for another.
  private func authenticate(_ call: ToolCall) {
    let refuse = { [self] in
      unauthorized("The bearer token is not valid, or no longer.", call, isInvalid: true)
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

  private func unauthorized(_ reason: String, _ call: ToolCall, isInvalid: Bool) {
    text(
      reason, .unauthorized, call.exchange,
      headers: call.headers + [
        ProtectedResource.challenge(
          shared.protectedResource, for: call.request, isInvalid: isInvalid)
      ])
  }

  /// Answers who asks where to get a token.
  func describeResource(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    guard let document = shared.protectedResource?.document(for: request) else {
      return text("No issuer of tokens is known here.", .notFound, exchange)
    }
    // Any page may read it: a client in a page has to, with headers of the protocol.
    let open = [
      HTTPField("Access-Control-Allow-Origin", "*"), HTTPField("Access-Control-Allow-Headers", "*"),
    ]
    switch request.method {
    case .get, .head:
      exchange.respond(
        .ok, contentType: "application/json", headers: open, body: Array("\(document)".utf8))
    case .options: exchange.respond(.noContent, headers: open)
    case .post, .query, .put, .delete, .patch, .other:
      exchange.respond(
        .methodNotAllowed, headers: [HTTPField("Allow", "GET, HEAD, OPTIONS")])
    }
  }

  private func read(_ call: ToolCall) {
    var call = call
    let header = call.request.header("mcp-protocol-version")
    switch ToolMessage.read(call.request.body) {
    case .failure(let failure, let id):
      call.id = id
      refuse(failure, "Expected one message of JSON-RPC 2.0.", call)
    case .message(let message):
      call.id = message.id ?? .null
      call.isCurrent =
        message.statedVersion != nil || header == ToolMessage.current
      guard message.id != nil else {
        // The current revision has no responses of clients.
        if call.isCurrent, message.method.isEmpty {
          return refuse(.invalidRequest, "Expected a request or a notification.", call)
        }
        return call.exchange.respond(.accepted, headers: call.headers)
      }
      if call.isCurrent {
        if let refusal = message.refusal({ call.request.headerList($0) }) {
          return refuse(refusal, call)
        }
        return takeCurrent(message, call)
      }
      if let header, !ToolMessage.earlier.contains(header) {
        return refuse(ToolMessage.unsupported(header), call)
      }
      take(message, call)
    }
  }

  private func refuse(_ refusal: ToolMessage.Refusal, _ call: ToolCall) {
    // Before, errors of a method were sent with 200.
    let status: HTTPStatus =
      switch refusal.failure {
      case .unknownMethod: call.isCurrent ? .notFound : .ok
      case .invalidParameters: call.isCurrent ? .badRequest : .ok
      case .unreadable, .invalidRequest, .headerMismatch, .unsupportedVersion: .badRequest
      }
    answer(ToolMessage.response(call.id, refusal), status, call)
  }

  private func refuse(_ failure: ToolMessage.Failure, _ message: String, _ call: ToolCall) {
    refuse(ToolMessage.Refusal(failure: failure, message: message), call)
  }

  private func takeCurrent(_ message: ToolMessage, _ call: ToolCall) {
    switch message.method {
    case "server/discover": answer(ToolMessage.response(call.id, ToolMessage.discovery), .ok, call)
    case "initialize", "ping": refuseMethod(message, call)
    default: take(message, call)
    }
  }

  private func take(_ message: ToolMessage, _ call: ToolCall) {
    switch message.method {
    case "initialize":
      answer(ToolMessage.response(call.id, ToolMessage.greeting(message.parameters)), .ok, call)
    case "ping": answer(ToolMessage.response(call.id, .object([])), .ok, call)
    case "tools/list":
      let result = ToolMessage.list(call.tools.list, isCurrent: call.isCurrent)
      answer(ToolMessage.response(call.id, result), .ok, call)
    case "tools/call": run(message.parameters, call)
    default: refuseMethod(message, call)
    }
  }

  private func refuseMethod(_ message: ToolMessage, _ call: ToolCall) {
    refuse(.unknownMethod, "There is no method \"\(message.method.prefix(100))\".", call)
  }

  private func run(_ parameters: JSONValue, _ call: ToolCall) {
    let id = call.id
    func refuse(_ reason: String) { self.refuse(.invalidParameters, reason, call) }
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
        return answer(
          ToolMessage.toolRefusal(id, errors, isCurrent: call.isCurrent), .ok, call)
      }
      return answer(
        ToolMessage.toolResponse(
          id, Array(call.tools.results(for: question).description.utf8), isError: false,
          isCurrent: call.isCurrent), .ok, call)
    }
    guard let operation = call.tools.operations[name] else {
      return refuse("There is no tool \"\(name)\".")
    }
    let record = RequestRecord(
      call.identity, peer: call.head.caller.peer, bytes: call.request.body.count)
    let batch = BatchReply(
      of: 1, as: ResponseFormat(mediaType: .json), mayHold: call.exchange.mayHold
    ) { [self] list, _ in
      // With a token it may be permitted: the client is told where to get one.
      if call.head.caller.credential == .none, shared.protectedResource != nil,
        operation.wasRefused(record.errors)
      {
        return unauthorized("Sign in to use this tool.", call, isInvalid: false)
      }
      // The batch is a list of one response.
      let body = Array(list.dropFirst().dropLast())
      answer(
        ToolMessage.toolResponse(
          id, body, isError: !record.errors.isEmpty, isCurrent: call.isCurrent), .ok, call)
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
