import Testing

@testable import Postgres

/// The versions of PostgreSQL that are used.
@Suite struct ServerVersionTests {
  @Test(arguments: [
    (130_004, "13.4"), (149_999, "14.9999"), (90_624, "9.6"),
  ]) func `an earlier PostgreSQL is refused in one sentence`(_ version: Int32, name: String) {
    #expect(
      LibraryConnection.refusal(ofVersion: version)
        == "PostgreSQL 15 or later is needed, and this one is \(name).")
  }

  // A pooler may tell none.
  @Test(arguments: [150_000, 150_018, 180_000, 0])
  func `any later one is used`(_ version: Int32) {
    #expect(LibraryConnection.refusal(ofVersion: version) == nil)
  }
}
