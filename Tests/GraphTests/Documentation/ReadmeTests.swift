import DatabaseSetup
import Foundation
import JSON
import Postgres
import Server
import StorageChecking
import TestSupport
import Testing

/// The documents of the README, sent word for word.
@Suite(.usesCluster) struct ReadmeTests {
  @Test func `the five guides, one after the other, on demo data`() throws {
    let database = try TestCluster.newDatabase(migrated: true)
    _ = try Seeder.read(TestCluster.packageFolder + "/sql/demo", scale: 1, seed: 1)
      .run(PostgresConfiguration(database)) { _ in }
    let server = try GraphServer(database: database)
    defer { server.stop() }
    let guides = try ["gtio", "happy-mail", "sailor", "peck", "c7fit"].map {
      try Guide("docs/examples/\($0).md")
    }
    for guide in guides { #expect(guide.blocks(of: "graphql").count >= 3) }
    let marisol = Person(key: NodeKey(0), username: "marisol", token: "demo-marisol")
    var reader = GuideReader(server: server)
    reader.ids["photo"] = try server.uploadPhoto(as: marisol)
    var answers: [String: JSONValue] = [:]
    for document in guides.flatMap({ $0.blocks(of: "graphql") }) {
      let person = try #require(document.person, "line \(document.line)")
      let data = try reader.execute(document, token: person == "nobody" ? nil : "demo-\(person)")
      let name = document.operationName
      // What was refused is null in its payload.
      for field in data.members ?? [] {
        #expect(field.value != .null, "\(name)")
        guard document.text.contains("\nmutation") else { continue }
        for member in field.value.members ?? [] {
          #expect(member.value != .null && member.value != [], "\(name): \(data)")
        }
      }
      #expect(answers.updateValue(data, forKey: name) == nil, "two \(name)")
    }
    // What each guide promises.
    let expected: [(String, String, JSONValue)] = [
      ("Verdict", "post.verdict.wearItCount", 1), ("Verdict", "post.reactionCount", 1),
      ("Verdict", "post.comments.nodes.0.body", "Those shoes!"),
      ("Respond", "respondToOffer.cardOffer.responseCount", 1),
      ("ToSend", "viewer.followUps.followUp.0.recipientAddress", "Tom Hartley, 4 Mill Lane, Leeds"),
      ("Sent", "resolveFollowUp.followUp.state", "COMPLETED"),
      ("Sent", "resolveFollowUp.followUp.recipientAddress", .null),
      ("Top", "react.subject.reactionCount", 1),
      ("Around", "locations.nodes.0.name", "East Pier"),
      ("Around", "viewer.feed.nodes.0.body", "Windy."),
      ("Come", "setAttendance.event.attendees.totalCount", 1),
      ("Week", "schedule.nodes", []), ("Week", "viewer.agenda.nodes.0.title", "Study group"),
      ("Monday", "schedule.nodes.0.seatsLeft", 8),
      ("Book", "bookSession.booking.session.seatsLeft", 7),
    ]
    for (name, path, value) in expected {
      #expect(answers[name]?.at(path) == value, "\(name) \(path)")
    }
  }

  /// The files that a section writes, by their paths: each block under a sentence that ends in the
  /// path and a colon.
  private func files(of section: Guide) -> [String: String] {
    var files: [String: String] = [:]
    var path: String?
    for part in section.text.components(separatedBy: "\n\n") {
      if part.hasPrefix("```"), let name = path {
        let lines = part.components(separatedBy: "\n").dropFirst().dropLast()
        files[name, default: ""] += lines.joined(separator: "\n") + "\n"
      } else {
        path = part.firstMatch(of: /`my\/((?:Schema|sql)\/[a-z0-9_\/.]+)`[^`]*:$/).map {
          String($0.1)
        }
      }
    }
    return files
  }

  @Test func `a graph of one's own: a type, its table, pages and a mutation, and no Swift`() throws
  {
    let section = try Guide("docs/tutorials/your-own-graph.md")
    let files = files(of: section)
    #expect(
      files.keys.sorted() == [
        "Schema/plant.graphql", "sql/functions/plant.sql", "sql/tables/1000_plant.sql",
      ])
    let count = files.values.reduce(0) { $0 + $1.split(separator: "\n").count }
    #expect(count < 40)
    #expect(section.text.contains("these \(count) lines"))

    let folder = try TemporaryFolder()
    for name in ["Schema", "sql"] {
      try FileManager.default.copyItem(
        atPath: "\(TestCluster.packageFolder)/\(name)", toPath: "\(folder.path)/\(name)")
    }
    for (name, text) in files { _ = try folder.write(name, text) }
    let mapping = try SchemaFiles.load(folder.path + "/Schema")
    let database = try TestCluster.newDatabase()
    var configuration = try PostgresConfiguration(database)
    configuration.namespaces = ["graph"]
    try Migrations.read(folder.path + "/sql").apply(to: configuration)
    #expect(
      try StorageCheck(mapping: mapping).run(configuration).filter { $0.severity == .error }
        .map(\.description) == [])
    #expect(try MutationCheck(mapping: mapping).run(PostgresSession(configuration)) == [])
    let server = try GraphServer(database: database, mapping: mapping)
    defer { server.stop() }

    let data = try server.data()
    let (ada, bob) = (try data.person("ada"), try data.person("bob"))
    let document = try #require(section.blocks(of: "graphql").last)
    let answer = try server.data(document.text, as: ada)
    #expect(answer.at("addPlant.plant.name") == "Basil")
    #expect(answer.at("addPlant.plant.owner.plants.totalCount") == 1)
    #expect(answer.at("addPlant.userErrors") == [])
    for name in ["Mint", "Sage", "Dill"] {
      try server.mutate("addPlant(name: \"\(name)\")", "plant { id }", as: ada)
    }
    #expect(
      try server.data("mutation { addPlant(name: \" \") { userErrors { code field } } }", as: ada)
        == ["addPlant": ["userErrors": [["code": "REQUIRED", "field": ["name"]]]]])
    #expect(try server.mutationErrorCodes("addPlant(name: \"x\")", as: nil) == ["UNAUTHENTICATED"])
    // Pages, their cursors, and each plant by its id.
    func page(_ after: String?) throws -> JSONValue? {
      try server.data(
        """
        query($id: ID!, $after: String) { node(id: $id) { ... on User {
          plants(first: 3, after: $after) {
            totalCount nodes { id name } pageInfo { hasNextPage endCursor } } } } }
        """, ["id": ada.json, "after": after.map { .string($0) } ?? .null], as: bob
      ).at("node.plants")
    }
    let first = try #require(try page(nil))
    #expect(first["totalCount"] == 4)
    #expect(first.strings("nodes", "name") == ["Dill", "Sage", "Mint"])
    let rest = try #require(try page(first.at("pageInfo.endCursor")?.string))
    #expect(rest.strings("nodes", "name") == ["Basil"])
    #expect(rest.at("pageInfo.hasNextPage") == false)
    let id = try #require(rest.at("nodes.0.id"))
    let node = "query($id: ID!) { node(id: $id) { __typename ... on Plant { name owner { id } } } }"
    #expect(
      try server.data(node, ["id": id], as: bob)
        == ["node": ["__typename": "Plant", "name": "Basil", "owner": ["id": ada.json]]])
    // Who is blocked sees nothing of it.
    try data.block(ada, bob)
    #expect(try server.data(node, ["id": id], as: bob) == ["node": .null])
  }
}
