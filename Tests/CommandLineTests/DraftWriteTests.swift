import Foundation
import JSON
import Postgres
import TestSupport
import Testing
import TokenSupport

/// `sociograph draft --mutations`: inserts, updates and deletes over tables that know nothing of it.
@Suite(.usesCluster) struct DraftWriteTests {
  private static let sql = """
    CREATE TYPE size AS ENUM ('S', 'X-L');
    CREATE TABLE artist (artist_id serial PRIMARY KEY, name text NOT NULL UNIQUE, born date);
    CREATE TABLE album (
      album_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      artist_id int NOT NULL REFERENCES artist,
      "Title" varchar(40) NOT NULL,
      title_length int GENERATED ALWAYS AS (length("Title")) STORED,
      price numeric(6, 2) CHECK (price >= 0) DEFAULT 9.5,
      size size, tags text[] NOT NULL DEFAULT '{}', code uuid, views bigint NOT NULL DEFAULT 0,
      more jsonb, made timestamptz NOT NULL DEFAULT '2026-01-01Z',
      UNIQUE (artist_id, "Title"));
    CREATE TABLE chart (
      week date, place int, album_id int NOT NULL REFERENCES album, PRIMARY KEY (week, place));
    CREATE TABLE booking (
      room int, hours int4range, PRIMARY KEY (room, hours), note text,
      EXCLUDE USING gist (hours WITH &&));
    CREATE TABLE counter (name text PRIMARY KEY, value int NOT NULL);
    CREATE FUNCTION counter() RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
    CREATE TABLE page (page_id int PRIMARY KEY, words tsvector NOT NULL, body text NOT NULL);
    CREATE TRIGGER words BEFORE INSERT OR UPDATE ON page FOR EACH ROW
      EXECUTE FUNCTION tsvector_update_trigger('words', 'pg_catalog.english', 'body');
    CREATE TABLE log (line text);
    CREATE TYPE place AS (x int, name text); CREATE DOMAIN positive AS int CHECK (VALUE > 0);
    CREATE TABLE shape (
      shape_id int PRIMARY KEY, at place NOT NULL, sizes positive[], grid int[][], "Colors" size[][]);
    INSERT INTO artist (name) VALUES ('Ada'), ('Ben');
    """

  /// A server over the drafted schema of a database of its own.
  private final class Shop {
    let database: String
    let session: PostgresSession
    private let server: DraftedServer
    var port: UInt16 { server.port }
    var log: String { server.errors }

    init(_ edit: (String) throws -> Void = { _ in }) throws {
      database = try TestCluster.newDatabase()
      session = try TestCluster.session(database)
      try session.execute(DraftWriteTests.sql)
      server = try DraftedServer(database, ["--mutations"], prepare: edit)
    }

    func ask(_ document: String, _ variables: String = "{}") throws -> String {
      try post(
        "{\"query\": \(JSONValue.string(document)), \"variables\": \(variables)}", port: port
      ).body
    }

    func value(_ query: String) throws -> String? { try session.execute(query).first?.first ?? nil }
  }

  private static let album = """
    { count userErrors { code path } rows { albumId title artist { name } price size tags code views
      more made titleLength } }
    """

  // MARK: - Who may write

