import Cryptography
import JSON

/// The figures of a set of durations, and all of them as a histogram.
package struct DurationStatistics: Sendable {
  /// The quantiles of the output, in thousandths, with their names.
  package static let quantiles: [(name: String, thousandths: Int)] = [
    ("p50", 500), ("p90", 900), ("p95", 950), ("p99", 990), ("p99.9", 999),
  ]

  /// The durations in nanoseconds, ascending.
  package let sorted: [Int64]
  package let mean: Double?

  package init(_ nanoseconds: [Int64]) {
    sorted = nanoseconds.sorted()
    mean =
      sorted.isEmpty ? nil : sorted.reduce(0) { $0 + Double($1) } / Double(sorted.count)
  }

  package var count: Int { sorted.count }

  /// Returns the smallest value with at least this many thousandths of all at or below it.
  package func quantile(_ thousandths: Int) -> Int64? {
    Self.quantile(thousandths, of: sorted)
  }

  package static func quantile(_ thousandths: Int, of sorted: [Int64]) -> Int64? {
    guard !sorted.isEmpty else { return nil }
    let rank = (sorted.count * thousandths + 999) / 1000
    return sorted[min(max(rank, 1), sorted.count) - 1]
  }

  package func quantile(named name: String) -> Int64? {
    Self.quantiles.first { $0.name == name }.flatMap { quantile($0.thousandths) }
  }

  package var json: JSONValue {
    var members = [
      JSONValue.Member(name: "count", value: .of(count)),
      JSONValue.Member(name: "mean", value: .milliseconds(mean)),
      JSONValue.Member(name: "max", value: .milliseconds(sorted.last)),
    ]
    for (name, thousandths) in Self.quantiles {
      members.append(JSONValue.Member(name: name, value: .milliseconds(quantile(thousandths))))
    }
    members.append(
      JSONValue.Member(name: "hdr", value: .string(Base64.encode(HDRHistogram.encode(sorted)))))
    return .object(members)
  }
}

/// The format of HdrHistogram, version 2, compressed: nanoseconds from 100 to an hour, three digits.
///
/// Its compressed form is a zlib stream, here of stored blocks, so that no library is needed.
package enum HDRHistogram {
  private static let lowest: Int64 = 100
  private static let highest: Int64 = 3_600_000_000_000
  private static let digits: Int32 = 3
  /// Values count in units of 2^6, the largest power of two that is not above the lowest value.
  private static let unitMagnitude = 6
  /// A bucket has 2^11 places, the upper half of which are its own: 2,000 values differ by a unit.
  private static let halfMagnitude = 10

  /// Returns the place of a value among the counts.
  package static func place(of value: Int64) -> Int {
    let value = min(max(value, 0), highest)
    let mask: Int64 = ((1 << (halfMagnitude + 1)) - 1) << unitMagnitude
    let bucket = 64 - unitMagnitude - halfMagnitude - 1 - (value | mask).leadingZeroBitCount
    let within = Int(value >> (bucket + unitMagnitude))
    return ((bucket + 1) << halfMagnitude) + within - (1 << halfMagnitude)
  }

  /// - Parameter sorted: nanoseconds, ascending.
  package static func encode(_ sorted: [Int64]) -> [UInt8] {
    var counts = Bytes()
    var next = 0
    var index = 0
    while index < sorted.count {
      let place = place(of: sorted[index])
      var count: Int64 = 0
      while index < sorted.count, Self.place(of: sorted[index]) == place {
        count += 1
        index += 1
      }
      switch place - next {
      case 0: break
      case 1: counts.zigZag(0)
      default: counts.zigZag(-Int64(place - next))
      }
      counts.zigZag(count)
      next = place + 1
    }
    var plain = Bytes()
    plain.big(UInt32(0x1C84_9313))
    plain.big(UInt32(counts.bytes.count))
    plain.big(UInt32(0))
    plain.big(UInt32(digits))
    plain.big(UInt64(lowest))
    plain.big(UInt64(highest))
    plain.big((1.0).bitPattern)
    plain.bytes += counts.bytes
    let compressed = stored(plain.bytes)
    var all = Bytes()
    all.big(UInt32(0x1C84_9314))
    all.big(UInt32(compressed.count))
    return all.bytes + compressed
  }

  /// A zlib stream (RFC 1950) of stored blocks (RFC 1951, 3.2.4).
  private static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var stream = Bytes()
    stream.bytes = [0x78, 0x01]
    var start = 0
    repeat {
      let length = min(bytes.count - start, 0xFFFF)
      stream.bytes.append(start + length == bytes.count ? 1 : 0)
      for number in [UInt16(length), ~UInt16(length)] {
        stream.bytes += [UInt8(number & 0xFF), UInt8(number >> 8)]
      }
      stream.bytes += bytes[start..<start + length]
      start += length
    } while start < bytes.count
    var (low, high): (UInt32, UInt32) = (1, 0)
    for byte in bytes {
      low = (low + UInt32(byte)) % 65521
      high = (high + low) % 65521
    }
    stream.big(high << 16 | low)
    return stream.bytes
  }

  private struct Bytes {
    var bytes: [UInt8] = []

    mutating func big<Number: FixedWidthInteger>(_ number: Number) {
      for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: number >> Number(shift)))
      }
    }

    /// Appends a number with its sign in the lowest bit, seven bits a byte; the ninth has eight.
    mutating func zigZag(_ number: Int64) {
      var rest = UInt64(bitPattern: (number << 1) ^ (number >> 63))
      for _ in 0..<8 {
        if rest < 0x80 { return bytes.append(UInt8(rest)) }
        bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
        rest >>= 7
      }
      bytes.append(UInt8(truncatingIfNeeded: rest))
    }
  }
}

// MARK: - JSON

extension JSONValue {
  static func of(_ number: Int) -> JSONValue { .number(String(number)) }

  /// A number; null if it is not finite, or there is none.
  static func of(_ number: Double?) -> JSONValue {
    guard let number, number.isFinite else { return .null }
    var writer = JSONWriter(capacity: 32)
    writer.write(number)
    return .number(String(decoding: writer.finish(), as: UTF8.self))
  }

  static func milliseconds(_ nanoseconds: Int64?) -> JSONValue {
    of(nanoseconds.map { Double($0) / 1e6 })
  }

  static func milliseconds(_ nanoseconds: Double?) -> JSONValue {
    of(nanoseconds.map { ($0).rounded() / 1e6 })
  }

  static func members(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
    .object(members.map { Member(name: $0.key, value: $0.value) })
  }

  /// This object followed by the members of another.
  func merged(_ other: JSONValue) -> JSONValue {
    guard case .object(let own) = self, case .object(let more) = other else { return self }
    return .object(own + more)
  }

  var double: Double? {
    guard case .number(let text) = self else { return nil }
    return Double(text)
  }

  var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  var boolean: Bool? {
    guard case .boolean(let value) = self else { return nil }
    return value
  }

  var elements: [JSONValue]? {
    guard case .array(let elements) = self else { return nil }
    return elements
  }

  var members: [Member]? {
    guard case .object(let members) = self else { return nil }
    return members
  }
}
