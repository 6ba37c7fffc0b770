/// What the answer of a live query hangs on: which touches may make it another.
package struct LivePlan: Sendable {
  /// Touches of this topic with nodes of these types; of any unless given.
  package struct Pattern: Sendable, Hashable {
    package let topic: String
    package let tags: [Int]?
  }

  /// Touches of this topic whose key, or node, is one at hand.
  package struct Topic: Sendable, Hashable {
    package let name: String
    package let isNode: Bool
    /// Of the viewer's id only.
    package let isOwn: Bool
  }

  /// Why it cannot be known when a field is another.
  package struct Gap: Sendable, Hashable {
    package let coordinate: String
    package let reason: String
    /// The table whose changes nobody tells of, where that is why.
    package let relation: String?
  }

  package internal(set) var patterns: Set<Pattern> = []
  /// With the viewer's id.
  package internal(set) var viewerTopics: Set<Topic> = []
  /// With ids in the answer, which say by index which of these they go with.
  package internal(set) var topics: [Topic] = []
  package internal(set) var gaps: [Gap] = []

  /// Nothing.
  package init() {}
}

/// A column of a record, not written, whose value is a key of a live query: an id, or an array of ids.
package struct LiveColumn: Sendable, Hashable {
  package let column: Int
  /// Index into the plan's topics.
  package let topic: Int
}

/// A key that was found in an answer.
package struct LiveKey: Sendable, Hashable {
  /// Index into the plan's topics.
  package let topic: Int
  package let id: Int64

  package init(topic: Int, id: Int64) {
    self.topic = topic
    self.id = id
  }
}
