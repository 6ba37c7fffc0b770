import JSON
import TestSupport
import Testing

extension LiveTests {
  /// Empty selection sets in every kind of operation: the edition of September 2026, 2.7.
  @Suite struct EmptySelectionTests {
    @Test func `a mutation without selections is done, once`() throws {
      let server = try GraphServer.shared
      let data = try server.data()
      let ann = try data.person()
      let posted = try server.data(
        "mutation { createTextPost(input: {body: \"Nothing to ask.\"}) {} }", as: ann)
      #expect("\(posted)" == #"{"createTextPost":{}}"#)
      let count = try data.run(
        "SELECT count(*) FROM post WHERE author_id = $1", [ann.key.number])[0][0]
      #expect(count == "1")
    }

    @Test func `pages, fragments and parts may be empty`() throws {
      let server = try GraphServer.shared
      let data = try server.data()
      let ann = try data.person()
      _ = try data.post(.text, by: ann)
      let answer = try server.data(
        """
        query($id: ID!) { viewer {} node(id: $id) { ... on User {} } users(first: 1) {}
          posts(first: 1) { nodes {} pageInfo {} } again: viewer { user { posts { edges {} } } } }
        """, ["id": ann.key.json], as: ann)
      #expect(
        "\(answer)"
          == #"{"viewer":{},"node":{},"users":{},"posts":{"nodes":[{}],"pageInfo":{}},"again":{"user":{"posts":{"edges":[{}]}}}}"#
      )
    }

    @Test func `a response in parts and a stream of events have them, too`() throws {
      let server = try LiveServer()
      let data = try server.graph.data()
      let ann = try data.person()
      for (accept, texts) in [
        (
          "multipart/mixed;deferSpec=20220824",
          [#""data":{"viewer":{}}"#, #""data":{"user":{}}"#]
        ), ("text/event-stream", [#"data: {"data":{"viewer":{}},"#, #""data":{"user":{}}"#]),
      ] {
        let client = try server.open(
          accept: accept, "{ viewer { ... @defer { user {} } } }",
          headers: "Authorization: Bearer \(ann.token)\r\n")
        #expect(client.answer(isHead: true).status == 200)
        for text in texts {
          var line = client.line()
          while let seen = line, !seen.contains(text) { line = client.line() }
          #expect(line != nil, "\(text)")
        }
      }
    }

    @Test func `a subscription tells that something happened, and a live query that it exists`()
      throws
    {
      let server = try LiveServer()
      let data = try server.graph.data()
      let ann = try data.person()
      let post = try data.post(.text, by: ann)
      let socket = try server.socket(ann)
      socket.subscribe(
        "1", "subscription($id: ID!) { commentAdded(subjectId: $id) {} }", ["id": post.json])
      socket.subscribe("2", "query($id: ID!) @live { node(id: $id) {} }", ["id": post.json])
      #expect("\(try socket.data("2"))" == #"{"node":{}}"#)
      try server.waitForHearing(1)
      _ = try data.comment(post, by: ann, "one")
      #expect("\(try socket.data("1"))" == #"{"commentAdded":{}}"#)
      try data.run("DELETE FROM post WHERE id = $1", [post.number])
      #expect("\(try socket.data("2"))" == #"{"node":null}"#)
    }
  }
}
