import GraphQLChecking
import Server

/// `sociograph check`: lints GraphQL documents and schemas, for editors and CI.
enum CheckCommand {
  static let specification = CommandSpecification(
    "check", "Checks GraphQL documents and schemas, for editors and CI; needs no database.",
    operands: "[DOCUMENT]...",
    options: [
      CommandSpecification.Option(
        "schema", "FILE", environment: "SOCIOGRAPH_CHECK_SCHEMA", isRepeatable: true,
        "validate the documents against this schema, or check the schema when there are none; "
          + "given several times, the files count as one text"),
      CommandSpecification.Option(
        "rule", "NAME", environment: "SOCIOGRAPH_CHECK_RULE", shown: "all of them",
        isRepeatable: true, "report only the findings of this rule; may be given several times"),
      CommandSpecification.Option(
        "json", nil, environment: "SOCIOGRAPH_CHECK_JSON",
        "print one JSON object {\"errors\": [...]} instead of lines"),
      CommandSpecification.Option(
        "batch", nil, environment: "SOCIOGRAPH_CHECK_BATCH",
        "answer one JSON request per line of standard input"),
      CommandSpecification.Option(
        "rules", nil, environment: "SOCIOGRAPH_CHECK_RULES", "list the names of all rules"),
    ],
    notes: """
      Documents without a schema are checked for their syntax.
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
      """)

  /// - Returns: the exit code.
  static func run(_ options: CommandOptions) throws -> Int32 {
    if try options.isSet("rules") {
      Console.print(RuleNames.all.joined(separator: "\n"))
      return 0
    }
    let schemas = options.texts("schema")
    let rules = options.texts("rule")
    let isJSON = try options.isSet("json")
    let hasFiles = !schemas.isEmpty || !options.operands.isEmpty
    if try options.isSet("batch") {
      guard !hasFiles, rules.isEmpty, !isJSON else {
        throw UsageError("--batch takes no other options and no files; see --help.")
      }
      return LargeStack.run { maximumNesting in batch(maximumNesting) }
    }
    guard hasFiles else { throw UsageError("no files given; see sociograph check --help.") }
    for name in rules where RuleNames([name]) == nil {
      throw UsageError("there is no rule \"\(name)\"; --rules lists them.")
    }
    let schemaFiles = try files(schemas)
    let documents = try files(options.operands)
    return LargeStack.run { maximumNesting in
      let findings = FileChecker(
        schema: schemaFiles, documents: documents, rules: rules.isEmpty ? nil : RuleNames(rules),
        maximumNesting: maximumNesting
      ).findings()
      if isJSON {
        Console.write(FileChecker.json(findings))
      } else {
        Console.write(findings.map { $0.line + "\n" }.joined())
      }
      return findings.isEmpty ? 0 : 1
    }
  }

  private static func files(_ names: [String]) throws(UsageError) -> [FileChecker.File] {
    var files: [FileChecker.File] = []
    for name in names {
      do {
        files.append(FileChecker.File(name: name, bytes: try Console.contents(of: name)))
      } catch {
        throw UsageError(error.description)
      }
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
      Console.write(answer)
    }
    return checker.hasMalformedLine ? 2 : 0
  }
}
