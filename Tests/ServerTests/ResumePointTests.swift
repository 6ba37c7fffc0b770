import Testing

@testable import Server

@Suite struct ResumePointTests {
  @Test(arguments: ["100:105:101,103", "100:105:101,103;100:110:103;4711"])
  func `is read as it is written`(_ text: String) throws {
    #expect(try #require(ResumePoint(text)).text == text)
  }

  @Test func `says what of a look was told`() throws {
    let point = try #require(ResumePoint("100:105:101;100:110:;-1"))
    #expect(!point.told.contains(101))
    #expect(point.part?.look.contains(101) == true)
    #expect(point.part?.node == -1)
  }

  @Test(arguments: [
    "", ";", ";;", "100:105:;", "100:105:;100:110:", "100:105:;100:110:;", "100:105:;100:110:;x",
    "100:105:;100:110:;1;", "100:105:;100:110:;9223372036854775808", "100:105:;none;1",
  ])
  func `is nothing else`(_ text: String) { #expect(ResumePoint(text) == nil) }
}
