import GraphQLExecution
import GraphQLLanguage
import GraphQLResponse
import GraphQLTransport
import HTTP
import Postgres

/// The counters of one event loop, as plain numbers. Counting takes no lock and no allocation.
/// Other threads ask the loop for a copy.
struct LoopMetrics: Sendable {
  // Operations.
  private(set) var succeeded = [4 of UInt64](repeating: 0)
  private(set) var failed: [Failure: UInt64] = [:]
  /// The errors of which clients received the code only, by the place where they happened.
  private(set) var faults: [Fault: UInt64] = [:]
  /// The operations whose client disconnected, by kind.
  private(set) var abandoned = [4 of UInt64](repeating: 0)
  private(set) var durations = [4 of DurationHistogram](repeating: DurationHistogram())
  private(set) var parsing = DurationHistogram()
  private(set) var validating = DurationHistogram()
  private(set) var planning = DurationHistogram()
  private(set) var hashing = DurationHistogram()
  private(set) var waiting = DurationHistogram()
  private(set) var querying = DurationHistogram()
  private(set) var writing = DurationHistogram()
  /// The durations of HTTP requests; nil unless they are counted.
  private(set) var requests: [Request: DurationHistogram]?
  private(set) var requestBytes: UInt64 = 0
  private(set) var responseBytes: UInt64 = 0
  // Caches.
  private(set) var documentsPrepared: UInt64 = 0
  private(set) var plansMade: UInt64 = 0
  private(set) var documentsDropped: UInt64 = 0
  // Clients.
  private(set) var socketsOpened: UInt64 = 0
  private(set) var socketsClosed: [HTTPEvent.ClosingReason: UInt64] = [:]
  private(set) var requestsRefused: [Int: UInt64] = [:]
  private(set) var clientsGone: UInt64 = 0
  private(set) var acceptsFailed: UInt64 = 0
  private(set) var handshakesFailed: UInt64 = 0
  private(set) var untrustedDocuments: UInt64 = 0
  // Pictures.
  private(set) var picturesKept: UInt64 = 0
  private(set) var pictureBytesKept: UInt64 = 0
  private(set) var picturesRefused: [ErrorCode: UInt64] = [:]
  private(set) var picturesServed: UInt64 = 0
  private(set) var pictureBytesServed: UInt64 = 0
  // Sessions looked up.
  private(set) var sessionsFound: UInt64 = 0
  private(set) var sessionsUnknown: UInt64 = 0
  private(set) var sessionsFailed: UInt64 = 0
  // Database connections; more is in the pool's own statistics.
  private(set) var connectionsClosed: [String: UInt64] = [:]
  private(set) var statementsPrepared: UInt64 = 0
  private(set) var executionsCombined: UInt64 = 0
  private(set) var combinations: UInt64 = 0
  /// The delay of work on the event loop.
  var delay = DurationHistogram()

  /// - Parameter countsRequests: whether to count HTTP requests by method and status.
  init(countsRequests: Bool = false) { requests = countsRequests ? [:] : nil }

  struct Request: Hashable, Sendable {
    let kind: RequestRecord.HTTPKind
    let status: Int
  }

  struct Failure: Hashable, Sendable {
    let kind: Kind
    let code: ErrorCode
  }

  struct Fault: Hashable, Sendable {
    let subject: Subject
    let code: ErrorCode
  }

  /// The place where an error happened.
  enum Subject: String, Sendable {
    case query, mutation, subscription
    /// A request of which no operation came.
    case request
    case upload, photo

    init(_ kind: Kind) {
      self =
        switch kind {
        case .query: .query
        case .mutation: .mutation
        case .subscription: .subscription
        case .none: .request
        }
    }
  }

  /// The kind of an operation. The last case is for requests that never became one.
  enum Kind: Int, CaseIterable, Sendable {
    case query, mutation, subscription, none

    init(_ label: OperationLabel?) {
      self =
        switch label?.kind {
        case .query: .query
        case .mutation: .mutation
        case .subscription: .subscription
        case nil: .none
        }
    }
  }

