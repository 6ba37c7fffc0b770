import GraphQLPlanning
import Testing

@testable import GraphQLExecution

@Suite struct CursorTests {
  private let key = CursorKey(bytes: Array(0..<16)) ?? CursorKey()

  private func cursor(_ keys: [[UInt8]?], order: UInt32 = 7) -> String {
    var bytes: [UInt8] = []
    for key in keys {
      let length = key?.count ?? 0xFFFF
      bytes += [UInt8(length >> 8), UInt8(length & 255)] + (key ?? [])
    }
    Cursor.seal(&bytes, order: order, key: key)
    var text: [UInt8] = []
    Base64URL.append(bytes) { text.append($0) }
    return String(decoding: text, as: UTF8.self)
  }

  @Test func `a cursor gives back its keys`() {
    let keys: [[UInt8]?] = [[1, 2, 3], nil, [], Array(repeating: 9, count: 3_000)]
    #expect(Cursor(cursor(keys), order: 7, key: key)?.keys == keys)
    #expect(Cursor(cursor([]), order: 7, key: key)?.keys == [])
  }

  @Test func `one of another order or another key is none`() {
    let text = cursor([[1, 2, 3]])
    #expect(Cursor(text, order: 8, key: key) == nil)
    #expect(Cursor(text, order: 7, key: CursorKey()) == nil)
  }

  @Test func `no byte of a cursor can be changed, added or left out`() {
    let text = Array(cursor([[1, 2, 3], nil]).utf8)
    for place in text.indices {
      for other in "AQz9_".utf8 where other != text[place] {
        var changed = text
        changed[place] = other
        #expect(Cursor(String(decoding: changed, as: UTF8.self), order: 7, key: key) == nil)
      }
      var shorter = text
      shorter.remove(at: place)
      #expect(Cursor(String(decoding: shorter, as: UTF8.self), order: 7, key: key) == nil)
      var longer = text
      longer.insert(UInt8(ascii: "A"), at: place)
      #expect(Cursor(String(decoding: longer, as: UTF8.self), order: 7, key: key) == nil)
    }
    for text in ["", "A", "AAAA", "!", String(repeating: "A", count: 300_000)] {
      #expect(Cursor(text, order: 7, key: key) == nil)
    }
  }

  /// From the reference implementation's vectors for SipHash-2-4 with 128 bits: key 00, 01, ..., 0f,
  /// text 00, 01, ... of each length.
  @Test(arguments: [
    (
      0,
      [
        0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6, 0x6d, 0xf6, 0x72, 0x14, 0xc7, 0x55, 0x02,
        0x93,
      ]
    ),
    (
      1,
      [
        0xda, 0x87, 0xc1, 0xd8, 0x6b, 0x99, 0xaf, 0x44, 0x34, 0x76, 0x59, 0x11, 0x9b, 0x22, 0xfc,
        0x45,
      ]
    ),
  ])
  func `the seal is SipHash`(length: Int, expected: [UInt8]) {
    let tag = key.tag((0..<length).map { UInt8($0) })
    let bytes = [tag.0, tag.1].flatMap { word in (0..<8).map { UInt8(word >> (8 * $0) & 255) } }
    #expect(bytes == expected)
  }
}
