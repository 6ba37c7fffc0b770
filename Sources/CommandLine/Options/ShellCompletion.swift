/// Completion of the command line in a shell, from the specification that also serves parsing and
/// `--help`.
enum ShellCompletion: String, CaseIterable {
  case bash, zsh, fish

  /// The completion of an option's value.
  private struct Values {
    let words: [String]
    let hasFiles: Bool
    let hasFolders: Bool

    /// Parses a placeholder: `on|off|DIR` has two words and a folder; words in capitals are chosen
    /// by the user.
    init(_ placeholder: String, choices: [String] = []) {
      let parts = placeholder.split(separator: "|").map(String.init)
      words =
        choices.isEmpty ? parts.filter { $0 == $0.lowercased() && !$0.contains("%") } : choices
      hasFiles = parts.contains("FILE") || parts.contains("MANIFEST")
      hasFolders = parts.contains("DIR")
    }
  }

  /// Returns the script that the shell reads.
  ///
  /// - Parameter commands: the names of commands with their summaries and options.
  func script(for commands: [CommandSpecification]) -> String {
    switch self {
    case .bash: Self.bash(commands)
    case .zsh: Self.zsh(commands)
    case .fish: Self.fish(commands)
    }
  }

  private static func bash(_ commands: [CommandSpecification]) -> String {
    var values: [String: Values] = [:]
    for option in commands.flatMap(\.options) {
      if let placeholder = option.placeholder {
        let known = Values(placeholder, choices: option.choices)
        // Of options of the same name, the one with values to choose from.
        if values[option.name]?.words.isEmpty ?? true { values[option.name] = known }
      }
    }
    let cases = values.sorted { $0.key < $1.key }.map { name, values in
      var answers: [String] = []
      if !values.words.isEmpty {
        answers.append("compgen -W \(quoted(values.words.joined(separator: " "))) -- \"$word\"")
      }
      if values.hasFiles { answers.append("compgen -f -- \"$word\"") }
      if values.hasFolders { answers.append("compgen -d -- \"$word\"") }
      let body = answers.isEmpty ? ":" : answers.joined(separator: "; ")
      return "    --\(name)) mapfile -t COMPREPLY < <(\(body)); return ;;"
    }
    let options = commands.map { command in
      let words = (command.options.map { "--" + $0.name } + ["--help"]).joined(separator: " ")
      let first = command.firstOperands.joined(separator: " ")
      return "    \(command.name)) words=\(quoted(words)) first=\(quoted(first)) ;;"
    }
    let names = commands.map(\.name).joined(separator: " ")
    return
      ([
        "# Completion of sociograph for bash. To use it: source <(sociograph completion bash)",
        "_sociograph() {", "  local word=${COMP_WORDS[COMP_CWORD]} words= first=",
        "  local previous=${COMP_WORDS[COMP_CWORD - 1]}",
        "  COMPREPLY=()", "  if [ \"$COMP_CWORD\" -le 1 ]; then",
        "    mapfile -t COMPREPLY < <(compgen -W \(quoted(names)) -- \"$word\"); return", "  fi",
        // bash takes --pooler=tr for three words.
        "  if [ \"$word\" = = ]; then word=",
        "  elif [ \"$previous\" = = ]; then previous=${COMP_WORDS[COMP_CWORD - 2]}; fi",
        "  case $previous in",
      ] + cases + ["  esac", "  case ${COMP_WORDS[1]} in"] + options + [
        "  esac", "  if [[ $word == -* ]]; then",
        "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")",
        "  elif [ \"$COMP_CWORD\" -eq 2 ] && [ -n \"$first\" ]; then",
        "    mapfile -t COMPREPLY < <(compgen -W \"$first\" -- \"$word\"; compgen -f -- \"$word\")",
        "  else",
        "    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")", "  fi", "}",
        "complete -o filenames -F _sociograph sociograph",
      ]).joined(separator: "\n") + "\n"
  }

  private static func zsh(_ commands: [CommandSpecification]) -> String {
    /// Escapes brackets and colons, which are marks in the specifications of `_arguments`.
    func plain(_ text: String) -> String {
      text.replacing("\\", with: "\\\\").replacing("[", with: "\\[").replacing("]", with: "\\]")
        .replacing(":", with: "\\:")
    }
    func action(_ placeholder: String, _ choices: [String]) -> String {
      let values = Values(placeholder, choices: choices)
      if values.hasFolders { return "_files -/" }
      if values.hasFiles { return "_files" }
      return values.words.isEmpty ? " " : "(\(values.words.joined(separator: " ")))"
    }
    func operands(_ command: CommandSpecification) -> [String] {
      let first = command.firstOperands
      let words = first.isEmpty ? [] : [quoted("1:operand:(\(first.joined(separator: " ")))")]
      return words + ["'*:file:_files'"]
    }
    let names = commands.map { quoted("\($0.name):\(plain($0.summary))") }
    let cases = commands.map { command in
      let options = command.options.map { option in
        let value = option.placeholder.map { ":\(plain($0)):\(action($0, option.choices))" } ?? ""
        return quoted("--\(option.name)[\(plain(option.summary))]\(value)")
      }
      return "    \(command.name)) _arguments "
        + (options + ["'--help[show help]'"] + operands(command)).joined(separator: " ") + " ;;"
    }
    return
      ([
        "#compdef sociograph",
        "# Completion of sociograph for zsh: write it to a file _sociograph in a folder of fpath.",
        "_sociograph() {", "  local -a commands", "  commands=(\(names.joined(separator: " ")))",
        "  if (( CURRENT == 2 )); then", "    _describe command commands", "    return", "  fi",
        "  local command=$words[2]", "  (( CURRENT-- ))", "  shift words", "  case $command in",
      ] + cases + [
        "  esac", "}", "if [ \"$funcstack[1]\" = _sociograph ]; then _sociograph \"$@\"",
        "else compdef _sociograph sociograph; fi",
      ]).joined(separator: "\n") + "\n"
  }

  private static func fish(_ commands: [CommandSpecification]) -> String {
    var lines = [
      "# Completion of sociograph for fish: sociograph completion fish | source",
      "complete -c sociograph -e",
    ]
    for command in commands {
      lines.append(
        "complete -c sociograph -f -n __fish_use_subcommand -a \(command.name) -d "
          + fishQuoted(command.summary))
      if !command.firstOperands.isEmpty {
        lines.append(
          "complete -c sociograph -n '__fish_seen_subcommand_from \(command.name)' -a "
            + fishQuoted(command.firstOperands.joined(separator: " ")))
      }
      for option in command.options {
        var line =
          "complete -c sociograph -n '__fish_seen_subcommand_from \(command.name)' -l "
          + "\(option.name) -d \(fishQuoted(option.summary))"
        if let placeholder = option.placeholder {
          let values = Values(placeholder, choices: option.choices)
          line += values.hasFiles || values.hasFolders ? " -r" : " -x"
          if !values.words.isEmpty {
            line += " -a \(fishQuoted(values.words.joined(separator: " ")))"
          }
        }
        lines.append(line)
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Returns the text quoted as one word of a shell.
  private static func quoted(_ text: String) -> String {
    "'" + text.replacing("'", with: "'\\''") + "'"
  }

  private static func fishQuoted(_ text: String) -> String {
    "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
  }
}
