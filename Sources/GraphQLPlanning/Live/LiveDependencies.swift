/// The dependencies of a live query's result: the touches that may change it.
package struct LiveDependencies: Sendable {
  /// Touches of this topic with nodes of these types; of any type if nil.
  package struct Pattern: Sendable, Hashable {
    package let topic: String
    package let tags: [Int]?
  }

  /// Touches of this topic whose key, or node, is a given one.
  package struct Topic: Sendable, Hashable {
    package let name: String
    package let isNode: Bool
    /// Whether the topic is used with the viewer's ID only.
    package let isOwn: Bool
  }

  /// The reason why changes of a field cannot be tracked.
  package struct UntrackedDependency: Sendable, Hashable {
    /// That of the field; empty if no field can be tracked.
    package let coordinate: String
    package let reason: String
    /// The table whose changes are not reported, if that is the reason.
    package let relation: String?
  }

  package internal(set) var patterns: Set<Pattern> = []
  /// The topics with the viewer's ID.
  package internal(set) var viewerTopics: Set<Topic> = []
  /// The topics with IDs in the response, which refer to these by index.
  package internal(set) var topics: [Topic] = []
  package internal(set) var untracked: [UntrackedDependency] = []

  /// Creates a plan without dependencies.
  package init() {}
}

/// A column of a record that is not written, whose value is a key of a live query: an ID, or an
/// array of IDs.
package struct LiveColumn: Sendable, Hashable {
  package let column: Int
  /// The index in the plan's topics.
  package let topic: Int
}

/// A key found in a result.
package struct DependencyKey: Sendable, Hashable {
  /// The index in the plan's topics.
  package let topic: Int
  package let id: Int64

  package init(topic: Int, id: Int64) {
    self.topic = topic
    self.id = id
  }
}
