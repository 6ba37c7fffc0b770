import GraphQLLanguage
import GraphQLPlanning
import GraphQLResolving
import GraphQLSchema
import GraphQLValidation
import JSON
import Postgres

/// What a client asked for, whatever carried it.
package struct OperationRequest: Sendable {
  package var query: String
  package var operationName: String?
  /// An object, or nil.
  package var variables: JSONValue?
  /// It came by a method that must not change anything.
  package var mayOnlyRead: Bool

  package init(
    query: String, operationName: String? = nil, variables: JSONValue? = nil,
    mayOnlyRead: Bool = false
  ) {
    self.mayOnlyRead = mayOnlyRead
    self.query = query
    self.operationName = operationName
    self.variables = variables
  }
}

/// An operation that may run: its plan, and its own variables.
package struct PreparedOperation {
  package let plan: PreparedPlan
  package let variables: [InputValue?]
  package let variableNames: [String]
  /// Answers of introspection fields that depend on this request's variables.
  let introspection: [String: [UInt8]]?
  package var cursorKey: CursorKey
}

extension PreparedOperation {
  /// The parameters as they are sent.
  package func parameters(viewer: Int64) throws(GraphQLError) -> PostgresParameters {
    try ParameterBinder(variables: variables, viewer: viewer, cursorKey: cursorKey).bind(
      plan.plan.parameters)
  }

  /// The parameters as people write them, in the order of `$1`, `$2`, ...; nil for null and for keys
  /// inside cursors.
  package func parameterTexts(viewer: Int64) throws(GraphQLError) -> [String?] {
    let binder = ParameterBinder(variables: variables, viewer: viewer, cursorKey: cursorKey)
    return try plan.plan.parameters.map { parameter throws(GraphQLError) in
      try binder.text(of: parameter)
    }
  }
}

/// Errors before execution: the response has no `data`.
package struct RequestErrors: Error, Sendable {
  package let errors: [GraphQLError]
  /// The request may only read, and the operation is no query.
  package let isWriteRefused: Bool

  package init(errors: [GraphQLError], isWriteRefused: Bool = false) {
    self.errors = errors
    self.isWriteRefused = isWriteRefused
  }
}

/// What became of an operation.
package enum OperationResponse: Sendable {
  /// The whole response: `data`, perhaps null, perhaps beside errors.
  case executed(body: [UInt8], hasErrors: Bool)
  /// There is no `data`: refused before execution, or PostgreSQL could not be asked. The first
  /// error's code says which. `because` is for the log: what the client is not told.
  case refused([GraphQLError], retryAfter: Duration? = nil, because: PostgresError? = nil)
}

