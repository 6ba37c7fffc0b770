import GraphQLLanguage
import HTTP
import JSON
import Testing

@testable import Load

@Suite struct MixTests {
  private let feed = MixReader.File(
    name: "Feed.graphql",
    bytes: Array("query Feed($first: Int, $id: ID, $words: [String]) { feed { id } }".utf8))
  private let save = MixReader.File(
    name: "Save.graphql", bytes: Array("mutation Save($text: String) { save(text: $text) }".utf8))

  private func read(_ settings: String, _ more: [MixReader.File] = []) throws -> Mix {
    try MixReader.read(
      folder: [feed, save, MixReader.File(name: "mix.json", bytes: Array(settings.utf8))] + more,
      manifest: []
    ) { name in
      try #require(name == "words.txt")
      return Array("red\r\ngreen\n\nblue".utf8)
    }
  }

  @Test func `operations have the weight 1 and no variables without a mix.json`() throws {
    let mix = try MixReader.read(folder: [save, feed], manifest: []) { _ in [] }
    #expect(mix.operations.map(\.name) == ["Feed", "Save"])
    #expect(mix.operations.map(\.weight) == [1, 1])
    #expect(mix.operations.map(\.kind) == [.query, .mutation])
  }

  @Test func `weights, viewers, pools and variables come from mix.json`() throws {
    let mix = try read(
      """
      {"pools": {"post": {"query": "query($after: String) { posts { nodes { id } } }",
                          "path": "posts.nodes.id", "size": 7, "viewer": "none"},
                 "word": {"file": "words.txt"}, "place": {"values": ["a", 2]}},
       "operations": {"Feed": {"weight": 60.5, "viewer": "none", "variables": {
          "first": 20, "id": {"$pool": "post", "draw": "zipf 1.1"}}}, "Save": {"weight": 0}}}
      """)
    #expect(mix.sent.map(\.name) == ["Feed"])
    #expect(mix.operations[0].weight == 60.5 && !mix.operations[0].isForAnybody)
    guard case .query(_, let path, let size, let isForAnybody) = mix.pools[0].source else {
      Issue.record("not a query")
      return
    }
    #expect(path == ["posts", "nodes", "id"] && size == 7 && !isForAnybody)
    guard case .values(let words) = mix.pools[1].source else { return }
    #expect(
      words.map { String(decoding: $0, as: UTF8.self) } == [#""red""#, #""green""#, #""blue""#])
  }

  @Test(arguments: [
    (#"{"pool": {}}"#, "has no \"pool\""),
    (#"{"operations": {"Fed": {}}}"#, "there is no operation \"Fed\""),
    (#"{"operations": {"Feed": {"wait": 1}}}"#, "has no \"wait\""),
    (#"{"operations": {"Feed": {"weight": -1}}}"#, "0 or more"),
    (#"{"operations": {"Feed": {"viewer": "me"}}}"#, "any or none"),
    (#"{"operations": {"Feed": {"variables": {"last": 1}}}}"#, "no variable $last"),
    (#"{"operations": {"Feed": {"variables": {"id": {"$pool": "post"}}}}}"#, "not among pools"),
    (#"{"operations": {"Feed": {"variables": {"id": {"$poll": "post"}}}}}"#, "drawn by $poll"),
    (#"{"operations": {"Feed": {"variables": {"id": {"$int": [2, 1]}}}}}"#, "the lower first"),
    (#"{"operations": {"Feed": {"variables": {"id": {"$int": [1, 2], "x": 1}}}}}"#, "\"x\""),
    (#"{"operations": {"Feed": {"variables": {"id": {"$choice": []}}}}}"#, "not empty"),
    (
      #"{"operations": {"Feed": {"variables": {"id": {"$choice": [1], "weights": [1, 2]}}}}}"#,
      "weight"
    ),
    (#"{"operations": {"Feed": {"variables": {"id": {"$unique": 1}}}}}"#, "a text"),
    (#"{"operations": {"Feed": {"subscribers": 1}}}"#, "has no \"subscribers\""),
    (#"{"pools": {"a": {"file": "words.txt", "values": [1]}}}"#, "one of query, file and values"),
    (#"{"pools": {"a": {"values": []}}}"#, "not empty"),
    (#"{"pools": {"a": {"query": "{ a", "path": "a"}}}"#, "pool \"a\""),
    (#"{"pools": {"a": {"query": "{ a }"}}}"#, "as path"),
    (#"{"#, "mix.json"), (#"[]"#, "must be an object"),
  ])
  func `a mistake in mix.json is named`(settings: String, part: String) {
    let error = #expect(throws: LoadInputError.self) { try read(settings) }
    #expect(error?.description.contains(part) == true, "\(error?.description ?? "none")")
  }

  @Test(arguments: ["query Other { a }", "{ a }", "query Feed { a } query B { a }", "query Feed {"])
  func `a file has one operation of its name`(text: String) {
    #expect(throws: LoadInputError.self) {
      try MixReader.read(
        folder: [MixReader.File(name: "Feed.graphql", bytes: Array(text.utf8))], manifest: []
      ) { _ in [] }
    }
  }

  @Test func `documents of a manifest are known by their operations`() throws {
    let text = "query A { a } query B { b }"
    let mix = try MixReader.read(folder: [], manifest: [(id: "x1", text: text)]) { _ in [] }
    #expect(mix.operations.map(\.name) == ["A", "B"])
    #expect(mix.operations.allSatisfy { $0.documentID == "x1" && $0.document == text })
  }

  @Test func `a subscription names its subscribers and what its events answer`() throws {
    let heard = MixReader.File(name: "Heard.graphql", bytes: Array("subscription Heard { a }".utf8))
    func mix(_ heardSettings: String, text: String = #"{"$unique": "note "}"#) throws -> Mix {
      try read(
        """
        {"mutations": "optional", "tokens": "tokens.txt", "operations": {
          "Save": {"variables": {"text": \(text)}}, "Heard": \(heardSettings)}}
        """, [heard])
    }
    let good = #"{"subscribers": 3, "trigger": "Save", "match": "a.text"}"#
    var found = try mix(good)
    #expect(found.mutationsAreOptional && found.tokens == "tokens.txt")
    #expect(found.subscriptions.map(\.name) == ["Heard"] && found.sent.count == 2)
    let audience = try #require(found.subscriptions.first?.audience)
    #expect(
      audience.subscribers == 3 && audience.trigger == "Save" && audience.match == ["a", "text"])
    found.leaveOutMutations()
    #expect(found.subscriptions.isEmpty && found.sent.map(\.name) == ["Feed"])
    for (settings, part) in [
      (#"{"subscribers": 0, "trigger": "Save", "match": "a"}"#, "subscribers from 1"),
      (#"{"subscribers": 3, "match": "a"}"#, "as trigger"),
      (#"{"subscribers": 3, "trigger": "Feed", "match": "a"}"#, "must be a mutation"),
    ] {
      let error = #expect(throws: LoadInputError.self) { try mix(settings) }
      #expect(error?.description.contains(part) == true, "\(error?.description ?? "none")")
    }
    let constant = #expect(throws: LoadInputError.self) { try mix(good, text: "1") }
    #expect(constant?.description.contains("no $unique text") == true)
  }

  @Test func `an event is told apart by the unique text of its request`() throws {
    let writer = try writer(
      #"{"operations": {"Feed": {"weight": 0}, "Save": {"variables": {"text": {"$unique": "note "}}}}}"#,
      pools: [])
    let text = try #require(
      try body(writer.request(seed: 1, number: 3, mark: 17))["variables"]?["text"]?.text)
    #expect(text == "note r-17" && writer.mark(in: text) == 17)
    for other in ["note 17", "r17", "note q-17", "note r-", "note r-1x", "", "-17"] {
      #expect(writer.mark(in: other) == nil, "\(other)")
    }
  }

  // MARK: Requests

  private func writer(
    _ settings: String, pools: [[[UInt8]]], tokens: [String] = []
  ) throws -> RequestWriter {
    let mix = try read(settings)
    var requests = RequestWriter.Settings()
    requests.tokens = tokens
    return RequestWriter(
      mix, pools: PoolValues(pools, seed: 5, for: mix.sent.map(\.variables)),
      target: try #require(HTTPTarget("http://localhost:1234/graphql?a=b")), settings: requests,
      run: "r", seed: 5)
  }

  private func body(_ bytes: [UInt8]) throws -> JSONValue {
    let text = String(decoding: bytes, as: UTF8.self)
    let parts = text.split(separator: "\r\n\r\n", maxSplits: 1)
    try #require(parts.count == 2)
    #expect(text.contains("Content-Length: \(parts[1].utf8.count)\r\n"))
    return try JSONParser.parse(Array(parts[1].utf8))
  }

  @Test func `a request is the same for the same seed and number`() throws {
    let settings = """
      {"pools": {"p": {"values": [1, 2, 3, 4, 5, 6, 7, 8, 9]}}, "operations": {
       "Feed": {"weight": 3, "variables": {"first": {"$int": [1, 1000000]},
          "id": {"$pool": "p", "draw": "zipf 1"}, "words": {"$sample": ["p", 4]}}},
       "Save": {"variables": {"text": {"$unique": "note "}}}}}
      """
    let pool = (1...9).map { Array(String($0).utf8) }
    let writer = try writer(settings, pools: [pool], tokens: ["t0", "t1", "t2"])
    let again = try self.writer(settings, pools: [pool], tokens: ["t0", "t1", "t2"])
    var bodies: Set<[UInt8]> = []
    var saves = 0
    var samples = 0
    for number in 0..<200 {
      let bytes = writer.request(seed: 1, number: number, mark: number)
      #expect(bytes == again.request(seed: 1, number: number, mark: number))
      bodies.insert(bytes)
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(text.hasPrefix("POST /graphql?a=b HTTP/1.1\r\nHost: localhost:1234\r\n"))
      #expect(text.contains("Authorization: Bearer t"))
      #expect(text.contains("Prefer: metrics=timings\r\n"))
      let body = try body(bytes)
      if body["operationName"] == .string("Save") {
        saves += 1
        #expect(text.contains("Idempotency-Key: load-r-\(number)\r\n"))
        #expect(
          body["variables"] == .object([.init(name: "text", value: .string("note r-\(number)"))]))
      } else {
        #expect(!text.contains("Idempotency-Key"))
        let words = try #require(body["variables"]?["words"]?.elements)
        #expect(Set(words.map(\.bytes)).count == 4)
        samples += 1
      }
    }
    #expect(bodies.count == 200)
    #expect(saves > 20 && samples > 100)
    #expect(
      writer.request(seed: 2, number: 0, mark: 0) != writer.request(seed: 1, number: 0, mark: 0))
  }

  @Test func `variables are sent as they are but for what is drawn`() throws {
    let writer = try writer(
      """
      {"operations": {"Save": {"weight": 0}, "Feed": {"variables": {
        "first": {"$literal": {"$int": [1, 2]}}, "id": {"a": [1, {"$choice": ["x"]}], "b": null},
        "words": ["\\u0001", 1.50]}}}}
      """, pools: [])
    let body = try body(writer.request(seed: 1, number: 0, mark: 0))
    #expect(
      body["variables"]
        == (try JSONParser.parse(
          Array(
            #"{"first": {"$int": [1, 2]}, "id": {"a": [1, "x"], "b": null}, "words": ["\u0001", 1.50]}"#
              .utf8))))
  }

  @Test func `values are collected at the end of a path, through lists`() throws {
    let data = try JSONParser.parse(
      Array(#"{"posts": {"nodes": [{"id": "a"}, null, {"id": null}, {"id": 3}], "x": 1}}"#.utf8))
    var values: [[UInt8]] = []
    PoolFiller.collect(data, ["posts", "nodes", "id"], into: &values)
    #expect(values.map { String(decoding: $0, as: UTF8.self) } == ["\"a\"", "3"])
  }
}
