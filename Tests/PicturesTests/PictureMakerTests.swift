import Foundation
import Sandbox
import TestSupport
import Testing

@testable import Pictures

/// The processing of untrusted pictures, with the installed decoder and with substitutes.
@Suite(.blocks) struct PictureMakerTests {
  private func maker(_ change: (inout PictureMaker.Settings) -> Void = { _ in }) -> PictureMaker {
    var settings = PictureMaker.Settings()
    settings.time = .seconds(600)
    change(&settings)
    return PictureMaker(settings)
  }

  private func refusal(
    of bytes: [UInt8], by maker: PictureMaker
  ) -> PictureRefusal? {
    do throws(PictureRefusal) {
      _ = try maker.make(bytes)
      return nil
    } catch {
      return error
    }
  }

  /// A real picture of a type, by way of the library.
  private func picture(
    _ type: PictureType, _ option: String = "strip", width: Int = 64, height: Int = 48,
    of source: [UInt8]? = nil, arguments: [String] = []
  ) throws -> [UInt8] {
    var limits = ChildProgram.Limits()
    limits.time = .seconds(600)
    let program = ChildProgram(
      arguments: [
        try #require(PictureMaker.installedProgram), "stdin", "--size", "\(width)x\(height)",
      ] + arguments + ["--output", ".\(type.rawValue)[\(option)]"],
      environment: ["PATH=/usr/bin:/bin"], limits: limits)
    let source = source ?? TestPicture.png(width: width, height: height)
    guard case .ended(0, let output) = program.run(source)
    else { throw CocoaError(.fileReadUnknown) }
    return output
  }

  @Test(arguments: PictureType.allCases) func `a picture stays of its type and size`(
    _ type: PictureType
  ) throws {
    let bytes = try picture(type)
    #expect(PictureType(bytes) == type)
    #expect(PictureSize(of: bytes, type) == PictureSize(width: 64, height: 48))
    let made = try maker().make(bytes)
    #expect(made.size == PictureSize(width: 64, height: 48))
    #expect(made.name == PictureName(of: made.bytes, type))
    // The same bytes are the same picture.
    #expect(try maker().make(bytes).name == made.name)
  }

  @Test func `the forms of a picture are narrower than it, and its squares no wider than 640`() {
    func forms(_ width: Int, _ height: Int) -> String {
      PictureForm.all(of: PictureSize(width: width, height: height)).map(\.description)
        .joined(separator: " ")
    }
    #expect(forms(500, 400) == "w160 w320 s160 s320 s400")
    #expect(forms(4000, 3000) == "w160 w320 w640 w1280 s160 s320 s640")
    #expect(forms(640, 640) == "w160 w320 s160 s320")
    #expect(forms(640, 641) == "w160 w320 s160 s320 s640")
    #expect(forms(2000, 100) == "w160 w320 w640 w1280 s100")
    #expect(forms(100, 100) == "")
    #expect(forms(1, 2) == "s1")
  }

  @Test(arguments: PictureType.allCases) func `each form has the size that it is to have`(
    _ type: PictureType
  ) throws {
    let made = try maker().make(picture(type, width: 501, height: 333))
    #expect(made.size == PictureSize(width: 501, height: 333))
    let forms = PictureForm.all(of: made.size)
    #expect(forms.map { $0.size(of: made.size).height } == [106, 213, 160, 320, 333])
    for form in forms {
      let bytes = try maker().make(form, of: made.bytes, type, size: made.size)
      #expect(PictureType(bytes) == type)
      #expect(PictureSize(of: bytes, type) == form.size(of: made.size), "\(form)")
      #expect(!String(decoding: bytes, as: Unicode.ASCII.self).contains("Exif"))
    }
  }

  @Test func `nine squares of photographs, a screen's grid, are less than 200 kB`() throws {
    let source = TestPicture.photograph(width: 640, height: 480, seed: 1)
    let photograph = try picture(.jpeg, width: 640, height: 480, of: source)
    // A picture of one colour has 3 kB.
    #expect(photograph.count > 30_000)
    let made = try maker().make(photograph)
    let square = PictureForm(.square, width: 320)
    #expect(PictureForm.all(of: made.size).contains(square))
    let bytes = try maker().make(square, of: made.bytes, .jpeg, size: made.size)
    #expect(bytes.count > 3_000 && 9 * bytes.count < 200_000)
  }

