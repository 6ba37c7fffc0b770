import Foundation
import Glibc
import HTTPTestSupport
import JSON
import OracleSupport
import TestSupport
import Testing

extension LiveTests {
  /// Answers whose parts come later, by `@defer` and `@stream`.
  @Suite struct DeferTests {
    private static let v02 = "multipart/mixed;incrementalSpec=v0.2, application/json;q=0.9"
    private static let v2022 = "multipart/mixed; deferSpec=\"20220824\",application/json"

    /// A post with one comment is asked for, which comes later.
    struct Case: Sendable {
      let document: String
      /// Only what comes later reads it.
      let table: String
      /// The data of the initial response.
      let data: String
      /// Where the rest belongs, and in the format of 2022.
      let path: String
      let path2022: String
      let member: String
      let value: String

      var first: (v02: String, v2022: String) {
        (
          #"{"data":\#(data),"pending":[{"id":"0","path":\#(path),"label":"L"}],"hasNext":true}"#,
          #"{"data":\#(data),"hasNext":true}"#
        )
      }

      var rest: (v02: String, v2022: String) {
        (
          #"{"incremental":[{"id":"0","\#(member)":\#(value)}],"completed":[{"id":"0"}],"hasNext":false}"#,
          #"{"incremental":[{"label":"L","path":\#(path2022),"\#(member)":\#(value)}],"hasNext":false}"#
        )
      }

      /// The start of the messages.
      var failure: (v02: String, v2022: String) {
        (
          #"{"completed":[{"id":"0","errors":[{"message":"#,
          #"{"incremental":[{"label":"L","path":\#(path2022),"\#(member)":null,"errors":[{"message":"#
        )
      }
    }

