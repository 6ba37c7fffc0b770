import JSON

extension GraphServer {
  /// Runs a mutation of which nothing but its user errors matters; there must be none.
  @discardableResult
  func mutate(
    _ field: String, _ variables: KeyValuePairs<String, JSONValue>, as person: Person?
  ) throws -> JSONValue {
    try mutate(field, "__typename", variables, as: person)
  }

  /// Returns whether a person finds a node by its ID; nil is an anonymous client.
  func finds(_ key: NodeKey, as person: Person?) throws -> Bool {
    let found = try data(
      "query($id: ID!) { node(id: $id) { id } }", ["id": key.json], as: person)
    return found.at("node.id") == key.json
  }

  /// Returns the actions that a person may take on a post.
  func actions(_ post: NodeKey, as person: Person?) throws -> [String] {
    let found = try data(
      "query($id: ID!) { post(id: $id) { viewerActions } }", ["id": post.json], as: person)
    return (found.at("post.viewerActions")?.array ?? []).map { $0.string ?? "" }
  }

  /// Returns the reasons of a person's notifications, latest first.
  func told(_ person: Person) throws -> [String] {
    try data("{ viewer { notifications(first: 100) { nodes { reason } } } }", as: person)
      .strings("viewer.notifications.nodes", "reason")
  }
}
