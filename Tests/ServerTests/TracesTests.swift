import Glibc
import GraphQLResponse
import HTTP
import HTTPTestSupport
import JSON
import TestSupport
import Testing

@testable import Server

/// Spans by OTLP over HTTP, as a collector gets them.
@Suite(.usesCluster) struct TracesTests {
  private static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
  private static let unsampledParent = "00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203331-00"

  private static func server(
    _ collector: TraceCollector, sample: Double,
    usesConventions: Bool = false,
    _ change: (inout TraceExporter.Settings) -> Void = { _ in }
  ) throws -> TestServer {
    let endpoint = try #require(TraceEndpoint("http://127.0.0.1:\(collector.port)"))
    var traces = TraceExporter.Settings(endpoint: endpoint, sample: sample)
    traces.interval = .milliseconds(20)
    change(&traces)
    let proxies = try #require(TrustedProxies(["127.0.0.1"]))
    return try TestServer(database: TestCluster.migratedDatabase()) {
      $0.traces = traces
      $0.usesConventions = usesConventions
      $0.trustedProxies = proxies
      $0.adminAddress = .tcp(host: "127.0.0.1", port: 0)
      $0.logWriter = LogWriter(descriptor: unsafe open("/dev/null", O_WRONLY))
    }
  }

  @Test func `an operation is a span with its phases, in its caller's trace`() throws {
    let collector = try TraceCollector()
    let server = try Self.server(collector, sample: 0)
    _ = try server.execute(
      "query Traced { users(first: 1) { nodes { id } } }",
      headers: "traceparent: \(Self.parent)\r\nX-Request-Id: from-proxy\r\n")
    let spans = try collector.spans(through: "query Traced")
    let root = try #require(spans.first { $0["name"] == .string("query Traced") })
    #expect(root["traceId"] == .string("0af7651916cd43dd8448eb211c80319c"))
    #expect(root["parentSpanId"] == .string("b7ad6b7169203331"))
    #expect(root["kind"] == .number("2"))
    let attributes = Self.attributes(root)
    #expect(attributes["graphql.operation.name"] == "Traced")
    #expect(attributes["graphql.operation.type"] == "query")
    #expect(attributes["http.response.status_code"] == "200")
    #expect(attributes["sociograph.request.id"] == "from-proxy")
    #expect(attributes["sociograph.document"]?.utf8.count == 16)
    let phases = spans.filter { $0["parentSpanId"] == root["spanId"] }
    let names = phases.compactMap { $0["name"]?.text }
    for name in ["parse", "validate", "plan", "postgresql", "write"] {
      #expect(names.contains(name), "\(names)")
    }
    func time(_ span: JSONValue, _ name: String) -> UInt64 { UInt64(span[name]?.text ?? "") ?? 0 }
    for phase in phases {
      #expect(phase["traceId"] == root["traceId"])
      #expect(time(phase, "startTimeUnixNano") >= time(root, "startTimeUnixNano"))
      #expect(time(phase, "endTimeUnixNano") <= time(root, "endTimeUnixNano"))
    }
    let statement = try #require(phases.first { $0["name"] == .string("postgresql") })
    #expect(Self.attributes(statement)["sociograph.statement"]?.hasPrefix("s_") == true)
    for post in collector.received { try Self.check(post) }
  }

