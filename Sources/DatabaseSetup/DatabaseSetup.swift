/// What a database needs before it can serve a graph: a cluster to live in when none is given
/// (`EmbeddedCluster`), the graph's tables and functions (`Migrations`), and rows to try it with
/// (`Seeder`).
///
/// Everything here blocks and belongs to a thread of its own. It knows no noun of the graph: that is
/// all in the `sql` folder it is pointed at. What it does is reported through callbacks.
package struct SetupError: Error, Sendable, CustomStringConvertible {
  package let message: String

  package init(_ message: String) { self.message = message }

  package var description: String { message }
}
