import JSON
import Testing

/// Orders of inputs with `@order(of:)`, and pages through them.
@Suite struct OrderTests {
  private static let orders: [(order: String, sql: String)] = [
    ("[]", "a.album_id"),
    ("[{title: ASC}]", "a.title, a.album_id"),
    ("[{title: DESC}]", "a.title DESC, a.album_id DESC"),
    ("[{released: ASC}]", "a.released, a.album_id"),
    ("[{released: DESC}]", "a.released DESC, a.album_id DESC"),
    ("[{released: ASC_NULLS_FIRST}]", "a.released NULLS FIRST, a.album_id"),
    ("[{released: DESC_NULLS_LAST}]", "a.released DESC NULLS LAST, a.album_id DESC"),
    (
      "[{genre: DESC_NULLS_LAST}, {title: ASC}, {price: DESC_NULLS_FIRST}]",
      "a.genre DESC NULLS LAST, a.title, a.price DESC NULLS FIRST, a.album_id DESC"
    ),
    ("[{isLive: DESC}, {albumId: ASC}, {title: DESC}]", "a.is_live DESC, a.album_id"),
    (
      "[{artist: {name: ASC}}]",
      "(SELECT r.name FROM artist r WHERE r.artist_id = a.artist_id), a.album_id"
    ),
    (
      "[{artist: {mentor: {country: DESC_NULLS_LAST}}}, {code: ASC}]",
      """
      (SELECT m.country FROM artist r JOIN artist m ON m.artist_id = r.mentor_id
        WHERE r.artist_id = a.artist_id) DESC NULLS LAST, a.code, a.album_id
      """
    ),
  ]

  @Test func `pages forward and backward have each row once, in SQL's order`() throws {
    let graph = try OwnGraph(MusicGraph.sdl, MusicGraph.sql)
    #expect(graph.findings == [])
    for (order, sql) in Self.orders {
      let ids = try graph.rows("SELECT a.album_id FROM album a ORDER BY \(sql)").compactMap {
        $0.first ?? nil
      }
      #expect(
        try pages(graph, order, "first", "after", "endCursor", "hasNextPage") == ids, "\(order)")
      #expect(
        try pages(graph, order, "last", "before", "startCursor", "hasPreviousPage") == ids,
        "\(order)")
    }
  }

  /// Returns the ids of all pages of seven; those of pages from the end from the last one on.
  private func pages(
    _ graph: OwnGraph, _ order: String, _ size: String, _ place: String, _ cursor: String,
    _ more: String
  ) throws -> [String] {
    var found: [String] = []
    var next = ""
    for _ in 0..<20 {
      let body = try graph.body(
        """
        { albums(orderBy: \(order), \(size): 7\(next)) {
          nodes { albumId } pageInfo { \(more) \(cursor) } } }
        """)
      let ids = body.matches(of: /"albumId":([0-9]+)/).map { String($0.1) }
      found = size == "first" ? found + ids : ids + found
      guard body.contains("\"\(more)\":true"),
        let given = body.firstMatch(of: /Cursor":"([^"]+)"/)?.1
      else { return found }
      next = ", \(place): \"\(given)\""
    }
    return found
  }

  @Test func `a relation's own order makes one total where the table's key is not said`() throws {
    let graph = try OwnGraph(
      """
      type Query {
        pairs(orderBy: [PairOrder!]): PairConnection! @connection(orderBy: "this.a, this.b")
      }
      type Pair @table(name: "pair") { a: Int! b: Int! c: Int! }
      type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
      input PairOrder @order(of: "Pair")
      """,
      """
      CREATE TABLE pair (a int, b int, c int NOT NULL, PRIMARY KEY (a, b));
      INSERT INTO pair VALUES (1, 1, 5), (1, 2, 6), (2, 1, 6), (2, 2, 5);
      """)
    #expect(graph.findings == [])
    #expect(
      try graph.body("{ pairs(orderBy: [{c: DESC}]) { nodes { a b } } }")
        == #"{"data":{"pairs":{"nodes":[{"a":1,"b":2},{"a":2,"b":1},{"a":1,"b":1},{"a":2,"b":2}]}}}"#
    )
  }

  @Test func `a cursor is of one order`() throws {
    let graph = try OwnGraph(MusicGraph.sdl, MusicGraph.sql)
    let body = try graph.body(
      "{ albums(orderBy: [{released: ASC_NULLS_FIRST}], first: 1) { pageInfo { endCursor } } }")
    let cursor = try #require(body.firstMatch(of: /"endCursor":"([^"]+)"/)?.1)
    for other in ["[{released: ASC}]", "[{released: DESC}]", "[{price: ASC_NULLS_FIRST}]", "[]"] {
      let answer = try graph.body(
        "{ albums(orderBy: \(other), after: \"\(cursor)\") { nodes { albumId } } }")
      #expect(
        answer.contains("The cursor is not one of this list and order."), "\(other) \(answer)")
    }
  }

  @Test
  func `orders may be variables, of nested connections and lists, and by keys of several columns`()
    throws
  {
    let graph = try OwnGraph(MusicGraph.sdl, MusicGraph.sql)
    let query = """
      query ($order: [AlbumOrder!], $direction: SortDirection!) {
        albums(orderBy: $order, first: 3) { nodes { albumId } }
        albumList(orderBy: [{released: $direction}], limit: 3) { albumId }
      }
      """
    func ids(_ sql: String) throws -> String {
      try graph.rows("SELECT album_id FROM album ORDER BY \(sql) LIMIT 3").map {
        "{\"albumId\":\(($0.first ?? nil) ?? "")}"
      }.joined(separator: ",")
    }
    for direction in ["ASC", "DESC"] {
      let body = try graph.body(
        query,
        JSONParser.parse(
          Array(
            "{\"order\": [{\"title\": \"\(direction)\"}], \"direction\": \"\(direction)\"}".utf8)))
      let (titles, years) = try (
        ids("title \(direction), album_id \(direction)"),
        ids("released \(direction), album_id \(direction)")
      )
      #expect(
        body == "{\"data\":{\"albums\":{\"nodes\":[\(titles)]},\"albumList\":[\(years)]}}",
        "\(body)")
    }
    let pairs = try graph.rows(
      "SELECT playlist_id, track_id FROM playlist_track ORDER BY playlist_id DESC, track_id DESC LIMIT 2"
    ).map { "{\"playlistId\":\($0[0] ?? ""),\"trackId\":\($0[1] ?? "")}" }
    #expect(
      try graph.body(
        "{ playlistTracks(orderBy: [{playlistId: DESC}], first: 2) { nodes { playlistId trackId } } }"
      )
        == "{\"data\":{\"playlistTracks\":{\"nodes\":[\(pairs.joined(separator: ","))]}}}")
    let two = try graph.body("{ albums(orderBy: [{title: ASC, price: ASC}]) { totalCount } }")
    #expect(two.contains("must specify exactly one key"), "\(two)")
  }
}
