import JSON
import TestSupport
import Testing

/// Notifications that become new, seen, or done.
@Suite(.usesCluster) struct NotificationStateTests {
  private static let list = """
    { viewer { unreadNotificationCount notifications { totalCount nodes {
      id reason text readAt actor { id } about { id } destination
      action { kind label url performedAt } } } } }
    """

  @Test func `GTIO-2.1a: what others do counts as new, for whom it concerns alone`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, ann, ben) = (
      try data.person(name: "Author"), try data.person(name: "Ann <b>"), try data.person()
    )
    let outfit = try data.post(.outfit, by: author)
    func unread(_ person: Person) throws -> JSONValue? {
      try server.data("{ viewer { unreadNotificationCount } }", as: person)
        .at("viewer.unreadNotificationCount")
    }
    #expect(try unread(author) == 0)
    try server.mutate("react(subjectId: $id, kind: HEART)", ["id: ID!": outfit.json], as: ann)
    try server.mutate("react(subjectId: $id, kind: HEART)", ["id: ID!": outfit.json], as: ann)
    #expect(try unread(author) == 1)
    try server.mutate(
      "addComment(subjectId: $id, body: \"1 < 2\")", ["id: ID!": outfit.json], as: ann)
    #expect(try unread(author) == 2)
    // One's own acts are not told.
    try server.mutate(
      "addComment(subjectId: $id, body: \"thanks\")", ["id: ID!": outfit.json], as: author)
    #expect(try unread(author) == 2)
    #expect(try unread(ann) == 0)
    #expect(try unread(ben) == 0)
    let told = try server.data(Self.list, as: author)
    #expect(
      told.strings("viewer.notifications.nodes", "text") == [
        "<b>Ann &lt;b&gt;</b> commented: 1 &lt; 2", "<b>Ann &lt;b&gt;</b> loves your outfit.",
      ])
    // Votes are secret: one notification for all that were not read, by nobody.
    for (number, person) in [ann, ben].enumerated() {
      try server.mutate(
        "castVote(postId: $id, choice: WEAR_IT)", ["id: ID!": outfit.json], as: person)
      let latest = try server.data(Self.list, as: author).at("viewer.notifications.nodes.0")
      #expect(latest?["reason"] == "VOTED")
      #expect(latest?["actor"] == .null)
      #expect(
        latest?["text"] == (number == 0 ? "1 vote on your outfit." : "2 votes on your outfit."))
    }
    #expect(try unread(author) == 3)
    try server.mutate("blockUser(userId: $id)", ["id: ID!": ann.json], as: author)
    #expect(try unread(author) == 1)
  }

  @Test func `GTIO-2.2d: a button makes the server act, once, for its recipient`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = (try data.person(), try data.person())
    try server.mutate("followUsers(userIds: [$id])", ["id: ID!": ben.json], as: ann)
    let told = try server.data(Self.list, as: ben).at("viewer.notifications.nodes.0")
    let id = try #require(told?["id"])
    #expect(
      told?["action"]
        == ["kind": "FOLLOW_BACK", "label": "Follow back", "url": nil, "performedAt": nil])
    #expect(
      try server.refusals(
        "performNotificationAction(notificationId: $id)", ["id: ID!": id], as: ann)
        == [Refusal("NOT_FOUND", "notificationId")])
    var times: [JSONValue?] = []
    for _ in 0..<2 {
      let done = try server.mutate(
        "performNotificationAction(notificationId: $id)",
        "notification { readAt action { kind performedAt } }", ["id: ID!": id], as: ben)
      #expect(done.at("notification.action.kind") == "FOLLOW_BACK")
      #expect(done.at("notification.readAt")?.string != nil)
      times.append(done.at("notification.action.performedAt"))
    }
    #expect(times[0]?.string != nil)
    #expect(times[0] == times[1])
    #expect(
      try server.data(
        "query($id: ID!) { user(by: {id: $id}) { viewerIsFollowing } }", ["id": ann.json], as: ben)
        == ["user": ["viewerIsFollowing": true]])
    // Who follows back is told of, without a button: both follow each other.
    let answer = try server.data(Self.list, as: ann).at("viewer.notifications.nodes.0")
    #expect(answer?["reason"] == "FOLLOWED")
    #expect(answer?["action"] == .null)
    #expect(
      try server.refusals(
        "performNotificationAction(notificationId: $id)",
        ["id: ID!": try #require(answer?["id"])], as: ann)
        == [Refusal("INVALID", "notificationId")])
  }

  @Test func `GTIO-2.2e: notifications seen stop counting, some or all, only one's own`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, ann) = (try data.person(), try data.person())
    let outfits = try (0..<3).map { _ in try data.post(.outfit, by: author) }
    for outfit in outfits {
      try server.mutate("react(subjectId: $id, kind: HEART)", ["id: ID!": outfit.json], as: ann)
    }
    let ids = try server.data(Self.list, as: author).list("viewer.notifications.nodes", "id")
    #expect(ids.count == 3)
    let mark = "markNotificationsRead(notificationIds: $ids)"
    let counts = "viewer { unreadNotificationCount }"
    #expect(
      try server.mutate(mark, counts, ["ids: [ID!]": .array(ids)], as: ann)["viewer"]
        == ["unreadNotificationCount": 0])
    #expect(
      try server.data(Self.list, as: author).at("viewer.unreadNotificationCount") == 3)
    #expect(
      try server.mutate(mark, counts, ["ids: [ID!]": [ids[1]]], as: author)["viewer"]
        == ["unreadNotificationCount": 2])
    #expect(
      try server.data(
        "{ viewer { notifications(isRead: false) { nodes { id } } } }", as: author
      ).list("viewer.notifications.nodes", "id") == [ids[0], ids[2]])
    let first = try server.data(Self.list, as: author).at("viewer.notifications.nodes.1.readAt")
    #expect(
      try server.mutate("markNotificationsRead", counts, as: author)["viewer"]
        == ["unreadNotificationCount": 0])
    // The time of the first look stays.
    let after = try server.data(Self.list, as: author)
    #expect(after.at("viewer.notifications.nodes.1.readAt") == first)
    #expect(after.at("viewer.notifications.totalCount") == 3)
    #expect(
      try server.refusals(
        mark, ["ids: [ID!]": .array(Array(repeating: "x", count: 1_001))], as: author)
        == [Refusal("TOO_MANY", "notificationIds")])
  }
}
