import DatabaseSetup
import Glibc
import JSON

/// `sociograph verify`: recounts stored counts, and checks all invariants of the graph.
enum VerifyCommand {
  static let specification = CommandSpecification(
    "verify", "Recounts a graph's counters, and checks the rules that no constraint can state.",
    options: [SettingOptions.json] + SettingOptions.databases,
    notes: """
      Prints a line for each difference. It only reads, in one snapshot, also while servers run.
      Exit status: 0 there are none, 1 there are some.
      """)

  /// - Returns: the exit code.
  static func run(_ options: CommandOptions) throws -> Int32 {
    let database = try Database.open(options)
    defer { database.close() }
    let isJSON = try options.isSet("json")
    var lines: [JSONValue] = []
    let progress = isatty(STDERR_FILENO) == 1
    func draw(_ text: String) {
      if progress { Console.write("\r\u{1b}[K" + text, to: STDERR_FILENO) }
    }
    let outcome = try GraphVerification(database.configuration()).run { event in
      switch event {
      case .began(let check, let number, let count):
        let width = 24
        let full = (number - 1) * width / max(count, 1)
        draw(
          "[" + String(repeating: "#", count: full) + String(repeating: "-", count: width - full)
            + "] \(number)/\(count)  \(check)")
      case .found(let line):
        draw("")
        lines.append(.string(line))
        if !isJSON { Console.print(line) }
      case .failed(let check, let error):
        draw("")
        let line = "\(check): cannot be checked: \(error)"
        lines.append(.string(line))
        if !isJSON { Console.print(line) }
      }
    }
    draw("")
    if isJSON {
      Console.print(
        .object([
          JSONValue.Member(name: "ok", value: .boolean(outcome.faults == 0)),
          JSONValue.Member(name: "checks", value: .number("\(outcome.checks)")),
          JSONValue.Member(name: "differences", value: .array(lines)),
        ]))
    }
    guard outcome.checks > 0 else {
      Console.warn("the database has no functions named verify_...; nothing was checked")
      return 0
    }
    Console.say(
      "\(outcome.checks) checks, \(outcome.faults) difference\(outcome.faults == 1 ? "" : "s")")
    return outcome.faults == 0 ? 0 : 1
  }
}
