import Foundation
import GraphQLLanguage
import Testing

private func cause(
  _ text: String, _ limits: ParserLimits = .default
) -> SyntaxError.Cause? {
  do throws(SyntaxError) {
    _ = try Parser.parse(text, limits: limits)
    return nil
  } catch {
    return error.cause
  }
}

struct ParserLimitsTests {
  @Test func `bytes`() {
    let fits = "{ a }" + String(repeating: " ", count: 64 * 1024 - 5)
    #expect(cause(fits) == nil)
    #expect(cause(fits + " ") == .tooManyBytes)
    #expect(cause(fits + " ", .unlimited) == nil)
  }

  @Test func `tokens`() {
    let fits = "{" + String(repeating: "a ", count: 1_998) + "}"
    #expect(cause(fits) == nil)
    #expect(cause("{ a " + fits.dropFirst()) == .tooManyTokens)
    #expect(cause("{ a " + fits.dropFirst(), .unlimited) == nil)
    // Comments and commas are no tokens.
    #expect(cause("#\n" + fits + ",,,") == nil)
  }

  /// Arguments: the text before, the repeated text, the text inside, the closing text, the text
  /// after.
  @Test(arguments: [
    ["", "{a", "", "}", ""], ["", "{...", "{a}", "}", ""], ["", "{...on A", "{a}", "}", ""],
    ["{a(b:", "[", "", "]", ")}"], ["{a(b:", "{c:", "1", "}", ")}"],
    ["query($a:", "[", "A", "]", "){a}"], ["query($a:A=", "[", "", "]", "){a}"],
    ["type A{b:", "[", "A", "]", "}"], ["type A @b(c:", "{d:", "1", "}", ")"],
  ])
  func `however deep, it is an answer and not a crash`(_ parts: [String]) {
    func nested(_ levels: Int) -> String {
      parts[0] + String(repeating: parts[1], count: levels) + parts[2]
        + String(repeating: parts[3], count: levels) + parts[4]
    }
    #expect(cause(nested(60)) == nil)
    #expect(cause(nested(66)) == .nestedTooDeep)
    #expect(cause(nested(190), .unlimited) == nil)
    #expect(cause(nested(300_000), .unlimited) == .nestedTooDeep)
  }

  @Test func `nesting is counted per level`() {
    func nested(_ levels: Int) -> String {
      String(repeating: "{a", count: levels) + String(repeating: "}", count: levels)
    }
    #expect(cause(nested(64)) == nil)
    #expect(cause(nested(65)) == .nestedTooDeep)
    #expect(cause(nested(200), .unlimited) == nil)
    #expect(cause(nested(201), .unlimited) == .nestedTooDeep)
    let lists = String(repeating: "[", count: 63) + String(repeating: "]", count: 63)
    #expect(cause("{a(b:\(lists))}") == nil)
    #expect(cause("{a(b:[\(lists)])}") == .nestedTooDeep)
  }

  @Test func `invalid UTF-8 is refused where it is`() {
    #expect(throws: SyntaxError.self) { try Parser.parse(Source([0x7B, 0x61, 0x80, 0x7D])) }
    #expect(
      throws: SyntaxError(
        "Syntax Error: Invalid UTF-8.", at: SourceLocation(line: 2, column: 2))
    ) {
      try Parser.parse(Source(Array("{ a\n#".utf8) + [0xC3, 0x28] + Array("\n}".utf8)))
    }
  }
}

struct StackTests {
  @Test(arguments: [
    ["", "{a", "", "}", ""], ["", "{...", "{a}", "}", ""], ["{a(b:", "[", "", "]", ")}"],
    ["{a(b:", "{c:", "1", "}", ")}"], ["query($a:", "[", "A", "]", "){a}"],
  ])
  func `the deepest tree is read, printed and freed on a thread like those of Dispatch`(
    _ parts: [String]
  ) async {
    let text =
      parts[0] + String(repeating: parts[1], count: 198) + parts[2]
      + String(repeating: parts[3], count: 198) + parts[4]
    let length = await withCheckedContinuation { continuation in
      let thread = Thread {
        let document = try? Parser.parse(text, limits: .unlimited)
        continuation.resume(returning: document.map { Printer.print($0).utf8.count })
      }
      thread.stackSize = 512 * 1024
      thread.start()
    }
    #expect((length ?? 0) > text.utf8.count)
  }
}
