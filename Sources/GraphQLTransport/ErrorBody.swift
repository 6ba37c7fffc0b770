import GraphQLLanguage
import HTTP
import JSON

/// Writes `{"errors":[...]}`: the answer to a request that was not executed.
package enum ErrorBody {
  /// - Parameters:
  ///   - requestID: goes into each error's `extensions`, so that a report can be found in the log.
  package static func bytes(_ errors: [GraphQLError], requestID: String? = nil) -> [UInt8] {
    var writer = JSONWriter(capacity: 256)
    writer.append("{\"errors\":[")
    for (index, error) in errors.enumerated() {
      if index > 0 { writer.append(UInt8(ascii: ",")) }
      write(error, requestID: requestID, to: &writer)
    }
    writer.append("]}")
    return writer.finish()
  }

  /// One entry of `errors` (GraphQL September 2025, 7.1.2).
  package static func write(
    _ error: GraphQLError, requestID: String? = nil, to writer: inout JSONWriter
  ) {
    writer.append("{\"message\":")
    writer.write(error.message)
    if !error.locations.isEmpty {
      writer.append(",\"locations\":[")
      for (index, location) in error.locations.enumerated() {
        writer.append(index > 0 ? ",{\"line\":" : "{\"line\":")
        writer.write(location.line)
        writer.append(",\"column\":")
        writer.write(location.column)
        writer.append(UInt8(ascii: "}"))
      }
      writer.append(UInt8(ascii: "]"))
    }
    if let path = error.path { write(path, to: &writer) }
    writer.append(",\"extensions\":{\"code\":")
    writer.write(error.code ?? ErrorCode.internalServerError.rawValue)
    if let requestID {
      writer.append(",\"requestId\":")
      writer.write(requestID)
    }
    writer.append("}}")
  }

  private static func write(_ path: [PathSegment], to writer: inout JSONWriter) {
    writer.append(",\"path\":[")
    for (index, segment) in path.enumerated() {
      if index > 0 { writer.append(UInt8(ascii: ",")) }
      switch segment {
      case .name(let name): writer.write(name)
      case .index(let number): writer.write(number)
      }
    }
    writer.append(UInt8(ascii: "]"))
  }

  /// What HTTP refused by itself, in the same form; it never saw a GraphQL request, so the media
  /// type is plain JSON. For `HTTPServer.Configuration.refusalBody`.
  @Sendable package static func refusal(
    _ refusal: HTTPRefusal
  ) -> (contentType: String, body: [UInt8]) {
    let error = GraphQLError(refusal.message, code: ErrorCode(refusal).rawValue)
    return (ResponseFormat.MediaType.json.contentType, bytes([error]))
  }
}
