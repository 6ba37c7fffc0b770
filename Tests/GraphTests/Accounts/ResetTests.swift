import JSON
import TestSupport
import Testing

/// Passwords of accounts whose address was never shown to be their owner's.
@Suite(.usesCluster) struct ResetTests {
  private var graph: GraphServer { get throws { try GraphServer.newcomers } }

  /// The tokens in the mail of a reset to an address; nil without a mail.
  private func tokens(_ address: String) throws -> [String]? {
    let data = try graph.data()
    try graph.mutate(
      "requestPasswordReset(email: $email)", ["email: String!": .string(address)], as: nil)
    // Another test may be writing it.
    _ = eventually {
      _ = try? data.run("SELECT write_password_resets()")
      let waiting = try? data.run("SELECT FROM reset_request WHERE address = lower($1)", [address])
      return waiting?.isEmpty == true
    }
    let mails = try data.run(
      "SELECT body FROM outbox WHERE recipient = $1 AND body LIKE '%/reset/%' ORDER BY id DESC",
      [address])
    return (mails.first?.first ?? nil)?.matches(of: /[0-9a-f]{64}/).map { String($0.output) }
  }

  private func reset(_ token: String) throws -> [Refusal] {
    try graph.refusals(
      "resetPassword(token: $token, newPassword: \"better horse\")",
      ["token: String!": .string(token)], as: nil)
  }

  private func isVerified(_ person: Person) throws -> Bool {
    try graph.data().run("SELECT email_verified FROM app_user WHERE id = $1", [person]) == [["t"]]
  }

  @Test func `opening the link shows that the address is one's own`() throws {
    let address = GraphData.unique("ada") + "@mail.example"
    let ada = try graph.signUp("ada", ", email: \"\(address)\"")
    let found = try #require(try tokens(address))
    #expect(found.count == 1)
    #expect(try !isVerified(ada))
    #expect(try reset(found[0]) == [])
    #expect(try isVerified(ada))
    // All other sessions are dead.
    #expect(try graph.errorCodes("{ viewer { email } }", as: ada) == ["UNAUTHENTICATED"])
  }

  @Test func `who has verified the address is mailed alone`() throws {
    let address = GraphData.unique("ada") + "@mail.example"
    let (ada, eve) = (
      try graph.signUp("ada", ", email: \"\(address)\""),
      try graph.signUp("eve", ", email: \"\(address)\"")
    )
    try graph.data().run("UPDATE app_user SET email_verified = true WHERE id = $1", [ada])
    let found = try #require(try tokens(address))
    #expect(found.count == 1)
    #expect(try reset(found[0]) == [])
    #expect(try !isVerified(eve))
    #expect(try graph.errorCodes("{ viewer { email } }", as: eve) == [])
  }

  @Test func `of two that say so each gets a link, and the first verifies`() throws {
    let address = GraphData.unique("ada") + "@mail.example"
    let people = try ["ada", "eve"].map { try graph.signUp($0, ", email: \"\(address)\"") }
    let found = try #require(try tokens(address))
    #expect(found.count == 2)
    for token in found { #expect(try reset(token) == []) }
    #expect(try people.filter(isVerified).count == 1)
    // One mail in ten minutes.
    #expect(try tokens(address) == found)
  }

  @Test func `an unknown address gets nothing`() throws {
    #expect(try tokens(GraphData.unique("nobody") + "@mail.example") == nil)
  }
}
