import GraphQLLanguage
import GraphQLSchema
import HTTP
import JSON

/// Writes `{"errors":[...]}`: the answer to a request that was not executed.
package enum ErrorBody {
  /// - Parameters:
  ///   - requestID: goes into each error's `extensions`, so that a report can be found in the log.
  package static func bytes(_ errors: [GraphQLError], requestID: String? = nil) -> [UInt8] {
    var writer = JSONWriter(capacity: 256)
    writer.append("{\"errors\":")
    writer.write(errors, requestID: requestID)
    writer.append("}")
    return writer.finish()
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
