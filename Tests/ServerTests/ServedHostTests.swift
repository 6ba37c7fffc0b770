import GraphQLTransport
import HTTP
import HTTPTestSupport
import TestSupport
import Testing

@testable import Server

/// Which names and paths a server answers at.
@Suite(.usesCluster) struct ServedHostTests {
  private static let local = Result {
    try TestServer {
      $0.endpoint.crossOrigin.hosts = ServedHosts(at: $0.address, named: ["https://api.example"])
    }
  }

  @Test func `a page whose name was made to lead here is refused, with every path`() throws {
    let server = try Self.local.get()
    for path in ["/graphql?query=%7B__typename%7D", "/ready", "/"] {
      for (host, isServed) in [("evil.example", false), ("api.example:80", true)] {
        let answer = try server.send(
          Array("GET \(path) HTTP/1.1\r\nHost: \(host)\r\nOrigin: http://\(host)\r\n\r\n".utf8))
        #expect((answer.status == 403) == !isServed, "\(path) of \(host)")
      }
    }
    let client = try RawClient(port: server.port)
    let handshake = WebSocketClient.handshake(protocols: "graphql-transport-ws")
    client.send(handshake.replacing(/Host: [^\r]*/, with: "Host: evil.example"))
    #expect(client.answer().status == 403)
  }

  @Test func `a slash at the end of a path is none`() throws {
    let server = try TestServer.shared
    #expect(try server.get("/graphql/?query=%7B__typename%7D").status == 200)
    #expect(try server.get("/graphql//?query=%7B__typename%7D").status == 404)
    #expect(try server.get("/ready/").status == 200)
  }

  @Test func `a credential may be wrapped in headers of connection_init`() throws {
    let server = try TestServer.shared
    let token = try SocketTests.token(server.database)
    let socket = try GraphQLSocket(
      port: server.port, payload: #"{"headers":{"Authorization":"Bearer \#(token)"}}"#)
    socket.subscribe("a", "{ viewer { user { username } } }")
    #expect(socket.text()?.contains(#""username":"u"#) == true)
    let other = try GraphQLSocket(port: server.port, initialised: false)
    other.initialise(#"{"headers":{"authorization":"Bearer nobody"}}"#)
    #expect(other.client.closeCode() == 4403)
  }
}
