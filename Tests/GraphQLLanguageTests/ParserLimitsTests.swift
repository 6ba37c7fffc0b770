import Foundation
import GraphQLLanguage
import Testing

private func code(_ text: String, _ limits: ParserLimits = .default) -> String? {
  do throws(GraphQLError) {
    _ = try Parser.parse(text, limits: limits)
    return nil
  } catch {
    return error.code ?? error.message
  }
}

struct ParserLimitsTests {
  @Test func `bytes`() {
    let fits = "{ a }" + String(repeating: " ", count: 64 * 1024 - 5)
    #expect(code(fits) == nil)
    #expect(code(fits + " ") == "DOCUMENT_TOO_LARGE")
    #expect(code(fits + " ", .unlimited) == nil)
  }

  @Test func `tokens`() {
    let fits = "{" + String(repeating: "a ", count: 1_998) + "}"
    #expect(code(fits) == nil)
    #expect(code("{ a " + fits.dropFirst()) == "TOKEN_LIMIT_EXCEEDED")
    #expect(code("{ a " + fits.dropFirst(), .unlimited) == nil)
    // Comments and commas are no tokens.
    #expect(code("#\n" + fits + ",,,") == nil)
  }

  /// What stands before, what is repeated, what is inside, what closes it, what stands after.
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
    #expect(code(nested(60)) == nil)
    #expect(code(nested(66)) == "NESTING_LIMIT_EXCEEDED")
    #expect(code(nested(190), .unlimited) == nil)
    #expect(code(nested(300_000), .unlimited) == "NESTING_LIMIT_EXCEEDED")
  }

  @Test func `nesting is counted per level`() {
    func nested(_ levels: Int) -> String {
      String(repeating: "{a", count: levels) + String(repeating: "}", count: levels)
    }
    #expect(code(nested(64)) == nil)
    #expect(code(nested(65)) == "NESTING_LIMIT_EXCEEDED")
    #expect(code(nested(200), .unlimited) == nil)
    #expect(code(nested(201), .unlimited) == "NESTING_LIMIT_EXCEEDED")
    let lists = String(repeating: "[", count: 63) + String(repeating: "]", count: 63)
    #expect(code("{a(b:\(lists))}") == nil)
    #expect(code("{a(b:[\(lists)])}") == "NESTING_LIMIT_EXCEEDED")
  }

  @Test func `invalid UTF-8 is refused where it is`() {
    #expect(throws: GraphQLError.self) { try Parser.parse(Source([0x7B, 0x61, 0x80, 0x7D])) }
    #expect(
      throws: GraphQLError(
        "Syntax Error: Invalid UTF-8.", locations: [SourceLocation(line: 2, column: 2)])
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
