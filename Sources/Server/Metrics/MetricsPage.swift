import GraphQLExecution
import GraphQLLanguage
import Postgres
import Subscriptions

/// How one loop is, as it said itself.
struct LoopSnapshot: Sendable {
  let metrics: LoopMetrics
  let pool: PoolStatistics
  /// The statistics of the connections for mutations.
  let writers: PoolStatistics
  let flushes: PoolStatistics
  /// Nil without replicas.
  let replicas: ReplicaRouter.Statistics?
  /// The executions that use deprecated elements of the schema, by element and client.
  let deprecatedUses: [SchemaCoordinate: [ClientProgram: UInt64]]
  let documents: (count: Int, bytes: Int)
  let answers: AnswerKeeper.Counts
  let streams: SubscriptionRegistry.Counts
  /// Its database answers, and it is not about to end.
  let isReady: Bool
  let isStopping: Bool
}

/// Everything `GET /metrics` says.
///
/// Numbers of all loops are added up. Names and units follow Prometheus' conventions; a name is never
/// given another meaning.
struct MetricsPage {
  let loops: [LoopSnapshot]
  let process: ProcessStatistics
  let log: LogWriter.Counts
  let traces: TraceExporter.Counts
  let tasks: [String: TaskRunner.Counts]
  let outbox: Outbox.Counts
  let heldBytes: Int
  let version: String

  var bytes: [UInt8] {
    var text = PrometheusText()
    var all = LoopMetrics()
    for loop in loops { all.add(loop.metrics) }
    writeOperations(all, &text)
    writeDeprecated(&text)
    writeCaches(all, &text)
    writeClients(all, &text)
    writePictures(all, &text)
    writePool(all, &text)
    writeReplicas(&text)
    writeTasks(&text)
    writeProcess(&text)
    return text.bytes
  }

  private func writeOperations(_ all: LoopMetrics, _ text: inout PrometheusText) {
    text.family(
      "sociograph_operations_total", .counter,
      "Operations by type (none: no operation came of it) and code of the first error; "
        + "CLIENT_LEFT: the client disconnected before its response.")
    for kind in LoopMetrics.Kind.allCases {
      text.sample(all.succeeded[kind.rawValue], [("type", "\(kind)"), ("code", "OK")])
      text.sample(all.abandoned[kind.rawValue], [("type", "\(kind)"), ("code", "CLIENT_LEFT")])
    }
    for (failure, count) in all.failed.sorted(by: { $0.key.order < $1.key.order }) {
      text.sample(count, [("type", "\(failure.kind)"), ("code", failure.code.rawValue)])
    }
    text.family(
      "sociograph_faults_total", .counter,
      "Errors that clients see and that the log has a line of, by where they happened (subject: query, mutation, "
        + "subscription, request, upload, photo) and code.")
    for (fault, count) in all.faults.sorted(by: { $0.key.order < $1.key.order }) {
      text.sample(count, [("subject", fault.subject.rawValue), ("code", fault.code.rawValue)])
    }
    text.family(
      "sociograph_operation_duration_seconds", .histogram,
      "From the request's last byte read to its answer handed to the connection.")
    for kind in LoopMetrics.Kind.allCases {
      text.sample(all.durations[kind.rawValue], [("type", "\(kind)")])
    }
    if let requests = all.requests {
      text.family(
        "http_server_request_duration_seconds", .histogram,
        "Duration of HTTP server requests.")
      for (request, histogram) in requests.sorted(by: { $0.key.order < $1.key.order }) {
        text.sample(
          histogram,
          [
            ("http_request_method", request.kind.method.text),
            ("http_response_status_code", "\(request.status)"), ("http_route", "/graphql"),
            ("url_scheme", request.kind.scheme),
          ])
      }
    }
    text.family(
      "sociograph_phase_duration_seconds", .histogram,
      "Phases of operations; what is kept from before is not done again and not counted.")
    for (phase, histogram) in [
      ("parse", all.parsing), ("validate", all.validating), ("plan", all.planning),
      ("password", all.hashing), ("wait", all.waiting), ("postgresql", all.querying),
      ("write", all.writing),
    ] { text.sample(histogram, [("phase", phase)]) }
    text.family("sociograph_request_bytes_total", .counter, "Bytes of requests' bodies.")
    text.sample(all.requestBytes)
    text.family("sociograph_response_bytes_total", .counter, "Bytes of answers' bodies.")
    text.sample(all.responseBytes)
    text.family(
      "sociograph_session_lookups_total", .counter, "Session tokens asked of the database.")
    text.sample(all.sessionsFound, [("result", "found")])
    text.sample(all.sessionsUnknown, [("result", "unknown")])
    text.sample(all.sessionsFailed, [("result", "failed")])
  }

