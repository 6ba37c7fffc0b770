import GraphQLLanguage
import GraphQLPlanning
import JSON
import TestSupport
import Testing

@testable import Postgres

/// Filters of inputs with `@filter(of:)`, compared with conditions in SQL written by hand.
@Suite struct FilterTests {
  private static let albums: [(filter: String, condition: String)] = [
    ("{}", "true"),
    (#"{title: {eq: "Blue"}}"#, "a.title = 'Blue'"),
    (#"{title: {ne: "Blue"}}"#, "a.title <> 'Blue'"),
    (#"{title: {in: ["Blue", "Gold"]}}"#, "a.title IN ('Blue', 'Gold')"),
    (#"{title: {in: []}}"#, "false"),
    (#"{title: {notIn: ["Blue", "Gold"]}}"#, "a.title NOT IN ('Blue', 'Gold')"),
    (#"{title: {lt: "H", gte: "B"}}"#, "a.title < 'H' AND a.title >= 'B'"),
    (#"{title: {like: "%lu_"}}"#, "a.title LIKE '%lu_'"),
    (#"{title: {ilike: "BLUE"}}"#, "a.title ILIKE 'BLUE'"),
    (#"{title: {startsWith: "100%"}}"#, "starts_with(a.title, '100%')"),
    (#"{title: {startsWith: "1_"}}"#, "starts_with(a.title, '1_')"),
    (#"{title: {contains: "_"}}"#, "strpos(a.title, '_') > 0"),
    (#"{title: {contains: "%"}}"#, "strpos(a.title, '%') > 0"),
    (#"{title: {contains: "\\"}}"#, "strpos(a.title, '\\') > 0"),
    (#"{title: {contains: "be"}}"#, "strpos(a.title, 'be') > 0"),
    ("{released: {eq: 1999}}", "a.released = 1999"),
    ("{released: {isNull: true}}", "a.released IS NULL"),
    ("{released: {isNull: false, lte: 1980}}", "a.released <= 1980"),
    ("{released: {gt: 1980, lt: 2000}}", "a.released > 1980 AND a.released < 2000"),
    ("{released: {in: [1961, 1970, 1988, 2001]}}", "a.released IN (1961, 1970, 1988, 2001)"),
    ("{not: {released: {gt: 1980}}}", "NOT a.released > 1980"),
    ("{genre: {eq: HIP_HOP}}", "a.genre = 'hip-hop'"),
    ("{genre: {in: [ROCK, HIP_HOP]}}", "a.genre IN ('ROCK', 'hip-hop')"),
    ("{genre: {notIn: [ROCK]}}", "a.genre NOT IN ('ROCK')"),
    ("{rank: {eq: HIGH}}", "a.rank = 2"),
    ("{rank: {in: [LOW, HIGH]}}", "a.rank IN (1, 2)"),
    (#"{price: {gte: "9.99"}}"#, "a.price >= 9.99"),
    (#"{price: {in: ["1.00", "24.97", "5"]}}"#, "a.price IN (1, 24.97, 5)"),
    (#"{plays: {gt: "9007199254740994"}}"#, "a.plays > 9007199254740994"),
    (
      #"{plays: {in: ["9007199254740993", 9007199254740995]}}"#,
      "a.plays IN (9007199254740993, 9007199254740995)"
    ),
    (
      #"{code: {eq: "8FA14CDD754F91CC6554C9E71929CCE7"}}"#,
      "a.code = '8fa14cdd754f91cc6554c9e71929cce7'"
    ),
    (#"{code: {isNull: false}, isLive: {eq: true}}"#, "a.code IS NOT NULL AND a.is_live"),
    ("{isLive: {ne: true}}", "NOT a.is_live"),
    (#"{tags: {contains: ["new", "a,b"]}}"#, "a.tags @> ARRAY['new', 'a,b']"),
    (#"{tags: {overlaps: ["old", "x\"y"]}}"#, #"a.tags && ARRAY['old', 'x"y']"#),
    ("{tags: {contains: []}}", "a.tags @> '{}'"),
    ("{years: {contains: [2001, 2010]}}", "a.years @> ARRAY[2001, 2010]::bigint[]"),
    ("{years: {overlaps: [2000]}}", "a.years && ARRAY[2000]::bigint[]"),
    ("{genres: {contains: [HIP_HOP]}}", "'hip-hop' = ANY (a.genres)"),
    ("{genres: {isNull: true}}", "a.genres IS NULL"),
    (#"{details: {contains: {label: "L1"}}}"#, "a.details ->> 'label' = 'L1'"),
    ("{details: {contains: {n: 2}}}", "(a.details ->> 'n')::int = 2"),
    (#"{details: {hasKey: "label"}}"#, "a.details ? 'label'"),
    ("{details: {isNull: true}}", "a.details IS NULL"),
    (#"{search: {matches: "quick -fox"}}"#, "a.search @@ websearch_to_tsquery('quick -fox')"),
    (#"{search: {matches: "fox or lazy"}}"#, "a.search @@ websearch_to_tsquery('fox or lazy')"),
    (
      #"{or: [{title: {eq: "Gold"}}, {released: {lt: 1970}}]}"#,
      "a.title = 'Gold' OR a.released < 1970"
    ),
    ("{or: []}", "false"),
    ("{and: []}", "true"),
    ("{or: [{}, {released: {lt: 1970}}]}", "true"),
    ("{not: {}}", "false"),
    (
      #"{and: [{isLive: {eq: true}}, {or: [{title: {eq: "Blue"}}, {not: {genre: {eq: JAZZ}}}]}], released: {gt: 1970}}"#,
      "a.is_live AND (a.title = 'Blue' OR NOT a.genre = 'JAZZ') AND a.released > 1970"
    ),
    ("{artist: {}}", "a.artist_id IS NOT NULL"),
    ("{not: {artist: {}}}", "a.artist_id IS NULL"),
    (
      #"{artist: {name: {eq: "Ada"}, born: {lt: "1970-01-01"}}}"#,
      "(SELECT r.name = 'Ada' AND r.born < '1970-01-01' FROM artist r WHERE r.artist_id = a.artist_id)"
    ),
    (
      #"{artist: {mentor: {country: {eq: "FR"}}}}"#,
      """
      a.artist_id IN (SELECT r.artist_id FROM artist r JOIN artist m ON m.artist_id = r.mentor_id
        WHERE m.country = 'FR')
      """
    ),
    (
      "{tracks: {some: {seconds: {gt: 400}}}}",
      "a.album_id IN (SELECT t.album_id FROM track t WHERE t.seconds > 400)"
    ),
    ("{tracks: {none: {}}}", "a.album_id NOT IN (SELECT t.album_id FROM track t)"),
    (
      "{tracks: {every: {seconds: {gt: 100}}}}",
      "a.album_id NOT IN (SELECT t.album_id FROM track t WHERE coalesce(t.seconds, 0) <= 100)"
    ),
    (
      #"{tracks: {some: {title: {eq: "Intro"}}, none: {title: {eq: "Outro"}}}}"#,
      """
      'Intro' IN (SELECT t.title FROM track t WHERE t.album_id = a.album_id)
        AND 'Outro' NOT IN (SELECT t.title FROM track t WHERE t.album_id = a.album_id)
      """
    ),
    (
      #"{tracks: {some: {playlists: {some: {owner: {country: {eq: "DE"}}}}}}}"#,
      """
      a.album_id IN (SELECT t.album_id FROM track t JOIN playlist_track pt USING (track_id)
        JOIN playlist p USING (playlist_id) JOIN artist o ON o.artist_id = p.owner_id WHERE o.country = 'DE')
      """
    ),
    (
      #"{artist: {albums: {some: {tracks: {some: {title: {ilike: "intro"}}}, isLive: {eq: true}}}}}"#,
      """
      a.artist_id IN (SELECT b.artist_id FROM album b WHERE b.is_live
        AND EXISTS (SELECT FROM track t WHERE t.album_id = b.album_id AND lower(t.title) = 'intro'))
      """
    ),
    (
      "{artist: {students: {every: {albums: {none: {}}}}}}",
      """
      a.artist_id IS NOT NULL AND NOT EXISTS (SELECT FROM artist s JOIN album b ON b.artist_id = s.artist_id
        WHERE s.mentor_id = a.artist_id)
      """
    ),
    ("{title: null, artist: null, released: {eq: null}}", "true"),
  ]

  @Test func `a filter finds what the same condition finds in SQL`() throws {
    let graph = try OwnGraph(MusicGraph.sdl, MusicGraph.sql)
    #expect(graph.findings == [])
    #expect(Self.albums.count >= 60)
    var counts: Set<Int> = []
    for (filter, condition) in Self.albums {
      let rows = try graph.rows(
        "SELECT a.album_id FROM album a WHERE \(condition) ORDER BY 1")
      let ids = rows.compactMap { $0.first ?? nil }
      counts.insert(ids.count)
      let nodes = "[\(ids.map { "{\"albumId\":\($0)}" }.joined(separator: ","))]"
      #expect(
        try graph.body("{ albums(filter: \(filter), first: 100) { totalCount nodes { albumId } } }")
          == "{\"data\":{\"albums\":{\"totalCount\":\(ids.count),\"nodes\":\(nodes)}}}", "\(filter)"
      )
      #expect(
        try graph.body("{ albumList(filter: \(filter), orderBy: {albumId: ASC}) { albumId } }")
          == "{\"data\":{\"albumList\":\(nodes)}}", "\(filter)")
    }
    // They are no test if they find all or nothing.
    #expect(counts.count > 20)
  }

  @Test func `executions with filters can be combined`() throws {
    let graph = try OwnGraph(MusicGraph.sdl, MusicGraph.sql)
    var texts: [String] = []
    for (filter, _) in Self.albums {
      let source = Source(
        "{ albums(filter: \(filter), orderBy: [{artist: {name: ASC}}]) { nodes { title } } }")
      let document = try Parser.parse(source, limits: .default)
      let plan = try Planner(mapping: graph.mapping).plan(
        #require(document.operations.first), fragments: [:], source: source, variables: [])
      guard case .query(.read(let read)) = plan else { continue }
      if read.parameters.isEmpty { continue }
      guard let batched = BatchedStatement(read.statement) else {
        // PostgreSQL is given these as text.
        #expect(filter.contains("price"), "\(filter)")
        continue
      }
      texts.append(batched.statement.text)
    }
    #expect(texts.count > 30)
    let session = try TestCluster.session(graph.server.database)
    for answer in try session.pipeline(texts.map { .describe($0) }) { _ = try answer.get() }
  }

  @Test func `values may be variables, in any part`() throws {
    let graph = try OwnGraph(MusicGraph.sdl, MusicGraph.sql)
    let whole = "query ($f: AlbumFilter) { albums(filter: $f, first: 100) { nodes { albumId } } }"
    let parts = """
      query ($title: String, $titles: [String!], $some: TrackFilter, $genre: Genre, $live: Boolean) {
        albums(filter: {
          title: {eq: $title, in: $titles}, tracks: {some: $some}, genre: {eq: $genre}, isLive: {eq: $live}
        }, first: 100) { nodes { albumId } }
      }
      """
    func ids(_ query: String, _ variables: String) throws -> [String] {
      let body = try graph.body(query, JSONParser.parse(Array(variables.utf8)))
      return body.matches(of: /"albumId":([0-9]+)/).map { String($0.1) }
    }
    func found(_ condition: String) throws -> [String] {
      try graph.rows("SELECT album_id FROM album a WHERE \(condition) ORDER BY 1")
        .compactMap { $0.first ?? nil }
    }
    // Each form twice, with other values: the plan is that of the first.
    for title in ["Blue", "Gold"] {
      #expect(
        try ids(whole, "{\"f\": {\"title\": {\"eq\": \"\(title)\"}}}")
          == found("title = '\(title)'"))
      #expect(
        try ids(
          whole,
          "{\"f\": {\"or\": [{\"title\": {\"eq\": \"\(title)\"}}, {\"released\": {\"lt\": 1970}}]}}"
        )
          == found("title = '\(title)' OR released < 1970"))
      #expect(try ids(parts, "{\"title\": \"\(title)\"}") == found("title = '\(title)'"))
      #expect(
        try ids(
          parts, "{\"titles\": [\"\(title)\", \"blue\"], \"genre\": \"JAZZ\", \"live\": true}")
          == found("title IN ('\(title)', 'blue') AND genre = 'JAZZ' AND is_live"))
    }
    for genre in [("ROCK", "ROCK"), ("HIP_HOP", "hip-hop")] {
      #expect(try ids(parts, "{\"genre\": \"\(genre.0)\"}") == found("genre = '\(genre.1)'"))
    }
    for seconds in [100, 500] {
      #expect(
        try ids(parts, "{\"some\": {\"seconds\": {\"gt\": \(seconds)}}}")
          == found(
            "EXISTS (SELECT FROM track t WHERE t.album_id = a.album_id AND t.seconds > \(seconds))")
      )
    }
    #expect(try ids(whole, "{}") == found("true"))
    #expect(try ids(whole, #"{"f": null}"#) == found("true"))
  }

  @Test func `filters are of nested connections, lists, objects and counts, too`() throws {
    let graph = try OwnGraph(MusicGraph.sdl, MusicGraph.sql)
    let rows = try graph.rows(
      """
      SELECT r.artist_id, count(a.album_id), min(a.album_id) FROM artist r
      LEFT JOIN album a ON a.artist_id = r.artist_id AND a.is_live
        AND EXISTS (SELECT FROM track t WHERE t.album_id = a.album_id)
      GROUP BY 1 ORDER BY 1
      """)
    let nodes = rows.map { row in
      let first = row[2].map { "{\"albumId\":\($0)}" } ?? ""
      return
        "{\"artistId\":\(row[0] ?? ""),\"albums\":{\"totalCount\":\(row[1] ?? ""),\"nodes\":[\(first)]}}"
    }
    #expect(
      try graph.body(
        """
        { artists(first: 100) { nodes { artistId albums(first: 1, filter: {
          isLive: {eq: true}, tracks: {some: {}}}) { totalCount nodes { albumId } } } } }
        """) == "{\"data\":{\"artists\":{\"nodes\":[\(nodes.joined(separator: ","))]}}}")
    #expect(
      try graph.body(
        #"{ yes: album(albumId: 1, filter: {albumId: {eq: 1}}) { albumId } no: album(albumId: 1, filter: {albumId: {ne: 1}}) { albumId } }"#
      ) == #"{"data":{"yes":{"albumId":1},"no":null}}"#)
    #expect(
      try graph.body(
        #"query ($no: Boolean!) { albums(filter: {title: {eq: "Blue"}}) @skip(if: $no) { totalCount } album(albumId: 1) { albumId } }"#,
        JSONParser.parse(Array(#"{"no": true}"#.utf8))) == #"{"data":{"album":{"albumId":1}}}"#)
  }

  @Test func `what a viewer may not read meets no condition, and has no place in an order`() throws
  {
    let graph = try OwnGraph(
      """
      type Query { cats(filter: CatFilter, orderBy: [CatOrder!]): CatConnection! @connection }
      type Cat @table(name: "visible_cat(:viewer)", masked: "masked_cat(:viewer)", key: "id") {
        catId: Int! @column(name: "id")
        name: String
        friend: Cat @reference(column: "friend_id")
        kittens: CatConnection! @connection(where: "this.friend_id = parent.id", orderBy: "this.id")
      }
      type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
      input CatFilter @filter(of: "Cat")
      input CatOrder @order(of: "Cat")
      """,
      """
      CREATE TABLE cat (id int PRIMARY KEY, name text, friend_id int, hidden boolean NOT NULL);
      INSERT INTO cat VALUES (1, 'Ada', 4, false), (2, 'Bo', 3, false), (3, 'Cy', 1, false), (4, 'Secret', 3, true);
      CREATE FUNCTION visible_cat(viewer bigint) RETURNS SETOF cat STABLE LANGUAGE sql AS
        'SELECT * FROM cat WHERE NOT hidden OR viewer = 9';
      CREATE FUNCTION masked_cat(viewer bigint) RETURNS SETOF cat STABLE LANGUAGE sql AS
        'SELECT id, CASE WHEN hidden AND viewer <> 9 THEN NULL ELSE name END, friend_id, hidden FROM cat';
      """)
    #expect(graph.findings == [])
    func names(_ arguments: String) throws -> String {
      let body = try graph.body("{ cats(\(arguments)) { totalCount nodes { name } } }")
      return body.matches(of: /"name":"([A-Za-z]+)"/).map { String($0.1) }.joined(separator: ",")
        + (body.firstMatch(of: /"totalCount":([0-9]+)/).map { " \($0.1)" } ?? body)
    }
    #expect(try names("first: 9") == "Ada,Bo,Cy 3")
    #expect(try names(#"filter: {friend: {name: {eq: "Secret"}}}"#) == " 0")
    #expect(try names("filter: {friend: {}}") == "Bo,Cy 2")
    #expect(try names("filter: {not: {friend: {}}}") == "Ada 1")
    #expect(try names(#"filter: {kittens: {some: {name: {like: "S%"}}}}"#) == " 0")
    #expect(try names(#"filter: {kittens: {every: {name: {ne: "Secret"}}}}"#) == "Ada,Bo,Cy 3")
    #expect(try names("orderBy: [{friend: {name: ASC}}]") == "Cy,Bo,Ada 3")
    #expect(try names("orderBy: [{friend: {name: DESC_NULLS_LAST}}]") == "Bo,Cy,Ada 3")
  }
}
