import DatabaseSetup
import Foundation
import GraphQLExecution
import GraphQLPlanning
import HTTPTestSupport
import JSON
import Postgres
import Server
import StorageChecking
import TestSupport
import Testing

/// docs/tutorials/your-own-graph.md, step by step.
@Suite(.usesCluster) struct YourOwnGraphTests {
  /// The files that a section writes, by their paths: each block under a sentence that ends in the
  /// path and a colon.
  private func files(
    of section: Guide, in folders: String = "(?:Schema|sql)"
  ) -> [String: String] {
    var files: [String: String] = [:]
    var path: String?
    let own = try? Regex(
      #"`my/(\#(folders)/[a-z0-9_/.]+)`[^`]*:$"#, as: (Substring, Substring).self)
    for part in section.text.components(separatedBy: "\n\n") {
      if part.hasPrefix("```"), !part.hasPrefix("```console"), let name = path {
        let lines = part.components(separatedBy: "\n").dropFirst().dropLast()
        files[name, default: ""] += lines.joined(separator: "\n") + "\n"
      } else {
        path = own.flatMap { part.firstMatch(of: $0) }.map { String($0.1) }
      }
    }
    return files
  }

  /// A server of the graph that the section makes, and the section.
  private func ownGraph() throws -> (
    server: GraphServer, mapping: StorageMapping, section: Guide
  ) {
    let section = try Guide("docs/tutorials/your-own-graph.md")
    let files = files(of: section)
    #expect(files.keys.sorted() == ["Schema/plant.graphql", "sql/functions/plant.sql"])
    let count = files.values.reduce(0) { $0 + $1.split(separator: "\n").count }
    #expect(count < 50)
    #expect(section.text.contains("These \(count) lines"))

    let folder = try TemporaryFolder()
    for name in ["Schema", "sql"] {
      try FileManager.default.copyItem(
        atPath: "\(TestCluster.packageFolder)/\(name)", toPath: "\(folder.path)/\(name)")
    }
    // A database that is there already, and then learns of the noun.
    let database = try TestCluster.newDatabase()
    var configuration = try PostgresConfiguration(database)
    configuration.namespaces = ["graph"]
    try Migrations.read(folder.path + "/sql").apply(to: configuration)
    for (name, text) in files { _ = try folder.write(name, text) }
    try Migrations.read(folder.path + "/sql").apply(to: configuration)
    let mapping = try SchemaFiles.load(folder.path + "/Schema")
    #expect(
      try StorageCheck(mapping: mapping).run(configuration).filter { $0.severity == .error }
        .map(\.description) == [])
    #expect(try MutationCheck(mapping: mapping).run(PostgresSession(configuration)) == [])
    return (try GraphServer(database: database, mapping: mapping), mapping, section)
  }

