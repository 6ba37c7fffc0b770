import EventLoops
import GraphQLResponse

/// The start of subscriptions. The keys and a snapshot are read, missed events are found, and the
/// subscription is registered. If the keys may have changed, they are read again.
extension SubscriptionRegistry {
  mutating func subscribe(
    _ id: StreamID, _ source: SubscriptionSource, from token: ResumeToken?
  ) {
    var subscription = Subscription(source: source, began: now)
    subscription.received = token?.received
    subscription.resume = token
    subscription.lookup = Subscription.Lookup(position: backlog.end, step: .waiting)
    subscriptions[id] = subscription
    lookupCount += 1
    needReader()
    if reader == .joined {
      beginLookup(id)
      takeTurns()
    }
    count()
  }

  /// Begins to buffer events for a stream.
  mutating func beginLookup(_ id: StreamID) {
    backlog.open(at: backlog.end)
    subscriptions[id]?.lookup = Subscription.Lookup(position: backlog.end, step: .queued)
    starts.append(.subscription(id))
  }

  mutating func readKeys(_ id: StreamID) {
    let statement = newStatement(.keys(id))
    subscriptions[id]?.lookup?.step = .reading(statement)
    actions.append(.readKeys(statement, id))
  }

  mutating func requeueLookup(_ id: StreamID) {
    guard case .pausing? = subscriptions[id]?.lookup?.step else { return }
    subscriptions[id]?.lookup?.step = .queued
    starts.append(.subscription(id))
    takeTurns()
  }

  // MARK: Results

  mutating func keysRead(
    _ statement: StatementID, _ result: Result<SubscriptionKeys, StatementFailure>
  ) {
    guard case .keys(let id)? = statements.removeValue(forKey: statement),
      let subscription = subscriptions[id]
    else { return }
    switch result {
    case .success(let keys):
      if subscription.source.isCompared, subscription.lastHash == nil {
        let next = newStatement(.comparison(id))
        subscriptions[id]?.lookup?.step = .comparing(next, keys)
        actions.append(.execute(next, id, EventParameters()))
      } else if let token = subscription.resume {
        subscriptions[id]?.resume = nil
        let next = newStatement(.missed(id))
        subscriptions[id]?.lookup?.step = .catchingUp(next, keys, token)
        actions.append(
          .readMissed(next, id, topic: subscription.source.topic, since: token.received))
      } else {
        activate(id, keys)
      }
    case .failure(let failure): failed(id, failure.errors)
    }
  }

  /// A subscription whose responses are compared has the result at its start.
  mutating func compared(_ id: StreamID, _ outcome: StatementOutcome) {
    guard case .comparing(_, let keys)? = subscriptions[id]?.lookup?.step,
      let source = subscriptions[id]?.source
    else { return }
    switch outcome {
    case .response(let body, _):
      let token = subscriptions[id]?.resume
      subscriptions[id]?.resume = nil
      subscriptions[id]?.received = keys.snapshot
      _ = isNew(body, to: id)
      if body == source.nullBody {
        actions.append(.send(id, body, resumeToken(of: id, body), isFollowed: false))
        return finish(id, outcome)
      }
      // A reconnecting client has the result, unless it is another one by now.
      if let token, token.last?.mark != ResponseMark(of: body) {
        counts.sent &+= 1
        actions.append(.send(id, body, resumeToken(of: id, body), isFollowed: false))
      }
      activate(id, keys)
    case .failed(let errors): failed(id, errors)
    }
  }

  /// Sends what happened since the client received its last event: first the rest of the batch that it had in part.
  mutating func missedRead(
    _ statement: StatementID, _ result: Result<MissedEvents, StatementFailure>
  ) {
    guard case .missed(let id)? = statements.removeValue(forKey: statement),
      case .catchingUp(_, let keys, let token)? = subscriptions[id]?.lookup?.step
    else { return }
    switch result {
    case .success(let missed) where missed.statisticsResetAt != token.crash:
      let text =
        "The resume token is no longer valid, because PostgreSQL crashed after it was issued. "
        + "Subscribe again without Last-Event-ID."
      finish(id, .failed([GraphQLError(text, code: .tokenExpired)]))
    case .success(let missed):
      let wanted = Set(keys.keys)
      var later: [CommittedEvent] = []
      for event in missed.events
      where wanted.contains(event.topic.key) && keys.snapshot.contains(event.transaction) {
        if let part = token.part, part.snapshot.contains(event.transaction) {
          if event.node > part.node { add(id, event.node, part.snapshot) }
        } else {
          later.append(event)
        }
      }
      if let part = token.part, subscriptions[id]?.queue.isEmpty == true {
        subscriptions[id]?.received = part.snapshot
      }
      for event in later { add(id, event, keys.snapshot) }
      if subscriptions[id] != nil { activate(id, keys) }
    case .failure(let failure):
      subscriptions[id]?.resume = token
      failed(id, failure.errors)
    }
  }

