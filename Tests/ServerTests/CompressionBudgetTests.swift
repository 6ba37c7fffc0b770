import Postgres
import Testing

@testable import Server

struct CompressionBudgetTests {
  /// A budget that expectations can take from.
  private final class Budget {
    private var value: CompressionBudget

    init(_ limits: CompressionBudget.Limits) { value = CompressionBudget(limits) }

    func take(_ count: Int, for client: PoolClient, at now: UInt64) -> Bool {
      value.take(count, for: client, at: now)
    }
    func beginStream(of client: PoolClient) -> Bool { value.beginStream(of: client) }
    func endStream(of client: PoolClient) { value.endStream(of: client) }
  }

  private func limits() -> CompressionBudget.Limits {
    var limits = CompressionBudget.Limits()
    limits.bytesOfClient = 100
    limits.bytes = 250
    limits.streamsOfClient = 2
    limits.streams = 3
    return limits
  }

  @Test func `a client has its share of a second's bytes, and all have theirs`() {
    let budget = Budget(limits())
    let start: UInt64 = 5_000_000_000
    #expect(budget.take(100, for: .viewer(1), at: start))
    #expect(!budget.take(1, for: .viewer(1), at: start + 999_999_999))
    #expect(budget.take(90, for: .viewer(2), at: start + 1))
    // More than is left of all, and then what is left.
    #expect(!budget.take(61, for: .viewer(3), at: start + 2))
    #expect(budget.take(60, for: .viewer(3), at: start + 2))
    #expect(!budget.take(1, for: .address(high: 0, low: 1), at: start + 3))
    // The next window.
    #expect(budget.take(100, for: .viewer(1), at: start + 1_000_000_000))
    #expect(!budget.take(101, for: .viewer(2), at: start + 1_000_000_000))
  }

  @Test func `a thousand clients take no more than all may`() {
    let budget = Budget(limits())
    let taken = (1...1_000).filter { budget.take(10, for: .viewer($0), at: 1) }
    #expect(taken.count == 25)
  }

  @Test func `streams are counted until they end`() {
    let budget = Budget(limits())
    #expect(budget.beginStream(of: .viewer(1)) && budget.beginStream(of: .viewer(1)))
    #expect(!budget.beginStream(of: .viewer(1)))
    #expect(budget.beginStream(of: .viewer(2)))
    #expect(!budget.beginStream(of: .viewer(3)))
    budget.endStream(of: .viewer(1))
    #expect(budget.beginStream(of: .viewer(3)))
    budget.endStream(of: .viewer(9))
    #expect(!budget.beginStream(of: .viewer(9)))
  }

  @Test func `an encoder that is gone is no stream`() {
    var limits = CompressionBudget.Limits()
    limits.streams = 1
    let compressor = AnswerCompressor(limits)
    var encoder = compressor.stream(.gzip, for: .viewer(1))
    #expect(encoder != nil && compressor.stream(.zstd, for: .viewer(2)) == nil)
    encoder = nil
    #expect(compressor.stream(.zstd, for: .viewer(2)) != nil)
  }

  @Test func `small bodies and those beyond the budget stay as they are`() throws {
    var limits = CompressionBudget.Limits()
    limits.bytesOfClient = 5_000
    let compressor = AnswerCompressor(limits)
    let body = [UInt8](repeating: 65, count: 3_000)
    #expect(compressor.compress(Array(body[..<1_023]), as: .gzip, for: .viewer(1)) == nil)
    let coded = try #require(compressor.compress(body, as: .gzip, for: .viewer(1)))
    #expect(coded.count < 200)
    #expect(compressor.compress(body, as: .gzip, for: .viewer(1)) == nil)
    #expect(compressor.compress(body, as: .gzip, for: .viewer(2)) != nil)
  }

  @Test func `lengths of the same answer differ`() throws {
    let compressor = AnswerCompressor()
    let body = Array(String(repeating: "the same again ", count: 200).utf8)
    let lengths = try (0..<40).map { _ in
      try #require(compressor.compress(body, as: .zstd, for: .viewer(1))).count
    }
    #expect(Set(lengths).count > 5)
  }
}
