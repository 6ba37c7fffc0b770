import JSON
import TestSupport
import Testing

/// Votes on posts, and the verdict that voters and the author see.
@Suite(.usesCluster) struct VoteTests {
  @Test func `GTIO-3.1f: voting is possible when asked for, on others' posts, once`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, voter, viewer) = (try data.person(), try data.person(), try data.person())
    let asked = try data.post(.outfit, by: author)
    let notAsked = try data.post(.outfit, by: author, voting: false)
    try data.vote(voter, "CHANGE_IT", on: asked)
    let query = """
      query($id: ID!) { post(id: $id) { viewerActions
        ... on Votable { isVotingEnabled viewerVote } } }
      """
    func voting(_ post: NodeKey, _ viewer: Person?) throws -> [JSONValue] {
      let found = try server.data(query, ["id": post.json], as: viewer)
      let actions = try #require(found.at("post.viewerActions")?.array)
      return [
        try #require(found.at("post.isVotingEnabled")), try #require(found.at("post.viewerVote")),
        .boolean(actions.contains("VOTE")),
      ]
    }
    #expect(try voting(asked, viewer) == [true, nil, true])
    #expect(try voting(asked, voter) == [true, "CHANGE_IT", false])
    #expect(try voting(asked, author) == [true, nil, false])
    #expect(try voting(asked, nil) == [true, nil, false])
    #expect(try voting(notAsked, viewer) == [false, nil, false])
  }

  @Test func `GTIO-3.2a, read: the verdict is for those who voted, and for the author`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, viewer) = (try data.person(), try data.person())
    let voters = try (0..<3).map { _ in try data.person() }
    let outfit = try data.post(.outfit, by: author)
    func verdict(_ viewer: Person?) throws -> JSONValue? {
      try server.data(
        """
        query($id: ID!) { post(id: $id) { ... on Votable {
          verdict { wearItCount changeItCount leading text } } } }
        """, ["id": outfit.json], as: viewer
      ).at("post.verdict")
    }
    #expect(try verdict(author)?["text"] == "Nobody has voted yet.")
    for (voter, choice) in zip(voters, ["WEAR_IT", "WEAR_IT", "CHANGE_IT"]) {
      try data.vote(voter, choice, on: outfit)
    }
    let expected: JSONValue = [
      "wearItCount": 2, "changeItCount": 1, "leading": "WEAR_IT",
      "text": "Wear it! 2 of 3 votes say so.",
    ]
    #expect(try verdict(author) == expected)
    #expect(try verdict(voters[2]) == expected)
    #expect(try verdict(viewer) == .null)
    #expect(try verdict(nil) == .null)
    try data.vote(viewer, "CHANGE_IT", on: outfit)
    #expect(try verdict(viewer)?["leading"] == .null)
    #expect(
      try verdict(viewer)?["text"] == "It is a tie: 2 say wear it, 2 say change it.")
  }

  @Test func `GTIO-3.6c, read: a product post's verdict is for its voters and author`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, voter, viewer) = (try data.person(), try data.person(), try data.person())
    let post = try data.post(.product, by: author, product: data.product("Scarf"))
    try data.vote(voter, "CHANGE_IT", on: post)
    for (person, text) in [
      (author, "Change it! 1 of 1 vote says so."), (voter, "Change it! 1 of 1 vote says so."),
      (viewer, nil),
    ] {
      let found = try server.data(
        "query($id: ID!) { post(id: $id) { ... on ProductPost { verdict { text } } } }",
        ["id": post.json], as: person)
      #expect(found.at("post.verdict") == text.map { ["text": .string($0)] } ?? .null)
    }
  }

  private func vote(_ post: NodeKey, without: NodeKey, author: Person) throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = (try data.person(), try data.person())
    func refused(_ choice: String, _ post: NodeKey = post, as person: Person) throws -> [Refusal] {
      try server.refusals(
        "castVote(postId: $id, choice: \(choice))", ["id: ID!": post.json], as: person)
    }
    let seen = """
      query($id: ID!) { post(id: $id) { ... on Votable {
        isVotingEnabled viewerVote verdict { text wearItCount changeItCount leading } } } }
      """
    func verdict(_ person: Person?) throws -> JSONValue? {
      try server.data(seen, ["id": post.json], as: person).at("post.verdict")
    }
    #expect(try verdict(ann) == .null)
    #expect(try server.actions(post, as: ann).contains("VOTE"))
    #expect(try refused("WEAR_IT", as: author) == [Refusal("FORBIDDEN", "postId")])
    #expect(try refused("WEAR_IT", without, as: ann) == [Refusal("CLOSED", "postId")])
    // The vote's answer carries the verdict.
    let payload = try server.mutate(
      "castVote(postId: $id, choice: WEAR_IT)",
      "post { viewerVote verdict { wearItCount changeItCount leading } }", ["id: ID!": post.json],
      as: ann)
    #expect(
      payload["post"] == [
        "viewerVote": "WEAR_IT",
        "verdict": ["wearItCount": 1, "changeItCount": 0, "leading": "WEAR_IT"],
      ])
    #expect(try refused("WEAR_IT", as: ann) == [])
    #expect(try refused("CHANGE_IT", as: ann) == [Refusal("ALREADY_DONE", "choice")])
    #expect(try !server.actions(post, as: ann).contains("VOTE"))
    // Who has not voted knows nothing; the author always does.
    for person in [ben, nil] { #expect(try verdict(person) == .null) }
    #expect(try verdict(author)?["wearItCount"] == 1)
    try server.mutate("castVote(postId: $id, choice: CHANGE_IT)", ["id: ID!": post.json], as: ben)
    for person in [ann, ben, author] {
      let both = try verdict(person)
      #expect(both?["wearItCount"] == 1)
      #expect(both?["changeItCount"] == 1)
      #expect(both?["leading"] == .null)
      #expect(both?["text"]?.string?.isEmpty == false)
    }
  }

  @Test func `GTIO-3.1e: a vote on an outfit counts, once and for good`() throws {
    let data = try GraphServer.shared.data()
    let author = try data.person()
    try vote(
      try data.outfitAndProductPost(by: author)[0],
      without: try data.post(.outfit, by: author, voting: false), author: author)
  }

  @Test func `GTIO-3.6c: a product post is voted on as an outfit is`() throws {
    let data = try GraphServer.shared.data()
    let author = try data.person()
    try vote(
      try data.outfitAndProductPost(by: author)[1],
      without: try data.post(
        .product, by: author, product: try data.product("Hat"), voting: false),
      author: author)
  }

  @Test func `GTIO-3.2a: the answer to a vote is the verdict, and it grows with other votes`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let outfit = try data.post(.outfit, by: try data.person())
    var texts: [String] = []
    for number in 1...3 {
      let payload = try server.mutate(
        "castVote(postId: $id, choice: \(number < 3 ? "WEAR_IT" : "CHANGE_IT"))",
        "post { ... on OutfitPost { verdict { text wearItCount changeItCount leading } } }",
        ["id: ID!": outfit.json], as: try data.person())
      #expect(payload.at("post.verdict.wearItCount")?.int == min(number, 2))
      #expect(payload.at("post.verdict.changeItCount")?.int == (number == 3 ? 1 : 0))
      #expect(payload.at("post.verdict.leading") == "WEAR_IT")
      texts.append(payload.at("post.verdict.text")?.string ?? "")
    }
    #expect(texts.allSatisfy { !$0.isEmpty } && texts[0] != texts[2])
    #expect(
      try server.refusals(
        "castVote(postId: \"no id\", choice: WEAR_IT)", as: try data.person())
        == [Refusal("NOT_FOUND", "postId")])
  }
}
