/// A page of metrics in Prometheus' text format, version 0.0.4.
struct PrometheusText {
  enum Kind: String {
    case counter, gauge, histogram
  }

  static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  private(set) var bytes: [UInt8] = []
  private var name = ""

  /// Begins a metric; its samples follow.
  mutating func family(_ name: String, _ kind: Kind, _ help: String) {
    self.name = name
    bytes += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n".utf8
  }

  mutating func sample(_ value: some BinaryInteger, _ labels: [(String, String)] = []) {
    line("", labels, "\(value)")
  }

  mutating func sample(seconds value: Double, _ labels: [(String, String)] = []) {
    line("", labels, "\(value)")
  }

  mutating func sample(_ histogram: DurationHistogram, _ labels: [(String, String)] = []) {
    var sum: UInt64 = 0
    for place in 0..<DurationHistogram.bounds.count {
      sum &+= histogram.counts[place]
      let bound = Self.seconds(DurationHistogram.bounds[place])
      line("_bucket", labels + [("le", "\(bound)")], "\(sum)")
    }
    line("_bucket", labels + [("le", "+Inf")], "\(histogram.count)")
    line("_sum", labels, "\(Self.seconds(histogram.total))")
    line("_count", labels, "\(histogram.count)")
  }

  private static func seconds(_ nanoseconds: UInt64) -> Double { Double(nanoseconds) / 1e9 }

  private mutating func line(_ suffix: String, _ labels: [(String, String)], _ value: String) {
    bytes += name.utf8
    bytes += suffix.utf8
    if !labels.isEmpty {
      bytes += "{".utf8
      for (index, label) in labels.enumerated() {
        bytes += "\(index > 0 ? "," : "")\(label.0)=\"\(Self.escaped(label.1))\"".utf8
      }
      bytes += "}".utf8
    }
    bytes += " \(value)\n".utf8
  }

  private static func escaped(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == 0x5C || $0 == 0x22 || $0 == 0x0A }) else { return text }
    var result = ""
    for character in text.unicodeScalars {
      switch character {
      case "\\": result += "\\\\"
      case "\"": result += "\\\""
      case "\n": result += "\\n"
      default: result.unicodeScalars.append(character)
      }
    }
    return result
  }
}
