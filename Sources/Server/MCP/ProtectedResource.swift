import Accounts
import HTTP
import JSON

/// The issuers of tokens for the tools: OAuth 2.0 Protected Resource Metadata (RFC 9728).
package struct ProtectedResource: Sendable {
  static let path = "/.well-known/oauth-protected-resource"
  private static let tools = "/mcp"

  /// The issuers whose tokens are accepted, as URLs; those of bearer tokens come first.
  let issuers: [String]
  private let proxies: TrustedProxies

  /// Creates the metadata; nil if no issuer has a URL.
  package init?(_ providers: [IdentityProviders], proxies: TrustedProxies) {
    var known: Set<String> = []
    issuers = providers.flatMap(\.issuerNames).filter {
      Self.isURL($0) && known.insert($0).inserted
    }
    guard !issuers.isEmpty else { return nil }
    self.proxies = proxies
  }

  /// An issuer without TLS is one of tests, on the same machine.
  private static func isURL(_ issuer: String) -> Bool {
    ["https://", "http://127.0.0.1:", "http://localhost:"].contains { issuer.hasPrefix($0) }
  }

  /// Returns the document for the tools, or for the origin if no path is behind that of the metadata;
  /// nil for another resource.
  func document(for request: HTTPRequest) -> JSONValue? {
    let resource = String(request.path.dropFirst(Self.path.count))
    guard ["", "/", Self.tools].contains(resource) else { return nil }
    func member(_ name: String, _ value: JSONValue) -> JSONValue.Member {
      JSONValue.Member(name: name, value: value)
    }
    return .object([
      member("resource", .string(origin(of: request) + (resource == "/" ? "" : resource))),
      member("authorization_servers", .array(issuers.map { .string($0) })),
      member("bearer_methods_supported", .array([.string("header")])),
      member("resource_name", .string("Sociograph")),
    ])
  }

  /// Returns the header of a 401: where the metadata is, and whether a token was given that is none.
  static func challenge(
    _ resource: ProtectedResource?, for request: HTTPRequest, isInvalid: Bool
  ) -> HTTPField {
    var parameters = isInvalid ? ["error=\"invalid_token\""] : []
    if let resource {
      parameters.append("resource_metadata=\"\(resource.origin(of: request))\(path)\(tools)\"")
    }
    return HTTPField(
      "WWW-Authenticate",
      (["Bearer"] + [parameters.joined(separator: ", ")]).filter { !$0.isEmpty }
        .joined(separator: " "))
  }

  private func origin(of request: HTTPRequest) -> String {
    let host = request.header("host") ?? ""
    // Nothing that ends a quoted string of a header.
    let isPlain = host.utf8.allSatisfy { byte in
      (48...57).contains(byte) || (97...122).contains(byte | 32) || ".-:[]".utf8.contains(byte)
    }
    return "http\(proxies.isSecure(request) ? "s" : "")://"
      + (isPlain && !host.isEmpty ? host : "localhost")
  }
}