  /// The names, kinds and required attributes of semantic-conventions 1.38, `http-spans` and
  /// `graphql-spans`.
  @Test func `by OpenTelemetry's conventions, a request and its operation are two spans`() throws {
    let collector = try TraceCollector()
    let server = try Self.server(collector, sample: 0, usesConventions: true)
    _ = try server.execute(
      "query Traced { users(first: 1) { nodes { id } } }",
      headers: "traceparent: \(Self.parent)\r\n")
    let spans = try collector.spans(through: "query")
    let request = try #require(spans.first { $0["name"] == .string("POST /graphql") })
    #expect(request["parentSpanId"] == .string("b7ad6b7169203331"))
    #expect(request["kind"] == .number("2") && request["status"]?.names == [])
    let http = Self.attributes(request)
    for (name, value) in [
      ("http.request.method", "POST"), ("url.path", "/graphql"), ("url.scheme", "http"),
      ("http.route", "/graphql"), ("http.response.status_code", "200"),
    ] { #expect(http[name] == value, "\(name)") }
    let operation = try #require(spans.first { $0["name"] == .string("query") })
    #expect(operation["parentSpanId"] == request["spanId"] && operation["kind"] == .number("2"))
    #expect(Self.attributes(operation)["graphql.operation.type"] == "query")
    #expect(Self.attributes(operation)["graphql.operation.name"] == "Traced")
    let statement = try #require(spans.first { $0["name"] == .string("SELECT") })
    #expect(statement["parentSpanId"] == operation["spanId"] && statement["kind"] == .number("3"))
    #expect(Self.attributes(statement)["db.system.name"] == "postgresql")
    for post in collector.received { try Self.check(post) }
    let duration =
      "http_server_request_duration_seconds_count{http_request_method=\"POST\","
      + "http_response_status_code=\"200\",http_route=\"/graphql\",url_scheme=\"http\"}"
    #expect(try server.metric(duration) == 1)
  }

  /// Spans are sent in the order of their operations, so what was to be sent has come before the last.
  @Test func `only what is sampled is sent: by the caller's word, or by the ratio`() throws {
    let collector = try TraceCollector()
    let none = try Self.server(collector, sample: 0)
    _ = try none.execute("query Alone { __typename }")
    _ = try none.execute(
      "query NotRecorded { __typename }", headers: "traceparent: \(Self.unsampledParent)\r\n")
    _ = try none.execute(
      "query Recorded { __typename }", headers: "traceparent: \(Self.parent)\r\n")
    let names = try collector.spans(through: "query Recorded").compactMap { $0["name"]?.text }
    #expect(!names.contains("query Alone") && !names.contains("query NotRecorded"))

    let other = try TraceCollector()
    let all = try Self.server(other, sample: 1)
    _ = try all.execute("query Alone { __typename }")
    _ = try all.execute("query Wrong { __typename nonsense }")
    let spans = try other.spans(through: "graphql")
    #expect(spans.contains { $0["name"] == .string("query Alone") })
    let failed = try #require(spans.first { $0["name"] == .string("graphql") })
    #expect(failed["status"]?["code"] == .number("2"))
    #expect(Self.attributes(failed)["error.type"] == "GRAPHQL_VALIDATION_FAILED")
    #expect(failed["parentSpanId"] == nil)
  }

  @Test func `a part of the traces is sampled by their ids`() throws {
    let endpoint = try #require(TraceEndpoint("http://127.0.0.1:9"))
    let exporter = TraceExporter(TraceExporter.Settings(endpoint: endpoint, sample: 0.25)) { _ in }
    var generator = SystemRandomNumberGenerator()
    let sampled = (0..<10_000).count { _ in
      exporter.isSampled(TraceContext(id: .random(using: &generator)))
    }
    // Sixteen standard deviations to either side.
    #expect((1_800...3_200).contains(sampled))
    exporter.stop()
  }

  @Test func `a collector that does not answer costs spans, and nobody waits`() throws {
    let collector = try TraceCollector(answers: false)
    let server = try Self.server(collector, sample: 1) {
      $0.maximumWaiting = 4
      $0.maximumBatch = 2
      $0.timeout = .seconds(600)
    }
    for _ in 0..<50 { #expect(try server.execute("query Q { __typename }").status == 200) }
    let dropped = try server.metric("sociograph_trace_spans_total{result=\"dropped\"}") ?? 0
    // At most two are on their way and four wait.
    #expect(dropped >= 44)
    #expect(try server.metric("sociograph_trace_spans_total{result=\"sent\"}") == 0)
  }

  @Test func `what a collector refuses is counted`() throws {
    let refusing = try TraceCollector(status: .serviceUnavailable)
    let server = try Self.server(refusing, sample: 1) {
      $0.maximumAttempts = 3
      $0.pause = .milliseconds(1)
    }
    _ = try server.execute("query Q { __typename }")
    let failed = "sociograph_trace_spans_total{result=\"failed\"}"
    #expect(try eventually { try server.metric(failed) ?? 0 > 0 })
    #expect(refusing.received.count == 3)
    #expect(Set(refusing.received.map(\.body)).count == 1)
    // What is wrong with a request is not mended by sending it again.
    let picky = try TraceCollector(status: .badRequest)
    let third = try Self.server(picky, sample: 1)
    _ = try third.execute("query Q { __typename }")
    #expect(try eventually { try third.metric(failed) ?? 0 > 0 })
    #expect(picky.received.count == 1)

    let partial = try TraceCollector(rejected: 1)
    let second = try Self.server(partial, sample: 1)
    _ = try second.execute("query Q { __typename }")
    #expect(try eventually { try second.metric(failed) ?? 0 > 0 })
    #expect(try second.metric(failed) == 1)
    #expect(try second.metric("sociograph_trace_spans_total{result=\"sent\"}") ?? 0 >= 1)
  }

  @Test func `a collector that asks for a pause gets the spans after it, once`() throws {
    let collector = try TraceCollector(busyFor: 2, retryAfter: 0)
    let server = try Self.server(collector, sample: 1) { $0.pause = .seconds(600) }
    _ = try server.execute("query Q { __typename }")
    #expect(!(try collector.spans(through: "query Q")).isEmpty)
    let sent = "sociograph_trace_spans_total{result=\"sent\"}"
    #expect(try eventually { try server.metric(sent) ?? 0 > 0 })
    #expect(try server.metric("sociograph_trace_spans_total{result=\"failed\"}") == 0)
    #expect(collector.received.count == 3)
  }

  @Test func `the variables of OpenTelemetry are read`() throws {
    let collector = try TraceCollector()
    let environment = try TraceEnvironment([
      "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:\(collector.port)/",
      "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b, x-other=c",
      "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "2500",
      "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test,service.name=lost",
      "OTEL_SERVICE_NAME": "shop",
    ])
    #expect(environment.endpoint == "http://127.0.0.1:\(collector.port)/v1/traces")
    let server = try Self.server(collector, sample: 1) { $0.read(environment) }
    _ = try server.execute("query Q { __typename }")
    _ = try collector.spans(through: "query Q")
    let post = try #require(collector.received.first)
    #expect(post.headers == ["x-key": "a b", "x-other": "c"])
    let resource = try #require(
      try JSONParser.parse(post.body)["resourceSpans"]?.elements.first?["resource"])
    #expect(Self.attributes(resource)["service.name"] == "shop")
    #expect(Self.attributes(resource)["deployment.environment.name"] == "test")
    #expect(
      try TraceEnvironment(["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c/own"]).endpoint
        == "http://c/own")
    #expect(try TraceEnvironment([:]).endpoint == nil)
    for (name, value) in [
      ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon"), ("OTEL_RESOURCE_ATTRIBUTES", "a"),
      ("OTEL_EXPORTER_OTLP_HEADERS", "a%0d%0ab=c"), ("OTEL_EXPORTER_OTLP_HEADERS", "a=b%0ac"),
    ] {
      #expect(throws: TraceEnvironment.Fault.self) { try TraceEnvironment([name: value]) }
    }
  }

