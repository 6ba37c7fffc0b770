import GraphQLResponse
import JSON

/// How an answer of several parts is dressed for HTTP.
package enum StreamFormat: Sendable, Equatable {
  /// `text/event-stream`, as graphql-sse has it in its distinct connections mode.
  case eventStream
  /// `multipart/mixed` with `subscriptionSpec=1.0`, as Apollo's clients take it. Each part carries the delimiter that
  /// follows it, since they read a part only once they see that.
  case multipart
  /// `multipart/mixed` for an answer whose parts come later. Each part carries the delimiter that follows it here, too.
  case parts(IncrementalDelivery)

  /// How the parts of a query's answer are sent to this client, if it takes them.
  package static func ofParts(accept: String?) -> StreamFormat? {
    guard let accept else { return nil }
    var takesEvents = false
    for text in MediaRange.split(accept[...], at: ",") {
      guard let range = MediaRange(text), range.quality > 0 else { continue }
      switch range.type {
      case "multipart/mixed":
        if has("incrementalspec=v0.2", text) { return .parts(.v02) }
        if has("deferspec=20220824", text) { return .parts(.v20220824) }
      case "text/event-stream": takesEvents = true
      default: break
      }
    }
    return takesEvents ? .eventStream : nil
  }

  /// What of a query's answer comes later in this form; nil where it is whole.
  package var delivery: IncrementalDelivery? {
    switch self {
    case .eventStream: .v02
    case .multipart: nil
    case .parts(let delivery): delivery
    }
  }

  /// What the client takes for a subscription; a stream of events where it takes both.
  package init?(accept: String?) {
    guard let accept else { return nil }
    let ranges = MediaRange.split(accept[...], at: ",").compactMap { text in
      MediaRange(text).map { (range: $0, text: text) }
    }
    if ranges.contains(where: { $0.range.type == "text/event-stream" && $0.range.quality > 0 }) {
      self = .eventStream
    } else if ranges.contains(where: {
      $0.range.type == "multipart/mixed" && $0.range.quality > 0
        && Self.has("subscriptionspec=1.0", $0.text)
    }) {
      self = .multipart
    } else {
      return nil
    }
  }

  /// Whether a range has this parameter, given in lower case, perhaps in quotes.
  private static func has(_ parameter: String, _ range: Substring) -> Bool {
    MediaRange.split(range, at: ";").dropFirst().contains { text in
      text.filter { $0 != " " && $0 != "\t" && $0 != "\"" }.lowercased() == parameter
    }
  }

  package var contentType: String {
    switch self {
    case .eventStream: "text/event-stream; charset=utf-8"
    // Without quotes, as gql compares it; all others read both.
    case .multipart: "multipart/mixed;boundary=graphql;subscriptionSpec=1.0"
    case .parts(.v20220824): "multipart/mixed;boundary=graphql;deferSpec=20220824"
    case .parts(.v02): "multipart/mixed;boundary=graphql;incrementalSpec=v0.2"
    }
  }

  /// Sent at once, so that the client knows that somebody listens.
  package var opening: [UInt8] {
    switch self {
    case .eventStream: Array(":\n\n".utf8)
    case .multipart, .parts: Array("\r\n--graphql".utf8) + heartbeat
    }
  }

  /// Nothing where none is needed.
  package var heartbeat: [UInt8] {
    switch self {
    case .eventStream: Array(":\n\n".utf8)
    case .multipart: Self.part("{}")
    case .parts: []
    }
  }

  private static func part(_ json: String) -> [UInt8] {
    Array("\r\ncontent-type: application/json\r\n\r\n\(json)\r\n--graphql".utf8)
  }

  /// A response, one line of JSON.
  ///
  /// - Parameter id: by which a client that comes back says what it had; of a stream of events.
  package func next(_ response: [UInt8], id: String?) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(response.count + 96)
    switch self {
    case .eventStream:
      bytes += "event: next\n".utf8
      if let id { bytes += "id: \(id)\n".utf8 }
      bytes += "data: ".utf8
      bytes += response
      bytes += "\n\n".utf8
    case .multipart:
      bytes += "\r\ncontent-type: application/json\r\n\r\n{\"payload\":".utf8
      bytes += response
      bytes += "}\r\n--graphql".utf8
    case .parts:
      bytes += "\r\ncontent-type: application/json\r\n\r\n".utf8
      bytes += response
      bytes += "\r\n--graphql".utf8
    }
    return bytes
  }

  /// Nothing follows.
  package var complete: [UInt8] {
    switch self {
    case .eventStream: Array("event: complete\ndata:\n\n".utf8)
    case .multipart, .parts: Array("--\r\n".utf8)
    }
  }

  /// Nothing follows, for these errors.
  package func failure(_ errors: [GraphQLError], requestID: String) -> [UInt8] {
    switch self {
    case .eventStream, .parts:
      return next(JSONWriter.response(errors, requestID: requestID), id: nil) + complete
    case .multipart:
      var json = JSONWriter(capacity: 256)
      json.append(#"{"payload":null,"errors":"#)
      json.write(errors, requestID: requestID)
      json.append("}")
      return Self.part(String(decoding: json.finish(), as: UTF8.self)) + complete
    }
  }
}