  mutating func count(_ event: ServerEvent) {
    switch event {
    case .request(let record): count(record)
    case .http(let event): count(event)
    case .endpoint(.documentNotTrusted): untrustedDocuments &+= 1
    case .endpoint(.refused(let error, _, _)):
      failed[Failure(kind: .none, code: error.graphQLError.code), default: 0] &+= 1
      count(error.graphQLError, .request)
    case .execution(.prepared): documentsPrepared &+= 1
    case .execution(.planned): plansMade &+= 1
    case .execution(.dropped(let documents)): documentsDropped &+= UInt64(documents)
    case .session(.found): sessionsFound &+= 1
    case .session(.unknown): sessionsUnknown &+= 1
    case .session(.failed): sessionsFailed &+= 1
    case .session(.refused): break
    case .pool(let event): count(event)
    case .picture(let event): count(event)
    case .push(_, let errors): for error in errors { count(error, .subscription) }
    // Events of the process, not of an event loop.
    case .life, .migration, .task, .outbox: break
    // In the router's own statistics.
    case .replica: break
    }
  }

  private mutating func count(_ record: RequestRecord) {
    let kind = Kind(record.label)
    if record.clientLeft {
      abandoned[kind.rawValue] &+= 1
    } else if let code = record.code {
      failed[Failure(kind: kind, code: code), default: 0] &+= 1
    } else {
      succeeded[kind.rawValue] &+= 1
    }
    for error in record.errors { count(error, Subject(kind)) }
    durations[kind.rawValue].observe(record.nanoseconds)
    if requests != nil, let http = record.http, !record.clientLeft {
      requests?[Request(kind: http, status: record.status.code), default: DurationHistogram()]
        .observe(record.nanoseconds)
    }
    let times = record.times
    if times.parsing > 0 { parsing.observe(times.parsing) }
    if times.validating > 0 { validating.observe(times.validating) }
    if times.planning > 0 { planning.observe(times.planning) }
    if times.hashing > 0 { hashing.observe(times.hashing) }
    if times.querying > 0 || times.waiting > 0 {
      waiting.observe(times.waiting)
      querying.observe(times.querying)
    }
    if times.writing > 0 { writing.observe(times.writing) }
    requestBytes &+= UInt64(max(record.requestBytes, 0))
    responseBytes &+= UInt64(max(record.responseBytes, 0))
  }

  private mutating func count(_ error: GraphQLError, _ subject: Subject) {
    if error.isFault { faults[Fault(subject: subject, code: error.code), default: 0] &+= 1 }
  }

  private mutating func count(_ event: HTTPEvent) {
    switch event {
    case .connectionOpened: socketsOpened &+= 1
    case .connectionClosed(let reason): socketsClosed[reason, default: 0] &+= 1
    case .requestRefused(let refusal, _):
      requestsRefused[refusal.status.code, default: 0] &+= 1
      if ErrorCode(refusal) == .internalServerError {
        faults[Fault(subject: .request, code: .internalServerError), default: 0] &+= 1
      }
    case .clientGone: clientsGone &+= 1
    case .acceptFailed: acceptsFailed &+= 1
    case .handshakeFailed: handshakesFailed &+= 1
    }
  }

  private mutating func count(_ event: PictureEvent) {
    switch event {
    case .kept(let bytes, _):
      picturesKept &+= 1
      pictureBytesKept &+= UInt64(max(bytes, 0))
    case .refused(let code, _, _):
      picturesRefused[code, default: 0] &+= 1
      if code == .internalServerError {
        faults[Fault(subject: .upload, code: code), default: 0] &+= 1
      }
    case .notServed(let code, let reason):
      picturesRefused[code, default: 0] &+= 1
      if reason != nil { faults[Fault(subject: .photo, code: code), default: 0] &+= 1 }
    case .served(let bytes):
      picturesServed &+= 1
      pictureBytesServed &+= UInt64(max(bytes, 0))
    case .notModerated, .forgotten: break
    }
  }

