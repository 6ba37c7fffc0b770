import EventLoops
import GraphQLResponse
import GraphQLTransport
import HTTP
import Subscriptions

/// The answer to an HTTP request in parts, begun when the first of it is known.
final class StreamResponse: ResponseSink {
  /// The resume token in `Last-Event-ID`, or nil if there is none or it is malformed.
  let resume: ResumeToken?
  private let exchange: HTTPExchange
  private let format: ResponseFormat
  private let record: RequestRecord
  /// The encoder of a stream that is compressed.
  private var encoder: AnswerCompressor.StreamEncoder?
  private var stream: StreamFormat
  private let schedule: (Duration, @escaping () -> Void) -> LoopTimer
  private let heartbeat: Duration
  private var timer: LoopTimer?
  private(set) var hasBegun = false

  /// - Parameter schedule: makes a timer that comes again and again.
  init?(
    _ request: HTTPRequest, _ exchange: HTTPExchange, _ format: ResponseFormat,
    _ record: RequestRecord, heartbeat: Duration,
    schedule: @escaping (Duration, @escaping () -> Void) -> LoopTimer
  ) {
    guard let stream = format.stream ?? format.parts else { return nil }
    self.exchange = exchange
    self.format = format
    self.record = record
    self.stream = stream
    self.heartbeat = heartbeat
    self.schedule = schedule
    resume = request.header("last-event-id").flatMap { ResumeToken($0) }
  }

  /// A subscription can be answered.
  var takesEvents: Bool { format.stream != nil }

  /// Prepares for incremental delivery.
  ///
  /// - Returns: whether the client accepts it.
  func takesParts() -> Bool {
    guard let parts = format.parts, !hasBegun else { return false }
    stream = parts
    return true
  }

  func begin() { begin(isEndless: true) }

  private func begin(isEndless: Bool) {
    guard !hasBegun else { return }
    hasBegun = true
    var headers = format.headers.filter { $0.name != "Cache-Control" }
    headers += [
      HTTPField("Cache-Control", "no-cache"), HTTPField("X-Accel-Buffering", "no"),
    ]
    if let (encoder, field) = record.encoding?.stream(of: record.label) {
      self.encoder = encoder
      headers.append(field)
    }
    guard
      exchange.begin(
        contentType: stream.contentType, headers: headers, isEndless: isEndless)
    else { return }
    _ = part(stream.opening)
    guard !stream.heartbeat.isEmpty else { return }
    timer = schedule(heartbeat) { [weak self] in
      guard let self else { return }
      if !self.part(self.stream.heartbeat) { self.interrupt("") }
    }
  }

  private func part(_ bytes: [UInt8], isFollowed: Bool = false, isLast: Bool = false) -> Bool {
    guard let encoder else { return exchange.part(bytes, isFollowed: isFollowed) }
    guard let coded = encoder.add(bytes, isLast: isLast) else { return false }
    return exchange.part(coded, isFollowed: isFollowed)
  }

  func next(_ response: [UInt8], to token: ResumeToken?, isFollowed: Bool) -> Bool {
    begin(isEndless: false)
    return part(stream.next(response, id: token?.text), isFollowed: isFollowed)
  }

  func complete() { end(stream.complete) }

  func fail(_ errors: [GraphQLError], requestID: String) {
    end(stream.failure(errors, requestID: requestID))
  }

  /// Cuts the stream short. The protocol has no message for it, but clients reconnect to a stream
  /// that ends early.
  func interrupt(_ reason: String) {
    timer = nil
    encoder = nil
    exchange.cutShort()
  }

  private func end(_ bytes: [UInt8]) {
    begin(isEndless: false)
    timer = nil
    let isSent = part(bytes, isLast: true)
    // A content without its end must not look like a whole one.
    if isSent || encoder == nil { exchange.end() } else { exchange.cutShort() }
    encoder = nil
  }
}
