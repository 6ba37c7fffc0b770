import GraphQLExecution
import GraphQLTransport
import HTTP

/// A path that the server answers, and what answers there.
struct Route {
  enum Purpose {
    case operation
    case explanation(OperationExplainer)
    case socket
    case pictures(PictureEndpoint)
    case unsubscribing(UnsubscribeEndpoint)
    /// Published operations as tools of the Model Context Protocol.
    case tools(PublishedTools)
    /// The issuers of tokens for the tools.
    case resourceMetadata
    case liveness, readiness
    /// The schema's text, for those who are signed in.
    case schemaText
    /// A page that is the same for everybody, or none.
    case page
    /// Nothing that this server does; the text says why.
    case forbidden(String)
  }

  let path: String
  /// The paths below it as well.
  var includesBelow = false
  let purpose: Purpose

  func matches(_ path: String) -> Bool {
    path == self.path
      || path.hasPrefix(self.path + "/")
        && (includesBelow || path.utf8.count == self.path.utf8.count + 1)
  }
}

extension [Route] {
  /// The routes of a server; what none of them matches is a page.
  init(
    _ shared: SharedService, pictures: PictureEndpoint?, unsubscribing: UnsubscribeEndpoint,
    explainer: OperationExplainer?
  ) {
    self = [
      Route(path: "/graphql", purpose: .operation),
      Route(
        path: "/explain",
        purpose: explainer.map { .explanation($0) }
          ?? .forbidden("Plans are shown where the server runs with --explain-in-page.")),
      Route(path: "/live", purpose: .liveness),
      Route(path: "/ready", purpose: .readiness),
      Route(
        path: UnsubscribeEndpoint.path, includesBelow: true, purpose: .unsubscribing(unsubscribing)),
    ]
    if let pictures {
      append(Route(path: PictureEndpoint.path, includesBelow: true, purpose: .pictures(pictures)))
    }
    if let tools = shared.tools {
      append(Route(path: "/mcp", purpose: .tools(tools)))
      append(
        Route(path: ProtectedResource.path, includesBelow: true, purpose: .resourceMetadata))
    }
    if shared.introspection == .signedIn {
      append(Route(path: StaticPages.schemaText, purpose: .schemaText))
    }
  }

  func purpose(of request: HTTPRequest) -> Route.Purpose {
    let path = request.path
    guard let route = first(where: { $0.matches(path) }) else { return .page }
    if case .operation = route.purpose, WebSocketHandshake.isWanted(by: request) {
      return .socket
    }
    return route.purpose
  }
}

/// The head that a connection's last request had: clients repeat it from one request to the next.
final class KnownHead {
  var head: RequestHead?
}

/// The header of a request, as the pipeline uses it.
final class RequestHead {
  let purpose: Route.Purpose
  let format: GraphQLEndpoint.Head
  let caller: Caller
  /// Whether responses tell the client the times of its requests.
  let timing: RequestRecord.Timing

  init(
    _ purpose: Route.Purpose, _ format: GraphQLEndpoint.Head, _ caller: Caller,
    timing: RequestRecord.Timing
  ) {
    self.timing = timing
    self.purpose = purpose
    self.format = format
    self.caller = caller
  }
}
