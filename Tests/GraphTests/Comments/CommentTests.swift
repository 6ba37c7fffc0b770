import JSON
import TestSupport
import Testing

/// Comments: who reads, writes, and deletes them.
@Suite(.usesCluster) struct CommentTests {
  @Test func `after a block host and writer still delete a comment, which others go on reading`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (host, writer, reader) = (try data.person(), try data.person(), try data.person())
    let group = try data.circle("Group", owner: host, members: [writer, reader])
    let delete = "deleteComment(commentId: $id)"
    for (blocker, blocked) in [(host, writer), (writer, host)] {
      for person in [host, writer] {
        for subject in [try data.photoPost(by: host), group] {
          let comment = try data.comment(subject, by: writer, "Ugly")
          try data.block(blocker, blocked)
          #expect(try server.finds(comment, as: reader))
          #expect(
            try server.refusals(delete, ["id: ID!": comment.json], as: reader)
              == [Refusal("FORBIDDEN", "commentId")])
          #expect(
            try server.mutate(delete, "deletedId", ["id: ID!": comment.json], as: person)[
              "deletedId"] == comment.json)
          #expect(try !server.finds(comment, as: reader))
          #expect(
            try server.refusals(delete, ["id: ID!": comment.json], as: person)
              == [Refusal("NOT_FOUND", "commentId")])
          try data.run("DELETE FROM block WHERE blocker_id = $1", [blocker])
        }
      }
    }
    // What somebody hidden wrote elsewhere is not there.
    try data.block(writer, host)
    let elsewhere = try data.comment(data.photoPost(by: reader), by: writer, "Hm")
    #expect(
      try server.refusals(delete, ["id: ID!": elsewhere.json], as: host)
        == [Refusal("NOT_FOUND", "commentId")])
  }

  @Test func `SP-O08: a comment on a post is read by whoever sees the post`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, reader, stranger) = (try data.person(), try data.person(), try data.person())
    let circle = try data.circle("Crew", owner: author, members: [reader])
    let post = try data.photoPost(by: author, circle: circle, visibility: "CIRCLE")
    let add = "addComment(subjectId: $id, body: \"Fair winds\")"
    try server.mutate(add, ["id: ID!": post.json], as: reader)
    let query = """
      query($id: ID!) { post(id: $id) { commentCount
        comments { totalCount nodes { body author { id } viewerCanDelete } } } }
      """
    for (person, canDelete) in [(author, true), (reader, true)] {
      #expect(
        try server.data(query, ["id": post.json], as: person) == [
          "post": [
            "commentCount": 1,
            "comments": [
              "totalCount": 1,
              "nodes": [
                [
                  "body": "Fair winds", "author": ["id": reader.json],
                  "viewerCanDelete": .boolean(canDelete),
                ]
              ],
            ],
          ]
        ])
    }
    #expect(
      try server.refusals(add, ["id: ID!": post.json], as: stranger)
        == [Refusal("NOT_FOUND", "subjectId")])
    #expect(
      try server.mutationErrorCodes(add, ["id: ID!": post.json], as: nil) == ["UNAUTHENTICATED"])
  }

  @Test func `SP-O09: its author, the post's author and staff delete a comment, and nobody else`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, writer, stranger) = (try data.person(), try data.person(), try data.person())
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let post = try data.photoPost(by: author)
    let query = """
      query($id: ID!) { post(id: $id) { commentCount comments { nodes { id viewerCanDelete } } } }
      """
    let delete = "deleteComment(commentId: $id)"
    for person in [writer, author, staff] {
      let comment = try server.make(
        "addComment(subjectId: $id, body: \"Ahoy\")", "comment", ["id: ID!": post.json], as: writer)
      #expect(
        try server.refusals(delete, ["id: ID!": comment.json], as: stranger)
          == [Refusal("FORBIDDEN", "commentId")])
      for (reader, canDelete) in [(person, true), (stranger, false)] {
        #expect(
          try server.data(query, ["id": post.json], as: reader).at("post.comments.nodes")
            == [["id": comment.json, "viewerCanDelete": .boolean(canDelete)]])
      }
      #expect(
        try server.mutate(delete, "deletedId", ["id: ID!": comment.json], as: person)["deletedId"]
          == comment.json)
      #expect(
        try server.data(query, ["id": post.json])
          == ["post": ["commentCount": 0, "comments": ["nodes": []]]])
      #expect(
        try server.refusals(delete, ["id: ID!": comment.json], as: person)
          == [Refusal("NOT_FOUND", "commentId")])
    }
  }

  @Test func `its author changes a comment, and what tells of it has the new words`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (host, writer, reader) = (
      try data.person(), try data.person(name: "Ben"), try data.person()
    )
    let post = try data.post(.text, by: host)
    let comment = try server.make(
      "addComment(subjectId: $id, body: \"Ugly\")", "comment", ["id: ID!": post.json], as: writer)
    let update = "updateComment(commentId: $id, input: {body: $body})"
    func refusals(_ body: String, as person: Person) throws -> [Refusal] {
      try server.refusals(
        update, ["id: ID!": comment.json, "body: String!": .string(body)], as: person)
    }
    func note() throws -> String? {
      try server.data("{ viewer { notifications { nodes { text } } } }", as: host)
        .strings("viewer.notifications.nodes", "text").first
    }
    for person in [host, reader] {
      #expect(try refusals("x", as: person) == [Refusal("FORBIDDEN", "commentId")])
    }
    for (body, code) in [(" ", "REQUIRED"), (String(repeating: "x", count: 2001), "TOO_LONG")] {
      #expect(try refusals(body, as: writer) == [Refusal(code, "input", "body")])
    }
    let seen =
      "query($id: ID!) { node(id: $id) { ... on Comment { body createdAt updatedAt viewerCanUpdate } } }"
    func read(as person: Person?) throws -> JSONValue? {
      try server.data(seen, ["id": comment.json], as: person)["node"]
    }
    #expect(try read(as: writer)?["updatedAt"] == read(as: writer)?["createdAt"])
    #expect(try note()?.hasSuffix("Ugly") == true)
    #expect(try refusals(" Lovely <3 ", as: writer) == [])
    #expect(try read(as: reader)?["body"] == "Lovely <3")
    #expect(try read(as: reader)?["updatedAt"] != read(as: reader)?["createdAt"])
    for (person, can) in [(writer, true), (host, false), (nil, false)] {
      #expect(try read(as: person)?["viewerCanUpdate"] == .boolean(can))
    }
    #expect(try note()?.hasSuffix("Lovely &lt;3") == true)
    // What was read is not rewritten.
    try server.mutate("markNotificationsRead", as: host)
    #expect(try refusals("Nice", as: writer) == [])
    #expect(try note()?.hasSuffix("Lovely &lt;3") == true)
    try data.block(host, writer)
    #expect(try refusals("Hidden", as: writer) == [Refusal("NOT_FOUND", "commentId")])
  }
}
