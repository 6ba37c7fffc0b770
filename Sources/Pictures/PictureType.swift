/// The accepted types of pictures, detected by their first bytes; the client's content type is
/// ignored.
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

/// The size of a picture according to its header, read without decoding anything.
package struct PictureSize: Sendable, Equatable {
  package let width: Int
  package let height: Int

  package init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// The number of pixels. Neither side exceeds 32 bits.
  package var pixels: Int { width * height }

  /// Reads the size; nil if the header is incomplete or has a 0.
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

/// A client's bytes, read at offsets that may be out of bounds.
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

  /// The size in the first frame header. Each segment has a length. ITU T.81, B.2.2.
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

  /// The size in the first chunk, IHDR.
  var png: PictureSize? {
    guard big(8, 4) == 13, big(12, 4) == 0x4948_4452 else { return nil }
    return Self.size(big(16, 4), big(20, 4))
  }

  /// The size of a lossy frame, a lossless one, or the canvas of several. RFC 9649.
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
}

extension PictureType {
  /// Returns whether the picture is lossless; a client's choice that is kept.
  func isLossless(_ bytes: [UInt8]) -> Bool {
    switch self {
    case .jpeg: false
    case .png, .gif: true
    case .webp: WebPChunks(bytes)?.isLossless ?? false
    }
  }
}
