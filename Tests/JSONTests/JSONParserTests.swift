import JSON
import Testing

private func parse(_ text: String, maximumNesting: Int = 64) throws(JSONError) -> JSONValue {
  try JSONParser.parse(Array(text.utf8), maximumNesting: maximumNesting)
}

private func expectError(
  _ text: String, _ reason: JSONError.Reason, at offset: Int,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  expectError(Array(text.utf8), reason, at: offset, sourceLocation: sourceLocation)
}

private func expectError(
  _ bytes: [UInt8], _ reason: JSONError.Reason, at offset: Int,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  #expect(throws: JSONError(reason, offset: offset), sourceLocation: sourceLocation) {
    try JSONParser.parse(bytes)
  }
}

struct JSONParserTests {
  @Test func `every kind of value`() throws {
    let value = try parse(
      " { \"a\" : [ 1 , -2.5e+10, 0, true,false,null ], \"b\":{}, \"c\":[] , \"d\":\"\" } \n")
    #expect(
      value
        == .object([
          .init(
            name: "a",
            value: .array([
              .number("1"), .number("-2.5e+10"), .number("0"), .boolean(true), .boolean(false),
              .null,
            ])),
          .init(name: "b", value: .object([])),
          .init(name: "c", value: .array([])),
          .init(name: "d", value: .string("")),
        ]))
  }

  @Test func `strings and their escapes`() throws {
    #expect(
      try parse(#""a\"\\\/\b\f\n\r\tA\u00e9\uD83D\ude00é😀\u007F""#)
        == .string("a\"\\/\u{8}\u{C}\n\r\tAé😀é😀\u{7F}"))
    #expect(try parse("\"\\u0000\"") == .string("\0"))
  }

  @Test func `a repeated name keeps its last value at its first place`() throws {
    #expect(
      try parse(#"{"a":1,"b":2,"a":3}"#)
        == .object([.init(name: "a", value: .number("3")), .init(name: "b", value: .number("2"))]))
  }

  @Test func `many names, some repeated, cost no more than their size`() throws {
    let pairs = (0..<20_000).map { #""n\#($0 % 15_000)":\#($0)"# }.joined(separator: ",")
    guard case .object(let members) = try parse("{\(pairs)}") else {
      Issue.record("no object")
      return
    }
    #expect(members.count == 15_000)
    #expect(members[0] == .init(name: "n0", value: .number("15000")))
    #expect(members[14_999] == .init(name: "n14999", value: .number("14999")))
  }

  @Test func `names that only look alike are different`() throws {
    guard case .object(let members) = try parse("{\"\u{E9}\":1,\"e\u{301}\":2}") else {
      Issue.record("no object")
      return
    }
    #expect(members.count == 2)
  }

  @Test func `what is not JSON is refused where it goes wrong`() {
    expectError("", .unexpectedEnd, at: 0)
    expectError("  ", .unexpectedEnd, at: 2)
    expectError("[1,]", .unexpectedByte(UInt8(ascii: "]")), at: 3)
    expectError("[1", .unexpectedEnd, at: 2)
    expectError("{\"a\":1,}", .unexpectedByte(UInt8(ascii: "}")), at: 7)
    expectError("{a:1}", .unexpectedByte(UInt8(ascii: "a")), at: 1)
    expectError("{\"a\" 1}", .unexpectedByte(UInt8(ascii: "1")), at: 5)
    expectError("1 2", .unexpectedByte(UInt8(ascii: "2")), at: 2)
    expectError("nul", .unexpectedEnd, at: 3)
    expectError("True", .unexpectedByte(UInt8(ascii: "T")), at: 0)
    expectError("'a'", .unexpectedByte(UInt8(ascii: "'")), at: 0)
    expectError("NaN", .unexpectedByte(UInt8(ascii: "N")), at: 0)
    expectError("\u{FEFF}1", .unexpectedByte(0xEF), at: 0)
    expectError("[1]\0", .unexpectedByte(0), at: 3)
    expectError("// comment", .unexpectedByte(UInt8(ascii: "/")), at: 0)
  }

  @Test(arguments: ["01", "-", "+1", ".5", "1.", "1e", "1e+", "0x1", "1_0", "-a", "--1", "1.e1"])
  func `what is no number is refused`(_ text: String) {
    #expect(throws: JSONError.self) { try parse(text) }
    #expect(throws: JSONError.self) { try parse("[\(text)]") }
  }

  @Test func `strings that lie are refused`() {
    expectError("\"a", .unexpectedEnd, at: 2)
    expectError("\"a\nb\"", .controlCharacter, at: 2)
    expectError("\"\\n\nb\"", .controlCharacter, at: 3)
    expectError("\"\\x\"", .invalidEscape, at: 1)
    expectError("\"\\u12G4\"", .invalidEscape, at: 1)
    expectError("\"\\", .unexpectedEnd, at: 2)
    expectError("\"\\ud800\"", .loneSurrogate, at: 1)
    expectError("\"\\ud800\\u0041\"", .loneSurrogate, at: 1)
    expectError("\"\\udc00\"", .loneSurrogate, at: 1)
    expectError("\"\\ude00\\ud83d\"", .loneSurrogate, at: 1)
  }

  @Test(
    arguments: [
      [0x22, 0xFF, 0x22], [0x22, 0xC0, 0xAF, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
      [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], [0x22, 0xE2, 0x82, 0x22], [0x22, 0x80, 0x22],
    ] as [[UInt8]])
  func `bytes that are not UTF-8 are refused`(_ bytes: [UInt8]) {
    expectError(bytes, .invalidUTF8, at: 1)
  }

  @Test func `nesting is limited`() throws {
    let deep = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
    _ = try parse(deep)
    expectError("[\(deep)]", .nestedDeeperThan(64), at: 64)
    #expect(throws: JSONError(.nestedDeeperThan(2), offset: 10)) {
      try parse(#"{"a":{"b":{}}}"#, maximumNesting: 2)
    }
    // Whatever the caller allows, the stack holds.
    let endless = String(repeating: "[", count: 1_000_000)
    #expect(throws: JSONError(.nestedDeeperThan(512), offset: 512)) {
      try parse(endless, maximumNesting: .max)
    }
  }
}
