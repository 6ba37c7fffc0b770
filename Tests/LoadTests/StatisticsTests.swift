import JSON
import Testing

@testable import Load

@Suite struct StatisticsTests {
  @Test func `a quantile is the smallest value with enough at or below it`() {
    let thousand = DurationStatistics((1...1000).map { Int64($0) }.shuffled())
    #expect(
      DurationStatistics.quantiles.map { thousand.quantile($0.thousandths) } == [
        500, 900, 950, 990, 999,
      ])
    #expect(thousand.mean == 500.5)
    let one = DurationStatistics([7])
    #expect(one.quantile(500) == 7 && one.quantile(999) == 7)
    let two = DurationStatistics([1, 2])
    #expect(two.quantile(500) == 1 && two.quantile(900) == 2)
    #expect(DurationStatistics([]).quantile(500) == nil)
    // 99.9 % of 2,000 are 1,998; of 1,001, 1,000.
    #expect(DurationStatistics((1...2000).map { Int64($0) }).quantile(999) == 1998)
    #expect(DurationStatistics((1...1001).map { Int64($0) }).quantile(999) == 1000)
  }

  @Test func `figures without values are null`() {
    let json = DurationStatistics([]).json
    #expect(json["count"] == .number("0"))
    for name in ["mean", "max", "p50", "p99.9"] { #expect(json[name] == .null) }
    #expect(DurationStatistics([1_500_000]).json["p50"] == .number("1.5"))
  }

  /// What HdrHistogram for Python reads in the same texts: this decoder follows the format, not the
  /// encoder.
  private func decode(_ bytes: [UInt8]) throws -> [(value: Int64, count: Int64)] {
    func big(_ start: Int, _ size: Int) -> UInt64 {
      bytes[start..<start + size].reduce(0) { $0 << 8 | UInt64($1) }
    }
    try #require(big(0, 4) == 0x1C84_9314)
    try #require(Int(big(4, 4)) == bytes.count - 8)
    try #require(big(8, 2) % 31 == 0 && bytes[8] & 15 == 8)
    var plain: [UInt8] = []
    var at = 10
    var isLast = false
    while !isLast {
      isLast = bytes[at] == 1
      let length = Int(bytes[at + 1]) | Int(bytes[at + 2]) << 8
      let inverse = Int(bytes[at + 3]) | Int(bytes[at + 4]) << 8
      try #require(length ^ inverse == 0xFFFF)
      plain += bytes[at + 5..<at + 5 + length]
      at += 5 + length
    }
    var (a, b): (UInt32, UInt32) = (1, 0)
    for byte in plain {
      a = (a + UInt32(byte)) % 65521
      b = (b + a) % 65521
    }
    try #require(big(at, 4) == UInt64(b << 16 | a) && at + 4 == bytes.count)
    func number(_ start: Int, _ size: Int) -> UInt64 {
      plain[start..<start + size].reduce(0) { $0 << 8 | UInt64($1) }
    }
    try #require(number(0, 4) == 0x1C84_9313 && Int(number(4, 4)) == plain.count - 40)
    try #require(number(12, 4) == 3 && number(16, 8) == 100 && number(24, 8) == 3_600_000_000_000)
    var found: [(value: Int64, count: Int64)] = []
    var place: Int64 = 0
    var index = 40
    while index < plain.count {
      var raw: UInt64 = 0
      var shift: UInt64 = 0
      while true {
        let byte = plain[index]
        index += 1
        raw |= UInt64(byte & 0x7F) << shift
        shift += 7
        if byte < 0x80 { break }
      }
      let count = Int64(raw >> 1) ^ -Int64(raw & 1)
      if count < 0 {
        place -= count
      } else {
        // The upper half of 2,048 places is a bucket's own.
        let bucket = max(place >> 10, 1) - 1
        let within = place < 1024 ? place : (place & 1023) + 1024
        if count > 0 { found.append((within << (bucket + 6), count)) }
        place += 1
      }
    }
    return found
  }

  @Test func `a histogram has every value to three digits`() throws {
    var random = RandomSequence(seed: 4)
    // From a microsecond to an hour, some values many times.
    let values =
      (0..<3000).map { _ in Int64(1000 * (1 + random.unit() * 9)) << Int64(random.index(below: 28))
      }
      + [Int64](repeating: 5_000_000, count: 70_000)
    let sorted = values.map { min($0, 3_599_000_000_000) }.sorted()
    let decoded = try decode(HDRHistogram.encode(sorted))
    #expect(decoded.reduce(0) { $0 + $1.count } == Int64(sorted.count))
    let expanded = decoded.flatMap { entry in
      [Int64](repeating: entry.value, count: Int(entry.count))
    }
    for (value, found) in zip(sorted, expanded) where value != found {
      #expect(found <= value && Double(value - found) <= max(Double(value) * 0.001, 64))
    }
  }

  @Test func `an empty histogram and one of more than a block are whole`() throws {
    #expect(try decode(HDRHistogram.encode([])).isEmpty)
    var random = RandomSequence(seed: 8)
    let values = (0..<60_000).map { _ in Int64(100_000 + random.index(below: 2_000_000_000)) }
    #expect(try decode(HDRHistogram.encode(values.sorted())).reduce(0) { $0 + $1.count } == 60_000)
    #expect(HDRHistogram.place(of: 0) == 0 && HDRHistogram.place(of: 63) == 0)
    #expect(HDRHistogram.place(of: 64) == 1 && HDRHistogram.place(of: 131_071) == 2047)
    #expect(HDRHistogram.place(of: 131_072) == 2048 && HDRHistogram.place(of: .max) < 27_648)
  }

  @Test(arguments: [
    ("500ms", 500_000_000), ("30s", 30_000_000_000), ("10m", 600_000_000_000),
    ("1.5s", 1_500_000_000),
    ("0s", 0),
  ])
  func `a time is a number and its unit`(text: String, nanoseconds: Int64) {
    #expect(LoadTime.nanoseconds(text) == nanoseconds)
  }

  @Test(arguments: ["", "s", "5", "5 s", "-5s", "5h", "1e3s", "infs", "5ms ", "٣s"])
  func `another text is no time`(text: String) {
    #expect(LoadTime.nanoseconds(text) == nil)
  }

  @Test func `decimals are rounded once`() {
    #expect(LoadTime.decimal(0.996, 2) == "1.00")
    #expect(LoadTime.decimal(-0.004, 2) == "0.00")
    #expect(LoadTime.decimal(-12.05, 1) == "-12.1" || LoadTime.decimal(-12.05, 1) == "-12.0")
    #expect(LoadTime.decimal(7, 0) == "7")
    #expect(LoadTime.milliseconds(48_100_000) == "48.1")
  }
}
