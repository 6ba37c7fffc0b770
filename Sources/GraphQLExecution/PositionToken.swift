import GraphQLPlanning
import Postgres

/// A position in the primary's log as clients carry it: from the response to a write to their next
/// requests, which may be to other servers. Signed as cursors are, so that no client can make up one
/// that no replica ever reaches.
package enum PositionToken {
  /// Not the fingerprint of an order, as cursors have.
  private static let mark = Array("position".utf8)

  package static func text(_ position: LogPosition, _ signer: CursorSigner) -> String {
    let bytes = bytes(position)
    var text: [UInt8] = []
    Base64URL.append(bytes + signer.signature(of: mark + bytes)) { text.append($0) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns the position, or nil if the text is not one of these servers'.
  package static func position(_ text: String, _ signer: CursorSigner) -> LogPosition? {
    guard text.utf8.count <= 64, let all = Base64URL.decode(text),
      all.count == 12 + CursorSigner.byteCount
    else { return nil }
    let bytes = Array(all[..<12])
    let signature = signer.signature(of: mark + bytes)
    // Takes as long wherever they differ.
    guard zip(signature, all[12...]).reduce(0, { $0 | ($1.0 ^ $1.1) }) == 0 else { return nil }
    func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    return LogPosition(
      timeline: UInt32(truncatingIfNeeded: number(bytes[..<4])), offset: number(bytes[4...]))
  }

  private static func bytes(_ position: LogPosition) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: position.timeline >> ($0 as UInt32)) }
      + [56, 48, 40, 32, 24, 16, 8, 0].map {
        UInt8(truncatingIfNeeded: position.offset >> ($0 as UInt64))
      }
  }
}
