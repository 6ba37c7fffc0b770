import Postgres
import SQL
import Server

/// `sociograph user`: changes that only a database's owner can make for a user, such as the first
/// member of the staff.
enum UserCommand {
  static let specification = CommandSpecification(
    "user", "Gives a user roles or takes them away, for a database's owner.",
    operands: "role NAME +ROLE|-ROLE...", takesSignedOperands: true,
    options: SettingOptions.databases,
    notes: """
      As in: sociograph user role ada +STAFF -TRAINER
      Prints the roles that the user has then.
      """)

  static func run(_ options: CommandOptions) throws {
    let words = options.operands
    guard words.first == "role", words.count >= 3 else {
      throw UsageError("user needs \"role\", a NAME and changes such as +STAFF.")
    }
    var added: [String] = []
    var removed: [String] = []
    for word in words.dropFirst(2) {
      let role = word.dropFirst().uppercased()
      let isName =
        !role.isEmpty && role.utf8.allSatisfy { (0x41...0x5A).contains($0) || $0 == 0x5F }
      switch (isName, word.first) {
      case (true, "+"): added.append(role)
      case (true, "-"): removed.append(role)
      default: throw UsageError("\"\(word)\" is not a change of roles such as +STAFF or -STAFF.")
      }
    }
    let database = try Database.open(options)
    defer { database.close() }
    var configuration = try database.configuration()
    configuration.isReadOnly = false
    let session = try PostgresSession(configuration)
    let rows: [[String?]]
    do {
      // A function of the graph, as `create_session` is: which roles there are it knows.
      rows = try database.withGraph {
        try session.execute(
          "SELECT array_to_string(\(GraphContract.changeRoles)($1, $2, $3), ' ')",
          [words[1], Self.list(added), Self.list(removed)])
      }
    } catch let error as PostgresError where error.kind == .userRaised {
      throw CommandFailure(error.message)
    }
    guard let roles = rows.first?.first ?? nil else {
      throw CommandFailure("there is no user \"\(words[1])\".")
    }
    Console.print("\(words[1]): \(roles)")
  }

  /// Returns words as a PostgreSQL array.
  private static func list(_ words: [String]) -> String {
    "{\(words.joined(separator: ","))}"
  }
}
