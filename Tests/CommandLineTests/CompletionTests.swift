import Foundation
import TestSupport
import Testing

@testable import CommandLine
@testable import DatabaseSetup

/// Manual pages and shell completion, generated from the table of options.
@Suite struct CompletionTests {
  private static let specifications = Program.commands.map(\.specification)

  /// Runs a program to its end.
  private func output(
    of name: String, _ arguments: [String]
  ) throws -> (status: Int32, text: String) {
    let folder = try TemporaryFolder()
    let program = try #require(
      ChildProcess.find(name), "There is no \(name); script/setup test installs it.")
    let status = try ChildProcess.run(
      [program] + arguments, user: nil, output: folder.path + "/output")
    return (status, try String(contentsOfFile: folder.path + "/output", encoding: .utf8))
  }

  @Test func `mandoc finds nothing wrong with any manual page`() throws {
    let folder = try TemporaryFolder()
    var files = [try folder.write("page.1", ManualPage(commands: Self.specifications).text)]
    for command in Self.specifications {
      files.append(try folder.write("\(command.name).1", ManualPage(command).text))
    }
    let lint = try output(of: "mandoc", ["-T", "lint", "-W", "warning"] + files)
    #expect(lint.text == "" && lint.status == 0)
  }

  @Test func `the page of serve has every option with its default and variable`() throws {
    let folder = try TemporaryFolder()
    let serve = try #require(Self.specifications.first { $0.name == "serve" })
    let file = try folder.write("serve.1", ManualPage(serve).text)
    let page = try output(of: "mandoc", ["-T", "ascii", "-O", "width=1000", file]).text
      .replacing(/.\u{8}/, with: "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
    for option in serve.options {
      let line = "Default: \(option.shownDefault). Environment: \(option.environment)."
      #expect(page.contains("--\(option.name)"), "\(option.name)")
      #expect(page.contains("\(option.summary). \(line)"), "\(option.name)")
    }
  }

  @Test(arguments: [
    ("sociograph ser", "serve"), ("sociograph serve --li", "--listen"),
    ("sociograph serve --pooler tr", "transaction"), ("sociograph verify --dat", "--data"),
    ("sociograph serve --introspection si", "signed-in"), ("sociograph session si", "sign"),
    ("sociograph serve --log-format = j", "json"), ("sociograph schema di", "diff"),
  ])
  func `bash completes`(line: String, word: String) throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("completion", ShellCompletion.bash.script(for: Self.specifications))
    let words = line.split(separator: " ").map { "'\($0)'" }.joined(separator: " ")
    let script =
      ". '\(file)'; COMP_WORDS=(\(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _sociograph; "
      + #"printf '%s\n' "${COMPREPLY[@]}""#
    let answer = try output(of: "bash", ["--norc", "-c", script])
    #expect(answer.text.split(separator: "\n").contains(Substring(word)), "\(answer)")
  }

  @Test(arguments: [
    ("sociograph ser", "serve"), ("sociograph serve --li", "--listen"),
    ("sociograph serve --pooler tr", "transaction"),
    ("sociograph serve --introspection si", "signed-in"), ("sociograph session si", "sign"),
  ])
  func `fish completes`(line: String, word: String) throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("completion", ShellCompletion.fish.script(for: Self.specifications))
    let answer = try output(
      of: "fish", ["--no-config", "-c", "source '\(file)'; complete -C '\(line)'"])
    let words = answer.text.split(separator: "\n").map { $0.prefix { $0 != "\t" } }
    #expect(words.contains(Substring(word)), "\(answer)")
  }

  @Test(arguments: [
    ("sociograph ser", "serve"), ("sociograph serve --li", "--listen"),
    ("sociograph serve --pooler tr", "transaction"),
    ("sociograph serve --introspection si", "signed-in"), ("sociograph session si", "sign"),
  ])
  func `zsh completes`(line: String, word: String) throws {
    let folder = try TemporaryFolder()
    _ = try folder.write("_sociograph", ShellCompletion.zsh.script(for: Self.specifications))
    // A shell at a terminal, as completion runs in no other; what it echoes is read up to a mark.
    let script = """
      zmodload zsh/zpty
      zpty shell zsh -f -i
      zpty -w shell 'PS1=; fpath=(\(folder.path) $fpath); autoload -Uz compinit; compinit -u -D; print re''ady'
      zpty -r shell text '*ready*'
      zpty -w -n shell $'\(line)\\t ; print "do""ne"\\n'
      zpty -r shell text '*done*'
      print -r -- $text
      zpty -d shell
      """
    let answer = try output(of: "zsh", ["-f", "-c", script])
    #expect(answer.text.contains(word), "\(answer)")
  }
}
