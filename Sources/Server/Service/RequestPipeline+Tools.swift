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
    guard endpoint.configuration.crossOrigin.admitsSocket(of: request) else {
      return text("Pages of this origin may not call tools.", .forbidden, exchange)
    }
    guard request.method == .post else {
      let status: HTTPStatus = request.method == .options ? .noContent : .methodNotAllowed
      return exchange.respond(status, headers: [HTTPField("Allow", "POST, OPTIONS")])
    }
    guard request.header("content-type")?.lowercased().hasPrefix("application/json") == true else {
      return text("Send application/json.", .unsupportedMediaType, exchange)
    }
    switch ToolMessage.read(request.body) {
    case .failure(let failure, let id):
      answer(
        ToolMessage.response(id, failure, "Expected one message of JSON-RPC 2.0."), .badRequest,
        exchange)
    case .message(let message):
      guard let id = message.id else { return exchange.respond(.accepted) }
      take(message, id, tools, request, head, exchange, identity)
    }
  }

  private func take(
    _ message: ToolMessage, _ id: JSONValue, _ tools: PublishedTools, _ request: HTTPRequest,
    _ head: RequestHead, _ exchange: HTTPExchange, _ identity: RequestIdentity
  ) {
    switch message.method {
    case "initialize":
      answer(ToolMessage.response(id, ToolMessage.greeting(message.parameters)), .ok, exchange)
    case "ping": answer(ToolMessage.response(id, .object([])), .ok, exchange)
    case "tools/list":
      let result = JSONValue.object([JSONValue.Member(name: "tools", value: tools.list)])
      answer(ToolMessage.response(id, result), .ok, exchange)
    case "tools/call":
      call(message.parameters, id, tools, request, head, exchange, identity)
    default:
      answer(
        ToolMessage.response(id, .unknownMethod, "There is no method \"\(message.method)\"."), .ok,
        exchange)
    }
  }

  private func call(
    _ parameters: JSONValue, _ id: JSONValue, _ tools: PublishedTools, _ request: HTTPRequest,
    _ head: RequestHead, _ exchange: HTTPExchange, _ identity: RequestIdentity
  ) {
    func refuse(_ reason: String) {
      answer(ToolMessage.response(id, .invalidParameters, reason), .ok, exchange)
    }
    guard case .string(let name)? = parameters["name"] else { return refuse("Name a tool.") }
    let arguments: [JSONValue.Member]
    switch parameters["arguments"] {
    case nil, .null?: arguments = []
    case .object(let members)?: arguments = members
    default: return refuse("\"arguments\" must be an object.")
    }
    if name == PublishedTools.searchName {
      guard case .string(let question)? = JSONValue.object(arguments)["question"] else {
        return refuse("Ask a \"question\".")
      }
      return answer(
        ToolMessage.toolResponse(
          id, Array(tools.results(for: question).description.utf8), isError: false), .ok,
        exchange)
    }
    guard let operation = tools.operations[name] else {
      return refuse("There is no tool \"\(name)\".")
    }
    let record = RequestRecord(identity, peer: request.peer, bytes: request.body.count)
    let batch = BatchReply(
      of: 1, as: ResponseFormat(mediaType: .json), mayHold: exchange.mayHold
    ) { [self] list, _ in
      // The batch is a list of one response.
      let body = Array(list.dropFirst().dropLast())
      answer(
        ToolMessage.toolResponse(id, body, isError: !record.errors.isEmpty), .ok, exchange)
    }
    exchange.onClose { batch.leave() }
    answer(
      GraphQLRequest(
        identity: identity, document: operation.document, trustedID: operation.documentID,
        operationName: operation.name, variables: arguments),
      begin(.batch(batch, place: 0), from: head.caller, record))
  }

  private func answer(_ body: [UInt8], _ status: HTTPStatus, _ exchange: HTTPExchange) {
    exchange.respond(
      status, contentType: "application/json", headers: [HTTPField("Cache-Control", "no-store")],
      body: body)
  }
}
