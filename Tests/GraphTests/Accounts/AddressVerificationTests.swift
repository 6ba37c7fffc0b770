import Foundation
import JSON
import TestSupport
import Testing

/// The verification of e-mail addresses.
@Suite(.usesCluster) struct AddressVerificationTests {
  private var graph: GraphServer { get throws { try GraphServer.newcomers } }

  @Test func `HM-O22: an address is verified by a mailed token, and a new one is not`() throws {
    let mailbox = GraphData.unique("ada") + "@mail.example"
    let ada = try graph.signUp("ada", ", email: \"\(mailbox)\"")
    let eve = try graph.signUp("eve")
    func mailed() throws -> String {
      let rows = try graph.data().run(
        "SELECT recipient, body FROM outbox WHERE user_id = $1 ORDER BY id DESC LIMIT 1", [ada])
      let body = try #require(rows.first?.last ?? nil)
      return try #require(body.firstMatch(of: /[0-9a-f]{64}/).map { String($0.output) })
    }
    func verify(_ token: String, as person: Person) throws -> [Refusal] {
      try graph.refusals(
        "verifyEmail(token: $token)", ["token: String!": .string(token)], as: person)
    }
    let query = "{ viewer { email isEmailVerified } }"
    #expect(
      try graph.data(query, as: ada)
        == ["viewer": ["email": .string(mailbox), "isEmailVerified": false]])
    let token = try mailed()
    #expect(try verify("guess", as: ada) == [Refusal("WRONG_CREDENTIALS", "token")])
    #expect(try verify(token, as: eve) == [Refusal("WRONG_CREDENTIALS", "token")])
    #expect(try verify(token, as: ada) == [])
    #expect(try graph.data(query, as: ada).at("viewer.isEmailVerified") == true)
    #expect(try verify(token, as: ada) == [Refusal("WRONG_CREDENTIALS", "token")])
    // An account is mailed one token a minute.
    _ = try graph.data().run(
      """
      UPDATE mail_time SET mailed_at = now() - interval '2 minutes'
      WHERE key = sha256(convert_to('VERIFY_EMAIL ' || $1, 'UTF8'))
      """, [ada])
    try graph.mutate(
      "updateProfile(input: {email: $email, currentPassword: \"correct horse\"})",
      ["email: String": .string("new." + mailbox)], as: ada)
    #expect(
      try graph.data(query, as: ada)
        == ["viewer": ["email": .string("new." + mailbox), "isEmailVerified": false]])
    #expect(try mailed() != token)
    #expect(try verify(try mailed(), as: ada) == [])
    #expect(try graph.data(query, as: ada).at("viewer.isEmailVerified") == true)
  }

  @Test func `HM-O22, read: whether one's e-mail address is verified`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    for isVerified in [true, false] {
      let person = try data.person("mail", ["email_verified": isVerified])
      #expect(
        try server.data("{ viewer { isEmailVerified } }", as: person)
          == ["viewer": ["isEmailVerified": .boolean(isVerified)]])
    }
  }
}