  private mutating func count(_ event: PoolEvent) {
    switch event {
    case .closed(_, let reason): connectionsClosed[reason.name, default: 0] &+= 1
    case .prepared: statementsPrepared &+= 1
    case .batched(let executions):
      combinations &+= 1
      executionsCombined &+= UInt64(executions)
    // In the pool's own statistics.
    case .opened, .connectFailed, .hostRefused, .breakerOpened, .breakerClosed, .shed, .retried,
      .cancelSent:
      break
    }
  }

  /// Adds the counts of another event loop.
  mutating func add(_ other: LoopMetrics) {
    for place in succeeded.indices {
      succeeded[place] &+= other.succeeded[place]
      abandoned[place] &+= other.abandoned[place]
      durations[place].add(other.durations[place])
    }
    if let others = other.requests {
      requests = (requests ?? [:]).merging(others) { own, other in
        var sum = own
        sum.add(other)
        return sum
      }
    }
    failed.merge(other.failed, uniquingKeysWith: &+)
    faults.merge(other.faults, uniquingKeysWith: &+)
    parsing.add(other.parsing)
    validating.add(other.validating)
    planning.add(other.planning)
    hashing.add(other.hashing)
    waiting.add(other.waiting)
    querying.add(other.querying)
    writing.add(other.writing)
    requestBytes &+= other.requestBytes
    responseBytes &+= other.responseBytes
    documentsPrepared &+= other.documentsPrepared
    plansMade &+= other.plansMade
    documentsDropped &+= other.documentsDropped
    socketsOpened &+= other.socketsOpened
    socketsClosed.merge(other.socketsClosed, uniquingKeysWith: &+)
    requestsRefused.merge(other.requestsRefused, uniquingKeysWith: &+)
    clientsGone &+= other.clientsGone
    acceptsFailed &+= other.acceptsFailed
    handshakesFailed &+= other.handshakesFailed
    untrustedDocuments &+= other.untrustedDocuments
    picturesKept &+= other.picturesKept
    pictureBytesKept &+= other.pictureBytesKept
    picturesRefused.merge(other.picturesRefused, uniquingKeysWith: &+)
    picturesServed &+= other.picturesServed
    pictureBytesServed &+= other.pictureBytesServed
    sessionsFound &+= other.sessionsFound
    sessionsUnknown &+= other.sessionsUnknown
    sessionsFailed &+= other.sessionsFailed
    connectionsClosed.merge(other.connectionsClosed, uniquingKeysWith: &+)
    statementsPrepared &+= other.statementsPrepared
    executionsCombined &+= other.executionsCombined
    combinations &+= other.combinations
    delay.add(other.delay)
  }
}

extension PoolCloseReason {
  var name: String {
    switch self {
    case .lifetime: "lifetime"
    case .idle: "idle"
    case .paused: "paused"
    case .shutDown: "shutdown"
    case .cancelIgnored: "cancel_ignored"
    case .uncleanLease: "unclean_lease"
    case .unresponsive: "unresponsive"
    case .readOnly: "read_only"
    case .outdated: "outdated"
    case .lost: "lost"
    }
  }
}

extension PoolShedReason {
  var name: String {
    switch self {
    case .queueFull: "queue_full"
    case .waitedTooLong: "waited_too_long"
    case .deadlinePassed: "deadline_passed"
    case .noDatabase: "no_database"
    case .stopping: "stopping"
    }
  }
}

extension PoolRetryReason {
  var name: String {
    switch self {
    case .connectionLost: "connection_lost"
    case .staleStatement: "stale_statement"
    case .strayCancel: "stray_cancel"
    case .neighbourFailed: "neighbour_failed"
    case .overdue: "overdue"
    case .conflict: "conflict"
    }
  }
}

extension HTTPEvent.ClosingReason {
  var name: String {
    switch self {
    case .served: "served"
    case .byClient: "by_client"
    case .idle: "idle"
    case .refused: "refused"
    case .timeout: "timeout"
    case .writeStalled: "write_stalled"
    case .socketError: "socket_error"
    case .shutdown: "shutdown"
    }
  }
}
