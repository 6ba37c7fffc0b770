import GraphQLLanguage
import GraphQLResponse

/// The findings of a check so far, with positions still as byte offsets.
///
/// Lines and columns are computed once, in one pass over the text, at the end: a text with
/// thousands of errors costs no more than its size. The check stops after `limit` findings.
struct Findings {
  struct Finding {
    let message: String
    let positions: [Position]
    let rule: SDLRule
  }

  /// The maximum number of findings. The reference implementation has no limits here; a text of 64
  /// KB could cause millions of findings, or some that each name thousands of positions or quote
  /// all of it.
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
