import JSON
import TestSupport
import Testing

/// The messages that an application shows to its users as they are.
@Suite(.usesCluster) struct UserErrorMessageTests {
  private static let tooLong = String(repeating: "n", count: 1001)

  @Test(arguments: [
    (
      "username: \"a\", password: \"correct horse\"",
      "A username has 2 to 40 letters (A to Z), digits, dots and underscores."
    ),
    (
      "username: \"new.user\", password: \"short\"", "The password must have at least 8 characters."
    ),
    (
      "username: \"new.user\", password: \"password1\"",
      "This password is among the most common ones. Choose another."
    ),
    (
      "username: \"new.user\", password: \"correct horse\", email: \"nowhere\"",
      "This is not an email address."
    ),
    (
      "username: \"new.user\", password: \"correct horse\", address: \"\(tooLong)\"",
      "At most 1,000 characters are allowed."
    ),
  ])
  func `a refused sign-up names the rule`(input: String, message: String) throws {
    let found = try messages(
      GraphServer.newcomers, "signUp(input: {\(input)})", as: nil)
    #expect(found == [message])
  }

  @Test func `a message names what was refused`() throws {
    let server = try GraphServer.newcomers
    let (anna, ben) = (try server.signUp("anna"), try server.signUp("ben"))
    #expect(
      try messages(
        server, "updateProfile(input: {username: $name, website: \"nowhere\"})",
        ["name: String!": .string(ben.username.uppercased())], as: anna)
        == ["This username is taken.", "A web address begins with https:// or http://."])
    let post = try server.make("createTextPost(input: {body: \"Hello\"})", "textPost", as: anna)
    #expect(
      try messages(server, "sharePost(postId: $id)", ["id: ID!": post.json], as: anna)
        == ["Connect your Facebook account first."])
    let offer = try server.make("createCardOffer(input: {body: \"Cards\"})", "cardOffer", as: anna)
    #expect(
      try messages(server, "respondToOffer(cardOfferId: $id)", ["id: ID!": offer.json], as: ben)
        == ["Add your postal address first."])
    try server.mutate("updateProfile(input: {address: \"1 Main Street\"})", as: ben)
    try server.mutate(
      "closeCardPost(postId: $id)", "__typename", ["id: ID!": offer.json], as: anna)
    #expect(
      try messages(server, "respondToOffer(cardOfferId: $id)", ["id: ID!": offer.json], as: ben)
        == ["This offer is closed."])
    #expect(
      try messages(server, "followUsers(userIds: [$id])", ["id: ID!": anna.key.json], as: anna)
        == ["You cannot do this to yourself."])
    // Without a text of its own, a refusal has that of its code.
    #expect(
      try messages(server, "deletePost(postId: $id)", ["id: ID!": post.json], as: ben)
        == ["You may not do this."])
  }

  private func messages(
    _ server: GraphServer, _ field: String, _ variables: KeyValuePairs<String, JSONValue> = [:],
    as person: Person?
  ) throws -> [String] {
    let payload = try server.payload(field, "__typename", variables, as: person)
    return (payload["userErrors"]?.array ?? []).map { $0["message"]?.string ?? "" }
  }
}
