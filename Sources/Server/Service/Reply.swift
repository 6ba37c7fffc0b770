import GraphQLExecution
import GraphQLResponse
import GraphQLTransport
import HTTP
import Subscriptions

/// The destination of the response to a request.
enum Reply {
  /// The stream is there if the client takes one.
  case exchange(HTTPExchange, ResponseFormat, StreamResponse?)
  /// An HTTP exchange that receives the explainer's report instead of the response.
  case explanation(HTTPExchange, ResponseFormat, OperationExplainer)
  case batch(BatchReply, place: Int)
  case socket(SocketSession, operation: UInt64)

  /// The sink for a subscription's responses, or nil if the client accepts only one response.
  var sink: (any ResponseSink)? {
    switch self {
    case .exchange(_, _, let stream): stream?.takesEvents == true ? stream : nil
    case .socket(let session, let operation): session.sink(of: operation)
    case .explanation, .batch: nil
    }
  }

  /// The sink for incremental delivery, or nil if the client accepts a complete response only.
  var partSink: (any ResponseSink)? {
    switch self {
    case .exchange(_, _, let stream): stream?.takesParts() == true ? stream : nil
    case .socket(let session, let operation): session.sink(of: operation)
    case .explanation, .batch: nil
    }
  }

  /// The format of incremental delivery, or nil if the client accepts a complete response only.
  var delivery: IncrementalDelivery? {
    switch self {
    case .exchange(_, let format, _): format.parts?.delivery
    case .explanation, .batch: nil
    case .socket: .v02
    }
  }

  /// The resume token of a client that reconnects.
  var resume: ResumeToken? {
    switch self {
    case .exchange(_, _, let stream): stream?.resume
    case .explanation, .batch, .socket: nil
    }
  }

  /// Whether a response of so many bytes may be kept for the client, should it read slowly.
  func mayHold(_ bytes: Int) -> Bool {
    switch self {
    case .exchange(let exchange, _, _), .explanation(let exchange, _, _): exchange.mayHold(bytes)
    case .batch(let batch, _): batch.hasRoom(for: bytes) && batch.mayHold(bytes)
    // A socket has its own limit of unsent bytes, at which it is closed.
    case .socket: true
    }
  }

  /// Whether a response of so many bytes is one too much for all that are sent together.
  func isFull(for bytes: Int) -> Bool {
    if case .batch(let batch, _) = self { !batch.hasRoom(for: bytes) } else { false }
  }

  /// Calls `work` when the client disconnects or cancels. Call once.
  func onLeave(_ work: @escaping () -> Void) {
    switch self {
    case .exchange(let exchange, _, _), .explanation(let exchange, _, _): exchange.onClose(work)
    case .batch(let batch, _): batch.onLeave(work)
    case .socket(let session, let operation): session.onLeave(operation, work)
    }
  }

  // MARK: - The response

  /// The response as HTTP has it, which the record takes note of; nil for a socket and for a stream.
  ///
  /// - Parameter extensionsStart: the place in the response where its extensions begin, if it has
  ///   any.
  func dress(
    _ response: OperationResponse, _ record: RequestRecord, extensionsStart: Int? = nil
  ) -> GraphQLAnswer? {
    var answer: GraphQLAnswer
    switch self {
    case .socket: return nil
    case .exchange(_, let format, let stream?) where stream.hasBegun || format.isStreamOnly:
      return nil
    case .exchange(_, let format, _):
      answer = format.answer(response, requestID: record.identity.id)
      if let condition = record.condition {
        record.encode(
          &answer, response, format.mediaType, extensionsStart: extensionsStart, unless: condition)
      } else {
        record.encoding?.encode(&answer, of: record.label)
      }
      if record.timing == .told { answer.headers.append(record.serverTiming) }
      if let position = record.position {
        answer.headers.append(HTTPField(RequestPipeline.positionHeader, position))
      }
    case .explanation(_, let format, _):
      answer = format.answer(response, requestID: record.identity.id)
      if case .executed = response { answer.contentType = "application/json; charset=utf-8" }
    case .batch(let batch, _):
      answer = batch.format.answer(response, requestID: record.identity.id)
      batch.note(record.label)
    }
    record.status = answer.status
    record.responseBytes = answer.body.count
    return answer
  }

