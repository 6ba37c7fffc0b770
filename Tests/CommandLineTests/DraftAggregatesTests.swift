import Foundation
import JSON
import Postgres
import TestSupport
import Testing

/// `sociograph draft --aggregates`: aggregates and groups, each equal to what SQL says.
@Suite(.usesCluster) struct DraftAggregatesTests {
  private static let sql = """
    CREATE TYPE size AS ENUM ('S', 'X-L');
    CREATE TABLE shop (shop_id int PRIMARY KEY, name text NOT NULL, owner text);
    CREATE TABLE sale (
      sale_id int PRIMARY KEY, shop_id int NOT NULL REFERENCES shop, country varchar(20),
      total numeric(10, 2), pieces int NOT NULL, weight float8, views bigint NOT NULL,
      sold timestamptz NOT NULL, day date NOT NULL, local timestamp, size size, paid boolean,
      code uuid, span interval, tags text[], "Count" int);
    INSERT INTO shop SELECT n, 'shop ' || n, CASE WHEN n % 2 = 0 THEN 'ada' ELSE 'ben' END
      FROM generate_series(1, 5) AS n;
    INSERT INTO sale SELECT n, n % 4 + 1, (ARRAY['NL', 'DE', NULL, 'FR', ''])[n % 5 + 1],
        CASE WHEN n % 7 > 0 THEN n * 1.37 END, n % 11, CASE WHEN n % 3 > 0 THEN n / 8.0 END,
        9007199254740993 + n, '2025-01-01Z'::timestamptz + n * interval '37 hours',
        '2025-01-01'::date + n, '2025-01-01'::timestamp + n * interval '5 days',
        (ARRAY['S', 'X-L', NULL])[n % 3 + 1]::size, n % 4 = 0, md5(n::text)::uuid,
        n * interval '1 minute', ARRAY['a', 'b'], n
      FROM generate_series(1, 500) AS n;
    """

