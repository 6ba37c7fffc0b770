import GraphQLLanguage

/// What a check has found so far, with places still as byte offsets.
///
/// Lines and columns are worked out once, in one sweep over the text, when all is found: a text with
/// thousands of errors costs no more than its size. Past `limit` findings the check stops.
struct Findings {
  struct Finding {
    let message: String
    let positions: [Position]
    let rule: SDLRule
  }

  /// The reference implementation has no limits here; a text of 64 KB could be made to hold
  /// millions of findings, or some that each name thousands of places or quote all of it.
  static let limit = 1_000
  private static let weightLimit = 500_000

  private(set) var findings: [Finding] = []
  private var weight = 0
  let enabled: Set<SDLRule>

  init(enabled: Set<SDLRule> = Set(SDLRule.allCases)) { self.enabled = enabled }

  var isEmpty: Bool { findings.isEmpty }
  var isFull: Bool { findings.count >= Self.limit || weight > Self.weightLimit }

  mutating func report(_ rule: SDLRule, _ message: String, at positions: [Position]) {
    guard !isFull, enabled.contains(rule) else { return }
    weight += message.utf8.count + 8 * positions.count
    findings.append(Finding(message: message, positions: positions, rule: rule))
  }

  mutating func report(_ rule: SDLRule, _ message: String, at position: Position) {
    report(rule, message, at: [position])
  }

  func errors(in source: Source) -> [GraphQLError] {
    let offsets = Set(findings.flatMap(\.positions)).sorted { $0.offset < $1.offset }
    let locations = source.locations(ofSorted: offsets)
    return findings.map { finding in
      GraphQLError(
        finding.message, locations: finding.positions.compactMap { locations[$0] },
        rule: finding.rule.rawValue)
    }
  }
}

extension Source {
  /// The lines and columns of ascending offsets, in one pass over the bytes.
  fileprivate func locations(ofSorted positions: [Position]) -> [Position: SourceLocation] {
    var locations: [Position: SourceLocation] = [:]
    locations.reserveCapacity(positions.count)
    var line = 1
    var column = 1
    var index = 0
    for position in positions {
      let end = min(Int(position.offset), bytes.count)
      while index < end {
        let byte = bytes[index]
        index += 1
        if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
          if byte == UInt8(ascii: "\r"), index < end, bytes[index] == UInt8(ascii: "\n") {
            index += 1
          }
          line += 1
          column = 1
        } else if byte & 0xC0 != 0x80 {
          column += 1
        }
      }
      locations[position] = SourceLocation(line: line, column: column)
    }
    return locations
  }
}
