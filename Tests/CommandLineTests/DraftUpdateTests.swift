import Foundation
import JSON
import Postgres
import TestSupport
import Testing

/// `sociograph draft --update` and `--check`, over a database that changes and files that a person has edited.
@Suite(.usesCluster) struct DraftUpdateTests {
  private static let tables = """
    CREATE TYPE size AS ENUM ('S', 'M');
    CREATE TABLE customer (customer_id int PRIMARY KEY, name text NOT NULL, email text UNIQUE, fax text);
    CREATE TABLE product (product_id int PRIMARY KEY, name text NOT NULL, size size, price numeric NOT NULL,
      weight int, note text);
    CREATE TABLE purchase (purchase_id int PRIMARY KEY, customer_id int NOT NULL REFERENCES customer,
      at timestamptz NOT NULL);
    CREATE TABLE purchase_product (purchase_id int REFERENCES purchase, product_id int REFERENCES product,
      PRIMARY KEY (purchase_id, product_id));
    CREATE TABLE store (store_id int PRIMARY KEY, city text);
    CREATE TABLE log (log_id int PRIMARY KEY, line text);
    """

  /// The changes of the database, each with what `--check` prints of it.
  private static let changes: [(sql: String, prints: [String])] = [
    ("ALTER TABLE product ADD color text", ["added Product.color"]),
    (
      "ALTER TABLE product ADD made date NOT NULL DEFAULT '2026-05-01'",
      ["added Date", "added Product.made"]
    ),
    ("ALTER TABLE product DROP note", ["removed Product.note"]),
    ("ALTER TABLE product ALTER weight SET NOT NULL", ["changed Product.weight"]),
    ("ALTER TABLE product ALTER weight DROP NOT NULL", ["changed Product.weight"]),
    ("ALTER TABLE product ALTER weight TYPE text", ["changed Product.weight"]),
    ("COMMENT ON COLUMN product.weight IS 'In grams.'", ["changed Product.weight"]),
    ("COMMENT ON TABLE product IS 'What is sold.'", ["changed Product"]),
    ("ALTER TYPE size ADD VALUE 'X-L'", ["added Size.X_L"]),
    ("ALTER TYPE size RENAME VALUE 'S' TO 'XS'", ["added Size.XS", "removed Size.S"]),
    ("CREATE TABLE supplier (supplier_id int PRIMARY KEY, name text)", ["added Supplier"]),
    ("ALTER TABLE product ADD supplier_id int REFERENCES supplier", ["added Product.supplier"]),
    // A second way to the same table gets a name of its own, and the first keeps its name.
    (
      "ALTER TABLE product ADD second_supplier_id int REFERENCES supplier",
      ["added Supplier.productsBySecondSupplier"]
    ),
    (
      "ALTER TABLE purchase ADD paid_by int REFERENCES customer",
      ["added Customer.purchasesByPaidBy"]
    ),
    ("ALTER TABLE purchase DROP paid_by", ["removed Customer.purchasesByPaidBy"]),
    ("ALTER TABLE customer ADD UNIQUE (name)", ["added Query.customerByName"]),
    ("ALTER TABLE customer RENAME fax TO mobile", ["changed Customer.fax"]),
    ("CREATE VIEW rich AS SELECT name FROM customer", ["added Rich"]),
    ("DROP VIEW rich", ["removed Rich"]),
    (
      "CREATE TABLE wish (customer_id int REFERENCES customer, product_id int REFERENCES product, "
        + "PRIMARY KEY (customer_id, product_id))", ["added Wish", "added Customer.products"]
    ),
    ("DROP TABLE wish", ["removed Wish", "removed Customer.products"]),
    // Not served: the person has removed its file.
    ("ALTER TABLE log ADD at timestamptz", []),
    ("ALTER TABLE product ADD log_id int REFERENCES log", ["added Product.logId"]),
    ("ALTER TABLE store ADD customer_id int UNIQUE REFERENCES customer", ["added Customer.store"]),
    ("CREATE TABLE products (id int PRIMARY KEY)", ["added Products"]),
    (
      "ALTER TABLE product ADD ids int[], ADD at timestamp",
      ["added Product.ids", "added Product.at"]
    ),
    (
      "CREATE TYPE mood AS ENUM ('good'); ALTER TABLE customer ADD mood mood",
      ["added Mood", "added Customer.mood"]
    ),
    ("ALTER TABLE customer ALTER mood TYPE text", ["changed Customer.mood", "removed Mood"]),
    ("DROP TABLE purchase_product", ["removed PurchaseProduct", "removed Product.purchases"]),
    ("ALTER TABLE store ADD opened date", ["added Store.opened"]),
  ]

