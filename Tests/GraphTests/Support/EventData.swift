import JSON

/// The requests of tests about events, over HTTP.
extension GraphServer {
  static let createEvent = "createEvent(input: $input)"

  /// Creates an event in 2041.
  func event(
    by author: Person, _ more: KeyValuePairs<String, JSONValue> = [:]
  ) throws -> NodeKey {
    try make(
      Self.createEvent, "event", ["input: CreateEventInput!": Self.eventInput(more)], as: author)
  }

  /// Returns the input for an event in 2041, with these members added or replaced.
  static func eventInput(_ more: KeyValuePairs<String, JSONValue>) -> JSONValue {
    .object(
      [
        JSONValue.Member(name: "title", value: "Regatta"),
        JSONValue.Member(name: "startsAt", value: "2041-06-01T12:00:00.000Z"),
      ].filter { member in !more.contains { $0.key == member.name } }
        + more.map { JSONValue.Member(name: $0.key, value: $0.value) })
  }
}
