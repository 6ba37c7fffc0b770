import JSON
import TestSupport
import Testing

/// The objects that a visitor without an account reads.
@Suite(.usesCluster) struct VisitorTests {
  @Test func `GTIO-1.3b: a visitor browses what is public, and nothing else`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, word) = (try data.person("author"), GraphData.unique("word"))
    let circle = try data.circle("Group", owner: author)
    let shown = try data.post(.outfit, by: author, "\(word) shown")
    let hidden = try data.post(
      .outfit, by: author, "\(word) hidden", circle: circle, visibility: "CIRCLE")
    let party = try data.post(.event, by: author, "\(word) party", visibility: "INVITED")
    let product = try data.product("Scarf")
    let seen = try server.data(
      """
      query($word: String!, $shown: ID!, $hidden: ID!, $party: ID!, $product: ID!, $author: ID!) {
        posts(filter: {search: $word}) { totalCount nodes { id } }
        shown: post(id: $shown) { body }
        hidden: post(id: $hidden) { body }
        party: post(id: $party) { body }
        product(id: $product) { name }
        user(by: {id: $author}) { username posts { totalCount } }
      }
      """,
      [
        "word": .string(word), "shown": shown.json, "hidden": hidden.json, "party": party.json,
        "product": product.json, "author": author.json,
      ])
    #expect(
      seen == [
        "posts": ["totalCount": 1, "nodes": [["id": shown.json]]],
        "shown": ["body": .string("\(word) shown")], "hidden": nil, "party": nil,
        "product": ["name": "Scarf"],
        "user": ["username": .string(author.username), "posts": ["totalCount": 1]],
      ])
  }
}