  /// Fields of the query type, each with the SQL of its value.
  private static let cases: [(field: String, sql: String)] = [
    (
      "sales { aggregates { count } }",
      "SELECT jsonb_build_object('aggregates', jsonb_build_object('count', count(*))) FROM sale"
    ),
    ("sales { aggregates { total { sum avg min max count countDistinct } } }", aggregates("total")),
    (
      "sales { aggregates { pieces { sum avg min max count countDistinct } } }",
      aggregates("pieces", sum: "float8", average: "float8", extreme: "int")
    ),
    (
      "sales { aggregates { weight { sum min max count countDistinct } } }",
      """
      SELECT jsonb_build_object('aggregates', jsonb_build_object('weight', jsonb_build_object('sum',
        sum(weight), 'min', min(weight), 'max', max(weight), 'count', count(weight),
        'countDistinct', count(DISTINCT weight)))) FROM sale
      """
    ),
    (
      "sales { aggregates { views { sum avg min max } } }",
      """
      SELECT jsonb_build_object('aggregates', jsonb_build_object('views', jsonb_build_object('sum',
        sum(views)::text, 'avg', avg(views)::float8, 'min', min(views)::text,
        'max', max(views)::text))) FROM sale
      """
    ),
    (
      "sales { aggregates { country { min max count countDistinct } size { count countDistinct } } }",
      """
      SELECT jsonb_build_object('aggregates', jsonb_build_object('country', jsonb_build_object(
        'min', min(country), 'max', max(country), 'count', count(country), 'countDistinct',
        count(DISTINCT country)), 'size', jsonb_build_object('count', count(size),
        'countDistinct', count(DISTINCT size)))) FROM sale
      """
    ),
    (
      "sales { aggregates { span { sum max } code { countDistinct } paid { count } } }",
      """
      SELECT jsonb_build_object('aggregates', jsonb_build_object('span', jsonb_build_object('sum',
        sum(span)::text, 'max', max(span)::text), 'code', jsonb_build_object('countDistinct',
        count(DISTINCT code)), 'paid', jsonb_build_object('count', count(paid)))) FROM sale
      """
    ),
    (
      "sales(filter: {total: {gt: \"100\"}, size: {eq: X_L}}, first: 1) { aggregates { count total { sum } } }",
      """
      SELECT jsonb_build_object('aggregates', jsonb_build_object('count', count(*), 'total',
        jsonb_build_object('sum', sum(total)::text))) FROM sale WHERE total > 100 AND size = 'X-L'
      """
    ),
    (
      "sales(filter: {saleId: {lt: 0}}) { aggregates { count total { sum avg min count } } }",
      """
      SELECT jsonb_build_object('aggregates', jsonb_build_object('count', 0, 'total',
        jsonb_build_object('sum', NULL, 'avg', NULL, 'min', NULL, 'count', 0)))
      """
    ),
    (
      "shops { nodes { name sales { aggregates { count total { max } } } } }",
      """
      SELECT jsonb_build_object('nodes', jsonb_agg(jsonb_build_object('name', name, 'sales',
        (SELECT jsonb_build_object('aggregates', jsonb_build_object('count', count(*), 'total',
          jsonb_build_object('max', max(total)::text))) FROM sale WHERE sale.shop_id = shop.shop_id))
        ORDER BY shop_id)) FROM shop
      """
    ),
    (
      "sales { groups(by: {country: true}) { key { country } aggregates { count total { sum } } } }",
      groups(
        "country AS k, count(*) AS c, sum(total)::text AS s", "country",
        "'key', jsonb_build_object('country', k), 'aggregates', jsonb_build_object('count', c, "
          + "'total', jsonb_build_object('sum', s))")
    ),
    (
      "sales { groups(by: {size: true}) { key { size } aggregates { count } } }",
      groups(
        "replace(size::text, '-', '_') AS k, count(*) AS c", "size",
        "'key', jsonb_build_object('size', k), 'aggregates', jsonb_build_object('count', c)")
    ),
    (
      "sales { groups(by: {paid: true, size: true}, first: 3) { key { size paid } aggregates { count } } }",
      groups(
        "paid AS p, replace(size::text, '-', '_') AS k, count(*) AS c", "size, paid",
        "'key', jsonb_build_object('size', k, 'paid', p), 'aggregates', jsonb_build_object('count', c)",
        limit: 3)
    ),
    (
      "sales { groups(by: {day: MONTH}) { key { day } aggregates { pieces { sum } } } }",
      groups(
        "date_trunc('month', day)::date AS k, sum(pieces) AS s", "date_trunc('month', day)",
        "'key', jsonb_build_object('day', k), 'aggregates', jsonb_build_object('pieces', "
          + "jsonb_build_object('sum', s))")
    ),
    (
      "sales { groups(by: {sold: QUARTER}) { key { sold } aggregates { count } } }",
      groups(
        "to_char(date_trunc('quarter', sold AT TIME ZONE 'UTC'), 'YYYY-MM-DD\"T00:00:00.000Z\"') AS k, "
          + "count(*) AS c", "date_trunc('quarter', sold AT TIME ZONE 'UTC')",
        "'key', jsonb_build_object('sold', k), 'aggregates', jsonb_build_object('count', c)")
    ),
    (
      "sales { groups(by: {local: YEAR}) { key { local } aggregates { count } } }",
      groups(
        "date_trunc('year', local)::text AS k, count(*) AS c", "date_trunc('year', local)",
        "'key', jsonb_build_object('local', k), 'aggregates', jsonb_build_object('count', c)")
    ),
    (
      """
      sales { groups(by: {country: true}, having: {count: {gte: 100}, total: {sum: {lt: "31000"}}}) {
        key { country } aggregates { count } } }
      """,
      groups(
        "country AS k, count(*) AS c", "country",
        "'key', jsonb_build_object('country', k), 'aggregates', jsonb_build_object('count', c)",
        having: "count(*) >= 100 AND sum(total) < 31000")
    ),
    (
      """
      sales { groups(by: {country: true}, having: {or: [{pieces: {avg: {gt: 4.95}}}, {not: {country: {min: {isNull:
        false}}}}]}) { key { country } } }
      """,
      groups(
        "country AS k", "country", "'key', jsonb_build_object('country', k)",
        having: "avg(pieces) > 4.95 OR NOT min(country) IS NOT NULL")
    ),
    (
      """
      sales(filter: {shop: {name: {ne: "shop 1"}}}) { groups(by: {shopId: true, country: true},
        orderBy: [{total: {sum: DESC_NULLS_LAST}}, {count: ASC}], first: 5) {
        key { shopId country } aggregates { total { sum } } } }
      """,
      groups(
        "shop_id AS n, country AS k, sum(total)::text AS s", "shop_id, country",
        "'key', jsonb_build_object('shopId', n, 'country', k), 'aggregates', jsonb_build_object("
          + "'total', jsonb_build_object('sum', s))",
        where: "shop_id <> 1", order: "sum(total) DESC NULLS LAST, count(*), ", limit: 5)
    ),
    (
      """
      shops(orderBy: [{name: DESC}]) { nodes { sales { groups(by: {paid: true}) { key { paid }
        aggregates { count } } } } }
      """,
      """
      SELECT jsonb_build_object('nodes', jsonb_agg(jsonb_build_object('sales', jsonb_build_object(
        'groups', (SELECT coalesce(jsonb_agg(jsonb_build_object('key', jsonb_build_object('paid', p),
          'aggregates', jsonb_build_object('count', c)) ORDER BY p), '[]') FROM (SELECT paid AS p,
          count(*) AS c FROM sale WHERE sale.shop_id = shop.shop_id GROUP BY paid) AS g)))
        ORDER BY name DESC)) FROM shop
      """
    ),
  ]

