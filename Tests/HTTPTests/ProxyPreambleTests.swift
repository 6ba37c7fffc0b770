import HTTPTestSupport
import TestSupport
import Testing

@testable import HTTP

/// The PROXY protocol: connections of a trusted proxy begin with the client's address.
@Suite(.blocks) struct ProxyPreambleTests {
  private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10]
  private static let four = [192, 0, 2, 7, 10, 0, 0, 1, 0xD9, 3, 1, 0xBB].map { UInt8($0) }

  private static func binary(_ kind: UInt8, _ family: UInt8, _ rest: [UInt8]) -> [UInt8] {
    signature + [kind, family, UInt8(rest.count >> 8), UInt8(rest.count & 0xFF)] + rest
  }

  private static func fixture() throws -> HTTPServerFixture {
    var proxies = try #require(TrustedProxies(["127.0.0.1"]))
    proxies.speakProxyProtocol = true
    let quota = HTTPSocketQuota(limits: HTTPLimits(), proxies: proxies)
    return try HTTPServerFixture {
      $0.quota = quota
    } handler: { request, exchange in
      exchange.respond(contentType: "text/plain", body: Array("\(request.peer)".utf8))
    }
  }

  private static let ask = Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)

  private static let told: [(preamble: [UInt8], client: String)] = [
    (Array("PROXY TCP4 192.0.2.7 10.0.0.1 55555 443\r\n".utf8), "192.0.2.7"),
    (Array("PROXY TCP6 2001:db8::7 2001:db8::1 55555 443\r\n".utf8), "2001:db8::7"),
    (Array("PROXY UNKNOWN\r\n".utf8), "127.0.0.1"),
    (Array("PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n".utf8), "127.0.0.1"),
    (binary(0x21, 0x11, four), "192.0.2.7"),
    // With an extension behind the addresses.
    (binary(0x21, 0x11, four + [4, 0, 1, 0]), "192.0.2.7"),
    (
      binary(0x21, 0x21, [0x20, 1, 0xD, 0xB8] + [UInt8](repeating: 0, count: 31) + [1]),
      "2001:db8::"
    ),
    // The proxy's own health check, and a client of a Unix socket.
    (binary(0x20, 0, []), "127.0.0.1"),
    (binary(0x21, 0x31, [UInt8](repeating: 0, count: 216)), "127.0.0.1"),
  ]

  @Test(arguments: told.indices) func `the client is who the proxy says`(_ index: Int) throws {
    let fixture = try Self.fixture()
    let (preamble, client) = Self.told[index]
    let whole = try RawClient(port: fixture.port)
    whole.send(preamble + Self.ask)
    #expect(whole.answer().body == client)
    whole.send(Self.ask)
    #expect(whole.answer().body == client)
    // In pieces, of which none has its end and more.
    let pieces = try RawClient(port: fixture.port)
    for byte in preamble { pieces.send([byte]) }
    pieces.send(Self.ask)
    #expect(pieces.answer().body == client)
  }

  @Test(arguments: [
    Self.ask, Array("PROXY TCP4 nonsense 10.0.0.1 1 2\r\n".utf8), Array("PROXY \r\n".utf8),
    Array("PROXY TCP4 2001:db8::7 10.0.0.1 1 2\r\n".utf8),
    Array("PROXY TCP4 192.0.2.7 10.0.0.1 1 99999\r\n".utf8),
    Array(("PROXY UNKNOWN " + String(repeating: "x", count: 200)).utf8),
    binary(0x11, 0x11, four), binary(0x22, 0x11, four), binary(0x21, 0x11, [1, 2, 3]),
    signature + [0x21, 0x11, 0xFF, 0xFF],
  ]) func `what is no such beginning ends the connection`(_ bytes: [UInt8]) throws {
    let fixture = try Self.fixture()
    let client = try RawClient(port: fixture.port)
    client.send(bytes)
    #expect(client.isClosedByServer())
    #expect(
      fixture.sees {
        if case .requestRefused(.malformed(.preamble), _) = $0 { true } else { false }
      })
  }

  @Test func `who is no proxy cannot name another client`() throws {
    var proxies = try #require(TrustedProxies(["192.0.2.1"]))
    proxies.speakProxyProtocol = true
    let quota = HTTPSocketQuota(limits: HTTPLimits(), proxies: proxies)
    let fixture = try HTTPServerFixture { $0.quota = quota }
    let client = try RawClient(port: fixture.port)
    client.send(Array("PROXY TCP4 192.0.2.7 10.0.0.1 55555 443\r\n".utf8) + Self.ask)
    #expect(client.answer().status == 400)
  }

  @Test func `connections count toward the client`() throws {
    var limits = HTTPLimits()
    limits.maximumSocketsPerAddress = 2
    var proxies = try #require(TrustedProxies(["127.0.0.1"]))
    proxies.speakProxyProtocol = true
    let quota = HTTPSocketQuota(limits: limits, proxies: proxies)
    let fixture = try HTTPServerFixture { $0.quota = quota }
    func connect(_ address: String) throws -> RawClient {
      let client = try RawClient(port: fixture.port)
      client.send(Array("PROXY TCP4 \(address) 10.0.0.1 55555 443\r\n".utf8) + Self.ask)
      return client
    }
    var held = [try connect("192.0.2.7"), try connect("192.0.2.7")]
    for client in held { #expect(client.answer().status == 200) }
    #expect(try connect("192.0.2.7").isClosedByServer())
    #expect(try connect("192.0.2.8").answer().status == 200)
    held.removeLast()
    #expect(
      fixture.sees { if case .connectionClosed(.byClient) = $0 { true } else { false } })
    #expect(try connect("192.0.2.7").answer().status == 200)
  }
}
