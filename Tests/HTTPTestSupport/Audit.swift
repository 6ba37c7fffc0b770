/// A check of the audit suite of GraphQL over HTTP (graphql-http, `src/audits/server.ts`).
package struct Audit: Sendable, CustomStringConvertible {
  package enum Body: Sendable { case anything, withoutErrors, withoutData }

  package let id: String
  package let sentence: String
  package let request: String
  package var statuses = 200...200
  package var contentType: String?
  package var body = Body.anything

  package var description: String { "\(id) \(sentence)" }

  private static let json = "application/json"
  private static let response = "application/graphql-response+json"

  static func post(
    _ body: String, accept: String? = nil, contentType: String? = "application/json"
  ) -> String {
    var text = "POST /graphql HTTP/1.1\r\nHost: localhost\r\n"
    if let accept { text += "Accept: \(accept)\r\n" }
    if let contentType { text += "Content-Type: \(contentType)\r\n" }
    return text + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  static func get(_ query: String, accept: String = "*/*") -> String {
    "GET /graphql?\(query) HTTP/1.1\r\nHost: localhost\r\nAccept: \(accept)\r\n\r\n"
  }

  private static let typename = #"{"query":"{ __typename }"}"#
  private static let mapVariables =
    #"{"query":"query Type($name: String!) { __type(name: $name) { name } }","#
    + #""variables":{"name":"sometype"}}"#
  private static let urlVariables =
    "query=query+Type%28%24name%3A+String%21%29+%7B+__type%28name%3A+%24name%29+%7B+name+%7D+%7D"
    + "&variables=%7B%22name%22%3A%22sometype%22%7D"
  private static let unknownField = #"{"query":"{ 8f31403dfe404bccbb0e835f2629c6a7 }"}"#
  private static let uncoercible =
    #"{"query":"query CoerceFailure($id: ID!){ __typename }","variables":{"id":null}}"#

  package static let all: [Audit] =
    mediaTypes + methods + queryParameter + operationName + nullParameters + variables
    + extensionsParameter + malformed + legacyFailures + failures

  private static let mediaTypes = [
    Audit(
      id: "22EB",
      sentence: "SHOULD accept application/graphql-response+json and match the content-type",
      request: post(typename, accept: response), contentType: response),
    Audit(
      id: "4655", sentence: "MUST accept application/json and match the content-type",
      request: post(typename, accept: json), contentType: json),
    Audit(
      id: "47DE", sentence: "SHOULD accept */* and use application/json for the content-type",
      request: post(typename, accept: "*/*"), contentType: json),
    Audit(
      id: "80D8", sentence: "SHOULD assume application/json content-type when accept is missing",
      request: post(typename), contentType: json),
    Audit(
      id: "82A3", sentence: "MUST use utf-8 encoding when responding", request: post(typename),
      contentType: json),
    Audit(
      id: "BF61", sentence: "MUST accept utf-8 encoded request",
      request: post(
        #"{"query":"{ __type(name: \"Run🏃Swim🏊\") { name } }"}"#,
        contentType: "application/json; charset=utf-8")),
    Audit(
      id: "78D5", sentence: "MUST assume utf-8 in request if encoding is unspecified",
      request: post(typename)),
  ]

  private static let methods = [
    Audit(id: "2C94", sentence: "MUST accept POST requests", request: post(typename)),
    Audit(
      id: "5A70", sentence: "MAY accept application/x-www-form-urlencoded formatted GET requests",
      request: get("query=%7B+__typename+%7D")),
    Audit(
      id: "9C48", sentence: "MAY NOT allow executing mutations on GET requests",
      request: get("query=mutation+%7B+__typename+%7D", accept: response), statuses: 400...499),
    Audit(
      id: "9ABE",
      sentence:
        "SHOULD respond with 4xx status code if content-type is not supplied on POST requests",
      request: post(typename, contentType: nil), statuses: 400...499),
    Audit(
      id: "03D4", sentence: "MUST accept application/json POST requests", request: post(typename)),
    Audit(
      id: "A5BF", sentence: "MAY use 400 status code when request body is missing on POST",
      request: post(""), statuses: 400...400),
  ]

  private static let queryParameter =
    [
      Audit(
        id: "423L", sentence: "MAY use 400 status code on missing {query} parameter",
        request: post(#"{"notquery":"{ __typename }"}"#, accept: response), statuses: 400...400)
    ]
    + invalid(["{\"obj\":\"ect\"}", "0", "false", "[\"array\"]"]) { index, kind, value in
      Audit(
        id: "LKJ\(index)", sentence: "MAY use 400 status code on \(kind) {query} parameter",
        request: post("{\"query\":\(value)}"), statuses: 400...400)
    } + [
      Audit(
        id: "34A2",
        sentence:
          "SHOULD allow string {query} parameter when accepting application/graphql-response+json",
        request: post(typename, accept: response)),
      Audit(
        id: "13EE",
        sentence: "MUST allow string {query} parameter when accepting application/json",
        request: post(typename, accept: json), body: .withoutErrors),
    ]

  private static let operationName =
    invalid(["{\"obj\":\"ect\"}", "0", "false", "[\"array\"]"]) { index, kind, value in
      Audit(
        id: "6C0\(index)", sentence: "MAY use 400 status code on \(kind) {operationName} parameter",
        request: post("{\"operationName\":\(value),\"query\":\"{ __typename }\"}"),
        statuses: 400...400)
    } + [
      Audit(
        id: "8161",
        sentence: "SHOULD allow string {operationName} parameter when accepting "
          + "application/graphql-response+json",
        request: post(
          #"{"operationName":"Query","query":"query Query { __typename }"}"#, accept: response)),
      Audit(
        id: "B8B3",
        sentence: "MUST allow string {operationName} parameter when accepting application/json",
        request: post(
          #"{"operationName":"Query","query":"query Query { __typename }"}"#, accept: json),
        body: .withoutErrors),
    ]

  private static let nullParameters =
    ["variables", "operationName", "extensions"].enumerated().flatMap { index, name in
      [
        Audit(
          id: "94B\(index)",
          sentence: "SHOULD allow null {\(name)} parameter when accepting "
            + "application/graphql-response+json",
          request: post("{\"query\":\"{ __typename }\",\"\(name)\":null}", accept: response),
          body: .withoutErrors),
        Audit(
          id: "022\(index)",
          sentence: "MUST allow null {\(name)} parameter when accepting application/json",
          request: post("{\"query\":\"{ __typename }\",\"\(name)\":null}", accept: json),
          body: .withoutErrors),
      ]
    }

  private static let variables =
    invalid(["\"string\"", "0", "false", "[\"array\"]"]) { index, kind, value in
      Audit(
        id: "476\(index)", sentence: "MAY use 400 status code on \(kind) {variables} parameter",
        request: post("{\"query\":\"{ __typename }\",\"variables\":\(value)}"), statuses: 400...400)
    } + [
      Audit(
        id: "2EA1",
        sentence:
          "SHOULD allow map {variables} parameter when accepting application/graphql-response+json",
        request: post(mapVariables, accept: response)),
      Audit(
        id: "28B9",
        sentence: "MUST allow map {variables} parameter when accepting application/json",
        request: post(mapVariables, accept: json), body: .withoutErrors),
      Audit(
        id: "D6D5",
        sentence: "MAY allow URL-encoded JSON string {variables} parameter in GETs when accepting "
          + "application/graphql-response+json",
        request: get(urlVariables, accept: response), body: .withoutErrors),
      Audit(
        id: "6A70",
        sentence: "MAY allow URL-encoded JSON string {variables} parameter in GETs when accepting "
          + "application/json",
        request: get(urlVariables, accept: json), body: .withoutErrors),
    ]

  private static let extensionsParameter =
    invalid(["\"string\"", "0", "false", "[\"array\"]"]) { index, kind, value in
      Audit(
        id: "58B\(index)", sentence: "MAY use 400 status code on \(kind) {extensions} parameter",
        request: post("{\"query\":\"{ __typename }\",\"extensions\":\(value)}"),
        statuses: 400...400)
    } + [
      Audit(
        id: "428F",
        sentence:
          "SHOULD allow map {extensions} parameter when accepting application/graphql-response+json",
        request: post(
          #"{"query":"{ __typename }","extensions":{"some":"value"}}"#, accept: response)),
      Audit(
        id: "1B7A",
        sentence: "MUST allow map {extensions} parameter when accepting application/json",
        request: post(#"{"query":"{ __typename }","extensions":{"some":"value"}}"#, accept: json),
        body: .withoutErrors),
    ]

  private static let malformed = [
    Audit(
      id: "B6DC",
      sentence: "MAY use 2xx, 4xx, or 5xx status codes on JSON parsing failure when accepting "
        + "application/json",
      request: post(#"{ "not a JSON"#, accept: json), statuses: 400...400),
    Audit(
      id: "BCF8",
      sentence:
        "SHOULD use 400 status code on JSON parsing failure when accepting application/json",
      request: post(#"{ "not a JSON"#, accept: json), statuses: 400...400),
    Audit(
      id: "B7N8",
      sentence: "SHOULD use 400 status code on JSON parsing failure when accepting "
        + "application/graphql-response+json",
      request: post(#"{ "not a JSON"#, accept: response), statuses: 400...400),
    Audit(
      id: "8764", sentence: "MAY use 4xx or 5xx status codes if parameters are invalid",
      request: post(#"{"qeury":"{ __typename }"}"#), statuses: 400...599),
    Audit(
      id: "3E3A", sentence: "MAY use 400 status code if parameters are invalid",
      request: post(#"{"qeury":"{ __typename }"}"#), statuses: 400...400),
  ]

  private static let legacyFailures = [
    Audit(
      id: "572B",
      sentence:
        "SHOULD use 200 status code on document parsing failure when accepting application/json",
      request: post(#"{"query":"{"}"#, accept: json), body: .withoutData),
    Audit(
      id: "FDE2",
      sentence:
        "SHOULD use 200 status code on document validation failure when accepting application/json",
      request: post(unknownField, accept: json), body: .withoutData),
    Audit(
      id: "7B9B",
      sentence:
        "SHOULD use a status code of 200 on variable coercion failure when accepting application/json",
      request: post(uncoercible, accept: json), body: .withoutData),
  ]

  private static let failures = [
    Audit(
      id: "865D",
      sentence: "SHOULD use 4xx or 5xx status codes on document parsing failure when accepting "
        + "application/graphql-response+json",
      request: post(#"{"query":"{"}"#, accept: response), statuses: 400...599),
    Audit(
      id: "556A",
      sentence: "SHOULD use 400 status code on document parsing failure when accepting "
        + "application/graphql-response+json",
      request: post(#"{"query":"{"}"#, accept: response), statuses: 400...400),
    Audit(
      id: "D586",
      sentence: "SHOULD not contain the data entry on document parsing failure when accepting "
        + "application/graphql-response+json",
      request: post(#"{"query":"{"}"#, accept: response), statuses: 400...400, body: .withoutData),
    Audit(
      id: "51FE",
      sentence: "SHOULD use 4xx or 5xx status codes on document validation failure when accepting "
        + "application/graphql-response+json",
      request: post(unknownField, accept: response), statuses: 400...599),
    Audit(
      id: "74FF",
      sentence: "SHOULD use 400 status code on document validation failure when accepting "
        + "application/graphql-response+json",
      request: post(unknownField, accept: response), statuses: 400...400),
    Audit(
      id: "5E5B",
      sentence: "SHOULD not contain the data entry on document validation failure when accepting "
        + "application/graphql-response+json",
      request: post(unknownField, accept: response), statuses: 400...400, body: .withoutData),
    Audit(
      id: "86EE",
      sentence: "SHOULD use a status code of 400 on variable coercion failure when accepting "
        + "application/graphql-response+json",
      request: post(uncoercible, accept: response), statuses: 400...400, body: .withoutData),
  ]

  private static func invalid(
    _ values: [String], _ make: (Int, String, String) -> Audit
  ) -> [Audit] {
    values.enumerated().map { index, value in
      let kind =
        switch value.first {
        case "{": "object"
        case "[": "array"
        case "\"": "string"
        case "f": "boolean"
        default: "number"
        }
      return make(index, kind, value)
    }
  }
}
