import JSON
import TestSupport
import Testing

/// The search across all nouns.
@Suite(.usesCluster) struct SearchEverythingTests {
  @Test func `PLAT-5: one search finds people, posts, places, products and circles`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let word = GraphData.unique("quokka")
    let (viewer, other, blocked) = (
      try data.person(), try data.person(), try data.person(name: "\(word) blocked")
    )
    try data.block(viewer, blocked)
    let hidden = try data.circle("\(word) hidden", owner: other)
    _ = try data.post(.text, by: other, "a \(word)", circle: hidden, visibility: "CIRCLE")
    _ = try data.post(.text, by: blocked, "a \(word)")
    _ = try data.post(.event, by: other, visibility: "INVITED", title: "A \(word)")
    let found = [
      try data.person(name: "Mr \(word)").key,
      try data.location("\(word) Island"),
      try data.product("Toy", description: "Looks like a \(word)."),
      try data.circle("Friends of the \(word)", owner: viewer),
      try data.post(.text, by: other, "I saw a \(word)!"),
      try data.post(.event, by: other, title: "The \(word) walk"),
    ]
    func search(_ words: String, _ types: JSONValue = nil, as person: Person?) throws -> [JSONValue]
    {
      let result = try server.data(
        """
        query($words: String!, $types: [SearchType!]) {
          search(query: $words, types: $types, orderBy: NEWEST) {
            totalCount nodes { __typename ... on Node { id } } } }
        """, ["words": .string(words), "types": types], as: person)
      let nodes = result.list("search.nodes", "id")
      #expect(result.at("search.totalCount")?.int == nodes.count)
      return nodes
    }
    let all = found.reversed().map(\.json)
    #expect(try search(word, as: viewer) == all)
    #expect(try search(word.uppercased(), as: viewer) == all)
    #expect(try search(word, ["USER", "PRODUCT"], as: viewer) == [found[2].json, found[0].json])
    #expect(try search(word, ["POST"], as: viewer) == [found[5].json, found[4].json])
    #expect(try search("\(word) walk", as: viewer) == [found[5].json])
    #expect(try search("\(word) hidden", as: viewer) == [])
    // The owner of the hidden circle finds it, what is in it, and their private event.
    #expect(try search(word, ["CIRCLE"], as: other) == [hidden.json])
    #expect(try search(word, ["POST"], as: other).count == 5)
    #expect(try search(word, ["CIRCLE"], as: nil) == [])
    #expect(try search(word, ["POST", "USER"], as: nil).count == 5)
  }

  @Test func `the best match comes first: names before texts, whole names before others`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let word = GraphData.unique("numbat")
    let author = try data.person()
    let whole = try data.location(word)
    let often = try data.post(.text, by: author, "\(word), \(word) and \(word)!")
    let begun = try data.circle("\(word) friends", owner: author)
    let once = try data.post(
      .text, by: author, "A very long text, in which only one word of many is \(word) birthday.")
    let within = try data.location("Isle of \(word)")
    func search(_ words: String, _ page: String = "first: 10") throws -> [JSONValue] {
      try server.data(
        "query($w: String!) { search(query: $w, \(page)) { nodes { ... on Node { id } } } }",
        ["w": .string(words)], as: author
      ).list("search.nodes", "id")
    }
    let best = [whole, begun, within, often, once].map(\.json)
    #expect(try search(word) == best)
    #expect(try search(word, "last: 2") == Array(best[3...]))
    // In a text, the beginning of the last word is enough.
    #expect(try search("\(word) birthd") == [once.json])
    #expect(try search("birthd \(word)") == [])
  }
}
