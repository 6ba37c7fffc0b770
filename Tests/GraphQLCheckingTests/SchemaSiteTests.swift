import GraphQLChecking
import GraphQLLanguage
import GraphQLSchema
import JSON
import Testing

/// `sociograph schema docs`: the files of a schema's site.
struct SchemaSiteTests {
  private static let schema = Result {
    try SchemaBuilder.build(
      Parser.parse(
        """
        "All of it. `Thing` is <b>the</b> type."
        schema { query: Query mutation: Mutation }
        type Query {
          "The things."
          things("At most this many." first: Int = 20, kinds: [Kind!]): [Thing!]!
        }
        type Mutation { "Adds one." add(input: AddInput!): Thing }
        interface Node { id: ID! }
        "A thing."
        type Thing implements Node { id: ID!  name: String @deprecated(reason: "Use `id`.") }
        enum Kind { "The best." GOOD OTHER }
        input AddInput { name: String! = "a < b" }
        union Any = Thing
        scalar Time @specifiedBy(url: "https://example.org/time")
        """, limits: .unlimited))
  }

  private func site(
    examples: [String] = [], rights: SchemaRights = SchemaRights()
  ) throws -> [String: String] {
    let files = SchemaSite(try Self.schema.get(), examples: examples, rights: rights).files
    return Dictionary(
      uniqueKeysWithValues: files.map { ($0.path, String(decoding: $0.bytes, as: UTF8.self)) })
  }

  @Test func `each type has a page, and the index has them all`() throws {
    let site = try site()
    let names = ["Query", "Mutation", "Node", "Thing", "Kind", "AddInput", "Any", "Time"]
    #expect(
      Set(site.keys) == Set(names.map { "\($0).html" } + ["index.html", "style.css", "search.js"]))
    let index = try #require(site["index.html"])
    for name in names.dropFirst(2) { #expect(index.contains("href=\"\(name).html\""), "\(name)") }
    #expect(index.contains("<a href=\"Query.html#things\"><code>things</code></a> The things."))
    #expect(
      index.contains("<a href=\"Thing.html\"><code>Thing</code></a> is &lt;b&gt;the&lt;/b&gt;"))
  }

  @Test func `lists have whole sentences, groups and links to them`() throws {
    let schema = try SchemaBuilder.build(
      Parser.parse(
        "type Query { \"\"\"One sentence,\nin two lines. Another.\"\"\" all: Int \(Self.more) }",
        limits: .unlimited))
    let files = SchemaSite(schema).files
    let index = try #require(files.first { $0.path == "index.html" })
    let text = String(decoding: index.bytes, as: UTF8.self)
    #expect(text.contains("<code>all</code></a> One sentence, in two lines.</li>"))
    #expect(
      text.contains("<h3 class=\"letter\">A</h3>") && text.contains("<h3 class=\"letter\">F</h3>"))
    #expect(text.contains("<h2 id=\"queries\">Queries</h2>"))
    let query = try #require(files.first { $0.path == "Query.html" })
    #expect(
      String(decoding: query.bytes, as: UTF8.self).contains(
        "<nav aria-label=\"On this page\"><a href=\"#all\">all</a>"))
    // A short list is not divided, and a page of one part has no links to it.
    let small = try #require(try site()["index.html"])
    #expect(
      !small.contains("class=\"letter\"") && small.contains("<a href=\"#objects\">Objects (1)</a>"))
  }

  private static let more = (0..<40).map { "f\($0): Int" }.joined(separator: " ")

  @Test func `fields show their arguments, defaults, deprecations and types`() throws {
    let site = try site()
    let query = try #require(site["Query.html"])
    #expect(query.contains("<section id=\"things\">"))
    #expect(query.contains(": [<a href=\"Thing.html\">Thing</a>!]!</code>"))
    #expect(query.contains("<dt><code>first: Int = 20</code></dt>\n<dd>At most this many.</dd>"))
    #expect(site["Thing.html"]?.contains("Deprecated. Use <code>id</code>.") == true)
    #expect(site["Thing.html"]?.contains("implements <a href=\"Node.html\">Node</a>") == true)
    #expect(site["Node.html"]?.contains("Implemented by <a href=\"Thing.html\">") == true)
    #expect(site["AddInput.html"]?.contains("String! = &quot;a &lt; b&quot;") == true)
    #expect(site["Kind.html"]?.contains("<section id=\"GOOD\">") == true)
    #expect(site["Any.html"]?.contains("One of <a href=\"Thing.html\">Thing</a>.") == true)
    #expect(site["Time.html"]?.contains("https://example.org/time") == true)
  }

  @Test func `root fields have the shortest valid examples, and mutations their rights`() throws {
    let rights = try #require(
      SchemaRights("# mutation target anonymous member\n\n# people\nadd own UNAUTHENTICATED done\n")
    )
    let site = try site(
      examples: [
        "query Long { things { id name } }", "query Wrong { thing { id } }",
        "query Middle { things { name } }", "{ things { id } }",
      ], rights: rights)
    let query = try #require(site["Query.html"])
    #expect(query.contains("{\n  things {\n    id\n  }\n}") && query.contains("query Middle"))
    #expect(!query.contains("Long") && !query.contains("Wrong"))
    #expect(
      site["Mutation.html"]?.contains(
        "<tr><td>own</td><td><code>UNAUTHENTICATED</code></td><td>yes</td></tr>") == true)
    #expect(SchemaRights("# mutation target member\nadd own\n") == nil)
    #expect(SchemaRights("add own done\n") == nil)
  }

  @Test func `nothing is loaded from elsewhere, and the search knows each element`() throws {
    let site = try site()
    for (path, text) in site where path.hasSuffix(".html") {
      for match in text.matches(of: /(?:src|href)="([^"]*)"/) {
        #expect(!match.1.contains("//"), "\(path): \(match.1)")
      }
      #expect(!text.contains("<script>") && text.contains("width=device-width"), "\(path)")
    }
    let script = try #require(site["search.js"])
    let line = try #require(script.split(separator: "\n").first)
    let json = line.dropFirst("const entries = ".count).dropLast()
    guard case .array(let entries) = try JSONParser.parse(Array(json.utf8)) else {
      Issue.record("no list")
      return
    }
    #expect(
      entries.contains(
        .array([.string("Kind.GOOD"), .string("Kind.html#GOOD"), .string("The best.")])))
    #expect(entries.count == 8 + 1 + 1 + 1 + 2 + 2 + 1)
  }
}
