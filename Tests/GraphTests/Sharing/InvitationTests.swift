import JSON
import TestSupport
import Testing

/// Invitations by SMS and e-mail to people without an account.
@Suite(.usesCluster) struct InvitationTests {
  /// Invites a contact and returns the draft, after the link in it was used.
  private func invite(_ channel: String, _ contact: String?, contactID: JSONValue = nil) throws
    -> JSONValue
  {
    let server = try GraphServer.newcomers
    let ada = try server.signUp("ada", ", displayName: \"Ada\"")
    let payload = try server.mutate(
      "inviteToApp(channel: \(channel), contact: $contact)",
      """
      invitation { id channel contact status inviter { id } invitee { id } }
      draft { channel to subject body url }
      """, ["contact: String": contact.map { .string($0) } ?? .null], as: ada)
    #expect(payload.at("invitation.contact") == contact.map { .string($0) } ?? .null)
    #expect(payload.at("invitation.status") == "PENDING")
    #expect(payload.at("draft.to") == .array(contact.map { [.string($0)] } ?? []))
    let url = try #require(payload.at("draft.url")?.string)
    let code = try #require(url.split(separator: "/").last)
    let ben = try server.signUp("ben", ", invitationCode: \"\(code)\"")
    let query = """
      query($id: ID!) { node(id: $id) { ... on Invitation { status contact invitee { id } } } }
      """
    let id = try #require(payload.at("invitation.id"))
    #expect(
      try server.data(query, ["id": id], as: ada)
        == [
          "node": [
            "status": "ACCEPTED", "contact": contact.map { .string($0) } ?? .null,
            "invitee": ["id": ben.json],
          ]
        ])
    // Only the inviter sees the number or address.
    #expect(try server.data(query, ["id": id], as: ben).at("node.contact") == .null)
    #expect(try server.data(query, ["id": id]) == ["node": nil])
    return try #require(payload["draft"])
  }

  @Test func `GTIO-5.1a: an invitation by SMS has a text with a link that names it`() throws {
    let draft = try invite("SMS", "+4401632960960")
    #expect(draft["subject"] == .null)
    let url = try #require(draft["url"]?.string)
    #expect(draft["body"]?.string == "Ada invites you to join the community. \(url)")
    #expect(url.contains("/i/"))
    #expect(
      try GraphServer.newcomers.refusals(
        "inviteToApp(channel: SMS, contact: \"ben@mail.example\")",
        as: try GraphServer.newcomers.signUp("ada")) == [Refusal("INVALID", "contact")])
  }

  @Test func `GTIO-5.1b: an invitation by e-mail has a subject and a body`() throws {
    let draft = try invite("EMAIL", "ben@mail.example")
    #expect(draft["subject"] == "Ada invites you")
    #expect(draft["body"]?.string?.hasSuffix(try #require(draft["url"]?.string)) == true)
    #expect(
      try GraphServer.newcomers.refusals(
        "inviteToApp(channel: EMAIL, contact: \"+44 1632 960960\")",
        as: try GraphServer.newcomers.signUp("ada")) == [Refusal("INVALID", "contact")])
  }

  @Test func `GTIO-5.1c: a contact of an address book is invited by its id`() throws {
    let server = try GraphServer.newcomers
    let (ada, ben) = (try server.signUp("ada"), try server.signUp("ben"))
    try server.mutate(
      "linkProvider(provider: FACEBOOK, credential: $it)",
      ["it: String!": TestAccounts.credential(GraphData.unique("f"))], as: ada)
    try server.mutate(
      "importContacts(provider: FACEBOOK, contacts: [{externalId: \"7\", name: \"Cat\"}])", as: ada)
    let id = try #require(
      try server.data("{ viewer { externalContacts { nodes { id } } } }", as: ada)
        .at("viewer.externalContacts.nodes.0.id"))
    let field = "inviteToApp(channel: FACEBOOK, externalContactId: $id)"
    let payload = try server.mutate(
      field, "invitation { channel contact } draft { to body url }", ["id: ID": id], as: ada)
    #expect(payload["invitation"] == ["channel": "FACEBOOK", "contact": "Cat"])
    #expect(payload.at("draft.to") == ["Cat"])
    #expect(payload.at("draft.url")?.string?.contains("/i/") == true)
    #expect(
      try server.refusals(field, ["id: ID": id], as: ben) == [
        Refusal("NOT_FOUND", "externalContactId")
      ])
    #expect(
      try server.refusals(
        "inviteToApp(channel: FACEBOOK, externalContactId: $id, contact: \"x\")", ["id: ID": id],
        as: ada)
        == [Refusal("INVALID", "contact")])
  }

  @Test func `GTIO-5.1d: one contact is invited by a number or address that fits the channel`()
    throws
  {
    _ = try invite("SMS", "+441632960960")
    _ = try invite("EMAIL", "ben.two@mail.example")
    _ = try invite("TWITTER", nil)
    let server = try GraphServer.newcomers
    let ada = try server.signUp("ada")
    for (channel, contact) in [
      ("SMS", "call me"), ("EMAIL", "ben@"), ("EMAIL", "a@b.c, d@e.f"), ("SMS", "1"),
      ("SMS", "01632 960960"), ("SMS", "+44 163"), ("SMS", "+1234567890123456"),
    ] {
      #expect(
        try server.refusals(
          "inviteToApp(channel: \(channel), contact: $it)", ["it: String": .string(contact)],
          as: ada) == [Refusal("INVALID", "contact")], "\(contact)")
    }
    #expect(
      try server.mutationErrorCodes("inviteToApp(channel: SMS)", as: nil) == ["UNAUTHENTICATED"])
    // The same contact again is the same invitation, until it is accepted.
    let field = "inviteToApp(channel: SMS, contact: $it)"
    let first = try server.mutate(
      field, "invitation { id contact } draft { url }", ["it: String": "+44 (163) 2960-961"],
      as: ada)
    #expect(first.at("invitation.contact") == "+441632960961")
    func again() throws -> JSONValue {
      try server.mutate(
        field, "invitation { id contact } draft { url }", ["it: String": "+44 1632 960961"], as: ada
      )
    }
    // It has a code of its own each time, and only the last one is good.
    let second = try again()
    #expect(second["invitation"] == first["invitation"])
    #expect(second.at("draft.url") != first.at("draft.url"))
    let code = try #require(second.at("draft.url")?.string?.split(separator: "/").last)
    _ = try server.signUp("cat", ", invitationCode: \"\(code)\"")
    #expect(try again() != first)
    // An unknown code is ignored.
    _ = try server.signUp("eve", ", invitationCode: \"no code\"")
  }
}