  private static func aggregates(
    _ column: String, sum: String = "text", average: String = "text", extreme: String = "text"
  ) -> String {
    """
    SELECT jsonb_build_object('aggregates', jsonb_build_object('\(column)', jsonb_build_object('sum',
      sum(\(column))::\(sum), 'avg', avg(\(column))::\(average), 'min', min(\(column))::\(extreme),
      'max', max(\(column))::\(extreme), 'count', count(\(column)), 'countDistinct',
      count(DISTINCT \(column))))) FROM sale
    """
  }

  private static func groups(
    _ columns: String, _ keys: String, _ members: String, where condition: String = "true",
    having: String = "true", order: String = "", limit: Int = 20
  ) -> String {
    """
    SELECT jsonb_build_object('groups', jsonb_agg(jsonb_build_object(\(members)) ORDER BY place)) FROM
      (SELECT \(columns), row_number() OVER (ORDER BY \(order)\(keys)) AS place FROM sale
      WHERE \(condition) GROUP BY \(keys) HAVING \(having) ORDER BY place LIMIT \(limit)) AS g
    """
  }

  @Test func `aggregates and groups are those of SQL`() throws {
    let database = try TestCluster.newDatabase()
    let session = try TestCluster.session(database)
    try session.execute(Self.sql)
    let server = try DraftedServer(database, ["--aggregates"])
    #expect(Self.cases.count == 20)
    for (field, sql) in Self.cases {
      let answer = try ask("{ \(field) }", server)
      let name = field.prefix { $0.isLetter }
      let expected = try session.execute(
        "SELECT jsonb_build_object('data', jsonb_build_object('\(name)', (\(sql))))::text")
      let text = try #require(expected.first?.first ?? nil)
      #expect(try equal(answer, text, session), "\(field)\n\(answer)\n\(text)")
    }
  }

  /// PostgreSQL compares: the order of members does not matter to it.
  private func equal(_ one: String, _ other: String, _ session: PostgresSession) throws -> Bool {
    let answer = try session.execute(
      "SELECT $a$\(one)$a$::jsonb = $a$\(other)$a$::jsonb")
    return answer.first?.first == "t"
  }

