import Testing

@testable import HTTP

@Suite struct ClientTests {
  private func read(
    _ text: String, step: Int
  ) -> (progress: HTTPResponseReader.Progress, reader: HTTPResponseReader) {
    var reader = HTTPResponseReader()
    var rest = Array(text.utf8)[...]
    var progress = HTTPResponseReader.Progress.incomplete
    while !rest.isEmpty, progress == .incomplete {
      let part = Array(rest.prefix(step))
      unsafe part.withUnsafeBytes { unsafe reader.append($0) }
      rest = rest.dropFirst(step)
      progress = reader.advance()
    }
    return (progress, reader)
  }

  @Test(arguments: [1, 2, 7, 1000])
  func `a response is read from any pieces`(step: Int) {
    let (progress, reader) = read(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 Busy\r\nReTry-After:  7 \r\nContent-Length: 5\r\n\r\nhello",
      step: step)
    #expect(progress == .complete && reader.status == 503 && reader.keepsAlive)
    #expect(String(decoding: reader.body, as: UTF8.self) == "hello")
    #expect(reader.header("retry-after").map { String(decoding: $0, as: UTF8.self) }?.first == "7")
    #expect(reader.header("server-timing") == nil)
    #expect(reader.bodyContains("ell") && !reader.bodyContains("Retry"))
  }

  @Test(arguments: [1, 3, 1000])
  func `a chunked body is put together`(step: Int) {
    let (progress, reader) = read(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
      step: step)
    #expect(progress == .complete && reader.keepsAlive)
    #expect(String(decoding: reader.body, as: UTF8.self) == "abcde")
  }

  @Test func `a body without a length lasts until the connection ends`() {
    var (progress, reader) = read("HTTP/1.1 200 OK\r\n\r\nabc", step: 4)
    #expect(progress == .incomplete && !reader.keepsAlive)
    #expect(reader.end() == .complete && reader.body.count == 3)
    reader.reset()
    #expect(reader.status == 0 && reader.end() == .malformed)
  }

  @Test func `a connection is kept as the response says`() {
    func keeps(_ head: String) -> Bool { read(head + "\r\n\r\n", step: 1000).reader.keepsAlive }
    #expect(keeps("HTTP/1.1 204 No Content"))
    #expect(!keeps("HTTP/1.1 204 No Content\r\nConnection: close"))
    #expect(!keeps("HTTP/1.0 200 OK\r\nContent-Length: 0"))
    #expect(!read("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nmore", step: 1000).reader.keepsAlive)
  }

  @Test(arguments: [
    "nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
  ])
  func `what is no response is malformed`(text: String) {
    #expect(read(text, step: 1000).progress == .malformed)
  }

  @Test func `an endless head is malformed`() {
    let (progress, _) = read(
      "HTTP/1.1 200 OK\r\n" + String(repeating: "a: b\r\n", count: 20_000), step: 4096)
    #expect(progress == .malformed)
  }

  @Test func `a URL is a server and a path`() throws {
    let target = try #require(HTTPTarget("http://localhost:8080/graphql?x=1#top"))
    #expect(target.address == .tcp(host: "localhost", port: 8080))
    #expect(target.path == "/graphql?x=1" && target.authority == "localhost:8080")
    #expect(HTTPTarget("https://example.com")?.address == .tcp(host: "example.com", port: 443))
    #expect(HTTPTarget("http://[::1]/a")?.address == .tcp(host: "::1", port: 80))
    #expect(HTTPTarget("unix:/tmp/a.socket")?.path == "/graphql")
  }

  @Test(arguments: [
    "", "localhost:8080", "ftp://localhost/", "http://", "http://a:b@localhost/", "http://a b/",
    "http://a:99999/", "http://:80/", "http://localhost/\r\nX: y",
  ])
  func `another text is no URL`(text: String) {
    #expect(HTTPTarget(text) == nil)
  }

  @Test(arguments: [
    ("http://127.0.0.1/", true), ("http://127.8.9.1:1/", true), ("http://[::1]:1/", true),
    ("http://LocalHost/", true), ("unix:/tmp/a", true), ("http://127.0.0.1.example.com/", false),
    ("http://localhost.example.com/", false), ("http://128.0.0.1/", false),
    ("http://0.0.0.0/", false),
    ("http://[::ffff:127.0.0.1]/", false), ("http://127.1/", false), ("http://10.0.0.1/", false),
  ])
  func `a server is on this machine by its address, not by the look of its name`(
    url: String, isLocal: Bool
  ) throws {
    #expect(try #require(HTTPTarget(url)).isLocal == isLocal)
  }
}
