import Glibc
import GraphQLChecking

/// `sociograph check`: lints GraphQL documents and schemas, for editors and CI.
enum Check {
  private static let help = """
    Usage: sociograph check [--schema FILE]... [--rule NAME]... [--json] [DOCUMENT]...
           sociograph check --batch

    Checks GraphQL documents and schemas. Needs no configuration, database or network.

      --schema FILE  and documents: validates each document against the schema
                     alone: checks the schema
                     given several times, the files count as one text
      DOCUMENT       alone: checks its syntax
      --rule NAME    reports only what this rule finds; may be given several times
      --json         prints one JSON object {"errors": [...]} instead of lines
      --batch        answers one JSON request per line of standard input
      --rules        lists the names of all rules
      --help         prints this

    Prints FILE:LINE:COLUMN: MESSAGE for each finding.
    Exit status: 0 no findings, 1 findings, 2 bad usage or an unreadable file.

    Requests of --batch ("rules", "suggestions", "root", "variables" and "operationName"
    may be left out):
      {"id": TEXT, "op": "parse", "source": TEXT}
      {"id": TEXT, "op": "schema", "schema": SDL, "rules": null | [NAME, ...]}
      {"id": TEXT, "op": "validate", "schema": SDL, "document": TEXT,
       "rules": null | [NAME, ...], "suggestions": true | false}
      {"id": TEXT, "op": "execute", "schema": SDL, "document": TEXT, "root": JSON,
       "variables": {...} | null, "operationName": TEXT | null}

    """

  private struct Options {
    var schemas: [String] = []
    var documents: [String] = []
    var rules: [String] = []
    var isJSON = false
    var isBatch = false
  }

  private struct UsageError: Error {
    let message: String
  }

  /// The exit status.
  static func run(_ arguments: [String]) -> Int32 {
    if arguments.contains("--help") || arguments.contains("-h") {
      Output.write(help)
      return 0
    }
    if arguments == ["--rules"] {
      Output.write(RuleNames.all.joined(separator: "\n") + "\n")
      return 0
    }
    do throws(UsageError) {
      let options = try options(arguments)
      return LargeStack.run { maximumNesting in
        do throws(UsageError) {
          return options.isBatch ? batch(maximumNesting) : try check(options, maximumNesting)
        } catch {
          return refuse(error)
        }
      }
    } catch {
      return refuse(error)
    }
  }

  private static func refuse(_ error: UsageError) -> Int32 {
    Output.write("sociograph check: \(error.message)\n", to: STDERR_FILENO)
    return 2
  }

  private static func options(_ arguments: [String]) throws(UsageError) -> Options {
    var options = Options()
    var rest = arguments[...]
    func value(of option: String) throws(UsageError) -> String {
      guard let value = rest.popFirst() else {
        throw UsageError(message: "\(option) needs a value; see --help.")
      }
      return value
    }
    while let argument = rest.popFirst() {
      switch argument {
      case "--schema": options.schemas.append(try value(of: argument))
      case "--rule": options.rules.append(try value(of: argument))
      case "--json": options.isJSON = true
      case "--batch": options.isBatch = true
      case "--":
        options.documents += rest
        rest = []
      case _ where argument.hasPrefix("--schema="):
        options.schemas.append(String(argument.dropFirst("--schema=".count)))
      case _ where argument.hasPrefix("--rule="):
        options.rules.append(String(argument.dropFirst("--rule=".count)))
      case _ where argument.hasPrefix("-"):
        throw UsageError(message: "unknown option \(argument); see --help.")
      default: options.documents.append(argument)
      }
    }
    let hasFiles = !options.schemas.isEmpty || !options.documents.isEmpty
    if options.isBatch {
      guard !hasFiles, options.rules.isEmpty, !options.isJSON else {
        throw UsageError(message: "--batch takes no other options and no files; see --help.")
      }
    } else if !hasFiles {
      throw UsageError(message: "no files given; see --help.")
    }
    return options
  }

