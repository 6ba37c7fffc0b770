import Compression
import GraphQLResponse
import HTTP
import JSON

// GraphQL over HTTP: turns an HTTP request into GraphQL requests and the dress of their answer, or
// into a finished refusal. It decides by what is in the request alone and waits for nothing;
// parsing, validating and executing the document are left to the caller.

/// The rules of one GraphQL URL, and one loop's memory of its requests.
package struct GraphQLEndpoint {
  package struct Configuration: Sendable {
    package var profile = ResponseFormat.ProfileChoice.edition2026
    package var crossOrigin = CrossOriginPolicy()
    package var trustedDocuments = TrustedDocuments()
    package var trustedLevel = TrustedDocuments.Level.off
    /// The automatic persisted queries; nil turns them off.
    package var persistedQueries: PersistedQueries? = PersistedQueries()
    /// The maximum number of requests in one body; 0 allows no lists.
    package var maximumBatch = 0
    /// The maximum number of sets of variables in one request; 0 allows no lists of them.
    package var maximumVariableSets = 100
    package var maximumDocumentBytes = 64 * 1024
    package var maximumVariablesBytes = 256 * 1024
    package var maximumNesting = 64
    /// Whether requests with files are taken, in `multipart/form-data`.
    package var takesForms = false
    /// Whether responses are compressed for clients that accept it.
    package var compresses = true

    package init() {}
  }

  /// The result of receiving an HTTP request.
  package enum Reception: Sendable {
    /// Send this response; there is nothing to execute.
    case answer(GraphQLAnswer)
    case request(GraphQLRequest, ResponseFormat)
    /// Execute each request, and respond with the list of their responses in this order. If the
    /// format has `sets`, it is one request with several sets of variables.
    case batch([GraphQLRequest], ResponseFormat)

    /// The same for a method that must not change anything.
    fileprivate var mayOnlyRead: Reception {
      switch self {
      case .answer: return self
      case .request(var request, let format):
        request.mayOnlyRead = true
        return .request(request, format)
      case .batch(var requests, let format):
        for index in requests.indices { requests[index].mayOnlyRead = true }
        return .batch(requests, format)
      }
    }
  }

  package enum Event: Sendable {
    case refused(TransportError, HTTPStatus, of: RequestIdentity)
    /// A document that is not published is executed, at level `log`.
    case documentNotTrusted(operationName: String?)
  }

  package let configuration: Configuration
  private let report: @Sendable (Event) -> Void
  private let repeated = RequestBodyCache()
  private let accepted = HeaderMemory<Accepted>()
  private let codings = HeaderMemory<ContentCoding?>()

  /// The forms of responses that a client accepts.
  private struct Accepted {
    let stream: StreamFormat?
    let parts: StreamFormat?
    let lines: JSONLines?
    let mediaType: ResponseFormat.MediaType?

    init(_ accept: String?) {
      stream = StreamFormat(accept: accept)
      parts = StreamFormat.ofParts(accept: accept)
      lines = JSONLines(accept: accept)
      mediaType = ContentNegotiation.mediaType(accept: accept)
    }
  }

  package init(
    _ configuration: Configuration = Configuration(),
    report: @escaping @Sendable (Event) -> Void = { _ in }
  ) {
    self.configuration = configuration
    self.report = report
  }

  /// The properties that a request's head determines; they hold for all requests with the same
  /// head.
  package final class Head {
    package fileprivate(set) var format: ResponseFormat
    /// The coding of large responses; nil if the client accepts none.
    package fileprivate(set) var coding: ContentCoding?
    /// The condition on what the client already has; nil for a method without conditions.
    package let condition: ResponseCondition?
    /// Whether the body is a form with files.
    package fileprivate(set) var isForm = false
    fileprivate(set) var refusal: TransportError?
    fileprivate(set) var idempotencyKey: Result<String?, TransportError> = .success(nil)
    /// The index at which the last body that came with this head is cached, if it still is.
    fileprivate var lastPlace = 0

    fileprivate init(_ format: ResponseFormat, _ condition: ResponseCondition?) {
      self.format = format
      self.condition = condition
    }
  }

  package func head(of request: HTTPRequest) -> Head {
    let head = Head(
      ResponseFormat(
        mediaType: .json, profile: configuration.profile.profile(for: .json),
        headers: configuration.crossOrigin.headers(for: request)),
      ResponseCondition(request))
    head.format.headers.append(Self.vary)
    if request.hasHeader("authorization") || request.hasHeader("cookie") {
      head.format.headers.append(Self.noStore)
    }
    if let accepted = request.headerList("accept-encoding") {
      head.coding = coding(for: accepted)
    }
    head.idempotencyKey = Self.idempotencyKey(request)
    do throws(TransportError) {
      head.isForm = configuration.takesForms && request.method == .post && request.hasForm
      try negotiate(request, &head.format, isForm: head.isForm)
    } catch {
      head.refusal = error
    }
    return head
  }

  /// Receives an HTTP request.
  ///
  /// - Parameters:
  ///   - identity: the identity of the GraphQL requests, which a refusal names.
  package func receive(
    _ request: HTTPRequest, _ head: Head, as identity: RequestIdentity
  ) -> Reception {
    do throws(TransportError) {
      return try read(request, head, identity)
    } catch {
      return .answer(refuse(error, head, identity))
    }
  }

  func refuse(
    _ error: TransportError, _ head: Head, _ identity: RequestIdentity
  ) -> GraphQLAnswer {
    let answer = head.format.answer(error, requestID: identity.id)
    report(.refused(error, answer.status, of: identity))
    return answer
  }

  /// Returns the coding of responses to a client with this `Accept-Encoding`.
  package func coding(for acceptEncoding: String) -> ContentCoding? {
    configuration.compresses
      ? codings.meaning(of: acceptEncoding) { ContentCoding.preferred(by: $0) } : nil
  }

  /// The methods of its URL.
  package static let methods = "GET, HEAD, POST, QUERY, OPTIONS"
  /// That QUERY may be used, and with which media type (RFC 10008, 3).
  static let acceptQuery = HTTPField("Accept-Query", "application/json")
  /// That a client which accepts other media types or codings receives other bytes.
  private static let vary = HTTPField("Vary", "Accept, Accept-Encoding")
  /// As `vary`, for what has one media type.
  package static let varyByCoding = HTTPField("Vary", "Accept-Encoding")
  private static let noStore = HTTPField("Cache-Control", "no-store")

  private func negotiate(
    _ request: HTTPRequest, _ format: inout ResponseFormat, isForm: Bool
  ) throws(TransportError) {
    switch request.method {
    case .post, .query, .get, .head: break
    case .options: return
    case .put, .delete, .patch, .other: throw .methodNotAllowed
    }
    let accepted =
      request.headerList("accept").map { accept in
        self.accepted.meaning(of: accept) { Accepted($0) }
      } ?? Accepted(nil)
    format.stream = accepted.stream
    format.parts = accepted.parts
    format.lines = accepted.lines
    if let mediaType = accepted.mediaType {
      format.mediaType = mediaType
      format.profile = configuration.profile.profile(for: mediaType)
    } else {
      format.isStreamOnly = format.stream != nil || format.parts != nil
      if let lines = format.lines {
        format.mediaType = .lines(lines)
      } else if !format.isStreamOnly {
        throw .notAcceptable
      }
    }
    // Apollo's iOS client sends the Content-Type of a body that is not there.
    let hasBody = request.method == .post || request.method == .query
    if !isForm, hasBody || request.hasHeader("content-type") {
      try ContentNegotiation.checkBody(contentType: request.headerList("content-type"))
    }
    if hasBody {
      try configuration.crossOrigin.checkForgery(request, isTrustedDocument: false)
    }
  }

  private func read(
    _ request: HTTPRequest, _ head: Head, _ identity: RequestIdentity
  ) throws(TransportError) -> Reception {
    if let refusal = head.refusal { throw refusal }
    if request.method == .post { return try readBody(request, head, identity) }
    if request.method == .query { return try readBody(request, head, identity).mayOnlyRead }
    if request.method == .options {
      var answer = try configuration.crossOrigin.preflight(request, path: Self.methods)
      answer.headers.append(Self.acceptQuery)
      return .answer(answer)
    }
    let parameters = try RequestParameters(
      urlQuery: request.queryBytes, maximumNesting: configuration.maximumNesting)
    var found = try resolve(parameters, identity)
    found.mayOnlyRead = true
    try configuration.crossOrigin.checkForgery(request, isTrustedDocument: found.trustedID != nil)
    return .request(found, head.format)
  }

  private func readBody(
    _ request: HTTPRequest, _ head: Head, _ identity: RequestIdentity
  ) throws(TransportError) -> Reception {
    let format = head.format
    guard !request.body.isEmpty else { throw .emptyBody }
    var known = repeated.body(at: head.lastPlace, request.body)
    let key = known == nil ? repeated.key(of: request.body) : nil
    if let key, let place = repeated.place(of: key) {
      head.lastPlace = place
      known = repeated.body(at: place)
    }
    if let known {
      var found = known.request
      found.identity = identity
      found.idempotencyKey = try head.idempotencyKey.get()
      return .request(found, format)
    }
    // Some programs begin UTF-8 with a mark.
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let body = request.body.starts(with: mark) ? Array(request.body.dropFirst(3)) : request.body
    switch try TransportError.parse(body, maximumNesting: configuration.maximumNesting) {
    case .object(let members):
      let parameters = try RequestParameters(members)
      if let sets = parameters.variableSets {
        return try readSets(sets, parameters, request, head, identity)
      }
      var found = try readRequest(parameters, identity, bodyBytes: request.body.count)
      // A request that depends on a list of documents, or changes it, is parsed again.
      if let key, found.extensions.isEmpty, found.trustedID == nil,
        configuration.trustedLevel == .off,
        members.contains(where: { $0.name == "query" })
      {
        found = repeated.keep(found, for: key)
      }
      found.idempotencyKey = try head.idempotencyKey.get()
      return .request(found, format)
    case .array(let elements):
      guard configuration.maximumBatch > 0 else { throw .batchingDisabled }
      guard !elements.isEmpty else { throw .emptyBatch }
      guard !request.hasHeader("idempotency-key") else { throw .idempotencyKeyOfBatch }
      guard elements.count <= configuration.maximumBatch else {
        throw .batchTooLarge(maximum: configuration.maximumBatch)
      }
      var requests: [GraphQLRequest] = []
      for element in elements {
        guard case .object(let members) = element else { throw .batchNesting }
        requests.append(
          try readRequest(RequestParameters(members), identity, bodyBytes: request.body.count))
      }
      return .batch(requests, format)
    case .null, .boolean, .number, .string:
      throw .notAnObject
    }
  }

  /// Returns the Idempotency-Key HTTP Header Field (draft 7), with or without quotes.
  private static func idempotencyKey(_ request: HTTPRequest) -> Result<String?, TransportError> {
    guard let key = request.headerList("idempotency-key") else { return .success(nil) }
    // Two header fields are joined by a comma. They look like one key with a comma, which is
    // refused too.
    guard (1...255).contains(key.utf8.count), !key.contains(","),
      key.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
    else { return .failure(.idempotencyKeyMalformed) }
    return .success(key)
  }

  /// Returns the request in a message of a WebSocket.
  ///
  /// - Parameter bytes: the size of the message.
  package func request(
    in payload: [JSONValue.Member], bytes: Int, as identity: RequestIdentity
  ) throws(TransportError) -> GraphQLRequest {
    do throws(TransportError) {
      return try readRequest(RequestParameters(payload), identity, bodyBytes: bytes)
    } catch {
      report(.refused(error, error.status(configuration.profile.profile(for: .json)), of: identity))
      throw error
    }
  }

  /// Returns whether a page of this origin may open a WebSocket: one of the server itself, or one
  /// that may read its responses. Other programs send no origin.
  package func admitsSocket(of request: HTTPRequest) -> Bool {
    configuration.crossOrigin.admitsSocket(of: request)
  }

  func readRequest(
    _ parameters: RequestParameters, _ identity: RequestIdentity, bodyBytes: Int
  ) throws(TransportError) -> GraphQLRequest {
    guard parameters.variableSets == nil else {
      throw .parameter("variables", expected: "an object")
    }
    try checkSize(of: parameters.variables, inBytes: bodyBytes)
    return try resolve(parameters, identity)
  }

  /// - Parameter bytes: the size of what the variables came in.
  func checkSize(
    of variables: [JSONValue.Member], inBytes bytes: Int
  ) throws(TransportError) {
    if bytes > configuration.maximumVariablesBytes,
      Self.size(.object(variables)) > configuration.maximumVariablesBytes
    {
      throw .variablesTooLarge(maximumBytes: configuration.maximumVariablesBytes)
    }
  }

  /// Returns the minimum number of bytes that a value takes as JSON. The parser's limit bounds the
  /// recursion.
  private static func size(_ value: JSONValue) -> Int {
    switch value {
    case .null: 4
    case .boolean(let flag): flag ? 4 : 5
    case .number(let text): text.utf8.count
    case .string(let text): text.utf8.count + 2
    case .array(let elements): elements.reduce(1) { $0 + size($1) + 1 }
    case .object(let members):
      members.reduce(1) { $0 + $1.name.utf8.count + size($1.value) + 4 }
    }
  }

  // MARK: Finding the document

  func resolve(
    _ parameters: RequestParameters, _ identity: RequestIdentity
  ) throws(TransportError) -> GraphQLRequest {
    var (document, trustedID) = try findDocument(parameters)
    guard document.utf8.count <= configuration.maximumDocumentBytes || trustedID != nil else {
      throw .documentTooLarge(maximumBytes: configuration.maximumDocumentBytes)
    }
    if trustedID == nil, configuration.trustedLevel != .off {
      if let published = configuration.trustedDocuments.published(text: document) {
        (document, trustedID) = (published.text, published.id)
      } else {
        guard configuration.trustedLevel == .log else { throw .operationNotSafelisted }
        report(.documentNotTrusted(operationName: parameters.operationName))
      }
    }
    return GraphQLRequest(
      identity: identity, document: document, trustedID: trustedID,
      operationName: parameters.operationName,
      variables: parameters.variables, extensions: parameters.extensions,
      onError: parameters.onError
        ?? trustedID.flatMap { configuration.trustedDocuments.onError(id: $0) } ?? .propagate)
  }

  private func findDocument(
    _ parameters: RequestParameters
  ) throws(TransportError) -> (text: String, trustedID: String?) {
    let isIDOnly = configuration.trustedLevel == .idOnly
    let hash = try Self.persistedHash(parameters.extensions)
    if let query = parameters.query, !isIDOnly {
      if let hash { try keep(query, hash: hash) }
      return (query, nil)
    }
    if let id = parameters.documentID ?? hash,
      let text = configuration.trustedDocuments.text(id: id)
    {
      return (text, id)
    }
    if isIDOnly, parameters.query != nil { throw .documentTextNotAllowed }
    if parameters.documentID != nil { throw .documentIDUnknown }
    guard let hash else { throw .missingQuery }
    guard let persistedQueries = configuration.persistedQueries, mayKeep else {
      throw .persistedQueryNotSupported
    }
    guard let text = persistedQueries.text(hash: hash) else { throw .persistedQueryNotFound }
    return (text, nil)
  }

  /// Whether clients may store documents. With an allow-list, only the operator publishes
  /// documents.
  private var mayKeep: Bool {
    configuration.trustedLevel == .off || configuration.trustedLevel == .log
  }

  private func keep(_ query: String, hash: String) throws(TransportError) {
    guard query.utf8.count <= configuration.maximumDocumentBytes else {
      throw .documentTooLarge(maximumBytes: configuration.maximumDocumentBytes)
    }
    guard PersistedQueries.hash(query) == hash else { throw .persistedQueryHashMismatch }
    guard mayKeep else { return }
    configuration.persistedQueries?.keep(query, hash: hash)
  }

  /// Returns `extensions.persistedQuery.sha256Hash`, in lower case.
  private static func persistedHash(
    _ extensions: [JSONValue.Member]
  ) throws(TransportError) -> String? {
    guard let value = extensions.first(where: { $0.name == "persistedQuery" })?.value,
      value != .null
    else { return nil }
    guard value["version"] == .number("1"), case .string(let hash)? = value["sha256Hash"],
      hash.utf8.count == 64
    else { throw .persistedQueryMalformed }
    return hash.lowercased()
  }
}
