import Accounts
import Cryptography
import EventLoops
import GraphQLExecution
import GraphQLResponse
import GraphQLTransport
import HTTP
import JSON
import Pictures
import Postgres
import SQL

/// `POST /photos` and `GET /photos/...` on one event loop.
///
/// The graph decides what an upload means. Its function `note_upload(viewer, upload)` is called
/// with each stored image. It may refuse the image as mutations do, and returns the URL for the
/// client. `take_upload(viewer, upload)` is called with each file of a request in the multipart form of
/// GraphQL uploads, and returns the ID that stands for it in the operation.
/// `photo_audience(viewer, path)` decides who may read the image.
final class PictureEndpoint {
  static let path = "/photos"

  private let service: PictureService
  private let loop: EventLoop
  private let crossOrigin: CrossOriginPolicy
  private let sessions: SessionResolver
  private let readers: PostgresPool
  private let writers: PostgresPool
  private let report: (PictureEvent) -> Void

  /// Called when an image was stored, before its client learns of it.
  var stored: (_ viewer: Int64, _ client: PoolClient) -> Void = { _, _ in }

  init(
    _ service: PictureService, loop: EventLoop, crossOrigin: CrossOriginPolicy,
    sessions: SessionResolver, readers: PostgresPool, writers: PostgresPool,
    report: @escaping (PictureEvent) -> Void
  ) {
    self.service = service
    self.loop = loop
    self.crossOrigin = crossOrigin
    self.sessions = sessions
    self.readers = readers
    self.writers = writers
    self.report = report
  }

  /// - Parameter client: whose share of the connections it takes.
  func handle(
    _ request: HTTPRequest, _ exchange: HTTPExchange, as identity: RequestIdentity,
    for client: PoolClient
  ) {
    let isCollection = request.isPath("/photos")
    let call = Call(
      exchange: exchange, identity: identity, client: client,
      headers: crossOrigin.headers(for: request))
    switch request.method {
    case .post where isCollection: upload(request, call)
    case .get where !isCollection, .head where !isCollection: serve(request, call)
    case .options: preflight(request, call, methods: isCollection ? "POST" : "GET, HEAD")
    case .get, .head, .post, .query, .put, .delete, .patch, .other:
      refuse(
        call, GraphQLError("Use POST on /photos, GET below it.", code: .methodNotAllowed),
        headers: [HTTPField("Allow", isCollection ? "POST, OPTIONS" : "GET, HEAD, OPTIONS")])
    }
  }

  /// The context of the response to one request.
  private struct Call: @unchecked Sendable {
    // @unchecked: only touched on the loop.
    let exchange: HTTPExchange
    let identity: RequestIdentity
    let client: PoolClient
    let headers: [HTTPField]
  }

  private func preflight(_ request: HTTPRequest, _ call: Call, methods: String) {
    do throws(TransportError) {
      try crossOrigin.preflight(request, path: "\(methods), OPTIONS").send(to: call.exchange)
    } catch {
      refuse(call, error.graphQLError)
    }
  }

  /// The share of the decoders that counts for a client.
  private static func share(_ client: PoolClient) -> WorkShare { WorkShare(client: "\(client)") }

  // MARK: - Taking

  private func upload(_ request: HTTPRequest, _ call: Call) {
    // HTTP has seen that there is one, before the body was read.
    guard
      let token = request.headerBytes("authorization").flatMap({ SessionToken(authorization: $0) })
    else {
      return refuse(
        call,
        GraphQLError(
          "The Authorization header must be \"Bearer\" and a session token.",
          code: .unauthenticated))
    }
    guard !request.body.isEmpty else {
      return refuse(
        call, GraphQLError("The request has no body; send the picture's bytes.", code: .badRequest))
    }
    let body = request.body
    sessions.resolve(token) { [self] resolution in
      switch resolution {
      case .viewer(let viewer):
        keep(body, owner: viewer.id, for: Self.share(.viewer(viewer.id))) { [self] kept in
          let identity = call.identity
          note(kept, by: Self.noting, viewer.id, call.client, identity) { [self] result in
            switch result {
            case .success(let (kept, url)): created(kept, at: url, call)
            case .failure(let refused): refuse(call, refused)
            }
          }
        }
      case .unknown:
        refuse(
          call,
          GraphQLError("The session token is unknown or has expired.", code: .unauthenticated))
      case .failed(let error): refuse(call, Refused(error))
      }
    }
  }

  private func created(_ kept: PictureService.Kept, at url: String, _ call: Call) {
    call.exchange.respond(
      .created, contentType: "application/json; charset=utf-8",
      headers: call.headers + [
        HTTPField("Location", Self.path(of: kept.name)), HTTPField("Cache-Control", "no-store"),
      ], body: kept.answer(url: url))
  }

