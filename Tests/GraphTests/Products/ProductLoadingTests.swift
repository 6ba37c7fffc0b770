import JSON
import TestSupport
import Testing

/// Products that staff and services load.
@Suite(.usesCluster) struct ProductLoadingTests {
  @Test func `C7-I.c: staff and services load products, each one once`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let service = try data.person("loader", roles: ["MEMBER", "SERVICE"])
    let upsert = "upsertProduct(input: $input)"
    let id = GraphData.unique("x")
    func product(_ name: JSONValue, _ price: JSONValue = nil) -> JSONValue {
      [
        "retailer": "eBay", "externalId": .string(id), "name": name, "brand": "C7Fit",
        "description": "Warm", "price": price, "buyUrl": "https://shop.example/1",
      ]
    }
    let made = try server.make(
      upsert, "product", ["input: UpsertProductInput!": product("Hoodie")], as: staff)
    let price: JSONValue = ["amount": "29.90", "currency": "EUR"]
    #expect(
      try server.make(
        upsert, "product", ["input: UpsertProductInput!": product("Warm hoodie", price)],
        as: service) == made)
    let found = try server.data(
      """
      query($id: ID!) { product(id: $id) {
        name brand description buyUrl price { amount currency } } }
      """, ["id": made.json])
    #expect(
      found["product"] == [
        "name": "Warm hoodie", "brand": "C7Fit", "description": "Warm",
        "buyUrl": "https://shop.example/1", "price": price,
      ])
    #expect(
      try server.data("{ products(search: \"C7Fit warm hoodie\") { nodes { id } } }")
        .list("products.nodes", "id").filter { $0 == made.json }.count == 1)
    #expect(
      try server.refusals(
        upsert, ["input: UpsertProductInput!": product("Hoodie")], as: data.person())
        == [Refusal("FORBIDDEN")])
    #expect(
      try server.refusals(
        upsert,
        [
          "input: UpsertProductInput!": [
            "retailer": "eBay", "externalId": "", "name": "x", "brand": "y",
            "price": ["amount": "-1", "currency": "euro"], "buyUrl": "ftp://shop.example",
          ]
        ], as: staff) == [
          Refusal("REQUIRED", "input", "externalId"), Refusal("INVALID", "input", "buyUrl"),
          Refusal("INVALID", "input", "price", "amount"),
          Refusal("INVALID", "input", "price", "currency"),
        ])
  }
}
