import Compression
import Foundation
import GraphQLPlanning
import GraphQLSchema
import GraphQLTransport
import HTTP

/// Pages that are the same for everybody, made once: the schema's text and the in-browser IDE.
struct StaticPages: Sendable {
  struct Page: Sendable {
    let contentType: String
    let body: [UInt8]
    let headers: [HTTPField]
    let coded: CodedBodies

    /// - Parameter headers: besides `Vary`, which every page has.
    init(contentType: String, body: [UInt8], headers: [HTTPField]) {
      self.contentType = contentType
      self.body = body
      self.headers = headers + [GraphQLEndpoint.varyByCoding]
      coded = CodedBodies(of: body)
    }
  }

  private(set) var pages: [String: Page]

  /// The path of the schema's text.
  static let schemaText = "/schema.graphql"

  init(
    mapping: StorageMapping, graphiQL: GraphiQLPage.Setting, content: GraphiQLPage.Content,
    explains: Bool,
    introspection: IntrospectionAccess, site: SitePages? = nil
  ) {
    let schema = StorageDirectives.clientSchema(of: mapping.schema)
    pages = GraphiQLPage.pages(
      graphiQL, content, explains: explains, example: ExampleOperation(schema).text)
    if let site { pages.merge(site.pages) { $1 } }
    guard introspection != .off else { return }
    let sdl = SchemaPrinter(schema).print()
    pages[Self.schemaText] = Page(
      contentType: "text/plain; charset=utf-8", body: Array((sdl + "\n").utf8), headers: [])
  }

  private static let methods = "GET, HEAD, OPTIONS"

  /// - Parameter coding: the one that the client prefers, if any.
  func respond(
    _ path: String, _ request: HTTPRequest, _ coding: ContentCoding?, _ exchange: HTTPExchange
  ) {
    if request.method == .options, path == "*" || pages[path] != nil {
      let methods = path == "*" ? GraphQLEndpoint.methods : Self.methods
      return exchange.respond(.noContent, headers: [HTTPField("Allow", methods)])
    }
    guard let page = pages[path] else {
      return exchange.respond(
        .notFound, contentType: "text/plain; charset=utf-8",
        body: Array("There is nothing here; the API is at /graphql.\n".utf8))
    }
    guard request.method == .get || request.method == .head else {
      return exchange.respond(.methodNotAllowed, headers: [HTTPField("Allow", Self.methods)])
    }
    if let coding, let body = page.coded.body(in: coding) {
      return exchange.respond(
        .ok, contentType: page.contentType,
        headers: page.headers + [AnswerCompressor.field(coding)], body: body)
    }
    exchange.respond(.ok, contentType: page.contentType, headers: page.headers, body: page.body)
  }
}
