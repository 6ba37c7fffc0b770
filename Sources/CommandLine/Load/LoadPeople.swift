import Accounts
import Load
import Postgres
import SQL

/// The sessions that `--people` creates for a run, and ends after it.
struct LoadPeople {
  private static let device = "sociograph load"

  private let tokens: [SessionToken]
  private let configuration: PostgresConfiguration

  /// - Throws: a `LoadFailure` if the database has no users, or the role does not own the graph.
  init(_ count: Int, in configuration: PostgresConfiguration) throws(LoadFailure) {
    var configuration = configuration
    configuration.isReadOnly = false
    do {
      tokens = try SessionIssuer.tokens(
        forUsers: count, device: Self.device, in: configuration)
    } catch {
      throw LoadFailure(
        "--people: \(error); --database must name the role that owns the graph of this program.")
    }
    self.configuration = configuration
    guard !tokens.isEmpty else { throw LoadFailure("--people: the database has no users.") }
    Console.say("created \(tokens.count) sessions named \"\(Self.device)\"")
  }

  var texts: [String] { tokens.map(\.text) }

  func end() {
    do {
      try SessionIssuer.end(tokens, in: configuration)
      Console.say("ended \(tokens.count) sessions")
    } catch {
      Console.say(
        "could not end the sessions named \"\(Self.device)\": \(error); they expire in 90 days",
        .warning)
    }
  }
}
