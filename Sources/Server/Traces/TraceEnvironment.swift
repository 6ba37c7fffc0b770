import Foundation

/// The settings of OpenTelemetry's environment variables: `OTEL_EXPORTER_OTLP_ENDPOINT`, `_HEADERS` and `_TIMEOUT`, each
/// also with `_TRACES`, which goes before, and `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES`.
package struct TraceEnvironment: Sendable {
  package struct Fault: Error, CustomStringConvertible {
    package let description: String
  }

  /// The URL to which traces are sent; nil without one.
  package let endpoint: String?
  /// The variable that names it.
  package let origin: String
  let headers: [(name: String, value: String)]
  let timeout: Duration?
  let attributes: [(name: String, value: String)]

  private static let exporter = "OTEL_EXPORTER_OTLP_"

  /// - Throws: a `Fault` that names the variable.
  package init(_ variables: [String: String]) throws(Fault) {
    func find(_ name: String) -> (name: String, value: String)? {
      for full in ["\(Self.exporter)TRACES_\(name)", Self.exporter + name] {
        if let value = variables[full], !value.isEmpty { return (full, value) }
      }
      return nil
    }
    let found = find("ENDPOINT")
    origin = found?.name ?? Self.exporter + "ENDPOINT"
    endpoint = found.map { name, value in
      // The general one is the address of the collector, the other that of its traces.
      guard name == Self.exporter + "ENDPOINT" else { return value }
      return (value.hasSuffix("/") ? String(value.dropLast()) : value) + "/v1/traces"
    }
    if let (name, value) = find("TIMEOUT") {
      guard let milliseconds = Int(value), (1...600_000).contains(milliseconds) else {
        throw Fault(description: "\(name) must be a number of milliseconds, not \"\(value)\".")
      }
      timeout = .milliseconds(milliseconds)
    } else {
      timeout = nil
    }
    let given = find("HEADERS")
    headers = try Self.pairs(given?.value, of: given?.name ?? "")
    for header in headers where !Self.isField(header.name, header.value) {
      throw Fault(description: "\(given?.name ?? ""): \"\(header.name)\" is not a header field.")
    }
    var attributes = try Self.pairs(
      variables["OTEL_RESOURCE_ATTRIBUTES"], of: "OTEL_RESOURCE_ATTRIBUTES")
    if let name = variables["OTEL_SERVICE_NAME"], !name.isEmpty {
      attributes.removeAll { $0.name == "service.name" }
      attributes.append(("service.name", name))
    }
    self.attributes = attributes
  }

  /// Returns the pairs of `name=value,name=value`, whose values are percent-encoded.
  private static func pairs(
    _ text: String?, of variable: String
  ) throws(Fault) -> [(name: String, value: String)] {
    var pairs: [(name: String, value: String)] = []
    for part in (text ?? "").split(separator: ",") {
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
      guard sides.count == 2, let name = sides.first?.removingPercentEncoding, !name.isEmpty,
        let value = sides.last?.removingPercentEncoding
      else {
        throw Fault(description: "\(variable) must be a list of NAME=VALUE, not \"\(part)\".")
      }
      pairs.append((name, value))
    }
    return pairs
  }

  private static func isField(_ name: String, _ value: String) -> Bool {
    name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
      && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }
}
