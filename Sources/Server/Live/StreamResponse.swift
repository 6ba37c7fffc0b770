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
  private var stream: StreamFormat
  private let schedule: (Duration, @escaping () -> Void) -> LoopTimer
  private let heartbeat: Duration
  private var timer: LoopTimer?
  private(set) var hasBegun = false

  /// - Parameter schedule: makes a timer that comes again and again.
  init?(
    _ request: HTTPRequest, _ exchange: HTTPExchange, _ format: ResponseFormat, heartbeat: Duration,
    schedule: @escaping (Duration, @escaping () -> Void) -> LoopTimer
  ) {
    guard let stream = format.stream ?? format.parts else { return nil }
    self.exchange = exchange
    self.format = format
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
    guard
      exchange.begin(
        contentType: stream.contentType, headers: headers, isEndless: isEndless)
    else { return }
    _ = exchange.part(stream.opening)
    guard !stream.heartbeat.isEmpty else { return }
    timer = schedule(heartbeat) { [weak self] in
      guard let self else { return }
      if !self.exchange.part(self.stream.heartbeat) { self.interrupt("") }
    }
  }

  func next(_ response: [UInt8], to token: ResumeToken?, isFollowed: Bool) -> Bool {
    begin(isEndless: false)
    return exchange.part(stream.next(response, id: token?.text), isFollowed: isFollowed)
  }

  func complete() { end(stream.complete) }

  func fail(_ errors: [GraphQLError], requestID: String) {
    end(stream.failure(errors, requestID: requestID))
  }

  /// Cuts the stream short. The protocol has no message for it, but clients reconnect to a stream
  /// that ends early.
  func interrupt(_ reason: String) {
    timer = nil
    exchange.cutShort()
  }

  private func end(_ bytes: [UInt8]) {
    begin(isEndless: false)
    timer = nil
    _ = exchange.part(bytes)
    exchange.end()
  }
}