  /// Takes the files of a request one after the other.
  ///
  /// - Parameters:
  ///   - viewer: the user whose photos they become.
  ///   - ids: the IDs of those that were taken.
  ///   - completion: called on the loop with the photos' IDs.
  func attach(
    _ form: UploadForm, of viewer: Int64, _ client: PoolClient,
    as identity: RequestIdentity, ids: [String] = [],
    completion: @escaping (Result<[String], Refused>) -> Void
  ) {
    guard ids.count < form.count else { return completion(.success(ids)) }
    keep(form.file(at: ids.count), owner: viewer, for: Self.share(.viewer(viewer))) {
      [self] kept in
      note(kept, by: Self.taking, viewer, client, identity) { [self] result in
        switch result {
        case .success(let (_, id)):
          attach(form, of: viewer, client, as: identity, ids: ids + [id], completion: completion)
        case .failure(let refused):
          report(.refused(refused.error.code, reason: refused.error.reason, identity))
          completion(.failure(refused))
        }
      }
    }
  }

  /// Stores a picture that came inside of an operation, and completes with what the graph's function is
  /// to know of it, as JSON.
  ///
  /// - Parameter client: whose share of the decoders it takes.
  func describe(
    _ bytes: [UInt8], for client: ClientIdentity,
    completion: @escaping (Result<String, TransformRefusal>) -> Void
  ) {
    let share = WorkShare(client: client.isAddressShared ? "others" : client.address)
    keep(bytes, owner: 0, for: share) { [report] kept in
      switch kept {
      case .success(let kept):
        if let fault = kept.moderationFault { report(.notModerated(reason: fault)) }
        completion(.success(kept.json))
      case .failure(let refused) where refused.error.code == .serviceOverloaded:
        completion(.failure(TransformRefusal(refused.error, retryAfter: .seconds(2))))
      case .failure: completion(.success(Self.noPicture))
      }
    }
  }

  /// The fault that the graph's function receives for bytes that are no picture.
  static let noPicture = #"{"fault":"INVALID"}"#

  /// Why a picture was not taken.
  struct Refused: Error {
    let error: GraphQLError
    var retryAfter: Duration?

    init(_ error: GraphQLError) { self.error = error }

    init(_ error: PostgresError) {
      guard case .refused(let errors, let retryAfter) = OperationResponse.failure(error),
        let first = errors.first
      else {
        self.error = .fault("\(error)")
        return
      }
      (self.error, self.retryAfter) = (first, retryAfter)
    }
  }

  private typealias Keeping = Result<PictureService.Kept, Refused>

  /// Carries what belongs to the loop to the service's threads and back.
  private struct OnLoop<Value>: @unchecked Sendable {
    // @unchecked: only touched on the loop.
    let value: Value
  }

  /// Has a picture made and stored.
  private func keep(
    _ body: [UInt8], owner: Int64, for share: WorkShare,
    _ completion: @escaping (Keeping) -> Void
  ) {
    let back = OnLoop(value: completion)
    service.take(body, owner: owner, for: share) { [loop] result in
      let kept: Keeping =
        switch result {
        case .success(let kept)?: .success(kept)
        case .failure(let refusal)?: .failure(Refused(refusal.error))
        case nil:
          .failure(
            Refused(
              GraphQLError(
                "The server is busy with other photos. Try again shortly.",
                code: .serviceOverloaded)))
        }
      loop.execute { back.value(kept) }
    }
  }

  private static let noting = PostgresStatement(
    "SELECT \(GraphContract.noteUpload)($1, $2::text::jsonb)::text", parameterCount: 2,
    label: StatementLabel(task: "upload"))
  private static let taking = PostgresStatement(
    "SELECT \(GraphContract.takeUpload)($1, $2::text::jsonb)::text", parameterCount: 2,
    label: StatementLabel(task: "upload"))

  /// Tells the graph of a stored picture, and completes with what it says: an address or an ID.
  private func note(
    _ result: Keeping, by statement: PostgresStatement, _ viewer: Int64, _ client: PoolClient,
    _ identity: RequestIdentity,
    completion: @escaping (Result<(PictureService.Kept, String), Refused>) -> Void
  ) {
    let kept: PictureService.Kept
    switch result {
    case .success(let stored): kept = stored
    case .failure(let refused): return completion(.failure(refused))
    }
    if let fault = kept.moderationFault { report(.notModerated(reason: fault)) }
    var parameters = PostgresParameters()
    parameters.append(viewer)
    parameters.append(kept.json)
    writers.execute(transaction: [BoundStatement(statement, parameters)]) { [self] outcome, _ in
      switch outcome {
      case .success(let result):
        guard result.rowCount == 1, let text = result.string(row: 0, column: 0) else {
          return completion(.failure(Refused(.fault("The graph gave nothing for an upload."))))
        }
        report(.kept(bytes: kept.byteCount, identity))
        stored(viewer, client)
        completion(.success((kept, text)))
      case .failure(let error): completion(.failure(Refused(error)))
      }
    }
  }

