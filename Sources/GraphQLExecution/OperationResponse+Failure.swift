import GraphQLPlanning
import GraphQLResponse
import Postgres

extension OperationResponse {
  /// Returns the response for a failed statement: a code and a fixed text, never PostgreSQL's
  /// message, except for errors that the graph's own functions raise for clients.
  package static func failure(_ error: PostgresError) -> OperationResponse {
    let refusal: GraphQLError
    switch error.kind {
    // The pool reports these by itself, once.
    case .staleStatement, .retry:
      // As often as it may be tried again.
      refusal = GraphQLError(
        "The database is being changed. Try again shortly.", code: .databaseUnavailable,
        reason: error.reason)
    case .unavailable, .lost, .readOnly, .aborted:
      refusal = GraphQLError(
        "The database cannot be reached. Try again shortly.", code: .databaseUnavailable)
    case .overloaded:
      refusal = GraphQLError(
        "The server is busy. Try again shortly.", code: .serviceOverloaded)
    case .timeout:
      refusal = GraphQLError(
        "The operation took too long.", code: .timeout, reason: error.reason)
    case .lock:
      refusal = GraphQLError(
        "The operation waited too long for another one.", code: .lockTimeout, reason: error.reason)
    case .userRaised:
      let code = error.detail.map { ErrorCode(rawValue: $0) } ?? .badUserInput
      refusal =
        code.map { GraphQLError(error.message, code: $0) }
        ?? .fault("A function raised the unknown code \(error.detail ?? ""): \(error.reason)")
    // For a statement without a client's inputs.
    case .invalidValue where error.isOutOfRange:
      refusal = GraphQLError(
        "A value that the answer needs is out of the range of its type.",
        code: .valueNotRepresentable, reason: error.reason)
    case .invalidEncoding, .invalidValue:
      refusal = .fault(error.reason)
    case .other where error.sqlState == "55000" && error.routine == "ExecOpenScanRelation":
      refusal = GraphQLError(
        "Data that the answer needs has not been made yet. Try again later.",
        code: .databaseUnavailable,
        reason: error.reason + "; run REFRESH MATERIALIZED VIEW, which fills it")
    case .other where error.isOfAnotherCatalog:
      refusal = GraphQLError(
        "The database is being changed. Try again shortly.", code: .databaseUnavailable,
        reason: error.reason)
    case .constraint, .forbidden, .other:
      refusal = .fault(error.reason)
    }
    return .refused([refusal], retryAfter: error.retryAfter)
  }
}

extension OperationResponse {
  /// Returns the response for a failed statement of an operation.
  static func failure(
    _ error: PostgresError, of operation: PreparedOperation, _ plan: ReadPlan
  ) -> OperationResponse {
    if let refusal = operation.refusal(error) ?? operation.refusalOfClaims(error) {
      return .refused([refusal])
    }
    return failure(error, over: plan.parameters, plan.places, operation.inputs)
  }

  /// Returns the response for a failed statement with a client's inputs. If PostgreSQL refuses an
  /// input, the response names all of them, because PostgreSQL does not say which one.
  static func failure(
    _ error: PostgresError, over parameters: [PlanParameter], _ places: [InputPlace?],
    _ inputs: OperationInputs
  ) -> OperationResponse {
    switch error.kind {
    case .invalidEncoding, .invalidValue:
      // A function of the database failed, over whatever value; or a computation over values of rows
      // that the client only compares.
      guard !error.isInFunction, !(error.isOfComputation && comparesOnly(places)) else {
        return failure(error)
      }
      let given = parameters.enumerated().map { index, parameter in
        (parameter, place: places.indices.contains(index) ? places[index] : nil)
      }
      guard
        var refusal = inputs.error(amongst: given, "the graph cannot be asked with it.")
      else { return failure(error) }
      refusal.reason = error.reason
      return .refused([refusal])
    case .unavailable, .lost, .overloaded, .timeout, .retry, .lock, .readOnly, .staleStatement,
      .aborted, .userRaised, .constraint, .forbidden, .other:
      return failure(error)
    }
  }
}

extension OperationResponse {
  /// Returns whether all of a client's inputs are operands of the operators of filters.
  private static func comparesOnly(_ places: [InputPlace?]) -> Bool {
    places.allSatisfy { $0?.coordinate.contains("Filter.") ?? true }
  }
}

extension PostgresError {
  /// Whether a number or a time is out of the range of its type.
  fileprivate var isOutOfRange: Bool { ["22003", "22008"].contains(sqlState) }

  /// Whether a computation has no result: a division by zero, the logarithm or root of a negative
  /// number, or a number or time that is out of range.
  fileprivate var isOfComputation: Bool {
    isOutOfRange || ["22012", "2201E", "2201F", "2201G"].contains(sqlState)
  }

  /// The reason for the log, without PostgreSQL's details, which can contain values.
  var reason: String {
    let text =
      switch kind {
      // "division by zero" has no value; what is out of range is in its message.
      case .invalidValue where isOfComputation && !isOutOfRange:
        "a statement failed: " + message
      case .invalidValue, .invalidEncoding: Self.overValue
      default: "a statement failed: " + message
      }
    let hint =
      isOfAnotherCatalog
      ? "; has the database changed since the server was started? sociograph schema --check tells, "
        + "and serve --watch follows it" : ""
    return text + (sqlState.isEmpty ? "" : " (SQLSTATE \(sqlState))") + hint
  }

  /// The reason for the log of a value that PostgreSQL refuses, whose message may have it.
  var reasonOfValue: String { "\(Self.overValue) (SQLSTATE \(sqlState))" }

  private static let overValue = "a statement failed over a value"

  /// Whether a statement that held when the server was started names what is not there.
  fileprivate var isOfAnotherCatalog: Bool {
    // undefined_column, undefined_table, undefined_function, undefined_object; grouping_error, if what
    // was a column is a function now. Inside a function it is the function that names it.
    // "find_option" misses a setting, which no change of a table brings.
    !isInFunction && routine != "find_option"
      && ["42703", "42P01", "42883", "42704", "42803"].contains(sqlState)
  }
}

extension PreparedOperation {
  /// Returns the error of a token whose claims a policy or a rule cannot read; nil for any other
  /// failure. The values that the client gave have been asked for before.
  func refusalOfClaims(_ error: PostgresError) -> GraphQLError? {
    guard claims != nil, ["22P02", "22003", "22007", "22008"].contains(error.sqlState) else {
      return nil
    }
    return GraphQLError(
      "A claim of the token is not a value that the rules of the database can read.",
      code: .forbidden, reason: error.reason)
  }

  /// Returns the error of a client whose role lacks a privilege; nil for any other failure. Without
  /// roles it is the server that lacks it.
  func refusal(_ error: PostgresError) -> GraphQLError? {
    guard role != nil, error.kind == .forbidden else { return nil }
    var refusal = GraphQLError(
      "Your role may not read or write all that the operation names.", code: .forbidden)
    refusal.reason = error.reason
    return refusal
  }
}
