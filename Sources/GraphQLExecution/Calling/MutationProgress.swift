import GraphQLResponse
import Postgres

/// The fields of one mutation in order, as plain data: the outcome of a call goes in, and the next step comes out.
///
///     start -> call -> returned -> call -> ... -> finish
///                         '-> findViewer -> viewerFound -> call     after a call that may have ended the session
///
/// Fields execute one after the other (GraphQL specification, 6.2.2). A field that may have ended the session makes the
/// fields after it execute for whom a new request would: its viewer is looked up again. Where an error halts the
/// request, no field after it executes.
struct MutationProgress {
  enum Field {
    /// The outcome is known without the database.
    case known(FieldOutcome)
    case call
  }

  enum Step: Equatable {
    /// Execute the field with this index for the current viewer.
    case call(Int)
    case findViewer
    /// Every field has an outcome.
    case finish
    /// The client has disconnected, or a step is under way.
    case nothing
  }

  private enum State {
    case between
    case calling
    case findingViewer
    /// The viewer is not known, so each further call has this outcome.
    case blocked(FieldOutcome)
    case cancelled
    /// A field has an error that ends the mutation.
    case halted
  }

  private let fields: [Field]
  private let haltsOnError: Bool
  /// The user that calls act for; 0 for an anonymous client.
  private(set) var viewer: Int64
  private(set) var outcomes: [FieldOutcome] = []
  private var state = State.between

  init(_ fields: [Field], viewer: Int64, haltsOnError: Bool = false) {
    self.haltsOnError = haltsOnError
    self.fields = fields
    self.viewer = viewer
  }

  mutating func start() -> Step { next() }

  /// A call has its outcome.
  mutating func returned(_ outcome: FieldOutcome) -> Step {
    outcomes.append(outcome)
    if case .cancelled = state { return .nothing }
    state = haltsOnError && !outcome.errors.isEmpty ? .halted : .between
    if case .halted = state { return .finish }
    guard outcome.mayHaveEndedSession, viewer != 0, outcomes.count < fields.count else {
      return next()
    }
    state = .findingViewer
    return .findViewer
  }

  /// - Parameter result: whom a new request would act for, or why that is not known.
  mutating func viewerFound(_ result: Result<Int64, PostgresError>) -> Step {
    guard case .findingViewer = state else { return .nothing }
    switch result {
    case .success(let found):
      viewer = found
      state = .between
    case .failure(let error): state = .blocked(.obstacle(error))
    }
    return next()
  }

  /// The client has disconnected: no further field executes.
  mutating func cancel() { state = .cancelled }

  private mutating func next() -> Step {
    while outcomes.count < fields.count {
      switch (fields[outcomes.count], state) {
      case (_, .halted): return .finish
      case (_, .cancelled), (_, .calling), (_, .findingViewer): return .nothing
      case (.known(let outcome), _), (.call, .blocked(let outcome)):
        outcomes.append(outcome)
        if haltsOnError, !outcome.errors.isEmpty { state = .halted }
      case (.call, .between):
        state = .calling
        return .call(outcomes.count)
      }
    }
    return .finish
  }

  /// The errors of a mutation of which no field could be executed; nil if any was. These decide about the HTTP status.
  var refusal: OperationResponse? {
    guard let first = outcomes.first(where: \.isUnserved), outcomes.allSatisfy(\.isUnserved) else {
      return nil
    }
    return .refused(outcomes.flatMap(\.errors), retryAfter: first.retryAfter)
  }
}
