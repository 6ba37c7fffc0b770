import HTTPTestSupport
import JSON

/// A client of graphql-transport-ws that says exactly what it is told to.
final class GraphQLSocket {
  let client: WebSocketClient

  /// - Parameter initialised: `connection_init` is sent, and must be acknowledged.
  init(
    _ server: TestServer, initialised: Bool = true, payload: String? = nil,
    protocols: String? = "graphql-transport-ws", headers: String = ""
  ) throws {
    client = try WebSocketClient(port: server.port, protocols: protocols, headers: headers)
    guard initialised else { return }
    initialise(payload)
    guard text() == #"{"type":"connection_ack"}"# else {
      throw TestServer.Failure(text: "The socket was not acknowledged.")
    }
  }

  func initialise(_ payload: String? = nil) {
    client.send(#"{"type":"connection_init"\#(payload.map { #","payload":\#($0)"# } ?? "")}"#)
  }

  func subscribe(_ id: String, _ document: String, _ variables: JSONValue = .object([])) {
    let message = JSONValue.object([
      JSONValue.Member(name: "id", value: .string(id)),
      JSONValue.Member(name: "type", value: .string("subscribe")),
      JSONValue.Member(
        name: "payload",
        value: .object([
          JSONValue.Member(name: "query", value: .string(document)),
          JSONValue.Member(name: "variables", value: variables),
        ])),
    ])
    client.send("\(message)")
  }

  func complete(_ id: String) { client.send(#"{"id":"\#(id)","type":"complete"}"#) }

  /// The next message as text; nil when the socket ends instead.
  func text() -> String? {
    guard let frame = client.message(), frame.opcode == 1 else { return nil }
    return frame.text
  }

  /// The next message.
  func message() -> JSONValue? { text().flatMap { try? JSONParser.parse(Array($0.utf8)) } }

  /// The messages of one operation up to its end, by their types; those of others are an error.
  func answer(_ id: String) -> [(type: String, payload: JSONValue?)] {
    var found: [(type: String, payload: JSONValue?)] = []
    while let message = message() {
      guard message["id"] == .string(id), let type = message["type"]?.text else { return found }
      found.append((type, message["payload"]))
      if type != "next" { return found }
    }
    return found
  }
}
