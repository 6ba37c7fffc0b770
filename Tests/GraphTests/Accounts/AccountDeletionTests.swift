import Foundation
import JSON
import TestSupport
import Testing

/// The rows that the deletion of an account deletes or hands over, and the users whom it notifies.
@Suite(.usesCluster) struct AccountDeletionTests {
  /// With staff of its own, so that the staff member with the lowest ID is known.
  private static let server = Result { try GraphServer.new() }
  private static let staff = Result {
    try server.get().data().person("staff", roles: ["MEMBER", "STAFF"])
  }

  private func world() throws -> (GraphServer, GraphData, Person) {
    let server = try Self.server.get()
    return (server, try server.data(), try Self.staff.get())
  }

  private func delete(_ person: Person, _ server: GraphServer) throws {
    try server.mutate("deleteAccount", as: person)
  }

  private func owner(of circle: NodeKey, _ server: GraphServer, as person: Person) throws
    -> JSONValue?
  {
    try server.data(
      "query($id: ID!) { circle(id: $id) { owner { id } viewerRole } }", ["id": circle.json],
      as: person)["circle"]
  }

  @Test func `a group goes to who joined first, with all that its members posted`() throws {
    let (server, data, _) = try world()
    let people = try data.people(3)
    let (leaving, late, early) = (people[0], people[1], people[2])
    let group = try data.circle("Rowers", owner: leaving)
    try data.join(group, late, at: "2026-02-01")
    try data.join(group, early, at: "2026-01-01")
    let post = try data.post(.text, by: late, "mine", circle: group, visibility: "CIRCLE")
    let comment = try data.comment(group, by: late, "stays")
    try delete(leaving, server)
    #expect(
      try owner(of: group, server, as: early)
        == ["owner": ["id": early.json], "viewerRole": "OWNER"])
    #expect(try owner(of: group, server, as: late)?["viewerRole"] == "MEMBER")
    for kept in [post, comment] { #expect(try server.finds(kept, as: early)) }
    #expect(try server.told(early) == ["CIRCLE_TRANSFERRED"])
    #expect(try server.told(late) == [])
  }

  @Test func `a group without other members goes`() throws {
    let (server, data, _) = try world()
    let leaving = try data.person()
    let group = try data.circle("Alone", owner: leaving)
    try delete(leaving, server)
    #expect(try data.run("SELECT FROM circle WHERE id = \(group)").isEmpty)
  }

  @Test func `a channel goes to the staff member with the lowest ID, whoever subscribed first`()
    throws
  {
    let (server, data, staff) = try world()
    let service = try data.person(roles: ["MEMBER", "SERVICE"])
    let (subscriber, chief) = (
      try data.person(), try data.person("staff", roles: ["MEMBER", "STAFF"])
    )
    let channel = try data.circle("News", kind: "CHANNEL", owner: service, members: [subscriber])
    let event = try data.post(.event, by: chief, circle: channel)
    try delete(service, server)
    #expect(
      try owner(of: channel, server, as: staff)
        == ["owner": ["id": staff.json], "viewerRole": "OWNER"])
    #expect(try owner(of: channel, server, as: subscriber)?["viewerRole"] == "MEMBER")
    #expect(try server.finds(event, as: subscriber))
  }

  @Test func `who booked a class or may come to an event is told that it does not take place`()
    throws
  {
    let (server, data, _) = try world()
    let people = try data.people(3)
    let (host, guest, declined) = (people[0], people[1], people[2])
    try data.run("UPDATE app_user SET roles = '{MEMBER,TRAINER}' WHERE id = \(host)")
    let program = try data.program("Yoga", trainers: [host])
    let session = try data.classSession(program, by: host, at: "2041-01-01", capacity: 5)
    let past = try data.classSession(program, by: host, at: "2021-01-01", capacity: 5)
    try data.book(guest, session)
    try data.book(declined, past)
    let event = try data.post(.event, by: host, visibility: "INVITED", title: "Regatta")
    for person in [guest, declined] { _ = try data.invite(host, person, to: event) }
    try data.run(
      "UPDATE invitation SET status = 'DECLINED' WHERE invitee_id = \(declined)")
    try delete(host, server)
    #expect(Set(try server.told(guest)) == ["BOOKING_CHANGED", "EVENT_CANCELLED"])
    let texts = try server.data(
      "{ viewer { notifications { nodes { text actor { id } about { id } } } } }", as: guest)
    #expect(
      Set(texts.strings("viewer.notifications.nodes", "text")) == [
        "A class of “Yoga” that you booked does not take place: its trainer has left.",
        "The event “Regatta” does not take place: its host has left.",
      ])
    #expect(try server.told(declined) == [])
  }

  @Test func `who was invited to somebody else's event still sees it, and products keep pictures`()
    throws
  {
    let (server, data, staff) = try world()
    let people = try data.people(3)
    let (host, leaving, guest) = (people[0], people[1], people[2])
    let event = try data.post(.event, by: host, visibility: "INVITED")
    _ = try data.invite(leaving, guest, to: event)
    let product = try data.product("Hat")
    let (shown, own) = (try data.photo(of: leaving), try data.photo(of: leaving))
    try data.run("UPDATE product SET photo_id = \(shown) WHERE id = \(product)")
    try delete(leaving, server)
    #expect(try server.finds(event, as: guest))
    #expect(try data.run("SELECT owner_id FROM photo WHERE id = \(shown)") == [[staff.description]])
    #expect(try data.run("SELECT FROM photo WHERE id = \(own)").isEmpty)
    #expect(try server.finds(product, as: guest))
  }

  @Test func `each foreign key that leads to a user is decided`() throws {
    let (_, data, _) = try world()
    let found = try data.run(
      """
      WITH RECURSIVE reached(id) AS (
        SELECT 'app_user'::regclass::oid
        UNION SELECT c.conrelid FROM pg_constraint c JOIN reached r ON r.id = c.confrelid
        WHERE c.contype = 'f' AND c.confdeltype = 'c' AND c.conparentid = 0)
      SELECT c.conname, CASE c.confdeltype WHEN 'c' THEN 'goes' WHEN 'n' THEN 'stays' ELSE 'holds' END
      FROM pg_constraint c JOIN reached r ON r.id = c.confrelid
      WHERE c.contype = 'f' AND c.conparentid = 0
      """)
    let text = try String(
      contentsOfFile: TestCluster.packageFolder + "/Tests/Fixtures/roles/account.txt",
      encoding: .utf8)
    var decided: [String: Substring] = [:]
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let words = line.split(separator: " ")
      guard words.count > 1 else { continue }
      // What is handed over would go otherwise.
      decided[String(words[0])] = words[1] == "handed" ? "goes" : words[1]
    }
    #expect(found.count == decided.count)
    for row in found {
      #expect(decided[row[0] ?? ""].map(String.init) == row[1], "\(row[0] ?? "")")
    }
  }
}
