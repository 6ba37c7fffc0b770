/// Pictures made by hand, byte for byte.
package enum TestPicture {
  /// A PNG of one colour that no other call has, in RGB.
  package static func png(width: Int = 40, height: Int = 30) -> [UInt8] {
    var row: [UInt8] = [0]
    let colour = (0..<3).map { _ in UInt8.random(in: 0...255) }
    for _ in 0..<width { row += colour }
    return png(width: width, height: height, rows: (0..<height).flatMap { _ in row })
  }

  /// A PNG with as much detail as a photograph: slopes, edges, and noise from a seed.
  package static func photograph(width: Int, height: Int, seed: UInt64) -> [UInt8] {
    var random = seed | 1
    var rows: [UInt8] = []
    rows.reserveCapacity(height * (width * 3 + 1))
    for y in 0..<height {
      rows.append(0)
      for x in 0..<width {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let noise = Int(random >> 60)
        // Stripes, and tiles with an edge every 90 pixels.
        let light = x * 90 / width + y * 60 / height + (x / 90 ^ y / 90) % 3 * 25 + x * y % 97 / 8
        for shift in [0, 20, 45] { rows.append(UInt8(clamping: light + shift + noise)) }
      }
    }
    return png(width: width, height: height, rows: rows)
  }

  /// The form of a PNG's pixels (PNG, 11.2.1).
  package struct Form: Sendable {
    package var depth: UInt8 = 8
    /// 0 for grey, 2 for RGB, 3 for a palette, 6 for RGB with transparency.
    package var kind: UInt8 = 2
    package var isInterlaced = false

    package init(depth: UInt8 = 8, kind: UInt8 = 2, isInterlaced: Bool = false) {
      self.depth = depth
      self.kind = kind
      self.isInterlaced = isInterlaced
    }
  }

  /// A PNG of one color.
  ///
  /// - Parameters:
  ///   - pixel: the bytes of a pixel; of one of less than 8 bits, the byte of several.
  ///   - chunks: further chunks, between the header and the pixels.
  package static func png(
    width: Int = 64, height: Int = 48, pixel: [UInt8], _ form: Form = Form(),
    chunks: [UInt8] = []
  ) -> [UInt8] {
    func rows(_ width: Int, _ height: Int) -> [UInt8] {
      guard width > 0, height > 0 else { return [] }
      let count = form.depth < 8 ? (width * Int(form.depth) + 7) / 8 : width
      let row: [UInt8] = [0] + (0..<count).flatMap { _ in pixel }
      return (0..<height).flatMap { _ in row }
    }
    var bytes: [UInt8] = []
    if form.isInterlaced {
      // The seven passes of Adam7: the first column and row, and the steps.
      for (x, y, dx, dy) in [
        (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
        (0, 1, 1, 2),
      ] { bytes += rows((width - x + dx - 1) / dx, (height - y + dy - 1) / dy) }
    } else {
      bytes = rows(width, height)
    }
    return png(width: width, height: height, rows: bytes, form, chunks: chunks)
  }

  private static func png(
    width: Int, height: Int, rows: [UInt8], _ form: Form = Form(), chunks: [UInt8] = []
  ) -> [UInt8] {
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
      + chunk(
        "IHDR",
        big(width) + big(height) + [form.depth, form.kind, 0, 0, form.isInterlaced ? 1 : 0])
      + chunks + chunk("IDAT", zlib(rows)) + chunk("IEND", [])
  }

  /// A chunk of hidden text that is much longer than it looks (RFC 1951, 3.2.6).
  package static func compressedText(count: Int) -> [UInt8] {
    var bits: [UInt8] = []
    // The last block, with fixed codes: a 0, then 258 more again and again, each 13 bits.
    for bit in "110" + "00110000" { bits.append(bit == "1" ? 1 : 0) }
    let again: [UInt8] = [1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0]
    for _ in 0..<count / 258 { bits += again }
    bits += [0, 0, 0, 0, 0, 0, 0]
    var bytes = Array("key\0\0".utf8) + [0x78, 0x01]
    for start in stride(from: 0, to: bits.count, by: 8) {
      bytes.append(
        bits[start..<min(start + 8, bits.count)].reversed().reduce(0) { $0 << 1 | $1 })
    }
    return chunk("zTXt", bytes + big(1))
  }

  /// A chunk of a PNG, with its checksum.
  package static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
    let body = Array(name.utf8) + data
    return big(data.count) + body + big(Int(crc(body)))
  }

  package static func big(_ number: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
  }

  /// Stored without compression (RFC 1950, 1951).
  private static func zlib(_ bytes: [UInt8]) -> [UInt8] {
    var stream: [UInt8] = [0x78, 0x01]
    var rest = bytes[...]
    repeat {
      let block = rest.prefix(65_535)
      rest = rest.dropFirst(block.count)
      let low = UInt8(block.count & 255)
      let high = UInt8(block.count >> 8)
      stream += [rest.isEmpty ? 1 : 0, low, high, ~low, ~high] + block
    } while !rest.isEmpty
    var a: UInt32 = 1
    var b: UInt32 = 0
    for byte in bytes {
      a = (a + UInt32(byte)) % 65_521
      b = (b + a) % 65_521
    }
    return stream + big(Int(b << 16 | a))
  }

  private static func crc(_ bytes: [UInt8]) -> UInt32 {
    var value = UInt32.max
    for byte in bytes {
      value ^= UInt32(byte)
      for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }
    return ~value
  }
}