  /// - Parameter hasExtensions: whether the response has extensions.
  func send(
    _ response: OperationResponse, _ answer: GraphQLAnswer?, _ record: RequestRecord,
    hasExtensions: Bool
  ) {
    switch self {
    case .exchange(let exchange, _, let stream):
      if let answer {
        answer.send(to: exchange)
      } else {
        stream?.send(response, record.identity.id)
      }
    case .explanation(let exchange, _, _): answer?.send(to: exchange)
    case .batch(let batch, let place): batch.take(answer?.body ?? [], at: place)
    case .socket(let session, let operation):
      session.answered(
        operation, record.tellMore(in: response, hasExtensions: hasExtensions),
        requestID: record.identity.id)
    }
  }
}

extension StreamResponse {
  /// Sends a single response, and ends.
  fileprivate func send(_ response: OperationResponse, _ requestID: String) {
    switch response {
    case .executed(let body, _, _):
      _ = next(body, to: nil)
      complete()
    case .refused(let errors, _): fail(errors, requestID: requestID)
    }
  }
}

extension ResponseFormat {
  private static let replayed = HTTPField("Idempotency-Replayed", "true")

  func answer(_ response: OperationResponse, requestID: String) -> GraphQLAnswer {
    switch response {
    case .executed(let body, let errors, let isReplayed):
      GraphQLAnswer(
        status: status(executedWithErrors: !errors.isEmpty), contentType: contentType,
        headers: isReplayed ? headers + [Self.replayed] : headers, body: body)
    case .refused(let errors, let retryAfter):
      answer(
        errors, requestID: requestID,
        retryAfter: retryAfter.map { max(1, Int($0.components.seconds) + 1) })
    }
  }
}

/// The responses to a list of requests, sent together when the last of them is there.
final class BatchReply {
  let format: ResponseFormat
  let mayHold: (Int) -> Bool
  private var bodies: [[UInt8]]
  private var remaining: Int
  private var leaving: [() -> Void] = []
  /// The maximum size of all responses together.
  var maximumBytes = Int.max
  private var bytes = 0
  /// Called after each response but the last, with its place.
  var onTaken: ((Int) -> Void)?
  /// The label of a confidential operation, or of the last.
  private var label: OperationLabel?
  private let send: ([UInt8], OperationLabel?) -> Void

  /// - Parameters:
  ///   - mayHold: whether so many bytes may be kept for the client.
  ///   - send: given the list of all responses, and the label of one that is confidential, if any is.
  init(
    of count: Int, as format: ResponseFormat, mayHold: @escaping (Int) -> Bool,
    send: @escaping ([UInt8], OperationLabel?) -> Void
  ) {
    self.format = format
    self.mayHold = mayHold
    self.send = send
    bodies = Array(repeating: [], count: count)
    remaining = count
  }

  func onLeave(_ work: @escaping () -> Void) { leaving.append(work) }

  func note(_ label: OperationLabel?) {
    if self.label?.isConfidential != true { self.label = label ?? self.label }
  }

  /// The client left.
  func leave() {
    onTaken = nil
    for work in leaving { work() }
  }

  func hasRoom(for count: Int) -> Bool { bytes + count <= maximumBytes }

  func take(_ body: [UInt8], at place: Int) {
    bodies[place] = body
    bytes += body.count
    remaining -= 1
    guard remaining == 0 else {
      onTaken?(place)
      return
    }
    leaving = []
    onTaken = nil
    if let sets = format.sets { return send(Self.responses(bodies, in: sets), label) }
    send(
      [UInt8(ascii: "[")] + Array(bodies.joined(separator: [UInt8(ascii: ",")])) + [
        UInt8(ascii: "]")
      ], label)
  }

  /// The responses to several sets of variables, each with the index of its set.
  private static func responses(_ bodies: [[UInt8]], in form: VariableSetsForm) -> [UInt8] {
    let isList = form == .list
    var json: [UInt8] = []
    json.reserveCapacity(bodies.reduce(2) { $0 + $1.count + 32 })
    if isList { json.append(UInt8(ascii: "[")) }
    for (index, body) in bodies.enumerated() {
      if isList, index > 0 { json.append(UInt8(ascii: ",")) }
      json += "{\"variableIndex\":\(index),".utf8
      json += body.dropFirst()
      if !isList { json.append(UInt8(ascii: "\n")) }
    }
    if isList { json.append(UInt8(ascii: "]")) }
    return json
  }
}
