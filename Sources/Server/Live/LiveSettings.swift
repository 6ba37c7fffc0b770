import Subscriptions

/// The limits of sockets and streams.
package struct LiveSettings: Sendable {
  /// The maximum time until `connection_init`.
  package var initialisation: Duration = .seconds(3)
  /// Operations of one socket at once.
  package var maximumOperations = 100

  /// The maximum number of undelivered events of one subscription.
  package var maximumQueue = 1_000
  /// Statements of one loop at once.
  package var deliveries = 64
  /// The maximum time that a new subscription or live query waits for capacity. Then it is refused.
  package var patience: Duration = .seconds(30)
  /// A live query is run at most so often.
  package var livePause: Duration = .milliseconds(100)
  /// The percentage of the time of an event loop's connections that live queries may use to run
  /// again.
  package var livePercent = 25
  /// The connection time that live queries may use in advance.
  package var liveBurst: Duration = .milliseconds(50)
  /// The maximum number of objects that the result of a live query depends on, in addition to the
  /// dependencies of its plan.
  package var maximumLiveDependencies = 1_000
  /// Streams say so often that they are alive.
  package var heartbeat: Duration = .seconds(12)

  package init() {}

  /// - Parameter connections: those of an event loop.
  func registry(connections: Int) -> SubscriptionRegistry.Settings {
    var settings = SubscriptionRegistry.Settings()
    settings.maximumQueue = maximumQueue
    settings.maximumStatements = deliveries
    settings.patience = patience
    settings.livePause = livePause
    settings.livePercent = livePercent
    settings.liveBurst = liveBurst
    settings.maximumLiveDependencies = maximumLiveDependencies
    settings.connections = connections
    return settings
  }
}
