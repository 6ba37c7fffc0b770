import GraphQLExecution
import Postgres
import Testing

/// Positions as clients carry them.
@Suite struct PositionTokenTests {
  private static let signer = CursorSigner()

  @Test(arguments: [
    LogPosition(timeline: 0, offset: 0), LogPosition(timeline: 1, offset: 0x16_B374_D848),
    LogPosition(timeline: .max, offset: .max),
  ]) func `a position comes back as it was`(position: LogPosition) {
    let text = PositionToken.text(position, Self.signer)
    #expect(PositionToken.position(text, Self.signer) == position)
    #expect(PositionToken.position(text, CursorSigner()) == nil, "another key")
  }

  @Test func `nothing else is a position`() {
    let text = PositionToken.text(LogPosition(timeline: 1, offset: 9), Self.signer)
    for index in text.indices {
      var other = text
      other.replaceSubrange(index...index, with: text[index] == "A" ? "B" : "A")
      let found = PositionToken.position(other, Self.signer)
      #expect(found == nil, "\(other)")
    }
    for other in [
      "", "A", text + "A", String(text.dropLast()), "é", String(repeating: "A", count: 1_000),
    ] {
      #expect(PositionToken.position(other, Self.signer) == nil, "\(other)")
    }
  }
}
