/// A position in the write-ahead log of a cluster.
///
/// Positions of two timelines cannot be compared: neither contains the other.
package struct LogPosition: Sendable, Hashable {
  package let timeline: UInt32
  /// The log sequence number, in bytes.
  package let offset: UInt64

  package init(timeline: UInt32, offset: UInt64) {
    self.timeline = timeline
    self.offset = offset
  }

  /// Reads PostgreSQL's texts.
  ///
  /// - Parameters:
  ///   - timeline: in decimal digits.
  ///   - offset: two hexadecimal halves, such as `16/B374D848`.
  package init?(timeline: String?, offset: String?) {
    let halves = offset?.split(separator: "/", omittingEmptySubsequences: false) ?? []
    guard let timeline = timeline.flatMap({ UInt32($0) }), halves.count == 2,
      let high = UInt32(halves[0], radix: 16), let low = UInt32(halves[1], radix: 16)
    else { return nil }
    self.init(timeline: timeline, offset: UInt64(high) << 32 | UInt64(low))
  }

  /// Whether a server that has replayed the log up to here has everything up to another position.
  package func contains(_ other: LogPosition) -> Bool {
    timeline == other.timeline && offset >= other.offset
  }

  /// Returns the later of two positions: that of the newer timeline, or the larger one.
  package func later(_ other: LogPosition) -> LogPosition {
    (timeline, offset) < (other.timeline, other.offset) ? other : self
  }
}
