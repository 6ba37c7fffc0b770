import GraphQLPlanning
import Postgres
import StorageChecking

/// Compares the functions that a schema's mutations call with a live database: each one exists,
/// takes its arguments, returns what its payload needs, and may write. A function with its owner's
/// privileges must not be executable by PUBLIC.
package struct MutationCheck {
  package let mapping: StorageMapping

  package init(mapping: StorageMapping) { self.mapping = mapping }

  /// One line for each thing that does not hold, with its coordinate.
  ///
  /// - Parameter session: of the role that mutations run under.
  package func run(_ session: PostgresSession) throws -> [String] {
    try findings(session).map { "\($0.coordinate): \($0.message)" }
  }

  /// As `run`, but each line with its coordinate apart.
  package func findings(_ session: PostgresSession) throws -> [StorageFinding] {
    let probes = try Planner(mapping: mapping).mutationProbes()
    let functions = try functions(probes.compactMap(\.functionName), session)
    let types = try types(Set(probes.compactMap(\.resultType)), session)
    // All at once: a database may be far away.
    var answers = try session.pipeline(
      probes.flatMap(\.statements).map { .describe($0.text) })[...]
    return probes.flatMap { probe in
      let own = answers.prefix(probe.statements.count)
      answers.removeFirst(own.count)
      return problems(
        of: probe, own, probe.functionName.flatMap { functions[$0] } ?? [],
        resultType: probe.resultType.map { types[$0] ?? $0 }
      )
      .map { StorageFinding(.error, probe.coordinate, $0) }
    }
  }

  private func functions(
    _ names: [String], _ session: PostgresSession
  ) throws(PostgresError) -> [String: [[String?]]] {
    let rows = try session.execute(
      """
      SELECT p.proname, p.oid::regprocedure, p.provolatile = 'v',
        format_type(CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END, NULL),
        has_function_privilege(p.oid, 'EXECUTE'),
        p.prosecdef AND has_function_privilege('public', p.oid, 'EXECUTE')
      FROM pg_proc p JOIN pg_type t ON t.oid = p.prorettype
      WHERE p.proname = ANY (string_to_array($1, E'\\n')) AND pg_function_is_visible(p.oid)
      """, [names.joined(separator: "\n")])
    return Dictionary(grouping: rows) { $0[0] ?? "" }.mapValues { $0.map { Array($0.dropFirst()) } }
  }

  /// Types by any of their names, as `format_type` spells them: `int4` is `integer`.
  private func types(
    _ names: Set<String>, _ session: PostgresSession
  ) throws(PostgresError) -> [String: String] {
    let rows = try session.execute(
      """
      SELECT n, format_type(to_regtype(n)::oid, NULL)
      FROM unnest(string_to_array($1, E'\\n')) AS n WHERE to_regtype(n) IS NOT NULL
      """, [names.sorted().joined(separator: "\n")])
    var types: [String: String] = [:]
    for row in rows { if let name = row[0], let type = row[1] { types[name] = type } }
    return types
  }

  private func problems(
    of probe: MutationProbe, _ answers: ArraySlice<Result<PipelinedAnswer, PostgresError>>,
    _ functions: [[String?]], resultType: String?
  ) -> [String] {
    // What a domain refuses is the value that the probe took, not the statement.
    for case .failure(let error) in answers where error.sqlState != "23514" {
      return [error.message]
    }
    return functions.flatMap { row -> [String] in
      let name = row[0] ?? probe.function ?? ""
      var problems: [String] = []
      if row[1] != "t" { problems.append("\(name) must be VOLATILE to see what it writes.") }
      if let wanted = resultType, row[2] != wanted {
        problems.append("\(name) must return \(wanted), not \(row[2] ?? "nothing").")
      }
      if row[3] != "t" { problems.append("\(name) may not be executed by this role; grant it.") }
      if row[4] == "t" {
        problems.append(
          "\(name) runs under its owner's rights and may be executed by PUBLIC; revoke that.")
      }
      return problems
    }
  }
}

extension MutationProbe {
  fileprivate var functionName: String? {
    function.map { $0.split(separator: ".").last.map(String.init) ?? $0 }
  }
}
