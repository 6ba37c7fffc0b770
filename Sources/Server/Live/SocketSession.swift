import Accounts
import EventLoops
import GraphQLExecution
import GraphQLResponse
import GraphQLTransport
import HTTP
import JSON
import Postgres
import Subscriptions

/// A WebSocket that carries operations by graphql-transport-ws. `SocketMessages` decides, and this
/// class carries out its decisions. Its socket's handlers own it.
final class SocketSession {
  private let peer: HTTPPeer
  /// The caller of the handshake, or of the credential in `connection_init`.
  private var caller: Caller
  private let socket: WebSocket
  private let pipeline: RequestPipeline
  private var messages = SocketMessages()
  /// Closures that end the work for each operation.
  private var work: [UInt64: () -> Void] = [:]
  private var patience: LoopTimer?
  /// The session that is looked up.
  private var resolving: StreamID?
  /// The session of the signed-in user.
  private let monitor: SessionMonitor

  init(
    _ socket: WebSocket, _ pipeline: RequestPipeline, peer: HTTPPeer, _ caller: Caller
  ) {
    self.socket = socket
    self.pipeline = pipeline
    self.peer = peer
    self.caller = caller
    monitor = SessionMonitor(pipeline.subscriptions)
  }

  func start() {
    socket.onMessage = { [self] in receive($0) }
    socket.onClose = { [self] in end() }
    patience = pipeline.timer(after: pipeline.liveSettings.initialisation) { [weak self] in
      guard let self, !self.messages.isInitialised else { return }
      self.close(.initialisationTimeout)
    }
  }

  private func close(_ reason: SocketClose) { socket.close(reason) }

  /// Ends all work after the client has disconnected.
  private func end() {
    patience = nil
    monitor.stop()
    if let resolving { pipeline.subscriptions.cancel(resolving) }
    resolving = nil
    let work = work
    self.work = [:]
    for end in work.values { end() }
  }

  private func send(_ message: [UInt8]?) {
    guard let message, !socket.send(message) else { return }
    close(.tryAgainLater("Too much waits for the client to read it."))
  }

  // MARK: Messages

  private func receive(_ message: WebSocket.Message) {
    guard case .text(let text) = message else { return close(.notText) }
    switch messages.receive(text) {
    case .nothing: break
    case .send(let answer): send(answer)
    case .authenticate(let payload): authenticate(payload)
    case .start(let operation, let payload): start(operation, payload, bytes: text.count)
    case .stop(let operation): work.removeValue(forKey: operation)?()
    case .close(let reason): close(reason)
    }
  }

  private func authenticate(_ payload: [JSONValue.Member]) {
    patience = nil
    // Some clients wrap what would be headers of HTTP.
    var payload = payload
    if case .object(let headers)? = payload.first(where: { $0.name == "headers" })?.value {
      payload += headers
    }
    if let given = payload.first(where: { $0.name.lowercased() == "authorization" }) {
      guard case .string(let text) = given.value else { return close(.forbidden) }
      caller = caller.showing(Credential(authorization: text))
    }
    let position = payload.first { $0.name.lowercased() == "sociograph-position" }
    if case .string(let text)? = position?.value { caller.position = pipeline.position(text) }
    switch caller.credential {
    case .none: acknowledge()
    case .malformed, .tooLong: close(.forbidden)
    case .token(let token): resolve(token)
    }
  }

  private func resolve(_ token: SessionToken) {
    resolving = pipeline.subscriptions.resolve(token, since: .now) { [self] resolution in
      guard !socket.isClosing else { return }
      switch resolution {
      case .viewer(let viewer):
        monitor.start(token, of: viewer.id) { [weak self] end in
          switch end {
          case .over: self?.close(.forbidden)
          case .changed: self?.close(.tryAgainLater("What you may do has changed; begin again."))
          }
        }
        acknowledge()
      case .unknown: close(.forbidden)
      case .failed(let error): failed(.failure(error))
      }
    }
  }

  /// Closes the socket after the lookup of its viewer has failed.
  private func failed(_ response: OperationResponse) {
    guard case .refused(let errors, _) = response, !OverloadPolicy.isTransient(errors) else {
      return close(.tryAgainLater("The database cannot be reached."))
    }
    pipeline.report(response, to: peer)
    close(.internalError)
  }

  private func acknowledge() { send(messages.acknowledge()) }

  // MARK: Operations

  private func start(_ operation: UInt64, _ payload: [JSONValue.Member], bytes: Int) {
    let (record, received) = pipeline.receive(payload, bytes: bytes, from: peer)
    func begin() -> RequestInFlight {
      pipeline.begin(.socket(self, operation: operation), from: caller, record)
    }
    switch received {
    case .failure(let error) where error.isMalformedMessage:
      close(.invalidMessage(error.message))
    case .failure(let error):
      begin().finish(.refused([error.graphQLError]))
    case .success where messages.count > pipeline.liveSettings.maximumOperations:
      let most = pipeline.liveSettings.maximumOperations
      begin().finish(
        .refused([GraphQLError("A socket may have \(most) operations at once.", code: .rateLimited)]
        ))
    case .success(var request):
      let flight = begin()
      request.delivery = flight.reply.delivery
      pipeline.answer(request, flight)
    }
  }

  func isRunning(_ operation: UInt64) -> Bool {
    messages.isRunning(operation) && !socket.isClosing
  }

  /// - Parameter end: called at once for an operation that is over already.
  func onLeave(_ operation: UInt64, _ end: @escaping () -> Void) {
    guard isRunning(operation) else { return end() }
    work[operation] = end
  }

  /// Sends the only response to an operation.
  func answered(_ operation: UInt64, _ response: OperationResponse, requestID: String) {
    work[operation] = nil
    switch response {
    case .executed(let body, _, _):
      send(messages.next(operation, body))
      send(messages.complete(operation))
    case .refused(let errors, _):
      if case .token = caller.credential, errors.first?.code == .unauthenticated {
        return close(.forbidden)
      }
      send(messages.fail(operation, errors, requestID: requestID))
    }
  }

  // MARK: Subscriptions

  func sink(of operation: UInt64) -> any ResponseSink { Sink(session: self, operation: operation) }

  /// The sink for the responses of one operation.
  private final class Sink: ResponseSink {
    let session: SocketSession
    let operation: UInt64

    init(session: SocketSession, operation: UInt64) {
      self.session = session
      self.operation = operation
    }

    func begin() {}

    func next(_ response: [UInt8], to token: ResumeToken?, isFollowed: Bool) -> Bool {
      guard let message = session.messages.next(operation, response) else { return true }
      return session.socket.send(message, isFollowed: isFollowed)
    }

    func complete() {
      session.work[operation] = nil
      session.send(session.messages.complete(operation))
    }

    func fail(_ errors: [GraphQLError], requestID: String) {
      session.work[operation] = nil
      session.send(session.messages.fail(operation, errors, requestID: requestID))
    }

    func interrupt(_ reason: String) { session.close(.tryAgainLater(reason)) }
  }
}

extension WebSocket {
  func close(_ reason: SocketClose) { close(reason.code, reason.reason) }
}
