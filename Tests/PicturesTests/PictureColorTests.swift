import Sandbox
import TestSupport
import Testing

@testable import Pictures

/// The colors of pictures, from what was sent to the smallest form.
@Suite(.blocks) struct PictureColorTests {
  private let maker: PictureMaker = {
    var settings = PictureMaker.Settings()
    settings.time = .seconds(600)
    return PictureMaker(settings)
  }()

  private func run(_ arguments: [String], _ input: [UInt8]) throws -> [UInt8] {
    var limits = ChildProgram.Limits()
    limits.time = .seconds(600)
    let program = ChildProgram(
      arguments: [try #require(PictureMaker.installedProgram), "stdin"] + arguments,
      environment: ["PATH=/usr/bin:/bin"], limits: limits)
    guard case .ended(0, let output) = program.run(input) else {
      Issue.record("\(arguments)")
      return []
    }
    return output
  }

  /// The values of the last pixel, without anything done to them.
  private func pixel(_ bytes: [UInt8]) throws -> [Int] {
    let map = try run(["--size", "9000x9000>", "--output", ".ppm"], bytes)
    return map.suffix(map.starts(with: "P5".utf8) ? 1 : 3).map(Int.init)
  }

  private func isClose(_ found: [Int], _ wanted: [Int], by distance: Int) -> Bool {
    // Grey is stored as one value or as three.
    let wanted = found.count == 1 && Set(wanted).count == 1 ? [wanted[0]] : wanted
    return found.count == wanted.count
      && zip(found, wanted).allSatisfy { abs($0 - $1) <= distance }
  }

  /// Expects the color of what is stored, of forms of it, and of what is stored if it is sent again.
  private func expect(
    _ bytes: [UInt8], is color: [Int], by distance: Int = 0, _ what: Comment,
    _ place: SourceLocation = #_sourceLocation
  ) throws {
    let type = try #require(PictureType(bytes))
    let made = try maker.make(bytes)
    let stored = try pixel(made.bytes)
    #expect(isClose(stored, color, by: distance), "\(what): \(stored)", sourceLocation: place)
    for form in PictureForm.all(of: made.size) {
      let small = try pixel(maker.make(form, of: made.bytes, type, size: made.size))
      #expect(
        isClose(small, color, by: distance), "\(what), \(form): \(small)", sourceLocation: place)
    }
    let again = try pixel(maker.make(made.bytes).bytes)
    #expect(isClose(again, color, by: distance), "\(what), again: \(again)", sourceLocation: place)
  }

  @Test(arguments: [[20, 20, 200], [255, 255, 255], [0, 0, 0], [250, 128, 3]])
  func `a picture without a profile keeps its values, whatever its type`(_ color: [Int]) throws {
    let pixel = color.map { UInt8($0) }
    let plain = TestPicture.png(width: 200, height: 170, pixel: pixel)
    try expect(plain, is: color, "PNG")
    try expect(
      TestPicture.png(width: 200, height: 170, pixel: pixel, .init(isInterlaced: true)),
      is: color, "interlaced PNG")
    try expect(
      TestPicture.png(
        width: 200, height: 170, pixel: pixel.flatMap { [$0, $0] }, .init(depth: 16)),
      is: color, "16-bit PNG")
    try expect(
      TestPicture.png(width: 200, height: 170, pixel: pixel + [255], .init(kind: 6)),
      is: color, "PNG with transparency")
    try expect(
      TestPicture.png(
        width: 200, height: 170, pixel: [0], .init(depth: 8, kind: 3),
        chunks: TestPicture.chunk("PLTE", pixel)), is: color, "PNG with a palette")
    for (type, option, distance) in [
      (PictureType.jpeg, "strip,Q=95", 3), (.webp, "strip,lossless", 3), (.webp, "strip", 6),
      (.gif, "strip", 0),
    ] {
      let other = try run(
        ["--size", "200x170", "--output", ".\(type.rawValue)[\(option)]"], plain)
      try expect(other, is: color, by: distance, "\(type) of \(option)")
    }
  }