    static let cases = [
      Case(
        document:
          "query($id: ID!) { post(id: $id) { body ... @defer(label: \"L\") { comments(first: 9) { nodes { body } } } } }",
        table: "comment", data: #"{"post":{"body":"words"}}"#, path: #"["post"]"#,
        path2022: #"["post"]"#, member: "data",
        value: #"{"comments":{"nodes":[{"body":"old"}]}}"#),
      Case(
        document:
          "query($id: ID!) { post(id: $id) { body comments(first: 9) { nodes @stream(label: \"L\") { body viewerReactions } } } }",
        table: "reaction", data: #"{"post":{"body":"words","comments":{"nodes":[]}}}"#,
        path: #"["post","comments","nodes"]"#, path2022: #"["post","comments","nodes",0]"#,
        member: "items", value: #"[{"body":"old","viewerReactions":[]}]"#),
    ]

    /// The bytes of chunks, until they are as long as `text`.
    private func expect(
      _ text: String, from client: RawClient, at location: Testing.SourceLocation = #_sourceLocation
    ) {
      var found = ""
      while found.utf8.count < text.utf8.count {
        var line = ""
        while !line.hasSuffix("\r\n"), let byte = client.bytes(1) {
          line += String(decoding: byte, as: UTF8.self)
        }
        guard let length = Int(line.dropLast(), radix: 16), length > 0,
          let bytes = client.bytes(length + 2)
        else { break }
        found += String(decoding: bytes.dropLast(2), as: UTF8.self)
      }
      #expect(found == text, sourceLocation: location)
    }

    private func part(_ json: String) -> String {
      "\r\ncontent-type: application/json\r\n\r\n\(json)\r\n--graphql"
    }

    /// Inserts a post with a comment, and returns a session that locks a table until it commits.
    private func locked(_ table: String, _ server: LiveServer) throws -> (
      post: NodeKey, lock: GraphData
    ) {
      let data = try server.graph.data()
      let ann = try data.person()
      let post = try data.post(.text, by: ann, "words")
      _ = try data.comment(post, by: ann, "old")
      let lock = try server.lock(table)
      _ = try lock.comment(post, by: ann, "new")
      return (post, lock)
    }

    private func cancelWaiting(_ table: String, _ server: LiveServer) throws {
      try server.waitForWaiting(1, table)
      try server.graph.data().run(
        """
        SELECT pg_cancel_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1
        """, ["%\(table)%"])
    }

    @Test(arguments: cases)
    func
      `the first part is there before the later one, which is of the same snapshot, byte for byte`(
        _ asked: Case
      ) throws
    {
      let server = try LiveServer()
      for (accept, type, first, rest) in [
        (Self.v02, "incrementalSpec=v0.2", asked.first.v02, asked.rest.v02),
        (Self.v2022, "deferSpec=20220824", asked.first.v2022, asked.rest.v2022),
      ] {
        let (post, lock) = try locked(asked.table, server)
        let client = try server.open(accept: accept, asked.document, ["id": post.json])
        let head = client.answer(isHead: true)
        #expect(head.status == 200)
        #expect(head.header("Content-Type") == "multipart/mixed;boundary=graphql;\(type)")
        #expect(head.header("Cache-Control") == "no-cache")
        // With the delimiter behind it, while the table cannot be read.
        expect("\r\n--graphql" + part(first), from: client)
        try server.waitForWaiting(1, asked.table)
        try lock.run("COMMIT")
        expect(part(rest) + "--\r\n", from: client)
        #expect(client.bytes(5).map { String(decoding: $0, as: UTF8.self) } == "0\r\n\r\n")
        // The connection serves on.
        client.send("GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(client.answer().status == 200)
      }
    }

    @Test(arguments: cases)
    func `an answer is whole to who does not ask for parts, or where none comes later`(
      _ asked: Case
    ) throws {
      let server = try LiveServer()
      let data = try server.graph.data()
      let post = try data.post(.text, by: data.person(), "words")
      let whole = #"{"data":{"post":{"body":"words","comments":{"nodes":[]}}}}"#
      let never = asked.document.replacing("(label: \"L\")", with: "(if: false)")
      let missing = #"{"data":{"post":null}}"#
      for (accept, document, id, expected) in [
        ("application/json", asked.document, post.json, whole),
        ("*/*", asked.document, post.json, whole),
        ("multipart/mixed;subscriptionSpec=1.0,application/json", asked.document, post.json, whole),
        (
          "multipart/mixed;q=0;incrementalSpec=v0.2,application/json", asked.document, post.json,
          whole
        ),
        (Self.v02, never, post.json, whole), (Self.v2022, never, post.json, whole),
        (Self.v02, asked.document, NodeKey(1 << 20 | 24).json, missing),
        (Self.v2022, asked.document, NodeKey(1 << 20 | 24).json, missing),
      ] {
        let answer = try server.open(accept: accept, document, ["id": id]).answer()
        #expect(answer.header("Content-Type") == "application/json; charset=utf-8", "\(accept)")
        #expect(answer.body == expected, "\(accept)")
      }
    }

    @Test(arguments: cases)
    func `a part that fails leaves what was sent, and says so`(_ asked: Case) throws {
      let server = try LiveServer()
      for (accept, rest) in [(Self.v02, asked.failure.v02), (Self.v2022, asked.failure.v2022)] {
        let (post, lock) = try locked(asked.table, server)
        let client = try server.open(accept: accept, asked.document, ["id": post.json])
        #expect(client.answer(isHead: true).status == 200)
        try cancelWaiting(asked.table, server)
        let text = client.restOfChunks()
        #expect(text.contains(#"{"data":\#(asked.data)"#), "\(text)")
        #expect(text.contains(rest), "\(text)")
        #expect(text.contains(#""path":\#(asked.path)"#))
        #expect(text.contains(#""code":"TIMEOUT""#))
        #expect(text.hasSuffix(#""hasNext":false}"# + "\r\n--graphql--\r\n"), "\(text)")
        try lock.run("ROLLBACK")
      }
      // Connections are given back as they were.
      let data = try server.graph.data()
      let answer = try server.graph.data(
        asked.document, ["id": data.post(.text, by: data.person()).json])
      #expect(answer.at("post.comments.nodes") == .array([]))
    }

    @Test(arguments: cases)
    func `who leaves between two parts ends the statement of the next`(_ asked: Case) throws {
      let server = try LiveServer()
      let (post, lock) = try locked(asked.table, server)
      for _ in 0..<3 {
        let client = try server.open(accept: Self.v02, asked.document, ["id": post.json])
        #expect(client.answer(isHead: true).status == 200)
        try server.waitForWaiting(1, asked.table)
        client.finishSending()
        try server.waitForWaiting(0, asked.table)
      }
      let socket = try server.socket()
      socket.subscribe("1", asked.document, ["id": post.json])
      #expect(socket.message()?["type"] == "next")
      try server.waitForWaiting(1, asked.table)
      socket.complete("1")
      try server.waitForWaiting(0, asked.table)
      try lock.run("ROLLBACK")
    }

    @Test(arguments: cases)
    func `over a socket and as events each part is a message, and its end follows`(
      _ asked: Case
    ) throws {
      let server = try LiveServer()
      let data = try server.graph.data()
      let ann = try data.person()
      let post = try data.post(.text, by: ann, "words")
      _ = try data.comment(post, by: ann, "old")
      let parts = [asked.first.v02, asked.rest.v02]
      let socket = try server.socket()
      for id in ["1", "1"] {
        socket.subscribe(id, asked.document, ["id": post.json])
        let answer = socket.answer(id)
        #expect(answer.map(\.type) == ["next", "next", "complete"])
        #expect(
          try answer.prefix(2).map(\.payload)
            == parts.map { try JSONParser.parse(Array($0.utf8)) })
      }
      let client = try server.open(accept: "text/event-stream", asked.document, ["id": post.json])
      let head = client.answer(isHead: true)
      #expect(head.header("Content-Type") == "text/event-stream; charset=utf-8")
      // Signs of life come in chunks of their own.
      let text = client.restOfChunks { $0 != ":\n\n" }
      #expect(
        text == parts.map { "event: next\ndata: \($0)\n\n" }.joined()
          + "event: complete\ndata:\n\n")
    }

    @Test func `nothing comes later of a list with no more items, or of what a mutation answers`()
      throws
    {
      let server = try LiveServer()
      let data = try server.graph.data()
      let ann = try data.person()
      let post = try data.post(.text, by: ann, "words")
      _ = try data.comment(post, by: ann, "old")
      for accept in [Self.v02, Self.v2022] {
        let answer = try server.open(
          accept: accept,
          """
          query($id: ID!) { post(id: $id) { comments(first: 9) {
            nodes @stream(initialCount: 1) { body }
          } } }
          """, ["id": post.json]
        ).answer()
        #expect(answer.header("Content-Type") == "application/json; charset=utf-8")
        #expect(answer.body == #"{"data":{"post":{"comments":{"nodes":[{"body":"old"}]}}}}"#)
      }
      let answer = try server.open(
        accept: Self.v02,
        """
        mutation($id: ID!) { react(subjectId: $id, kind: HEART) { subject { ... on Post {
          comments(first: 9) { nodes @stream { body } }
        } } } }
        """, ["id": post.json], headers: "Authorization: Bearer \(ann.token)\r\n"
      ).answer()
      #expect(
        answer.body == #"{"data":{"react":{"subject":{"comments":{"nodes":[{"body":"old"}]}}}}}"#)
    }

    @Test(.enabled(if: LiveClients.python != nil, "script/live-clients installs what this needs"))
    func `what is delivered is what graphql-core delivers, and together the whole answer`() throws {
      let server = try LiveServer()
      let data = try server.graph.data()
      let (ann, bob) = (try data.person("ann"), try data.person("bob"))
      try data.follow(ann, bob)
      let country = try data.location("Land", level: "COUNTRY")
      let place = try data.location("Place", parent: country)
      var post = try data.post(.text, by: bob)
      for tag in [PostTag.outfit, .photo, .text] {
        post = try data.post(tag, by: bob, "words", location: place)
        for words in ["one", "two", "three"] { _ = try data.comment(post, by: ann, words) }
      }
      let cases = JSONValue.object([
        .init(name: "seed", value: 7), .init(name: "count", value: 120),
        .init(
          name: "variables",
          value: .array([
            ["name": "post", "value": post.json], ["name": "bob", "value": bob.json],
            ["name": "ids", "value": .array([post.json, "none", bob.json])],
            ["name": "late", "value": .boolean(true)], ["name": "soon", "value": .boolean(false)],
            ["name": "one", "value": 1],
          ])),
        .init(
          name: "documents",
          value: .object(Self.documents.map { .init(name: $0.key, value: .string($0.value)) })),
      ])
      let file = FileManager.default.temporaryDirectory
        .appendingPathComponent("sociograph-defer-\(UUID().uuidString).json")
      try Data("\(cases)".utf8).write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      let run = try LiveClients.run(
        "defer.py",
        [
          "http://127.0.0.1:\(server.graph.port)/graphql", ann.token,
          TestCluster.packageFolder + "/Tests/Fixtures/schema/published.graphql", file.path,
        ])
      #expect(run.status == 0 && run.output.hasSuffix(" 0 differ\n"), "\(run.output)")
    }

    private static let documents: KeyValuePairs<String, String> = [
      "a field": "query($post: ID!) { post(id: $post) { id ... @defer(label: \"a\") { body } } }",
      "the root": "{ ... @defer(label: \"r\") { viewer { user { username } } } }",
      "the root beside others":
        "query($post: ID!) { post(id: $post) { id } ... @defer { viewer { user { username } } } }",
      "nothing but the kind": "{ ... @defer { __typename } viewer { ... @defer { __typename } } }",
      "the schema at once":
        "{ __schema { queryType { name } } viewer { user { ... @defer { id } } } }",
      "overlapping with what is there":
        "query($post: ID!) { post(id: $post) { id author { id } ... @defer(label: \"a\") { id author { id username } } } }",
      "nothing left":
        "query($post: ID!) { post(id: $post) { id body ... @defer(label: \"a\") { id ... @defer(label: \"b\") { body } } } }",
      "nested":
        "query($post: ID!) { post(id: $post) { id ... @defer(label: \"a\") { body ... @defer(label: \"b\") { commentCount ... @defer(label: \"c\") { createdAt } } } } }",
      "nested in what has nothing left":
        "query($post: ID!) { post(id: $post) { id ... @defer(label: \"a\") { id ... @defer(label: \"b\") { body } } } }",
      "nested deeper":
        "query($post: ID!) { post(id: $post) { ... @defer(label: \"a\") { author { id ... @defer(label: \"b\") { username } } } } }",
      "two that share a field":
        "query($post: ID!) { post(id: $post) { id ... @defer(label: \"a\") { body commentCount } ... @defer(label: \"b\") { body createdAt } } }",
      "two that share an object":
        "query($post: ID!) { post(id: $post) { ... @defer(label: \"a\") { author { id username } } ... @defer(label: \"b\") { author { id displayName } } } }",
      "below one another":
        "query($post: ID!) { post(id: $post) { ... @defer(label: \"a\") { author { id displayName } } author { id ... @defer(label: \"b\") { displayName username } } } }",
      "shared with one inside of another":
        "query($post: ID!) { post(id: $post) { ... @defer(label: \"d\") { id ... @defer(label: \"c\") { author { username } } } ... @defer(label: \"a\") { body author { displayName } } } }",
      "the same fragment twice":
        "query($post: ID!) { post(id: $post) { ...F @defer(label: \"a\") author { id } ...F } } fragment F on Post { body author { username } }",
      "one fragment at two places":
        "query($post: ID!) { post(id: $post) { author { ...F location: id } } viewer { user { ...F } } } fragment F on User { id ... @defer(label: \"f\") { username displayName } }",
      "fragments in fragments":
        "query($post: ID!) { post(id: $post) { ...A @defer(label: \"a\") ...B @defer(label: \"b\") } } fragment A on Post { ...C } fragment B on Post { ...C commentCount } fragment C on Post { body author { id } }",
      "each of a list":
        "query($bob: ID!) { node(id: $bob) { ... on User { posts(first: 10) { nodes { id ... @defer(label: \"a\") { body author { username } } } } } } }",
      "of edges":
        "query($bob: ID!) { node(id: $bob) { ... on User { posts(first: 2) { totalCount edges { cursor ... @defer(label: \"e\") { node { body } } } pageInfo { hasNextPage } } } } }",
      "of a page":
        "query($bob: ID!) { node(id: $bob) { ... on User { posts(first: 2) { nodes { id } ... @defer(label: \"p\") { totalCount edges { cursor node { body } } } } } } }",
      "a page that says later where it ends":
        "query($bob: ID!) { node(id: $bob) { ... on User { posts(first: 2) { nodes { id } ... @defer { pageInfo { hasNextPage endCursor } } } } } }",
      "from the end":
        "query($post: ID!) { post(id: $post) { comments(last: 1) { nodes { id ... @defer { body author { username } } } } } }",
      "of an empty list":
        "query($post: ID!) { post(id: $post) { id comments(first: 1, after: null) { nodes { id ... @defer { author { posts(first: 0) { nodes { ... @defer { id } } } } } } } } }",
      "by its kind":
        "query($bob: ID!) { node(id: $bob) { ... on User { posts(first: 10) { nodes { __typename ... on Votable @defer(label: \"v\") { isVotingEnabled } ... on OutfitPost @defer(label: \"o\") { brands body } ... @defer(label: \"a\") { body } } } } } }",
      "nodes that are there and not":
        "query($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on Post @defer(label: \"p\") { body } ... on User @defer(label: \"u\") { username ... @defer(label: \"n\") { displayName } } } }",
      "told to":
        "query($post: ID!, $late: Boolean!) { post(id: $post) { id ... @defer(if: $late) { body } } }",
      "told not to":
        "query($post: ID!, $soon: Boolean!) { post(id: $post) { id ... @defer(if: $soon) { body } } }",
      "told nothing":
        "query($post: ID!, $unsaid: Boolean) { post(id: $post) { id ... @defer(if: true) { body } ... @include(if: true) @defer { author { id @skip(if: $unknown) } } } }"
        .replacing("$unsaid: Boolean", with: "$unknown: Boolean = false"),
      "by other names":
        "query($post: ID!) { a: post(id: $post) { b: body ... @defer(label: \"a\") { c: author { d: username } } } e: post(id: $post) { ... @defer(label: \"b\") { c: author { d: displayName } } } }",
      "a list":
        "query($post: ID!) { post(id: $post) { comments(first: 9) { nodes @stream(initialCount: 1, label: \"s\") { body } } } }",
      "a list of which nothing comes at once":
        "query($post: ID!) { post(id: $post) { comments(first: 9) { totalCount edges @stream(label: \"s\") { cursor node { body author { id } } } pageInfo { hasNextPage startCursor endCursor } } } }",
      "a page with another one behind it":
        "query($post: ID!) { post(id: $post) { comments(first: 2) { edges @stream(initialCount: 1) { cursor } pageInfo { hasNextPage hasPreviousPage endCursor } } } }",
      "a list from the end":
        "query($post: ID!) { post(id: $post) { comments(last: 3) { nodes @stream(initialCount: 1, label: \"s\") { body } pageInfo { hasPreviousPage startCursor } } } }",
      "two lists of one page":
        "query($post: ID!) { post(id: $post) { comments(first: 9) { edges @stream(initialCount: 1, label: \"e\") { node { id } } nodes @stream(initialCount: 2, label: \"n\") { body } } } }",
      "a list beside the same that comes at once":
        "query($post: ID!) { post(id: $post) { comments(first: 9) { edges { node { id } } nodes @stream(initialCount: 2, label: \"n\") { body } } } }",
      "a list that has no more":
        "query($post: ID!) { post(id: $post) { comments(first: 9) { nodes @stream(initialCount: 4) { body } } } }",
      "a plain list":
        "query($post: ID!) { post(id: $post) { location { ancestors @stream(initialCount: 1) { name } } } }",
      "a list with holes":
        "query($ids: [ID!]!) { nodes(ids: $ids) @stream(initialCount: 1, label: \"s\") { __typename id ... on User @defer { username } } }",
      "a list of texts":
        "query($bob: ID!) { node(id: $bob) { ... on User { posts(first: 9) { nodes { ... on OutfitPost { brands @stream(initialCount: 1) } } } } } }",
      "lists in lists":
        "query($bob: ID!) { node(id: $bob) { ... on User { posts(first: 4) { nodes @stream(initialCount: 1, label: \"p\") { id comments(first: 9) { nodes @stream(initialCount: 1, label: \"c\") { body } } } } } } }",
      "a list in a fragment":
        "query($post: ID!) { post(id: $post) { id ... @defer(label: \"d\") { comments(first: 9) { nodes @stream(initialCount: 1, label: \"s\") { body } } } } }",
      "a list in two fragments":
        "query($post: ID!) { post(id: $post) { id ... @defer(label: \"d\") { body comments(first: 9) { nodes @stream(initialCount: 1) { body } } } ... @defer(label: \"e\") { commentCount comments(first: 9) { nodes @stream(initialCount: 1) { id } } } } }",
      "fragments in a list":
        "query($post: ID!) { post(id: $post) { comments(first: 9) { nodes @stream(initialCount: 1, label: \"s\") { id ... @defer(label: \"d\") { body author { ... @defer(label: \"e\") { username } } } } } } }",
      "a list in a fragment of a list":
        "query($bob: ID!) { node(id: $bob) { ... on User { posts(first: 4) { nodes @stream(initialCount: 2, label: \"p\") { id ... @defer(label: \"d\") { comments(first: 9) { nodes @stream(label: \"c\") { body } } } } } } } }",
      "a list that is later and now":
        "query($post: ID!) { post(id: $post) { comments(first: 9) { nodes @stream(initialCount: 1) { id } } ... @defer(label: \"d\") { comments(first: 9) { nodes @stream(initialCount: 1) { body } } } } }",
      "a list told to":
        "query($post: ID!, $late: Boolean!, $one: Int) { post(id: $post) { comments(first: 9) { nodes @stream(if: $late, initialCount: $one) { body } } } }",
      "a list told not to":
        "query($post: ID!, $soon: Boolean!) { post(id: $post) { comments(first: 9) { nodes @stream(if: $soon) { body } } } }",
      "lists of several kinds":
        "query($bob: ID!) { node(id: $bob) { ... on User { posts(first: 9) { nodes @stream(initialCount: 1) { __typename ... on Post { body } ... on OutfitPost { brands } ... on Votable @defer { isVotingEnabled } } } } } }",
      "references of references":
        "query($post: ID!) { post(id: $post) { location { id ... @defer(label: \"l\") { parent { name ... @defer(label: \"m\") { level } } ancestors { id ... @defer(label: \"n\") { name } } } } } }",
    ]
  }
}

extension RawClient {
  /// The bytes of all chunks that are left and wanted.
  fileprivate func restOfChunks(_ isWanted: (String) -> Bool = { _ in true }) -> String {
    var found = ""
    while true {
      var line = ""
      while !line.hasSuffix("\r\n"), let byte = bytes(1) {
        line += String(decoding: byte, as: UTF8.self)
      }
      guard let length = Int(line.dropLast(), radix: 16), length > 0, let bytes = bytes(length + 2)
      else { return found }
      let chunk = String(decoding: bytes.dropLast(2), as: UTF8.self)
      if isWanted(chunk) { found += chunk }
    }
  }
}
