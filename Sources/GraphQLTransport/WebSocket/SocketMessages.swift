import GraphQLResponse
import JSON

/// The messages of graphql-transport-ws (the protocol of the library graphql-ws), of one socket: a
/// client's message goes in, an action comes out. It knows which operations run, but not how.
///
/// An operation has a number in addition to the client's ID, which may be reused as soon as either
/// side has ended it. Late results of a number that has ended are dropped.
package struct SocketMessages {
  package static let name = "graphql-transport-ws"
  static let maximumNesting = 64
  static let maximumIDBytes = 256

  package enum Action: Equatable {
    case nothing
    case send([UInt8])
    /// Identify the client, then call `acknowledge`.
    case authenticate(payload: [JSONValue.Member])
    case start(operation: UInt64, payload: [JSONValue.Member])
    /// Stop the operation, because the client ended it.
    case stop(operation: UInt64)
    case close(SocketClose)
  }

  private enum Phase { case waiting, authenticating, acknowledged }

  private var phase = Phase.waiting
  private var numbers: [String: UInt64] = [:]
  private var ids: [UInt64: String] = [:]
  private var last: UInt64 = 0

  package init() {}

  /// The number of running operations.
  package var count: Int { ids.count }
  package var isInitialised: Bool { phase != .waiting }

  // MARK: From the client

  package mutating func receive(_ text: [UInt8]) -> Action {
    guard
      case .object(let message)? = try? JSONParser.parse(text, maximumNesting: Self.maximumNesting),
      let type = message.value("type"), case .string(let type) = type
    else { return .close(.invalidMessage("A message is a JSON object with a type.")) }
    switch type {
    case "connection_init": return initialise(message)
    case "ping": return ping(message)
    case "pong": return payload(message) == nil ? Self.noObject : .nothing
    case "subscribe": return subscribe(message)
    case "complete": return complete(message)
    default: return .close(.invalidMessage("Clients send no message of this type."))
    }
  }

  private static let noObject = Action.close(.invalidMessage("The payload must be an object."))

  /// Returns the members of the payload: none if it is absent or null, nil if it is not an object.
  private func payload(_ message: [JSONValue.Member]) -> [JSONValue.Member]? {
    switch message.value("payload") {
    case nil, .null?: []
    case .object(let members)?: members
    default: nil
    }
  }

  private mutating func initialise(_ message: [JSONValue.Member]) -> Action {
    guard let payload = payload(message) else { return Self.noObject }
    guard phase == .waiting else { return .close(.tooManyInitialisations) }
    phase = .authenticating
    return .authenticate(payload: payload)
  }

  private func ping(_ message: [JSONValue.Member]) -> Action {
    guard let payload = message.value("payload"), payload != .null else {
      return .send(Array(#"{"type":"pong"}"#.utf8))
    }
    guard case .object = payload else { return Self.noObject }
    var json = JSONWriter(capacity: 128)
    json.append(#"{"type":"pong","payload":"#)
    json.write(payload)
    json.append("}")
    return .send(json.finish())
  }

  private mutating func subscribe(_ message: [JSONValue.Member]) -> Action {
    guard let id = id(message) else {
      return .close(.invalidMessage("An operation's id must be text, and not empty."))
    }
    guard case .object(let payload)? = message.value("payload") else { return Self.noObject }
    guard phase == .acknowledged else { return .close(.unauthorized) }
    guard numbers[id] == nil else { return .close(.subscriberExists(id: id)) }
    last += 1
    numbers[id] = last
    ids[last] = id
    return .start(operation: last, payload: payload)
  }

  private mutating func complete(_ message: [JSONValue.Member]) -> Action {
    guard let id = id(message) else {
      return .close(.invalidMessage("An operation's id must be text, and not empty."))
    }
    guard let number = numbers.removeValue(forKey: id) else { return .nothing }
    ids[number] = nil
    return .stop(operation: number)
  }

  private func id(_ message: [JSONValue.Member]) -> String? {
    guard case .string(let id)? = message.value("id"), !id.isEmpty,
      id.utf8.count <= Self.maximumIDBytes
    else { return nil }
    return id
  }

  // MARK: To the client

  /// Returns the acknowledgment. Call when the client is identified, before sending the message.
  package mutating func acknowledge() -> [UInt8] {
    phase = .acknowledged
    return Array(#"{"type":"connection_ack"}"#.utf8)
  }

  package func isRunning(_ operation: UInt64) -> Bool { ids[operation] != nil }

  /// Returns the message of a response, `{"data": ...}`, of an operation; nil if it has ended.
  package func next(_ operation: UInt64, _ response: [UInt8]) -> [UInt8]? {
    guard let id = ids[operation] else { return nil }
    var json = JSONWriter(capacity: response.count + id.utf8.count + 64)
    json.append(#"{"id":"#)
    json.write(id)
    json.append(#","type":"next","payload":"#)
    json.append(response)
    json.append("}")
    return json.finish()
  }

  /// Ends an operation and returns the message; nil if the client has ended it already.
  package mutating func complete(_ operation: UInt64) -> [UInt8]? {
    guard let id = end(operation) else { return nil }
    var json = JSONWriter(capacity: 64)
    json.append(#"{"id":"#)
    json.write(id)
    json.append(#","type":"complete"}"#)
    return json.finish()
  }

  /// Ends an operation that has no data, and returns the message; nil if the client has ended it.
  package mutating func fail(
    _ operation: UInt64, _ errors: [GraphQLError], requestID: String
  ) -> [UInt8]? {
    guard let id = end(operation) else { return nil }
    var json = JSONWriter(capacity: 256)
    json.append(#"{"id":"#)
    json.write(id)
    json.append(#","type":"error","payload":"#)
    json.write(errors, requestID: requestID)
    json.append("}")
    return json.finish()
  }

  private mutating func end(_ operation: UInt64) -> String? {
    guard let id = ids.removeValue(forKey: operation) else { return nil }
    numbers[id] = nil
    return id
  }
}

extension [JSONValue.Member] {
  func value(_ name: String) -> JSONValue? { first { $0.isNamed(name) }?.value }
}
