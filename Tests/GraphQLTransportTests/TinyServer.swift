import GraphQLLanguage
import GraphQLResponse
import GraphQLTransport
import HTTP
import HTTPTestSupport
import JSON

/// A GraphQL server as small as can be: root fields `__typename` and `__type`, no more.
struct TinyServer {
  let fixture: HTTPServerFixture

  init(_ configuration: GraphQLEndpoint.Configuration = GraphQLEndpoint.Configuration()) throws {
    // Used on the loop of the server only.
    nonisolated(unsafe) let endpoint = GraphQLEndpoint(configuration)
    fixture = try HTTPServerFixture {
      $0.refusalBody = HTTPRefusal.answer
    } handler: {
      request, exchange in
      let identity = RequestIdentity(id: "tiny", trace: TraceContext(id: TraceID(high: 1, low: 2)))
      exchange.identify(as: identity.id)
      switch unsafe endpoint.receive(request, endpoint.head(of: request), as: identity) {
      case .answer(let answer): answer.send(to: exchange)
      case .request(let request, let format):
        Self.answer(request, format).send(to: exchange)
      case .batch(let requests, let format):
        var body = Array("[".utf8)
        for (index, request) in requests.enumerated() {
          if index > 0 { body.append(UInt8(ascii: ",")) }
          body += Self.answer(request, format).body
        }
        body.append(UInt8(ascii: "]"))
        exchange.respond(contentType: format.contentType, headers: format.headers, body: body)
      }
    }
  }

  func send(_ request: String) throws -> RawClient.Answer {
    let client = try RawClient(port: fixture.port)
    client.send(request)
    return client.answer()
  }

  static func answer(
    _ request: GraphQLRequest, _ format: ResponseFormat
  ) -> GraphQLAnswer {
    do throws(GraphQLError) {
      let operations: [OperationDefinition]
      do {
        operations = try Parser.parse(request.document).operations
      } catch {
        throw GraphQLError(error)
      }
      guard
        let operation = operations.first(where: { $0.name?.text == request.operationName })
          ?? (request.operationName == nil ? operations.first : nil)
      else {
        throw GraphQLError("No operation.", code: .operationResolutionFailure)
      }
      if operation.kind != .query, request.mayOnlyRead {
        throw GraphQLError("Not by GET.", code: .methodNotAllowed)
      }
      for case .field(let field) in operation.selectionSet.selections {
        guard ["__typename", "__type"].contains(field.name.text) else {
          throw GraphQLError("No such field.", code: .validationFailed)
        }
      }
      for variable in operation.variables {
        guard case .nonNull = variable.type else { continue }
        let value = request.variables.first { $0.name == variable.name.text }?.value ?? .null
        if value == .null {
          throw GraphQLError("A value is needed.", code: .badUserInput)
        }
      }
    } catch {
      return format.answer([error], requestID: request.identity.id)
    }
    return GraphQLAnswer(
      status: format.status(executedWithErrors: false), contentType: format.contentType,
      headers: format.headers, body: Array(#"{"data":{"__typename":"Query"}}"#.utf8))
  }
}
