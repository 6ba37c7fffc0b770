import EventLoops

/// The dependencies of a live query, from its plan.
package struct LiveQuerySource: Sendable {
  /// The dependencies that do not come from the result.
  package let dependencies: Set<Dependency>
  /// The polling interval that the client asked for.
  package let interval: Duration?
  /// The client receives changes as patches.
  package let asPatches: Bool

  package init(dependencies: Set<Dependency>, interval: Duration?, asPatches: Bool) {
    self.dependencies = dependencies
    self.interval = interval
    self.asPatches = asPatches
  }
}

/// Events that may change the result of a live query.
package enum Dependency: Hashable, Sendable {
  /// The events of the topic with this key.
  case key(topic: String, Int64)
  /// The events of the topic about this node.
  case node(topic: String, Int64)
  /// All events of the topic.
  case all(topic: String)
  /// The events of the topic about nodes of one type.
  case tag(topic: String, Int)

  /// The dependencies that an event touches.
  static func touched(by event: CommittedEvent) -> [Dependency] {
    let name = event.topic.name
    return [
      .key(topic: name, event.topic.key), .node(topic: name, event.node), .all(topic: name),
      .tag(topic: name, Int(event.node & 255)),
    ]
  }
}

/// One query with `@live`.
struct LiveQuery {
  let source: LiveQuerySource
  let began: Moment
  var dependencies: Set<Dependency> = []
  var phase = Phase.waiting
  /// The start time of the last execution.
  var startedAt: Moment
  /// The earliest time of the next execution.
  var restsUntil: Moment
  /// The number of consecutive failed statements.
  var failures = 0
  var responses: LiveResponses

  init(_ source: LiveQuerySource, _ now: Moment) {
    self.source = source
    began = now
    startedAt = now
    restsUntil = now
    responses = LiveResponses(asPatches: source.asPatches)
  }

  enum Phase {
    /// The commit reader is to be joined.
    case waiting
    /// The query waits for its turn to start.
    case queued
    /// - position: the first batch to be compared with the result's dependencies.
    /// - isDirty: a dependency was touched since.
    case running(StatementID, position: Int, isDirty: Bool)
    case idle
    /// A dependency was touched, and the pause since the last execution is not over.
    case resting
    /// The query waits for its turn to run.
    case ready
  }
}
