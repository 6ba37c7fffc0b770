import TestSupport
import Testing

/// The requirements of subscriptions and live queries on a database.
@Suite(.usesCluster) struct LiveCheckTests {
  private static let sdl = """
    type Query { cats: [Cat!]! @list(orderBy: "this.id") }
    type Cat @tag(id: 7) @table(name: "cat") { id: ID! name: String }
    type Subscription {
      catMade: Cat! @event(topic: "cat", key: "0") @reference(id: ":event")
    }
    """

  private static let tables = """
    CREATE TABLE cat (id bigint PRIMARY KEY, name text, owner_id bigint);
    CREATE FUNCTION news_since(since pg_snapshot)
      RETURNS TABLE (topic text, key bigint, node bigint, xid xid8) LANGUAGE sql AS
      'SELECT ''''::text, 0::bigint, 0::bigint, ''1''::xid8 WHERE false';
    CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
    CREATE TRIGGER tell AFTER INSERT ON cat FOR EACH ROW EXECUTE FUNCTION tell('cat', 'id');
    CREATE TABLE live_line (relation text, attribute text, topics text[], tags int[], is_node boolean);
    INSERT INTO live_line VALUES ('cat', NULL, '{cat}', '{7}', false);
    CREATE VIEW live_source AS SELECT *, false AS is_own FROM live_line;
    """

  private func expect(_ findings: String..., sdl: String = sdl, sql: String = "") throws {
    let found = try CheckedGraph(sdl, Self.tables + sql).findings()
    #expect(found == findings)
  }

  @Test func `what holds has no finding`() throws {
    try expect()
    try expect(sql: "INSERT INTO live_line VALUES ('cat', 'owner_id', '{cat}', NULL, false);")
  }

  @Test func `events need what tells what happened`() throws {
    try expect(
      "error: Subscription: it has fields with @event, and no function news_since(pg_snapshot) reports "
        + "events; create it as sql/README.md says, or leave @event out.",
      sql: "DROP FUNCTION news_since;")
  }

  @Test func `a topic that nothing leaves touches of is an error`() throws {
    try expect(
      "error: Subscription.catMade: no function or trigger leaves touches of the topic \"cats\", so that "
        + "no event would be delivered; have one call touch_nodes, or write @event(topic:) with another.",
      sdl: Self.sdl.replacing(#"topic: "cat""#, with: #"topic: "cats""#))
  }

  @Test(arguments: [
    (#"key: "0""#, #"key: "point(1, 2)""#, "@event: cannot cast type point to bigint."),
    (
      #"key: "0""#, #"keys: "SELECT c.owner FROM cat c""#,
      "@event: column c.owner does not exist. Name one that is there with @column(name:), or compute it "
        + "with @sql(expression:)."
    ),
    (
      #"@reference(id: ":event")"#, #"@reference(id: ":event", rows: "made_cat(:event)")"#,
      "function made_cat(bigint) does not exist. No function matches the given name and argument types. You "
        + "might need to add explicit type casts."
    ),
  ])
  func `what an event asks for is prepared`(_ text: String, _ other: String, _ message: String)
    throws
  {
    try expect(
      "error: Subscription.catMade: \(message)", sdl: Self.sdl.replacing(text, with: other))
  }

  @Test(arguments: [
    (
      "('dog', NULL, '{cat}', '{7}', false)",
      "dog: live_source has a line for it, and no such table is there; name one that is, or leave the line out."
    ),
    (
      "('cat', 'mother_id', '{cat}', NULL, false)",
      "cat.mother_id: live_source has a line for it, and the table has no such column; name one, or none to have "
        + "the table watched as a whole."
    ),
    (
      "('cat', 'name', '{cat}', NULL, false)",
      "cat.name: live_source has a line for it, whose values are keys of touches, and it is of PostgreSQL's type "
        + "text; name a column of ids."
    ),
    (
      "('cat', NULL, '{cat}', '{7,8,9}', false)",
      "cat: live_source says that its touches are about nodes with the tag 8 9, which no type has; write those "
        + "that @tag(id:) has."
    ),
    (
      "('cat', NULL, '{cat,kitten}', NULL, false)",
      "cat: live_source says that touches of the topic kitten tell of its changes, and no function or trigger "
        + "leaves any; have one call touch_nodes, or name another topic."
    ),
  ])
  func `a line that speaks of what is not there is an error`(_ line: String, _ finding: String)
    throws
  {
    try expect("error: \(finding)", sql: "INSERT INTO live_line VALUES \(line);")
  }

  @Test func `a table that fields read has a line, or one that says that nothing is told`() throws {
    let sql = "DELETE FROM live_line;"
    try expect(
      "warning: Query.cats: it cannot be live, as live_source has no line for the table cat, which it reads; "
        + "write how its changes are reported, or a line without topics if they are not to be.",
      sql: sql)
    try expect(sql: sql + "INSERT INTO live_line VALUES ('cat', NULL, NULL, NULL, false);")
  }
}
