import JSON
import TestSupport
import Testing

/// Unique words in every private row are found by those who may see it, and by no others, along
/// every path.
@Suite(.usesCluster(isFirst: true)) struct VisibilityTests {
  @Test func `private rows are seen by those meant and by nobody else`() throws {
    let graph = try SecretGraph.shared.get()
    let crawler = try Crawler(
      graph.server, words: graph.secrets.map(\.marker).filter { $0.allSatisfy(\.isLetter) })
    let nodes = try graph.server.data().run("SELECT id FROM every_node ORDER BY id")
      .map { NodeKey(Int64($0[0] ?? "") ?? 0) }
    var seen: [String: Set<SecretGraph.Role>] = [:]
    for role in SecretGraph.Role.allCases {
      try crawler.crawl(nodes, token: graph.people[role]?.token) { asked, response in
        for secret in graph.secrets where response.contains(secret.marker) {
          if asked == "dataExport", secret.exportedTo.contains(role) { continue }
          seen[secret.marker, default: []].insert(role)
          #expect(
            secret.audience.contains(role),
            "\(role) sees \(secret.marker) by \(asked): \(response.text.prefix(2000))")
        }
      }
    }
    // What the crawler never finds would prove nothing.
    for secret in graph.secrets {
      let found = seen[secret.marker] ?? []
      #expect(secret.audience.subtracting(found) == [], "\(secret.marker) is hidden from these")
    }
  }

  @Test func `rows one may not see change no count and no list`() throws {
    let graph = try SecretGraph.shared.get()
    #expect(graph.before.values.reduce(0) { $0 + $1.count } > 1000)
    for (role, answers) in try graph.snapshot() {
      let earlier = try #require(graph.before[role])
      #expect(answers.count == earlier.count)
      for (old, new) in zip(earlier, answers) where old.answer != new.answer {
        Issue.record("\(role), \(new.asked):\n\(difference(old.answer, new.answer))")
      }
    }
  }

  private func difference(_ old: String, _ new: String) -> String {
    let common = zip(old.utf8, new.utf8).prefix { $0 == $1 }.count
    func around(_ text: String) -> String {
      String(decoding: Array(text.utf8).dropFirst(max(0, common - 300)).prefix(600), as: UTF8.self)
    }
    return "before: \(around(old))\nafter:  \(around(new))"
  }
}
