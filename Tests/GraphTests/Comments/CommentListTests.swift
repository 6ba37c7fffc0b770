import JSON
import TestSupport
import Testing

/// Comments as lists show them.
@Suite(.usesCluster) struct CommentListTests {
  @Test func `PK-COM.d: a comment belongs to one item, and to no other comment`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let author = try data.person()
    let subjects = [
      try data.post(.event, by: author), try data.post(.announcement, by: author),
      try data.circle("Circle", owner: author), try data.location("Place"),
    ]
    for subject in subjects {
      let comment = try data.comment(subject, by: author, "of \(subject)")
      let found = try server.data(
        """
        query($id: ID!) { node(id: $id) { ... on Comment {
          body subject { id commentCount comments(first: 5) { nodes { id } } } } } }
        """, ["id": comment.json], as: author)
      #expect(
        found.at("node") == [
          "body": .string("of \(subject)"),
          "subject": [
            "id": subject.json, "commentCount": 1, "comments": ["nodes": [["id": comment.json]]],
          ],
        ])
    }
    let types = try server.data("{ __type(name: \"Commentable\") { possibleTypes { name } } }")
      .strings("__type.possibleTypes", "name")
    #expect(types.contains("Event"))
    #expect(!types.contains("Comment"))
  }
}
