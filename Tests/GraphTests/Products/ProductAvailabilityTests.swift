import JSON
import TestSupport
import Testing

/// Products that are no longer sold.
@Suite(.usesCluster) struct ProductAvailabilityTests {
  @Test func `what is no longer sold is in no list, but where posts show it`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, service) = (try data.person("ann"), try data.person("shop", roles: ["SERVICE"]))
    let name = GraphData.unique("Parasol")
    func upsert(_ more: String) throws -> JSONValue {
      try server.mutate(
        """
        upsertProduct(input: {retailer: "\(name)", externalId: "1", name: "\(name)", brand: "B", \
        buyUrl: "https://shop.example/x"\(more)})
        """, "product { id isAvailable }", as: service)["product"] ?? .null
    }
    let made = try upsert("")
    #expect(made["isAvailable"] == true)
    let id = try #require(made["id"])
    try server.mutate("addToShoppingList(productId: $id)", ["id: ID!": id], as: ann)
    let post = try data.post(.product, by: ann, product: NodeKey(wire: id.string ?? ""))
    func lists() throws -> [Int] {
      let read = try server.data(
        """
        query($id: ID!) {
          all: products(retailer: "\(name)") { totalCount nodes { id } }
          found: products(search: "\(name)", orderBy: NAME) { nodes { id } }
          search(query: "\(name)", types: [PRODUCT]) { nodes { __typename } }
          viewer { shoppingList { nodes { id } } }
          node(id: $id) { ... on ProductPost { product { id isAvailable } } } }
        """, ["id": post.json], as: ann)
      #expect(read.at("node.product.id") == id)
      #expect(read.at("all.totalCount") == .number("\(read.at("all.nodes")?.array?.count ?? -1)"))
      return ["all.nodes", "found.nodes", "search.nodes", "viewer.shoppingList.nodes"].map {
        read.at($0)?.array?.count ?? -1
      }
    }
    #expect(try lists() == [1, 1, 1, 1])
    #expect(try upsert(", isAvailable: false") == ["id": id, "isAvailable": false])
    #expect(try lists() == [0, 0, 0, 1])
    #expect(try upsert(", isAvailable: true")["isAvailable"] == true)
    #expect(try lists() == [1, 1, 1, 1])
    // As with all its values, what is left out is as for a new one.
    _ = try upsert(", isAvailable: false")
    #expect(try upsert("")["isAvailable"] == true)
  }
}