  @Test func `endpoints are URLs of http`() throws {
    #expect(TraceEndpoint("http://collector")?.port == 4318)
    #expect(TraceEndpoint("http://collector")?.path == "/v1/traces")
    #expect(TraceEndpoint("http://collector:1/")?.path == "/v1/traces")
    let own = try #require(TraceEndpoint("http://[::1]:9/own/path"))
    #expect(own.host == "::1" && own.port == 9 && own.path == "/own/path")
    #expect(TraceEndpoint("http://[::1]")?.port == 4318)
    for wrong in [
      "", "https://collector", "http://", "http://:1", "http://a:0", "http://a:99999",
      "http://a@b", "http://a b", "http://a/?x", "collector:4318", "http://a\r\nb",
    ] { #expect(TraceEndpoint(wrong) == nil, "\(wrong)") }
  }

  // MARK: - The shape of OTLP

  private static func attributes(_ span: JSONValue) -> [String: String] {
    var result: [String: String] = [:]
    for attribute in span["attributes"]?.elements ?? [] {
      let value = attribute["value"]?["stringValue"] ?? attribute["value"]?["intValue"]
      if let key = attribute["key"]?.text, let value = value?.text { result[key] = value }
    }
    return result
  }

  /// Holds a request against opentelemetry-proto's `ExportTraceServiceRequest` in its JSON encoding:
  /// lowerCamelCase names that exist, ids in hexadecimal, 64-bit numbers as texts, enums as numbers.
  private static func check(_ post: TraceCollector.Post) throws {
    #expect(post.path == "/v1/traces" && post.contentType == "application/json")
    let request = try JSONParser.parse(post.body)
    #expect(request.names == ["resourceSpans"])
    for resourceSpans in request["resourceSpans"]?.elements ?? [] {
      #expect(Set(resourceSpans.names) == ["resource", "scopeSpans"])
      let resource = try #require(resourceSpans["resource"])
      #expect(resource.names == ["attributes"])
      try checkAttributes(resource)
      #expect(attributes(resource)["service.name"] == "sociograph")
      for scopeSpans in resourceSpans["scopeSpans"]?.elements ?? [] {
        #expect(Set(scopeSpans.names) == ["scope", "spans"])
        #expect(scopeSpans["scope"]?.names == ["name"])
        let spans = scopeSpans["spans"]?.elements ?? []
        #expect(!spans.isEmpty)
        for span in spans { try check(span) }
      }
    }
  }

  private static func check(_ span: JSONValue) throws {
    let known: Set<String> = [
      "traceId", "spanId", "parentSpanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano",
      "attributes", "status",
    ]
    #expect(Set(span.names).isSubset(of: known))
    #expect(try #require(span["traceId"]?.text).wholeMatch(of: /[0-9a-f]{32}/) != nil)
    #expect(try #require(span["spanId"]?.text).wholeMatch(of: /[0-9a-f]{16}/) != nil)
    if let parent = span["parentSpanId"] {
      #expect(try #require(parent.text).wholeMatch(of: /[0-9a-f]{16}/) != nil)
    }
    #expect(span["name"]?.text?.isEmpty == false)
    #expect((1...5).contains(span["kind"]?.number ?? 0))
    let start = try #require(span["startTimeUnixNano"]?.text.flatMap { UInt64($0) })
    let end = try #require(span["endTimeUnixNano"]?.text.flatMap { UInt64($0) })
    // From 2020 on, in nanoseconds.
    #expect(start > 1_577_836_800_000_000_000 && start <= end)
    let status = try #require(span["status"])
    #expect(Set(status.names).isSubset(of: ["code", "message"]))
    #expect((0...2).contains(status["code"]?.number ?? 0))
    try checkAttributes(span)
  }

  private static func checkAttributes(_ value: JSONValue) throws {
    for attribute in try #require(value["attributes"]).elements {
      #expect(attribute.names == ["key", "value"])
      #expect(attribute["key"]?.text?.isEmpty == false)
      let any = try #require(attribute["value"])
      switch any.names {
      case ["stringValue"]: #expect(any["stringValue"]?.text != nil)
      case ["intValue"]: #expect(any["intValue"]?.text.flatMap { Int64($0) } != nil)
      case let names: Issue.record("an attribute has \(names)")
      }
    }
  }
}
