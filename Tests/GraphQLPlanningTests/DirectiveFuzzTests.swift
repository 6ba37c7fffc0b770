import OracleSupport
import Postgres
import TestSupport
import Testing

@testable import GraphQLPlanning

/// Directives with unusual texts: each is refused, by the storage mapping or by PostgreSQL when its
/// statement is prepared, or the prepared statement has exactly the parameters that will be bound
/// to it. The tests are seeded: every run uses the same texts.
@Suite(.usesCluster(isFirst: true)) struct DirectiveFuzzTests {
  /// The texts of directives in `sdl`, each where its name stands in braces, with one that holds.
  private static let holes: [(name: String, text: String)] = [
    ("expression", "upper(this.title) || :text"),
    ("condition", "this.title = :value OR this.author_id = :viewer"),
    ("member", "this.author_id"),
    ("set", "SELECT a.id FROM author a WHERE a.name <> :value"),
    ("where", "this.id > 0 AND :viewer >= 0"),
    ("from", "(SELECT b.id, b.rank FROM book b WHERE b.id <> :viewer)"),
    ("on", "this.id = edge.id"),
    ("orderBy", "edge.rank DESC NULLS LAST, this.id"),
    ("count", "CASE WHEN :viewer > 0 THEN 1 ELSE 2 END"),
    ("hidden", "(SELECT count(*)::int FROM author a WHERE a.id = :viewer)"),
    ("rows", "(SELECT FROM author a WHERE a.id = :viewer) AS r"),
    ("table", "(SELECT * FROM author WHERE id <> :viewer)"),
    ("key", "id"),
    ("join", "extra.book_id = this.id"),
    ("column", "note"),
    ("embed", "this.rank IS NOT NULL AND :viewer > 0"),
    ("reference", "parent.author_id"),
    ("ids", "parent.book_ids"),
    ("value", "'IN_PRINT'"),
    ("when", "this.author_id = :viewer"),
    ("values", ":viewer > 0"),
    ("order", "this.rank, this.id DESC"),
  ]

  private static let sdl = """
    schema @hidden(rows: {rows}) { query: Query }
    enum State { OLD @value(sql: {value}) @when(condition: {when}) NEW }
    enum BookOrder { RANK @orderBy(by: {order}) }
    type Query {
      books(text: String @where(condition: {condition}), near: String @where(in: {member}, set: {set}),
        state: State @where(condition: "this.state = :value"), first: Int = 20, after: String): BookConnection!
        @connection(from: {from}, on: {on}, where: {where}, orderBy: {orderBy}, count: {count}, hidden: {hidden})
      ordered(orderBy: BookOrder! = RANK, first: Int = 20, after: String): BookConnection! @connection
    }
    type Book @tag(id: 1) @table(name: "book") @join(name: "extra", table: "extra", on: {join}) {
      id: ID!
      shout(text: String): String @sql(expression: {expression})
      note: String @column(of: "extra", name: {column})
      print: Print @embed(when: {embed})
      author: Author @reference(id: {reference})
      actions: [State!]! @values(when: {values})
      rank: Int @column(hidden: {hidden})
    }
    type Print { rank: Int }
    type Author @tag(id: 2) @table(name: {table}, key: {key}) {
      id: ID!
      books: [Book!]! @list(ids: {ids})
    }
    type BookConnection { edges: [BookEdge!]! pageInfo: PageInfo! totalCount: Int! }
    type BookEdge { cursor: String! node: Book! rank: Int }
    type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
    """

  private static let operations = [
    """
    query($text: String, $after: String) {
      books(text: $text, near: $text, state: OLD, first: 3, after: $after) {
        edges { cursor rank node { ...All } } pageInfo { hasNextPage } totalCount
      }
    }
    """,
    """
    query($text: String, $after: String) {
      ordered(first: 3, after: $after) { edges { cursor node { ...All } } totalCount }
      books { totalCount }
    }
    """,
  ].map {
    $0
      + " fragment All on Book { shout(text: $text) note print { rank } actions rank author { id books { id } } }"
  }

  private static let tables = """
    CREATE TABLE author (id bigint PRIMARY KEY, name text, book_ids bigint[]);
    CREATE TABLE book (id bigint PRIMARY KEY, title text, author_id bigint, rank int, state text);
    CREATE TABLE extra (book_id bigint PRIMARY KEY, note text);
    """

  /// The pieces of texts, in addition to pieces of valid ones.
  private static let pieces = [
    "'", "''", "'it''s'", "E'", "E'it\\'s'", "e'\\\\'", "\\", "\"", "\"a\"\"b\"", "$", "$$", "$a$",
    "$a$'$a$",
    "$1", "a$1", "--", "-- it's\n", "/*", "*/", "/* it's */", "/* /* */", ":", "::", "::text",
    ":viewer",
    ":value", ":text", ":value...", ":text.x", ":key1", ":limit", ":tag.Book", ":in", ":count", "(",
    ")", "[", "]",
    ",", ";", ".", "...", " ", "\n", "\r", "this", "this.", "this.id", "edge.", "parent.",
    "extra.note", "extra.",
    " AS this", " AS edge(id)", "AND ", " OR ", "NULL", "1", "1.5e", "U&'", "N'", "b'1'", "e", "é",
    "\u{0}", "\u{85}",
    "{", "}", "%", "#", "@", "~", "`", "?", "|| ", "+ ", "= ", "IN (", "(SELECT ", "FROM book b",
    "DESC", "NULLS FIRST",
  ]

  @Test func `whatever is written, a statement that is prepared has the parameters it needs`()
    throws
  {
    let session = try TestCluster.session(TestCluster.newDatabase())
    try session.execute(Self.tables)
    var tally = Tally()
    try tally.take(nil, Self.texts(replacing: nil), session)
    #expect(tally.accepted == 1, "The texts that hold do: \(tally.reasons)")

    var generator = SeededGenerator(seed: 7)
    for _ in 0..<1500 {
      let place = Int.random(in: 0..<Self.holes.count, using: &generator)
      let text = Self.text(from: Self.holes[place].text, &generator)
      try tally.take(text, Self.texts(replacing: (place, text)), session)
    }
    // Otherwise this says nothing.
    #expect(tally.accepted > 75)
    #expect(tally.refusedByMapping > 150)
    #expect(tally.refusedByPostgreSQL > 150)
  }

  private struct Tally {
    var accepted = 0
    var refusedByMapping = 0
    var refusedByPostgreSQL = 0
    var reasons: [String] = []

    mutating func take(_ text: String?, _ sdl: String, _ session: PostgresSession) throws {
      let mapping: StorageMapping
      do { mapping = try PlanningFixture.mapping(sdl) } catch let error as StorageErrors {
        refusedByMapping += 1
        if text == nil { reasons = error.problems }
        return
      }
      for operation in DirectiveFuzzTests.operations {
        let plan = try PlanningFixture.plan(
          operation,
          .object(
            [.init(name: "text", value: .string("a"))]
              + [.init(name: "after", value: .string("a"))]), in: mapping)
        guard let statement = plan.statement else { continue }
        do { try session.execute("PREPARE fuzzed AS " + statement.text) } catch {
          refusedByPostgreSQL += 1
          if text == nil { reasons.append("\(error)") }
          return
        }
        let types = try session.execute(
          """
          SELECT t::text FROM pg_prepared_statements, unnest(parameter_types) WITH ORDINALITY AS p(t, n)
          WHERE name = 'fuzzed' ORDER BY n
          """
        ).map { $0[0] ?? "" }
        try session.execute("DEALLOCATE fuzzed")
        #expect(types.count == plan.parameters.count, "\(text ?? "") in \(statement.text)")
        for (parameter, type) in zip(plan.parameters, types) {
          guard let expected = parameter.sqlType else { continue }
          let names = ["bool": "boolean", "int4": "integer", "float8": "double precision"]
          #expect(type == names["\(expected)"] ?? "\(expected)", "\(text ?? "")")
        }
      }
      accepted += 1
    }
  }

  // MARK: - Texts

  /// The schema with every text as it holds, but for one.
  private static func texts(replacing other: (place: Int, text: String)?) -> String {
    var sdl = sdl
    for (place, hole) in holes.enumerated() {
      let text = place == other?.place ? other?.text ?? "" : hole.text
      sdl = sdl.replacing("{\(hole.name)}", with: quoted(text))
    }
    return sdl
  }

  /// As a string of GraphQL.
  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case let scalar where scalar.value < 0x20 || scalar.value == 0x7F:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// A text that holds, with something put in, taken out or put in the place of something else; or
  /// one of pieces alone.
  private static func text(from text: String, _ generator: inout SeededGenerator) -> String {
    func piece(_ generator: inout SeededGenerator) -> String {
      pieces.randomElement(using: &generator) ?? ""
    }
    if Int.random(in: 0..<8, using: &generator) == 0 {
      return (0..<Int.random(in: 0..<6, using: &generator)).map { _ in piece(&generator) }.joined()
    }
    var characters = Array(text)
    for _ in 0..<Int.random(in: 1...2, using: &generator) {
      let place = Int.random(in: 0...characters.count, using: &generator)
      let end = min(characters.count, place + Int.random(in: 0...3, using: &generator))
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: characters.insert(contentsOf: piece(&generator), at: place)
      case 1: characters.replaceSubrange(place..<end, with: piece(&generator))
      case 2: characters.removeSubrange(place..<end)
      default:
        // Between words, where most things hold.
        let spaces = characters.indices.filter { characters[$0] == " " }
        let place = spaces.randomElement(using: &generator) ?? characters.count
        characters.insert(contentsOf: " " + piece(&generator) + " ", at: place)
      }
    }
    return String(characters)
  }
}
