/// `sociograph completion`: a script that completes the command line in a shell.
enum CompletionCommand {
  static let specification = CommandSpecification(
    "completion", "Prints a script that completes this program's options in a shell.",
    operands: "bash|zsh|fish", options: [],
    notes: """
      bash: source <(sociograph completion bash)
      zsh:  sociograph completion zsh > ~/.zfunc/_sociograph, in a folder of fpath
      fish: sociograph completion fish | source
      """)

  static func run(_ options: CommandOptions) throws {
    guard options.operands.count == 1, let shell = ShellCompletion(rawValue: options.operands[0])
    else { throw UsageError("name a shell: bash, zsh or fish.") }
    Console.write(shell.script(for: Program.commands.map(\.specification)))
  }
}