  @Test func `the name of a form is that of its picture, and what is no form has none`() throws {
    let picture = PictureName(of: [1, 2, 3], .jpeg)
    for form in [PictureForm(.whole, width: 320), PictureForm(.square, width: 5)] {
      let name = picture.form(form)
      #expect("\(name)" == "\(picture.hash)-\(form).jpg")
      #expect(PictureName("\(name)") == name)
      #expect(name.whole == picture)
    }
    #expect(PictureName("\(picture)") == picture)
    for end in [
      "-.jpg", "-w.jpg", "-w0.jpg", "-w01.jpg", "-w12345.jpg", "-x1.jpg", "-w1", "w1.jpg",
      "-w-1.jpg",
      "-w1.jpg.jpg", "-w١.jpg", "--w1.jpg", "",
    ] {
      #expect(PictureName(picture.hash + end) == nil, "\(end)")
    }
  }

  /// EXIF of one value, a place, in an APP1 segment behind the mark.
  private func tagged(_ jpeg: [UInt8], orientation: UInt8, _ words: String) -> [UInt8] {
    var exif = Array("Exif\0\0MM\0*\0\0\0\u{8}".utf8)
    exif += [0, 3]
    // Make, text at 68.
    let text = Array(words.utf8) + [0]
    exif += [0x01, 0x0F, 0, 2] + TestPicture.big(text.count) + TestPicture.big(68)
    // Orientation, a short.
    exif += [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0]
    // The GPS directory, at 50: its reference of latitude.
    exif += [0x88, 0x25, 0, 4, 0, 0, 0, 1] + TestPicture.big(50)
    exif += TestPicture.big(0)
    exif += [0, 1, 0, 1, 0, 2, 0, 0, 0, 2] + [0x4E, 0, 0, 0] + TestPicture.big(0)
    exif += text
    let length = exif.count + 2
    return Array(jpeg[..<2]) + [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + exif
      + jpeg[2...]
  }

  @Test func `place and camera are gone, and a picture that lay on its side stands up`() throws {
    let bytes = tagged(try picture(.jpeg), orientation: 6, "Camera 4711 of Ada")
    #expect(String(decoding: bytes, as: UTF8.self).contains("Camera 4711"))
    let made = try maker().make(bytes)
    let text = String(decoding: made.bytes, as: Unicode.ASCII.self)
    #expect(!text.contains("Camera 4711"))
    #expect(!text.contains("Exif"))
    #expect(made.size == PictureSize(width: 48, height: 64))
  }

  /// The picture in the extended format, with EXIF and XMP that contain these words.
  private func tagged(webp: [UInt8], _ words: String) -> [UInt8] {
    func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
      Array(name.utf8) + TestPicture.big(data.count).reversed() + data
        + (data.count % 2 == 0 ? [] : [0])
    }
    let exif = Array("Exif\0\0II*\0\u{8}\0\0\0\0\0\0\0\0\0".utf8) + words.utf8
    var place = 12
    var image: [UInt8] = []
    while place + 8 <= webp.count {
      let length = webp[place + 4..<place + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
      let end = min(place + 8 + length + length % 2, webp.count)
      if webp[place..<place + 3].elementsEqual("VP8".utf8), webp[place + 3] != UInt8(ascii: "X") {
        image += webp[place..<end]
      }
      place = end
    }
    let header: [UInt8] = [0x0C, 0, 0, 0, 63, 0, 0, 47, 0, 0]
    let body =
      Array("WEBP".utf8) + chunk("VP8X", header) + image + chunk("EXIF", exif)
      + chunk("XMP ", Array("<x>\(words)</x>".utf8))
    return Array("RIFF".utf8) + TestPicture.big(body.count).reversed() + body
  }

  @Test(arguments: [false, true])
  func `place and camera are gone from WebP, which stays lossless if it was`(
    isLossless: Bool
  ) throws {
    var plain = try picture(.webp)
    if isLossless { plain = try maker().make(try picture(.webp, "lossless")).bytes }
    let bytes = tagged(webp: plain, "Camera 4711 of Ada")
    #expect(String(decoding: bytes, as: Unicode.ASCII.self).contains("Camera 4711"))
    let made = try maker().make(bytes)
    let text = String(decoding: made.bytes, as: Unicode.ASCII.self)
    for word in ["Camera 4711", "Exif", "EXIF", "XMP "] { #expect(!text.contains(word)) }
    #expect(text.contains("VP8L") == isLossless)
    #expect(made.size == PictureSize(width: 64, height: 48))
    // A decoder takes what was left.
    #expect(try maker().make(made.bytes).size == made.size)
  }

  @Test(arguments: PictureType.allCases) func `what was cut short anywhere is refused or whole`(
    _ type: PictureType
  ) throws {
    let bytes = try picture(type)
    for length in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 12)) {
      let part = Array(bytes[..<length])
      switch refusal(of: part, by: maker()) {
      case .unknownType, .unreadable, nil: break
      case let other: Issue.record("\(length) bytes: \(String(describing: other))")
      }
    }
    #expect(refusal(of: Array(bytes.prefix(bytes.count / 2)), by: maker()) != nil)
  }

