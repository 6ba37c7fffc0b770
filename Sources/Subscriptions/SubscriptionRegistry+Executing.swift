import EventLoops
import GraphQLResponse

/// The execution of events: from an event to a response.
extension SubscriptionRegistry {
  // MARK: Events

  /// - Parameter position: the number of the batch.
  mutating func notify(
    _ id: StreamID, of event: CommittedEvent, in batch: EventBatch, _ position: Int
  ) {
    guard let subscription = subscriptions[id],
      subscription.since?.contains(event.transaction) != true
    else { return }
    // A key below zero is that of an audience, which an event may change.
    let mayChangeKeys = subscription.source.keysMayChange || event.topic.key < 0
    if mayChangeKeys, !subscription.source.readsNode { renew(id, position) }
    add(id, event, batch.snapshot)
  }

  mutating func add(_ id: StreamID, _ event: CommittedEvent, _ snapshot: PostgresSnapshot) {
    if subscriptions[id]?.source.isSettled == true, event.transaction >= snapshot.first {
      let newest = subscriptions[id]?.unsettled
      if newest == nil { unsettled.append(id) }
      subscriptions[id]?.unsettled = max(newest ?? 0, event.transaction)
    } else {
      add(id, event.node, snapshot)
    }
  }

  /// All transactions before the snapshot have ended.
  mutating func settle(by snapshot: PostgresSnapshot) {
    guard !unsettled.isEmpty else { return }
    let waiting = unsettled
    unsettled = []
    for id in waiting {
      guard let transaction = subscriptions[id]?.unsettled else { continue }
      if transaction < snapshot.first {
        subscriptions[id]?.unsettled = nil
        add(id, 0, snapshot)
      } else {
        unsettled.append(id)
      }
    }
  }

  mutating func add(_ id: StreamID, _ node: Int64, _ snapshot: PostgresSnapshot) {
    guard let subscription = subscriptions[id] else { return }
    if !subscription.source.readsNode {
      subscriptions[id]?.queue.removeAll()
    } else if subscription.queue.count >= settings.maximumQueue {
      return interrupt(id, "Too much happens to be told.")
    }
    subscriptions[id]?.queue.append(PendingEvent(node: node, snapshot: snapshot))
    makeReady(id)
  }

  // MARK: Turns

  mutating func makeReady(_ id: StreamID) {
    guard let subscription = subscriptions[id], subscription.isActive, !subscription.queue.isEmpty,
      case .idle = subscription.work
    else { return }
    subscriptions[id]?.work = .ready
    executions.ready.append(id)
  }

  /// The pause after a failure is over.
  mutating func resume(_ id: StreamID) {
    guard case .pausing? = subscriptions[id]?.work else { return }
    subscriptions[id]?.work = .idle
    makeReady(id)
    executeReady()
  }

  mutating func executeReady() {
    while executions.count < settings.maximumStatements, let id = executions.ready.popFirst() {
      guard let source = subscriptions[id]?.source,
        let event = subscriptions[id]?.queue.popFirst(),
        let parameters = subscriptions[id]?.parameters(of: event)
      else { continue }
      let key =
        event.isAlone
        ? nil
        : SharedExecutions.Key(
          group: source.group, node: event.node, snapshot: event.snapshot,
          received: source.readsReceived ? parameters.received : nil)
      if let statement = executions.statement(for: key) {
        executions.join(statement, id, event)
        subscriptions[id]?.work = .executing(statement)
      } else {
        let statement = newStatement(.event)
        executions.begin(statement, key, id, event)
        subscriptions[id]?.work = .executing(statement)
        actions.append(.execute(statement, id, parameters))
      }
    }
  }

  mutating func stopExecuting(_ id: StreamID) {
    guard case .executing(let statement)? = subscriptions[id]?.work else { return }
    if executions.leave(statement, id) { cancel(statement) }
  }

  // MARK: Results

  mutating func executed(_ statement: StatementID, _ outcome: StatementOutcome) {
    switch statements.removeValue(forKey: statement) {
    case .comparison(let id): compared(id, outcome)
    case .event:
      guard let execution = executions.end(statement) else { return }
      for (place, (id, event)) in execution.members.enumerated() where subscriptions[id] != nil {
        subscriptions[id]?.work = .idle
        if place == 0 || outcome.isShared {
          answer(id, event, outcome)
        } else {
          // Errors name the request they belong to, and their cause may concern the first subscription only.
          var event = event
          event.isAlone = true
          subscriptions[id]?.restore(event)
          makeReady(id)
        }
      }
      takeTurnsLater()
    case .keys, .missed, .query, nil: break
    }
  }

  private mutating func answer(
    _ id: StreamID, _ event: PendingEvent, _ outcome: StatementOutcome
  ) {
    guard let source = subscriptions[id]?.source else { return }
    switch outcome {
    case .response(let body, let errors):
      let isEndOfBatch = subscriptions[id]?.queue.first?.snapshot != event.snapshot
      if isEndOfBatch { subscriptions[id]?.received = event.snapshot }
      let part =
        isEndOfBatch ? nil : ResumeToken.Part(snapshot: event.snapshot, node: event.node)
      subscriptions[id]?.failures = 0
      if body == source.nullBody {
        if source.endsWithNull {
          actions.append(.send(id, body, resumeToken(of: id, body, part), isFollowed: false))
          return finish(id, outcome)
        }
      } else if isNew(body, to: id) {
        counts.sent &+= 1
        if !errors.isEmpty { actions.append(.report(id, errors)) }
        let isFollowed = subscriptions[id]?.queue.isEmpty == false
        actions.append(
          .send(id, body, resumeToken(of: id, body, part), isFollowed: isFollowed))
      }
      makeReady(id)
    case .failed(let errors):
      subscriptions[id]?.failures += 1
      let stage = OverloadPolicy.Stage.serving(failures: subscriptions[id]?.failures ?? 1)
      switch policy.verdict(on: errors, of: stage, now) {
      case .retry(let pause):
        subscriptions[id]?.restore(event)
        subscriptions[id]?.work = .pausing
        deadlines.set(.work(id), at: now + pause)
      case .requeue, .fail: finish(id, outcome)
      }
    }
  }

  /// Whether the response differs from the last one. Each response about a node is new.
  mutating func isNew(_ body: [UInt8], to id: StreamID) -> Bool {
    guard let subscription = subscriptions[id], !subscription.source.readsNode else { return true }
    let hash = body.hashValue
    subscriptions[id]?.lastHash = hash
    return subscription.lastHash != hash
  }

  func resumeToken(
    of id: StreamID, _ body: [UInt8], _ part: ResumeToken.Part? = nil
  ) -> ResumeToken? {
    guard let subscription = subscriptions[id] else { return nil }
    return subscription.received.map {
      ResumeToken(
        received: $0, part: part, crash: statisticsResetAt,
        last: subscription.source.isCompared ? .response(body) : nil)
    }
  }
}

extension Subscription {
  /// Puts an event back whose statement failed. One response stands for all events so far, so a later one replaces it.
  mutating func restore(_ event: PendingEvent) {
    if source.readsNode || queue.isEmpty { queue.prepend(event) }
  }
}

extension StatementOutcome {
  /// Whether the response is that of every subscription that waits for it.
  fileprivate var isShared: Bool {
    if case .response(_, let errors) = self { errors.isEmpty } else { false }
  }
}
