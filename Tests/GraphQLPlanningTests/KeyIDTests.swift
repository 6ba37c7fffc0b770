import Testing

@testable import GraphQLPlanning

@Suite struct KeyIDTests {
  private static let keys: [[String]] = [
    [""], ["1"], ["", ""], ["a", "b"], ["1", "2020-02-29 12:00:00+00", "\u{20AC}"],
    [String(repeating: "l", count: 300), "", "z"], [String(repeating: "x", count: 20_000), "y"],
  ]

  @Test(arguments: [1, 2, 127, 128, 255, 16_384, 65_535])
  func `an id is read as it was written`(tag: Int) throws {
    for values in Self.keys {
      let text = KeyID.encode(tag, values)
      let id = try #require(KeyID(text))
      #expect(id.tag == tag)
      #expect(id.values(values.count) == values)
      #expect(text.utf8.allSatisfy { $0 != UInt8(ascii: "=") })
    }
  }

  @Test(arguments: [
    // Nothing, no base64url, the tag 0, a tag without an end, one with a group too many, too great.
    "", "A", "!", "AQ==", "\u{E9}", "AA", "gA", "gQA", "gIAE", "_____w",
  ])
  func `a text without a tag is no id`(text: String) { #expect(KeyID(text) == nil) }

  @Test func `an id of another key has no values`() throws {
    func values(_ bytes: [UInt8], _ count: Int) -> [String]? {
      var text: [UInt8] = []
      Base64URL.append(bytes) { text.append($0) }
      return KeyID(String(decoding: text, as: UTF8.self))?.values(count)
    }
    #expect(values([1, 1, 0x61, 0x62], 2) == ["a", "b"])
    #expect(values([1, 3, 0x61, 0x62], 2) == nil, "a length beyond the end")
    #expect(values([1, 0x81, 0, 0x61, 0x62], 2) == nil, "a length with a group too many")
    #expect(values([1, 1], 2) == nil)
    #expect(values([1], 2) == nil)
    #expect(values([1, 0xFF], 1) == nil, "no UTF-8")
    #expect(values([1, 0x61, 0], 1) == nil, "U+0000")
    #expect(values([1], 1) == [""])
  }
}
