import GraphQLResponse
import JSON
import Postgres

/// Writing `data` from the result of a statement.
extension ResponseWriter {
  /// Why there is no `data`.
  enum Failure: Error {
    /// The statement did not return one row.
    case noRecord
    /// The record, or the response, is larger than a response may be.
    case tooLarge
  }

  init(
    _ shape: ShapeProgram, json: JSONWriter, _ settings: ExecutionSettings,
    frames: RecordFrames = RecordFrames(), introspection: [String: [UInt8]] = [:],
    secret: String? = nil, onError: ErrorBehavior, introspectionBytes: Int = 0
  ) {
    self.init(
      shape, json: json, frames: frames, introspection: introspection,
      cursorSigner: settings.cursorSigner, secret: secret,
      maximumBytes: settings.maximumResponseBytes + introspectionBytes,
      maximumItems: settings.plannerLimits.maximumElements, onError: onError)
  }

  /// Begins the response to an operation: `{"data":`.
  init(
    _ operation: PreparedOperation, _ shape: ShapeProgram, _ settings: ExecutionSettings,
    frames: RecordFrames
  ) {
    self.init(
      shape, json: JSONWriter(capacity: operation.plan.expectedBytes), settings, frames: frames,
      introspection: operation.introspection ?? operation.plan.introspection,
      onError: operation.onError, introspectionBytes: operation.introspectionBytes)
    json.append(#"{"data":"#)
  }

  /// Writes the value of `data` from the record that a plan's statement returned.
  mutating func writeData(
    from result: borrowing PostgresResult, column: Int = 0
  ) throws(Failure) {
    guard result.rowCount == 1 else { throw .noRecord }
    let isThere: Void? = result.withValue(row: 0, column: column) { bytes in writeData(bytes) }
    guard isThere != nil else { throw .noRecord }
    if isTooLarge { throw .tooLarge }
  }

  /// Writes the value of `data` where nothing of it is in the database.
  mutating func writeDataWithoutRecord() throws(Failure) {
    let nothing: [UInt8] = []
    unsafe writeData(nothing.span.bytes)
    if isTooLarge { throw .tooLarge }
  }
}
