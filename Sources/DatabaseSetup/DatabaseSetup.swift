/// An error of the database's setup.
///
/// This module prepares a database to serve a graph: a cluster if none is given
/// (`EmbeddedCluster`), the graph's tables and functions (`Migrations`), and demo data (`Seeder`).
///
/// Everything in it blocks and belongs on a dedicated thread. It knows no noun of the graph: those
/// are in the `sql` folder that it is given. It reports progress through callbacks.
package struct SetupError: Error, Sendable, CustomStringConvertible {
  package let message: String

  package init(_ message: String) { self.message = message }

  package var description: String { message }
}
