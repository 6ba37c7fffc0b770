import GraphQLLanguage
import GraphQLSchema
import JSON

/// What clients use of a schema: the counts of one event loop, or the sum of several.
package struct UsageReport: Sendable {
  package struct Operation: Sendable {
    /// The name, or nil for an anonymous operation.
    package let name: String?
    /// The first digits of the hash of its document.
    package let document: String
    package let kind: OperationKind
    package let coordinates: [SchemaCoordinate]
    package fileprivate(set) var executions: [ClientProgram: UInt64]
  }

  package internal(set) var operations: [Operation] = []
  /// The executions of operations that were executed too rarely to be kept.
  package internal(set) var rest: [SchemaCoordinate: [ClientProgram: UInt64]] = [:]

  package init() {}

  /// Adds the counts of another event loop.
  package mutating func add(_ other: UsageReport) {
    var places: [String: Int] = [:]
    for (place, operation) in operations.enumerated() { places[operation.key] = place }
    for operation in other.operations {
      if let place = places[operation.key] {
        operations[place].executions.merge(operation.executions, uniquingKeysWith: &+)
      } else {
        operations.append(operation)
      }
    }
    for (coordinate, executions) in other.rest {
      rest[coordinate, default: [:]].merge(executions, uniquingKeysWith: &+)
    }
  }

  /// The executions by element and client.
  package var elements: [SchemaCoordinate: [ClientProgram: UInt64]] {
    var elements = rest
    for operation in operations {
      for coordinate in operation.coordinates {
        elements[coordinate, default: [:]].merge(operation.executions, uniquingKeysWith: &+)
      }
    }
    return elements
  }

  /// The report as JSON, the most used first.
  ///
  /// - Parameters:
  ///   - schema: says what is deprecated.
  ///   - since: the start of counting, by RFC 3339.
  package func json(_ schema: Schema, since: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.append("{\"format\":\"sociograph-usage/1\",\"since\":")
    writer.write(since)
    writer.append(",\"coordinates\":[")
    let listed = elements.map {
      (text: $0.key.description, coordinate: $0.key, executions: $0.value, total: $0.value.total)
    }.sorted { $0.total != $1.total ? $0.total > $1.total : $0.text < $1.text }
    for (index, element) in listed.enumerated() {
      writer.append(index > 0 ? ",{\"coordinate\":" : "{\"coordinate\":")
      writer.write(element.text)
      if let reason = schema.deprecationReason(of: element.coordinate) {
        writer.append(",\"deprecated\":")
        writer.write(reason)
      }
      write(element.executions, to: &writer)
      writer.append("}")
    }
    writer.append("],\"operations\":[")
    let sorted = operations.sorted {
      let (left, right) = ($0.executions.total, $1.executions.total)
      return left != right ? left > right : $0.key < $1.key
    }
    for (index, operation) in sorted.enumerated() {
      writer.append(index > 0 ? ",{\"name\":" : "{\"name\":")
      if let name = operation.name { writer.write(name) } else { writer.writeNull() }
      writer.append(",\"document\":")
      writer.write(operation.document)
      writer.append(",\"type\":")
      writer.write(operation.kind.rawValue)
      write(operation.executions, to: &writer)
      writer.append(",\"coordinates\":[")
      for (place, text) in operation.coordinates.map(\.description).sorted().enumerated() {
        if place > 0 { writer.append(",") }
        writer.write(text)
      }
      writer.append("]}")
    }
    writer.append("]}\n")
    return writer.finish()
  }

  private func write(_ executions: [ClientProgram: UInt64], to writer: inout JSONWriter) {
    writer.append(",\"executions\":")
    writer.write(Int64(clamping: executions.total))
    writer.append(",\"clients\":[")
    let sorted = executions.sorted { $0.value != $1.value ? $0.value > $1.value : $0.key < $1.key }
    for (index, client) in sorted.enumerated() {
      writer.append(index > 0 ? ",{\"name\":" : "{\"name\":")
      writer.write(client.key.name)
      writer.append(",\"version\":")
      writer.write(client.key.version)
      writer.append(",\"executions\":")
      writer.write(Int64(clamping: client.value))
      writer.append("}")
    }
    writer.append("]")
  }
}

extension UsageReport.Operation {
  fileprivate var key: String { "\(document) \(name ?? "")" }
}

extension [ClientProgram: UInt64] {
  package var total: UInt64 { values.reduce(0, &+) }
}