  @Test func `a graph of one's own: a type, its table, pages and a mutation, and no Swift`() throws
  {
    let (server, _, section) = try ownGraph()
    defer { server.stop() }

    let data = try server.data()
    let (ada, bob) = (try data.person("ada"), try data.person("bob"))
    let document = try #require(section.blocks(of: "graphql").first { $0.isExecuted })
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

  @Test func `a graph of one's own is tested by three documents, which leave nothing behind`()
    throws
  {
    let (server, mapping, section) = try ownGraph()
    defer { server.stop() }
    let files = files(of: section, in: "tests")
    var configuration = try PostgresConfiguration(server.database)
    configuration.namespaces = ["graph"]
    let tester = try DocumentTester(
      mapping: mapping, database: configuration, settings: ExecutionSettings(),
      setUp: files["tests/setup.sql"])
    defer { tester.stop() }
    for name in ["add", "pages", "refuse"] {
      let document = try #require(files["tests/\(name).graphql"])
      let expectation = try #require(files["tests/\(name).json"])
      let test = try DocumentTest(
        name: name, document: document, expectation: Array(expectation.utf8))
      #expect(try tester.run(test) == [])
      let other = expectation.replacing("\"Basil\"", with: "\"Thyme\"")
        .replacing("REQUIRED", with: "TOO_LONG").replacing("2", with: "3")
      let wrong = try DocumentTest(name: name, document: document, expectation: Array(other.utf8))
      #expect(try tester.run(wrong).count == 1, "\(name)")
    }
    let data = try server.data()
    for table in ["plant", "app_user", "every_node"] {
      #expect(try data.run("SELECT count(*) FROM \(table)") == [["0"]], "\(table)")
    }
  }

  @Test func `a noun of one's own is commented on, flagged, found, live, exported, and deleted`()
    throws
  {
    let (server, _, _) = try ownGraph()
    defer { server.stop() }
    let data = try server.data()
    let (ada, bob) = (try data.person("ada"), try data.person("bob"))
    let added = try server.mutate("addPlant(name: \"Café basil\")", "plant { id }", as: ada)
    let id = try #require(added.at("plant.id"))

    let socket = try GraphQLSocket(
      port: server.port, payload: #"{"authorization":"Bearer \#(bob.token)"}"#)
    let watched = """
      query($id: ID!) @live { node(id: $id) { ... on Plant {
        name commentCount comments(first: 9) { nodes { body author { username } } } } } }
      """
    socket.subscribe("1", watched, ["id": id])
    #expect(try socket.data().at("node.commentCount") == 0)
    let comment = try server.mutate(
      "addComment(subjectId: $id, body: \"Water it.\")",
      "comment { id subject { __typename id } viewerCanDelete }", ["id: ID!": id], as: bob)
    #expect(comment.at("comment.subject") == ["__typename": "Plant", "id": id])
    let news = try socket.data()
    #expect(news.at("node.commentCount") == 1)
    #expect(news.at("node.comments.nodes.0.body") == "Water it.")
    let told = try server.data("{ viewer { notifications { nodes { reason text } } } }", as: ada)
    #expect(told.at("viewer.notifications.nodes.0.reason") == "COMMENTED")

    let flag = "flag(subjectId: $id, reason: SPAM)"
    #expect(try server.refusals(flag, ["id: ID!": id], as: ada).map(\.code) == ["FORBIDDEN"])
    try server.mutate(flag, "__typename", ["id: ID!": id], as: bob)
    let like = "react(subjectId: $id, kind: LIKE)"
    #expect(try server.refusals(like, ["id: ID!": id], as: bob).map(\.code) == ["NOT_FOUND"])

    func search(_ words: String, _ types: String) throws -> JSONValue? {
      try server.data(
        """
        { search(query: "\(words)", types: \(types)) { nodes { __typename ... on Plant { name } } } }
        """, as: bob
      ).at("search.nodes")
    }
    #expect(try search("cafe bas", "[PLANT]") == [["__typename": "Plant", "name": "Café basil"]])
    #expect(try search("basil", "null") == [["__typename": "Plant", "name": "Café basil"]])
    #expect(try search("basil", "[LOCATION]") == [])

    let export = try #require(
      try server.data("{ viewer { dataExport } }", as: ada).at("viewer.dataExport")?.string)
    let plants = try JSONParser.parse(Array(export.utf8))["plants"]
    #expect(plants == [["id": id, "name": "Café basil"]])

    try data.run("UPDATE plant SET name = 'Thyme'")
    #expect(try socket.data().at("node.name") == "Thyme")
    try server.mutate("deleteAccount", "__typename", as: ada)
    #expect(try socket.data() == ["node": .null])
    for table in ["plant", "comment", "flag", "notification"] {
      #expect(try data.run("SELECT count(*) FROM \(table)") == [["0"]], "\(table)")
    }
    #expect(try data.run("SELECT * FROM verify_subjects()") == [])
    #expect(try data.run("SELECT count(*) FROM every_node WHERE NOT is_session(id)") == [["1"]])
  }
}
