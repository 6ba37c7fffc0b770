import JSON
import TestSupport
import Testing
import TokenSupport

/// Views 3.1, 3.6, 4.x and 5.1: walls, suggestions, mails, invitations, product posts.
@Suite(.usesCluster) struct GTIOSharingTests {
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

  private func suggest(for post: NodeKey, by author: Person) throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben, blocked) = (try data.person(name: "Ann"), try data.person(), try data.person())
    let product = try data.product("Scarf & hat", brand: "Acme")
    try data.run("UPDATE product SET buy_url = 'https://shop.example/s' WHERE id = $1", [product])
    try server.mutate("blockUser(userId: $id)", ["id: ID!": blocked.json], as: author)
    func refused(
      to person: Person, for post: NodeKey?, as sender: Person
    ) throws -> [Refusal] {
      try server.refusals(
        "suggestProduct(productId: $product, toUserId: $to, postId: $post)",
        [
          "product: ID!": product.json, "to: ID!": person.json, "post: ID": post?.json ?? .null,
        ], as: sender)
    }
    #expect(try server.actions(post, as: ann).contains("SUGGEST_PRODUCT"))
    #expect(try !server.actions(post, as: author).contains("SUGGEST_PRODUCT"))
    // Not to somebody one does not follow, unless it goes with their post.
    #expect(try refused(to: author, for: nil, as: ann) == [Refusal("FORBIDDEN", "toUserId")])
    #expect(try refused(to: ben, for: post, as: ann) == [Refusal("FORBIDDEN", "toUserId")])
    #expect(try refused(to: author, for: post, as: author) == [Refusal("INVALID", "toUserId")])
    #expect(try refused(to: author, for: post, as: blocked) == [Refusal("NOT_FOUND", "toUserId")])
    for _ in 0..<2 { #expect(try refused(to: author, for: post, as: ann) == []) }
    let told = try server.data(
      """
      { viewer { notifications { nodes { reason text actor { id } about { id }
        action { kind url } } } } }
      """, as: author)
    #expect(
      told.at("viewer.notifications.nodes") == [
        [
          "reason": "PRODUCT_SUGGESTED",
          "text": "<b>Ann</b> suggests Scarf &amp; hat by Acme.", "actor": ["id": ann.json],
          "about": ["id": product.json],
          "action": ["kind": "OPEN_URL", "url": "https://shop.example/s"],
        ]
      ])
    #expect(try server.told(ben) == [])
  }

  @Test func `GTIO-3.1i: a viewer suggests a product for an outfit, and its author is told`() throws
  {
    let data = try GraphServer.shared.data()
    let author = try data.person()
    try suggest(for: try data.post(.outfit, by: author), by: author)
  }

  @Test func `GTIO-3.6f: a viewer suggests a product for a product post`() throws {
    let data = try GraphServer.shared.data()
    let author = try data.person()
    try suggest(
      for: try data.post(.product, by: author, product: try data.product("Coat")), by: author)
  }

  @Test func `GTIO-4.6c: a product is suggested to somebody followed, once for the pair`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, friend, stranger) = (try data.person(), try data.person(), try data.person())
    let product = try data.product("Coat")
    try server.mutate("followUsers(userIds: [$id])", ["id: ID!": friend.json], as: viewer)
    let field = "suggestProduct(productId: $product, toUserId: $to)"
    for _ in 0..<2 {
      #expect(
        try server.mutate(
          field, "product { name }", ["product: ID!": product.json, "to: ID!": friend.json],
          as: viewer)["product"] == ["name": "Coat"])
    }
    #expect(try server.told(friend) == ["PRODUCT_SUGGESTED", "FOLLOWED"])
    #expect(
      try server.refusals(
        field, ["product: ID!": product.json, "to: ID!": stranger.json], as: viewer)
        == [Refusal("FORBIDDEN", "toUserId")])
    // To be followed is not enough.
    #expect(
      try server.refusals(
        field, ["product: ID!": product.json, "to: ID!": viewer.json], as: friend)
        == [Refusal("FORBIDDEN", "toUserId")])
    #expect(
      try server.refusals(
        field, ["product: ID!": friend.json, "to: ID!": friend.json], as: viewer)
        == [Refusal("NOT_FOUND", "productId")])
  }

  @Test func `GTIO-4.6d: suggestions follow one another, each told`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, friends) = (try data.person(), try (0..<4).map { _ in try data.person() })
    let products = try (0..<3).map { try data.product("Product \($0)") }
    try server.mutate(
      "followUsers(userIds: $ids)", ["ids: [ID!]!": .array(friends.map(\.json))], as: viewer)
    for friend in friends {
      let document = GraphServer.mutation(
        products.indices.map { "suggestProduct(productId: $p\($0), toUserId: $to)" }, "__typename",
        [
          "p0: ID!": products[0].json, "p1: ID!": products[1].json, "p2: ID!": products[2].json,
          "to: ID!": friend.json,
        ])
      let done = try server.data(document.document, document.variables, as: viewer)
      for position in products.indices {
        #expect(done.at("f\(position).userErrors") == [])
      }
      #expect(
        try server.told(friend) == Array(repeating: "PRODUCT_SUGGESTED", count: 3) + ["FOLLOWED"])
    }
    #expect(
      try server.mutationErrorCodes(
        "suggestProduct(productId: $product, toUserId: $to)",
        ["product: ID!": products[0].json, "to: ID!": friends[0].json], as: nil)
        == ["UNAUTHENTICATED"])
  }

  private func mailToMe() throws {
    let server = try GraphServer.newcomers
    let data = try server.data()
    let mailbox = GraphData.unique("ada") + "@mail.example"
    let ada = try server.signUp("ada")
    let product = try data.product("Coat", brand: "Acme", price: "12.50", description: "Warm.")
    let field = "emailProductToMe(productId: $id)"
    #expect(
      try server.refusals(field, ["id: ID!": product.json], as: ada)
        == [Refusal("REQUIRED", "productId")])
    try server.mutate(
      "updateProfile(input: {email: $email})", ["email: String": .string(mailbox)], as: ada)
    // Nobody has shown it to be theirs yet.
    #expect(
      try server.refusals(field, ["id: ID!": product.json], as: ada)
        == [Refusal("REQUIRED", "productId")])
    _ = try data.run("UPDATE app_user SET email_verified = true WHERE id = $1", [ada])
    #expect(
      try server.mutate(field, "product { id }", ["id: ID!": product.json], as: ada)["product"]
        == ["id": product.json])
    let mails = try data.run(
      "SELECT recipient, subject, body FROM outbox WHERE user_id = $1 ORDER BY id DESC LIMIT 1",
      [ada])
    let url = try #require(
      try server.data("query($id: ID!) { product(id: $id) { buyUrl } }", ["id": product.json])
        .at("product.buyUrl")?.string)
    #expect(
      mails == [
        [mailbox, "Coat by Acme", "Coat by Acme\n\n12.50 EUR\n\nWarm.\n\n\(url)"]
      ])
    #expect(
      try server.refusals(field, ["id: ID!": ada.json], as: ada)
        == [Refusal("NOT_FOUND", "productId")])
  }

  @Test func `GTIO-3.6j: a product is mailed to one's own address, if there is one`() throws {
    try mailToMe()
  }

  @Test func `GTIO-4.1.1a: the buy sheet mails, lists, or opens the store`() throws {
    try mailToMe()
    let server = try GraphServer.shared
    let data = try server.data()
    let viewer = try data.person()
    let product = try data.product("Coat")
    try server.mutate("addToShoppingList(productId: $id)", ["id: ID!": product.json], as: viewer)
    let seen = try server.data(
      "query($id: ID!) { product(id: $id) { buyUrl viewerHasOnShoppingList } }",
      ["id": product.json], as: viewer)
    #expect(seen.at("product.buyUrl")?.string?.hasPrefix("https://") == true)
    #expect(seen.at("product.viewerHasOnShoppingList") == true)
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
        == [Refusal("INVALID", "contacts")])
  }

  @Test func `GTIO-4.7a: a product is posted, with words or without`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, follower) = (try data.person(), try data.person())
    try server.mutate("followUsers(userIds: [$id])", ["id: ID!": author.json], as: follower)
    let product = try data.product("Coat")
    let plain = try server.make(
      "createProductPost(input: {productId: $id})", "productPost", ["id: ID!": product.json],
      as: author)
    let words = try server.make(
      "createProductPost(input: {productId: $id, body: \"Warm & good\"})", "productPost",
      ["id: ID!": product.json], as: author)
    #expect(
      try server.data(
        """
        { viewer { feed { nodes { id body author { id }
          ... on ProductPost { product { name } votingEnabled } } } } }
        """, as: follower
      ).at("viewer.feed.nodes")
        == [
          [
            "id": words.json, "body": "Warm & good", "author": ["id": author.json],
            "product": ["name": "Coat"], "votingEnabled": false,
          ],
          [
            "id": plain.json, "body": "", "author": ["id": author.json],
            "product": ["name": "Coat"], "votingEnabled": false,
          ],
        ])
    #expect(
      try server.refusals("createProductPost(input: {productId: \"no id\"})", as: author)
        == [Refusal("NOT_FOUND", "input", "productId")])
  }

  @Test func `GTIO-4.7b: whether a post asks for votes is said, or else the application's default`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (staff, author) = (try data.person(roles: ["MEMBER", "STAFF"]), try data.person())
    let product = try data.product("Coat")
    func asks(_ fields: String, _ app: String) throws -> JSONValue? {
      try server.mutate(
        "createProductPost(input: {productId: $id, app: $app \(fields)})",
        "productPost { votingEnabled }",
        ["id: ID!": product.json, "app: String": .string(app)], as: author
      ).at("productPost.votingEnabled")
    }
    for isDefault in [true, false] {
      let app = GraphData.unique("gtio")
      try server.mutate(
        "setAppConfig(input: {app: $app, supportEmail: \"a@b.example\", votingEnabledByDefault: \(isDefault)})",
        ["app: String!": .string(app)], as: staff)
      #expect(try asks("", app) == .boolean(isDefault))
      #expect(try asks(", votingEnabled: true", app) == true)
      #expect(try asks(", votingEnabled: false", app) == false)
    }
    #expect(
      try server.refusals(
        "createProductPost(input: {productId: $id, app: \"unheard of\"})",
        ["id: ID!": product.json], as: author) == [Refusal("NOT_FOUND", "input", "app")])
    #expect(
      try server.data(
        "query($id: ID!) { product(id: $id) { posts { totalCount } } }", ["id": product.json])
        == ["product": ["posts": ["totalCount": 6]]])
  }

  /// Invites somebody and gives the draft, after the link in it was used.
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
    let draft = try invite("SMS", "+44 1632 960960")
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
    let field = "inviteToApp(channel: FACEBOOK, contactId: $id)"
    let payload = try server.mutate(
      field, "invitation { channel contact } draft { to body url }", ["id: ID": id], as: ada)
    #expect(payload["invitation"] == ["channel": "FACEBOOK", "contact": "Cat"])
    #expect(payload.at("draft.to") == ["Cat"])
    #expect(payload.at("draft.url")?.string?.contains("/i/") == true)
    #expect(
      try server.refusals(field, ["id: ID": id], as: ben) == [Refusal("NOT_FOUND", "contactId")])
    #expect(
      try server.refusals(
        "inviteToApp(channel: FACEBOOK, contactId: $id, contact: \"x\")", ["id: ID": id], as: ada)
        == [Refusal("INVALID", "contact")])
  }

  @Test func `GTIO-5.1d: one contact is invited by a number or address that fits the channel`()
    throws
  {
    _ = try invite("SMS", "016 3296-0960")
    _ = try invite("EMAIL", "ben.two@mail.example")
    _ = try invite("TWITTER", nil)
    let server = try GraphServer.newcomers
    let ada = try server.signUp("ada")
    for (channel, contact) in [
      ("SMS", "call me"), ("EMAIL", "ben@"), ("EMAIL", "a@b.c, d@e.f"), ("SMS", "1"),
    ] {
      #expect(
        try server.refusals(
          "inviteToApp(channel: \(channel), contact: $it)", ["it: String": .string(contact)],
          as: ada) == [Refusal("INVALID", "contact")], "\(contact)")
    }
    #expect(
      try server.mutationErrorCodes("inviteToApp(channel: SMS)", as: nil) == ["UNAUTHENTICATED"])
    // An unknown code is ignored.
    _ = try server.signUp("eve", ", invitationCode: \"no code\"")
  }
}
