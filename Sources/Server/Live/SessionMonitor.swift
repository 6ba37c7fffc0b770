import Accounts
import Subscriptions

/// Ends a socket or stream with the session that it began with.
final class SessionMonitor {
  private let subscriptions: SubscriptionDriver
  private var id: StreamID?

  init(_ subscriptions: SubscriptionDriver) { self.subscriptions = subscriptions }

  /// - Parameter ended: called once the session is over, unless `stop` is called before.
  func start(
    _ token: SessionToken, of viewer: Int64, ended: @escaping (SessionEnd) -> Void
  ) {
    id = subscriptions.monitor(token, of: viewer, ended: ended)
  }

  func stop() {
    if let id { subscriptions.cancel(id) }
    id = nil
  }
}
