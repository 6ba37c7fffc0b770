import GraphQLLanguage
import Testing

@testable import GraphQLPlanning

/// The dependencies of a live query with aggregates.
@Suite struct AggregateDependencyTests {
  private static let sdl = """
    type Query { customer(id: Int!): Customer @reference(where: "this.customer_id = :id") }
    type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
    type Customer @table(name: "customer", key: "customer_id") {
      customerId: Int!
      invoices: InvoiceConnection!
        @connection(where: "this.customer_id = parent.customer_id", orderBy: "this.invoice_id")
    }
    type Invoice @table(name: "invoice", key: "invoice_id") { invoiceId: Int! total: Int country: String }
    type InvoiceAggregates @aggregates(of: "Invoice")
    """

  private func dependencies(_ selection: String) throws -> LiveDependencies {
    func source(_ relation: String, _ attribute: String?, _ topic: String) -> LiveCatalog.Source {
      LiveCatalog.Source(
        relation: relation, attribute: attribute, topics: [topic], tags: nil,
        isNode: attribute == "\(relation)_id")
    }
    let catalog = LiveCatalog(
      relations: ["customer", "invoice"], routines: [], volatile: [],
      sources: [
        source("customer", nil, "CUSTOMER"), source("customer", "customer_id", "CUSTOMER"),
        source("invoice", nil, "INVOICE"), source("invoice", "invoice_id", "INVOICE"),
        source("invoice", "customer_id", "INVOICES"),
      ])
    let document = try Parser.parse(
      Source("query @live { customer(id: 1) { invoices { \(selection) } } }"), limits: .default)
    let plan = try Planner(mapping: PlanningFixture.mapping(Self.sdl)).plan(
      document.operations[0], fragments: [:], source: document.source, variables: [],
      mode: .live(catalog))
    guard case .live(_, let dependencies) = plan else { return LiveDependencies() }
    return dependencies
  }

  @Test func `a change of any row of the table changes aggregates, whatever its columns were`()
    throws
  {
    let count = try dependencies("totalCount")
    #expect(!count.patterns.contains { $0.topic == "INVOICE" })
    #expect(count.topics.contains { $0.name == "INVOICES" })

    for selection in [
      "aggregates { total { sum } }", "groups(by: {country: true}) { aggregates { count } }",
    ] {
      let found = try dependencies(selection)
      #expect(found.patterns.contains { $0.topic == "INVOICE" }, "\(selection): \(found)")
      #expect(found.untracked.isEmpty, "\(selection): \(found)")
    }
  }
}
