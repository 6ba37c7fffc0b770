/// A client's picture before it is decoded: the bytes for the decoder, and whether a profile may say
/// what its numbers mean as colors.
///
/// Refuses what the decoder would take too long for, and what it would silently make less of.
struct PictureContents {
  /// A progressive JPEG in the order of libjpeg has 10 scans. Each further one costs the decoder a
  /// pass over the picture, for as little as 20 bytes.
  static let maximumScans = 100

  let bytes: [UInt8]
  /// Whether the picture seems to have an ICC profile. The decoder may find that it is none.
  let mayHaveProfile: Bool

  init(_ bytes: [UInt8], _ type: PictureType) throws(PictureRefusal) {
    switch type {
    case .jpeg:
      mayHaveProfile = try Self.jpegHasProfile(bytes)
      self.bytes = bytes
    case .png: (self.bytes, mayHaveProfile) = try Self.png(bytes)
    case .webp:
      mayHaveProfile = WebPChunks(bytes)?.hasProfile ?? false
      self.bytes = bytes
    case .gif:
      mayHaveProfile = false
      self.bytes = bytes
    }
  }

  /// Looks at all markers, as a decoder does: bytes between segments are passed over. ITU T.81, B.1.1.
  private static func jpegHasProfile(_ bytes: [UInt8]) throws(PictureRefusal) -> Bool {
    var place = 2
    var scans = 0
    var hasProfile = false
    while place < bytes.count, let mark = bytes[place...].firstIndex(of: 0xFF),
      mark + 1 < bytes.count
    {
      place = mark + 1
      switch bytes[place] {
      case 0xFF: break
      case 0x00, 0x01, 0xD0...0xD8: place += 1
      case 0xD9: return hasProfile
      case let marker:
        guard place + 2 < bytes.count else { return hasProfile }
        let length = Int(bytes[place + 1]) << 8 | Int(bytes[place + 2])
        if marker == 0xDA {
          scans += 1
          guard scans <= maximumScans else {
            throw .unreadable(reason: "more than \(maximumScans) scans")
          }
        }
        if marker == 0xE2, bytes[(place + 3)...].starts(with: "ICC_PROFILE\0".utf8) {
          hasProfile = true
        }
        place += 1 + length
      }
    }
    return hasProfile
  }

  /// The chunks that change pixels: the critical ones, transparency, colors and orientation. Others,
  /// such as compressed text, only cost the decoder time. PNG 3rd edition, 4.7 and 11.3.
  private static func png(_ bytes: [UInt8]) throws(PictureRefusal) -> ([UInt8], Bool) {
    var result = Array(bytes.prefix(8))
    result.reserveCapacity(bytes.count)
    var names: Set<String> = []
    var place = 8
    while place + 8 <= bytes.count {
      let length = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      let name = String(decoding: bytes[place + 4..<place + 8], as: UTF8.self)
      let end = place + 12 + length
      guard end <= bytes.count else { break }
      let isFirst = names.insert(name).inserted
      switch name {
      case "acTL" where !names.contains("IDAT"): throw .animated
      case "IHDR", "PLTE", "IDAT", "IEND": result += bytes[place..<end]
      case "tRNS", "iCCP", "eXIf": if isFirst { result += bytes[place..<end] }
      default: break
      }
      place = end
      if name == "IEND" { return (result, names.contains("iCCP")) }
    }
    // Cut short; the decoder says so.
    return (result + bytes[min(place, bytes.count)...], names.contains("iCCP"))
  }
}
