/// An error or warning about a schema's storage in a database, for its author: the place, the
/// problem and the remedy.
package struct StorageFinding: Sendable, Hashable, CustomStringConvertible {
  package enum Severity: String, Sendable {
    /// Responses would be wrong, or errors.
    case error
    /// Responses are correct for the current contents of the database, or slow.
    case warning
  }

  package let severity: Severity
  /// A schema coordinate, or the name of a database object.
  package let coordinate: String
  /// A message of one line.
  package let message: String

  /// The operators that statements lack for the same reason: `uuid & integer`.
  let operators: [String]

  package init(
    _ severity: Severity, _ coordinate: String, _ message: String, operators: [String] = []
  ) {
    self.severity = severity
    self.coordinate = coordinate
    self.message = message
    self.operators = operators
  }

  package var description: String { "\(severity.rawValue): \(coordinate): \(message)" }
}

extension [StorageFinding] {
  package var hasErrors: Bool { contains { $0.severity == .error } }

  /// Returns errors first, and one line for each cause: a finding about several places is reported
  /// at the first.
  func collapsed() -> [StorageFinding] {
    var places: [String: Int] = [:]
    var result: [(finding: StorageFinding, others: [String])] = []
    for finding in self {
      let key = "\(finding.severity) \(finding.message)"
      if let place = places[key] {
        if result[place].finding.coordinate != finding.coordinate,
          !result[place].others.contains(finding.coordinate)
        {
          result[place].others.append(finding.coordinate)
        }
      } else {
        places[key] = result.count
        result.append((finding, []))
      }
    }
    let lines = result.map { finding, others in
      guard !others.isEmpty else { return finding }
      let named = others.prefix(3).joined(separator: ", ")
      let rest = others.count > 3 ? " and \(others.count - 3) more" : ""
      return StorageFinding(
        finding.severity, finding.coordinate, "\(finding.message) The same: \(named)\(rest).")
    }
    return lines.filter { $0.severity == .error } + lines.filter { $0.severity == .warning }
  }
}
