import GraphQLLanguage
import GraphQLResolving
import GraphQLResponse
import JSON

// Findings as JSON: `{"message": TEXT, "locations": [{"line": N, "column": N}, ...]}`, with the path
// of a field, the rule and the file where there is one.
extension JSONWriter {
  mutating func write(_ errors: [GraphQLError]) {
    append(UInt8(ascii: "["))
    for (index, error) in errors.enumerated() {
      if index > 0 { append(UInt8(ascii: ",")) }
      write(error)
    }
    append(UInt8(ascii: "]"))
  }

  mutating func write(_ error: GraphQLError, file: String? = nil) {
    append("{\"message\":")
    write(error.message)
    append(",\"locations\":[")
    for (index, location) in error.locations.enumerated() {
      if index > 0 { append(UInt8(ascii: ",")) }
      append("{\"line\":")
      write(location.line)
      append(",\"column\":")
      write(location.column)
      append(UInt8(ascii: "}"))
    }
    append(UInt8(ascii: "]"))
    if let path = error.path { write(path: path) }
    if error.rule != nil || file != nil { write(rule: error.rule, file: file) }
    append(UInt8(ascii: "}"))
  }

  private mutating func write(path: [PathSegment]) {
    append(",\"path\":[")
    for (index, segment) in path.enumerated() {
      if index > 0 { append(UInt8(ascii: ",")) }
      switch segment {
      case .name(let name): write(name)
      case .index(let index): write(index)
      }
    }
    append(UInt8(ascii: "]"))
  }

  private mutating func write(rule: String?, file: String?) {
    append(",\"extensions\":{")
    if let rule {
      append("\"rule\":")
      write(rule)
    }
    if let file {
      append(rule == nil ? "\"file\":" : ",\"file\":")
      write(file)
    }
    append(UInt8(ascii: "}"))
  }

  /// Writes `ok` with the printed text, if any, or the findings.
  mutating func finding(_ body: () throws(Findings) -> String?) {
    do throws(Findings) {
      let printed = try body()
      append(",\"ok\":true")
      if let printed {
        append(",\"printed\":")
        write(printed)
      }
    } catch {
      append(",\"ok\":false,\"errors\":")
      write(error.errors)
    }
  }

  /// Writes `ok` and the response of the specification: no `data` if it was not executed.
  mutating func result(_ body: () throws(Findings) -> ExecutionResult) {
    do throws(Findings) {
      let result = try body()
      append(result.errors.isEmpty ? ",\"ok\":true" : ",\"ok\":false")
      append(",\"result\":{\"data\":")
      append(result.data)
      if !result.errors.isEmpty {
        append(",\"errors\":")
        write(result.errors)
      }
    } catch {
      append(",\"ok\":false,\"result\":{\"errors\":")
      write(error.errors)
    }
    append(UInt8(ascii: "}"))
  }
}
