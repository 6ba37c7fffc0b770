import GraphQLResponse
import HTTP
import Postgres
import SQL

/// `GET` and `POST /unsubscribe/TOKEN` on one event loop: where mails about notifications lead that
/// somebody wants no more of, without signing in (RFC 8058).
///
/// Only POST ends them, because programs follow the links of mails before people do. The graph's
/// function `unsubscribe(token, locale, is_done)` has the texts.
final class UnsubscribeEndpoint {
  static let path = "/unsubscribe"

  private let writers: PostgresPool

  init(writers: PostgresPool) { self.writers = writers }

  private static let statement = PostgresStatement(
    "SELECT words, label FROM \(GraphContract.unsubscribe)($1, $2, $3)", parameterCount: 3,
    label: StatementLabel(task: "unsubscribe"))

  func handle(_ request: HTTPRequest, _ exchange: HTTPExchange, for client: PoolClient) {
    let token = request.path.dropFirst(Self.path.utf8.count + 1)
    let isDone = request.method == .post
    guard isDone || request.method == .get else {
      return exchange.respond(.methodNotAllowed, headers: [HTTPField("Allow", "GET, POST")])
    }
    guard (1...100).contains(token.utf8.count), token.utf8.allSatisfy(Self.isOfToken) else {
      return Self.text("There is nothing here.", .notFound, exchange)
    }
    let preferences = RequestPreferences(
      acceptLanguage: request.header("accept-language"), app: nil)
    var parameters = PostgresParameters()
    parameters.append(String(token))
    parameters.append(preferences.locale)
    parameters.append(isDone)
    writers.execute(
      transaction: [BoundStatement(Self.statement, parameters)], for: client
    ) { outcome, _ in
      switch outcome {
      case .success(let result):
        guard result.rowCount == 1, let words = result.string(row: 0, column: 0) else {
          return Self.text("There is nothing here.", .notFound, exchange)
        }
        Self.page(words, button: result.string(row: 0, column: 1), exchange)
      case .failure:
        Self.text(
          "The database cannot be reached. Try again shortly.", .serviceUnavailable, exchange)
      }
    }
  }

  private static func isOfToken(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  private static let headers = [
    HTTPField("Cache-Control", "no-store"), HTTPField("Referrer-Policy", "no-referrer"),
    HTTPField("X-Robots-Tag", "noindex"),
    HTTPField("Content-Security-Policy", "default-src 'none'; form-action 'self'"),
  ]

  /// Sends words, and a button that sends the form to the same address.
  private static func page(_ words: String, button: String?, _ exchange: HTTPExchange) {
    let form =
      button.map { "<form method=\"post\"><button>\(escaped($0))</button></form>" } ?? ""
    exchange.respond(
      .ok, contentType: "text/html; charset=utf-8", headers: headers,
      body: Array(
        """
        <!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">\
        <title>\(escaped(words))</title><p>\(escaped(words))</p>\(form)

        """.utf8))
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }

  private static func text(_ text: String, _ status: HTTPStatus, _ exchange: HTTPExchange) {
    exchange.respond(
      status, contentType: "text/plain; charset=utf-8", headers: headers,
      body: Array("\(text)\n".utf8))
  }
}
