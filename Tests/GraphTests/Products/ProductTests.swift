import JSON
import TestSupport
import Testing

/// Products: what clients read about them, and the ways to buy them.
@Suite(.usesCluster) struct ProductTests {
  @Test func `C7-HOME.5: the store lists its products with picture and link`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (word, owner) = (GraphData.unique("store"), try data.person())
    let photo = try data.photo(of: owner, url: "https://photos.example/shirt.jpg")
    let shirt = try data.product(
      "Shirt", brand: "C7Fit", retailer: word, description: "A shirt.")
    try data.run(
      "UPDATE product SET photo_id = \(photo), buy_url = 'https://shop.example/shirt' WHERE id = \(shirt)"
    )
    _ = try data.product("c7fit bottle", retailer: word)
    _ = try data.product("Bag", retailer: word, description: "For everybody at C7Fit.")
    _ = try data.product("Mat", retailer: word)
    let found = try server.data(
      """
      query($retailer: String) { products(search: "C7Fit", retailer: $retailer, orderBy: NEWEST) {
        nodes { name description buyUrl photo { url } } } }
      """, ["retailer": .string(word)])
    #expect(found.strings("products.nodes", "name") == ["Bag", "c7fit bottle", "Shirt"])
    #expect(
      found.at("products.nodes.2") == [
        "name": "Shirt", "description": "A shirt.", "buyUrl": "https://shop.example/shirt",
        "photo": ["url": "https://photos.example/shirt.jpg"],
      ])
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

  private func mailToMe() throws {
    let server = try GraphServer.newcomers
    let data = try server.data()
    let mailbox = GraphData.unique("ada") + "@mail.example"
    let ada = try server.signUp("ada")
    let product = try data.product("Coat", brand: "Acme", price: "12.50", description: "Warm.")
    let field = "emailProductToMe(productId: $id)"
    #expect(
      try server.refusals(field, ["id: ID!": product.json], as: ada)
        == [Refusal("EMAIL_REQUIRED", "productId")])
    try server.mutate(
      "updateProfile(input: {email: $email})", ["email: String": .string(mailbox)], as: ada)
    // Nobody has shown it to be theirs yet.
    #expect(
      try server.refusals(field, ["id: ID!": product.json], as: ada)
        == [Refusal("EMAIL_REQUIRED", "productId")])
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
}
