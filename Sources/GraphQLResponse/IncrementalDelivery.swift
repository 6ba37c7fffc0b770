/// The formats of incremental delivery.
package enum IncrementalDelivery: Sendable, Hashable {
  /// `deferSpec=20220824`: one entry for each fragment, with everything in it, and one for the
  /// later items of each list.
  case v20220824
  /// `incrementalSpec=v0.2`: each field once, in entries that several fragments may wait for.
  case v02
}
