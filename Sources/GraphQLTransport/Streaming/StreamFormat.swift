import GraphQLResponse
import JSON

/// The HTTP form of a response of several parts.
package enum StreamFormat: Sendable, Equatable {
  /// `text/event-stream`, by graphql-sse in its distinct connections mode.
  case eventStream
  /// `multipart/mixed` with `subscriptionSpec=1.0`, for Apollo's clients. Each part carries the
  /// delimiter that follows it, because these clients read a part only after its delimiter.
  case multipart
  /// `multipart/mixed` for incremental delivery. Each part carries the delimiter that follows it
  /// here, too.
  case parts(IncrementalDelivery)

  /// Returns the format of incremental delivery to this client; nil if it accepts none.
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

  /// The format of incremental delivery; nil if the response is complete.
  package var delivery: IncrementalDelivery? {
    switch self {
    case .eventStream: .v02
    case .multipart: nil
    case .parts(let delivery): delivery
    }
  }

  /// Returns the format of a subscription for this client: a stream of events if it accepts both.
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

  /// Returns whether a range has this parameter, given in lower case, with or without quotes.
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

  /// Bytes that are sent at once, so that the client knows that the stream is open.
  package var opening: [UInt8] {
    switch self {
    case .eventStream: Array(":\n\n".utf8)
    case .multipart, .parts: Array("\r\n--graphql".utf8) + heartbeat
    }
  }

  /// The heartbeat; empty if the format needs none.
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

  /// Returns a response as one part; it is one line of JSON.
  ///
  /// - Parameter id: the event ID with which a client reconnects; only for a stream of events.
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

  /// The end of the stream.
  package var complete: [UInt8] {
    switch self {
    case .eventStream: Array("event: complete\ndata:\n\n".utf8)
    case .multipart, .parts: Array("--\r\n".utf8)
    }
  }

  /// Returns the end of the stream because of these errors.
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
