import JSON
import Testing

@Suite struct SyncTests {
  @Test func `changes after a token are told once, in pages, to those they concern`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (member, stranger) = (try data.person(), try data.person())
    let query = """
      query($since: String, $first: Int) {
        changes(since: $since, first: $first) {
          token hasMore changes { operation node { __typename ... on Comment { body } } } }
      }
      """
    let start = try server.data(query, as: member).at("changes.token") ?? .null
    let circle = try data.circle("Circle", owner: member)
    for number in 0..<3 { _ = try data.comment(circle, by: member, "comment \(number)") }
    var seen: [String] = []
    var since = start
    try data.session.waitForChanges()
    var pages = 0
    while pages < 10 {
      let page = try server.data(query, ["since": since, "first": 2], as: member)
      seen += page.list("changes.changes", "node").compactMap { $0["body"]?.string }
      since = page.at("changes.token") ?? .null
      pages += 1
      if page.at("changes.hasMore") == false { break }
    }
    #expect(seen == ["comment 0", "comment 1", "comment 2"])
    let after = try server.data(query, ["since": since], as: member)
    #expect(after.at("changes.changes") == [])
    for person in [stranger, nil] {
      let others = try server.data(query, ["since": start], as: person)
      #expect(!others.list("changes.changes", "node").contains { $0["body"] != nil })
    }
  }

  @Test func `a token of no shape is bad input`() throws {
    let server = try GraphServer.shared
    for token in ["", "x", "1", "1:", "-1:0", "1:2:3", "1:99999999999999999999"] {
      let codes = try server.errorCodes(
        "query($since: String) { changes(since: $since) { token } }", ["since": .string(token)])
      #expect(codes == ["BAD_USER_INPUT"], "\(token)")
    }
  }
}