  private mutating func failed(_ id: StreamID, _ errors: [GraphQLError]) {
    guard let subscription = subscriptions[id] else { return }
    let stage: OverloadPolicy.Stage =
      subscription.isActive
      ? .serving(failures: subscription.failures + 1) : .starting(since: subscription.began)
    switch policy.verdict(on: errors, of: stage, now) {
    case .requeue:
      subscriptions[id]?.lookup?.step = .queued
      starts.prepend(.subscription(id))
      policy.overload(now)
      takeTurnsLater()
    case .retry(let pause):
      subscriptions[id]?.failures += 1
      subscriptions[id]?.lookup?.step = .pausing
      deadlines.set(.lookup(id), at: now + pause)
      policy.end()
      takeTurnsLater()
    case .fail: finish(id, .failed(errors))
    }
  }

  // MARK: Keys

  private mutating func activate(_ id: StreamID, _ keys: SubscriptionKeys) {
    policy.succeed()
    guard let subscription = subscriptions[id], let lookup = subscription.lookup else { return }
    unregister(id)
    register(id, keys.keys)
    subscriptions[id]?.failures = 0
    if !subscription.isActive {
      subscriptions[id]?.isActive = true
      subscriptions[id]?.since = keys.snapshot
      subscriptions[id]?.received = subscription.received ?? keys.snapshot
    }
    if lookup.isStale {
      // The keys changed while they were read.
      subscriptions[id]?.lookup = Subscription.Lookup(position: lookup.position, step: .queued)
      starts.append(.subscription(id))
      return takeTurnsLater()
    }
    subscriptions[id]?.lookup = nil
    lookupCount -= 1
    for (position, batch) in backlog.batches(from: lookup.position) {
      for event in batch.events where index[event.topic]?.contains(id) == true {
        if subscription.isActive {
          add(id, event, batch.snapshot)
        } else {
          notify(id, of: event, in: batch, position)
        }
      }
    }
    backlog.close(lookup.position)
    backlog.trim()
    makeReady(id)
    executeReady()
    count()
    takeTurnsLater()
  }

  private mutating func register(_ id: StreamID, _ keys: [Int64]) {
    guard let name = subscriptions[id]?.source.topic else { return }
    for key in keys {
      let topic = CommittedEvent.Topic(name: name, key: key)
      guard index[topic]?.contains(id) != true else { continue }
      index[topic, default: StreamList()].insert(id)
      subscriptions[id]?.topics.append(topic)
      counts.keys += 1
    }
  }

  mutating func unregister(_ id: StreamID) {
    let topics = subscriptions[id]?.topics ?? []
    subscriptions[id]?.topics = []
    counts.keys -= topics.count
    for topic in topics {
      index[topic]?.remove(id)
      if index[topic]?.isEmpty == true { index[topic] = nil }
    }
  }

  /// Reads the keys again, because an event may have changed them. Events under new keys count from that batch on.
  mutating func renew(_ id: StreamID, _ position: Int) {
    guard subscriptions[id]?.lookup == nil else {
      subscriptions[id]?.lookup?.isStale = true
      return
    }
    backlog.open(at: position)
    subscriptions[id]?.lookup = Subscription.Lookup(position: position, step: .queued)
    lookupCount += 1
    starts.append(.subscription(id))
    count()
  }

  mutating func remove(subscription id: StreamID) {
    guard let subscription = subscriptions[id] else { return }
    if let lookup = subscription.lookup {
      lookupCount -= 1
      if case .waiting = lookup.step {} else { backlog.close(lookup.position) }
      if let statement = lookup.step.statement {
        cancel(statement)
        policy.end()
      }
    }
    unregister(id)
    deadlines.remove(.lookup(id))
    deadlines.remove(.work(id))
    stopExecuting(id)
    subscriptions[id] = nil
    backlog.trim()
    count()
    releaseReader()
    takeTurnsLater()
  }

  mutating func count() {
    counts.starting = lookupCount + resolutions.count
    counts.active = subscriptions.count - lookupCount
  }
}
