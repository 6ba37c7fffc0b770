import Accounts
import Foundation
import JSON
import TestSupport
import Testing
import TokenSupport

/// Rules by the claims of signed tokens, over tables that know nothing of accounts.
@Suite(.usesCluster) struct ClaimsTests {
  private static let secret = "a secret of at least thirty-two bytes"

  private static let graph = Result {
    let folder = try TemporaryFolder()
    // With the line's end that editors leave.
    _ = try folder.write("secret", secret + "\n")
    let file = try folder.write(
      "issuers.json",
      #"{"OURS": {"issuer": "https://id.example", "audience": "graph", "secret": "secret"}}"#)
    let issuers = try IdentityProviders(file: file, allowsSecrets: true)
    return try OwnGraph(
      """
      type Query {
        customer(id: Int!): Customer @reference(where: "this.id = :id")
        customers(filter: CustomerFilter, orderBy: [CustomerOrder!]): CustomerConnection!
          @connection(orderBy: "this.id")
        payments(filter: PaymentFilter, orderBy: [PaymentOrder!]): PaymentConnection!
          @connection(orderBy: "this.id")
        claims: Claims @reference(from: "(SELECT 1 AS id)")
      }
      type PageInfo {
        hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String
      }
      type Claims {
        sub: String @sql(expression: ":claim.sub")
        role: String @sql(expression: ":role")
        tenant: String @sql(expression: ":claim.app.tenant")
        groups: String @sql(expression: ":claim.groups")
        isSignedIn: Boolean! @sql(expression: ":viewer > 0")
      }
      type Customer
        @table(name: "customer", where: "this.id = (:claim.sub)::int OR :role = 'staff'", key: "id")
      {
        id: Int!
        name: String!
        payments(filter: PaymentFilter): PaymentConnection!
          @connection(where: "this.customer_id = parent.id", orderBy: "this.id")
      }
      type Payment
        @table(name: "payment", where: "this.customer_id = (:claim.sub)::int OR :role = 'staff'", key: "id")
      {
        id: Int!
        amount: Int!
        customer: Customer @reference(column: "customer_id")
      }
      input CustomerFilter @filter(of: "Customer")
      input CustomerOrder @order(of: "Customer")
      input PaymentFilter @filter(of: "Payment")
      input PaymentOrder @order(of: "Payment")
      """,
      """
      CREATE TABLE customer (id int PRIMARY KEY, name text NOT NULL);
      CREATE TABLE payment (id int PRIMARY KEY, amount int NOT NULL,
        customer_id int NOT NULL REFERENCES customer);
      INSERT INTO customer SELECT n, 'name ' || n FROM generate_series(1, 4) n;
      INSERT INTO payment SELECT n, n * 10, 1 + n % 4 FROM generate_series(1, 20) n
      """
    ) { $0.tokenIssuers = issuers }
  }

  private static func token(_ more: String, secret: String = secret) -> String {
    let end = Int64(Date().timeIntervalSince1970) + 3600
    return TokenSigner(.shared(secret)).sign(
      #"{"iss": "https://id.example", "aud": "graph", "exp": \#(end), \#(more)}"#)
  }

  private static func answer(_ query: String, _ token: String?) throws -> String {
    try graph.get().server.execute(
      query, headers: token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
    ).body
  }

  /// Who asks, and the rows that SQL says are theirs.
  private static let people: [(claims: String?, sub: String, isStaff: Bool)] = [
    (nil, "NULL", false), (#""sub": "1""#, "1", false),
    (#""sub": "3", "role": "member""#, "3", false),
    (#""sub": "4", "role": "staff""#, "4", true),
  ]

  @Test(arguments: people.indices) func `each reads the rows of the rule, and no other`(
    person: Int
  ) throws {
    let (claims, sub, isStaff) = Self.people[person]
    let token = claims.map { Self.token($0) }
    let graph = try Self.graph.get()
    let customers = "(SELECT * FROM customer WHERE id = \(sub) OR \(isStaff))"
    let payments = "(SELECT * FROM payment WHERE customer_id = \(sub) OR \(isStaff))"
    func numbers(_ sql: String) throws -> String {
      try graph.value(
        "SELECT coalesce(string_agg('{\"id\":' || id || '}', ',' ORDER BY id), '') FROM \(sql)")
        ?? ""
    }
    func list(_ field: String, _ sql: String) throws {
      let found = try Self.answer("{ a: \(field) { nodes { id } totalCount } }", token)
      let count = try graph.value("SELECT count(*) FROM \(sql) x") ?? ""
      #expect(
        found == #"{"data":{"a":{"nodes":[\#(try numbers(sql + " x"))],"totalCount":\#(count)}}}"#,
        "\(field)")
    }
    try list("customers(first: 100)", customers)
    try list("payments(first: 100)", payments)
    // No filter, order or count tells of a row that the rule hides.
    try list(
      #"payments(first: 100, filter: {customer: {name: {like: "name%"}}})"#,
      "(SELECT p.* FROM \(payments) p JOIN \(customers) c ON c.id = p.customer_id)")
    try list(
      #"customers(first: 100, filter: {payments: {some: {amount: {gt: 150}}}})"#,
      "(SELECT c.* FROM \(customers) c WHERE EXISTS (SELECT FROM \(payments) p WHERE p.customer_id = c.id AND p.amount > 150))"
    )
    try list(
      #"customers(first: 100, filter: {payments: {none: {}}})"#,
      "(SELECT c.* FROM \(customers) c WHERE NOT EXISTS (SELECT FROM \(payments) p WHERE p.customer_id = c.id))"
    )
    for id in 1...4 {
      let isSeen = isStaff || "\(id)" == sub
      #expect(
        try Self.answer("{ customer(id: \(id)) { id } }", token)
          == (isSeen ? #"{"data":{"customer":{"id":\#(id)}}}"# : #"{"data":{"customer":null}}"#))
    }
  }

  @Test func `a claim is text, and null where there is none`() throws {
    let query = "{ claims { sub role tenant groups isSignedIn } }"
    #expect(
      try Self.answer(query, nil)
        == #"{"data":{"claims":{"sub":null,"role":null,"tenant":null,"groups":null,"isSignedIn":false}}}"#
    )
    #expect(
      try Self.answer(query, Self.token(#""sub": "9", "app": {"tenant": 7}, "groups": ["a", "b"]"#))
        == #"{"data":{"claims":{"sub":"9","role":null,"tenant":"7","groups":"[\"a\",\"b\"]","isSignedIn":true}}}"#
    )
  }

  @Test func `tokens of one subject with other claims are answered each for itself`() throws {
    for _ in 0..<3 {
      for (role, count) in [("staff", 4), ("member", 1)] {
        let token = Self.token(#""sub": "2", "role": "\#(role)""#)
        #expect(
          try Self.answer("{ customers { totalCount } }", token)
            == #"{"data":{"customers":{"totalCount":\#(count)}}}"#)
      }
    }
  }

  @Test func `a token that another secret signed, or of none, is refused`() throws {
    for token in [
      Self.token(#""sub": "1""#, secret: String(Self.secret.reversed())),
      TokenSigner(.shared(Self.secret)).sign(#"{"iss": "https://id.example", "sub": "1"}"#),
    ] {
      #expect(try Self.answer("{ customers { totalCount } }", token).contains("UNAUTHENTICATED"))
    }
  }

  @Test func `a secret needs 32 bytes, and is none of an identity provider`() throws {
    let folder = try TemporaryFolder()
    _ = try folder.write("short", String(repeating: "x", count: 31))
    _ = try folder.write("long", String(repeating: "x", count: 32))
    func fault(_ secret: String, allows: Bool) throws -> String? {
      let file = try folder.write(
        "issuers.json", #"{"A": {"issuer": "i", "audience": "a", "secret": "\#(secret)"}}"#)
      do {
        _ = try IdentityProviders(file: file, allowsSecrets: allows)
        return nil
      } catch let fault as IdentityProviders.Fault {
        return fault.description
      }
    }
    #expect(try fault("long", allows: true) == nil)
    #expect(try fault("short", allows: true)?.contains("a secret of 32 bytes or more") == true)
    #expect(try fault("long", allows: false)?.contains("needs issuer, audience and keys") == true)
  }
}
