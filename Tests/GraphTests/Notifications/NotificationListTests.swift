import Foundation
import JSON
import TestSupport
import Testing

/// The viewer's notifications: their order, their counts, and their buttons.
@Suite(.usesCluster) struct NotificationListTests {
  @Test func `GTIO-2.1a, read: new notifications are counted for their recipient alone`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, other, blocked) = (try data.person(), try data.person(), try data.person())
    let query = "{ viewer { unreadNotificationCount } }"
    #expect(try server.data(query, as: viewer) == ["viewer": ["unreadNotificationCount": 0]])
    for _ in 0..<2 { _ = try data.tell(viewer, "new") }
    _ = try data.tell(viewer, "read", isRead: true)
    _ = try data.tell(viewer, "by somebody blocked", by: blocked)
    _ = try data.tell(other, "another's")
    try data.block(viewer, blocked)
    #expect(try server.data(query, as: viewer) == ["viewer": ["unreadNotificationCount": 2]])
  }

  @Test func `GTIO-2.1b: all notifications are counted, read ones too`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, other) = (try data.person(), try data.person())
    let query = "{ viewer { notifications(first: 0) { totalCount } } }"
    func count() throws -> JSONValue? {
      try server.data(query, as: viewer).at("viewer.notifications.totalCount")
    }
    _ = try data.tell(other, "another's")
    #expect(try count() == 0)
    _ = try data.tell(viewer, "read", isRead: true)
    #expect(try count() == 1)
    _ = try data.tell(viewer, "new")
    #expect(try count() == 2)
  }

  @Test func `GTIO-2.2a: notifications, newest first, names in bold, for nobody else`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, other) = (try data.person(), try data.person())
    let texts = [
      "<b>Ann</b> follows you", "<b>Ben</b> hearts your outfit",
      "<b>Cat</b> says: &lt;b&gt;x &amp; y&lt;/b&gt;",
    ]
    let keys = try texts.map { try data.tell(viewer, $0) }
    _ = try data.tell(other, "another's")
    let list = try server.data("{ viewer { notifications { nodes { text } } } }", as: viewer)
    #expect(list.strings("viewer.notifications.nodes", "text") == texts.reversed())
    let node = "query($id: ID!) { node(id: $id) { ... on Notification { text } } }"
    #expect(
      try server.data(node, ["id": keys[0].json], as: viewer)
        == ["node": ["text": .string(texts[0])]])
    #expect(try server.data(node, ["id": keys[0].json], as: other) == ["node": nil])
    #expect(try server.data(node, ["id": keys[0].json]) == ["node": nil])
  }

  @Test func `GTIO-2.2b: a notification leads into the application or to the web`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let viewer = try data.person()
    for path in ["posts/7", "users/8"] { _ = try data.tell(viewer, "go", destination: path) }
    let list = try server.data("{ viewer { notifications { nodes { destination } } } }", as: viewer)
    #expect(
      list.strings("viewer.notifications.nodes", "destination")
        == ["http://localhost/users/8", "http://localhost/posts/7"])
    let field = try server.data(
      """
      { __type(name: "Notification") { fields { name type { kind ofType { name } } } } }
      """
    ).at("__type.fields")?.array?.first { $0["name"] == "destination" }
    #expect(field?["type"] == ["kind": "NON_NULL", "ofType": ["name": "URL"]])
  }

  @Test func `GTIO-2.2c: a button has label and address, and most have no button`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let viewer = try data.person()
    _ = try data.tell(viewer, "without")
    let with = try data.tell(viewer, "with")
    try data.run(
      """
      UPDATE notification SET action_kind = 'OPEN_URL',
        action_url = 'https://shop.example/1' WHERE id = $1
      """, [with])
    let list = try server.data(
      "{ viewer { notifications { nodes { action { kind label url performedAt } } } } }", as: viewer
    )
    #expect(
      list.list("viewer.notifications.nodes", "action") == [
        [
          "kind": "OPEN_URL", "label": "Open the store", "url": "https://shop.example/1",
          "performedAt": nil,
        ],
        nil,
      ])
  }

  @Test func `GTIO-2.2d, read: a button pressed stays on, with the time`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let viewer = try data.person()
    let key = try data.tell(viewer, "follow back?")
    try data.run(
      """
      UPDATE notification SET action_kind = 'FOLLOW_BACK',
        action_performed_at = '2026-03-01 12:30Z' WHERE id = $1
      """, [key])
    let list = try server.data(
      "{ viewer { notifications { nodes { action { label performedAt } } } } }", as: viewer)
    #expect(
      list.list("viewer.notifications.nodes", "action")
        == [["label": "Follow back", "performedAt": "2026-03-01T12:30:00.000Z"]])
  }

  @Test func `GTIO-2.2e, read: what was seen has a time, and is not among the unread`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let viewer = try data.person()
    _ = try data.tell(viewer, "seen", isRead: true)
    _ = try data.tell(viewer, "new")
    let lists = try server.data(
      """
      { viewer {
        notifications { nodes { text readAt } }
        unread: notifications(isRead: false) { totalCount nodes { text } }
      } }
      """, as: viewer)
    #expect(
      lists.at("viewer.notifications.nodes") == [
        ["text": "new", "readAt": nil], ["text": "seen", "readAt": "2026-03-01T12:00:00.000Z"],
      ])
    #expect(lists.at("viewer.unread") == ["totalCount": 1, "nodes": [["text": "new"]]])
  }

  @Test func `HM-O15, HM-O17, read: what becomes of cards is told, with a button to approve`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (owner, sender) = (try data.person(), try data.person(name: "Sue"))
    let post = try data.cardRequest(by: owner, "Request")
    let asked = try data.infoRequest(post, of: owner, by: sender)
    let followUp = try data.followUp(post, from: sender, to: owner, state: "UNABLE")
    let first = try data.tell(owner, "asks", reason: "INFO_REQUESTED", by: sender, about: asked)
    try data.run(
      """
      UPDATE notification SET action_kind = 'APPROVE_INFO_REQUEST'
      WHERE id = $1
      """, [first])
    _ = try data.tell(owner, "cannot", reason: "FOLLOW_UP_UNABLE", by: sender, about: followUp)
    let list = try server.data(
      """
      { viewer { notifications { nodes { reason actor { displayName } action { kind }
        about { __typename ... on FollowUp { state } ... on InfoRequest { status } } } } } }
      """, as: owner)
    #expect(
      list.at("viewer.notifications.nodes") == [
        [
          "reason": "FOLLOW_UP_UNABLE", "actor": ["displayName": "Sue"], "action": nil,
          "about": ["__typename": "FollowUp", "state": "UNABLE"],
        ],
        [
          "reason": "INFO_REQUESTED", "actor": ["displayName": "Sue"],
          "action": ["kind": "APPROVE_INFO_REQUEST"],
          "about": ["__typename": "InfoRequest", "status": "PENDING"],
        ],
      ])
  }

  @Test func `PK-PECK.a: pecks are everything that concerns the user, the newest first`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, friend, blocked) = (try data.person(), try data.person(), try data.person())
    try data.block(viewer, blocked)
    let event = try data.post(.event, by: friend, title: "Party")
    for (text, recipient, actor, reason) in [
      ("one", viewer, friend, "FOLLOWED"), ("two", viewer, nil, "EVENT_CHANGED"),
      ("other's", friend, viewer, "FOLLOWED"), ("blocked", viewer, blocked, "FOLLOWED"),
      ("three", viewer, friend, "EVENT_INVITED"),
    ] {
      let isInvitation = reason == "EVENT_INVITED"
      try data.insert(
        "notification",
        [
          "recipient_id": recipient.key, "actor_id": actor?.key, "reason": reason, "phrase": text,
          "destination": "home", "about_id": isInvitation ? event : nil,
          "action_kind": isInvitation ? "ATTEND" : nil,
          "read_at": text == "one" ? "now" : nil,
        ])
    }
    let query = """
      { viewer { unreadNotificationCount
        notifications { totalCount nodes {
          text reason actor { id } about { id } action { kind label performedAt } } }
        unread: notifications(isRead: false) { nodes { text } } } }
      """
    let found = try server.data(query, as: viewer)
    #expect(found.strings("viewer.notifications.nodes", "text") == ["three", "two", "one"])
    #expect(found.at("viewer.notifications.totalCount") == 3)
    #expect(
      found.at("viewer.notifications.nodes.0") == [
        "text": "three", "reason": "EVENT_INVITED", "actor": ["id": friend.json],
        "about": ["id": event.json],
        "action": ["kind": "ATTEND", "label": "Attend", "performedAt": nil],
      ])
    #expect(found.at("viewer.notifications.nodes.1.actor") == .null)
    #expect(found.strings("viewer.unread.nodes", "text") == ["three", "two"])
    #expect(found.at("viewer.unreadNotificationCount") == 2)
    #expect(try server.data(query) == ["viewer": nil])
  }
}
