import GraphQLLanguage
import GraphQLResponse

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
    let locations = source.locations(of: findings.flatMap(\.positions))
    return findings.map { finding in
      GraphQLError(
        finding.message, locations: finding.positions.compactMap { locations[$0] },
        rule: finding.rule.rawValue, code: .validationFailed)
    }
  }
}
