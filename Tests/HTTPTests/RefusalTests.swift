import HTTP
import HTTPTestSupport
import TestSupport
import Testing

/// Bytes that are no request, or that two parsers could read differently, and what they get.
@Suite(.blocks) struct RefusalTests {
  struct Case: CustomTestStringConvertible {
    let testDescription: String
    let bytes: String
    let status: Int

    init(_ name: String, _ bytes: String, _ status: Int) {
      testDescription = name
      self.bytes = bytes
      self.status = status
    }
  }

  static let heads: [Case] = [
    .init(
      "Content-Length with Transfer-Encoding",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400
    ),
    .init(
      "Transfer-Encoding with Content-Length",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", 400
    ),
    .init(
      "differing Content-Lengths",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc", 400
    ),
    .init(
      "repeated Content-Length",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400
    ),
    .init(
      "Content-Length as a list",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 3\r\n\r\nabc", 400
    ),
    .init(
      "Content-Length with a sign",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\nabc", 400
    ),
    .init(
      "negative Content-Length",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -3\r\n\r\nabc", 400
    ),
    .init(
      "hexadecimal Content-Length",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x3\r\n\r\nabc", 400
    ),
    .init("empty Content-Length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\nabc", 400),
    .init(
      "Content-Length past 64 bits",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n", 400
    ),
    .init(
      "Content-Length past the limit",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1048577\r\n\r\n", 413
    ),
    .init(
      "Transfer-Encoding: identity",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n", 400
    ),
    .init(
      "Transfer-Encoding: gzip, chunked",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 400
    ),
    .init(
      "Transfer-Encoding: chunked, gzip",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n", 400
    ),
    .init(
      "Transfer-Encoding: chunked twice in a list",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n", 400
    ),
    .init(
      "Transfer-Encoding twice",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
      400
    ),
    .init(
      "Transfer-Encoding: xchunked",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n", 400
    ),
    .init(
      "Transfer-Encoding with a vertical tab",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \u{B}chunked\r\n\r\n", 400
    ),
    .init(
      "Transfer-Encoding on HTTP/1.0",
      "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 400
    ),
    .init("bare LF after the request line", "GET / HTTP/1.1\nHost: a\r\n\r\n", 400),
    .init("bare LF after a field", "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", 400),
    .init("bare LF as the last line", "GET / HTTP/1.1\r\nHost: a\r\n\n", 400),
    .init("bare CR in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: b\rc\r\n\r\n", 400),
    .init("bare CR before a name", "GET / HTTP/1.1\r\n\rHost: a\r\n\r\n", 400),
    .init("folded field", "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n", 400),
    .init("field folded with a tab", "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n\tc\r\n\r\n", 400),
    .init("space before the first field", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400),
    .init("space before the colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400),
    .init("tab before the colon", "GET / HTTP/1.1\r\nHost\t: a\r\n\r\n", 400),
    .init("space inside a name", "GET / HTTP/1.1\r\nHost: a\r\nX Y: b\r\n\r\n", 400),
    .init("no name", "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", 400),
    .init("no colon", "GET / HTTP/1.1\r\nHost: a\r\nnothing\r\n\r\n", 400),
    .init("name with a slash", "GET / HTTP/1.1\r\nHost: a\r\nX/Y: b\r\n\r\n", 400),
    .init("name with a letter beyond ASCII", "GET / HTTP/1.1\r\nHost: a\r\nÄ: b\r\n\r\n", 400),
    .init("no Host", "GET / HTTP/1.1\r\nX: b\r\n\r\n", 400),
    .init("two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400),
    .init("two Hosts on HTTP/1.0", "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    .init("Host with a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400),
    .init("Host with a user", "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n", 400),
    .init("Host as a list", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", 400),
    .init("NUL in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: b\0c\r\n\r\n", 400),
    .init("NUL in the target", "GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    .init("DEL in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: b\u{7F}\r\n\r\n", 400),
    .init("escape in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: \u{1B}[2J\r\n\r\n", 400),
    .init("tab in the request line", "GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    .init("two spaces in the request line", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    .init("space in the target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    .init("letters beyond ASCII in the target", "GET /ä HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    .init("fragment in the target", "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    .init("target without a slash", "GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    .init("asterisk with GET", "GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    .init("HTTP/0.9", "GET /\r\n", 400),
    .init("HTTP/0.9 with a version", "GET / HTTP/0.9\r\n\r\n", 505),
    .init("HTTP/1.2", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505),
    .init("HTTP/2.0", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
    .init("lower-case protocol", "GET / http/1.1\r\nHost: a\r\n\r\n", 400),
    .init("no version digits", "GET / HTTP/1\r\nHost: a\r\n\r\n", 400),
    .init("unknown method", "GOT / HTTP/1.1\r\nHost: a\r\n\r\n", 405),
    .init("lower-case method", "get / HTTP/1.1\r\nHost: a\r\n\r\n", 405),
    .init("a method that is no token", "G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    .init("CONNECT", "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", 405),
    .init("a TLS client hello", "\u{16}\u{3}\u{1}\u{0}\u{5}hello", 400),
    .init("three empty lines", "\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    .init("Content-Encoding", "POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\n\r\n", 415),
    .init("unknown expectation", "POST / HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\n\r\n", 417),
    .init(
      "request line too long",
      "GET /\(String(repeating: "a", count: 8200)) HTTP/1.1\r\nHost: a\r\n\r\n", 414
    ),
    .init("request line too long, unfinished", "GET /\(String(repeating: "a", count: 8200))", 414),
    .init(
      "header too large",
      "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 16_400))\r\n\r\n", 431
    ),
    .init(
      "header too large, unfinished",
      "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 16_400))", 431
    ),
    .init(
      "too many fields",
      "GET / HTTP/1.1\r\nHost: a\r\n\(String(repeating: "X: y\r\n", count: 100))\r\n", 431
    ),
  ]

  static let chunks: [Case] = [
    .init("no size", "\r\nabc\r\n0\r\n\r\n", 400),
    .init("not hexadecimal", "g\r\nabc\r\n0\r\n\r\n", 400),
    .init("prefixed with 0x", "0x3\r\nabc\r\n0\r\n\r\n", 400),
    .init("negative", "-3\r\nabc\r\n0\r\n\r\n", 400),
    .init("nine digits", "000000003\r\nabc\r\n0\r\n\r\n", 400),
    .init("space before the size", " 3\r\nabc\r\n0\r\n\r\n", 400),
    .init("space after the size", "3 \r\nabc\r\n0\r\n\r\n", 400),
    .init("bare LF after the size", "3\nabc\r\n0\r\n\r\n", 400),
    .init("bare LF after an extension", "3;a\nabc\r\n0\r\n\r\n", 400),
    .init("control character in an extension", "3;a\u{1}\r\nabc\r\n0\r\n\r\n", 400),
    .init(
      "extensions too long", "3;\(String(repeating: "a", count: 256))\r\nabc\r\n0\r\n\r\n", 400),
    .init("data longer than the size", "3\r\nabcd\r\n0\r\n\r\n", 400),
    .init("bare LF after the data", "3\r\nabc\n0\r\n\r\n", 400),
    .init("bare LF at the end", "3\r\nabc\r\n0\r\n\n", 400),
    .init("trailer Content-Length", "3\r\nabc\r\n0\r\nContent-Length: 3\r\n\r\n", 400),
    .init("trailer Transfer-Encoding", "3\r\nabc\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    .init("trailer Authorization", "3\r\nabc\r\n0\r\nauthorization: Bearer a\r\n\r\n", 400),
    .init("trailer without a name", "3\r\nabc\r\n0\r\n: a\r\n\r\n", 400),
    .init("trailer with a space in its name", "3\r\nabc\r\n0\r\nX Y: a\r\n\r\n", 400),
    .init("trailer with a control character", "3\r\nabc\r\n0\r\nX: \0\r\n\r\n", 400),
    .init(
      "trailer too large", "3\r\nabc\r\n0\r\nX: \(String(repeating: "a", count: 4096))\r\n\r\n", 431
    ),
    .init("one chunk past the limit", "100001\r\n", 413),
    .init("the largest size there is", "FFFFFFFF\r\n", 413),
  ]

  @Test(arguments: heads) func `a malformed head is refused and the connection closed`(
    refused: Case
  ) throws {
    let fixture = try HTTPServerFixture()
    let client = try RawClient(port: fixture.port)
    client.send(refused.bytes)
    let answer = client.answer()
    #expect(answer.status == refused.status)
    #expect(answer.head.contains("\r\nConnection: close\r\n"))
    #expect(answer.head.contains("\r\nContent-Type: text/plain; charset=utf-8\r\n"))
    client.finishSending()
    #expect(client.isClosedByServer())
  }

  @Test(arguments: chunks) func `a malformed chunked body is refused and the connection closed`(
    refused: Case
  ) throws {
    let fixture = try HTTPServerFixture()
    let client = try RawClient(port: fixture.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + refused.bytes)
    let answer = client.answer()
    #expect(answer.status == refused.status)
    client.finishSending()
    #expect(client.isClosedByServer())
  }

  @Test func `what follows a refused request is never taken for a request`() throws {
    let fixture = try HTTPServerFixture()
    let client = try RawClient(port: fixture.port)
    client.send(
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
    client.finishSending()
    let all = client.rest()
    #expect(all.hasPrefix("HTTP/1.1 400 "))
    #expect(!all.contains("smuggled"))
  }

  @Test func `chunks together past the body limit are refused while they are read`() throws {
    let fixture = try HTTPServerFixture { $0.limits.maximumBodyBytes = 1000 }
    let client = try RawClient(port: fixture.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    let chunk = "64\r\n" + String(repeating: "a", count: 100) + "\r\n"
    for _ in 0..<11 { client.send(chunk) }
    #expect(client.answer().status == 413)
  }

  @Test func `the body of a request that is too large is not waited for`() throws {
    let fixture = try HTTPServerFixture()
    let client = try RawClient(port: fixture.port)
    client.send(
      "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5000000\r\n\r\n")
    #expect(client.answer().status == 413)
  }

  @Test func `a body that is refused may be sent whole before its response is read`() throws {
    let fixture = try HTTPServerFixture {
      $0.limits.linger = .seconds(600)
      $0.limits.body = .seconds(600)
    }
    let client = try RawClient(port: fixture.port)
    let length = 48 << 20
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n")
    let part = [UInt8](repeating: 97, count: 1 << 20)
    for _ in 0..<48 {
      let isSent = client.send(part)
      try #require(isSent)
    }
    #expect(client.answer().status == 413)
    client.finishSending()
    #expect(client.isClosedByServer())
  }

  @Test func `seeded noise never stops the server`() throws {
    let fixture = try HTTPServerFixture()
    var state: UInt64 = 42
    func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state >> 33
    }
    let good = Array(
      ("POST /a?b=c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n"
        + "5;q=1\r\nhello\r\n0\r\nT: u\r\n\r\n").utf8)
    for _ in 0..<300 {
      var bytes = good
      for _ in 0...next() % 4 {
        let at = Int(next()) % bytes.count
        switch next() % 3 {
        case 0: bytes[at] = UInt8(truncatingIfNeeded: next())
        case 1: bytes.remove(at: at)
        default: bytes.insert(UInt8(truncatingIfNeeded: next()), at: at)
        }
      }
      let client = try RawClient(port: fixture.port)
      client.send(bytes)
      client.finishSending()
      _ = client.rest()
    }
    let client = try RawClient(port: fixture.port)
    client.send("GET /alive HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(client.answer().body == "get /alive  ")
  }
}
