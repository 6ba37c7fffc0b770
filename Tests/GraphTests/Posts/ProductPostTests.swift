import JSON
import TestSupport
import Testing

/// Posts about a product.
@Suite(.usesCluster) struct ProductPostTests {
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
          "photo": ["url": "/photos/scarf.jpg"],
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

  @Test func `GTIO-4.7b, read: the configuration says whether posts ask for votes`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    for isDefault in [true, false] {
      let app = GraphData.unique("gtio")
      try data.add(
        "app_config",
        ["app": app, "support_email": "a@b.example", "voting_enabled_by_default": isDefault])
      let config = try server.data(
        "query($app: String!) { appConfig(app: $app) { isVotingEnabledByDefault } }",
        ["app": .string(app)])
      #expect(config == ["appConfig": ["isVotingEnabledByDefault": .boolean(isDefault)]])
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
          ... on ProductPost { product { name } isVotingEnabled } } } } }
        """, as: follower
      ).at("viewer.feed.nodes")
        == [
          [
            "id": words.json, "body": "Warm & good", "author": ["id": author.json],
            "product": ["name": "Coat"], "isVotingEnabled": false,
          ],
          [
            "id": plain.json, "body": "", "author": ["id": author.json],
            "product": ["name": "Coat"], "isVotingEnabled": false,
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
        "productPost { isVotingEnabled }",
        ["id: ID!": product.json, "app: String": .string(app)], as: author
      ).at("productPost.isVotingEnabled")
    }
    for isDefault in [true, false] {
      let app = GraphData.unique("gtio")
      try server.mutate(
        "setAppConfig(app: $app, input: {supportEmail: \"a@b.example\", isVotingEnabledByDefault: \(isDefault)})",
        ["app: String!": .string(app)], as: staff)
      #expect(try asks("", app) == .boolean(isDefault))
      #expect(try asks(", isVotingEnabled: true", app) == true)
      #expect(try asks(", isVotingEnabled: false", app) == false)
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
}
