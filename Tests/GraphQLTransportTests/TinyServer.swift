import GraphQLLanguage
import GraphQLTransport
import HTTP
import HTTPTestSupport
import JSON

/// A GraphQL server as small as can be: root fields `__typename` and `__type`, no more.
struct TinyServer {
  let fixture: HTTPServerFixture

  init(_ configuration: GraphQLEndpoint.Configuration = GraphQLEndpoint.Configuration()) throws {
    let endpoint = GraphQLEndpoint(configuration)
    fixture = try HTTPServerFixture {
      $0.refusalBody = ErrorBody.refusal
    } handler: {
      request, exchange in
      switch endpoint.receive(request) {
      case .answer(let answer): answer.send(to: exchange)
      case .request(let request, let format):
        Self.answer(request, format, endpoint).send(to: exchange)
      case .batch(let requests, let format):
        var body = Array("[".utf8)
        for (index, request) in requests.enumerated() {
          if index > 0 { body.append(UInt8(ascii: ",")) }
          body += Self.answer(request, format, endpoint).body
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
    _ request: GraphQLRequest, _ format: ResponseFormat, _ endpoint: GraphQLEndpoint
  ) -> GraphQLAnswer {
    do throws(GraphQLError) {
      let operations = try Parser.parse(request.document).operations
      guard
        let operation = operations.first(where: { $0.name?.text == request.operationName })
          ?? (request.operationName == nil ? operations.first : nil)
      else {
        throw GraphQLError("No operation.", code: ErrorCode.operationResolutionFailure.rawValue)
      }
      if operation.kind != .query, request.mayOnlyRead { return endpoint.mutationByGet(format) }
      for case .field(let field) in operation.selectionSet.selections {
        guard ["__typename", "__type"].contains(field.name.text) else {
          throw GraphQLError("No such field.", code: ErrorCode.validationFailed.rawValue)
        }
      }
      for variable in operation.variables {
        guard case .nonNull = variable.type else { continue }
        let value = request.variables.first { $0.name == variable.name.text }?.value ?? .null
        if value == .null {
          throw GraphQLError("A value is needed.", code: ErrorCode.badUserInput.rawValue)
        }
      }
    } catch {
      return format.answer([error], otherwise: .parseFailed)
    }
    return GraphQLAnswer(
      status: format.status(executedWithErrors: false), contentType: format.contentType,
      headers: format.headers, body: Array(#"{"data":{"__typename":"Query"}}"#.utf8))
  }
}
