/// The chunks of a WebP picture. RFC 9649, section 2.3.
struct WebPChunks {
  private struct Chunk {
    let name: String
    /// Its place in the file, with header and padding.
    let range: Range<Int>
  }

  private let bytes: [UInt8]
  private let chunks: [Chunk]

  /// Nil if a chunk is cut short.
  init?(_ bytes: [UInt8]) {
    var chunks: [Chunk] = []
    var place = 12
    while place < bytes.count {
      guard place + 8 <= bytes.count else { return nil }
      let length = bytes[place + 4..<place + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
      let end = place + 8 + length + length % 2
      guard end <= bytes.count else { return nil }
      let name = String(decoding: bytes[place..<place + 4], as: UTF8.self)
      chunks.append(Chunk(name: name, range: place..<end))
      place = end
    }
    self.bytes = bytes
    self.chunks = chunks
  }

  var hasProfile: Bool { chunks.contains { $0.name == "ICCP" } }

  var isLossless: Bool {
    chunks.first { $0.name == "VP8 " || $0.name == "VP8L" }?.name == "VP8L"
  }

  /// The picture without EXIF and XMP, which may tell place and camera. libvips 8.14 keeps EXIF in WebP
  /// whatever it is told, and writes some of its own.
  var withoutMetadata: [UInt8] {
    var result = Array(bytes.prefix(12))
    for chunk in chunks where chunk.name != "EXIF" && chunk.name != "XMP " {
      let start = result.count
      result += bytes[chunk.range]
      // The header says which chunks follow: 0x08 is EXIF, 0x04 is XMP.
      if chunk.name == "VP8X", chunk.range.count > 8 { result[start + 8] &= ~0x0C }
    }
    let length = result.count - 8
    for place in 0..<4 { result[4 + place] = UInt8(truncatingIfNeeded: length >> (8 * place)) }
    return result
  }
}