  static func path(of name: PictureName) -> String { "\(path)/\(name)" }

  // MARK: - Giving

  private func serve(_ request: HTTPRequest, _ call: Call) {
    guard let name = PictureName(request.path.dropFirst(Self.path.count + 1)) else {
      return refuse(call, Self.absent)
    }
    let isHead = request.method == .head
    let tag = "\"\(name.stem)\""
    // The bytes of a name never change, so a client that has them need not download them again.
    let isKnown = request.headerList("if-none-match").map { Self.list($0, names: tag) } ?? false
    var field = request.method == .get ? request.header("range") : nil
    if let condition = request.header("if-range"), condition != tag { field = nil }
    let asked = Asked(name: name, tag: tag, range: field, isHead: isHead, isKnown: isKnown)
    guard case .token(let token) = Credential(of: request) else {
      return serve(asked, to: 0, call)
    }
    sessions.resolve(token) { [self] resolution in
      switch resolution {
      case .viewer(let viewer): serve(asked, to: viewer.id, call)
      case .unknown: serve(asked, to: 0, call)
      case .failed(let error): refuse(call, Refused(error))
      }
    }
  }

  private static let audience = PostgresStatement(
    "SELECT \(GraphContract.photoAudience)($1, $2)", parameterCount: 2,
    label: StatementLabel(task: "photo"))

  /// Serves an image.
  ///
  /// - Parameter viewer: the viewer's ID, or 0 for an anonymous client.
  private func serve(_ asked: Asked, to viewer: Int64, _ call: Call) {
    var asked = asked
    asked.viewer = viewer
    var parameters = PostgresParameters()
    parameters.append(viewer)
    parameters.append(Self.path(of: asked.name))
    let ticket = readers.execute(Self.audience, parameters, for: call.client) {
      [self, asked] outcome, _ in
      switch outcome {
      case .success(let result):
        switch result.string(row: 0, column: 0) {
        case "EVERYBODY": read(asked, call)
        case "VIEWER":
          var asked = asked
          asked.isPrivate = true
          read(asked, call)
        default: refuse(call, Self.absent)
        }
      case .failure(let error): refuse(call, Refused(error))
      }
    }
    call.exchange.onClose { ticket.cancel() }
  }

  private func read(_ asked: Asked, _ call: Call) {
    let back = OnLoop(value: (self, call))
    let client = asked.viewer == 0 ? call.client : .viewer(asked.viewer)
    service.read(asked.name, for: Self.share(client)) { size in
      switch HTTPByteRange(asked.range, size: size) {
      case _ where asked.isHead || asked.isKnown: nil
      case .whole: 0..<size
      case .part(let part): part
      case .notSatisfiable: nil
      }
    } completion: { [loop] result in
      loop.execute {
        let (endpoint, call) = back.value
        endpoint.answer(result, call, asked)
      }
    }
  }

  private static let absent = GraphQLError("There is no such photo.", code: .notFound)

  private struct Asked: Sendable {
    let name: PictureName
    let tag: String
    let range: String?
    let isHead: Bool
    let isKnown: Bool
    /// The viewer's ID, or 0 for an anonymous client.
    var viewer: Int64 = 0
    /// Whether only this viewer may receive the image.
    var isPrivate = false
  }

