import JSON
import TestSupport
import Testing

@Suite(.usesCluster) struct SearchTests {
  @Test func `a name is found by the beginning of any of its words, however joined`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let stem = GraphData.unique("zq")
    let person = try data.person(name: "\(stem) Anne-Marie O'Neill")
    for words in [
      stem, "\(stem) nei", "mari \(stem)", "\(stem.uppercased()) ÀNN", "o'neill \(stem)",
    ] {
      let found = try server.data(
        "query($w: String!) { users(search: $w) { nodes { username } } search(query: $w) { totalCount } }",
        ["w": .string(words)])
      #expect(found.strings("users.nodes", "username") == [person.username], "\(words)")
      #expect(found.at("search.totalCount") == 1, "\(words)")
    }
    let missed = try server.data(
      "query($w: String!) { users(search: $w) { totalCount } }", ["w": .string("\(stem) eill")])
    #expect(missed == ["users": ["totalCount": 0]])
  }

  @Test func `a search of fifty thousand words is answered`() throws {
    let server = try GraphServer.shared
    let words = (0..<50_000).map { String($0, radix: 36) }.joined(separator: " ")
    let found = try server.data(
      """
      query($w: String!) {
        users(search: $w) { totalCount }
        posts(filter: {search: $w}) { totalCount }
        locations(filter: {search: $w}) { totalCount }
        products(search: $w) { totalCount }
        circles(search: $w) { totalCount }
        search(query: $w) { totalCount }
      }
      """, ["w": .string(words)])
    for list in ["users", "posts", "locations", "products", "circles", "search"] {
      #expect(found.at("\(list).totalCount") == 0)
    }
  }

  @Test func `nothing but signs finds nothing, and no text filters nothing`() throws {
    let server = try GraphServer.shared
    let person = try server.data().person()
    let found = try server.data(
      """
      query($name: String!) {
        signs: users(search: "' & | ! :* \\\\") { totalCount }
        user(by: {username: $name}) { followers(search: "") { totalCount } }
      }
      """, ["name": .string(person.username)])
    #expect(found == ["signs": ["totalCount": 0], "user": ["followers": ["totalCount": 0]]])
  }
}