  private func writeDeprecated(_ text: inout PrometheusText) {
    text.family(
      "sociograph_deprecated_uses_total", .counter,
      "Executions of operations that use a deprecated element of the schema, by its coordinate and by the client's "
        + "name and version.")
    var uses: [SchemaCoordinate: [ClientProgram: UInt64]] = [:]
    for loop in loops {
      for (coordinate, executions) in loop.deprecatedUses {
        uses[coordinate, default: [:]].merge(executions, uniquingKeysWith: &+)
      }
    }
    let sorted = uses.map { (text: $0.key.description, executions: $0.value) }
      .sorted { $0.text < $1.text }
    for (coordinate, executions) in sorted {
      for (client, count) in executions.sorted(by: { $0.key < $1.key }) {
        text.sample(
          count,
          [("coordinate", coordinate), ("client", client.name), ("version", client.version)])
      }
    }
  }

  private func writeCaches(_ all: LoopMetrics, _ text: inout PrometheusText) {
    text.family(
      "sociograph_document_cache_misses_total", .counter,
      "Documents parsed and validated, as they were not kept from before.")
    text.sample(all.documentsPrepared)
    text.family(
      "sociograph_document_cache_evictions_total", .counter, "Cached documents that were evicted.")
    text.sample(all.documentsDropped)
    text.family("sociograph_plans_made_total", .counter, "Plans made, as they were not kept.")
    text.sample(all.plansMade)
    text.family("sociograph_subscriptions", .gauge, "Subscriptions that receive events.")
    text.sample(loops.reduce(0) { $0 + $1.streams.active })
    text.family(
      "sociograph_subscriptions_starting", .gauge,
      "Subscriptions that look up their keys, and streams and sockets that look up their session.")
    text.sample(loops.reduce(0) { $0 + $1.streams.starting })
    text.family("sociograph_subscription_keys", .gauge, "Keys of all subscriptions.")
    text.sample(loops.reduce(0) { $0 + $1.streams.keys })
    text.family(
      "sociograph_monitored_sessions", .gauge, "Sessions whose end closes a socket or stream.")
    text.sample(loops.reduce(0) { $0 + $1.streams.sessions })
    text.family(
      "sociograph_subscription_events_sent_total", .counter, "Events sent to subscriptions.")
    text.sample(loops.reduce(UInt64(0)) { $0 &+ $1.streams.sent })
    text.family("sociograph_live_queries", .gauge, "Live queries.")
    text.sample(loops.reduce(0) { $0 + $1.streams.queries })
    text.family("sociograph_live_query_dependencies", .gauge, "Dependencies of all live queries.")
    text.sample(loops.reduce(0) { $0 + $1.streams.dependencies })
    text.family(
      "sociograph_live_query_executions_total", .counter, "Statements run for live queries.")
    text.sample(loops.reduce(UInt64(0)) { $0 &+ $1.streams.executions })
    text.family(
      "sociograph_live_query_responses_total", .counter, "Responses sent to live queries.")
    text.sample(loops.reduce(UInt64(0)) { $0 &+ $1.streams.queryResponses })
    text.family("sociograph_document_cache_entries", .gauge, "Documents in the cache.")
    text.sample(loops.reduce(0) { $0 + $1.documents.count })
    text.family(
      "sociograph_document_cache_bytes", .gauge, "Estimated bytes of the cached documents.")
    text.sample(loops.reduce(0) { $0 + $1.documents.bytes })
    text.family(
      "sociograph_kept_responses_sent_total", .counter,
      "Responses that were sent without asking PostgreSQL (--answer-cache).")
    text.sample(loops.reduce(0) { $0 + $1.answers.sent })
    text.family(
      "sociograph_kept_response_bytes", .gauge, "Estimated bytes of the responses that are kept.")
    text.sample(loops.reduce(0) { $0 + $1.answers.bytes })
    text.family(
      "sociograph_untrusted_documents_total", .counter,
      "Documents executed although they are not among the published ones.")
    text.sample(all.untrustedDocuments)
  }

  private func writeClients(_ all: LoopMetrics, _ text: inout PrometheusText) {
    let closed = all.socketsClosed.values.reduce(0, &+)
    text.family("sociograph_http_connections", .gauge, "Open connections of clients.")
    text.sample(all.socketsOpened > closed ? all.socketsOpened - closed : 0)
    text.family(
      "sociograph_response_buffer_bytes", .gauge, "Bytes of unsent responses.")
    text.sample(heldBytes)
    text.family(
      "sociograph_http_connections_opened_total", .counter, "Accepted connections of clients.")
    text.sample(all.socketsOpened)
    text.family(
      "sociograph_http_connections_closed_total", .counter, "Closed connections of clients.")
    for (reason, count) in all.socketsClosed.sorted(by: { $0.key.name < $1.key.name }) {
      text.sample(count, [("reason", reason.name)])
    }
    text.family(
      "sociograph_http_refused_total", .counter, "Requests refused before they were read whole.")
    for (status, count) in all.requestsRefused.sorted(by: { $0.key < $1.key }) {
      text.sample(count, [("status", "\(status)")])
    }
    text.family(
      "sociograph_client_disconnects_total", .counter,
      "Clients that disconnected before their response.")
    text.sample(all.clientsGone)
    text.family("sociograph_accepts_failed_total", .counter, "Connections that were not accepted.")
    text.sample(all.acceptsFailed)
    text.family("sociograph_handshakes_failed_total", .counter, "TLS handshakes that failed.")
    text.sample(all.handshakesFailed)
  }

