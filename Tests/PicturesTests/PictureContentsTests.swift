import Cryptography
import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import Pictures

/// The checks of an image before it is decoded, and the shares of clients in the decoders.
@Suite(.blocks) struct PictureContentsTests {
  private func refusal(_ bytes: [UInt8], _ type: PictureType) -> PictureRefusal? {
    do throws(PictureRefusal) {
      _ = try PictureContents(bytes, type)
      return nil
    } catch {
      return error
    }
  }

  @Test func `text in a PNG, which is a bomb at worst, does not reach the decoder`() throws {
    let plain = TestPicture.png(pixel: [20, 20, 200])
    let bomb = TestPicture.compressedText(count: 50_000_000)
    let text =
      TestPicture.chunk("tEXt", Array("a\0b".utf8)) + TestPicture.chunk("iTXt", [0])
      + TestPicture.chunk("teSt", [1, 2, 3])
    let full = TestPicture.png(
      pixel: [20, 20, 200], chunks: (0..<40).flatMap { _ in bomb } + text)
    #expect(try PictureContents(full, .png).bytes == plain)
    // Behind the pixels, and behind the end.
    let end = plain.count - 12
    let behind = Array(plain[..<end]) + bomb + plain[end...] + bomb
    #expect(try PictureContents(behind, .png).bytes == plain)
    // Such a picture took the decoder 40 s.
    let began = ContinuousClock.now
    let made = try PictureMaker(PictureMaker.Settings()).make(full)
    #expect(made.size == PictureSize(width: 64, height: 48))
    #expect(began.duration(to: .now) < .seconds(10))
  }

  @Test func `what says how a PNG looks stays, once`() throws {
    let alpha = TestPicture.chunk("tRNS", [0, 20, 0, 20, 0, 200])
    let profile = TestPicture.chunk("iCCP", [1])
    let kept = TestPicture.png(pixel: [20, 20, 200], chunks: alpha + profile)
    #expect(try PictureContents(kept, .png).bytes == kept)
    #expect(try PictureContents(kept, .png).mayHaveProfile)
    let twice = TestPicture.png(pixel: [20, 20, 200], chunks: alpha + profile + profile + alpha)
    #expect(try PictureContents(twice, .png).bytes == kept)
    #expect(try !PictureContents(TestPicture.png(), .png).mayHaveProfile)
    // Cut short anywhere, it is no whole picture, and no failure.
    for count in 0..<kept.count {
      let part = try PictureContents(Array(kept[..<count]), .png).bytes
      #expect(part.count <= count && part != kept)
    }
  }

  @Test func `an animated PNG is refused, instead of losing all frames but one`() {
    let control = TestPicture.chunk("acTL", TestPicture.big(2) + TestPicture.big(0))
    #expect(refusal(TestPicture.png(pixel: [1, 2, 3], chunks: control), .png) == .animated)
    // Behind the pixels it means nothing (PNG, 11.3.6).
    var still = TestPicture.png(pixel: [1, 2, 3])
    still.insert(contentsOf: control, at: still.count - 12)
    #expect(refusal(still, .png) == nil)
  }

  @Test func `a JPEG of very many scans is refused`() {
    func jpeg(scans: Int) -> [UInt8] {
      let scan: [UInt8] = [0xFF, 0xDA, 0, 3, 0, 0x11, 0xFF, 0x00, 0x22, 0xFF, 0xD0, 0x33]
      return [0xFF, 0xD8] + (0..<scans).flatMap { _ in scan } + [0xFF, 0xD9]
    }
    #expect(refusal(jpeg(scans: 100), .jpeg) == nil)
    #expect(refusal(jpeg(scans: 101), .jpeg) == .unreadable(reason: "more than 100 scans"))
    // Behind the end of the picture, and in the middle of a segment, are none.
    #expect(refusal(jpeg(scans: 1) + jpeg(scans: 101), .jpeg) == nil)
    #expect(refusal([0xFF, 0xD8, 0xFF, 0xE1, 0xFF, 0xFF] + jpeg(scans: 200), .jpeg) == nil)
    for count in 0..<40 { #expect(refusal(Array(jpeg(scans: 3).prefix(count)), .jpeg) == nil) }
  }

  @Test func `a client with many large pictures does not keep a small one of another waiting`()
    async throws
  {
    let place = try TemporaryFolder()
    var settings = PictureService.Settings()
    settings.maker.time = .seconds(600)
    settings.making.maximumWait = .seconds(600)
    let service = PictureService(settings, store: try PictureFolder(place.path))
    let ended = Mutex<[String]>([])
    let done = DispatchGroup()
    let large = TestPicture.photograph(width: 1200, height: 1000, seed: 1)
    let small = TestPicture.png()
    let uploads = (0..<4).map { _ in ("flood", large) } + [("other", small)]
    for (client, bytes) in uploads {
      done.enter()
      service.take(bytes, owner: 1, for: WorkShare(client: client)) { result in
        if case .success? = result { ended.withLock { $0.append(client) } }
        done.leave()
      }
    }
    await withCheckedContinuation { waiter in done.notify(queue: .global()) { waiter.resume() } }
    let order = ended.withLock { $0 }
    #expect(order.count == 5)
    #expect(order.prefix(2).contains("other"))
  }
}
