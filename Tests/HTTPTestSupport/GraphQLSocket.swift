import JSON

/// A client of graphql-transport-ws that sends exactly the messages it is given.
package final class GraphQLSocket {
  package struct NotAcknowledged: Error {}

  package let client: WebSocketClient

  /// - Parameter initialised: `connection_init` is sent, and must be acknowledged.
  package init(
    port: UInt16, initialised: Bool = true, payload: String? = nil,
    protocols: String? = "graphql-transport-ws", headers: String = "", receiveBuffer: Int32? = nil
  ) throws {
    client = try WebSocketClient(
      port: port, protocols: protocols, headers: headers, receiveBuffer: receiveBuffer)
    guard initialised else { return }
    initialise(payload)
    guard text() == #"{"type":"connection_ack"}"# else { throw NotAcknowledged() }
  }

  package func initialise(_ payload: String? = nil) {
    client.send(#"{"type":"connection_init"\#(payload.map { #","payload":\#($0)"# } ?? "")}"#)
  }

  package func subscribe(
    _ id: String, _ document: String, _ variables: JSONValue = .object([]),
    extensions: JSONValue = .object([])
  ) {
    let message = JSONValue.object([
      JSONValue.Member(name: "id", value: .string(id)),
      JSONValue.Member(name: "type", value: .string("subscribe")),
      JSONValue.Member(
        name: "payload",
        value: .object([
          JSONValue.Member(name: "query", value: .string(document)),
          JSONValue.Member(name: "variables", value: variables),
          JSONValue.Member(name: "extensions", value: extensions),
        ])),
    ])
    client.send("\(message)")
  }

  package func complete(_ id: String) { client.send(#"{"id":"\#(id)","type":"complete"}"#) }

  /// The next message as text; nil when the socket ends instead.
  package func text() -> String? {
    guard let frame = client.message(), frame.opcode == 1 else { return nil }
    return frame.text
  }

  /// The next message.
  package func message() -> JSONValue? { text().flatMap { try? JSONParser.parse(Array($0.utf8)) } }

  /// The messages of one operation up to its end, by their types; those of others are an error.
  package func answer(_ id: String) -> [(type: String, payload: JSONValue?)] {
    var found: [(type: String, payload: JSONValue?)] = []
    while let message = message() {
      guard message["id"] == .string(id), case .string(let type)? = message["type"] else {
        return found
      }
      found.append((type, message["payload"]))
      if type != "next" { return found }
    }
    return found
  }
}
