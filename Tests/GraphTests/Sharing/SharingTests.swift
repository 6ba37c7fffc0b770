import JSON
import TestSupport
import Testing

/// Texts and contacts to share posts and products with.
@Suite(.usesCluster) struct SharingTests {
  @Test func `GTIO-3.1h: the text of a tweet, with its link, fits one tweet`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, viewer) = (try data.person(name: "Ann Author"), try data.person())
    let short = try data.post(.outfit, by: author, "My new coat")
    let long = try data.post(.outfit, by: author, String(repeating: "very long ", count: 200))
    let circle = try data.circle("Group", owner: author)
    let secret = try data.post(
      .outfit, by: author, "Secret coat", circle: circle, visibility: "CIRCLE")
    let query = """
      query($id: ID!) { shareDraft(channel: TWITTER, subjectId: $id) {
        channel to subject body url } }
      """
    let draft = try server.data(query, ["id": short.json], as: viewer)
    let link = try #require(draft.at("shareDraft.url")?.string)
    #expect(link.hasSuffix("/posts/\(short.wire)"))
    #expect(
      draft == [
        "shareDraft": [
          "channel": "TWITTER", "to": [], "subject": nil,
          "body": .string("My new coat – an outfit by Ann Author \(link)"), "url": .string(link),
        ]
      ])
    let cut = try server.data(query, ["id": long.json], as: viewer)
    let body = try #require(cut.at("shareDraft.body")?.string)
    #expect((200...280).contains(body.unicodeScalars.count))
    #expect(body.hasPrefix("very long ") && body.hasSuffix("/posts/\(long.wire)"))
    let hidden = try server.data(query, ["id": secret.json], as: viewer)
    #expect(hidden.at("shareDraft.body")?.string?.contains("coat") == false)
    #expect(hidden.at("shareDraft.url")?.string?.contains(secret.wire) == false)
  }

  @Test func `GTIO-3.6e: the tweet about a product post names the product`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let author = try data.person(name: "Ann")
    let post = try data.post(
      .product, by: author, "So warm", product: data.product("Scarf", brand: "Acme"))
    let draft = try server.data(
      "query($id: ID!) { shareDraft(channel: TWITTER, subjectId: $id) { body url } }",
      ["id": post.json])
    let link = try #require(draft.at("shareDraft.url")?.string)
    #expect(link.hasSuffix("/posts/\(post.wire)"))
    #expect(
      draft.at("shareDraft.body") == .string("Scarf by Acme: So warm – a find of Ann \(link)"))
    // An address that leaves no room in the tweet goes beside it.
    let far = try data.product("Hat", brand: "Acme", description: "Felt")
    let address = "https://shop.example/" + String(repeating: "x", count: 300)
    try data.run("UPDATE product SET buy_url = $1 WHERE id = $2", [address, far])
    let long = try server.data(
      "query($id: ID!) { shareDraft(channel: TWITTER, subjectId: $id) { body url } }",
      ["id": far.json])
    #expect(long == ["shareDraft": ["body": "Hat by Acme", "url": .string(address)]])
  }

  private static let draft = """
    query($channel: ShareChannel!, $id: ID, $to: String) {
      shareDraft(channel: $channel, subjectId: $id, to: $to) { channel to subject body url } }
    """

  @Test func `GTIO-4.3a: an SMS about a product, to the number chosen`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let product = try data.product("Coat", brand: "Acme", price: "120.00", description: "Long")
    try data.run("UPDATE product SET buy_url = 'https://shop.example/c' WHERE id = $1", [product])
    let draft = try server.data(
      Self.draft, ["channel": "SMS", "id": product.json, "to": "+49 123"], as: data.person())
    #expect(
      draft == [
        "shareDraft": [
          "channel": "SMS", "to": ["+49 123"], "subject": nil,
          "body": "Coat by Acme, 120.00 EUR: Long https://shop.example/c",
          "url": "https://shop.example/c",
        ]
      ])
  }

  @Test func `GTIO-4.4a: a mail about a product has subject and body, and nobody yet`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let product = try data.product("Coat", brand: "Acme")
    try data.run("UPDATE product SET buy_url = 'https://shop.example/c' WHERE id = $1", [product])
    let draft = try server.data(
      Self.draft, ["channel": "EMAIL", "id": product.json], as: data.person(name: "Ann"))
    #expect(
      draft == [
        "shareDraft": [
          "channel": "EMAIL", "to": [], "subject": "Coat by Acme",
          "body": "Hello,\n\nCoat by Acme\n\nhttps://shop.example/c\n\nAnn\n",
          "url": "https://shop.example/c",
        ]
      ])
  }

  @Test func `GTIO-4.5a, read: one's own contacts, alphabetically whatever their case`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, other) = (try data.person(), try data.person())
    try data.add(
      "identity",
      ["provider": "FACEBOOK", "external_id": "fb-\(other.username)", "user_id": other.key])
    for name in ["élan", "Zoe", "adam", "Eve"] {
      try data.run(
        """
        INSERT INTO external_contact (owner_id, provider, external_id, name, name_key)
        VALUES ($1, 'FACEBOOK', $2, $3::text, folded($3))
        """, [viewer, name == "Zoe" ? "fb-\(other.username)" : name, name])
    }
    let query = "{ viewer { externalContacts { totalCount nodes { name account { id } } } } }"
    let own = try server.data(query, as: viewer)
    #expect(
      own.strings("viewer.externalContacts.nodes", "name") == ["adam", "élan", "Eve", "Zoe"])
    #expect(
      own.list("viewer.externalContacts.nodes", "account") == [nil, nil, nil, ["id": other.json]])
    #expect(try server.data(query, as: other).at("viewer.externalContacts.totalCount") == 0)
  }

  @Test func `GTIO-4.5b: a wall post about a product, the link beside the text`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let product = try data.product("Coat", brand: "Acme", description: "Long and warm")
    try data.run("UPDATE product SET buy_url = 'https://shop.example/c' WHERE id = $1", [product])
    let draft = try server.data(
      Self.draft, ["channel": "FACEBOOK", "id": product.json, "to": "Ben"], as: data.person())
    #expect(
      draft == [
        "shareDraft": [
          "channel": "FACEBOOK", "to": ["Ben"], "subject": nil,
          "body": "Long and warm – Coat by Acme", "url": "https://shop.example/c",
        ]
      ])
  }

  private func share(_ post: NodeKey, by author: Person, on server: GraphServer) throws {
    let data = try server.data()
    let ann = try data.person()
    let share = "sharePost(postId: $id, channel: FACEBOOK)"
    let variables: KeyValuePairs<String, JSONValue> = ["id: ID!": post.json]
    #expect(
      try server.refusals(share, variables, as: author)
        == [Refusal("PROVIDER_NOT_LINKED", "channel")])
    try server.mutate(
      "linkProvider(provider: FACEBOOK, credential: $it, accessToken: \"for the wall\")",
      ["it: String!": TestAccounts.credential(GraphData.unique("f"))], as: author)
    #expect(
      try server.mutate(share, "post { id }", variables, as: author)["post"] == ["id": post.json])
    let waiting = try data.run(
      "SELECT channel, body, token IS NOT NULL FROM outbox WHERE user_id = $1", [author])
    #expect(waiting.count == 1)
    #expect(waiting[0][0] == "FACEBOOK")
    #expect(waiting[0][1]?.hasSuffix("/posts/\(post.wire)") == true)
    #expect(waiting[0][2] == "t")
    #expect(try server.actions(post, as: author).contains("SHARE_FACEBOOK"))
    #expect(try !server.actions(post, as: ann).contains("SHARE_FACEBOOK"))
    #expect(try server.refusals(share, variables, as: ann) == [Refusal("FORBIDDEN", "postId")])
    #expect(
      try server.refusals(
        "sharePost(postId: $id, channel: SMS)", variables, as: author)
        == [Refusal("INVALID", "channel")])
  }

  @Test func `GTIO-3.1k: an owner puts an outfit on the wall of a linked account`() throws {
    let server = try GraphServer.newcomers
    let author = try server.signUp("author")
    try share(try server.data().post(.outfit, by: author, "Look"), by: author, on: server)
  }

  @Test func `GTIO-3.6h: an owner puts a product post on the wall of a linked account`() throws {
    let server = try GraphServer.newcomers
    let author = try server.signUp("author")
    let data = try server.data()
    try share(
      try data.post(.product, by: author, product: try data.product("Coat")), by: author, on: server
    )
  }

  @Test func `GTIO-4.3b: sending a suggestion by SMS or mail is noted with its product`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let viewer = try data.person()
    let product = try data.product("Coat")
    for event in ["suggest.sms", "suggest.mail"] {
      #expect(
        try server.refusals(
          "track(event: $event, subjectId: $id)",
          ["event: String!": .string(event), "id: ID": product.json], as: viewer) == [])
    }
    #expect(
      try data.run(
        "SELECT event, subject_id FROM tracking WHERE user_id = $1 ORDER BY id", [viewer])
        == [["suggest.sms", "\(product)"], ["suggest.mail", "\(product)"]])
  }

  @Test func `GTIO-4.5a: contacts of a linked account are imported, renewed and one's own`() throws
  {
    let server = try GraphServer.newcomers
    let (ada, ben) = (try server.signUp("ada"), try server.signUp("ben"))
    let subject = GraphData.unique("f")
    func contacts(_ values: [(String, String)]) -> JSONValue {
      .array(values.map { ["externalId": .string($0.0), "name": .string($0.1)] })
    }
    func refused(_ values: JSONValue, as person: Person) throws -> [Refusal] {
      try server.refusals(
        "importContacts(provider: FACEBOOK, contacts: $contacts)",
        ["contacts: [ExternalContactInput!]!": values], as: person)
    }
    let first = contacts([("1", "zoe"), ("2", "Élan"), (subject, "Ben")])
    #expect(try refused(first, as: ada) == [Refusal("PROVIDER_NOT_LINKED", "provider")])
    for (person, subject) in [(ada, GraphData.unique("f")), (ben, subject)] {
      try server.mutate(
        "linkProvider(provider: FACEBOOK, credential: $it)",
        ["it: String!": TestAccounts.credential(subject)], as: person)
    }
    #expect(try refused(first, as: ada) == [])
    #expect(try refused(contacts([("1", "Adam"), ("3", "Cat")]), as: ada) == [])
    let query = "{ viewer { externalContacts { nodes { name account { id } } } } }"
    #expect(
      try server.data(query, as: ada).at("viewer.externalContacts.nodes")
        == [
          ["name": "Adam", "account": nil], ["name": "Ben", "account": ["id": ben.json]],
          ["name": "Cat", "account": nil], ["name": "Élan", "account": nil],
        ])
    #expect(try server.data(query, as: ben).at("viewer.externalContacts.nodes") == [])
    #expect(
      try refused(contacts([("1", "Adam"), ("", "x"), ("4", " ")]), as: ada)
        == [
          Refusal("REQUIRED", "contacts", "1", "externalId"),
          Refusal("REQUIRED", "contacts", "2", "name"),
        ])
    #expect(
      try refused(contacts((0...1_000).map { ("\($0)", "x") }), as: ada)
        == [Refusal("TOO_MANY", "contacts")])
  }

  @Test func `a question to a trainer goes to the application that the request names`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (person, trainer) = (try data.person(), try data.trainer())
    let apps = ["a", "z"].map { GraphData.unique($0) }
    for app in apps {
      try data.add("app_config", ["app": app, "support_email": "\(app)@club.example"])
    }
    func recipients(_ app: String?) throws -> JSONValue? {
      try server.data(
        "query($id: ID!) { shareDraft(channel: EMAIL, subjectId: $id) { to } }",
        ["id": trainer.json], as: person, headers: app.map { [("Sociograph-App", $0)] } ?? []
      ).at("shareDraft.to")
    }
    for app in apps { #expect(try recipients(app) == [.string("\(app)@club.example")]) }
    #expect(try recipients(nil) == [])
  }

  @Test func `an invitation names the application that it is asked to`() throws {
    let server = try GraphServer.shared
    let person = try server.data().person(name: "Ann")
    let draft = try server.data(
      "{ shareDraft(channel: EMAIL, applicationName: \"Rowers\") { subject body } }", as: person)
    #expect(draft.at("shareDraft.subject") == "Ann invites you to Rowers")
    #expect(draft.at("shareDraft.body")?.string?.contains("invites you to join Rowers.") == true)
    let invitation = try server.mutate(
      "inviteToApp(channel: SMS)",
      "draft(applicationName: \"Rowers\") { body } plain: draft { body }",
      as: person)
    #expect(invitation.at("draft.body")?.string?.contains("to join Rowers. ") == true)
    #expect(invitation.at("plain.body")?.string?.contains("the community. ") == true)
  }
}
