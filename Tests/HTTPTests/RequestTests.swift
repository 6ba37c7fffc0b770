import Dispatch
import EventLoops
import Glibc
import HTTP
import HTTPTestSupport
import Synchronization
import TestSupport
import Testing

@Suite(.blocks) struct RequestTests {
  @Test func `requests on one connection are answered one after the other`() throws {
    let fixture = try HTTPServerFixture()
    let client = try RawClient(port: fixture.port)
    for number in 0..<3 {
      client.send("GET /\(number)?q=%20 HTTP/1.1\r\nHost: a\r\n\r\n")
      let answer = client.answer()
      #expect(answer.status == 200)
      #expect(answer.body == "get /\(number) q=%20 ")
      #expect(!answer.head.contains("Connection:"))
      #expect(answer.head.contains("\r\nDate: "))
    }
  }

  @Test func `requests sent ahead are answered in order although later ones are quicker`() throws {
    let loops = Mutex<EventLoop?>(nil)
    let fixture = try HTTPServerFixture.answering { request, exchange in
      let delay = 40 - 10 * (Int(request.path.dropFirst()) ?? 0)
      let loop = loops.withLock { $0 }
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(delay)) {
        loop?.execute { HTTPServerFixture.echo(request, exchange) }
      }
    }
    loops.withLock { $0 = fixture.loop }
    let client = try RawClient(port: fixture.port)
    client.send(
      (0..<4).map { "POST /\($0) HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n\($0)" }.joined())
    for number in 0..<4 { #expect(client.answer().body == "post /\(number)  \(number)") }
  }

