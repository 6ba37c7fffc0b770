import JSON
import TestSupport
import Testing

/// Comments on events and announcements.
@Suite(.usesCluster) struct EventCommentTests {
  @Test func `PK-COM.a: an event is commented on by whoever sees it`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (host, guest, stranger) = (try data.person(), try data.person(), try data.person())
    let made = try server.event(by: host, ["visibility": "INVITED", "inviteUserIds": [guest.json]])
    let add = "addComment(subjectId: $id, body: \"See you\")"
    try server.mutate(add, ["id: ID!": made.json], as: guest)
    let query = "query($id: ID!) { post(id: $id) { commentCount comments { nodes { body } } } }"
    for person in [host, guest] {
      #expect(
        try server.data(query, ["id": made.json], as: person)
          == ["post": ["commentCount": 1, "comments": ["nodes": [["body": "See you"]]]]])
    }
    #expect(try server.data(query, ["id": made.json], as: stranger) == ["post": nil])
    #expect(
      try server.refusals(add, ["id: ID!": made.json], as: stranger)
        == [Refusal("NOT_FOUND", "subjectId")])
  }

  @Test func `PK-COM.b: any user comments on an announcement`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, reader, blocked) = (try data.person(), try data.person(), try data.person())
    try data.block(author, blocked)
    let made = try server.make(
      "createAnnouncement(input: {body: \"Free cake\"})", "announcement", as: author)
    let add = "addComment(subjectId: $id, body: \"Where?\")"
    try server.mutate(add, ["id: ID!": made.json], as: reader)
    #expect(
      try server.data(
        "query($id: ID!) { post(id: $id) { comments { nodes { body author { id } } } } }",
        ["id": made.json])
        == [
          "post": ["comments": ["nodes": [["body": "Where?", "author": ["id": reader.json]]]]]
        ])
    #expect(
      try server.refusals(add, ["id: ID!": made.json], as: blocked)
        == [Refusal("NOT_FOUND", "subjectId")])
    #expect(
      try server.mutationErrorCodes(add, ["id: ID!": made.json], as: nil) == ["UNAUTHENTICATED"])
  }

  @Test func `PK-COM.c: a meal with its places is commented on like any event`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let service = try data.person("dining", roles: ["MEMBER", "SERVICE"])
    let eater = try data.person()
    let channel = try data.circle("Dining", kind: "CHANNEL", owner: service)
    let places = try ["Hall", "Café"].map { try data.location($0) }
    let meal: KeyValuePairs<String, JSONValue> = [
      "title": "Dinner", "category": "DINING", "circleId": channel.json,
      "venues": [
        [
          "locationId": places[0].json, "opensAt": "2041-06-01T17:00:00.000Z",
          "closesAt": "2041-06-01T19:00:00.000Z", "note": "Pasta",
        ],
        ["locationId": places[1].json, "opensAt": "2041-06-01T16:00:00.000Z"],
      ],
    ]
    let made = try server.event(by: service, meal)
    try server.mutate(
      "addComment(subjectId: $id, body: \"Good pasta\")", ["id: ID!": made.json], as: eater)
    #expect(
      try server.data(
        """
        query($id: ID!) { post(id: $id) { comments { nodes { body } } ... on Event {
          category venues { location { name } opensAt closesAt note } } } }
        """, ["id": made.json]) == [
          "post": [
            "comments": ["nodes": [["body": "Good pasta"]]], "category": "DINING",
            "venues": [
              [
                "location": ["name": "Café"], "opensAt": "2041-06-01T16:00:00.000Z",
                "closesAt": nil,
                "note": nil,
              ],
              [
                "location": ["name": "Hall"], "opensAt": "2041-06-01T17:00:00.000Z",
                "closesAt": "2041-06-01T19:00:00.000Z", "note": "Pasta",
              ],
            ],
          ]
        ])
    #expect(
      try server.refusals(
        GraphServer.createEvent,
        [
          "input: CreateEventInput!": GraphServer.eventInput([
            "category": "DINING",
            "venues": [
              ["locationId": places[0].json], ["locationId": places[0].json],
              ["locationId": eater.json],
              [
                "locationId": places[1].json, "opensAt": "2041-06-01T17:00:00.000Z",
                "closesAt": "2041-06-01T16:00:00.000Z",
              ],
            ],
          ])
        ], as: service) == [
          Refusal("INVALID", "input", "venues", "1", "locationId"),
          Refusal("NOT_FOUND", "input", "venues", "2", "locationId"),
          Refusal("INVALID", "input", "venues", "3", "closesAt"),
        ])
    #expect(
      try server.refusals(
        "addComment(subjectId: $id, body: \"\")", ["id: ID!": made.json], as: eater)
        == [Refusal("REQUIRED", "body")])
  }
}
