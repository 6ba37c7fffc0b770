import Cryptography
import Foundation
import JSON
import Postgres
import Server
import TestSupport
import Testing

/// Devices, and what is pushed to them through the outbox.
@Suite(.usesCluster, .blocks) struct DeviceTests {
  private static let fcm = "fcm-token:ABCDEFGHIJKLMNOPQRSTUVWXYZ"
  private static let key: [UInt8] = Array(repeating: 7, count: 32)

  private let server: GraphServer
  private let data: GraphData
  private let folder: TemporaryFolder

  init() throws {
    server = try GraphServer.new()
    data = try server.data()
    folder = try TemporaryFolder()
    try data.run(
      "INSERT INTO app_config (app, link_template, apns_topic) VALUES ('peck', 'peck://{path}', 'org.peck.app')"
    )
    try data.run("INSERT INTO app_config (app, notification_reasons) VALUES ('gtio', '{MESSAGED}')")
  }

  private static func apns(_ digit: Character) -> String { String(repeating: digit, count: 64) }

  @discardableResult
  private func register(
    _ person: Person, _ token: String, platform: String = "APNS", app: String = "peck",
    more: String = ""
  ) throws -> JSONValue {
    try server.mutate(
      "registerDevice(input: {app: \"\(app)\", platform: \(platform), token: \"\(token)\"\(more)})",
      "device { id app platform deviceName locale isCurrent }", as: person
    )["device"] ?? .null
  }

  private func refusals(
    _ person: Person, _ input: String
  ) throws -> [Refusal] {
    try server.refusals("registerDevice(input: {\(input)})", as: person)
  }

  private func devices(_ person: Person) throws -> [JSONValue] {
    try server.data("{ viewer { devices { app platform isCurrent } } }", as: person)
      .at("viewer.devices")?.array ?? []
  }

  /// Everything that is due, as the command gets it.
  private func deliver(status: Int = 0) throws -> [JSONValue] {
    try data.run(
      "UPDATE outbox SET due_at = now() WHERE delivered_at IS NULL AND failed_at IS NULL")
    let name = GraphData.unique("delivered")
    let command = OutboxCommand(text: "cat >> \(folder.path)/\(name); exit \(status)")
    var settings = Outbox.Settings(command: command)
    settings.box = SecretBox(key: Self.key)
    let outbox = Outbox(settings, try PostgresConfiguration(server.database)) { _ in }
    try outbox.deliverDue()
    let file = FileManager.default.contents(atPath: "\(folder.path)/\(name)") ?? Data()
    let text = String(decoding: file, as: UTF8.self)
    return try text.split(separator: "\n").map { try JSONParser.parse(Array($0.utf8)) }
  }

  private func write(_ words: String, from sender: Person, to recipient: Person) throws {
    try server.mutate(
      "sendMessage(to: {userIds: [$id]}, body: \"\(words)\")", ["id: ID!": recipient.json],
      as: sender)
  }

  // MARK: Devices

