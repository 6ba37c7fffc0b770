import Subscriptions

/// What reads committed events for all event loops of the process.
protocol EventReader: AnyObject, Sendable {
  func start()
  func stop()
  /// Reports a commit of this process. From any thread.
  func ring()
  /// Sends a loop the events that are committed after `joined` is called. From any thread.
  func join(_ loop: Int, _ listener: EventListener)
  func leave(_ loop: Int)
}

/// What a loop does with events. Called on the reader's thread.
struct EventListener: Sendable {
  let joined: @Sendable (_ statisticsResetAt: String?) -> Void
  let receive: @Sendable (EventBatch) -> Void
}
