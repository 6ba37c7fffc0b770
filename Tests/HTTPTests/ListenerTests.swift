import EventLoops
import Foundation
import HTTP
import HTTPTestSupport
import TestSupport
import Testing

@Suite(.blocks) struct ListenerTests {
  @Test(arguments: [
    ("127.0.0.1:8080", "127.0.0.1:8080"), ("[::1]:80", "[::1]:80"), ("localhost:0", "localhost:0"),
    ("*:8080", "*:8080"), (":8080", "*:8080"), ("unix:/run/a", "unix:/run/a"),
  ]) func `an address is read and printed`(text: String, printed: String) {
    #expect(HTTPAddress(text)?.description == printed)
  }

  @Test(arguments: [
    "", "8080", "localhost", "localhost:", "localhost:65536", "localhost:-1", "localhost:http",
    "::1:80", "[::1]", "[host]:80", "unix:", "unix:\(String(repeating: "a", count: 108))",
  ]) func `what is no address is refused`(text: String) {
    #expect(HTTPAddress(text) == nil)
  }

  @Test func `each loop gets a socket of the same port`() throws {
    let listeners = try HTTPListener.open(.tcp(host: "127.0.0.1", port: 0), count: 3)
    #expect(Set(listeners.map(\.address)).count == 1)
    #expect(listeners.count == 3)
  }

  @Test func `a port that is taken is refused although ports may be shared`() throws {
    let taken = try HTTPListener.open(.tcp(host: "127.0.0.1", port: 0))
    #expect(throws: HTTPListenError.self) { try HTTPListener.open(taken[0].address) }
  }

  @Test func `a host that does not exist is refused`() throws {
    #expect(throws: HTTPListenError.self) {
      try HTTPListener.open(.tcp(host: "host.invalid", port: 0))
    }
  }

  @Test func `a Unix socket is served, refused to a second server, and removed at the end`() throws
  {
    let path = FileManager.default.temporaryDirectory.appending(
      path: "sociograph-\(UUID().uuidString.prefix(8)).socket"
    ).path
    var fixture: HTTPServerFixture? = try HTTPServerFixture(at: .unix(path: path))
    let (status, output) = try TLSTests.run(
      "curl", "--silent", "--unix-socket", path, "http://localhost/u")
    #expect(status == 0)
    #expect(output == "get /u  ")
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o666)
    #expect(throws: HTTPListenError.self) { try HTTPListener.open(.unix(path: path)) }
    #expect(fixture != nil)
    fixture = nil
    for _ in 0..<12_000 where FileManager.default.fileExists(atPath: path) { usleep(5000) }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `a socket file left by a server that was killed is taken over`() throws {
    let path = FileManager.default.temporaryDirectory.appending(
      path: "sociograph-\(UUID().uuidString.prefix(8)).socket"
    ).path
    let left = try TLSTests.run(
      "python3", "-c", "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])", path)
    #expect(left.status == 0)
    #expect(FileManager.default.fileExists(atPath: path))
    let fixture = try HTTPServerFixture(at: .unix(path: path))
    #expect(
      try TLSTests.run("curl", "--silent", "--unix-socket", path, "http://localhost/u").output
        == "get /u  ")
    #expect(fixture.events.count >= 1)
  }

  @Test func `a file that is no socket is left alone`() throws {
    let path = FileManager.default.temporaryDirectory.appending(
      path: "sociograph-\(UUID().uuidString.prefix(8)).txt"
    ).path
    try Data("kept".utf8).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    #expect(throws: HTTPListenError.self) { try HTTPListener.open(.unix(path: path)) }
    #expect(FileManager.default.fileExists(atPath: path))
  }
}
