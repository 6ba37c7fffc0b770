import Compression
import GraphQLExecution
import GraphQLTransport
import HTTP
import Postgres

/// Compresses the answers of one event loop.
///
/// Each is padded by a random number of bytes. An answer with a secret that also mirrors input would
/// otherwise tell by its length whether the input is like the secret (BREACH). Answers with
/// confidential fields are not compressed at all.
final class AnswerCompressor {
  /// The least that is compressed. A smaller answer fits into one packet.
  static let leastBytes = 1024
  /// The sizes of padding: wide enough that hundreds of answers are needed to see one byte.
  private static let paddings = ContentEncoder.paddings.lowerBound...83

  private var budget: CompressionBudget
  private var encoders: [ContentCoding: ContentEncoder] = [:]

  init(_ limits: CompressionBudget.Limits = CompressionBudget.Limits()) {
    budget = CompressionBudget(limits)
  }

  static func field(_ coding: ContentCoding) -> HTTPField {
    HTTPField("Content-Encoding", coding.rawValue)
  }

  /// Returns the coded body; nil if it is to be sent as it is.
  func compress(
    _ body: [UInt8], as coding: ContentCoding, for client: PoolClient
  ) -> [UInt8]? {
    guard body.count >= Self.leastBytes,
      budget.take(body.count, for: client, at: monotonicNanoseconds()),
      let encoder = encoder(coding)
    else { return nil }
    guard encoder.begin(),
      let coded = encoder.add(body, isLast: true, padding: .random(in: Self.paddings))
    else {
      encoders[coding] = nil
      return nil
    }
    return coded.count < body.count ? coded : nil
  }

  private func encoder(_ coding: ContentCoding) -> ContentEncoder? {
    if let known = encoders[coding] { return known }
    let encoder = ContentEncoder(coding, for: .answer)
    encoders[coding] = encoder
    return encoder
  }

  /// Returns the encoder of a stream; nil if the stream is to be sent as it is.
  func stream(_ coding: ContentCoding, for client: PoolClient) -> StreamEncoder? {
    guard budget.beginStream(of: client) else { return nil }
    guard let encoder = ContentEncoder(coding, for: .stream) else {
      budget.endStream(of: client)
      return nil
    }
    return StreamEncoder(encoder) { [self] in budget.endStream(of: client) }
  }

  /// The encoder of one stream, which a client can read after each part.
  final class StreamEncoder {
    private let encoder: ContentEncoder
    private let ended: () -> Void

    fileprivate init(_ encoder: ContentEncoder, ended: @escaping () -> Void) {
      self.encoder = encoder
      self.ended = ended
    }

    deinit { ended() }

    /// Returns the coded part; nil on failure.
    func add(_ part: [UInt8], isLast: Bool) -> [UInt8]? {
      encoder.add(part, isLast: isLast, padding: .random(in: AnswerCompressor.paddings))
    }
  }
}

/// The coding that the sender of a request accepts, and what compresses for it.
final class AnswerEncoding {
  let coding: ContentCoding
  private let compressor: AnswerCompressor
  private let client: PoolClient

  init(_ coding: ContentCoding, by compressor: AnswerCompressor, for client: PoolClient) {
    self.coding = coding
    self.compressor = compressor
    self.client = client
  }

  /// Compresses the body, unless it is small, confidential, or more than the client's share.
  ///
  /// - Parameter label: that of the operation, or nil for an answer to none, which stays as it is.
  /// - Returns: whether it is compressed.
  @discardableResult
  func encode(_ answer: inout GraphQLAnswer, of label: OperationLabel?) -> Bool {
    guard label?.isConfidential == false,
      let body = compressor.compress(answer.body, as: coding, for: client)
    else { return false }
    answer.body = body
    answer.headers.append(AnswerCompressor.field(coding))
    return true
  }

  /// Returns the encoder of a stream, and its header field; nil if it stays as it is.
  func stream(of label: OperationLabel?) -> (AnswerCompressor.StreamEncoder, HTTPField)? {
    guard label?.isConfidential == false, let encoder = compressor.stream(coding, for: client)
    else { return nil }
    return (encoder, AnswerCompressor.field(coding))
  }
}
