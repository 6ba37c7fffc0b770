import Cryptography
import Testing

@Suite struct BytesAsTextTests {
  @Test(arguments: [[], [0], [0xff], [1, 2], [0, 0xab, 0xcd], Array(0...255)] as [[UInt8]])
  func `hexadecimal digits of bytes are read back, in either case`(bytes: [UInt8]) {
    let text = Hexadecimal.encode(bytes)
    #expect(text.utf8.count == 2 * bytes.count && text == text.lowercased())
    #expect(Hexadecimal.decode(text) == bytes)
    #expect(Hexadecimal.decode(text.uppercased()) == bytes)
  }

  @Test(arguments: ["0", "abc", "0g", "+1", " 1", "1 ", "0x", "\u{660}0", "ab\0"])
  func `what is no pair of digits is no bytes`(text: String) {
    #expect(Hexadecimal.decode(text) == nil)
  }

  /// RFC 4648, 10.
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
    ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
  ])
  func `base64 is that of the standard's examples`(text: String, encoded: String) {
    #expect(Base64.encode(Array(text.utf8)) == encoded)
    #expect(Base64URL.encode(Array(text.utf8)) == encoded.replacing("=", with: ""))
    #expect(Base64URL.decode(encoded.replacing("=", with: "")) == Array(text.utf8))
  }

  @Test func `the URL-safe alphabet differs in two digits`() {
    #expect(Base64.encode([0xfb, 0xff]) == "+/8=")
    #expect(Base64URL.encode([0xfb, 0xff]) == "-_8")
  }

  /// RFC 4231, 4.3, and FIPS 180-4.
  @Test func `hashes and codes are those of the standards' examples`() {
    #expect(
      SHA256.hexadecimal(Array("abc".utf8))
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      Hexadecimal.encode(SHA1.hash(Array("abc".utf8))) == "a9993e364706816aba3e25717850c26c9cd0d89d"
    )
    let authenticator = MessageAuthenticator(key: Array("Jefe".utf8))
    for _ in 0..<2 {
      #expect(
        Hexadecimal.encode(authenticator.code(of: Array("what do ya want for nothing?".utf8)))
          == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }
  }
}
