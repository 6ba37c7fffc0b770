import JSON
import TestSupport
import Testing

/// The viewer's shopping list.
@Suite(.usesCluster) struct ShoppingListTests {
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

  @Test func `GTIO-7.8a, GTIO-3.6l: a shopping list is one's own, without doubles, and pruned`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, other) = (try data.person(), try data.person())
    let products = try ["Coat", "Hat"].map { try data.product($0) }
    for product in [products[0], products[1], products[0]] {
      #expect(
        try server.mutate(
          "addToShoppingList(productId: $id)", "product { viewerHasOnShoppingList }",
          ["id: ID!": product.json], as: viewer)["product"] == ["viewerHasOnShoppingList": true])
    }
    func list(_ person: Person) throws -> [String] {
      try server.data("{ viewer { shoppingList { nodes { name } } } }", as: person)
        .strings("viewer.shoppingList.nodes", "name")
    }
    #expect(try list(viewer) == ["Hat", "Coat"])
    #expect(try list(other) == [])
    for _ in 0..<2 {
      #expect(
        try server.mutate(
          "removeFromShoppingList(productId: $id)", "product { viewerHasOnShoppingList }",
          ["id: ID!": products[1].json], as: viewer)["product"]
          == ["viewerHasOnShoppingList": false])
    }
    #expect(try list(viewer) == ["Coat"])
    for field in ["addToShoppingList", "removeFromShoppingList"] {
      #expect(
        try server.refusals("\(field)(productId: $id)", ["id: ID!": other.json], as: viewer)
          == [Refusal("NOT_FOUND", "productId")])
      #expect(
        try server.mutationErrorCodes(
          "\(field)(productId: $id)", ["id: ID!": products[0].json], as: nil)
          == ["UNAUTHENTICATED"])
    }
  }
}