  private func answer(
    _ result: Result<PictureService.Content?, PictureStoreError>?, _ call: Call, _ asked: Asked
  ) {
    let content: PictureService.Content
    switch result {
    case nil:
      return refuse(
        call, GraphQLError("The server is busy. Try again shortly.", code: .serviceOverloaded))
    case .failure(let error): return refuse(call, .fault("\(error)"))
    case .success(nil): return refuse(call, Self.absent)
    case .success(let found?): content = found
    }
    let headers =
      call.headers + [
        HTTPField("ETag", asked.tag), HTTPField("Accept-Ranges", "bytes"),
        HTTPField(
          "Cache-Control",
          asked.isPrivate ? "private, no-store" : "public, max-age=31536000, immutable"),
        // An image must not act as a page, also if it is opened in its own window.
        HTTPField("Content-Security-Policy", "default-src 'none'; sandbox"),
        HTTPField("Cross-Origin-Resource-Policy", "cross-origin"),
      ]
    if asked.isKnown {
      report(.served(bytes: 0))
      return call.exchange.respond(.notModified, headers: headers)
    }
    let type = asked.name.type.contentType
    if asked.isHead {
      report(.served(bytes: 0))
      return call.exchange.respond(contentType: type, headers: headers, length: content.size)
    }
    guard let bytes = content.bytes else {
      return call.exchange.respond(
        .rangeNotSatisfiable,
        headers: call.headers + [HTTPField("Content-Range", "bytes */\(content.size)")])
    }
    guard call.exchange.mayHold(bytes.count) else {
      return refuse(
        call,
        GraphQLError("Too many answers wait to be read. Try again.", code: .serviceOverloaded))
    }
    report(.served(bytes: bytes.count))
    switch HTTPByteRange(asked.range, size: content.size) {
    case .part(let part) where part.count == bytes.count:
      let place = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(content.size)"
      call.exchange.respond(
        .partialContent, contentType: type, headers: headers + [HTTPField("Content-Range", place)],
        body: bytes)
    case .part, .whole, .notSatisfiable:
      call.exchange.respond(contentType: type, headers: headers, body: bytes)
    }
  }

  /// Whether a list of entity tags has this one, or is `*` (RFC 9110, 13.1.2).
  private static func list(_ field: String, names tag: String) -> Bool {
    field.split(separator: ",").contains { entry in
      var entry = entry.drop { $0 == " " }
      while entry.last == " " { entry.removeLast() }
      return entry == "*" || entry == tag || entry == "W/\(tag)"
    }
  }

  // MARK: - Refusing

  private func refuse(_ call: Call, _ refused: Refused) {
    refuse(call, refused.error, retryAfter: refused.retryAfter)
  }

  private func refuse(
    _ call: Call, _ error: GraphQLError, headers: [HTTPField] = [], retryAfter: Duration? = nil
  ) {
    report(
      error.code == .notFound
        ? .notServed(.notFound, reason: nil)
        : .refused(error.code, reason: error.reason, call.identity))
    let format = ResponseFormat(mediaType: .json, headers: call.headers)
    var answer = format.answer(
      [error], requestID: call.identity.id,
      retryAfter: retryAfter.map { max(1, Int($0.components.seconds) + 1) })
    // Whether an operation could be executed is another question than whether bytes could be taken.
    if error.code == .notFound { answer.status = .notFound }
    if !headers.isEmpty { answer.headers = call.headers + headers }
    answer.headers.append(HTTPField("Cache-Control", "no-store"))
    answer.send(to: call.exchange)
  }
}

extension PictureRefusal {
  fileprivate var error: GraphQLError {
    switch self {
    case .unknownType:
      GraphQLError(
        "Send the bytes of a JPEG, PNG, WebP or GIF picture, and nothing around them.",
        code: .unsupportedMediaType)
    case .tooManyBytes(let maximum):
      GraphQLError("The photo is larger than \(maximum) bytes.", code: .payloadTooLarge)
    case .tooManyPixels(let maximum):
      GraphQLError("The photo has more than \(maximum) pixels.", code: .tooManyPixels)
    case .animated:
      GraphQLError(
        "Animated PNG pictures are not accepted. Send an animated WebP or GIF.",
        code: .unsupportedMediaType)
    case .unreadable(let reason):
      GraphQLError(
        "The photo is damaged, or cannot be read.", code: .pictureUnreadable, reason: reason)
    case .unavailable(let reason):
      GraphQLError(
        "Photos cannot be taken now. Try again later.", code: .serviceOverloaded, reason: reason)
    }
  }
}

extension PictureService.Kept {
  /// The argument of the graph's function.
  fileprivate var json: String {
    var json = JSONWriter(capacity: 512)
    json.append("{\"path\":")
    json.write("\(PictureEndpoint.path)/\(name)")
    json.append(",\"width\":")
    json.write(size.width)
    json.append(",\"height\":")
    json.write(size.height)
    json.append(",\"moderation\":")
    json.write(verdict.rawValue)
    json.append("}")
    return String(decoding: json.finish(), as: UTF8.self)
  }

  /// Returns the body of the response.
  fileprivate func answer(url: String) -> [UInt8] {
    var json = JSONWriter(capacity: 256)
    json.append("{\"url\":")
    json.write(url)
    json.append(",\"width\":")
    json.write(size.width)
    json.append(",\"height\":")
    json.write(size.height)
    json.append(",\"contentType\":")
    json.write(name.type.contentType)
    json.append("}")
    return json.finish()
  }
}
