import Postgres
import SQL

/// The address that links in notifications, mails and texts begin with: `--public-url`, which the
/// database keeps for programs that are started without it.
enum PublicURL {
  static let option = CommandSpecification.Option(
    "public-url", "URL",
    "the address of your application, such as https://example.org; links in "
      + "notifications, mails and shared texts begin with it. The database keeps it")

  /// Returns the option's URL without the slash at its end, because paths begin with one.
  static func read(_ options: CommandOptions) throws(UsageError) -> String? {
    guard var text = options.text("public-url") else { return nil }
    while text.hasSuffix("/") { text.removeLast() }
    let parts = text.split(separator: "://", maxSplits: 1)
    let isURL =
      parts.count == 2 && ["http", "https"].contains(parts[0].lowercased())
      && text.utf8.count <= 500
      && text.utf8.allSatisfy {
        $0 > 0x20 && $0 < 0x7F && !"\"'<>\\?#{}".utf8.contains($0)
      }
    guard isURL else {
      throw UsageError(
        "\(options.origin("public-url")) must be a URL such as https://example.org, without a "
          + "query, not \"\(text)\".")
    }
    return text
  }

  /// Returns the URL in force: the given one, which the database keeps from now on, or the one that
  /// it keeps. Nil if there is none, or if the graph makes no links.
  static func settle(_ given: String?, in session: PostgresSession) throws -> String? {
    guard try session.contract().has(GraphContract.publicURL) else { return nil }
    let kept =
      try session.execute(
        "SELECT nullif(current_setting('sociograph.public_url', true), '')"
      ).first?.first ?? nil
    guard let given, given != kept else { return kept }
    do throws(PostgresError) {
      let statement =
        try session.execute(
          """
          SELECT format('ALTER DATABASE %I SET sociograph.public_url = %L', current_database(), $1::text)
          """, [given]
        ).first?.first ?? nil
      if let statement { try session.execute(statement) }
    } catch {
      guard error.kind == .forbidden else { throw error }
      Console.warn(
        "the database cannot keep --public-url, as this role does not own it (\(error.message)); "
          + "give it to every program")
    }
    return given
  }

  /// Refuses to deliver mails whose links lead nowhere, because they cannot be taken back.
  ///
  /// - Parameter delivery: what delivers, as the message names it.
  static func require(_ url: String?, for delivery: String) throws(UsageError) {
    guard let url, url.lowercased().hasPrefix("https://") else {
      throw UsageError(
        "\(delivery) needs --public-url, an https address at which users reach this server: mails "
          + "with dead links cannot be taken back.")
    }
  }
}