  @Test func `grey stays grey, of 1, 8 and 16 bits`() throws {
    for depth in [UInt8(1), 8, 16] {
      let white = TestPicture.png(
        pixel: depth == 16 ? [255, 255] : [255], .init(depth: depth, kind: 0))
      try expect(white, is: [255, 255, 255], "white of \(depth) bits")
    }
    for isInterlaced in [false, true] {
      try expect(
        TestPicture.png(pixel: [77], .init(kind: 0, isInterlaced: isInterlaced)),
        is: [77, 77, 77], "grey")
      try expect(
        TestPicture.png(
          pixel: [77, 77], .init(depth: 16, kind: 0, isInterlaced: isInterlaced)),
        is: [77, 77, 77], by: 1, "grey of 16 bits")
    }
    let grey = try run(
      ["--size", "64x48", "--output", ".jpg[strip]"],
      TestPicture.png(pixel: [77], .init(kind: 0)))
    try expect(grey, is: [77, 77, 77], by: 1, "grey JPEG")
  }

  @Test(arguments: [PictureType.jpeg, .png, .webp])
  func `the values of another profile become those of sRGB`(_ type: PictureType) throws {
    let plain = TestPicture.png(width: 200, height: 170, pixel: [20, 20, 200])
    let wide = try run(
      [
        "--size", "200x170", "--import-profile", "srgb", "--export-profile", "p3", "--output",
        ".\(type.rawValue)",
      ], plain)
    // The values of the same blue in Display P3.
    #expect(isClose(try pixel(wide), [21, 20, 193], by: 3))
    try expect(wide, is: [20, 20, 200], by: 5, "Display P3")
  }

  @Test func `CMYK becomes the color that it prints`() throws {
    let ink = try run(
      [
        "--size", "64x48", "--import-profile", "srgb", "--export-profile", "cmyk", "--output",
        ".jpg",
      ], TestPicture.png(pixel: [120, 110, 100]))
    try expect(ink, is: [118, 109, 99], by: 4, "CMYK with a profile")
    let bare = try run(
      [
        "--size", "64x48", "--import-profile", "srgb", "--export-profile", "cmyk", "--output",
        ".jpg[strip]",
      ], TestPicture.png(pixel: [120, 110, 100]))
    try expect(bare, is: [118, 109, 99], by: 4, "CMYK without a profile")
  }

  @Test func `a profile that is none, or is for other pictures, changes nothing`() throws {
    let wide = try run(
      [
        "--size", "64x48", "--import-profile", "srgb", "--export-profile", "p3", "--output",
        ".png",
      ], TestPicture.png(pixel: [20, 20, 200]))
    let name = try #require(wide.firstRange(of: Array("iCCP".utf8))).lowerBound
    let length = wide[name - 4..<name].reduce(0) { $0 << 8 | Int($1) }
    let profile = Array(wide[name - 4..<name + 8 + length])
    try expect(
      TestPicture.png(pixel: [77], .init(kind: 0), chunks: profile), is: [77, 77, 77],
      "grey with a profile of RGB")
    try expect(
      TestPicture.png(
        pixel: [20, 20, 200],
        chunks: TestPicture.chunk("iCCP", Array("x\0\0".utf8) + [1, 2, 3])),
      is: [20, 20, 200], "PNG with a profile that is none")
    let jpeg = try run(
      ["--size", "64x48", "--output", ".jpg[strip]"], TestPicture.png(pixel: [20, 20, 200]))
    let segment = Array("ICC_PROFILE\0".utf8) + [1, 2] + [UInt8](repeating: 7, count: 84)
    try expect(
      Array(jpeg.prefix(2)) + [0xFF, 0xE2, 0, 100] + segment + jpeg.dropFirst(2),
      is: [20, 20, 200], by: 3, "JPEG with half of a profile")
  }
}
