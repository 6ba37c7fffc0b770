import Glibc
import TestSupport
import Testing

@testable import HTTP

@Suite(.blocks) struct PeerTests {
  @Test(arguments: [
    ("::", UInt64(0), UInt64(0)), ("::1", 0, 1), ("2001:db8::1", 0x2001_0db8_0000_0000, 1),
    ("1::2:0:0:3", 0x0001_0000_0000_0000, 0x0002_0000_0000_0003),
    ("1:0:2:3:4:5:6:7", 0x0001_0000_0002_0003, 0x0004_0005_0006_0007),
    ("fe80::", 0xfe80_0000_0000_0000, 0),
  ]) func `IPv6 addresses are printed in their shortest form`(
    text: String, high: UInt64, low: UInt64
  ) {
    #expect(HTTPPeer.ipv6(high: high, low: low).description == text)
  }

  @Test func `IPv6 clients are counted by their network`() {
    #expect(
      HTTPPeer.ipv6(high: 1, low: 2).accountable == HTTPPeer.ipv6(high: 1, low: 3).accountable)
    #expect(
      HTTPPeer.ipv6(high: 1, low: 2).accountable != HTTPPeer.ipv6(high: 2, low: 2).accountable)
    #expect(HTTPPeer.ipv4(1).accountable != HTTPPeer.ipv4(2).accountable)
  }

  @Test(arguments: [
    (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
    (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
    (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
    (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
  ]) func `dates are those of the standard`(second: Int, text: String) {
    #expect(HTTPDateLine.text(unixSeconds: second) == text)
  }
}
