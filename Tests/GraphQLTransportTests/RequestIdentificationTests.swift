import GraphQLResponse
import GraphQLTransport
import Testing

@testable import HTTP

struct RequestIdentificationTests {
  private static let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

  private func identify(
    _ headers: [String], peer: String = "10.0.0.1", proxies: [String] = ["10.0.0.0/8"]
  ) throws -> RequestIdentity {
    let request = try EndpointTests.request(headers: headers)
    request.peer = try #require(HTTPPeer(address: peer))
    var identification = RequestIdentification(
      proxies: try #require(TrustedProxies(proxies)), seed: TraceID(high: 1, low: 2))
    return identification.identify(request)
  }

  @Test func `a trusted proxy names the request and its trace`() throws {
    let both = try identify(["X-Request-Id: abc-1", "Traceparent: \(Self.traceparent)"])
    #expect(both.id == "abc-1")
    #expect(both.trace == TraceContext(traceparent: Self.traceparent))
    let trace = try identify(["traceparent: \(Self.traceparent)"])
    #expect(trace.id == "4bf92f3577b34da6a3ce929d0e0e4736")
    #expect(trace.trace.parentSpan?.description == "00f067aa0ba902b7")
  }

  @Test func `anybody else does not`() throws {
    let headers = ["X-Request-Id: abc-1", "Traceparent: \(Self.traceparent)"]
    let own = try identify([])
    #expect(own.id.utf8.count == 32 && own.trace.parentSpan == nil && own.trace.isSampled == nil)
    #expect(try identify(headers, peer: "192.0.2.1") == own)
    #expect(try identify(headers, proxies: []) == own)
  }

  @Test(arguments: [
    ["X-Request-Id: a b"], ["X-Request-Id: a", "X-Request-Id: b"], ["X-Request-Id:"],
    ["X-Request-Id: \(String(repeating: "a", count: 129))"], ["Traceparent: 00-1-2-3"],
    ["Traceparent: \(traceparent)", "Traceparent: \(traceparent)"],
  ])
  func `a name that is none is not taken`(headers: [String]) throws {
    #expect(try identify(headers) == identify([]))
  }

  @Test func `no name is made twice`() throws {
    let request = try EndpointTests.request()
    var first = RequestIdentification(
      proxies: TrustedProxies(), seed: TraceID(high: 1, low: 2))
    var second = RequestIdentification(
      proxies: TrustedProxies(), seed: TraceID(high: 3, low: 2))
    var names: Set<String> = []
    for _ in 0..<10_000 {
      names.insert(first.identify(request).id)
      names.insert(second.identify(request).id)
    }
    #expect(names.count == 20_000)
  }
}
