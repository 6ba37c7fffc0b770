import CCompression

/// Compresses contents, one after the other, each in one part or in several. Used by one thread at a
/// time.
@safe package final class ContentEncoder {
  package enum Effort: Sendable {
    /// For one answer at a time: about 3 ns a byte, or less.
    case answer
    /// For a stream that lasts: less memory, 32 KiB (gzip) to 300 KiB (brotli).
    case stream
    /// For a file that is compressed once: about 50 ns a byte.
    case file
  }

  /// The sizes of padding besides none.
  package static let paddings = CONTENT_LEAST_PADDING...CONTENT_MOST_PADDING
  /// The room for coded bytes that is kept for the next content.
  private static let maximumKeptBytes = 256 << 10

  private let encoder: OpaquePointer
  private let effort: Effort
  private var room: [UInt8] = []

  /// Returns nil if there is no memory.
  package init?(_ coding: ContentCoding, for effort: Effort) {
    let number =
      switch coding {
      case .gzip: CONTENT_CODING_GZIP
      case .brotli: CONTENT_CODING_BROTLI
      case .zstd: CONTENT_CODING_ZSTD
      }
    let level =
      switch effort {
      case .answer: CONTENT_EFFORT_ANSWER
      case .stream: CONTENT_EFFORT_STREAM
      case .file: CONTENT_EFFORT_FILE
      }
    guard let encoder = unsafe content_encoder_make(Int32(number), Int32(level))
    else { return nil }
    unsafe self.encoder = encoder
    self.effort = effort
  }

  deinit { unsafe content_encoder_free(encoder) }

  /// Begins another content.
  ///
  /// - Returns: false if this encoder cannot be used any more.
  package func begin() -> Bool { unsafe content_encoder_begin(encoder) == 0 }

  /// Compresses the next part of a content, so that a client can read all of it at once.
  ///
  /// - Parameters:
  ///   - isLast: whether the content ends with it.
  ///   - padding: the number of bytes in front of it that every decoder skips: 0, or one of
  ///     `paddings`. (Brotli adds at most four.)
  /// - Returns: nil on failure, after which the content has no valid end.
  package func add(_ bytes: [UInt8], isLast: Bool, padding: Int = 0) -> [UInt8]? {
    let bound = content_encoder_bound(bytes.count)
    if room.count < bound { room = [UInt8](repeating: 0, count: bound) }
    let count = unsafe room.withUnsafeMutableBufferPointer { room in
      unsafe content_encoder_add(
        encoder, bytes, bytes.count, isLast ? 1 : 0, max(padding, 0), room.baseAddress)
    }
    defer { if effort != .answer || room.count > Self.maximumKeptBytes { room = [] } }
    return count >= 0 ? Array(room[..<count]) : nil
  }
}
