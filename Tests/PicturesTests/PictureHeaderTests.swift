import TestSupport
import Testing

@testable import Pictures

/// Sizes are read from untrusted bytes.
@Suite(.blocks) struct PictureHeaderTests {
  @Test func `a JPEG's size stands behind any number of segments`() {
    let start: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xFF, 0xFF, 0xC4, 0, 3, 9]
    let frame: [UInt8] = [0xFF, 0xC2, 0, 17, 8, 0x12, 0x34, 0x01, 0x02, 3]
    #expect(PictureSize(of: start + frame, .jpeg) == PictureSize(width: 0x0102, height: 0x1234))
    for end in 0..<start.count + 9 {
      #expect(PictureSize(of: Array((start + frame)[..<end]), .jpeg) == nil)
    }
    // A segment that is shorter than its length, one that ends the header, a place without a mark.
    #expect(PictureSize(of: [0xFF, 0xD8, 0xFF, 0xE0, 0, 1] + frame, .jpeg) == nil)
    #expect(PictureSize(of: [0xFF, 0xD8, 0xFF, 0xDA, 0, 2] + frame, .jpeg) == nil)
    #expect(PictureSize(of: [0xFF, 0xD8, 0x00, 0xE0, 0, 2] + frame, .jpeg) == nil)
  }

  @Test func `no bytes are too many, too few or too odd to be looked at`() {
    var generator = SystemRandomNumberGenerator()
    let marks: [[UInt8]] = [
      [0xFF, 0xD8, 0xFF], Array(TestPicture.png().prefix(16)),
      Array("RIFF\0\0\0\0WEBPVP8 ".utf8), Array("RIFF\0\0\0\0WEBPVP8L".utf8),
      Array("RIFF\0\0\0\0WEBPVP8X".utf8), Array("GIF89a".utf8),
    ]
    for mark in marks {
      for _ in 0..<2_000 {
        let rest = (0..<Int.random(in: 0...40)).map { _ in
          UInt8.random(in: 0...255, using: &generator)
        }
        let bytes = mark + rest
        guard let type = PictureType(bytes), let size = PictureSize(of: bytes, type) else {
          continue
        }
        #expect(size.width > 0 && size.height > 0 && size.pixels > 0)
      }
    }
  }

  @Test func `names are what was given out, and nothing else`() {
    let name = PictureName(of: [1, 2, 3], .webp)
    #expect(
      "\(name)" == "039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81.webp")
    #expect(PictureName("\(name)") == name)
    for text in [
      "", ".", "../x", "\(name.hash)", "\(name.hash).", "\(name.hash).exe", "\(name.hash).webp ",
      "\(name.hash.uppercased()).webp", "\(name.hash)0.webp", "\(name.hash.dropLast()).webp",
      "\(name.hash.dropLast())/.webp", "\(name.hash).webp\0",
    ] {
      #expect(PictureName(text) == nil, "\(text)")
    }
  }
}
