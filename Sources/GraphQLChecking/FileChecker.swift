import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import GraphQLValidation
import JSON

/// Checks files: documents against a schema, a schema alone, or the syntax of documents alone.
package struct FileChecker {
  package struct File: Sendable {
    package let name: String
    package let bytes: [UInt8]

    package init(name: String, bytes: [UInt8]) {
      self.name = name
      self.bytes = bytes
    }
  }

  package struct Finding: Sendable {
    package let file: String
    package let error: GraphQLError

    /// The line `FILE:LINE:COLUMN: MESSAGE`; a finding without a position is reported at the start.
    package var line: String {
      let place = error.locations.first ?? SourceLocation(line: 1, column: 1)
      return "\(file):\(place.line):\(place.column): \(error.message)"
    }
  }

  private let schemaFiles: [File]
  private let documents: [File]
  private let rules: RuleNames?
  private let limits: ParserLimits
  private let validationLimits: ValidationLimits

  package init(
    schema: [File], documents: [File], rules: RuleNames?,
    maximumNesting: Int = ParserLimits.unlimited.maximumNesting
  ) {
    limits = .unlimited(nesting: maximumNesting)
    validationLimits = .processOnly(nesting: maximumNesting)
    schemaFiles = schema
    self.documents = documents
    self.rules = rules
  }

  package func findings() -> [Finding] {
    if schemaFiles.isEmpty {
      return documents.flatMap { (file) -> [Finding] in
        do throws(SyntaxError) {
          _ = try Parser.parse(Source(file.bytes), limits: limits)
          return []
        } catch {
          return [Finding(file: file.name, error: GraphQLError(error))]
        }
      }
    }
    let text = JoinedText(schemaFiles)
    let typeSystem: Document
    do throws(SyntaxError) {
      typeSystem = try Parser.parse(text.source, limits: limits)
    } catch {
      return text.findings([GraphQLError(error)])
    }
    // With documents, the rules named are theirs; the schema has to be valid either way.
    let schemaRules = documents.isEmpty ? rules?.typeSystem : nil
    let built = SchemaBuilder.check(typeSystem, rules: schemaRules)
    guard let schema = built.schema, built.errors.isEmpty else {
      return text.findings(built.errors)
    }
    return documents.flatMap { check($0, against: schema) }
  }

  private func check(_ file: File, against schema: Schema) -> [Finding] {
    do throws(SyntaxError) {
      let document = try Parser.parse(Source(file.bytes), limits: limits)
      return Validator.errors(
        in: document, against: schema, rules: rules?.executable, limits: validationLimits
      ).map { Finding(file: file.name, error: $0) }
    } catch {
      return [Finding(file: file.name, error: GraphQLError(error))]
    }
  }

  /// Returns `{"errors": [E, ...]}`.
  package static func json(_ findings: [Finding]) -> [UInt8] {
    var writer = JSONWriter()
    writer.append("{\"errors\":[")
    for (index, finding) in findings.enumerated() {
      if index > 0 { writer.append(UInt8(ascii: ",")) }
      writer.write(finding.error, file: finding.file)
    }
    writer.append("]}\n")
    return writer.finish()
  }
}

/// Several files as one text, joined by line feeds, and the start of each.
private struct JoinedText {
  let source: Source
  private var files: [(name: String, firstLine: Int)] = []

  init(_ parts: [FileChecker.File]) {
    var bytes: [UInt8] = []
    var starts: [Int] = []
    for part in parts {
      if !starts.isEmpty { bytes.append(UInt8(ascii: "\n")) }
      starts.append(bytes.count)
      bytes += part.bytes
    }
    source = Source(bytes)
    for (part, start) in zip(parts, starts) {
      let position = Position(offset: Int32(clamping: start))
      files.append((part.name, source.location(of: position).line))
    }
  }

  /// Returns the findings in the file of their first position, with its line numbers.
  func findings(_ errors: [GraphQLError]) -> [FileChecker.Finding] {
    errors.map { error in
      let line = error.locations.first?.line ?? 1
      let file = files.last { $0.firstLine <= line } ?? (name: "", firstLine: 1)
      var error = error
      error.locations = error.locations.map { place in
        let home = files.last { $0.firstLine <= place.line } ?? file
        return SourceLocation(line: place.line - home.firstLine + 1, column: place.column)
      }
      return FileChecker.Finding(file: file.name, error: error)
    }
  }
}
