import JSON
import TestSupport
import Testing

/// Notifications that their recipient deletes, and those of some reasons only.
@Suite(.usesCluster) struct NotificationDeletionTests {
  @Test func `a recipient deletes notifications, and only their own`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = (try data.person("ann"), try data.person("ben"))
    let own = try (0..<3).map { try data.tell(ann, "n\($0)") }
    let other = try data.tell(ben, "b")
    func ids(of person: Person) throws -> [String] {
      try server.data(
        "{ viewer { unreadNotificationCount notifications { nodes { id } } } }",
        as: person
      ).strings("viewer.notifications.nodes", "id")
    }
    let delete = "deleteNotifications(notificationIds: $ids)"
    #expect(
      try server.refusals(
        delete, ["ids: [ID!]!": [own[0].json, other.json, ann.json]], as: ann)
        == [
          Refusal("NOT_FOUND", "notificationIds", "1"),
          Refusal("NOT_FOUND", "notificationIds", "2"),
        ])
    #expect(
      try server.refusals(delete, ["ids: [ID!]!": []], as: ann)
        == [Refusal("REQUIRED", "notificationIds")])
    #expect(try ids(of: ann) == own.reversed().map(\.wire))
    let done = try server.mutate(
      delete, "viewer { unreadNotificationCount }", ["ids: [ID!]!": [own[0].json, own[2].json]],
      as: ann)
    #expect(done.at("viewer.unreadNotificationCount") == 1)
    #expect(try ids(of: ann) == [own[1].wire])
    #expect(
      try server.refusals(delete, ["ids: [ID!]!": [own[0].json]], as: ann)
        == [Refusal("NOT_FOUND", "notificationIds", "0")])
    #expect(try ids(of: ben) == [other.wire])
  }

  @Test func `notifications are listed by their reasons`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let ann = try data.person("ann")
    let told = try ["REACTED", "MESSAGED", "TAGGED"].map { reason in
      let key = try data.tell(ann, "x")
      try data.run("UPDATE notification SET reason = $1 WHERE id = $2", [reason, key])
      return key.wire
    }
    for (reasons, expected) in [
      ("[MESSAGED]", [told[1]]), ("[TAGGED, REACTED]", [told[2], told[0]]),
      ("null", told.reversed()), ("[]", []),
    ] {
      #expect(
        try server.data(
          "{ viewer { notifications(reasons: \(reasons)) { nodes { id } } } }", as: ann
        ).strings("viewer.notifications.nodes", "id") == expected, "\(reasons)")
    }
  }
}
