import Subscriptions

/// What sockets and streams may take.
package struct LiveSettings: Sendable {
  /// Until a client has said who it is, in `connection_init`.
  package var initialisation: Duration = .seconds(3)
  /// Operations of one socket at once.
  package var maximumOperations = 100

  /// Of one subscription, waiting to be told.
  package var maximumQueue = 1_000
  /// Statements of one loop at once.
  package var deliveries = 64
  /// Who begins while too much waits for the database waits for so long, and is refused then.
  package var patience: Duration = .seconds(30)
  /// A live query is run at most so often.
  package var livePause: Duration = .milliseconds(100)
  /// Of the time of a loop's connections, for live queries that are run again.
  package var livePercent = 25
  /// They may take so much of it in advance.
  package var liveBurst: Duration = .milliseconds(50)
  /// What the answer of one may hang on, besides what its plan says.
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
