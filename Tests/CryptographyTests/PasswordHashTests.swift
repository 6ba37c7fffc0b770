import Testing

@testable import Cryptography

@Suite struct PasswordHashTests {
  private let passwords = PasswordHash(
    strength: PasswordHash.Strength(memoryBytes: 1 << 20, passes: 1))

  @Test func `a password is its own hash's and no other's`() throws {
    let stored = try #require(passwords.hash("correct horse"))
    #expect(stored.hasPrefix("$argon2id$v=19$m=1024,t=1,p=1$"))
    #expect(passwords.verify("correct horse", against: stored))
    #expect(!passwords.verify("correct horsf", against: stored))
    #expect(!passwords.verify("", against: stored))
  }

  @Test func `two hashes of one password differ`() {
    #expect(passwords.hash("same") != passwords.hash("same"))
  }

  @Test func `a NUL and what follows it belong to the password`() throws {
    let stored = try #require(passwords.hash("a\u{0}b"))
    #expect(passwords.verify("a\u{0}b", against: stored))
    #expect(!passwords.verify("a\u{0}c", against: stored))
    #expect(!passwords.verify("a", against: stored))
  }

  @Test(arguments: [
    nil, "", "plain", "$argon2id$v=19$m=1024", String(repeating: "x", count: 5_000),
  ])
  func `nothing verifies against what is no hash`(stored: String?) {
    #expect(!passwords.verify("plain", against: stored))
  }

  @Test func `a hash of another strength is to be made anew`() throws {
    let stronger = PasswordHash(strength: PasswordHash.Strength(memoryBytes: 2 << 20, passes: 1))
    let stored = try #require(passwords.hash("word"))
    #expect(!passwords.needsRehash(stored))
    #expect(stronger.needsRehash(stored))
    #expect(stronger.verify("word", against: stored))
    #expect(passwords.needsRehash("nonsense"))
  }

  @Test func `the usual strength is libsodium's interactive one`() throws {
    let stored = try #require(PasswordHash().hash("word"))
    #expect(stored.hasPrefix("$argon2id$v=19$m=65536,t=2,p=1$"))
  }
}
