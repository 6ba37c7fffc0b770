/// The formats in which clients take those parts of an answer that come later.
package enum IncrementalDelivery: Sendable, Hashable {
  /// `deferSpec=20220824`: an entry for each fragment, with all that is in it, and for the later items of each list.
  case v20220824
  /// `incrementalSpec=v0.2`: each field once, in entries that several fragments may be waiting for.
  case v02
}
