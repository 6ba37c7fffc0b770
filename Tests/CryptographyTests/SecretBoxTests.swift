import Testing

@testable import Cryptography

@Suite struct SecretBoxTests {
  private let box = SecretBox(key: Array(repeating: 7, count: 32))

  @Test func `what was sealed opens again, and only with its key`() throws {
    let box = try #require(box)
    let other = try #require(SecretBox(key: Array(repeating: 8, count: 32)))
    let sealed = box.seal(Array("a token".utf8))
    #expect(box.open(sealed) == Array("a token".utf8))
    #expect(other.open(sealed) == nil)
    #expect(box.seal(Array("a token".utf8)) != sealed)
  }

  @Test func `what was changed or cut does not open`() throws {
    let box = try #require(box)
    let sealed = box.seal([1, 2, 3])
    for place in sealed.indices {
      var changed = sealed
      changed[place] ^= 1
      #expect(box.open(changed) == nil)
      #expect(box.open(Array(sealed[..<place])) == nil)
    }
  }

  @Test func `nothing can be sealed, too`() throws {
    let box = try #require(box)
    #expect(box.open(box.seal([])) == [])
  }

  @Test func `keys have 32 bytes`() {
    #expect(SecretBox(key: Array(repeating: 7, count: 31)) == nil)
    #expect(SecretBox(key: []) == nil)
  }

  @Test(
    arguments: zip(
      ["", "f", "fo", "foo", "foob", "fooba", "foobar", "\u{3ff}\u{3ff}"],
      ["", "Zg", "Zm8", "Zm9v", "Zm9vYg", "Zm9vYmE", "Zm9vYmFy", "z7_Pvw"]))
  func `base64url is that of RFC 4648, section 10, without padding`(text: String, code: String) {
    #expect(Base64URL.encode(Array(text.utf8)) == code)
  }
}
