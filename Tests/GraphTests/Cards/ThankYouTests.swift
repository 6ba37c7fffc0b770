import Foundation
import JSON
import TestSupport
import Testing

/// Thank-you posts and the scores that count them.
@Suite(.usesCluster) struct ThankYouTests {
  private var graph: GraphServer { get throws { try GraphServer.shared } }

  @Test func `HM-O07: people are thanked, each is told, and the score counts it`() throws {
    let data = try graph.data()
    let (author, ann, ben) = (
      try data.person(name: "Author"), try data.person(name: "Ann"), try data.person(name: "Ben")
    )
    let blocked = try data.person()
    try graph.mutate("blockUser(userId: $id)", ["id: ID!": author.json], as: blocked)
    func refused(_ people: [JSONValue]) throws -> [Refusal] {
      try graph.refusals(
        "createThankYou(input: {body: \"Thanks!\", taggedUserIds: $ids})",
        ["ids: [ID!]!": .array(people)], as: author)
    }
    #expect(try refused([]) == [Refusal("REQUIRED", "input", "taggedUserIds")])
    #expect(
      try refused([ann.json, author.json, blocked.json, ann.json])
        == [
          Refusal("INVALID", "input", "taggedUserIds", "1"),
          Refusal("NOT_FOUND", "input", "taggedUserIds", "2"),
          Refusal("INVALID", "input", "taggedUserIds", "3"),
        ])
    let thanks = try graph.make(
      "createThankYou(input: {body: \"Thanks!\", taggedUserIds: $ids})", "thankYou",
      ["ids: [ID!]!": [ben.json, ann.json]], as: author)
    #expect(
      try graph.data(
        "query($id: ID!) { post(id: $id) { body ... on ThankYou { taggedUsers { id } } } }",
        ["id": thanks.json])
        == ["post": ["body": "Thanks!", "taggedUsers": [["id": ann.json], ["id": ben.json]]]])
    let profile =
      "query($id: ID!) { user(by: {id: $id}) { thankYouScore taggedIn { nodes { id } } } }"
    for person in [ann, ben] {
      #expect(
        try graph.data(profile, ["id": person.json])
          == ["user": ["thankYouScore": 1, "taggedIn": ["nodes": [["id": thanks.json]]]]])
      let told = try graph.data(
        "{ viewer { notifications { nodes { reason text } } } }", as: person)
      #expect(
        told.at("viewer.notifications.nodes")
          == [["reason": "TAGGED", "text": "<b>Author</b> thanks you."]])
    }
    try graph.mutate("deletePost(postId: $id)", ["id: ID!": thanks.json], as: author)
    #expect(
      try graph.data(profile, ["id": ann.json])
        == ["user": ["thankYouScore": 0, "taggedIn": ["nodes": []]]])
  }

  @Test func `HM-O13: each thank-you received counts, until it is deleted`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (person, author) = (try data.person(), try data.person())
    func score() throws -> JSONValue? {
      try server.data(
        "query($id: ID!) { user(by: {id: $id}) { thankYouScore } }", ["id": person.json]
      ).at("user.thankYouScore")
    }
    #expect(try score() == 0)
    let first = try data.thankYou(by: author, tagging: [person, data.person()])
    _ = try data.thankYou(by: author, tagging: [person])
    _ = try data.thankYou(by: author, tagging: [data.person()])
    #expect(try score() == 2)
    try data.run("SELECT delete_node($1)", [first])
    #expect(try score() == 1)
    try data.run("DELETE FROM app_user WHERE id = $1", [author])
    #expect(try score() == 0)
  }

  @Test func `HM-O14: all thank-yous tagging somebody, newest first, for everyone`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (person, author, blocked) = (try data.person(), try data.person(), try data.person())
    for text in ["first", "second", "third"] {
      _ = try data.thankYou(by: text == "second" ? blocked : author, text, tagging: [person])
    }
    _ = try data.thankYou(by: author, "to another", tagging: [blocked])
    let viewer = try data.person()
    try data.block(viewer, blocked)
    let query = """
      query($id: ID!) { user(by: {id: $id}) { taggedIn(kinds: [THANK_YOU]) {
        totalCount nodes { body } } } }
      """
    let visitor = try server.data(query, ["id": person.json])
    #expect(visitor.strings("user.taggedIn.nodes", "body") == ["third", "second", "first"])
    #expect(visitor.at("user.taggedIn.totalCount") == 3)
    let seen = try server.data(query, ["id": person.json], as: viewer)
    #expect(seen.strings("user.taggedIn.nodes", "body") == ["third", "first"])
    #expect(seen.at("user.taggedIn.totalCount") == 2)
  }

  @Test func `HM-O06: thank-yous, newest first, with those thanked`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, word) = (try data.person(), GraphData.unique("word"))
    let (zoe, ann) = (try data.person(name: "Zoe"), try data.person(name: "Ann"))
    _ = try data.thankYou(by: author, "\(word) old", tagging: [ann], at: "2026-03-01 10:00Z")
    _ = try data.thankYou(by: zoe, "\(word) new", tagging: [zoe, ann], at: "2026-03-01 11:00Z")
    _ = try data.post(.text, by: author, "\(word) thanks")
    let found = try server.data(
      """
      query($word: String!) { posts(filter: {kinds: [THANK_YOU], search: $word}) { nodes {
        body ... on ThankYou { taggedUsers { displayName } } } } }
      """, ["word": .string(word)])
    #expect(
      found.at("posts.nodes") == [
        [
          "body": .string("\(word) new"),
          "taggedUsers": [["displayName": "Ann"], ["displayName": "Zoe"]],
        ],
        ["body": .string("\(word) old"), "taggedUsers": [["displayName": "Ann"]]],
      ])
  }
}