  @Test func `rows are found and ordered by the number of what is related to them`() throws {
    let database = try TestCluster.newDatabase()
    let session = try TestCluster.session(database)
    try session.execute(Self.sql)
    try session.execute(
      """
      CREATE TABLE tag (tag_id int PRIMARY KEY);
      CREATE TABLE shop_tag (shop_id int REFERENCES shop, tag_id int REFERENCES tag,
        PRIMARY KEY (shop_id, tag_id));
      INSERT INTO tag SELECT generate_series(1, 4);
      INSERT INTO shop_tag SELECT s, t FROM generate_series(1, 5) AS s, generate_series(1, 4) AS t
        WHERE t < s;
      DELETE FROM sale WHERE shop_id = 2 AND sale_id > 20 OR shop_id = 3 AND sale_id > 50;
      """)
    let server = try DraftedServer(database)
    func shops(_ arguments: String) throws -> String {
      try ask("{ shops(\(arguments)) { nodes { shopId } totalCount } }", server)
        .replacing(#"{"shopId":"#, with: "").replacing("}", with: "")
        .replacing(#"{"data":{"shops":{"nodes":"#, with: "")
    }
    #expect(
      try shops("filter: {sales: {count: {gt: 12}}}") == #"[1,3,4],"totalCount":3"#)
    #expect(try shops("filter: {sales: {count: {in: [0, 5]}}}") == #"[2,5],"totalCount":2"#)
    #expect(
      try shops("filter: {tags: {some: {tagId: {eq: 1}}, count: {lt: 3}}}")
        == #"[2,3],"totalCount":2"#)
    #expect(try shops("orderBy: [{sales: {count: ASC}}]") == #"[5,2,3,1,4],"totalCount":5"#)
    #expect(
      try shops("orderBy: [{tags: {count: DESC}}], first: 3") == #"[5,4,3],"totalCount":5"#)
    // The order holds from page to page.
    let first = try ask(
      "{ shops(orderBy: [{tags: {count: DESC}}], first: 2) { pageInfo { endCursor } } }", server)
    let cursor = try #require(first.firstMatch(of: #/"endCursor":"([^"]+)"/#)?.1)
    #expect(
      try shops("orderBy: [{tags: {count: DESC}}], after: \"\(cursor)\"")
        == #"[3,2,1],"totalCount":5"#)
    // Through a relation to one.
    #expect(
      try ask(
        "{ sales(orderBy: [{shop: {tags: {count: ASC}}}, {saleId: ASC}], first: 1) { nodes { shopId } } }",
        server) == #"{"data":{"sales":{"nodes":[{"shopId":1}]}}}"#)
  }

  // MARK: - Refusals and limits

  @Test func `an aggregate that is out of range is an error of its field`() throws {
    let database = try TestCluster.newDatabase()
    try TestCluster.session(database).execute(
      """
      CREATE TABLE size (size_id int PRIMARY KEY, kind text, wide float8, narrow real, span interval);
      INSERT INTO size VALUES (1, 'huge', 1.5e308, 3e38, '178000000 years'),
        (2, 'huge', 1.5e308, 3e38, '178000000 years'), (3, 'even', 1e200, 1.5, '1 day'),
        (4, 'even', -1e200, 2.25, '1 day'), (5, 'even', 1.25, NULL, NULL);
      """)
    let server = try DraftedServer(database, ["--aggregates"])
    let all = try ask(
      "{ sizes { aggregates { count wide { sum avg } narrow { sum avg } } } }", server)
    let answer = #""data":{"sizes":{"aggregates":{"count":5,"wide":{"sum":null,"avg":6e+307},"#
    #expect(
      all.contains(
        answer + #""narrow":{"sum":6.0000000109955115e+38,"avg":1.5000000027488779e+38}}}}"#),
      "\(all)")
    #expect(all.contains(#""path":["sizes","aggregates","wide","sum"]"#), "\(all)")
    #expect(all.contains("VALUE_NOT_REPRESENTABLE"), "\(all)")
    let groups = try ask(
      """
      { sizes { groups(by: {kind: true}, having: {wide: {avg: {lt: 1.4e308}}}) {
        key { kind } aggregates { wide { sum avg } narrow { sum avg } } } } }
      """, server)
    #expect(
      groups == #"{"data":{"sizes":{"groups":[{"key":{"kind":"even"},"aggregates":{"wide":"#
        + #"{"sum":1.25,"avg":0.4166666666666667},"narrow":{"sum":3.75,"avg":1.875}}}]}}}"#,
      "\(groups)")
    // Of intervals the whole answer, by a code that says so.
    let spans = try ask("{ sizes { aggregates { span { sum } } } }", server)
    #expect(spans.contains("VALUE_NOT_REPRESENTABLE"), "\(spans)")
  }

  @Test func `a group needs a column, its key only those of "by", and groups their limits`() throws
  {
    let database = try TestCluster.newDatabase()
    let session = try TestCluster.session(database)
    try session.execute(Self.sql)
    let server = try DraftedServer(database, ["--aggregates"])
    func refusal(_ field: String) throws -> String { try ask("{ sales { \(field) } }", server) }

    #expect(
      try refusal("groups(by: {}) { aggregates { count } }").contains("needs at least one column"))
    #expect(
      try refusal("groups(by: {paid: false}) { aggregates { count } }")
        .contains("needs at least one column"))
    let other = try refusal("groups(by: {paid: true}) { key { country } }")
    #expect(other.contains(#"\"country\" is not one of the columns"#), "\(other)")
    #expect(other.contains("BAD_USER_INPUT"), "\(other)")
    #expect(
      try refusal("groups(by: {paid: true}, first: 101) { key { paid } }")
        .contains("must be between 0 and 100"))
    let many = (1...31).map { "{count: {gt: \($0)}}" }.joined(separator: ", ")
    #expect(
      try refusal("groups(by: {paid: true}, having: {and: [\(many)]}) { key { paid } }")
        .contains("at most 30 conditions"))
    // Each costs 100 in every row of a page around it.
    let all = try ask("{ shops(first: 100) { nodes { sales { aggregates { count } } } } }", server)
    #expect(all.contains("COST_LIMIT_EXCEEDED"), "\(all)")
  }

  @Test func `a row that the viewer may not read is in no aggregate`() throws {
    let database = try TestCluster.newDatabase()
    let session = try TestCluster.session(database)
    try session.execute(Self.sql)
    let server = try DraftedServer(database, ["--aggregates"]) { folder in
      let path = folder + "/shop.graphql"
      let text = try String(contentsOfFile: path, encoding: .utf8)
      try text.replacing(
        #"@table(name: "shop", key: "shop_id")"#,
        with:
          #"@table(name: "shop", key: "shop_id", where: "this.owner = coalesce(:claim.sub, 'ada')")"#
      ).write(toFile: path, atomically: true, encoding: .utf8)
    }
    #expect(
      try ask("{ shops { aggregates { count name { min max } } } }", server)
        == #"{"data":{"shops":{"aggregates":{"count":2,"name":{"min":"shop 2","max":"shop 4"}}}}}"#)
    #expect(
      try ask(
        "{ shops { groups(by: {owner: true}) { key { owner } aggregates { count } } } }", server)
        == #"{"data":{"shops":{"groups":[{"key":{"owner":"ada"},"aggregates":{"count":2}}]}}}"#)
    // Nor does a filter of other rows tell.
    #expect(
      try ask(
        "{ sales(filter: {shop: {owner: {eq: \"ben\"}}}) { aggregates { count total { sum } } } }",
        server)
        == #"{"data":{"sales":{"aggregates":{"count":0,"total":{"sum":null}}}}}"#)
  }

  private func ask(_ document: String, _ server: DraftedServer) throws -> String {
    try post("{\"query\": \(JSONValue.string(document))}", port: server.port).body
  }
}