  @Test func `a device belongs to its session and its person, and to nobody else`() throws {
    let (ben, cat) = (try data.person("ben"), try data.person("cat"))
    let made = try register(
      ben, Self.apns("a"), more: ", deviceName: \"Ben's phone\", locale: \"es-MX\"")
    #expect(
      made == [
        "id": made["id"] ?? .null, "app": "peck", "platform": "APNS", "deviceName": "Ben's phone",
        "locale": "es-MX", "isCurrent": true,
      ])
    try register(ben, Self.fcm, platform: "FCM")
    #expect(try devices(ben).count == 2)
    // Registered again it is the same.
    #expect(try register(ben, Self.apns("a"))["id"] == made["id"])
    #expect(try devices(ben).count == 2)
    #expect(try devices(cat) == [])
    let id = try #require(made["id"])
    let node = "query($id: ID!) { node(id: $id) { id } }"
    #expect(try server.data(node, ["id": id], as: ben).at("node.id") == id)
    #expect(try server.data(node, ["id": id], as: cat) == ["node": nil])
    #expect(
      try server.refusals("unregisterDevice(deviceId: $id)", ["id: ID!": id], as: cat)
        == [Refusal("NOT_FOUND", "deviceId")])
    // A phone handed on.
    #expect(try register(cat, Self.apns("a"))["id"] == id)
    #expect(try devices(ben).count == 1)
    #expect(try devices(cat).count == 1)
    let deleted = try server.mutate(
      "unregisterDevice(deviceId: $id)", "deletedId", ["id: ID!": id], as: cat)
    #expect(deleted["deletedId"] == id)
    #expect(try devices(cat) == [])
  }

  @Test func `signing out and revoking end push messages`() throws {
    let ben = try data.person("ben")
    try register(ben, Self.apns("b"))
    try server.mutate("signOut", as: ben)
    #expect(try data.run("SELECT count(*) FROM device") == [["0"]])
  }

  @Test func `of more than twenty devices the one seen longest ago goes`() throws {
    let ben = try data.person("ben")
    for number in 10..<31 { try register(ben, "\(number)" + Self.apns("c").dropFirst(2)) }
    #expect(try devices(ben).count == 20)
    #expect(
      try data.run(
        "SELECT count(*) FROM device WHERE token_hash = sha256(convert_to($1, 'UTF8'))",
        ["10" + Self.apns("c").dropFirst(2)]) == [["0"]])
  }

  @Test func `tokens have a form, and are nowhere in clear`() throws {
    let ben = try data.person("ben")
    for (platform, token) in [
      ("APNS", "short"), ("APNS", String(repeating: "z", count: 64)), ("FCM", "with blank"),
      ("WEB_PUSH", "no json"),
    ] {
      #expect(
        try refusals(ben, "app: \"peck\", platform: \(platform), token: \"\(token)\"")
          == [Refusal("INVALID", "input", "token")])
    }
    #expect(
      try refusals(ben, "app: \"peck\", platform: APNS, token: \"\"")
        == [Refusal("REQUIRED", "input", "token")])
    #expect(
      try refusals(
        ben, "app: \"peck\", platform: FCM, token: \"\(String(repeating: "x", count: 4_097))\"")
        == [Refusal("TOO_LONG", "input", "token")])
    #expect(
      try refusals(ben, "app: \"none\", platform: FCM, token: \"\(Self.fcm)\", locale: \"xx\"")
        == [Refusal("NOT_FOUND", "input", "app"), Refusal("INVALID", "input", "locale")])
    // What was not sent is not what is at fault.
    #expect(try refusals(ben, "platform: FCM, token: \"\(Self.fcm)\"") == [Refusal("REQUIRED")])
    try register(ben, Self.fcm, platform: "FCM")
    try register(
      ben, #"{\"endpoint\": \"https://push.example/1\", \"keys\": {}}"#, platform: "WEB_PUSH")
    let dump = try data.run("SELECT d::text, encode(token, 'escape') FROM device d").description
    #expect(!dump.contains(Self.fcm) && !dump.contains("push.example"))
    #expect(
      try server.mutationErrorCodes(
        "registerDevice(input: {app: \"peck\", platform: FCM, token: \"\(Self.fcm)\"})", as: nil)
        == ["UNAUTHENTICATED"])
  }

  @Test func `a server without a key registers none`() throws {
    let server = try GraphServer.alone()
    let data = try server.data()
    try data.run("INSERT INTO app_config (app) VALUES ('peck')")
    let ben = try data.person()
    #expect(
      try server.refusals(
        "registerDevice(input: {app: \"peck\", platform: FCM, token: \"\(Self.fcm)\"})", as: ben)
        == [Refusal("NOT_CONFIGURED", "input", "token")])
  }

  // MARK: Pushing

  @Test func `a message is pushed to each device of its reader, without its words`() throws {
    let (ana, ben) = (try data.person(name: "Ana & <Co>"), try data.person("ben"))
    try register(ben, Self.apns("d"), more: ", locale: \"es\"")
    try register(ben, Self.fcm, platform: "FCM")
    try register(ana, Self.apns("e"))
    try write("our secret", from: ana, to: ben)
    let messages = try deliver()
    #expect(messages.count == 2)
    #expect(messages.allSatisfy { $0["channel"] == "PUSH" && $0["userId"] == ben.json })
    #expect(!"\(messages)".contains("secret"))
    let apns = try #require(messages.first { $0.at("push.platform") == "APNS" })
    let thread = try data.run("SELECT wire_id(id) FROM conversation")[0][0] ?? ""
    let note = try data.run("SELECT wire_id(id) FROM notification")[0][0] ?? ""
    #expect(apns.at("push.text") == "Ana & <Co> te ha escrito.")
    #expect(apns.at("push.token") == .string(Self.apns("d")))
    #expect(apns.at("push.badge") == 1)
    #expect(apns.at("push.isQuiet") == false)
    #expect(apns.at("push.notificationId") == .string(note))
    #expect(apns.at("push.destination") == .string("peck://conversations/\(thread)"))
    #expect(apns.at("push.collapseKey") == .string("MESSAGED \(thread)"))
    #expect(apns.at("apns.headers.apns-topic") == "org.peck.app")
    #expect(apns.at("apns.headers.apns-push-type") == "alert")
    #expect(
      apns.at("apns.payload.aps") == [
        "alert": ["body": "Ana & <Co> te ha escrito."], "badge": 1, "sound": "default",
        "thread-id": .string(thread), "mutable-content": 1, "content-available": 1,
      ])
    #expect("\(apns.at("apns.payload") ?? .null)".utf8.count < 4_096)
    #expect(apns["fcm"] == nil && apns["token"] == nil)
    let fcm = try #require(messages.first { $0.at("push.platform") == "FCM" })
    #expect(fcm.at("fcm.message.token") == .string(Self.fcm))
    #expect(fcm.at("fcm.message.notification.body") == "Ana & <Co> wrote to you.")
    #expect(fcm.at("fcm.message.data.badge") == "1")
    #expect(fcm.at("fcm.message.android.priority") == "HIGH")
    let unread = try server.data("{ viewer { unreadNotificationCount } }", as: ben)
    #expect(unread.at("viewer.unreadNotificationCount") == 1)
    #expect(try deliver() == [])
  }

  @Test func `what was undone, read or hidden before it is taken is not pushed`() throws {
    let (ana, ben) = (try data.person("ana"), try data.person("ben"))
    try register(ben, Self.apns("f"))
    let post = try data.post(.outfit, by: ben)
    try server.mutate(
      "updateNotificationSettings(input: {rules: [{reason: REACTED, channels: [PUSH]}]})", as: ben)
    try server.mutate("react(subjectId: $id, kind: HEART)", ["id: ID!": post.json], as: ana)
    try server.mutate("unreact(subjectId: $id, kind: HEART)", ["id: ID!": post.json], as: ana)
    #expect(try deliver() == [])
    try write("read", from: ana, to: ben)
    try server.mutate("markNotificationsRead", as: ben)
    #expect(try deliver() == [])
    try write("blocked", from: ana, to: ben)
    try server.mutate("blockUser(userId: $id)", ["id: ID!": ana.json], as: ben)
    #expect(try deliver() == [])
    #expect(try data.run("SELECT count(*) FROM outbox WHERE delivered_at IS NULL") == [["0"]])
  }

  @Test func `a message that is taken back does not ring, whatever else is unread`() throws {
    let (ana, ben) = (try data.person("ana"), try data.person("ben"))
    try register(ben, Self.apns("a"))
    func take(back body: String, by author: Person) throws {
      let id = NodeKey(
        Int64(try data.run("SELECT id FROM message WHERE body = $1", [body])[0][0] ?? "") ?? 0)
      try server.mutate("deleteMessage(messageId: $id)", ["id: ID!": id.json], as: author)
    }
    try write("one", from: ana, to: ben)
    #expect(try deliver().count == 1)
    try data.run("UPDATE message SET created_at = created_at - interval '1 minute'")
    try write("two", from: ana, to: ben)
    try take(back: "two", by: ana)
    #expect(try deliver() == [])
    // What it replaced before it rang rings for itself.
    try write("three", from: ana, to: ben)
    try write("four", from: ana, to: ben)
    try take(back: "four", by: ana)
    #expect(try deliver().count == 1)
    let unread = try server.data("{ viewer { unreadNotificationCount } }", as: ben)
    #expect(unread.at("viewer.unreadNotificationCount") == 1)
  }

  @Test func `a device that is gone is deleted, and one that refuses is not`() throws {
    let (ana, ben) = (try data.person("ana"), try data.person("ben"))
    try register(ben, Self.apns("1"))
    try write("one", from: ana, to: ben)
    #expect(try deliver(status: 65).count == 1)
    #expect(try devices(ben).count == 1)
    try write("two", from: ana, to: ben)
    #expect(try deliver(status: 67).count == 1)
    #expect(try devices(ben) == [])
    let waiting = try data.run(
      "SELECT count(*) FROM outbox WHERE delivered_at IS NULL AND failed_at IS NULL")
    #expect(waiting == [["0"]])
  }

  @Test func `a slow command holds one push message, and nothing else`() throws {
    let (ana, ben) = (try data.person("ana"), try data.person("ben"))
    try register(ben, Self.apns("2"))
    try write("slow", from: ana, to: ben)
    try data.run("UPDATE outbox SET due_at = now()")
    var settings = Outbox.Settings(
      command: OutboxCommand(text: "sleep 60", timeout: .milliseconds(200)))
    settings.box = SecretBox(key: Self.key)
    try Outbox(settings, PostgresConfiguration(server.database)) { _ in }.deliverDue()
    #expect(
      try data.run(
        "SELECT attempts, delivered_at IS NULL, failed_at IS NULL, due_at > now() FROM outbox")
        == [["1", "t", "t", "t"]])
    #expect(try deliver().count == 1)
  }

  @Test func `a muted conversation, an application's reasons and people's rules are kept`() throws {
    let (ana, ben) = (try data.person("ana"), try data.person("ben"))
    try register(ben, Self.apns("3"))
    try register(ben, Self.apns("4"), app: "gtio")
    try server.mutate("followUsers(userIds: [$id])", ["id: ID!": ben.json], as: ana)
    #expect(try deliver().map { $0.at("push.app") } == ["peck"])
    try write("both", from: ana, to: ben)
    #expect(try Set(deliver().map { "\($0.at("push.badge") ?? .null)" }) == ["1", "2"])
    try data.run("UPDATE conversation_member SET is_muted = true WHERE user_id = $1", [ben.key])
    try write("muted", from: ana, to: ben)
    #expect(try deliver() == [])
    try data.run("UPDATE conversation_member SET is_muted = false")
    try server.mutate(
      "updateNotificationSettings(input: {rules: [{reason: MESSAGED, channels: []}]})", as: ben)
    try write("unwanted", from: ana, to: ben)
    #expect(try deliver() == [])
  }

  @Test func `reading changes the number on other devices, quietly and once`() throws {
    let (ana, ben) = (try data.person("ana"), try data.person("ben"))
    try register(ben, Self.apns("5"))
    try write("one", from: ana, to: ben)
    _ = try deliver()
    // From the device itself nothing is to be told.
    try server.mutate("markNotificationsRead", as: ben)
    #expect(try data.run("SELECT count(*) FROM outbox WHERE delivered_at IS NULL") == [["0"]])
    try write("two", from: ana, to: ben)
    _ = try deliver()
    let tablet = Person(key: ben.key, username: ben.username, token: "tablet-\(ben.username)")
    try data.run(
      """
      INSERT INTO session (token_hash, user_id, expires_at)
      VALUES (sha256(convert_to($1, 'UTF8')), $2::bigint, now() + interval '1 day')
      """, [tablet.token, ben.key])
    let talk = try data.run("SELECT wire_id(id) FROM conversation")[0][0] ?? ""
    try server.mutate(
      "markConversationRead(conversationId: $id)", ["id: ID!": .string(talk)], as: tablet)
    try server.mutate("markNotificationsRead", as: tablet)
    let messages = try deliver()
    #expect(messages.count == 1)
    #expect(messages.first?.at("push.isQuiet") == true)
    #expect(messages.first?.at("push.badge") == 0)
    #expect(messages.first?.at("push.text") == nil)
    #expect(messages.first?.at("push.collapseKey") == "badge")
    #expect(messages.first?.at("apns.payload.aps") == ["badge": 0, "content-available": 1])
  }
}
