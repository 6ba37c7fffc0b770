/// The kinds of pictures that are taken, told by their first bytes: what a client calls them counts
/// for nothing.
package enum PictureType: String, Sendable, CaseIterable {
  case jpeg = "jpg"
  case png
  case webp
  case gif

  package init?(_ bytes: [UInt8]) {
    if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      self = .png
    } else if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) {
      self = .webp
    } else if bytes.starts(with: "GIF87a".utf8) || bytes.starts(with: "GIF89a".utf8) {
      self = .gif
    } else {
      return nil
    }
  }

  package var contentType: String {
    switch self {
    case .jpeg: "image/jpeg"
    case .png: "image/png"
    case .webp: "image/webp"
    case .gif: "image/gif"
    }
  }
}

/// How large a picture says it is, read from its header without decoding anything.
package struct PictureSize: Sendable, Equatable {
  package let width: Int
  package let height: Int

  package init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// Neither is ever more than 32 bits long.
  package var pixels: Int { width * height }

  /// Nil when the header is not whole, or says 0.
  package init?(of bytes: [UInt8], _ type: PictureType) {
    let header = PictureHeader(bytes: bytes)
    let size =
      switch type {
      case .jpeg: header.jpeg
      case .png: header.png
      case .webp: header.webp
      case .gif: header.gif
      }
    guard let size, size.width > 0, size.height > 0, size.width <= UInt32.max >> 1,
      size.height <= UInt32.max >> 1
    else { return nil }
    self = size
  }
}

/// Bytes of a client's, read at places that may not be there.
private struct PictureHeader {
  let bytes: [UInt8]

  private func big(_ place: Int, _ count: Int) -> Int? {
    guard place >= 0, place + count <= bytes.count else { return nil }
    return bytes[place..<place + count].reduce(0) { $0 << 8 | Int($1) }
  }

  private func little(_ place: Int, _ count: Int) -> Int? {
    guard place >= 0, place + count <= bytes.count else { return nil }
    return bytes[place..<place + count].reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  private static func size(_ width: Int?, _ height: Int?) -> PictureSize? {
    guard let width, let height else { return nil }
    return PictureSize(width: width, height: height)
  }

  /// ITU T.81, B.2.2: the first frame header. Each segment says how long it is.
  var jpeg: PictureSize? {
    var place = 2
    while let mark = big(place, 1), mark == 0xFF, let marker = big(place + 1, 1) {
      switch marker {
      case 0xFF: place += 1
      case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
        return Self.size(big(place + 7, 2), big(place + 5, 2))
      case 0xD9, 0xDA: return nil
      case 0x01, 0xD0...0xD8: place += 2
      default:
        guard let length = big(place + 2, 2), length >= 2 else { return nil }
        place += 2 + length
      }
    }
    return nil
  }

  /// The first chunk is IHDR.
  var png: PictureSize? {
    guard big(8, 4) == 13, big(12, 4) == 0x4948_4452 else { return nil }
    return Self.size(big(16, 4), big(20, 4))
  }

  /// RFC 9649: a lossy frame, a lossless one, or the canvas of several.
  var webp: PictureSize? {
    switch big(12, 4) {
    case 0x5650_3820:  // "VP8 "
      guard big(23, 3) == 0x9D012A else { return nil }
      return Self.size(little(26, 2).map { $0 & 0x3FFF }, little(28, 2).map { $0 & 0x3FFF })
    case 0x5650_384C:  // "VP8L"
      guard big(20, 1) == 0x2F, let bits = little(21, 4) else { return nil }
      return Self.size(bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
    case 0x5650_3858:  // "VP8X"
      return Self.size(little(24, 3).map { $0 + 1 }, little(27, 3).map { $0 + 1 })
    default: return nil
    }
  }

  var gif: PictureSize? { Self.size(little(6, 2), little(8, 2)) }

  /// A WebP picture without loss.
  var isLossless: Bool { big(12, 4) == 0x5650_384C }
}

extension PictureType {
  /// Whether its pixels are kept exactly; a client's choice that is left as it is.
  func isLossless(_ bytes: [UInt8]) -> Bool {
    switch self {
    case .jpeg: false
    case .png, .gif: true
    case .webp: PictureHeader(bytes: bytes).isLossless
    }
  }
}
