import Testing

@testable import GraphQLPlanning

@Suite struct NodeIDTests {
  @Test(arguments: [
    1, 255, 256, 257, 65_535, 65_536, 1 << 24, 1 << 31, 1 << 32, 1 << 55, .max - 1, .max,
  ])
  func `an id is read as it was written`(id: Int64) {
    let text = NodeID.encode(id)
    #expect(NodeID.decode(text) == id)
    #expect(text.utf8.allSatisfy { $0 != UInt8(ascii: "=") })
  }

  @Test(arguments: [
    "", "A", "AA", "AAE", "AAAA", "AQF", "AQ=", "AQ==", "A Q", "AQE\n", "__________8",
    "gAAAAAAAAAA",
    "f_________8A", "AAAAAAAAAAAAAAAAAAAAAAE", "é", "AQ\u{0}", "+/8",
  ])
  func `a text that is not exactly an id is none`(text: String) {
    #expect(NodeID.decode(text) == nil)
  }

  @Test func `every text that is read is written the same`() {
    let letters = Array("AB8_-9zQ".utf8)
    for number in 0..<(8 * 8 * 8 * 8) {
      let text = String(
        decoding: (0..<4).map { letters[number >> (3 * $0) & 7] }, as: UTF8.self)
      for length in 2...4 {
        let part = String(text.prefix(length))
        if let id = NodeID.decode(part) { #expect(NodeID.encode(id) == part) }
      }
    }
  }
}
