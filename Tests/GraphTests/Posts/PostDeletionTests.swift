import JSON
import TestSupport
import Testing

/// The deletion of posts with what belongs to them.
@Suite(.usesCluster) struct PostDeletionTests {
  private func delete(_ post: NodeKey, by author: Person) throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, staff) = (try data.person(), try data.person(roles: ["MEMBER", "STAFF"]))
    try server.mutate("followUsers(userIds: [$id])", ["id: ID!": author.json], as: ann)
    try server.mutate("react(subjectId: $id, kind: HEART)", ["id: ID!": post.json], as: ann)
    try server.mutate("castVote(postId: $id, choice: WEAR_IT)", ["id: ID!": post.json], as: ann)
    let review = try server.make(
      "addComment(subjectId: $id, body: \"Fine\")", "comment", ["id: ID!": post.json], as: ann)
    try server.mutate("react(subjectId: $id, kind: AGREE)", ["id: ID!": review.json], as: staff)
    let feed = "{ viewer { feed { totalCount } reactedFeed(kind: HEART) { totalCount } } }"
    #expect(try server.data(feed, as: ann).at("viewer.feed.totalCount") == 1)
    #expect(
      try server.refusals("deletePost(postId: $id)", ["id: ID!": post.json], as: ann)
        == [Refusal("FORBIDDEN", "postId")])
    #expect(try server.actions(post, as: author).contains("DELETE"))
    #expect(
      try server.mutate("deletePost(postId: $id)", "deletedId", ["id: ID!": post.json], as: author)[
        "deletedId"] == post.json)
    for person in [author, ann, staff, nil] {
      #expect(try !server.finds(post, as: person))
      #expect(try !server.finds(review, as: person))
    }
    #expect(
      try server.data(feed, as: ann)
        == ["viewer": ["feed": ["totalCount": 0], "reactedFeed": ["totalCount": 0]]])
    #expect(
      try server.data(
        "query($id: ID!) { user(by: {id: $id}) { posts { totalCount } } }", ["id": author.json])
        == ["user": ["posts": ["totalCount": 0]]])
    for (table, column) in [
      ("reaction", "subject_id"), ("vote", "post_id"), ("comment", "subject_id"),
    ] {
      #expect(
        try data.run("SELECT count(*) FROM \(table) WHERE \(column) = $1", [post]) == [["0"]])
    }
    #expect(
      try server.refusals("deletePost(postId: $id)", ["id: ID!": post.json], as: author)
        == [Refusal("NOT_FOUND", "postId")])
  }

  @Test func `GTIO-3.1l: a deleted outfit is gone with its reviews, hearts and votes`() throws {
    let data = try GraphServer.shared.data()
    let author = try data.person()
    try delete(try data.post(.outfit, by: author), by: author)
  }

  @Test func `GTIO-3.6i: a deleted product post is gone, and its product stays`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let author = try data.person()
    let product = try data.product("Coat")
    let post = try data.post(.product, by: author, product: product)
    try delete(post, by: author)
    #expect(
      try server.data(
        "query($id: ID!) { product(id: $id) { name posts { totalCount } } }", ["id": product.json])
        == ["product": ["name": "Coat", "posts": ["totalCount": 0]]])
  }
}
