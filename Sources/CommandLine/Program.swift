import Foundation
import GraphQLSchema
import JSON
import Server

/// The program: its commands by name, and the exit code of a call. The executable only calls it.
package enum Program {
  package static let version = serverVersion

  struct Command: Sendable {
    let specification: CommandSpecification
    let run: @Sendable (CommandOptions) throws -> Int32

    init(
      _ specification: CommandSpecification,
      _ run: @escaping @Sendable (CommandOptions) throws -> Void
    ) {
      self.init(
        specification,
        status: { options in
          try run(options)
          return 0
        })
    }

    init(
      _ specification: CommandSpecification,
      status: @escaping @Sendable (CommandOptions) throws -> Int32
    ) {
      self.specification = specification
      run = status
    }
  }

  static let commands = [
    Command(ServeCommand.specification, ServeCommand.run),
    Command(MigrateCommand.specification, MigrateCommand.run),
    Command(SeedCommand.specification, SeedCommand.run),
    Command(SchemaCommand.specification, status: SchemaCommand.run),
    Command(DraftCommand.specification, status: DraftCommand.run),
    Command(ExplainCommand.specification, status: ExplainCommand.run),
    Command(PsqlCommand.specification, status: PsqlCommand.run),
    Command(SessionCommand.specification, SessionCommand.run),
    Command(UserCommand.specification, UserCommand.run),
    Command(MaintainCommand.specification, status: MaintainCommand.run),
    Command(VerifyCommand.specification, status: VerifyCommand.run),
    Command(OutboxCommandLine.specification, status: OutboxCommandLine.run),
    Command(CheckCommand.specification, status: CheckCommand.run),
    Command(TestCommand.specification, status: TestCommand.run),
    Command(UsageCommand.specification, UsageCommand.run),
    Command(LoadCommand.specification, status: LoadCommand.run),
    Command(CompletionCommand.specification, CompletionCommand.run),
  ]

  /// - Returns: the exit code: 0 done, 1 failed, 2 misunderstood.
  package static func run(_ arguments: [String], environment: [String: String]) -> Int32 {
    var arguments = arguments[...]
    let wantsHelp = arguments.first.map { ["help", "--help", "-h"].contains($0) } ?? false
    if wantsHelp { arguments.removeFirst() }
    if wantsHelp, arguments.starts(with: ["--format", "man"]) {
      return writeManualPage(of: arguments.dropFirst(2).first)
    }
    guard let name = arguments.popFirst() else {
      Console.write(help)
      return wantsHelp ? 0 : 2
    }
    if name == "version" || name == "--version" {
      if arguments.contains("--json") {
        Console.print(.object([JSONValue.Member(name: "version", value: .string(version))]))
      } else {
        Console.print("sociograph \(version)")
      }
      return 0
    }
    guard let command = command(named: name) else { return complainOfCommand(name) }
    let isAsked = arguments.prefix { $0 != "--" }.contains { $0 == "--help" || $0 == "-h" }
    if wantsHelp || isAsked {
      Console.write(command.specification.help)
      return 0
    }
    // The reader of the output may end first. That must not leave a PostgreSQL running.
    signal(SIGPIPE, SIG_IGN)
    defer { Console.flush() }
    do {
      try refuseUnknownVariables(environment)
      let options = try command.specification.parse(Array(arguments), environment: environment)
      for warning in options.warnings { Console.warn(warning) }
      return try command.run(options)
    } catch let error as UsageError {
      return complain(error.description, 2)
    } catch {
      return complain("\(error)", 1)
    }
  }

  private static func command(named name: String) -> Command? {
    commands.first { $0.specification.name == name }
  }

  private static func complainOfCommand(_ name: String) -> Int32 {
    var suggestions = Suggestions()
    let near = suggestions.near(name, among: commands.map(\.specification.name)).first
    return complain(
      "there is no command \"\(name)\"; \(near.map { "did you mean \($0)? " } ?? "")"
        + "see sociograph --help.", 2)
  }

  /// Writes the manual page of a command, or that of the program for nil, as script/install installs them.
  private static func writeManualPage(of name: String?) -> Int32 {
    guard let name else {
      Console.write(ManualPage(commands: commands.map(\.specification)).text)
      return 0
    }
    guard let command = command(named: name) else { return complainOfCommand(name) }
    Console.write(ManualPage(command.specification).text)
    return 0
  }

  /// Refuses an unknown variable with our prefix: it is a mistake, and its setting would silently
  /// keep the default.
  private static func refuseUnknownVariables(_ environment: [String: String]) throws(UsageError) {
    let options = commands.flatMap(\.specification.options)
    let known = Set(options.map(\.environment) + options.compactMap(\.formerEnvironment))
    let prefix = CommandSpecification.variablePrefix
    for name in environment.keys.sorted() where name.hasPrefix(prefix) && !known.contains(name) {
      var suggestions = Suggestions()
      let near = suggestions.near(
        String(name.dropFirst(prefix.count)),
        among: known.sorted().filter { $0.hasPrefix(prefix) }.map {
          String($0.dropFirst(prefix.count))
        }
      ).first
      throw UsageError(
        "no option has the environment variable \(name)"
          + (near.map { "; did you mean \(prefix)\($0)?" }
            ?? "; sociograph COMMAND --help lists them."))
    }
  }

  private static func complain(_ message: String, _ code: Int32) -> Int32 {
    Console.say(message, .error)
    return code
  }

  private static var help: String {
    let all =
      commands.map { ($0.specification.name, $0.specification.summary) }
      + [("version", "Prints the version.")]
    let width = (all.map(\.0.count).max() ?? 0) + 2
    let lines = all.map { name, summary in
      "  " + name.padding(toLength: width, withPad: " ", startingAt: 0) + summary
    }
    return
      (["Usage: sociograph COMMAND [OPTION]...", ""] + lines
      + [
        "", "sociograph help COMMAND says more about one.",
        "sociograph help --format man [COMMAND] prints its manual page.",
      ]).joined(separator: "\n") + "\n"
  }
}