  private static func check(
    _ options: Options, _ maximumNesting: Int
  ) throws(UsageError) -> Int32 {
    var rules: RuleNames?
    if !options.rules.isEmpty {
      for name in options.rules where RuleNames([name]) == nil {
        throw UsageError(message: "unknown rule \(name); --rules lists them.")
      }
      rules = RuleNames(options.rules)
    }
    let findings = FileChecker(
      schema: try read(options.schemas), documents: try read(options.documents), rules: rules,
      maximumNesting: maximumNesting
    ).findings()
    if options.isJSON {
      Output.write(FileChecker.json(findings))
    } else {
      Output.write(findings.map { $0.line + "\n" }.joined())
    }
    return findings.isEmpty ? 0 : 1
  }

  private static func read(_ names: [String]) throws(UsageError) -> [FileChecker.File] {
    var files: [FileChecker.File] = []
    for name in names {
      guard let bytes = Input.file(name) else {
        throw UsageError(message: "cannot read \(name): \(Input.lastError).")
      }
      files.append(FileChecker.File(name: name, bytes: bytes))
    }
    return files
  }

  private static func batch(_ maximumNesting: Int) -> Int32 {
    var checker = BatchChecker(maximumNesting: maximumNesting)
    var lines = LineReader(maximumLineBytes: BatchChecker.maximumLineBytes)
    while let line = lines.next() {
      let answer =
        switch line {
        case .complete(let bytes): checker.answer(bytes)
        case .tooLong: checker.answerToLongLine()
        }
      guard var answer else { continue }
      answer.append(UInt8(ascii: "\n"))
      Output.write(answer)
    }
    return checker.hasMalformedLine ? 2 : 0
  }
}

/// The lines of standard input, as they come.
private struct LineReader {
  enum Line {
    case complete([UInt8])
    case tooLong
  }

  private let maximumLineBytes: Int
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  private var start = 0
  private var end = 0

  init(maximumLineBytes: Int) { self.maximumLineBytes = maximumLineBytes }

  /// The last line counts without a line feed, too.
  mutating func next() -> Line? {
    var line: [UInt8] = []
    var isTooLong = false
    while true {
      if start == end {
        start = 0
        end = Input.read(STDIN_FILENO, into: &buffer)
        guard end > 0 else {
          end = 0
          if isTooLong { return .tooLong }
          return line.isEmpty ? nil : .complete(line)
        }
      }
      let rest = buffer[start..<end]
      let lineFeed = rest.firstIndex(of: UInt8(ascii: "\n"))
      let part = rest[..<(lineFeed ?? end)]
      if line.count + part.count > maximumLineBytes {
        isTooLong = true
        line = []
      } else if !isTooLong {
        line += part
      }
      start = lineFeed.map { $0 + 1 } ?? end
      if lineFeed != nil { return isTooLong ? .tooLong : .complete(line) }
    }
  }
}

private enum Input {
  static var lastError: String {
    guard let text = unsafe strerror(errno) else { return "error \(errno)" }
    return unsafe String(cString: text)
  }

  /// The number of bytes read; 0 at the end, below 0 for an error.
  static func read(_ descriptor: Int32, into buffer: inout [UInt8]) -> Int {
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes {
        unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
      }
      if count >= 0 || errno != EINTR { return count }
    }
  }

  static func file(_ name: String) -> [UInt8]? {
    let descriptor = unsafe open(name, O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(descriptor, into: &buffer)
      if count < 0 { return nil }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }
}

private enum Output {
  static func write(_ text: String, to descriptor: Int32 = STDOUT_FILENO) {
    write(Array(text.utf8), to: descriptor)
  }

  static func write(_ bytes: [UInt8], to descriptor: Int32 = STDOUT_FILENO) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
      }
      if count < 0 {
        if errno == EINTR { continue }
        return
      }
      rest = rest.dropFirst(count)
    }
  }
}
