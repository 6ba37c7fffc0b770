import Testing

@testable import Accounts

@Suite struct NewTokenTests {
  @Test func `a new token can be told by its mark, is a bearer token and like no other`() throws {
    let tokens = (0..<100).map { _ in SessionToken() }
    #expect(Set(tokens).count == 100)
    for token in tokens {
      #expect(token.text.hasPrefix("sociograph_"))
      #expect(token.text.utf8.count == 11 + 43 + 6)
      #expect(SessionToken(bearer: token.text) == token)
      #expect(token.hash.count == 32)
    }
  }
}
