import Testing

@testable import Compression

struct ContentCodingTests {
  struct Case: Sendable {
    let acceptEncoding: String
    let coding: ContentCoding?

    init(_ acceptEncoding: String, _ coding: ContentCoding?) {
      self.acceptEncoding = acceptEncoding
      self.coding = coding
    }
  }

  static let cases = [
    // Chromium's, Firefox', Safari's, curl's and Node's.
    Case("gzip, deflate, br, zstd", .zstd), Case("gzip, deflate, br", .brotli),
    Case("gzip, deflate", .gzip), Case("deflate, gzip, br, zstd", .zstd), Case("br", .brotli),
    Case("x-gzip", .gzip), Case("GZIP", .gzip),
    // The better quality wins.
    Case("gzip;q=1.0, zstd;q=0.5", .gzip), Case("gzip; q=0.5 , br ;Q=0.6", .brotli),
    Case("gzip;q=0.123, br;q=0.124", .brotli), Case("zstd;q=0, gzip", .gzip),
    Case("gzip;q=0", nil), Case("gzip;q=0.000", nil),
    // So does a preference for none.
    Case("identity, gzip;q=0.5", nil), Case("identity;q=0.5, gzip", .gzip),
    Case("identity, gzip", .gzip), Case("identity;q=0, *;q=0", nil),
    // A wildcard names none, and what is not known is not taken.
    Case("*", nil), Case("deflate", nil), Case("compress, dcb", nil), Case("", nil),
    // What is malformed is not taken.
    Case("gzip;q=2", nil), Case("gzip;q=1.001", nil), Case("gzip;q=0.1234", nil),
    Case("gzip;q=-1", nil), Case("gzip;q=", nil), Case("gzip;q=0x1", nil), Case(";;,,;q=1", nil),
    Case("gzip;q=٠", nil), Case("gzip;q=1.0;level=9", .gzip),
  ]

  @Test(arguments: cases) func `the header selects the coding`(_ asked: Case) {
    #expect(ContentCoding.preferred(by: asked.acceptEncoding) == asked.coding)
  }

  @Test func `a header of any size is read once`() {
    let long = String(repeating: "gzip;q=0.1,", count: 10_000) + "br"
    #expect(ContentCoding.preferred(by: long) == .brotli)
  }
}
