import Foundation

/// The program's commands by name; the executable only calls it.
package enum Program {
  package static let version = "0.1.0"

  private static let commands:
    [(specification: CommandSpecification, run: @Sendable (CommandOptions) throws -> Void)] = [
      (ServeCommand.specification, { try ServeCommand.run($0) }),
      (MigrateCommand.specification, { try MigrateCommand.run($0) }),
      (SeedCommand.specification, { try SeedCommand.run($0) }),
      (SchemaCommand.specification, { try SchemaCommand.run($0) }),
      (ExplainCommand.specification, { try ExplainCommand.run($0) }),
    ]

  /// - Parameter otherCommands: what the executable does itself, for `--help`.
  /// - Returns: the exit code: 0 done, 1 failed, 2 misunderstood.
  package static func run(
    _ arguments: [String], environment: [String: String],
    otherCommands: [(name: String, summary: String)] = []
  ) -> Int32 {
    guard let name = arguments.first, name != "--help", name != "-h", name != "help" else {
      print(help(otherCommands), terminator: "")
      return arguments.isEmpty ? 2 : 0
    }
    if name == "version" || name == "--version" {
      print("sociograph \(version)")
      return 0
    }
    guard let command = commands.first(where: { $0.specification.name == name }) else {
      return complain("there is no command \"\(name)\"; see sociograph --help.", 2)
    }
    if arguments.contains("--help") || arguments.contains("-h") {
      print(command.specification.help, terminator: "")
      return 0
    }
    // Whoever reads what is printed may go first; that must not leave a PostgreSQL behind.
    signal(SIGPIPE, SIG_IGN)
    do {
      try command.run(
        command.specification.parse(Array(arguments.dropFirst()), environment: environment))
      return 0
    } catch let error as UsageError {
      return complain(error.description, 2)
    } catch {
      return complain("\(error)", 1)
    }
  }

  private static func complain(_ message: String, _ code: Int32) -> Int32 {
    Database.say(message)
    return code
  }

  private static func help(_ others: [(name: String, summary: String)]) -> String {
    let all =
      commands.map { ($0.specification.name, $0.specification.summary) } + others
      + [("version", "Prints the version.")]
    let width = (all.map(\.0.count).max() ?? 0) + 2
    let lines = all.map { name, summary in
      "  " + name.padding(toLength: width, withPad: " ", startingAt: 0) + summary
    }
    return
      (["Usage: sociograph COMMAND [OPTION]...", ""] + lines
      + ["", "sociograph COMMAND --help says more about one."]).joined(separator: "\n") + "\n"
  }
}
