import GraphQLExecution
import GraphQLLanguage
import GraphQLSchema
import GraphQLValidation
import JSON
import OracleSupport
import Testing

/// Usage of a schema's elements, counted against a recount of every execution.
@Suite(.blocks) struct UsageTests {
  private struct Prepared {
    let text: String
    let valid: ValidDocument
    let label: OperationLabel
    let number: Int
  }

  private static let schema = Result {
    try SchemaBuilder.build(Parser.parse(RandomOperation.schema, limits: .unlimited))
  }

  /// Returns valid random operations.
  private func operations() throws -> [Prepared] {
    let schema = try Self.schema.get()
    var prepared: [Prepared] = []
    for seed in 0..<1_500 as Range<UInt64> {
      var random = RandomOperation(seed: seed)
      let text = random.document()
      guard let document = try? Parser.parse(text),
        let valid = try? Validator.validate(document, against: schema)
      else { continue }
      for (number, operation) in valid.operations.enumerated() {
        let label = OperationLabel(
          name: operation.name?.text, kind: operation.kind, document: "\(seed)")
        prepared.append(Prepared(text: text, valid: valid, label: label, number: number))
      }
    }
    return prepared
  }

  private func usage(_ operation: Prepared, _ register: UsageRegister) -> OperationUsage {
    register.usage(
      of: operation.valid.operations[operation.number], in: operation.valid, as: operation.label)
  }

  @Test(
    .enabled(
      if: Oracle.graphQLCore != nil,
      "SKIPPED: Python with graphql-core 3.3 is missing; script/oracle installs it."),
    arguments: [2_000, 25])
  func `10,000 executions are counted as a recount counts them`(kept: Int) throws {
    let operations = try operations()
    try #require(operations.count > 100, "\(operations.count)")
    let answers = try #require(Oracle.graphQLCore).answers(
      to: operations.map {
        .object([
          .init(name: "op", value: .string("coordinates")),
          .init(name: "schema", value: .string(RandomOperation.schema)),
          .init(name: "document", value: .string($0.text)),
        ])
      })
    var limits = UsageRegister.Limits()
    limits.operations = kept
    limits.clients = 10
    let register = UsageRegister(try Self.schema.get(), limits: limits)
    var random = SeededGenerator(seed: 26)
    var known: [Int: OperationUsage] = [:]
    var clients: Set<ClientProgram> = []
    var recount: [String: [ClientProgram: UInt64]] = [:]
    for _ in 0..<10_000 {
      let place = Int.random(in: 0..<operations.count, using: &random)
      let operation = operations[place]
      // A document that was evicted from the cache is prepared again.
      if Int.random(in: 0..<10, using: &random) == 0 { known[place] = nil }
      let usage = known[place] ?? self.usage(operation, register)
      known[place] = usage
      var client = ClientProgram(
        name: "client\(Int.random(in: 0..<12, using: &random))", version: "1")
      register.count(usage, by: register.number(of: client))
      if clients.count < 10 { clients.insert(client) }
      if !clients.contains(client) { client = .others }
      guard case .array(let lists)? = answers[place]["coordinates"],
        case .array(let coordinates) = lists[operation.number]
      else {
        Issue.record("\(answers[place])")
        return
      }
      for case .string(let coordinate) in coordinates {
        recount[coordinate, default: [:]][client, default: 0] += 1
      }
    }
    let report = register.report()
    #expect(report.operations.count <= kept)
    #expect(report.rest.isEmpty == (kept > operations.count))
    let counted = Dictionary(
      uniqueKeysWithValues: report.elements.map { ($0.key.description, $0.value) })
    #expect(counted.count > 50)
    for (coordinate, executions) in recount {
      #expect(counted[coordinate] == executions, "\(coordinate)")
    }
    #expect(counted.count == recount.count)
  }

  @Test func `counts of two loops add up, and control characters of names are left out`() throws {
    let schema = try SchemaBuilder.build(
      Parser.parse("type Query { a: Int b: Int @deprecated }", limits: .unlimited))
    let valid = try Validator.validate(Parser.parse("query Q { a b }"), against: schema)
    let label = OperationLabel(name: "Q", kind: .query, document: "x")
    let client = ClientProgram(name: "a\u{1}\u{7F}b", version: "1\n")
    #expect(client.name == "ab" && client.version == "1")
    var sum = UsageReport()
    for count in [2, 3] {
      let register = UsageRegister(schema)
      let usage = register.usage(of: valid.operations[0], in: valid, as: label)
      for _ in 0..<count { register.count(usage, by: register.number(of: client)) }
      sum.add(register.report())
      #expect(
        register.deprecatedUses() == [.member(type: "Query", name: "b"): [client: UInt64(count)]])
    }
    #expect(
      String(decoding: sum.json(schema, since: "now"), as: UTF8.self)
        == #"{"format":"sociograph-usage/1","since":"now","coordinates":["#
        + #"{"coordinate":"Query.a","executions":5,"clients":[{"name":"ab","version":"1","executions":5}]},"#
        + #"{"coordinate":"Query.b","deprecated":"No longer supported","executions":5,"#
        + #""clients":[{"name":"ab","version":"1","executions":5}]}],"#
        + #""operations":[{"name":"Q","document":"x","type":"query","executions":5,"#
        + #""clients":[{"name":"ab","version":"1","executions":5}],"#
        + #""coordinates":["Query.a","Query.b"]}]}"# + "\n")
  }
}
