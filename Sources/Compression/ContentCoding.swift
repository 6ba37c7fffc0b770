// Contents compressed by gzip, brotli or zstd. This is the one module that calls zlib, libbrotli and
// libzstd, by the C target `CCompression`.

/// A content coding of HTTP (RFC 9110, 8.4.1), in the order in which the server prefers them: for
/// the same answer, zstd takes less than half the time of gzip, and brotli two thirds.
package enum ContentCoding: String, Sendable, CaseIterable {
  case zstd
  case brotli = "br"
  case gzip

  /// Returns the coding for a client, by its `Accept-Encoding` (RFC 9110, 12.5.3); nil if it
  /// prefers none, or names none that is known. A wildcard names none.
  package static func preferred(by acceptEncoding: String) -> ContentCoding? {
    var best: ContentCoding?
    var quality = 0
    var identity = 0
    for entry in acceptEncoding.split(separator: ",") {
      let parts = entry.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
      guard let name = parts.first?.lowercased() else { continue }
      let own = Self.quality(parts.dropFirst())
      if name == "identity" { identity = own }
      guard let coding = ContentCoding(rawValue: name == "x-gzip" ? "gzip" : name), own > 0 else {
        continue
      }
      if own > quality || (own == quality && coding.rank < best?.rank ?? .max) {
        best = coding
        quality = own
      }
    }
    return quality >= identity ? best : nil
  }

  private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

  /// Returns the quality in thousandths; 0 for one that is malformed.
  private static func quality(_ parameters: ArraySlice<String>) -> Int {
    guard let text = parameters.first(where: { $0.lowercased().hasPrefix("q=") })?.dropFirst(2)
    else { return 1000 }
    let digits = text.utf8.map { Int($0) - 0x30 }
    guard let whole = digits.first, whole == 0 || whole == 1, text.utf8.count <= 5 else { return 0 }
    guard digits.count > 1 else { return whole * 1000 }
    var value = whole * 1000
    var unit = 100
    guard text.dropFirst().first == "." else { return 0 }
    for digit in digits.dropFirst(2) {
      guard (0...9).contains(digit) else { return 0 }
      value += digit * unit
      unit /= 10
    }
    return value <= 1000 ? value : 0
  }
}
