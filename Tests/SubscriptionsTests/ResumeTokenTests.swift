import Testing

@testable import Subscriptions

@Suite struct ResumeTokenTests {
  @Test(arguments: [
    "100:105:101,103", "100:105:101,103;100:110:103;4711", "100:105:101@0/151FBE8",
    "100:105:;100:110:103;4711@1/0",
  ])
  func `is read as it is written`(_ text: String) throws {
    #expect(try #require(ResumeToken(text)).text == text)
  }

  @Test func `says which part of a batch was received`() throws {
    let token = try #require(ResumeToken("100:105:101;100:110:;-1"))
    #expect(!token.received.contains(101))
    #expect(token.part?.snapshot.contains(101) == true)
    #expect(token.part?.node == -1)
  }

  @Test(arguments: [
    "", ";", ";;", "100:105:;", "100:105:;100:110:", "100:105:;100:110:;", "100:105:;100:110:;x",
    "100:105:;100:110:;1;", "100:105:@1/0@1/1", "@1/0", "100:105:;100:110:;9223372036854775808",
    "100:105:;none;1",
  ])
  func `is nothing else`(_ text: String) { #expect(ResumeToken(text) == nil) }

  @Test(arguments: [
    ("700:747:710,740", 727, "700:727:710"), ("700:747:710,740", 711, "700:711:710"),
    ("700:747:710,740", 705, "700:705:"), ("747:747:", 727, "727:727:"),
    ("700:747:710,740", 747, "700:747:710,740"), ("700:747:710", 900, "700:747:710"),
  ])
  func `of a snapshot nothing is left that numbers say which are given anew`(
    _ text: String, _ firstLost: UInt64, _ left: String
  ) throws {
    let snapshot = try #require(PostgresSnapshot(text)).before(firstLost)
    #expect(snapshot.text == left)
    #expect(PostgresSnapshot(left) == snapshot)
    #expect(!snapshot.contains(firstLost))
  }
}