  @Test func `what says it is larger than it may be is not decoded`() {
    // A program that would fail the test by taking it.
    let trap = maker { $0.program = ["/bin/sh", "-c", "exit 1"] }
    func png(_ width: Int, _ height: Int) -> [UInt8] {
      var bytes = TestPicture.png()
      bytes.replaceSubrange(16..<24, with: TestPicture.big(width) + TestPicture.big(height))
      return bytes
    }
    #expect(refusal(of: png(60_000, 60_000), by: trap) == .tooManyPixels(maximum: 50_000_000))
    #expect(
      refusal(of: png(Int(Int32.max), Int(Int32.max)), by: trap)
        == .tooManyPixels(maximum: 50_000_000))
    #expect(refusal(of: png(8_001, 6_250), by: trap) == .tooManyPixels(maximum: 50_000_000))
    guard case .unreadable? = refusal(of: png(8_064, 6_048), by: trap) else {
      Issue.record("48 megapixels are not too many")
      return
    }
    guard case .unreadable? = refusal(of: png(0, 10), by: trap) else {
      Issue.record("no width is no picture")
      return
    }
    let large = [UInt8](repeating: 0, count: 20 << 20 + 1)
    #expect(refusal(of: large, by: trap) == .tooManyBytes(maximum: 20 << 20))
  }

  @Test func `a header that lies is found out by the decoder`() {
    // Small by its header, with bytes of another size.
    var bytes = TestPicture.png(width: 300, height: 300)
    bytes.replaceSubrange(16..<24, with: TestPicture.big(30) + TestPicture.big(30))
    guard case .unreadable? = refusal(of: bytes, by: maker()) else {
      Issue.record("taken")
      return
    }
  }

  @Test func `a decoder that hangs, eats memory, fails or is not there is a refusal`() {
    func outcome(_ script: String) -> PictureRefusal? {
      refusal(
        of: TestPicture.png(),
        by: maker {
          $0.program = ["/bin/sh", "-c", script]
          $0.time = .milliseconds(500)
          $0.memoryBytes = 256 << 20
        })
    }
    #expect(
      outcome("exec sleep 1000")
        == .unreadable(reason: "the decoder took longer than \(Duration.milliseconds(500))"))
    for script in ["kill -SEGV $$; exit 1", "exit 1", "true", "echo no picture"] {
      guard case .unreadable? = outcome(script) else {
        Issue.record("\(script)")
        continue
      }
    }
    let hungry = refusal(
      of: TestPicture.png(),
      by: maker {
        $0.program = ["/bin/sh", "-c", "exec tail /dev/zero"]
        $0.memoryBytes = 256 << 20
      })
    #expect(hungry == .unreadable(reason: "the decoder ended with 1"))
    for program in [[], ["/nowhere"]] {
      guard
        case .unavailable? = refusal(of: TestPicture.png(), by: maker { $0.program = program })
      else {
        Issue.record("\(program)")
        continue
      }
    }
  }
}
