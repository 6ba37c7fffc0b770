import JSON
import TestSupport
import Testing

/// Comments on circles.
@Suite(.usesCluster) struct CircleCommentTests {
  @Test func `PK-CIR.e: comments on a circle are its members' to read and to write`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (owner, member, stranger) = (try data.person(), try data.person(), try data.person())
    let circle = try data.circle("Rowers", owner: owner, members: [member])
    let add = "addComment(subjectId: $id, body: $body)"
    var ids: [NodeKey] = []
    for (person, body) in [(owner, "At six?"), (member, "At seven")] as [(Person, JSONValue)] {
      ids.append(
        try server.make(
          add, "comment", ["id: ID!": circle.json, "body: String!": body], as: person))
    }
    let query = """
      query($id: ID!) { circle(id: $id) { commentCount comments { nodes { body author { id } } } } }
      """
    for person in [owner, member] {
      #expect(
        try server.data(query, ["id": circle.json], as: person) == [
          "circle": [
            "commentCount": 2,
            "comments": [
              "nodes": [
                ["body": "At six?", "author": ["id": owner.json]],
                ["body": "At seven", "author": ["id": member.json]],
              ]
            ],
          ]
        ])
    }
    #expect(
      try server.data(
        "query($ids: [ID!]!) { nodes(ids: $ids) { id } }", ["ids": .array(ids.map(\.json))],
        as: stranger) == ["nodes": [nil, nil]])
    #expect(
      try server.refusals(
        add, ["id: ID!": circle.json, "body: String!": "Me too"], as: stranger)
        == [Refusal("NOT_FOUND", "subjectId")])
  }
}
