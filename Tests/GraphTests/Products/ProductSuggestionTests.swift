import JSON
import TestSupport
import Testing

/// Products that users suggest to each other.
@Suite(.usesCluster) struct ProductSuggestionTests {
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
}
