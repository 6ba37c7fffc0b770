import JSON
import TestSupport
import Testing

/// What somebody sent and has not had an answer to, and the contacts it was sent to.
@Suite(.usesCluster) struct SentInvitationTests {
  @Test func `an inviter sees whom they invited, and what became of it`() throws {
    let server = try GraphServer.newcomers
    let data = try server.data()
    let ada = try server.signUp("ada", ", displayName: \"Ada\"")
    let (ben, cat) = (try data.person("ben"), try data.person("cat"))
    let (party, other) = (try data.post(.event, by: ada), try data.post(.event, by: ada))
    let first = try data.invite(ada, ben, to: party)
    let second = try data.invite(ada, cat, to: other)
    func sent(_ arguments: String = "", as person: Person) throws -> [JSONValue] {
      try server.data(
        "{ viewer { sentInvitations\(arguments) { nodes { id status invitee { id } } } } }",
        as: person
      ).at("viewer.sentInvitations.nodes")?.array ?? []
    }
    func ids(_ arguments: String = "", as person: Person) throws -> [String] {
      try sent(arguments, as: person).map { $0["id"]?.string ?? "" }
    }
    #expect(try ids(as: ada) == [second.wire, first.wire])
    #expect(try ids("(eventId: \"\(party.wire)\")", as: ada) == [first.wire])
    #expect(try ids(as: ben) == [])
    try server.mutate(
      "setAttendance(eventId: $id, status: GOING)", ["id: ID!": party.json], as: ben)
    #expect(try ids("(status: ACCEPTED)", as: ada) == [first.wire])
    #expect(try ids("(status: PENDING)", as: ada) == [second.wire])
    // Who blocks the inviter is not seen any more.
    try data.block(cat, ada)
    #expect(try ids(as: ada) == [first.wire])
  }

  @Test func `who is invited again by the same way has one invitation, with a new code`() throws {
    let server = try GraphServer.newcomers
    let ada = try server.signUp("ada", ", displayName: \"Ada\"")
    let contact = GraphData.unique("ben") + "@mail.example"
    func invite(_ contact: String, _ channel: String = "EMAIL") throws -> (id: String, code: String)
    {
      let payload = try server.mutate(
        "inviteToApp(channel: \(channel), contact: $contact)", "invitation { id } draft { url }",
        ["contact: String": .string(contact)], as: ada)
      let url = payload.at("draft.url")?.string ?? ""
      return (
        payload.at("invitation.id")?.string ?? "",
        url.split(separator: "/").last.map { "\($0)" } ?? ""
      )
    }
    let first = try invite(contact)
    let again = try invite(contact.uppercased())
    #expect(again.id == first.id)
    #expect(again.code != first.code)
    #expect(try invite("other." + contact).id != first.id)
    func status() throws -> JSONValue? {
      try server.data(
        "query($id: ID!) { node(id: $id) { ... on Invitation { status } } }",
        ["id": .string(first.id)], as: ada
      ).at("node.status")
    }
    _ = try server.signUp("old", ", invitationCode: \"\(first.code)\"")
    #expect(try status() == "PENDING")
    let ben = try server.signUp("ben", ", invitationCode: \"\(again.code)\"")
    #expect(try status() == "ACCEPTED")
    let listed = try server.data(
      "{ viewer { sentInvitations(status: ACCEPTED) { nodes { id invitee { id } } } } }", as: ada)
    #expect(
      listed.at("viewer.sentInvitations.nodes")
        == [["id": .string(first.id), "invitee": ["id": ben.json]]])
    // Once accepted, the next is another.
    #expect(try invite(contact).id != first.id)
  }

  @Test func `sixteen who invite the same person at once make one invitation`() throws {
    let server = try GraphServer.newcomers
    let data = try server.data()
    let ada = try server.signUp("ada")
    let ids = try crowd(of: 16) { _ in
      try server.mutate(
        "inviteToApp(channel: EMAIL, contact: \"ben@mail.example\")", "invitation { id }", as: ada
      ).at("invitation.id")
    }
    #expect(Set(ids.compactMap { $0?.string }).count == 1)
    #expect(try data.run("SELECT FROM invitation WHERE inviter_id = $1", [ada]).count == 1)
  }

  @Test func `whoever asks for an address sees what they asked`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = (try data.person("ann"), try data.person("ben"))
    let requests = try (0..<2).map { _ in try data.cardRequest(by: ann) }
    let asked = try requests.map { try data.infoRequest($0, of: ann, by: ben) }
    func sent(_ arguments: String = "", as person: Person) throws -> [String] {
      try server.data(
        "{ viewer { sentInfoRequests\(arguments) { nodes { id } } } }", as: person
      ).strings("viewer.sentInfoRequests.nodes", "id")
    }
    #expect(try sent(as: ben) == asked.reversed().map(\.wire))
    #expect(try sent(as: ann) == [])
    try server.mutate(
      "answerInfoRequest(infoRequestId: $id, approve: false)", ["id: ID!": asked[0].json], as: ann)
    #expect(try sent("(status: DECLINED)", as: ben) == [asked[0].wire])
    #expect(try sent("(status: PENDING)", as: ben) == [asked[1].wire])
  }

  @Test func `imported contacts are deleted, of one provider, and when it is unlinked`() throws {
    let server = try GraphServer.newcomers
    let (ada, eve) = (try server.signUp("ada"), try server.signUp("eve"))
    for (person, providers) in [(ada, ["FACEBOOK", "GOOGLE"]), (eve, ["FACEBOOK"])] {
      for provider in providers {
        try server.mutate(
          "linkProvider(provider: \(provider), credential: $it)",
          ["it: String!": TestAccounts.credential(GraphData.unique("f"))], as: person)
        try server.mutate(
          "importContacts(provider: \(provider), contacts: [{externalId: \"7\", name: \"Cat\"}])",
          as: person)
      }
    }
    func providers(_ person: Person) throws -> [String] {
      try server.data("{ viewer { externalContacts { nodes { provider } } } }", as: person)
        .strings("viewer.externalContacts.nodes", "provider").sorted()
    }
    for _ in 0..<2 {
      try server.mutate(
        "deleteExternalContacts(provider: FACEBOOK)", "viewer { user { id } }", as: ada)
      #expect(try providers(ada) == ["GOOGLE"])
    }
    #expect(try providers(eve) == ["FACEBOOK"])
    try server.mutate("unlinkProvider(provider: GOOGLE)", as: ada)
    #expect(try providers(ada) == [])
    #expect(
      try server.mutationErrorCodes("deleteExternalContacts(provider: FACEBOOK)", as: nil)
        == ["UNAUTHENTICATED"])
  }
}