/// Turns requests into responses on one loop: parse, validate, plan (all kept), bind, run, write.
///
/// Everything but running the statement happens before it returns.
package final class OperationExecutor {
  package struct Settings: Sendable {
    package var parserLimits = ParserLimits.default
    package var validationLimits = ValidationLimits.server
    package var plannerLimits = PlannerLimits()
    package var suggestions = true
    /// Of this loop, with their plans.
    package var maximumCachedDocuments = 1_000
    package var maximumCachedBytes = 32 << 20
    package var cursorKey = CursorKey()
    /// Of the statement's record, from which the response is written (R10).
    package var maximumResponseBytes = 8 << 20

    package init() {}
  }

  /// Without storage directives; what documents are validated against.
  private let clientSchema: Schema
  private let mapping: StorageMapping
  private let planner: Planner
  private let settings: Settings
  private var cache: DocumentCache

  package init(
    mapping: StorageMapping, settings: Settings = Settings()
  ) {
    self.mapping = mapping
    self.settings = settings
    clientSchema = StorageDirectives.clientSchema(of: mapping.schema)
    planner = Planner(mapping: mapping, limits: settings.plannerLimits)
    cache = DocumentCache(
      maximumCount: settings.maximumCachedDocuments, maximumBytes: settings.maximumCachedBytes)
  }

  /// How much is kept.
  package var cachedDocuments: (count: Int, bytes: Int) { (cache.count, cache.cost) }

  // MARK: - Before the database

  package func prepare(_ request: OperationRequest) throws(RequestErrors) -> PreparedOperation {
    let document = try document(request.query)
    do {
      let operation = try document.operation(named: request.operationName, mapping: mapping)
      if request.mayOnlyRead, operation.operation.kind != .query {
        throw RequestErrors(errors: [], isWriteRefused: true)
      }
      let coerced: CoercedVariables
      do {
        coerced = try operation.coercion.coerce(request.variables)
      } catch {
        throw RequestErrors(
          errors: error.errors.map { error in
            var error = error
            error.code = error.code ?? "BAD_USER_INPUT"
            return error
          })
      }
      let variables = operation.variableNames.map { coerced[$0] }
      var key: [UInt8] = []
      operation.choices.appendKey(for: variables, to: &key)
      let plan = try plan(operation, document, variables, key)
      return PreparedOperation(
        plan: plan, variables: variables,
        variableNames: operation.variableNames,
        introspection: plan.isIntrospectionVariable
          ? introspect(document.valid, operation.operation, coerced) : nil,
        cursorKey: settings.cursorKey)
    } catch let error as GraphQLError {
      throw RequestErrors(errors: [error])
    } catch let error as RequestErrors {
      throw error
    } catch {
      throw RequestErrors(errors: [GraphQLError("\(error)")])
    }
  }

  private func document(_ text: String) throws(RequestErrors) -> CachedDocument {
    if let known = cache.document(text) { return known }
    let parsed: Document
    do {
      parsed = try Parser.parse(Source(text), limits: settings.parserLimits)
    } catch {
      var error = error
      if error.code == nil { error.code = "GRAPHQL_PARSE_FAILED" }
      throw RequestErrors(errors: [error])
    }
    let valid: ValidDocument
    do {
      valid = try Validator.validate(
        parsed, against: clientSchema, suggestions: settings.suggestions,
        limits: settings.validationLimits)
    } catch {
      throw RequestErrors(errors: error.errors)
    }
    let document = CachedDocument(valid)
    cache.insert(document, for: text)
    return document
  }

  private func plan(
    _ operation: CachedOperation, _ document: CachedDocument, _ variables: [InputValue?],
    _ key: [UInt8]
  ) throws(GraphQLError) -> PreparedPlan {
    if let known = operation.plans[key] { return known }
    let valid = document.valid
    let plan = try planner.plan(
      operation.operation, fragments: valid.fragments, source: valid.document.source,
      variables: variables)
    let isFixed = operation.variableNames.isEmpty
    let hasIntrospection = plan.shape.fields.contains {
      if case .introspection = $0.value { true } else { false }
    }
    let prepared = PreparedPlan(
      plan,
      introspection: hasIntrospection && isFixed
        ? introspect(valid, operation.operation, CoercedVariables()) : [:],
      isIntrospectionVariable: hasIntrospection && !isFixed)
    cache.insert(prepared, for: key, of: operation, in: document)
    return prepared
  }

  private func introspect(
    _ document: ValidDocument, _ operation: OperationDefinition, _ variables: CoercedVariables
  ) -> [String: [UInt8]] {
    let result = Executor(document, operation, variables: variables).executeIntrospection()
    return Dictionary(
      result.members.map { ($0.responseName, $0.json) }, uniquingKeysWith: { first, _ in first })
  }

  // MARK: - With the database

  /// Runs a prepared operation and answers on the loop.
  ///
  /// - Parameter viewer: the signed-in user's id; 0 for an anonymous client.
  /// - Returns: what cancels the statement when the client leaves; nil when nothing was sent.
  @discardableResult
  package func execute(
    _ operation: PreparedOperation, viewer: Int64, on runner: any StatementRunner,
    completion: @escaping (OperationResponse) -> Void
  ) -> PostgresTicket? {
    let plan = operation.plan
    guard let statement = plan.statement else {
      completion(write(operation, nothing: ()))
      return nil
    }
    let parameters: PostgresParameters
    do {
      parameters = try operation.parameters(viewer: viewer)
    } catch {
      completion(.refused([error]))
      return nil
    }
    return runner.run(statement, parameters) { outcome in
      switch outcome {
      case .success(let result):
        completion(self.write(operation, result))
      case .failure(let error):
        completion(Self.failure(error))
      }
    }
  }

  private func write(_ operation: PreparedOperation, nothing: Void) -> OperationResponse {
    var writer = begin(operation)
    let empty: [UInt8] = []
    unsafe writer.writeData(empty.span.bytes)
    return finish(writer, operation.plan)
  }

  private func write(_ operation: PreparedOperation, _ result: borrowing PostgresResult)
    -> OperationResponse
  {
    guard result.rowCount == 1 else {
      return Self.failure(PostgresError(.other, message: "A plan's statement gives one row."))
    }
    var writer = begin(operation)
    var isTooLarge = false
    let isThere: Void? = result.withValue(row: 0, column: 0) { bytes in
      isTooLarge = bytes.byteCount > settings.maximumResponseBytes
      if !isTooLarge { writer.writeData(bytes) }
    }
    if isTooLarge {
      return .refused([
        GraphQLError(
          "The answer is larger than \(settings.maximumResponseBytes) bytes. Ask for less.",
          code: "COST_LIMIT_EXCEEDED")
      ])
    }
    if isThere == nil { return Self.failure(PostgresError(.other, message: "No row.")) }
    return finish(writer, operation.plan)
  }

  private func begin(_ operation: PreparedOperation) -> ResponseWriter {
    var json = JSONWriter(capacity: operation.plan.expectedBytes)
    json.append(#"{"data":"#)
    return ResponseWriter(
      operation.plan.shape, json: json,
      introspection: operation.introspection ?? operation.plan.introspection,
      cursorKey: settings.cursorKey)
  }

  private func finish(_ writer: consuming ResponseWriter, _ plan: PreparedPlan) -> OperationResponse
  {
    let errors = writer.errors
    var json = writer.json
    if !errors.isEmpty {
      json.append(#","errors":"#)
      json.write(errors)
    }
    json.append(UInt8(ascii: "}"))
    let body = json.finish()
    plan.expectedBytes = max(body.count + body.count / 8, plan.expectedBytes / 2)
    return .executed(body: body, hasErrors: !errors.isEmpty)
  }

  // MARK: - Errors

  /// What a client sees of a statement that failed: a code and a fixed text, never what PostgreSQL
  /// said, but for errors that the graph's own functions raise for it.
  package static func failure(_ error: PostgresError) -> OperationResponse {
    let code: String
    let message: String
    var reason: PostgresError? = error
    switch error.kind {
    // The pool reports these by itself, once.
    case .unavailable, .readOnly, .aborted:
      reason = nil
      code = "DATABASE_UNAVAILABLE"
      message = "The database cannot be reached. Try again shortly."
    case .overloaded:
      reason = nil
      code = "SERVICE_OVERLOADED"
      message = "The server is busy. Try again shortly."
    case .timeout:
      code = "TIMEOUT"
      message = "The operation took too long."
    case .lock:
      code = "LOCK_TIMEOUT"
      message = "The operation waited too long for another one."
    case .userRaised:
      return .refused([GraphQLError(error.message, code: error.detail ?? "BAD_USER_INPUT")])
    case .invalidEncoding, .invalidValue:
      return .refused([
        GraphQLError("A value of the request cannot be used.", code: "BAD_USER_INPUT")
      ])
    case .retry, .staleStatement, .constraint, .forbidden, .other:
      code = "INTERNAL_SERVER_ERROR"
      message = "An unexpected error occurred."
    }
    return .refused(
      [GraphQLError(message, code: code)], retryAfter: error.retryAfter, because: reason)
  }
}
