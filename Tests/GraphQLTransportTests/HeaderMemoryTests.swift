import Testing

@testable import GraphQLTransport

@Suite struct HeaderMemoryTests {
  @Test func `a text is read once, and any number of texts are read right`() {
    let memory = HeaderMemory<Int>()
    var reads = 0
    func meaning(_ text: String) -> Int {
      memory.meaning(of: text) { text in
        reads += 1
        return text.utf8.count
      }
    }
    for _ in 0..<3 { #expect(meaning("application/json") == 16) }
    #expect(reads == 1)
    for number in 0..<1_000 {
      let text = String(repeating: "x", count: number)
      #expect(meaning(text) == number)
      #expect(meaning(text) == number)
    }
    // A long text is not kept, nor are very many.
    #expect(reads > 1_000 && reads < 2_000)
  }
}