  @Test func `a QUERY is framed as a POST, and its name is read to the letter`() throws {
    let fixture = try HTTPServerFixture()
    let client = try RawClient(port: fixture.port)
    let requests = [
      ("QUERY /p?a=b HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab", "query /p a=b ab"),
      (
        "QUERY /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nk\r\n0\r\n\r\n",
        "query /p  k"
      ),
      ("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx", "post /p  x"),
      ("QUERY /p HTTP/1.1\r\nHost: a\r\n\r\n", "query /p  "),
    ]
    for (request, answer) in requests {
      client.send(request)
      #expect(client.answer().body == answer)
    }
    client.send(requests.map(\.0).joined())
    for (_, answer) in requests { #expect(client.answer().body == answer) }
    for (line, status) in [
      ("QUERYX / HTTP/1.1", 405), ("query / HTTP/1.1", 405), ("QUER / HTTP/1.1", 405),
      ("QUERY  / HTTP/1.1", 400), ("QUERY * HTTP/1.1", 400), ("QUERY / HTTP/2.0", 505),
    ] {
      let other = try RawClient(port: fixture.port)
      other.send("\(line)\r\nHost: a\r\n\r\n")
      let answer = other.answer()
      #expect(answer.status == status, "\(line): \(answer.head)")
    }
  }

  @Test func `a head that repeats brings its own body, one that differs is read anew`() throws {
    let fixture = try HTTPServerFixture()
    let client = try RawClient(port: fixture.port)
    let post = "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n"
    let chunked = "POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    let requests = [
      (post + "ab", "post /p  ab"), (post + "cd", "post /p  cd"), (post + "ef", "post /p  ef"),
      (post.replacing("/p", with: "/q") + "gh", "post /q  gh"), (post + "ij", "post /p  ij"),
      (chunked + "1\r\nk\r\n0\r\n\r\n", "post /p  k"),
      (chunked + "2\r\nlm\r\n0\r\n\r\n", "post /p  lm"),
      ("GET /p HTTP/1.1\r\nHost: a\r\n\r\n", "get /p  "),
      ("GET /p HTTP/1.1\r\nHost: a\r\n\r\n", "get /p  "),
      ("GET /p HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n", "get /p  "),
    ]
    for (request, answer) in requests {
      client.send(request)
      #expect(client.answer().body == answer)
    }
    client.send(requests.map(\.0).joined())
    for (_, answer) in requests { #expect(client.answer().body == answer) }
    // The head of a refused request is not remembered as one that was read.
    client.send(
      String(repeating: "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", count: 2))
    #expect(client.answer().status == 400)
    #expect(client.rest() == "")
  }

  @Test func `a thousand requests sent at once are all answered in order`() throws {
    let fixture = try HTTPServerFixture { $0.limits.maximumRequestsPerConnection = 2000 }
    let client = try RawClient(port: fixture.port)
    client.send((0..<1000).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
    for number in 0..<1000 { #expect(client.answer().body == "get /\(number)  ") }
  }

  @Test func `a request split at any byte is the same request`() throws {
    let fixture = try HTTPServerFixture()
    let client = try RawClient(port: fixture.port)
    let bytes = Array(
      ("POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "5;x=y\r\nhello\r\n001\r\n!\r\n0\r\nX-Check: 1\r\n\r\n").utf8)
    for split in 1..<bytes.count {
      client.send(Array(bytes[..<split]))
      usleep(500)
      client.send(Array(bytes[split...]))
      #expect(client.answer().body == "post /p  hello!", "split at \(split)")
    }
  }

  @Test func `a request arriving byte by byte is the same request`() throws {
    let fixture = try HTTPServerFixture()
    let client = try RawClient(port: fixture.port)
    for byte in "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok".utf8 {
      client.send([byte])
    }
    #expect(client.answer().body == "post /p  ok")
  }

  @Test func `a body of the largest size arrives whole`() throws {
    let fixture = try HTTPServerFixture.answering { request, exchange in
      let sum = request.body.reduce(0) { $0 &+ UInt64($1) }
      exchange.respond(contentType: "text/plain", body: Array("\(request.body.count) \(sum)".utf8))
    }
    let body = (0..<1_048_576).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let sum = body.reduce(0) { $0 &+ UInt64($1) }
    let client = try RawClient(port: fixture.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.count)\r\n\r\n")
    client.send(body)
    #expect(client.answer().body == "1048576 \(sum)")
    client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    client.send("80000\r\n")
    client.send(Array(body[..<524_288]))
    client.send("\r\n80000\r\n")
    client.send(Array(body[524_288...]))
    client.send("\r\n0\r\n\r\n")
    #expect(client.answer().body == "1048576 \(sum)")
  }

  @Test func `a client that expects 100-continue gets it before the body is read`() throws {
    let fixture = try HTTPServerFixture()
    let client = try RawClient(port: fixture.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
    #expect(client.answer().status == 100)
    client.send("ok")
    #expect(client.answer().body == "post /  ok")
  }

  @Test func `no 100-continue when the body is there already, nor on HTTP 1 dot 0`() throws {
    let fixture = try HTTPServerFixture()
    let client = try RawClient(port: fixture.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\nok")
    #expect(client.answer().status == 200)
    let old = try RawClient(port: fixture.port)
    old.send("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
    usleep(20_000)
    old.send("ok")
    #expect(old.answer().status == 200)
  }

  @Test func `HEAD gets the length but not the body`() throws {
    let fixture = try HTTPServerFixture()
    let client = try RawClient(port: fixture.port)
    client.send("HEAD /h HTTP/1.1\r\nHost: a\r\n\r\nGET /g HTTP/1.1\r\nHost: a\r\n\r\n")
    let head = client.answer(isHead: true)
    #expect(head.head.contains("\r\nContent-Length:          9\r\n"))
    #expect(client.answer().body == "get /g  ")
  }

  @Test func `HTTP 1 dot 0 closes unless it asks to be kept`() throws {
    let fixture = try HTTPServerFixture()
    let closing = try RawClient(port: fixture.port)
    closing.send("GET / HTTP/1.0\r\n\r\n")
    #expect(closing.answer().head.contains("\r\nConnection: close\r\n"))
    #expect(closing.isClosedByServer())
    let kept = try RawClient(port: fixture.port)
    kept.send("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
    #expect(kept.answer().head.contains("\r\nConnection: keep-alive\r\n"))
    kept.send("GET /2 HTTP/1.0\r\n\r\n")
    #expect(kept.answer().body == "get /2  ")
  }

  @Test func `a client that asks for it is closed after its answer`() throws {
    let fixture = try HTTPServerFixture()
    let client = try RawClient(port: fixture.port)
    client.send(
      "GET /1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(client.answer().body == "get /1  ")
    #expect(client.rest() == "")
    #expect(client.isClosed)
  }

  @Test func `a connection is closed after its last permitted request`() throws {
    let fixture = try HTTPServerFixture { $0.limits.maximumRequestsPerConnection = 2 }
    let client = try RawClient(port: fixture.port)
    client.send(String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: 3))
    #expect(!client.answer().head.contains("Connection:"))
    #expect(client.answer().head.contains("\r\nConnection: close\r\n"))
    #expect(client.rest() == "")
  }

  @Test func `fields are found in any case and their values without white space around them`()
    throws
  {
    let fixture = try HTTPServerFixture.answering { request, exchange in
      let list = request.headerList("x-list") ?? "none"
      let single = request.header("x-single") ?? "none"
      exchange.respond(
        contentType: "text/plain", headers: [HTTPField("X-Sent", "a\r\nX-Injected: b")],
        body: Array("\(list)|\(single)|\(request.hasHeader("x-empty"))|\(request.peer)".utf8))
    }
    let client = try RawClient(port: fixture.port)
    client.send(
      "GET / HTTP/1.1\r\nhOST: a\r\nX-List: 1\r\nx-LIST:2\r\nX-Single: \t v w \t\r\nX-Empty:\r\n\r\n"
    )
    let answer = client.answer()
    #expect(answer.body == "1, 2|v w|true|127.0.0.1")
    #expect(answer.head.contains("\r\nX-Sent: a  X-Injected: b\r\n"))
  }

  @Test func `the absolute form of a target is understood`() throws {
    let fixture = try HTTPServerFixture()
    let client = try RawClient(port: fixture.port)
    client.send("GET http://a.example:80/p?q HTTP/1.1\r\nHost: a.example\r\n\r\n")
    #expect(client.answer().body == "get /p q ")
    client.send("OPTIONS * HTTP/1.1\r\nHost: a.example\r\n\r\n")
    #expect(client.answer().body == "options *  ")
  }

  @Test func `an offer to change the protocol is passed over`() throws {
    let fixture = try HTTPServerFixture()
    let client = try RawClient(port: fixture.port)
    client.send(
      "POST /1 HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
        + "HTTP2-Settings: AAEA\r\nContent-Length: 1\r\n\r\nx")
    #expect(client.answer().body == "post /1  x")
    client.send("GET /2 HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(client.answer().body == "get /2  ")
  }

  @Test func `a body of known length is announced as it is`() throws {
    let fixture = try HTTPServerFixture.answering { _, exchange in
      exchange.respond(contentType: "text/plain", body: [UInt8](repeating: 0x61, count: 1234))
    }
    let client = try RawClient(port: fixture.port)
    client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(client.answer(isHead: true).head.hasSuffix("\r\nContent-Length: 1234\r\n\r\n"))
    #expect(client.answer().body.utf8.count == 1234)
  }

  @Test func `an empty line between requests is passed over`() throws {
    let fixture = try HTTPServerFixture()
    let client = try RawClient(port: fixture.port)
    client.send(
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n"
    )
    #expect(client.answer().body == "post /  x")
    #expect(client.answer().body == "get /2  ")
  }

  @Test func `an answer without a body has no length`() throws {
    let fixture = try HTTPServerFixture.answering { _, exchange in
      exchange.respond(.noContent, headers: [HTTPField("Allow", "GET")])
    }
    let client = try RawClient(port: fixture.port)
    client.send("OPTIONS / HTTP/1.1\r\nHost: a\r\n\r\n")
    let answer = client.answer()
    #expect(answer.head.hasPrefix("HTTP/1.1 204 No Content\r\n"))
    #expect(!answer.head.contains("Content-Length"))
  }

  @Test func `a second answer to a request is not sent`() throws {
    let fixture = try HTTPServerFixture.answering { _, exchange in
      exchange.respond(contentType: "text/plain", body: Array("first".utf8))
      exchange.respond(contentType: "text/plain", body: Array("second".utf8))
    }
    let client = try RawClient(port: fixture.port)
    client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    let all = client.rest()
    #expect(all.hasSuffix("first"))
    #expect(!all.contains("second"))
  }
}
