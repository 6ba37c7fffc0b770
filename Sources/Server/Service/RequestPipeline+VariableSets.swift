import GraphQLExecution
import GraphQLLanguage
import GraphQLResponse
import GraphQLTransport

/// Several sets of variables for one operation: prepared and signed in once, then each on its own
/// way, with its own points, limits and errors. Their statements go to PostgreSQL together.
extension RequestPipeline {
  /// - Parameters:
  ///   - operations: the same operation, with one set of variables each.
  ///   - flights: that of each operation.
  func answerSets(
    _ operations: [GraphQLRequest], _ flights: [RequestInFlight], _ batch: BatchReply
  ) {
    guard let first = operations.first, let flight = flights.first else { return }
    batch.maximumBytes = shared.execution.maximumResponseBytes
    func goOn() {
      signIn(flights) { [self] in run(operations, flights, batch) }
    }
    if operations.contains(where: isReady) { return goOn() }
    let hasRoom = queue(flight) { [self] isInTime in
      guard !flight.isOver else { return false }
      guard isInTime else {
        end(flights, Self.busy)
        return false
      }
      if let refusal = chargePreparing(first, flight) {
        end(flights, refusal)
        return false
      }
      var preparation = prepare(first)
      for operation in operations.dropFirst() {
        // Its variables are wrong; those of the next may be right.
        guard case .refused(_, .some, _) = preparation else { break }
        preparation = prepare(operation)
      }
      if case .refused(let errors, nil, _) = preparation {
        // No set of variables has an operation.
        end(flights, .refused(errors.errors))
      } else {
        goOn()
      }
      return preparation.times.hasPreparing
    }
    if !hasRoom { end(flights, Self.busy) }
  }

  private func end(_ flights: [RequestInFlight], _ response: OperationResponse) {
    for flight in flights { flight.finish(response) }
  }

  /// Looks the session up once for all sets.
  private func signIn(_ flights: [RequestInFlight], _ then: @escaping () -> Void) {
    guard case .token(let token)? = flights.first?.caller.credential,
      sessions.known(token) == nil
    else { return then() }
    sessions.resolve(token) { [self] resolution in
      switch resolution {
      case .viewer: then()
      case .unknown: end(flights, Self.unknownToken)
      case .failed(let error): end(flights, .failure(error))
      }
    }
  }

  private func run(
    _ operations: [GraphQLRequest], _ flights: [RequestInFlight], _ batch: BatchReply
  ) {
    guard isMutation(operations) else {
      return together { [self] in
        for (operation, flight) in zip(operations, flights) where !flight.isOver {
          answer(operation, flight)
        }
      }
    }
    // In order, as clients that send them one after the other have them.
    batch.onTaken = { [self] place in
      let next = place + 1
      if next < operations.count { answer(operations[next], flights[next]) }
    }
    answer(operations[0], flights[0])
  }

  private func isReady(_ operation: GraphQLRequest) -> Bool {
    if case .ready? = known(operation) { true } else { false }
  }

  private func isMutation(_ operations: [GraphQLRequest]) -> Bool {
    guard let first = operations.first else { return false }
    return switch known(first) {
    case .ready(let operation): operation.label.kind == .mutation
    case .refused(_, let label, _): label?.kind == .mutation
    case nil: false
    }
  }
}
