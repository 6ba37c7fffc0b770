import GraphQLChecking
import JSON
import OracleSupport
import TestSupport
import Testing

/// Random operations, put to `check` and to other implementations: messages, places and order of all
/// findings, and the results of those that are executed, must be equal.
@Suite(.blocks) struct DifferentialTests {
  private static let count: UInt64 = 600

  @Test(
    .enabled(
      if: Oracle.graphQLJS != nil,
      "SKIPPED: Node.js with graphql-js 16 is missing; apt-get install node-graphql."))
  func `graphql-js gives the same answers, to the letter`() throws {
    let oracle = try #require(Oracle.graphQLJS)
    try compare(with: oracle, isExact: true)
  }

  @Test(
    .enabled(
      if: Oracle.graphQLCore != nil,
      "SKIPPED: Python with graphql-core 3.3 is missing; script/oracle installs it."))
  func `graphql-core gives the same answers`() throws {
    let oracle = try #require(Oracle.graphQLCore)
    try compare(with: oracle, isExact: false)
  }

  private func compare(with oracle: Oracle, isExact: Bool) throws {
    var requests: [JSONValue] = []
    for seed in 0..<Self.count {
      var operation = RandomOperation(seed: seed)
      let op = seed % 3 == 0 && isExact ? "execute" : "validate"
      requests.append(
        .object([
          JSONValue.Member(name: "id", value: .string("\(seed)")),
          JSONValue.Member(name: "op", value: .string(op)),
          JSONValue.Member(name: "schema", value: .string(RandomOperation.schema)),
          JSONValue.Member(name: "document", value: .string(operation.document())),
          JSONValue.Member(name: "root", value: operation.root()),
          JSONValue.Member(name: "variables", value: operation.variableValues()),
        ]))
    }
    let theirs = try oracle.answers(to: requests)
    try #require(theirs.count == requests.count)
    var checker = BatchChecker()
    var differences: [String] = []
    var valid = 0
    var otherConflicts = 0
    for (request, theirs) in zip(requests, theirs) {
      var line = JSONWriter()
      line.write(request)
      let answer = checker.answer(line.finish()) ?? []
      let ours = try JSONParser.parse(answer, maximumNesting: 512)
      let result = ours["result"] ?? ours
      var found = findings(result["errors"], isExact)
      let expected = findings(theirs["errors"], isExact)
      if !isExact { found = found.filter { !isUseInScalar($0) || expected.contains($0) } }
      if expected.isEmpty { valid += 1 }
      if found != expected, agreeButInConflicts(found, expected) {
        if !Set(expected).isSubset(of: found) { otherConflicts += 1 }
      } else if found != expected || !sameData(result["data"], theirs["data"]) {
        differences.append(
          "\(request["document"] ?? .null)\n  ours: \(found)\n  theirs: \(expected)")
      }
    }
    #expect(differences.isEmpty, "\(differences.count): \(differences.prefix(3))")
    #expect(otherConflicts < requests.count / 20, "\(otherConflicts)")
    // The generator has to make both kinds.
    #expect(valid > 40 && valid < requests.count - 40, "\(valid)")
  }

  private func findings(_ errors: JSONValue?, _ isExact: Bool) -> [String] {
    guard case .array(let errors)? = errors else { return [] }
    return errors.map { error in
      var text = ""
      if case .string(let message)? = error["message"] { text = message }
      if case .array(let places)? = error["locations"] {
        for place in places {
          switch place {
          case .array(let pair): text += " @" + pair.map { "\($0)" }.joined()
          default: text += " @\(place["line"] ?? .null)\(place["column"] ?? .null)"
          }
        }
      }
      guard !isExact else { return text }
      // graphql-core 3.3 names the leaf type without its list and its mark.
      return text.replacing("'", with: "\"").replacing(/of type "\[*(\w+)[!\]]*", found/) {
        "of type \"\($0.1)\", found"
      }
    }.sorted { !isExact && $0 < $1 }  // It looks at missing fields first.
  }

  /// Returns whether a finding is about a variable inside a list at the place of a scalar, whose position
  /// has no type for graphql-core 3.3.
  private func isUseInScalar(_ text: String) -> Bool {
    text.hasPrefix("Variable \"$") && text.contains("used in position expecting type")
  }

  /// Conflicts of fields are overlooked by graphql-js before 16.8 and by graphql-core, or found twice,
  /// where fragments lie in fragments.
  private func agreeButInConflicts(_ ours: [String], _ theirs: [String]) -> Bool {
    func isConflict(_ text: String) -> Bool { text.hasPrefix("Fields \"") }
    return ours.filter { !isConflict($0) } == theirs.filter { !isConflict($0) }
      && ours.contains(where: isConflict)
  }

  /// Numbers by value: `1.0` is `1`.
  private func sameData(_ ours: JSONValue?, _ theirs: JSONValue?) -> Bool {
    switch (ours, theirs) {
    case (.number(let ours)?, .number(let theirs)?): Double(ours) == Double(theirs)
    case (.array(let ours)?, .array(let theirs)?):
      ours.count == theirs.count && zip(ours, theirs).allSatisfy { sameData($0, $1) }
    case (.object(let ours)?, .object(let theirs)?):
      ours.map(\.name) == theirs.map(\.name)
        && zip(ours, theirs).allSatisfy { sameData($0.value, $1.value) }
    default: ours == theirs
    }
  }
}