  @Test func `thirty changes of the database come into files that a person has edited`() throws {
    let database = try TestCluster.newDatabase()
    let session = try TestCluster.session(database)
    try session.execute(Self.tables)
    let folder = try TemporaryFolder()
    let path = folder.path + "/graph"
    func draft(_ option: String) throws -> (status: Int32?, output: [String], errors: String) {
      let run = try ProgramRun.complete(["draft", option, path, "--database", database])
      return (run.status, run.output.split(separator: "\n").map(String.init), run.errors)
    }
    func files() throws -> [String: String] {
      var texts: [String: String] = [:]
      for name in try FileManager.default.contentsOfDirectory(atPath: path) where name != ".drafted"
      {
        texts[name] = try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
      }
      return texts
    }
    func edit(_ name: String, _ old: String, _ new: String) throws {
      let text = try #require(files()[name])
      try #require(text.contains(old), "\(text)")
      try Data(text.replacing(old, with: new).utf8).write(to: URL(filePath: "\(path)/\(name)"))
    }
    let first = try ProgramRun.complete(["draft", path, "--database", database])
    try #require(first.status == 0, "\(first.errors)")
    #expect(try draft("--check").status == 0)

    // A person renames a field, describes another, computes a third, and removes a table.
    try edit(
      "customer.graphql", "  email: String\n",
      "  # Ours.\n  mail: String @column(name: \"email\")\n")
    try edit(
      "product.graphql", "  name: String!\n", "  \"What it says on the box.\"\n  name: String!\n")
    try edit(
      "product.graphql", "  price: Decimal!\n",
      "  price: Decimal!\n  gross: Decimal! @sql(expression: \"this.price * 1.2\")\n")
    try FileManager.default.removeItem(atPath: path + "/log.graphql")
    let kept = ["# Ours.", "mail: String", "What it says on the box.", "gross: Decimal!"]

    for (sql, prints) in Self.changes {
      try session.execute(sql)
      let before = try files()
      let check = try draft("--check")
      if sql == Self.changes[0].0 {
        let run = try ProgramRun.complete(
          ["draft", path, "--database", database, "--check", "--json"])
        let object = try JSONParser.parse(Array(run.output.utf8))
        #expect(object["changes"] == .array(check.output.map { .string($0) }), "\(object)")
        #expect(object["conflicts"] == .array([]))
      }
      #expect(
        check.status == (prints.isEmpty && check.output.isEmpty ? 0 : 1), "\(sql): \(check.output)")
      #expect(try files() == before, "\(sql)")
      for line in prints { #expect(check.output.contains(line), "\(sql): \(check.output)") }
      #expect(!check.output.contains { $0.hasPrefix("conflict") }, "\(sql): \(check.output)")
      let update = try draft("--update")
      #expect(update.status == 0, "\(sql): \(update.output) \(update.errors)")
      #expect(update.output == check.output)
      let after = try files()
      let all = after.values.joined()
      for text in kept { #expect(all.contains(text), "\(sql): \(text)") }
      #expect(after["log.graphql"] == nil, "\(sql)")
      // There is nothing left to do.
      #expect(try draft("--check").output == [], "\(sql)")
      #expect(try draft("--update").status == 0 && files() == after, "\(sql)")
    }
    let schema = try ProgramRun.complete([
      "schema", "--check", "--schema", path, "--database", database,
    ])
    #expect(schema.status == 0, "\(schema.output)")
  }

  @Test func `references to a table become nullable when it gets a rule`() throws {
    let database = try TestCluster.newDatabase()
    try TestCluster.session(database).execute(Self.tables)
    let folder = try TemporaryFolder()
    let path = folder.path + "/graph"
    #expect(try ProgramRun.complete(["draft", path, "--database", database]).status == 0)
    func edit(_ file: String, _ old: String, _ new: String) throws {
      let text = try String(contentsOfFile: "\(path)/\(file)", encoding: .utf8)
      #expect(text.contains(old), "\(text)")
      try text.replacing(old, with: new)
        .write(toFile: "\(path)/\(file)", atomically: true, encoding: .utf8)
    }
    try edit(
      "purchase.graphql", #"(name: "purchase""#,
      #"(name: "purchase", where: "this.customer_id = 1""#)
    let check = try ProgramRun.complete([
      "schema", "--check", "--schema", path, "--database", database,
    ])
    #expect(check.status == 0, "\(check.errors)")
    #expect(
      (check.output + check.errors).contains("PurchaseProduct.purchase: it is never null"),
      "\(check.output)")
    let update = try ProgramRun.complete(["draft", "--update", path, "--database", database])
    #expect(update.status == 0, "\(update.errors)")
    #expect(update.output == "changed PurchaseProduct.purchase\n", "\(update.output)")
    let text = try String(contentsOfFile: "\(path)/purchase_product.graphql", encoding: .utf8)
    #expect(text.contains("purchase: Purchase @reference"), "\(text)")
    let again = try ProgramRun.complete([
      "schema", "--check", "--schema", path, "--database", database,
    ])
    #expect(again.output == "Every storage directive holds.\n", "\(again.output)\(again.errors)")
    // Who wants it so writes it again.
    try edit(
      "purchase_product.graphql", "purchase: Purchase @reference", "purchase: Purchase! @reference")
    let kept = try ProgramRun.complete(["draft", "--update", path, "--database", database])
    #expect(kept.output.isEmpty, "\(kept.output)")
  }

  @Test func `what both have changed is listed, and the exit code says so`() throws {
    let database = try TestCluster.newDatabase()
    let session = try TestCluster.session(database)
    try session.execute(Self.tables)
    let folder = try TemporaryFolder()
    let path = folder.path + "/graph"
    #expect(try ProgramRun.complete(["draft", path, "--database", database]).status == 0)
    let file = path + "/store.graphql"
    let mine = try String(contentsOfFile: file, encoding: .utf8)
      .replacing("city: String\n", with: "city: String @deprecated\n")
    try Data(mine.utf8).write(to: URL(filePath: file))
    try session.execute("ALTER TABLE store DROP city")
    let update = try ProgramRun.complete(["draft", "--update", path, "--database", database])
    #expect(update.status == 1)
    #expect(
      update.output.hasPrefix(
        "conflict: Store.city: the draft has it no longer, and you have changed it; yours stays\n"),
      "\(update.output)")
    #expect(
      update.output.contains("\nerror: ") && update.output.contains("Store.city."),
      "\(update.output)")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == mine)
  }

  @Test func `a folder without a base, or with what is no SDL, is refused`() throws {
    let database = try TestCluster.newDatabase()
    let session = try TestCluster.session(database)
    try session.execute(Self.tables)
    let folder = try TemporaryFolder()
    let none = try ProgramRun.complete(["draft", "--update", folder.path, "--database", database])
    #expect(none.status == 1 && none.errors.contains("has no .drafted"), "\(none.errors)")
    let path = folder.path + "/graph"
    #expect(try ProgramRun.complete(["draft", path, "--database", database]).status == 0)
    try Data("type {".utf8).write(to: URL(filePath: path + "/store.graphql"))
    let run = try ProgramRun.complete(["draft", "--update", path, "--database", database])
    #expect(run.status == 1 && run.errors.contains("store.graphql:1:6"), "\(run.errors)")
  }
}
