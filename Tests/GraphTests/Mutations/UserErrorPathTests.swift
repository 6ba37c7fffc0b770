import Foundation
import GraphQLPlanning
import Postgres
import TestSupport
import Testing

/// The functions in `sql`, read as text: the path of each user error is an argument of the
/// mutations that call the function. The user errors of all other tests are checked likewise
/// (`ArgumentPath.check`).
@Suite(.usesCluster) struct UserErrorPathTests {
  /// A function of the graph: its text, and whether its last arguments are a path.
  private struct Function {
    let source: String
    let takesPath: Bool
  }

  /// A call in a function's text.
  private struct Call: Equatable {
    let name: String
    let arguments: [String]

    /// The path among the arguments as far as it is written out: all that follow the code in
    /// `refuse`, `refusal` and `refuse_saying`, the last ones elsewhere. None where it is handed on.
    var path: [String] {
      guard !arguments.contains(where: { $0.hasPrefix("VARIADIC") }) else { return [] }
      // Before the path: the code, and before it the message.
      if let others = [
        "refuse": 1, "refusal": 1, "refuse_saying": 2, "refuse_longer": 3, "result_refusals": 2,
      ][name] {
        return arguments.dropFirst(others).prefix { Self.literal($0) != nil }
          .compactMap(Self.literal)
      }
      return arguments.reversed().prefix { Self.literal($0) != nil }.reversed()
        .compactMap(Self.literal)
    }

    private static func literal(_ argument: String) -> String? {
      argument.wholeMatch(of: /'([A-Za-z]+)'/).map { String($0.output.1) }
    }
  }

  @Test func `every path of a user error names an argument`() throws {
    let schema = try GraphServer.mapping.get().schema
    let functions = try functions()
    let calls = functions.mapValues { Self.calls(in: $0.source) }
    // Which mutations reach a function.
    var mutations: [String: Set<String>] = [:]
    for probe in try Planner(mapping: GraphServer.mapping.get()).mutationProbes() {
      let mutation = String(probe.coordinate.drop { $0 != "." }.dropFirst())
      var waiting = probe.function.map { [$0] } ?? []
      while let name = waiting.popLast() {
        guard let function = functions[name],
          mutations[name, default: []].insert(mutation).inserted,
          // It gives what others refuse for a path of its own.
          !function.source.contains("WHEN SQLSTATE 'SG100'")
        else { continue }
        waiting += (calls[name] ?? []).map(\.name)
      }
    }
    #expect(Set(mutations.values.joined()).count > 70)

    var checked = 0
    for (name, callers) in mutations.sorted(by: { $0.key < $1.key }) {
      for call in calls[name] ?? []
      where functions[call.name]?.takesPath == true {
        let path = call.path
        guard let first = path.first else { continue }
        checked += 1
        let fitting = callers.filter { ArgumentPath.names(path, of: $0, in: schema) }
        // What several mutations share looks for fields that only some of their inputs have.
        let isEnough = first == "input" ? !fitting.isEmpty : fitting == callers
        #expect(isEnough, "\(name): \(path) of \(callers.subtracting(fitting).sorted())")
      }
    }
    #expect(checked > 200)
  }

  @Test func `calls are found with their arguments`() {
    let source = """
      PERFORM refuse('INVALID', 'input', 'it''s (1)'); -- refuse('NONE', 'x')
      x := text_refusals(f(a, ','), true, 80, 'input', 'name') || refusal('A', 'ids', (n - 1)::text);
      PERFORM refuse_saying('It is closed.', 'CLOSED', 'offerId');
      """
    let calls = Self.calls(in: source)
    #expect(
      calls == [
        Call(name: "refuse", arguments: ["'INVALID'", "'input'", "'it''s (1)'"]),
        Call(
          name: "text_refusals", arguments: ["f(a, ',')", "true", "80", "'input'", "'name'"]),
        Call(name: "f", arguments: ["a", "','"]),
        Call(name: "refusal", arguments: ["'A'", "'ids'", "(n - 1)::text"]),
        Call(name: "refuse_saying", arguments: ["'It is closed.'", "'CLOSED'", "'offerId'"]),
      ])
    #expect(calls.map(\.path) == [["input"], ["input", "name"], [], ["ids"], ["offerId"]])
  }

  private func functions() throws -> [String: Function] {
    let session = try TestCluster.session(TestCluster.newDatabase(migrated: true))
    var functions: [String: Function] = [:]
    for row in try session.execute(
      """
      SELECT p.proname, p.prosrc, p.provariadic <> 0 AND 'path' = ANY (p.proargnames)
      FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
      WHERE p.pronamespace = 'graph'::regnamespace AND l.lanname IN ('sql', 'plpgsql')
      """)
    {
      guard let name = row[0], let source = row[1] else { continue }
      let known = functions[name]
      functions[name] = Function(
        source: (known?.source ?? "") + source,
        takesPath: row[2] == "t" || known?.takesPath == true)
    }
    return functions
  }

  /// The calls in a text of SQL or PL/pgSQL, those inside of others too.
  private static func calls(in source: String) -> [Call] {
    let text = Array(source.replacing(/--[^\n]*/, with: "").utf8)
    var calls: [Call] = []
    for (place, byte) in text.enumerated() where byte == UInt8(ascii: "(") {
      let name = text[..<place].reversed().prefix {
        (97...122).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "_")
      }
      guard !name.isEmpty, let arguments = arguments(in: text, after: place) else { continue }
      calls.append(
        Call(name: String(decoding: name.reversed(), as: UTF8.self), arguments: arguments))
    }
    return calls
  }

  /// Returns the comma-separated arguments up to the closing bracket; nil if there is none.
  private static func arguments(in text: [UInt8], after open: Int) -> [String]? {
    var arguments: [[UInt8]] = [[]]
    var depth = 0
    var isQuoted = false
    for byte in text[(open + 1)...] {
      switch byte {
      case UInt8(ascii: "'"): isQuoted.toggle()
      case UInt8(ascii: "("), UInt8(ascii: "["): if !isQuoted { depth += 1 }
      case UInt8(ascii: ")") where !isQuoted && depth == 0:
        return arguments.map {
          String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        }
      case UInt8(ascii: ")"), UInt8(ascii: "]"): if !isQuoted { depth -= 1 }
      case UInt8(ascii: ",") where !isQuoted && depth == 0:
        arguments.append([])
        continue
      default: break
      }
      arguments[arguments.count - 1].append(byte)
    }
    return nil
  }
}
