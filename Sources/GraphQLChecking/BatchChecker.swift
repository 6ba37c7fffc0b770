import GraphQLLanguage
import GraphQLResolving
import GraphQLResponse
import GraphQLSchema
import GraphQLValidation
import JSON

// Checking: requests to parse, build, validate and execute -> what was found, as JSON.
//
// What `sociograph check` is made of. It reads no files and writes none: the command does.

/// Answers the lines of `check --batch`, one at a time.
package struct BatchChecker {
  /// The maximum length of a line; longer lines are not read.
  package static let maximumLineBytes = 16 << 20

  private let limits: ParserLimits
  private let validationLimits: ValidationLimits
  private let maximumJSONNesting: Int
  private var schemas = SchemaCache()
  /// Whether a line was not a request, which the exit status reports.
  package private(set) var hasMalformedLine = false

  /// Creates a checker.
  ///
  /// - Parameter maximumNesting: the nesting that the thread's stack allows; 200 levels fit any
  ///   stack.
  package init(maximumNesting: Int = ParserLimits.unlimited.maximumNesting) {
    limits = .unlimited(nesting: maximumNesting)
    validationLimits = .processOnly(nesting: maximumNesting)
    maximumJSONNesting = max(512, maximumNesting)
  }

  /// Returns the answer to a line, without its line feed; nil for a blank line.
  package mutating func answer(_ line: [UInt8]) -> [UInt8]? {
    if line.allSatisfy({ $0 == 0x20 || ($0 >= 0x09 && $0 <= 0x0D) }) { return nil }
    let line = BatchLine(line)
    do throws(BatchRequest.Malformed) {
      let request = try BatchRequest(line: line, maximumNesting: maximumJSONNesting)
      return line.restored(answer(request))
    } catch {
      return line.restored(malformed(error.message))
    }
  }

  package mutating func answerToLongLine() -> [UInt8] {
    malformed("The line is longer than \(Self.maximumLineBytes) bytes.")
  }

  private mutating func malformed(_ message: String) -> [UInt8] {
    hasMalformedLine = true
    var writer = JSONWriter()
    writer.append("{\"id\":null,\"ok\":false,\"errors\":")
    writer.write([GraphQLError(message, code: .badRequest)])
    writer.append(UInt8(ascii: "}"))
    return writer.finish()
  }

  private mutating func answer(_ request: BatchRequest) -> [UInt8] {
    var writer = JSONWriter()
    writer.append("{\"id\":")
    writer.write(request.id)
    switch request.operation {
    case .parse(let source):
      writer.finding { () throws(Findings) in
        Printer.print(try parse(source))
      }
    case .schema(let schema, let rules):
      writer.finding { () throws(Findings) in
        try check(schema: schema, rules)
      }
    case .validate(let schema, let document, let rules, let suggestions):
      writer.finding { () throws(Findings) in
        let schema = try schemas.schema(schema, limits)
        let errors = Validator.errors(
          in: try parse(document), against: schema, rules: rules?.executable,
          suggestions: suggestions, limits: validationLimits)
        if !errors.isEmpty { throw Findings(errors: errors) }
        return nil
      }
    case .execute(let schema, let document, let root, let variables, let operationName):
      writer.result { () throws(Findings) in
        let schema = try schemas.schema(schema, limits)
        return try execute(
          try parse(document), schema, root: root, variables: variables,
          operationName: operationName)
      }
    case .unsupported:
      writer.append(",\"ok\":false,\"unsupported\":true")
    }
    writer.append(UInt8(ascii: "}"))
    return writer.finish()
  }

  private func parse(_ text: [UInt8]) throws(Findings) -> Document {
    do {
      return try Parser.parse(Source(text), limits: limits)
    } catch {
      throw Findings(errors: [GraphQLError(error)])
    }
  }

  private mutating func check(
    schema text: [UInt8], _ rules: RuleNames?
  ) throws(Findings) -> String? {
    guard let rules else { return SchemaPrinter(try schemas.schema(text, limits)).print() }
    let found = SchemaBuilder.check(try parse(text), rules: rules.typeSystem)
    if !found.errors.isEmpty { throw Findings(errors: found.errors) }
    return nil
  }

  private func execute(
    _ document: Document, _ schema: Schema, root: JSONValue, variables: JSONValue?,
    operationName: String?
  ) throws(Findings) -> ExecutionResult {
    let valid: ValidDocument
    do {
      valid = try Validator.validate(document, against: schema, limits: validationLimits)
    } catch {
      throw Findings(errors: error.errors)
    }
    let operation: OperationDefinition
    do {
      operation = try valid.operation(named: operationName)
    } catch {
      throw Findings(errors: [error])
    }
    let values: CoercedVariables
    do {
      values = try VariableCoercion(schema, operation, source: document.source).coerce(variables)
    } catch {
      throw Findings(errors: error.errors)
    }
    return Executor(valid, operation, variables: values).execute(root: root)
  }
}

/// The errors that ended a request before it had a result.
struct Findings: Error {
  let errors: [GraphQLError]
}

/// The schemas of the last texts, byte for byte: the cases of a suite share few.
struct SchemaCache {
  private static let maximumCount = 32
  private static let maximumBytes = 32 << 20

  private var results: [[UInt8]: Result<Schema, Findings>] = [:]
  private var bytes = 0

  mutating func schema(_ text: [UInt8], _ limits: ParserLimits) throws(Findings) -> Schema {
    if let known = results[text] { return try known.get() }
    let result = Self.build(text, limits)
    if results.count >= Self.maximumCount || bytes > Self.maximumBytes {
      results.removeAll()
      bytes = 0
    }
    results[text] = result
    bytes += text.count
    return try result.get()
  }

  private static func build(
    _ text: [UInt8], _ limits: ParserLimits
  ) -> Result<Schema, Findings> {
    let document: Document
    do {
      document = try Parser.parse(Source(text), limits: limits)
    } catch {
      return .failure(Findings(errors: [GraphQLError(error)]))
    }
    do {
      return .success(try SchemaBuilder.build(document))
    } catch {
      return .failure(Findings(errors: error.errors))
    }
  }
}
