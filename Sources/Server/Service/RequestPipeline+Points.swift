import GraphQLExecution
import GraphQLResponse
import HTTP

/// What operations, and documents that are new, take of their client's points (R9).
extension RequestPipeline {
  /// Where a client's points are; a pipeline has none where nobody's are counted.
  private struct Account {
    let limiter: RateLimiter
    let client: RateLimiter.Client
    let rate: RateLimiter.Rate

    /// The refusal when what costs so many points cannot be paid for; nil when they were taken.
    ///
    /// - Parameter prepaid: what was taken for the same operation before.
    func refusal(of what: String, costing cost: Int, prepaid: Int = 0) -> OperationResponse? {
      guard
        case .refused(let wait) = limiter.take(
          cost, prepaid: prepaid, from: client, now: monotonicNanoseconds())
      else { return nil }
      return .refused(
        [
          GraphQLError(
            "\(what) may cost \(cost), and that is not left of what may be spent now: "
              + "\(rate.maximum) at once, and \(rate.perSecond) a second.", code: .rateLimited)
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
    return sessions.known(token) ?? 0
  }

  /// What parsing, validating and planning a document costs: about as much as an answer's objects do
  /// in the same time. Those that the operator has published are the operator's.
  static func preparationCost(of request: GraphQLRequest) -> Int {
    request.trustedID == nil ? 1 + request.document.utf8.count / 256 : 0
  }

  /// Takes the points of a document that is new from its client, or refuses it.
  func refusalOfPreparing(_ request: GraphQLRequest, from caller: Caller) -> OperationResponse? {
    let cost = Self.preparationCost(of: request)
    guard cost > 0, let account = account(of: caller, viewer: knownViewer(of: caller)) else {
      return nil
    }
    return account.refusal(of: "Planning a new document of this size", costing: cost)
  }

  /// Takes the operation's points from its client, or refuses it.
  ///
  /// - Parameter viewer: 0 without a token.
  func charge(_ call: Call, viewer: Int64) {
    call.operation.client = viewer == 0 ? call.caller.client : .viewer(viewer)
    guard let account = account(of: call.caller, viewer: viewer) else {
      return run(call, viewer, call.completion)
    }
    let cost = call.operation.cost
    if let refusal = account.refusal(
      of: "The operation", costing: cost, prepaid: call.preparationCost)
    {
      return call.end(refusal)
    }
    let charge = OperationCharge(requested: cost) { actual in
      let available = account.limiter.giveBack(
        cost - actual, to: account.client, now: monotonicNanoseconds())
      return OperationCharge.Throttle(
        maximum: account.rate.maximum, available: available, restoreRate: account.rate.perSecond)
    }
    // What a subscription or a live query costs is not known at its beginning: it is taken as a whole.
    if !call.lasts { call.operation.charge = charge }
    run(call, viewer) { response, record in
      // Of one that was refused for want of room, nothing was spent.
      if case .refused(let errors, _) = response, errors.first?.code.status == .serviceUnavailable {
        charge.cancel()
      }
      call.completion(response, record)
    }
  }
}
