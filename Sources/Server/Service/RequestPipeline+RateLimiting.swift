import GraphQLExecution
import GraphQLResponse
import HTTP

/// The rate-limit points that operations and uncached documents spend.
extension RequestPipeline {
  /// The bucket of a client. A pipeline without rate limits has none.
  private struct Account {
    let limiter: RateLimiter
    let client: RateLimiter.Client
    let rate: RateLimiter.Rate

    /// Charges rate-limit points.
    ///
    /// - Parameter prepaid: what was taken for the same operation before.
    /// - Returns: the refusal if the balance is too low.
    func refusal(of what: String, costing cost: Int, prepaid: Int = 0) -> OperationResponse? {
      guard
        case .refused(let wait) = limiter.take(
          cost, prepaid: prepaid, from: client, now: monotonicNanoseconds())
      else { return nil }
      return .refused(
        [
          GraphQLError(
            "\(what) costs about \(cost) of your rate-limit points, and fewer are left. You have "
              + "\(rate.maximum) at most, and \(rate.perSecond) more each second.",
            code: .rateLimited)
        ], retryAfter: wait)
    }
  }

  /// - Parameter viewer: 0 without a token.
  private func account(of caller: Caller, viewer: Int64) -> Account? {
    guard let limiter = shared.rateLimiter, let address = caller.chargedAddress else { return nil }
    let client = viewer == 0 ? RateLimiter.Client.address(address) : .viewer(viewer)
    return limiter.rate(of: client).map { Account(limiter: limiter, client: client, rate: $0) }
  }

  /// The viewer whose session is known already; 0 of everybody else.
  func knownViewer(of caller: Caller) -> Int64 {
    guard case .token(let token) = caller.credential else { return 0 }
    return sessions.known(token)?.id ?? 0
  }

  /// Returns the points for parsing, validating and planning a document, which take about as long
  /// as so many objects of a response. A trusted document costs nothing.
  private static func preparationCost(of request: GraphQLRequest) -> Int {
    request.trustedID == nil ? 1 + request.document.utf8.count / 256 : 0
  }

  /// Takes the points of a document that is new from its client.
  ///
  /// - Returns: the refusal if they are not there.
  func chargePreparing(
    _ request: GraphQLRequest, _ flight: RequestInFlight
  ) -> OperationResponse? {
    let cost = Self.preparationCost(of: request)
    flight.preparationCost = cost
    guard cost > 0,
      let account = account(of: flight.caller, viewer: knownViewer(of: flight.caller))
    else { return nil }
    return account.refusal(of: "Planning a new document of this size", costing: cost)
  }

  /// Takes the points of a search of the schema, which compares each word with all of it.
  ///
  /// - Returns: the refusal if they are not there.
  func chargeSearch(for question: String, _ caller: Caller) -> OperationResponse? {
    account(of: caller, viewer: knownViewer(of: caller))?.refusal(
      of: "A search of this length", costing: 10 + question.utf8.count / 4)
  }

  /// Spends the expected cost of an operation. Its response reports the actual cost, and settles
  /// the difference.
  ///
  /// - Parameter viewer: the viewer's ID, or 0 without a token.
  /// - Returns: the refusal if the balance is too low.
  func takePoints(
    for operation: PreparedOperation, viewer: Int64, _ flight: RequestInFlight
  ) -> OperationResponse? {
    guard let account = account(of: flight.caller, viewer: viewer) else {
      if flight.caller.asksForCost { tellCost(of: operation, flight) }
      return nil
    }
    let cost = operation.expectedCost
    if let refusal = account.refusal(
      of: "The operation", costing: cost, prepaid: flight.preparationCost)
    {
      return refusal
    }
    // A stream costs its first response, which other streams may share: it reports no cost.
    let charge = OperationCharge(requested: operation.cost, isReported: !operation.lasts) {
      let available = account.limiter.settle(
        cost, actual: $0, of: account.client, now: monotonicNanoseconds())
      return OperationCharge.Throttle(
        maximum: account.rate.maximum, available: available, restoreRate: account.rate.perSecond)
    }
    operation.charge = charge
    flight.charge = charge
    return nil
  }

  /// Has the response report its cost to a client that spends no points.
  private func tellCost(of operation: PreparedOperation, _ flight: RequestInFlight) {
    let charge = OperationCharge(requested: operation.cost, isReported: !operation.lasts) { _ in nil
    }
    operation.charge = charge
    flight.charge = charge
  }
}
