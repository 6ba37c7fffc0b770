import Testing

@testable import Drafting

@Suite struct InflectionTests {
  @Test(arguments: [
    ("film", "films"), ("category", "categories"), ("address", "addresses"), ("day", "days"),
    ("box", "boxes"), ("class", "classes"), ("status", "statuses"), ("house", "houses"),
    ("case", "cases"), ("purchase", "purchases"), ("database", "databases"), ("size", "sizes"),
    ("person", "people"), ("child", "children"), ("movie", "movies"), ("analysis", "analyses"),
    ("quiz", "quizzes"), ("hero", "heroes"), ("photo", "photos"), ("shelf", "shelves"),
    ("archive", "archives"), ("branch", "branches"), ("cache", "caches"), ("id", "ids"),
    ("menu", "menus"), ("bus", "buses"), ("alias", "aliases"), ("key", "keys"),
  ])
  func `a noun and its plural are told apart, and each is made of the other`(
    singular: String, plural: String
  ) {
    #expect(Inflection.plural(singular) == plural)
    #expect(Inflection.singular(plural) == singular)
    #expect(Inflection.plural(plural) == plural)
    #expect(Inflection.singular(singular) == singular)
  }

  @Test(arguments: ["news", "series", "sheep", "data", "gps", "staff"])
  func `what has one form keeps it`(word: String) {
    #expect(Inflection.plural(word) == word)
    #expect(Inflection.singular(word) == word)
  }

  @Test(arguments: [
    ("customer_id", ["customer", "id"]), ("CustomerID", ["customer", "id"]),
    ("customer id", ["customer", "id"]), ("HTTPServer", ["http", "server"]),
    ("userIDs", ["user", "ids"]), ("ALLCAPS", ["allcaps"]),
    ("address_line_1", ["address", "line", "1"]),
    ("line2Text", ["line2", "text"]), ("__x", ["x"]), ("größe", ["groesse"]),
    ("имя", ["u438u43cu44f"]),
    ("", []), ("--", []),
  ])
  func `words end at other characters and where an upper-case letter begins one`(
    name: String, words: [String]
  ) {
    #expect(Words(name).words == words)
  }

  @Test func `names are names of GraphQL, whatever they come from`() {
    #expect(Words("customer_id").camel == "customerId")
    #expect(Words("film actors").singular.pascal == "FilmActor")
    #expect(Words("2nd").camel == "_2nd")
    #expect(Words("$$").camel == "unnamed")
    for name in ["größe", "имя", "a\"b", "1", "_", "é", "💡", "a:b", "\n"] {
      #expect(Words(name).camel.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil, "\(name)")
      #expect(Words(name).pascal.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil, "\(name)")
    }
  }

  @Test func `the last pattern that fits selects or excludes a table`() {
    let selection = TableSelection(["film*", "!*_old", "film_very_old"])
    #expect(selection.has("film", in: "public"))
    #expect(selection.has("film_actor", in: "public"))
    #expect(!selection.has("film_old", in: "public"))
    #expect(selection.has("film_very_old", in: "public"))
    #expect(!selection.has("actor", in: "public"))
    #expect(TableSelection([]).has("actor", in: "public"))
    #expect(TableSelection(["!a*"]).has("film", in: "public"))
    #expect(!TableSelection(["!a*"]).has("actor", in: "public"))
    #expect(TableSelection(["sales.*"]).has("film", in: "sales"))
    #expect(!TableSelection(["sales.*"]).has("film", in: "public"))
    #expect(!TableSelection(["*a*a*a*a*b"]).has(String(repeating: "a", count: 5000), in: "public"))
  }

  @Test func `a name is given once, and then with a number`() {
    var names = NamePool(reserved: ["a"])
    #expect(names.take(["a", "b"]) == "b")
    #expect(names.take(["a", "b"]) == "b2")
    #expect(names.take(["a", "b"]) == "b3")
    #expect(names.take(["c"]) == "c")
  }
}
