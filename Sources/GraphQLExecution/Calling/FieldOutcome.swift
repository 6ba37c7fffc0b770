import GraphQLPlanning
import GraphQLResponse
import Postgres

/// The outcome of one field.
struct FieldOutcome {
  var json: [UInt8]
  /// Their paths begin inside the field.
  var errors: [GraphQLError] = []
  /// The server could not do it: no database, no time, or not twice.
  var isUnserved = false
  var retryAfter: Duration?
  var isReplayed = false
  /// Whether the field may have ended the session that it ran in.
  var mayHaveEndedSession = false
  /// The durations of the field's calls.
  var times = PhaseDurations()
  var cost = 0

  var isNull: Bool { json == Self.null }

  private static let null = Array("null".utf8)

  static func value(_ json: [UInt8]) -> FieldOutcome { FieldOutcome(json: json) }

  static func failed(_ errors: [GraphQLError]) -> FieldOutcome {
    FieldOutcome(json: null, errors: errors)
  }

  /// Returns the outcome of a field whose viewer could not be found.
  static func obstacle(_ error: PostgresError) -> FieldOutcome {
    guard case .refused(let errors, let retryAfter) = OperationResponse.failure(error),
      let first = errors.first
    else { return .failed([.fault("\(error)")]) }
    return .unserved(first, retryAfter: retryAfter)
  }

  static func unserved(_ error: GraphQLError, retryAfter: Duration? = nil) -> FieldOutcome {
    FieldOutcome(json: null, errors: [error], isUnserved: true, retryAfter: retryAfter)
  }

  private init(
    json: [UInt8], errors: [GraphQLError] = [], isUnserved: Bool = false,
    retryAfter: Duration? = nil
  ) {
    self.json = json
    self.errors = errors
    self.isUnserved = isUnserved
    self.retryAfter = retryAfter
  }

  /// Nothing of it was done.
  init(failure error: PostgresError, _ call: PreparedCall, _ inputs: OperationInputs) {
    let plan = call.plan
    switch error.kind {
    case .retry:
      self = .failed([
        GraphQLError("Others changed the same. Try again.", code: .conflict)
      ])
    case .constraint:
      self = .failed([
        .fault(
          "\(plan.coordinate): the constraint \(error.constraint ?? "?") of "
            + "\(error.table ?? "?") is in no user error.")
      ])
    default:
      guard
        case .refused(let errors, let retryAfter) = OperationResponse.failure(
          error, over: call.call.parameters + (call.selection?.parameters ?? []),
          call.call.places + (call.selection?.places ?? []), inputs)
      else {
        self = .failed([.fault("\(error)")])
        return
      }
      self.init(json: Self.null, errors: errors, retryAfter: retryAfter)
      switch error.kind {
      case .unavailable, .lost, .overloaded, .timeout, .readOnly, .aborted: isUnserved = true
      default: isUnserved = false
      }
    }
  }
}