  private func writePictures(_ all: LoopMetrics, _ text: inout PrometheusText) {
    text.family(
      "sociograph_photos_total", .counter, "Photos uploaded and requested, by result.")
    text.sample(all.picturesKept, [("result", "kept")])
    text.sample(all.picturesServed, [("result", "served")])
    for (code, count) in all.picturesRefused.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      text.sample(count, [("result", code.rawValue)])
    }
    text.family("sociograph_photo_bytes_total", .counter, "Bytes of photos kept and served.")
    text.sample(all.pictureBytesKept, [("result", "kept")])
    text.sample(all.pictureBytesServed, [("result", "served")])
  }

  private func writeReplicas(_ text: inout PrometheusText) {
    let loops = loops.compactMap(\.replicas)
    guard let first = loops.first else { return }
    text.family(
      "sociograph_reads_total", .counter,
      "Queries' statements, by where they ran: on a replica, or on the primary because the replica "
        + "was behind the client, because none takes reads, or because the statement needs it.")
    for (index, place) in ReplicaRouter.Place.allCases.enumerated() {
      text.sample(loops.reduce(0) { $0 + $1.reads[index] }, [("place", place.rawValue)])
    }
    text.family("sociograph_replica_up", .gauge, "Whether a replica takes reads.")
    for replica in first.replicas {
      text.sample(replica.isIn ? 1 : 0, [("replica", replica.host)])
    }
    text.family("sociograph_replica_reads_total", .counter, "Statements that a replica answered.")
    for (index, replica) in first.replicas.enumerated() {
      text.sample(
        loops.reduce(0) { $0 + $1.replicas[index].reads }, [("replica", replica.host)])
    }
    text.family(
      "sociograph_replica_lag_seconds", .gauge, "How long a replica has lacked something, at most.")
    for (index, replica) in first.replicas.enumerated() {
      let lags = loops.compactMap { $0.replicas[index].lag }
      guard let lag = lags.max() else { continue }
      text.sample(seconds: lag.timeInterval, [("replica", replica.host)])
    }
  }

  private func writePool(_ all: LoopMetrics, _ text: inout PrometheusText) {
    let pools = [
      ("reads", loops.map(\.pool)), ("writes", loops.map(\.writers)),
      ("group_commit", loops.map(\.flushes)),
    ]
    func samples(_ part: (PoolStatistics) -> Int, _ labels: [(String, String)] = []) {
      for (name, statistics) in pools {
        text.sample(statistics.reduce(0) { $0 + part($1) }, [("pool", name)] + labels)
      }
    }
    text.family(
      "sociograph_pool_connections", .gauge,
      "Database connections by state; those of mutations, and that of flushes, are pools of their own."
    )
    samples(\.idle, [("state", "idle")])
    samples(\.inUse, [("state", "in_use")])
    samples(\.leased, [("state", "leased")])
    samples(\.connecting, [("state", "connecting")])
    text.family("sociograph_pool_in_flight", .gauge, "Statements sent and not answered.")
    samples(\.inFlight)
    text.family("sociograph_pool_waiting", .gauge, "Statements waiting for a connection.")
    samples(\.waiting)
    text.family("sociograph_pool_waits_total", .counter, "Statements that had to wait.")
    samples(\.waited)
    text.family("sociograph_pool_wait_seconds_total", .counter, "Time they waited.")
    for (name, statistics) in pools {
      text.sample(
        seconds: statistics.reduce(0) { $0 + $1.totalWait.timeInterval }, [("pool", name)])
    }
    text.family("sociograph_pool_statements_total", .counter, "Statements given to the pool.")
    samples(\.executed)
    text.family(
      "sociograph_pool_breaker_open", .gauge,
      "Event loops whose database cannot be reached.")
    samples { $0.isBreakerOpen ? 1 : 0 }
    text.family("sociograph_pool_opened_total", .counter, "Database connections made.")
    samples(\.opened)
    text.family(
      "sociograph_pool_closed_total", .counter, "Database connections closed, of all pools.")
    for (reason, count) in all.connectionsClosed.sorted(by: { $0.key < $1.key }) {
      text.sample(count, [("reason", reason)])
    }
    text.family("sociograph_pool_connect_failures_total", .counter, "Failed attempts to connect.")
    samples(\.connectFailures)
    text.family(
      "sociograph_pool_hosts_refused_total", .counter,
      "Connections not used because their host is on an older timeline or of another cluster.")
    samples(\.hostsRefused)
    text.family("sociograph_pool_shed_total", .counter, "Statements refused or left unserved.")
    for (name, statistics) in pools {
      let shed = statistics.reduce(into: [PoolShedReason: Int]()) {
        $0.merge($1.shed, uniquingKeysWith: +)
      }
      for (reason, count) in shed.sorted(by: { $0.key.name < $1.key.name }) {
        text.sample(count, [("pool", name), ("reason", reason.name)])
      }
    }
    text.family("sociograph_pool_retried_total", .counter, "Statements sent again.")
    for (name, statistics) in pools {
      let retried = statistics.reduce(into: [PoolRetryReason: Int]()) {
        $0.merge($1.retried, uniquingKeysWith: +)
      }
      for (reason, count) in retried.sorted(by: { $0.key.name < $1.key.name }) {
        text.sample(count, [("pool", name), ("reason", reason.name)])
      }
    }
    text.family("sociograph_pool_cancels_total", .counter, "Cancels sent to the database.")
    samples(\.cancelsSent)
    text.family("sociograph_pool_timeouts_total", .counter, "Operations past their deadline.")
    samples(\.timedOut)
    text.family(
      "sociograph_statements_prepared_total", .counter, "Statements prepared on connections.")
    text.sample(all.statementsPrepared)
    text.family(
      "sociograph_statement_batches_total", .counter,
      "Statements that ran several batched executions.")
    text.sample(all.combinations)
    text.family("sociograph_batched_executions_total", .counter, "Executions that were batched.")
    text.sample(all.executionsCombined)
  }

  private func writeTasks(_ text: inout PrometheusText) {
    let tasks = tasks.sorted { $0.key < $1.key }
    text.family(
      "sociograph_tasks_total", .counter, "Background tasks of the database that this server ran.")
    for (name, counts) in tasks {
      text.sample(counts.ran, [("task", name), ("result", "ran")])
      text.sample(counts.failed, [("task", name), ("result", "failed")])
    }
    text.family("sociograph_task_seconds_total", .counter, "Time that those that ran took.")
    for (name, counts) in tasks {
      text.sample(seconds: Double(counts.nanoseconds) / 1e9, [("task", name)])
    }
    text.family(
      "sociograph_outbox_total", .counter,
      "Entries of the outbox that this server tried to deliver.")
    text.sample(outbox.delivered, [("result", "delivered")])
    text.sample(outbox.failed - outbox.givenUp, [("result", "failed")])
    text.sample(outbox.givenUp, [("result", "given_up")])
  }

  private func writeProcess(_ text: inout PrometheusText) {
    text.family(
      "sociograph_loop_delay_seconds", .histogram, "How long work waits for its event loop.")
    for (index, loop) in loops.enumerated() {
      text.sample(loop.metrics.delay, [("loop", "\(index)")])
    }
    text.family("sociograph_log_lines_total", .counter, "Lines of the log.")
    text.sample(log.taken, [("result", "written")])
    text.sample(log.lost, [("result", "lost")])
    text.family("sociograph_trace_spans_total", .counter, "Spans of traces.")
    text.sample(traces.sent, [("result", "sent")])
    text.sample(traces.dropped, [("result", "dropped")])
    text.sample(traces.failed, [("result", "failed")])
    text.family("sociograph_build_info", .gauge, "Always 1; the version is a label.")
    text.sample(1, [("version", version)])
    text.family("process_cpu_seconds_total", .counter, "Processor time in user and system mode.")
    text.sample(seconds: process.processorSeconds)
    text.family("process_resident_memory_bytes", .gauge, "Resident memory.")
    text.sample(process.residentBytes)
    text.family("process_virtual_memory_bytes", .gauge, "Virtual memory.")
    text.sample(process.virtualBytes)
    text.family("process_open_fds", .gauge, "Open file descriptors.")
    text.sample(process.openDescriptors)
    text.family("process_max_fds", .gauge, "Most file descriptors that may be open.")
    text.sample(process.maximumDescriptors)
    text.family("process_start_time_seconds", .gauge, "When the process began, in Unix time.")
    text.sample(seconds: process.startSeconds)
  }
}

extension LoopMetrics.Fault {
  fileprivate var order: String { "\(subject.rawValue) \(code.rawValue)" }
}

extension LoopMetrics.Failure {
  fileprivate var order: String { "\(kind.rawValue) \(code.rawValue)" }
}

extension LoopMetrics.Request {
  fileprivate var order: String { "\(kind.method.text) \(status) \(kind.scheme)" }
}
