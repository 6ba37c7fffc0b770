import GraphQLPlanning
import Postgres

/// Holds the functions that a schema's mutations call against a live database: that each is there,
/// takes what it is given, returns what its payload needs, may change something, and is not for
/// everybody to call.
package struct MutationCheck {
  package let mapping: StorageMapping

  package init(mapping: StorageMapping) { self.mapping = mapping }

  /// One line for each thing that does not hold, with its coordinate.
  ///
  /// - Parameter configuration: of the role that mutations run under.
  package func run(_ configuration: PostgresConfiguration) throws -> [String] {
    let session = try PostgresSession(configuration)
    return try Planner(mapping: mapping).mutationProbes().flatMap { probe in
      try (problems(of: probe, session)).map { "\(probe.coordinate): \($0)" }
    }
  }

  private func problems(of probe: MutationProbe, _ session: PostgresSession) throws -> [String] {
    for statement in probe.statements {
      do {
        try session.execute("PREPARE mutation_check AS " + statement.text)
        try session.execute("DEALLOCATE mutation_check")
      } catch {
        if error.kind == .unavailable { throw error }
        return [error.message]
      }
    }
    let rows = try session.execute(
      """
      SELECT p.oid::regprocedure, p.provolatile = 'v', format_type(p.prorettype, NULL),
        has_function_privilege(p.oid, 'EXECUTE'),
        p.prosecdef AND has_function_privilege('public', p.oid, 'EXECUTE')
      FROM pg_proc p
      WHERE p.proname = $1 AND pg_function_is_visible(p.oid)
      """, [probe.function.split(separator: ".").last.map(String.init) ?? probe.function])
    return rows.flatMap { row -> [String] in
      let name = row[0] ?? probe.function
      var problems: [String] = []
      if row[1] != "t" { problems.append("\(name) must be VOLATILE to see what it writes.") }
      if let wanted = probe.resultType, row[2] != wanted {
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
