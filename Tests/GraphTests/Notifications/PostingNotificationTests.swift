import JSON
import TestSupport
import Testing

/// Notifications about posts, comments, follows, and members.
@Suite(.usesCluster) struct PostingNotificationTests {
  private static let pecks = """
    { viewer { unreadNotificationCount notifications { nodes {
      id reason actor { displayName } about { id } text action { kind label performedAt } } } } }
    """

  @Test func `PK-PECK.b: an invitation is a peck, with a button that attends`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (host, guest) = (try data.person(name: "Host <1>"), try data.person())
    let made = try server.event(
      by: host, ["title": "A & B", "visibility": "INVITED", "inviteUserIds": [guest.json]])
    let told = try server.data(Self.pecks, as: guest)
    let peck = try #require(told.at("viewer.notifications.nodes.0"))
    #expect(peck["reason"] == "EVENT_INVITED")
    #expect(peck["about"] == ["id": made.json])
    #expect(peck["text"] == "<b>Host &lt;1&gt;</b> invites you to “A &amp; B”.")
    #expect(peck["action"] == ["kind": "ATTEND", "label": "Attend", "performedAt": nil])
    let perform = "performNotificationAction(notificationId: $id)"
    let id = try #require(peck["id"])
    #expect(
      try server.refusals(perform, ["id: ID!": id], as: host)
        == [Refusal("NOT_FOUND", "notificationId")])
    try server.mutate(perform, ["id: ID!": id], as: guest)
    let seen = try server.data(
      "query($id: ID!) { post(id: $id) { ... on Event { viewerAttendance viewerInvitation { status } } } }",
      ["id": made.json], as: guest)
    #expect(
      seen == ["post": ["viewerAttendance": "GOING", "viewerInvitation": ["status": "ACCEPTED"]]])
    #expect(try server.data(Self.pecks, as: host).at("viewer.notifications.nodes") == [])
  }

  @Test func `PK-PECK.c: an announcement is one peck, however many circles match`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, member) = (try data.person(name: "Dean"), try data.person())
    let circles = try (0..<3).map { try data.circle("c\($0)", owner: author, members: [member]) }
    let made = try server.make(
      "createAnnouncement(input: $input)", "announcement",
      [
        "input: CreateAnnouncementInput!": [
          "body": "Exams <moved>", "notifyCircleIds": .array(circles.map(\.json)),
          "notifyUserIds": [member.json],
        ]
      ], as: author)
    let told = try server.data(Self.pecks, as: member)
    #expect(told.at("viewer.unreadNotificationCount") == 1)
    #expect(told.at("viewer.notifications.nodes.0.about") == ["id": made.json])
    #expect(
      told.at("viewer.notifications.nodes.0.text") == "<b>Dean</b> announces: Exams &lt;moved&gt;")
    #expect(try server.data(Self.pecks, as: author).at("viewer.unreadNotificationCount") == 0)
  }

  @Test
  func `PK-PECK.d: comments reach a circle's members, and an event's author and who comes`() throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (host, comes, declines, writer, stranger) = (
      try data.person(), try data.person(), try data.person(), try data.person(name: "Writer"),
      try data.person()
    )
    let made = try server.event(by: host)
    let circle = try data.circle("Circle", owner: host, members: [comes, writer])
    for (person, status) in [(comes, "GOING"), (declines, "NOT_GOING"), (writer, "GOING")] {
      try server.mutate(
        "setAttendance(eventId: $id, status: \(status))", ["id: ID!": made.json], as: person)
    }
    var comments: [JSONValue] = []
    for subject in [made, circle] {
      comments.append(
        try server.make(
          "addComment(subjectId: $id, body: \"Who rows?\")", "comment", ["id: ID!": subject.json],
          as: writer
        ).json)
    }
    for (person, number) in [(host, 2), (comes, 2), (declines, 0), (writer, 0), (stranger, 0)] {
      let told = try server.data(Self.pecks, as: person)
      let list = "viewer.notifications.nodes"
      #expect(told.strings(list, "reason") == Array(repeating: "COMMENTED", count: number))
      #expect(told.list(list, "about.id") == (number == 0 ? [] : comments.reversed()))
      #expect(told.list(list, "actor.displayName").allSatisfy { $0 == "Writer" })
    }
  }

  @Test func `PK-PECK.e: being added to a circle is a peck`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (owner, first, second) = (
      try data.person(name: "Owner"), try data.person(name: "First"), try data.person()
    )
    let circle = try server.make(
      "createCircle(input: {name: \"Oars\", memberIds: [$id]})", "circle",
      ["id: ID!": first.json], as: owner)
    try server.mutate(
      "addCircleMembers(circleId: $id, userIds: [$user])",
      ["id: ID!": circle.json, "user: ID!": second.json], as: first)
    for (person, text) in [
      (first, "<b>Owner</b> added you to “Oars”."), (second, "<b>First</b> added you to “Oars”."),
    ] {
      let told = try server.data(Self.pecks, as: person).at("viewer.notifications.nodes")?.array
      #expect(told?.count == 1)
      #expect(told?[0]["reason"] == "CIRCLE_ADDED")
      #expect(told?[0]["about"] == ["id": circle.json])
      #expect(told?[0]["text"] == .string(text))
    }
    #expect(try server.data(Self.pecks, as: owner).at("viewer.notifications.nodes") == [])
  }

  @Test func `SP-P02: a follow, a top and a comment reach whom they concern, and nobody else`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, fan) = (try data.person(), try data.person(name: "A Fan"))
    let post = try data.photoPost(by: author)
    for person in [fan, author] {
      try server.mutate(
        "react(subjectId: $id, kind: TOP)", ["id: ID!": post.json], as: person)
      try server.mutate(
        "addComment(subjectId: $id, body: \"Ahoy\")", ["id: ID!": post.json], as: person)
    }
    try server.mutate("followUsers(userIds: [$id])", ["id: ID!": author.json], as: fan)
    let query = """
      { viewer { unreadNotificationCount
        notifications { nodes { reason actor { displayName } text } } } }
      """
    let told = try server.data(query, as: author)
    let notifications = "viewer.notifications.nodes"
    #expect(told.strings(notifications, "reason") == ["FOLLOWED", "COMMENTED", "REACTED"])
    #expect(told.list(notifications, "actor.displayName").allSatisfy { $0 == "A Fan" })
    #expect(
      told.strings(notifications, "text") == [
        "<b>A Fan</b> follows you.", "<b>A Fan</b> commented: Ahoy",
        "<b>A Fan</b> topped your photo.",
      ])
    #expect(told.at("viewer.unreadNotificationCount") == 3)
    #expect(try server.data(query, as: fan).at(notifications) == [])
  }
}
