import JSON
import TestSupport
import Testing

/// Views 3.6 to 4.7 and 5.1: products, posts about them, and texts to share them with.
@Suite(.usesCluster) struct GTIOProductTests {
  @Test func `GTIO-3.6a: a product post shows text, product, brand, price and photo`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, stranger) = (try data.person(), try data.person())
    let photo = try data.squaredPhoto(of: author, named: "scarf")
    let product = try data.product("Scarf", brand: "Acme", price: "19.90")
    try data.run("UPDATE product SET photo_id = $1 WHERE id = $2", [photo, product])
    let circle = try data.circle("Group", owner: author)
    let shown = try data.post(.product, by: author, "Warm!", product: product)
    let hidden = try data.post(
      .product, by: author, "Secret", circle: circle, visibility: "CIRCLE", product: product)
    let query = """
      query($id: ID!) { post(id: $id) { body ... on ProductPost { product {
        name brand price { amount currency } photo { url } } } } }
      """
    let expected: JSONValue = [
      "post": [
        "body": "Warm!",
        "product": [
          "name": "Scarf", "brand": "Acme", "price": ["amount": "19.90", "currency": "EUR"],
          "photo": ["url": "https://photos.example/full/scarf"],
        ],
      ]
    ]
    for viewer in [author, stranger, nil] {
      #expect(try server.data(query, ["id": shown.json], as: viewer) == expected)
    }
    #expect(try server.data(query, ["id": hidden.json], as: author).at("post.body") == "Secret")
    #expect(try server.data(query, ["id": hidden.json], as: stranger) == ["post": nil])
    #expect(try server.data(query, ["id": hidden.json]) == ["post": nil])
  }

  @Test func `GTIO-3.6b: a product post shows its own reviews and their number`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, product) = (try data.person(), try data.product("Scarf"))
    let post = try data.post(.product, by: author, product: product)
    let another = try data.post(.product, by: author, product: product)
    for text in ["first", "second"] { _ = try data.comment(post, by: author, text) }
    _ = try data.comment(another, by: author, "elsewhere")
    let found = try server.data(
      """
      query($id: ID!) { post(id: $id) { ... on ProductPost { commentCount
        comments { nodes { body } } } } }
      """, ["id": post.json])
    #expect(found.at("post.commentCount") == 2)
    #expect(found.strings("post.comments.nodes", "body") == ["first", "second"])
  }

  @Test func `GTIO-3.6c, read: a product post's verdict is for its voters and author`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, voter, viewer) = (try data.person(), try data.person(), try data.person())
    let post = try data.post(.product, by: author, product: data.product("Scarf"))
    try data.vote(voter, "CHANGE_IT", on: post)
    for (person, text) in [
      (author, "Change it! 1 of 1 vote says so."), (voter, "Change it! 1 of 1 vote says so."),
      (viewer, nil),
    ] {
      let found = try server.data(
        "query($id: ID!) { post(id: $id) { ... on ProductPost { verdict { text } } } }",
        ["id": post.json], as: person)
      #expect(found.at("post.verdict") == text.map { ["text": .string($0)] } ?? .null)
    }
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

  @Test func `GTIO-3.6k: the store's page is an absolute address`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let product = try data.product("Scarf")
    try data.run(
      "UPDATE product SET buy_url = 'https://shop.example/scarf?a=1&b=2' WHERE id = $1", [product])
    let post = try data.post(.product, by: data.person(), product: product)
    let found = try server.data(
      "query($id: ID!) { post(id: $id) { ... on ProductPost { product { buyUrl } } } }",
      ["id": post.json])
    #expect(found.at("post.product.buyUrl") == "https://shop.example/scarf?a=1&b=2")
    for address in ["javascript:alert(1)", "/scarf", "ftp://shop.example/scarf"] {
      #expect(throws: (any Error).self, "\(address)") {
        try data.run("UPDATE product SET buy_url = $1 WHERE id = $2", [address, product])
      }
    }
  }

  @Test func `GTIO-3.6l, GTIO-7.8a, read: one's own shopping list, latest addition first`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, other) = (try data.person(), try data.person())
    let products = try ["Coat", "Boots", "Scarf"].map { try data.product($0) }
    for (hour, number) in [1, 2, 0].enumerated() {
      try data.add(
        "shopping_list_item",
        [
          "user_id": viewer.key, "product_id": products[number],
          "added_at": "2026-03-01 1\(hour):00Z",
        ])
    }
    let query = """
      query($id: ID!) { viewer { shoppingList { totalCount nodes { name } } }
        product(id: $id) { viewerHasOnShoppingList } }
      """
    let own = try server.data(query, ["id": products[0].json], as: viewer)
    #expect(own.strings("viewer.shoppingList.nodes", "name") == ["Coat", "Scarf", "Boots"])
    #expect(own.at("viewer.shoppingList.totalCount") == 3)
    #expect(own.at("product.viewerHasOnShoppingList") == true)
    #expect(
      try server.data(query, ["id": products[0].json], as: other) == [
        "viewer": ["shoppingList": ["totalCount": 0, "nodes": []]],
        "product": ["viewerHasOnShoppingList": false],
      ])
  }

  @Test func `GTIO-4.1a: a visitor sees a product's name, brand, price and photo`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let photo = try data.photo(of: data.person(), url: "https://p.example/coat")
    let priced = try data.product("Coat", brand: "Acme", price: "120.00")
    let plain = try data.product("Hat", brand: "Acme")
    try data.run("UPDATE product SET photo_id = $1 WHERE id = $2", [photo, priced])
    let query = """
      query($id: ID!) { product(id: $id) { name brand price { amount currency } photo { url } } }
      """
    #expect(
      try server.data(query, ["id": priced.json]) == [
        "product": [
          "name": "Coat", "brand": "Acme", "price": ["amount": "120.00", "currency": "EUR"],
          "photo": ["url": "https://p.example/coat"],
        ]
      ])
    #expect(
      try server.data(query, ["id": plain.json])
        == ["product": ["name": "Hat", "brand": "Acme", "price": nil, "photo": nil]])
    try data.run("SELECT delete_node($1)", [plain])
    #expect(try server.data(query, ["id": plain.json]) == ["product": nil])
  }

  @Test func `GTIO-4.1b, read: hearts of a product are counted and listed`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (product, people) = (try data.product("Coat"), try (0..<2).map { _ in try data.person() })
    for (hour, person) in people.enumerated() {
      try data.react(person, "HEART", to: product, at: "2026-03-01 1\(hour):00Z")
    }
    let found = try server.data(
      """
      query($id: ID!) { product(id: $id) { reactionCount hearts: reactionCount(kind: HEART)
        tops: reactionCount(kind: TOP) reactions { nodes { id } } } }
      """, ["id": product.json])
    #expect(
      found == [
        "product": [
          "reactionCount": 2, "hearts": 2, "tops": 0,
          "reactions": ["nodes": [["id": people[1].json], ["id": people[0].json]]],
        ]
      ])
  }

  @Test func `GTIO-4.2a: before suggesting it, a product shows thumbnail and own heart`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, other) = (try data.person(), try data.person())
    let product = try data.product("Coat")
    let photo = try data.squaredPhoto(of: other, named: "coat")
    try data.run("UPDATE product SET photo_id = $1 WHERE id = $2", [photo, product])
    try data.react(viewer, "HEART", to: product)
    let query = """
      query($id: ID!) { product(id: $id) { photo { url(variant: SQUARE) } viewerReactions } }
      """
    for (person, hearts) in [(viewer, ["HEART"]), (other, []), (nil, [])]
      as [(Person?, [JSONValue])]
    {
      #expect(
        try server.data(query, ["id": product.json], as: person) == [
          "product": [
            "photo": ["url": "https://photos.example/square/coat"],
            "viewerReactions": .array(hearts),
          ]
        ])
    }
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

  @Test func `GTIO-4.7b, read: the configuration says whether posts ask for votes`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    for isDefault in [true, false] {
      let app = GraphData.unique("gtio")
      try data.add(
        "app_config",
        ["app": app, "support_email": "a@b.example", "voting_enabled_by_default": isDefault])
      let config = try server.data(
        "query($app: String!) { appConfig(app: $app) { votingEnabledByDefault } }",
        ["app": .string(app)])
      #expect(config == ["appConfig": ["votingEnabledByDefault": .boolean(isDefault)]])
    }
  }

  @Test func `GTIO-4.7c: a post that fails has code, message and path, and is not stored`() throws {
    let server = try GraphServer.shared
    let product = try server.data().product("Coat")
    let refused = try server.execute(
      """
      mutation($id: ID!) { createProductPost(input: {productId: $id}) {
        productPost { id } userErrors { code message field } } }
      """, ["id": product.json])
    #expect(refused.at("errors.0.extensions.code")?.string?.isEmpty == false)
    #expect(refused.at("errors.0.message")?.string?.isEmpty == false)
    let stored = try server.data(
      "query($id: ID!) { product(id: $id) { posts { totalCount } } }", ["id": product.json])
    #expect(stored == ["product": ["posts": ["totalCount": 0]]])
    // What a signed-in user can mend comes as data: the post null, each error with these three.
    let types = try server.data(
      """
      { payload: __type(name: "ProductPostPayload") { ...fields }
        error: __type(name: "UserError") { ...fields } }
      fragment fields on __Type { fields { name type { kind } } }
      """)
    #expect(
      types == [
        "payload": [
          "fields": [
            ["name": "productPost", "type": ["kind": "OBJECT"]],
            ["name": "userErrors", "type": ["kind": "NON_NULL"]],
          ]
        ],
        "error": [
          "fields": [
            ["name": "code", "type": ["kind": "NON_NULL"]],
            ["name": "message", "type": ["kind": "NON_NULL"]],
            ["name": "field", "type": ["kind": "LIST"]],
          ]
        ],
      ])
  }
}
