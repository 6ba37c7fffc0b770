import TestSupport
import Testing

@testable import HTTP

@Suite(.blocks) struct TrustedProxiesTests {
  private func request(_ peer: HTTPPeer, _ headers: String...) throws -> HTTPRequest {
    let head = "GET / HTTP/1.1\r\nHost: a\r\n" + headers.map { $0 + "\r\n" }.joined() + "\r\n"
    let request = try #require(try HTTPRequest.parse(Array(head.utf8), from: peer))
    return request
  }

  private func address(_ text: String) throws -> HTTPPeer {
    try #require(HTTPPeer(address: text))
  }

  @Test func `without proxies a client is who its socket says`() throws {
    let request = try request(
      address("192.0.2.1"), "X-Forwarded-For: 198.51.100.1", "X-Forwarded-Proto: https")
    #expect(TrustedProxies().client(of: request).description == "192.0.2.1")
    #expect(!TrustedProxies().isSecure(request))
  }

  @Test func `fields from anybody but a proxy are not believed`() throws {
    let proxies = try #require(TrustedProxies(["10.0.0.0/8"]))
    let request = try request(
      address("192.0.2.1"), "X-Forwarded-For: 198.51.100.1", "X-Forwarded-Proto: https")
    #expect(proxies.client(of: request).description == "192.0.2.1")
    #expect(!proxies.isSecure(request))
  }

  @Test(arguments: [
    ("198.51.100.1", "198.51.100.1"), ("1.1.1.1, 198.51.100.1", "198.51.100.1"),
    ("1.1.1.1, 198.51.100.1, 10.1.1.1", "198.51.100.1"), ("198.51.100.1:4711", "198.51.100.1"),
    ("[2001:db8::9]:4711", "2001:db8::9"), ("2001:db8::9", "2001:db8::9"),
    ("10.2.2.2", "10.2.2.2"), ("::ffff:198.51.100.1", "198.51.100.1"),
    ("198.51.100.1, nonsense", "10.0.0.9"), ("unknown", "10.0.0.9"), ("", "10.0.0.9"),
  ]) func `the client is the last address that is no proxy`(list: String, client: String) throws {
    let proxies = try #require(TrustedProxies(["10.0.0.0/8"]))
    let request = try request(address("10.0.0.9"), "X-Forwarded-For: \(list)")
    #expect(proxies.client(of: request).description == client)
  }

  @Test(arguments: [
    ("for=198.51.100.1", "198.51.100.1"),
    ("for=1.1.1.1, For=198.51.100.1;by=10.0.0.9;proto=https", "198.51.100.1"),
    ("for=198.51.100.1;proto=http, for=10.1.1.1", "198.51.100.1"),
    (#"proto=https; for="[2001:db8::9]:4711""#, "2001:db8::9"),
    (#"for="198.51.100.1:4711""#, "198.51.100.1"), ("for=_hidden", "10.0.0.9"),
    ("for=1.1.1.1, proto=https", "10.0.0.9"), ("for=unknown", "10.0.0.9"), ("nonsense", "10.0.0.9"),
  ]) func `a proxy may say it by Forwarded`(list: String, client: String) throws {
    let proxies = try #require(TrustedProxies(["10.0.0.0/8"]))
    let request = try request(address("10.0.0.9"), "Forwarded: \(list)")
    #expect(proxies.client(of: request).description == client)
    #expect(proxies.isSecure(request) == (list.hasSuffix("https") || list.hasPrefix("proto=https")))
    let stranger = try self.request(address("192.0.2.1"), "Forwarded: \(list)")
    #expect(proxies.client(of: stranger).description == "192.0.2.1")
  }

  @Test func `who names other clients and is no proxy is not believed`() throws {
    let proxies = try #require(TrustedProxies(["10.0.0.0/8"]))
    for (peer, header, isDisbelieved) in [
      ("192.0.2.1", "X-Forwarded-For: 1.1.1.1", true),
      ("192.0.2.1", "Forwarded: for=1.1.1.1", true),
      ("192.0.2.1", "Accept: a/b", false), ("10.0.0.9", "X-Forwarded-For: 1.1.1.1", false),
    ] {
      #expect(proxies.isDisbelieved(try request(address(peer), header)) == isDisbelieved)
    }
  }

  @Test func `X-Forwarded-For is what the proxy wrote, where a client sent Forwarded`() throws {
    let proxies = try #require(TrustedProxies(["10.0.0.0/8"]))
    let request = try request(
      address("10.0.0.9"), "Forwarded: for=1.1.1.1", "X-Forwarded-For: 198.51.100.1")
    #expect(proxies.client(of: request).description == "198.51.100.1")
  }

  @Test func `a proxy says whether the client used TLS`() throws {
    let proxies = try #require(TrustedProxies(["2001:db8::/32"]))
    let secure = try request(address("2001:db8:1::1"), "X-Forwarded-Proto: http, https")
    #expect(proxies.isSecure(secure))
    let plain = try request(address("2001:db8:1::1"), "X-Forwarded-Proto: https, http")
    #expect(!proxies.isSecure(plain))
    let other = try request(address("2001:db9::1"), "X-Forwarded-Proto: https")
    #expect(!proxies.isSecure(other))
    #expect(proxies.isSecure(try request(.local, "X-Forwarded-Proto: https")))
  }

  @Test func `connections of a proxy are not counted by their address`() throws {
    let proxies = try #require(TrustedProxies(["10.0.0.0/8"]))
    var limits = HTTPLimits()
    limits.maximumSockets = 4
    limits.maximumSocketsPerAddress = 1
    let quota = HTTPSocketQuota(limits: limits, proxies: proxies)
    let proxy = try address("10.1.1.1")
    let other = try address("192.0.2.1")
    #expect(quota.take(other) && !quota.take(other))
    #expect(quota.take(proxy) && quota.take(proxy) && quota.take(.local))
    #expect(!quota.take(proxy))
    for peer in [proxy, proxy, .local, other] { quota.giveBack(peer) }
    #expect(quota.openSockets == 0 && quota.take(other))
  }

  @Test(arguments: ["", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0/8", "::1/129", "host", "10.0.0.1/"])
  func `what is no network is refused`(text: String) {
    #expect(TrustedProxies([text]) == nil)
  }
}
