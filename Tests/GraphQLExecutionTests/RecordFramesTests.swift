import Testing

@testable import GraphQLExecution

/// The detection of invalid records and arrays of PostgreSQL's binary form before they are read.
@Suite struct RecordFramesTests {
  private func lengths(
    _ bytes: [UInt8], _ push: (inout RecordFrames, RawSpan, Int, Int) -> Int?
  ) -> [Int32]? {
    var frames = RecordFrames()
    guard let count = unsafe push(&frames, bytes.span.bytes, 0, bytes.count) else { return nil }
    return (0..<count).map { frames[$0].length }
  }

  private func record(_ bytes: [UInt8]) -> [Int32]? {
    lengths(bytes) { $0.pushRecord($1, $2, $3) }
  }

  private func array(_ bytes: [UInt8]) -> [Int32]? {
    lengths(bytes) { $0.pushArray($1, $2, $3) }
  }

  private let sample = BinaryForm.record(.text("ab"), .null, .int8(7), .text(""))
  private let list = BinaryForm.array(of: 25, [[1, 2, 3], nil, []])

  @Test func `columns have their place, length and type`() {
    var frames = RecordFrames()
    #expect(unsafe frames.pushRecord(sample.span.bytes, 0, sample.count) == 4)
    #expect((0..<4).map { frames[$0].length } == [2, -1, 8, 0])
    #expect((0..<4).map { frames[$0].type } == [25, 25, 20, 25])
    #expect(sample[Int(frames[0].offset)] == UInt8(ascii: "a"))
    #expect(frames[4].length == -1)
    frames.pop(to: 1)
    #expect(frames.depth == 1)
    #expect(frames[1].length == -1)
  }

  @Test func `elements have theirs`() {
    #expect(array(list) == [3, -1, 0])
    #expect(array(BinaryForm.array(of: 25, [])) == [])
    #expect(record(BinaryForm.record()) == [])
  }

  @Test func `what lies in the middle of other bytes is read from there`() {
    let bytes = [9, 9, 9] + sample + [9]
    var frames = RecordFrames()
    #expect(unsafe frames.pushRecord(bytes.span.bytes, 3, sample.count) == 4)
    #expect(bytes[Int(frames[0].offset)] == UInt8(ascii: "a"))
  }

  @Test func `no beginning of a record or an array is one`() {
    for length in 0..<sample.count { #expect(record(Array(sample.prefix(length))) == nil) }
    for length in 0..<list.count { #expect(array(Array(list.prefix(length))) == nil) }
  }

  @Test func `nothing may follow`() {
    #expect(record(sample + [0]) == nil)
    #expect(array(list + [0]) == nil)
  }

  @Test(arguments: [Int32.min, -2, -1, 5, Int32.max])
  func `a count is that of what is there`(count: Int32) {
    #expect(record(BinaryForm.big(count) + sample.dropFirst(4)) == nil)
    #expect(array(list.prefix(12) + BinaryForm.big(count) + list.dropFirst(16)) == nil)
  }

  @Test(arguments: [Int32.min, -2, 40, 1_000, Int32.max])
  func `a length is not negative, but for null, nor beyond the end`(length: Int32) {
    #expect(record(sample.prefix(8) + BinaryForm.big(length) + sample.dropFirst(12)) == nil)
    #expect(array(list.prefix(20) + BinaryForm.big(length) + list.dropFirst(24)) == nil)
  }

  @Test(arguments: [Int32.min, -1, 2, Int32.max])
  func `an array has one dimension or is empty`(dimensions: Int32) {
    #expect(array(BinaryForm.big(dimensions) + list.dropFirst(4)) == nil)
  }

  @Test func `places outside the bytes are refused`() {
    var frames = RecordFrames()
    for (offset, length) in [(0, sample.count + 1), (1, sample.count), (sample.count, 4), (-4, 8)] {
      #expect(unsafe frames.pushRecord(sample.span.bytes, offset, length) == nil)
      #expect(unsafe frames.pushArray(sample.span.bytes, offset, length) == nil)
    }
  }
}
