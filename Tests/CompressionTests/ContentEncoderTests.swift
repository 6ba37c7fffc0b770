import Foundation
import TestSupport
import Testing

@testable import Compression

/// What is compressed here, the programs gzip, brotli and zstd decompress.
@Suite(.blocks) struct ContentEncoderTests {
  /// Decodes by another implementation; nil if it says that something is wrong.
  private func decoded(_ bytes: [UInt8], _ coding: ContentCoding) throws -> [UInt8]? {
    let program =
      switch coding {
      case .gzip: "gzip"
      case .brotli: "brotli"
      case .zstd: "zstd"
      }
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("sociograph-coded-\(UUID().uuidString)")
    try Data(bytes).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [program, "-dc"]
    process.standardInput = try FileHandle(forReadingFrom: file)
    process.standardError = FileHandle.nullDevice
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return process.terminationStatus == 0 ? [UInt8](output) : nil
  }

  /// JSON-like text of about this many bytes.
  private func text(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    var number = 1
    while bytes.count < count {
      number = (number &* 48_271) % 2_147_483_647
      bytes += "{\"id\":\"\(number)\",\"name\":\"user \(number % 97)\"},".utf8
    }
    return Array(bytes.prefix(count))
  }

  private static let efforts: [ContentEncoder.Effort] = [.answer, .stream, .file]

  @Test(arguments: ContentCoding.allCases, efforts)
  func `contents of all sizes are decoded by the coding's own program`(
    _ coding: ContentCoding, _ effort: ContentEncoder.Effort
  ) throws {
    let encoder = try #require(ContentEncoder(coding, for: effort))
    let noise = (0..<70_000).map { _ in UInt8.random(in: 0...255) }
    for content in [[], [7], text(1_000), text(40_000), text(3_000_000), noise] {
      for padding in [0, 20, 83] {
        // One encoder for one after the other.
        #expect(encoder.begin())
        let coded = try #require(encoder.add(content, isLast: true, padding: padding))
        #expect(try decoded(coded, coding) == content)
      }
    }
  }

  @Test(arguments: ContentCoding.allCases)
  func `every size of padding is skipped, and is as long as it says`(_ coding: ContentCoding) throws
  {
    let encoder = try #require(ContentEncoder(coding, for: .answer))
    let content = text(2_000)
    func coded(_ padding: Int) throws -> [UInt8] {
      #expect(encoder.begin())
      return try #require(encoder.add(content, isLast: true, padding: padding))
    }
    let plain = try coded(0)
    for padding in ContentEncoder.paddings {
      let padded = try coded(padding)
      let added = padded.count - plain.count
      #expect(coding == .brotli ? (padding...padding + 4).contains(added) : added == padding)
      if padding % 9 == 2 || padding < 30 { #expect(try decoded(padded, coding) == content) }
    }
    // Sizes that cannot be made.
    for padding in [1, 19, 256, 70_000] {
      #expect(encoder.begin())
      #expect(encoder.add(content, isLast: true, padding: padding) == nil)
    }
  }

  @Test(arguments: ContentCoding.allCases, efforts)
  func `parts with padding of their own are one content`(
    _ coding: ContentCoding, _ effort: ContentEncoder.Effort
  ) throws {
    let encoder = try #require(ContentEncoder(coding, for: effort))
    for last in [[], text(50)] {
      #expect(encoder.begin())
      var content: [UInt8] = []
      var coded: [UInt8] = []
      for size in [1, 300, 0, 5_000, 20, 70_000] {
        let part = text(size)
        content += part
        coded += try #require(
          encoder.add(part, isLast: false, padding: .random(in: ContentEncoder.paddings)))
      }
      coded += try #require(encoder.add(last, isLast: true, padding: 20))
      #expect(try decoded(coded, coding) == content + last)
    }
  }

  @Test(arguments: ContentCoding.allCases)
  func `a stream remembers its parts`(_ coding: ContentCoding) throws {
    let encoder = try #require(ContentEncoder(coding, for: .stream))
    let part = text(3_000)
    let first = try #require(encoder.add(part, isLast: false))
    let second = try #require(encoder.add(part, isLast: false))
    #expect(second.count * 4 < first.count)
  }
}
