import JSON
import TestSupport
import Testing

/// Mails about notifications, and the link that ends them.
@Suite(.usesCluster) struct NotificationMailTests {
  private let server: GraphServer
  private let data: GraphData

  init() throws {
    server = try GraphServer.alone()
    data = try server.data()
  }

  private func reader(_ columns: KeyValuePairs<String, (any SQLText)?>) throws -> Person {
    try data.person("ben", columns)
  }

  /// The mails that are due, as their messages.
  private func mails() throws -> [JSONValue] {
    try data.run("UPDATE outbox SET due_at = now() WHERE delivered_at IS NULL")
    var mails: [JSONValue] = []
    while let row = try data.run("SELECT id, message FROM outbox_take('1 hour')").first,
      let message = row[1]
    {
      mails.append(try JSONParser.parse(Array(message.utf8)))
      try data.run("SELECT outbox_end($1::bigint, true, false, false)", [row[0]])
    }
    return mails
  }

  private func ask(_ owner: Person, by person: Person) throws {
    let post = try data.cardRequest(by: owner, "Cards, please")
    try server.mutate("requestAddress(cardRequestId: $id)", ["id: ID!": post.json], as: person)
  }

  @Test func `what is to be done is mailed to a verified address, in its language`() throws {
    let ann = try data.person(name: "Ann <b>")
    let ben = try reader(["email": "ben@example.org", "email_verified": "true"])
    let cat = try reader(["email": "cat@example.org"])
    try server.mutate("updateProfile(input: {locale: \"de\"})", as: ben)
    for person in [ben, cat] { try ask(person, by: ann) }
    let mails = try mails()
    #expect(mails.map { $0["recipient"] } == ["ben@example.org"])
    let text = "Ann <b> möchte dir eine Karte schicken und bittet um deine Adresse."
    #expect(mails.first?["subject"] == .string(text))
    let body = mails.first?["body"]?.string ?? ""
    #expect(body.hasPrefix("\(text)\n\nhttp://localhost/info-requests/"))
    let stop = mails.first?.at("headers.List-Unsubscribe")?.string ?? ""
    #expect(stop.hasPrefix("<http://localhost/unsubscribe/") && stop.hasSuffix(">"))
    #expect(body.contains(stop.dropFirst().dropLast()))
    #expect(mails.first?.at("headers.List-Unsubscribe-Post") == "List-Unsubscribe=One-Click")
  }

  @Test func `of one thing there is one mail a day, and none of what was read or hidden`() throws {
    let (ann, eve) = (try data.person(), try data.person())
    let ben = try reader(["email": "ben@example.org", "email_verified": "true"])
    try server.mutate(
      "updateNotificationSettings(input: {rules: [{reason: MESSAGED, channels: [EMAIL]}]})", as: ben
    )
    func write(_ sender: Person) throws {
      try server.mutate(
        "sendMessage(to: {userIds: [$id]}, body: \"our secret\")", ["id: ID!": ben.json], as: sender
      )
    }
    try write(ann)
    let first = try mails()
    #expect(first.count == 1 && !"\(first)".contains("secret"))
    try write(ann)
    #expect(try mails() == [])
    try write(eve)
    try server.mutate("blockUser(userId: $id)", ["id: ID!": eve.json], as: ben)
    #expect(try mails() == [])
    try ask(ben, by: ann)
    try server.mutate("markNotificationsRead", as: ben)
    #expect(try mails() == [])
  }

  @Test func `the link of a mail ends mails of its sort, and nothing else`() throws {
    let ann = try data.person()
    let ben = try reader(["email": "ben@example.org", "email_verified": "true"])
    try ask(ben, by: ann)
    let stop = try #require(try mails().first?.at("headers.List-Unsubscribe")?.string)
    let path = stop.dropFirst("<http://localhost".count).dropLast()
    func channels(_ reason: String) throws -> String? {
      try data.run("SELECT wanted_channels($1::bigint, $2)", [ben.key, reason])[0][0]
    }
    // A program that follows links changes nothing.
    let page = try server.send("GET", String(path), headers: [("Accept-Language", "es")])
    #expect(
      page.status == 200 && page.text.contains("<button>No más correos de este tipo</button>"))
    #expect(try channels("INFO_REQUESTED") == "{PUSH,EMAIL}")
    for _ in 0..<2 {
      let done = try server.send(
        "POST", String(path), headers: [("Content-Type", "application/x-www-form-urlencoded")],
        body: Array("List-Unsubscribe=One-Click".utf8))
      #expect(done.status == 200 && done.text.contains("You get no more mails of this sort."))
      #expect(!done.text.contains(ben.username))
    }
    #expect(try channels("INFO_REQUESTED") == "{PUSH}")
    #expect(try channels("OFFER_ANSWERED") == "{PUSH,EMAIL}")
    try ask(ben, by: data.person())
    #expect(try mails() == [])
  }

  @Test func `an unknown or expired link says nothing`() throws {
    let ben = try data.person()
    let token =
      try data.run("SELECT unsubscribe_token($1::bigint, 'MESSAGED')", [ben.key])[0][0] ?? ""
    try data.run("UPDATE one_time_token SET expires_at = now() - interval '1 second'")
    for path in [token, "unknown", "a/b", "%00", String(repeating: "a", count: 200), ""] {
      for method in ["GET", "POST"] {
        #expect(try server.send(method, "/unsubscribe/\(path)").status == 404, "\(path)")
      }
    }
    #expect(try server.send("PUT", "/unsubscribe/\(token)").status == 405)
    #expect(try data.run("SELECT count(*) FROM notification_rule") == [["0"]])
  }
}
