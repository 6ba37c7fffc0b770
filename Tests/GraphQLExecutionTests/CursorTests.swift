import GraphQLPlanning
import Testing

@testable import GraphQLExecution

@Suite struct CursorTests {
  private let signer = CursorSigner(bytes: Array(0..<16)) ?? CursorSigner()

  private func cursor(_ keys: [[UInt8]?], order: UInt32 = 7) -> String {
    var bytes: [UInt8] = []
    for key in keys {
      let length = key?.count ?? 0xFFFF
      bytes += [UInt8(length >> 8), UInt8(length & 255)] + (key ?? [])
    }
    Cursor.append(signer, to: &bytes, order: order)
    var text: [UInt8] = []
    Base64URL.append(bytes) { text.append($0) }
    return String(decoding: text, as: UTF8.self)
  }

  @Test func `a cursor gives back its keys`() {
    let keys: [[UInt8]?] = [[1, 2, 3], nil, [], Array(repeating: 9, count: 3_000)]
    #expect(Cursor(cursor(keys), order: 7, signer: signer)?.keys == keys)
    #expect(Cursor(cursor([]), order: 7, signer: signer)?.keys == [])
  }

  @Test func `one of another order or another key is none`() {
    let text = cursor([[1, 2, 3]])
    #expect(Cursor(text, order: 8, signer: signer) == nil)
    #expect(Cursor(text, order: 7, signer: CursorSigner()) == nil)
  }

  @Test func `no byte of a cursor can be changed, added or left out`() {
    let text = Array(cursor([[1, 2, 3], nil]).utf8)
    for place in text.indices {
      for other in "AQz9_".utf8 where other != text[place] {
        var changed = text
        changed[place] = other
        #expect(Cursor(String(decoding: changed, as: UTF8.self), order: 7, signer: signer) == nil)
      }
      var shorter = text
      shorter.remove(at: place)
      #expect(Cursor(String(decoding: shorter, as: UTF8.self), order: 7, signer: signer) == nil)
      var longer = text
      longer.insert(UInt8(ascii: "A"), at: place)
      #expect(Cursor(String(decoding: longer, as: UTF8.self), order: 7, signer: signer) == nil)
    }
    for text in ["", "A", "AAAA", "!", String(repeating: "A", count: 300_000)] {
      #expect(Cursor(text, order: 7, signer: signer) == nil)
    }
  }

  /// Test cases 1 and 4 of RFC 4231, section 4.
  @Test(arguments: [
    (Array(repeating: 0x0b, count: 20), Array("Hi There".utf8), "b0344c61d8db38535ca8afceaf0bf12b"),
    (Array(1...25), Array(repeating: 0xcd, count: 50), "82558a389a443c0ea4cc819899f2083a"),
  ])
  func `the signature is HMAC-SHA-256`(key: [UInt8], text: [UInt8], expected: String) throws {
    let bytes = try #require(CursorSigner(bytes: key)).signature(of: text)
    let digits = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
    #expect(digits.joined() == expected)
  }
}
