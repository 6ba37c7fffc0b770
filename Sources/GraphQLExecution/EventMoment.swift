/// The event of a subscription, as parameters of its statement.
package struct EventMoment: Hashable, Sendable {
  /// The node of the event.
  package let node: Int64
  /// The transaction before which all events were delivered.
  package let told: Int64
  /// The transaction before which all have ended.
  package let ended: Int64

  package init(node: Int64 = 0, told: Int64 = 0, ended: Int64 = 0) {
    self.node = node
    self.told = told
    self.ended = ended
  }
}
