import JSON

extension JSONWriter {
  /// Writes the entries of `errors`, in brackets. GraphQL September 2025, 7.1.2 Errors.
  ///
  /// - Parameter requestID: the ID that goes into each entry's `extensions`, so that a report can
  ///   be found in the log.
  package mutating func write(_ errors: [GraphQLError], requestID: String) {
    append("[")
    for (index, error) in errors.enumerated() {
      if index > 0 { append(UInt8(ascii: ",")) }
      write(error, requestID: requestID)
    }
    append("]")
  }

  /// Returns `{"errors":[...]}`: the complete response to a request that was not executed.
  package static func response(_ errors: [GraphQLError], requestID: String) -> [UInt8] {
    var writer = JSONWriter(capacity: 256)
    writer.append("{\"errors\":")
    writer.write(errors, requestID: requestID)
    writer.append("}")
    return writer.finish()
  }

  private mutating func write(_ error: GraphQLError, requestID: String) {
    append("{\"message\":")
    write(error.message)
    if !error.locations.isEmpty {
      append(",\"locations\":[")
      for (index, location) in error.locations.enumerated() {
        append(index > 0 ? ",{\"line\":" : "{\"line\":")
        write(location.line)
        append(",\"column\":")
        write(location.column)
        append(UInt8(ascii: "}"))
      }
      append(UInt8(ascii: "]"))
    }
    if let path = error.path {
      append(",\"path\":")
      write(path)
    }
    append(",\"extensions\":{\"code\":")
    write(error.code.rawValue)
    append(",\"requestId\":")
    write(requestID)
    append("}}")
  }

  package mutating func write(_ path: [PathSegment]) {
    append("[")
    for (index, segment) in path.enumerated() {
      if index > 0 { append(UInt8(ascii: ",")) }
      switch segment {
      case .name(let name): write(name)
      case .index(let number): write(number)
      }
    }
    append(UInt8(ascii: "]"))
  }
}