  @Test func `clients without a token write nothing, unless the draft was told that they may`()
    throws
  {
    let database = try TestCluster.newDatabase()
    let session = try TestCluster.session(database)
    try session.execute(Self.sql)
    let folder = try TemporaryFolder()
    let secret = "a secret of at least thirty-two bytes"
    _ = try folder.write("secret", secret)
    let keys = try folder.write(
      "issuers.json",
      #"{"OURS": {"issuer": "https://id.example", "audience": "graph", "secret": "secret"}}"#)
    let server = try DraftedServer(
      database, ["--mutations"], serving: ["--jwt-keys", keys], anonymousWrites: false)
    #expect(!server.errors.contains("may write"))
    let document = "mutation { deleteArtists(filter: {}, atMost: 100) { count } }"
    let transaction =
      "mutation @transaction { a: deleteArtists(filter: {}, atMost: 9) { count } b: __typename }"
    for text in [document, transaction] {
      let answer = try post("{\"query\": \(JSONValue.string(text))}", port: server.port).body
      #expect(answer.contains("UNAUTHENTICATED"), "\(answer)")
    }
    #expect(try session.execute("SELECT count(*) FROM artist") == [["2"]])
    let token = TokenSigner(.shared(secret)).sign(
      #"{"iss":"https://id.example","aud":"graph","exp":4000000000,"sub":"ada"}"#)
    let answer = try post(
      "{\"query\": \(JSONValue.string(document))}", port: server.port,
      headers: "Authorization: Bearer \(token)\r\n"
    ).body
    #expect(answer == #"{"data":{"deleteArtists":{"count":2}}}"#)
    let open = try Shop()
    #expect(open.log.contains("clients without a token may write album, artist, booking"))
  }

  @Test func `a key that is DEFERRABLE is not offered for updateOnConflict`() throws {
    let database = try TestCluster.newDatabase()
    try TestCluster.session(database).execute(
      """
      CREATE TABLE slot (
        slot_id int PRIMARY KEY, code text UNIQUE, place int UNIQUE DEFERRABLE INITIALLY IMMEDIATE);
      """)
    let server = try DraftedServer(database, ["--mutations"])
    let answer = try post(
      #"{"query": "{ __type(name: \"SlotKey\") { enumValues { name } } }"}"#, port: server.port
    ).body
    #expect(answer == #"{"data":{"__type":{"enumValues":[{"name":"SLOT_ID"},{"name":"CODE"}]}}}"#)
  }

  // MARK: - One transaction

  @Test func `fields of one transaction are all written, or none`() throws {
    let shop = try Shop()
    let done = try shop.ask(
      """
      mutation @transaction {
        a: insertArtists(input: [{name: "Cleo"}]) { count rows { artistId name } userErrors { code } }
        b: updateArtists(filter: {name: {eq: "Cleo"}}, set: {name: "Dora"}) { count rows { name } }
        c: insertAlbums(input: [{artistId: 3, title: "First"}]) { rows { title artist { name } } }
        __typename
      }
      """)
    #expect(
      done == """
        {"data":{"a":{"count":1,"rows":[{"artistId":3,"name":"Cleo"}],"userErrors":[]},\
        "b":{"count":1,"rows":[{"name":"Dora"}]},\
        "c":{"rows":[{"title":"First","artist":{"name":"Dora"}}]},"__typename":"Mutation"}}
        """)
    let refused = try shop.ask(
      """
      mutation @transaction {
        a: insertArtists(input: [{name: "Emil"}]) { count userErrors { code message } }
        b: insertArtists(input: [{name: "Ada"}]) { count userErrors { code path } }
        c: deleteArtists(filter: {name: {eq: "Dora"}}) { count userErrors { code } }
      }
      """)
    #expect(
      refused == #"""
        {"data":{"a":{"count":null,"userErrors":[{"code":"ROLLED_BACK",\#
        "message":"Nothing was written, because b failed or was refused."}]},\#
        "b":{"count":null,"userErrors":[{"code":"NOT_UNIQUE","path":["input","0","name"]}]},\#
        "c":{"count":null,"userErrors":[{"code":"ROLLED_BACK"}]}}}
        """#)
    #expect(refused.contains("Nothing was written, because b failed or was refused."), "\(refused)")
    #expect(try shop.value("SELECT count(*) FROM artist WHERE name IN ('Emil', 'Dora')") == "1")
    // A field that fails is the end of the others, too.
    let wrong = try shop.ask(
      """
      mutation @transaction {
        a: insertArtists(input: [{name: "Emil"}]) { count }
        b: updateAlbums(filter: {code: {eq: "none"}}, set: {views: "1"}) { count }
      }
      """)
    #expect(
      wrong.hasPrefix(#"{"data":null,"errors""#) && wrong.contains("BAD_USER_INPUT"), "\(wrong)")
    #expect(try shop.value("SELECT count(*) FROM artist WHERE name = 'Emil'") == "0")
    // Without the directive each field is a transaction of its own.
    _ = try shop.ask(
      """
      mutation {
        a: insertArtists(input: [{name: "Emil"}]) { count }
        b: insertArtists(input: [{name: "Ada"}]) { count userErrors { code } }
      }
      """)
    #expect(try shop.value("SELECT count(*) FROM artist WHERE name = 'Emil'") == "1")
  }

  // MARK: - Insert

  @Test func `columns that are not given keep their defaults, and values of all types are written`()
    throws
  {
    let shop = try Shop()
    let answer = try shop.ask(
      """
      mutation($more: JSON) { insertAlbums(input: [
        {artistId: 1, title: "One"},
        {artistId: 2, title: "Two", price: "1.25", size: X_L, tags: ["a", "b,c"],
          code: "6f9619ff-8b86-d011-b42d-00c04fc964ff", views: "9007199254740993", more: $more,
          made: "2026-05-01T18:30:00Z"}
      ]) \(Self.album) }
      """, #"{"more": {"a": [1, null]}}"#)
    #expect(
      answer == """
        {"data":{"insertAlbums":{"count":2,"userErrors":[],"rows":[\
        {"albumId":1,"title":"One","artist":{"name":"Ada"},"price":"9.50","size":null,"tags":[],\
        "code":null,"views":"0","more":null,"made":"2026-01-01T00:00:00.000Z","titleLength":3},\
        {"albumId":2,"title":"Two","artist":{"name":"Ben"},"price":"1.25","size":"X_L",\
        "tags":["a","b,c"],"code":"6f9619ff-8b86-d011-b42d-00c04fc964ff",\
        "views":"9007199254740993","more":{"a": [1, null]},"made":"2026-05-01T18:30:00.000Z",\
        "titleLength":3}]}}}
        """)
    // What a trigger fills is not required of the client.
    #expect(
      try shop.ask(
        """
        mutation { insertPages(input: {pageId: 1, body: "two cats"}) { rows { words } }
          b: insertPages(input: {pageId: 2}) { userErrors { code path } } }
        """) == """
          {"data":{"insertPages":{"rows":[{"words":"'cat':2 'two':1"}]},\
          "b":{"userErrors":[{"code":"REQUIRED","path":["input","body"]}]}}}
          """)
    // A null is no absent member, and one object is a list of one.
    let null = try shop.ask(
      "mutation($a: AlbumInput!) { insertAlbums(input: [$a]) { rows { price tags } } }",
      #"{"a": {"artistId": 1, "title": "Null", "price": null}}"#)
    #expect(null == #"{"data":{"insertAlbums":{"rows":[{"price":null,"tags":[]}]}}}"#)
    let many = try shop.ask(
      "mutation($a: [AlbumInput!]!) { insertAlbums(input: $a) { count } }",
      "{\"a\": [\((0..<101).map { #"{"artistId": 1, "title": "\#($0)"}"# }.joined(separator: ","))]}"
    )
    #expect(many.contains("At most 100 rows can be inserted at once, not 101."), "\(many)")
    #expect(
      try shop.ask("mutation { insertAlbums(input: []) { count rows { title } } }")
        == #"{"data":{"insertAlbums":{"count":0,"rows":[]}}}"#)
    #expect(try shop.value("SELECT count(*) FROM album") == "3")
  }

  @Test func `a row whose key is there is updated where the client says so`() throws {
    let shop = try Shop()
    let upsert = """
      mutation($title: String!, $views: BigInt!) { insertAlbums(updateOnConflict: ARTIST_ID_AND_TITLE,
        input: {artistId: 1, title: $title, views: $views}) { count rows { albumId views price } } }
      """
    #expect(
      try shop.ask(upsert, #"{"title": "One", "views": "1"}"#)
        == #"{"data":{"insertAlbums":{"count":1,"rows":[{"albumId":1,"views":"1","price":"9.50"}]}}}"#
    )
    try shop.session.execute("UPDATE album SET price = 3")
    #expect(
      try shop.ask(upsert, #"{"title": "One", "views": "2"}"#)
        == #"{"data":{"insertAlbums":{"count":1,"rows":[{"albumId":1,"views":"2","price":"3.00"}]}}}"#
    )
    #expect(
      try shop.ask(
        """
        mutation { insertAlbums(updateOnConflict: ARTIST_ID_AND_TITLE,
          input: [{artistId: 1, title: "One"}, {artistId: 1, title: "One"}]) { userErrors { code } } }
        """) == #"{"data":{"insertAlbums":{"userErrors":[{"code":"NOT_UNIQUE"}]}}}"#)
  }

  @Test func `many clients write one key at once, and there is one row`() async throws {
    let shop = try Shop()
    let port = shop.port
    try await withThrowingTaskGroup(of: String.self) { group in
      for number in 0..<32 {
        group.addTask {
          let body = """
            {"query": "mutation { insertCounters(updateOnConflict: NAME, input: {name: \\"a\\", \
            value: \(number)}) { count userErrors { code } } }"}
            """
          return try post(body, port: port).body
        }
      }
      for try await answer in group {
        #expect(answer == #"{"data":{"insertCounters":{"count":1,"userErrors":[]}}}"#)
      }
    }
    #expect(try shop.value("SELECT count(*) FROM counter") == "1")
  }

  // MARK: - Update and delete

  @Test func `rows that a filter finds are written, and none if they are more than allowed`() throws
  {
    let shop = try Shop()
    _ = try shop.ask(
      """
      mutation { insertAlbums(input: [{artistId: 1, title: "One"}, {artistId: 1, title: "Two"},
        {artistId: 2, title: "Three"}]) { count } }
      """)
    let update = """
      mutation($filter: AlbumFilter!, $most: Int) { updateAlbums(filter: $filter, atMost: $most,
        set: {size: S, price: null}) { count userErrors { code path } rows { title size price views } } }
      """
    #expect(
      try shop.ask(update, #"{"filter": {"artist": {"name": {"eq": "Ada"}}}}"#)
        == #"{"data":{"updateAlbums":{"count":null,"userErrors":[{"code":"TOO_MANY","path":["atMost"]}],"rows":[]}}}"#
    )
    #expect(try shop.value("SELECT count(*) FROM album WHERE size = 'S'") == "0")
    #expect(
      try shop.ask(update, #"{"filter": {"artist": {"name": {"eq": "Ada"}}}, "most": 2}"#)
        == """
        {"data":{"updateAlbums":{"count":2,"userErrors":[],"rows":[\
        {"title":"One","size":"S","price":null,"views":"0"},\
        {"title":"Two","size":"S","price":null,"views":"0"}]}}}
        """)
    // Nothing to set is no change of a column, which the database alone may set here.
    #expect(
      try shop.ask(
        "mutation { updateAlbums(filter: {title: {eq: \"One\"}}, set: {}) { count rows { title } } }"
      )
        == #"{"data":{"updateAlbums":{"count":1,"rows":[{"title":"One"}]}}}"#)
    #expect(
      try shop.ask(
        """
        mutation { deleteAlbums(filter: {title: {eq: "Two"}}) { count userErrors { code }
          rows { title price artist { name albums(filter: {size: {eq: S}}) { totalCount } } } } }
        """)
          == """
          {"data":{"deleteAlbums":{"count":1,"userErrors":[],"rows":[{"title":"Two","price":null,\
          "artist":{"name":"Ada","albums":{"totalCount":2}}}]}}}
          """)
    #expect(
      try shop.ask("mutation { deleteAlbums(filter: {title: {eq: \"Two\"}}) { rows { title } } }")
        == #"{"data":{"deleteAlbums":{"rows":[]}}}"#)
    #expect(
      try shop.ask("mutation { deleteAlbums(filter: {}) { count userErrors { code } } }")
        == #"{"data":{"deleteAlbums":{"count":null,"userErrors":[{"code":"TOO_MANY"}]}}}"#)
    #expect(
      try shop.value("SELECT string_agg(\"Title\", ',' ORDER BY \"Title\") FROM album")
        == "One,Three")
  }

  @Test func `a filter holds when the row is written, whatever others did while it waited`()
    async throws
  {
    let shop = try Shop()
    let port = shop.port
    _ = try shop.ask(#"mutation { insertCounters(input: {name: "a", value: 1}) { count } }"#)
    let other = try TestCluster.session(shop.database)
    try other.execute("BEGIN; UPDATE counter SET value = 2")
    async let answer = Task.detached {
      let body = """
        {"query": "mutation { updateCounters(filter: {value: {eq: 1}}, set: {value: 5}) { count } }"}
        """
      return try post(body, port: port).body
    }.value
    while try shop.value(
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    ) == "0" {
      try await Task.sleep(for: .milliseconds(5))
    }
    try other.execute("COMMIT")
    #expect(try await answer == #"{"data":{"updateCounters":{"count":0}}}"#)
    #expect(try shop.value("SELECT value FROM counter") == "2")
    let negative = try shop.ask(
      "mutation { deleteCounters(filter: {}, atMost: -3) { count userErrors { code } } }")
    #expect(
      negative == #"{"data":{"deleteCounters":{"count":null,"userErrors":[{"code":"TOO_MANY"}]}}}"#)
  }

  @Test func `each kind of constraint is a user error with its path, and nothing is written`()
    throws
  {
    let shop = try Shop()
    _ = try shop.ask(
      """
      mutation { insertAlbums(input: {artistId: 1, title: "One"}) { count }
        insertBookings(input: {room: 1, hours: "[1,5)"}) { count } }
      """)
    let cases = [
      (
        #"insertAlbums(input: {artistId: 1, title: "One"})"#, "NOT_UNIQUE", #"["input","artistId"]"#
      ),
      (#"insertArtists(input: {name: "Ada"})"#, "NOT_UNIQUE", #"["input","name"]"#),
      (
        #"insertAlbums(input: {artistId: 99, title: "Two"})"#, "NOT_FOUND", #"["input","artistId"]"#
      ),
      (
        #"insertAlbums(input: {artistId: 1, title: "Two", price: "-1"})"#, "INVALID",
        #"["input","price"]"#
      ),
      (#"insertBookings(input: {room: 2, hours: "[2,3)"})"#, "CONFLICT", #"["input","hours"]"#),
      (
        #"updateAlbums(filter: {}, set: {artistId: null})"#, "REQUIRED", #"["set","artistId"]"#
      ),
      (
        #"updateAlbums(filter: {}, set: {artistId: 98})"#, "NOT_FOUND", #"["set","artistId"]"#
      ),
      (#"deleteArtists(filter: {name: {eq: "Ada"}})"#, "STILL_REFERENCED", "null"),
      (
        #"updateArtists(filter: {name: {eq: "Ada"}}, set: {artistId: 77})"#, "STILL_REFERENCED",
        #"["set","artistId"]"#
      ),
    ]
    for (field, code, path) in cases {
      let name = field.prefix { $0 != "(" }
      let answer = try shop.ask("mutation { \(field) { count userErrors { code path } } }")
      #expect(
        answer
          == #"{"data":{"\#(name)":{"count":null,"userErrors":[{"code":"\#(code)","path":\#(path)}]}}}"#,
        "\(field)")
    }
    #expect(try shop.value("SELECT count(*) FROM album") == "1")
    #expect(try shop.value("SELECT count(*) FROM booking") == "1")
  }

  @Test func `tables without a key and columns that the database makes cannot be written`() throws {
    let shop = try Shop()
    let mutation = try shop.ask("{ __type(name: \"Mutation\") { fields { name } } }")
    #expect(!mutation.contains("insertLogs") && mutation.contains("insertCharts"))
    let input = try shop.ask(
      "{ __type(name: \"AlbumInput\") { inputFields { name type { kind } } } }")
    #expect(!input.contains("albumId") && !input.contains("titleLength"))
    #expect(input.contains(#"{"name":"title","type":{"kind":"NON_NULL"}}"#), "\(input)")
    #expect(input.contains(#"{"name":"views","type":{"kind":"SCALAR"}}"#), "\(input)")
  }

  @Test func `values that are read by a cast are written by one`() throws {
    let shop = try Shop()
    let shape = "shapeId at sizes grid colors"
    #expect(
      try shop.ask(
        """
        mutation($at: Place!) { insertShapes(input: {shapeId: 1, at: $at, sizes: [1, 2], grid: "{{1,2},{3,4}}",
          colors: "{{S,X-L}}"}) { rows { \(shape) } } }
        """, #"{"at": "(7,\"It's, \\\"so\\\"\")"}"#)
        == #"{"data":{"insertShapes":{"rows":[{"shapeId":1,"at":"(7,\"It's, \"\"so\"\"\")","sizes":[1,2],"#
        + #""grid":"{{1,2},{3,4}}","colors":"{{S,X-L}}"}]}}}"#)
    #expect(
      try shop.value(#"SELECT (at).name || sizes[2] || grid[2][1] || "Colors"[1][2] FROM shape"#)
        == #"It's, "so"23X-L"#)
    #expect(
      try shop.ask(
        #"mutation { updateShapes(filter: {shapeId: {eq: 1}}, set: {at: "(8,)", sizes: null}) { rows { at sizes } } }"#
      )
        == #"{"data":{"updateShapes":{"rows":[{"at":"(8,)","sizes":null}]}}}"#)
    #expect(
      try shop.ask(
        #"mutation { updateShapes(filter: {shapeId: {eq: 1}}, set: {sizes: [0]}) { userErrors { code } } }"#
      )
        == #"{"data":{"updateShapes":{"userErrors":[{"code":"INVALID"}]}}}"#)
    let refused = try shop.ask(
      #"mutation { updateShapes(filter: {shapeId: {eq: 1}}, set: {at: "(x"}) { userErrors { code message path } } }"#
    )
    #expect(
      refused == #"""
        {"data":{"updateShapes":{"userErrors":[{"code":"INVALID","message":"\"(x\" is not a value of place.",\#
        "path":["set","at"]}]}}}
        """#)
  }

  // MARK: - Rules

  @Test func `a rule holds for what is written, too`() throws {
    let shop = try Shop { path in
      let file = path + "/album.graphql"
      let text = try String(contentsOfFile: file, encoding: .utf8)
      let edited = text.replacing(
        #"@table(name: "album", "#, with: #"@table(name: "album", where: "this.artist_id = 1", "#)
      try #require(edited != text)
      try edited.write(toFile: file, atomically: true, encoding: .utf8)
    }
    try shop.session.execute(
      #"INSERT INTO album (artist_id, "Title") VALUES (1, 'Mine'), (2, 'Hidden')"#)
    let refused = #"{"count":null,"userErrors":[{"code":"NOT_PERMITTED"}]}"#
    func check(_ field: String, _ wanted: String) throws {
      let name = field.prefix { $0 != "(" }
      let answer = try shop.ask("mutation { \(field) { count userErrors { code } } }")
      #expect(answer == #"{"data":{"\#(name)":\#(wanted)}}"#, "\(field)")
    }
    try check(#"insertAlbums(input: {artistId: 2, title: "New"})"#, refused)
    try check(#"updateAlbums(filter: {title: {eq: "Mine"}}, set: {artistId: 2})"#, refused)
    try check(
      #"updateAlbums(filter: {title: {eq: "Hidden"}}, set: {views: "7"})"#,
      #"{"count":0,"userErrors":[]}"#)
    try check(#"deleteAlbums(filter: {title: {eq: "Hidden"}})"#, #"{"count":0,"userErrors":[]}"#)
    try check(
      """
      insertAlbums(updateOnConflict: ARTIST_ID_AND_TITLE, input: {artistId: 2, title: "Hidden", views: "7"})
      """, #"{"count":0,"userErrors":[]}"#)
    try check(#"insertAlbums(input: {artistId: 1, title: "New"})"#, #"{"count":1,"userErrors":[]}"#)
    #expect(
      try shop.value(
        #"SELECT string_agg(concat(artist_id, "Title", views), ',' ORDER BY album_id) FROM album"#)
        == "1Mine0,2Hidden0,1New0")
  }
}

/// Every table of public databases: a row is deleted, inserted as it was read, and updated.
@Suite(.usesCluster) struct DraftRoundTripTests {
  private static let samples = TestCluster.packageFolder + "/../shared/databases"

  private static func has(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: "\(samples)/\(name)")
  }

  /// The names of one table's file.
  private struct Names {
    let table: String
    let rows: String
    let insert: String
    let update: String
    let delete: String
    let input: String
    /// The fields of the key's columns.
    let key: [String]
    /// The members of the input.
    let members: [String]

    init?(_ text: String) {
      func first(_ pattern: String) -> [String]? {
        guard let expression = try? Regex(pattern).dotMatchesNewlines(false),
          let match = text.firstMatch(of: expression)
        else { return nil }
        return match.output.dropFirst().map { String($0.substring ?? "") }
      }
      guard let table = first(#"@table\(name: "([^"]+)", key: "([^"]+)"\)"#),
        let insert = first(#"(insert\w+)\(input: \[(\w+)!\]!"#),
        let update = first(#"(update\w+)\(filter:"#), let delete = first(#"(delete\w+)\(filter:"#),
        let rows = first(#"  (\w+)\([^)]*\): \w+Connection! @connection\n"#),
        let body = text.firstMatch(of: try! Regex("input \(insert[1]) \\{\n([^}]*)\\}"))
      else { return nil }
      let lines = body.output[1].substring.map(String.init) ?? ""
      var members: [String] = []
      var columns: [String: String] = [:]
      for line in lines.split(separator: "\n") {
        guard let match = line.firstMatch(of: #/^  (\w+): [^@]*(@column\(name: "(.*)"\))?/#) else {
          continue
        }
        let name = String(match.1)
        members.append(name)
        columns[match.3.map(String.init) ?? Self.snakeCase(name)] = name
      }
      self.table = table[0].replacing("\\\"", with: "\"")
      self.rows = rows[0]
      self.insert = insert[0]
      self.update = update[0]
      self.delete = delete[0]
      input = insert[1]
      key = table[1].split(separator: ", ").compactMap { columns[String($0)] }
      self.members = members
    }

    private static func snakeCase(_ name: String) -> String {
      name.reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : String($1) }
    }
  }

  private func roundTrip(_ files: [String]) throws -> Int {
    let database = try TestCluster.newDatabase()
    for file in files {
      _ = try command(
        "psql", "-q", "-v", "ON_ERROR_STOP=0", "-f", "\(Self.samples)/\(file)", database)
    }
    let session = try TestCluster.session(database)
    let server = try DraftedServer(database, ["--mutations"])
    let (path, port) = (server.path, server.port)
    // A row can be deleted although others refer to it.
    for row in try session.execute(
      """
      SELECT format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I', conrelid::regclass, conname)
      FROM pg_constraint WHERE contype = 'f' AND conparentid = 0
      """)
    {
      try session.execute(row[0] ?? "")
    }
    func ask(_ document: String, _ variables: [(String, JSONValue)] = []) throws -> JSONValue {
      let body = JSONValue.object([
        JSONValue.Member(name: "query", value: .string(document)),
        JSONValue.Member(
          name: "variables",
          value: .object(variables.map { JSONValue.Member(name: $0.0, value: $0.1) })),
      ])
      return try JSONParser.parse(Array(try post("\(body)", port: port).body.utf8))
    }
    var count = 0
    for file in try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    where file.hasSuffix(".graphql") && file != "types.graphql" {
      let text = try String(contentsOfFile: "\(path)/\(file)", encoding: .utf8)
      guard let names = Names(text) else { continue }
      func contents() throws -> String? {
        try session.execute(
          """
          SELECT md5(string_agg(r, ',' ORDER BY r)) FROM (
            SELECT (to_jsonb(t) - 'last_update')::text AS r FROM \(names.table) t) x
          """)[0][0]
      }
      let before = try contents()
      let page = try ask(
        "{ \(names.rows)(first: 1) { nodes { \(names.members.joined(separator: " ")) } } }")
      guard case .array(let rows)? = page["data"]?[names.rows]?["nodes"], let row = rows.first
      else {
        Issue.record("\(names.table): \(page)")
        continue
      }
      let filter = JSONValue.object(
        names.key.map { name in
          JSONValue.Member(
            name: name,
            value: .object([JSONValue.Member(name: "eq", value: row[name] ?? .null)]))
        })
      let type = names.input.dropLast("Input".count)
      let deleted = try ask(
        "mutation($f: \(type)Filter!) { m: \(names.delete)(filter: $f) { count userErrors { code } } }",
        [("f", filter)])
      #expect(
        "\(deleted)" == #"{"data":{"m":{"count":1,"userErrors":[]}}}"#, "\(names.table): \(deleted)"
      )
      #expect(try contents() != before)
      let inserted = try ask(
        "mutation($r: [\(names.input)!]!) { m: \(names.insert)(input: $r) { count userErrors { code path } } }",
        [("r", .array([row]))])
      #expect(
        "\(inserted)" == #"{"data":{"m":{"count":1,"userErrors":[]}}}"#,
        "\(names.table): \(inserted)")
      #expect(try contents() == before, "\(names.table)")
      let updated = try ask(
        """
        mutation($f: \(type)Filter!, $r: \(type)Changes!) {
          m: \(names.update)(filter: $f, set: $r) { count userErrors { code path } } }
        """, [("f", filter), ("r", row)])
      #expect(
        "\(updated)" == #"{"data":{"m":{"count":1,"userErrors":[]}}}"#, "\(names.table): \(updated)"
      )
      #expect(try contents() == before, "\(names.table)")
      count += 1
    }
    return count
  }

  @Test(.enabled(if: has("chinook.sql"), "needs ../shared/databases/chinook.sql"))
  func `every table of Chinook`() throws {
    #expect(try roundTrip(["chinook.sql"]) == 11)
  }

  @Test(.enabled(if: has("pagila-data.sql"), "needs ../shared/databases/pagila-data.sql"))
  func `every table of Pagila`() throws {
    #expect(try roundTrip(["pagila-schema.sql", "pagila-data.sql"]) == 15)
  }
}
