import GraphQLResponse
import GraphQLTransport
import JSON
import Testing

/// graphql-transport-ws, without a socket.
@Suite struct SocketMessagesTests {
  private func code(_ action: SocketMessages.Action) -> UInt16? {
    if case .close(let reason) = action { reason.code } else { nil }
  }

  private func acknowledged() -> SocketMessages {
    var messages = SocketMessages()
    _ = messages.receive(Array(#"{"type":"connection_init"}"#.utf8))
    _ = messages.acknowledge()
    return messages
  }

  private func start(_ messages: inout SocketMessages, _ id: String) -> UInt64? {
    let text = #"{"id":"\#(id)","type":"subscribe","payload":{"query":"{ __typename }"}}"#
    guard case .start(let operation, _) = messages.receive(Array(text.utf8)) else { return nil }
    return operation
  }

  private func text(_ bytes: [UInt8]?) -> String? {
    bytes.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(arguments: [
    "", "{", "[]", "null", #""ping""#, "{}", #"{"type":7}"#, #"{"type":"next","id":"1"}"#,
    #"{"type":"error","id":"1"}"#, #"{"type":"connection_ack"}"#, #"{"type":"start","id":"1"}"#,
    #"{"type":"ping","payload":1}"#, #"{"type":"pong","payload":[]}"#,
    #"{"type":"connection_init","payload":"x"}"#,
    #"{"type":"subscribe","payload":{}}"#, #"{"type":"subscribe","id":"","payload":{}}"#,
    #"{"type":"subscribe","id":1,"payload":{}}"#, #"{"type":"subscribe","id":"1"}"#,
    #"{"type":"subscribe","id":"1","payload":[]}"#, #"{"type":"complete"}"#,
    #"{"type":"complete","id":7}"#,
  ])
  func `what is no message of the protocol closes by 4400`(_ text: String) {
    var messages = SocketMessages()
    #expect(code(messages.receive(Array(text.utf8))) == 4400)
  }

  @Test func `messages nested too deep are none`() {
    var messages = SocketMessages()
    let deep = #"{"type":"ping","payload":{"a":"# + String(repeating: "[", count: 100_000)
    #expect(code(messages.receive(Array(deep.utf8))) == 4400)
  }

  @Test func `an operation before the acknowledgement closes by 4401`() {
    var messages = SocketMessages()
    let text = Array(#"{"id":"1","type":"subscribe","payload":{"query":"{ a }"}}"#.utf8)
    #expect(code(messages.receive(text)) == 4401)
    var begun = SocketMessages()
    _ = begun.receive(Array(#"{"type":"connection_init"}"#.utf8))
    #expect(code(begun.receive(text)) == 4401)
  }

  @Test func `a second connection_init closes by 4429, acknowledged or not`() {
    let again = Array(#"{"type":"connection_init"}"#.utf8)
    var messages = acknowledged()
    #expect(code(messages.receive(again)) == 4429)
    var begun = SocketMessages()
    #expect(begun.receive(again) == .authenticate(payload: []))
    #expect(code(begun.receive(again)) == 4429)
  }

  @Test func `the id of a running operation closes by 4409`() {
    var messages = acknowledged()
    #expect(start(&messages, "1") != nil)
    let again = Array(#"{"id":"1","type":"subscribe","payload":{"query":"{ b }"}}"#.utf8)
    #expect(code(messages.receive(again)) == 4409)
  }

  @Test func `an id is free again when either side has ended it, and nothing late is sent`() throws
  {
    var messages = acknowledged()
    let first = try #require(start(&messages, "1"))
    #expect(
      messages.receive(Array(#"{"id":"1","type":"complete"}"#.utf8)) == .stop(operation: first))
    let second = try #require(start(&messages, "1"))
    #expect(first != second)
    #expect(messages.next(first, Array("{}".utf8)) == nil)
    #expect(messages.complete(first) == nil)
    #expect(messages.fail(first, [], requestID: "r") == nil)
    #expect(
      text(messages.next(second, Array(#"{"data":null}"#.utf8)))
        == #"{"id":"1","type":"next","payload":{"data":null}}"#)
    #expect(text(messages.complete(second)) == #"{"id":"1","type":"complete"}"#)
    #expect(messages.next(second, Array("{}".utf8)) == nil)
    let third = try #require(start(&messages, "1"))
    let error = GraphQLError("No.", code: .badRequest)
    #expect(
      text(messages.fail(third, [error], requestID: "r"))
        == #"{"id":"1","type":"error","payload":[{"message":"No.","extensions":"#
        + #"{"code":"BAD_REQUEST","requestId":"r"}}]}"#)
    #expect(messages.complete(third) == nil)
    #expect(start(&messages, "1") != nil)
    #expect(messages.count == 1)
  }

  @Test func `both sides may end an operation at once, and unknown ids are passed over`() throws {
    var messages = acknowledged()
    let operation = try #require(start(&messages, "a"))
    #expect(messages.complete(operation) != nil)
    #expect(messages.receive(Array(#"{"id":"a","type":"complete"}"#.utf8)) == .nothing)
    #expect(messages.receive(Array(#"{"id":"never","type":"complete"}"#.utf8)) == .nothing)
  }

  @Test func `a ping is answered with its payload, before the acknowledgement too`() {
    var messages = SocketMessages()
    let pong = messages.receive(Array(#"{"type":"ping","payload":{"a":[1,"ü"]}}"#.utf8))
    #expect(pong == .send(Array(#"{"type":"pong","payload":{"a":[1,"ü"]}}"#.utf8)))
    #expect(
      messages.receive(Array(#"{"type":"ping"}"#.utf8)) == .send(Array(#"{"type":"pong"}"#.utf8)))
    #expect(messages.receive(Array(#"{"type":"pong","payload":{}}"#.utf8)) == .nothing)
  }

  @Test func `a payload that is null is none`() {
    var messages = SocketMessages()
    #expect(
      messages.receive(Array(#"{"type":"ping","payload":null}"#.utf8))
        == .send(Array(#"{"type":"pong"}"#.utf8)))
    #expect(messages.receive(Array(#"{"type":"pong","payload":null}"#.utf8)) == .nothing)
    #expect(
      messages.receive(Array(#"{"type":"connection_init","payload":null}"#.utf8))
        == .authenticate(payload: []))
  }

  @Test func `ids are quoted as JSON wants it`() throws {
    var messages = acknowledged()
    let subscribe = #"{"id":"\"\\\n","type":"subscribe","payload":{"query":"{ a }"}}"#
    guard case .start(let operation, _) = messages.receive(Array(subscribe.utf8)) else {
      Issue.record("not started")
      return
    }
    #expect(text(messages.complete(operation)) == #"{"id":"\"\\\n","type":"complete"}"#)
  }
}
