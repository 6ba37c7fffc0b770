import Glibc
import GraphQLResponse

/// A body that came before, and what it was read as.
final class RepeatedBody {
  let bytes: [UInt8]
  let request: GraphQLRequest

  init(_ bytes: [UInt8], _ request: GraphQLRequest) {
    self.bytes = bytes
    self.request = request
  }

  /// Compared as a whole; an array is byte by byte.
  static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    unsafe left.withUnsafeBytes { left in
      unsafe right.withUnsafeBytes { right in
        guard left.count == right.count else { return false }
        guard let first = left.baseAddress, let second = right.baseAddress else { return true }
        return unsafe memcmp(first, second, left.count) == 0
      }
    }
  }
}

/// What bodies that came before were read as, of one loop: a body that repeats byte for byte costs a
/// hash and a comparison instead of a parse, and the comparison alone where its connection sent it last.
///
/// Two generations: what is asked for moves to the newer one, and when that is full the older is
/// forgotten. Only what depends on nothing but its bytes may be kept.
final class RepeatedBodies {
  private static let maximumBodyBytes = 8 * 1024
  private static let maximumCount = 256

  /// Hashed and compared as a whole.
  private struct Key: Hashable {
    let bytes: [UInt8]

    static func == (left: Key, right: Key) -> Bool {
      RepeatedBody.areEqual(left.bytes, right.bytes)
    }

    func hash(into hasher: inout Hasher) {
      unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }
  }

  private var newer: [Key: RepeatedBody] = [:]
  private var older: [Key: RepeatedBody] = [:]

  /// - Parameter first: looked at first.
  func find(_ body: [UInt8], first: RepeatedBody?) -> RepeatedBody? {
    guard body.count <= Self.maximumBodyBytes else { return nil }
    if let first, RepeatedBody.areEqual(first.bytes, body) { return first }
    let key = Key(bytes: body)
    if let known = newer[key] { return known }
    guard let known = older.removeValue(forKey: key) else { return nil }
    insert(known)
    return known
  }

  /// Gives the request as it will be found again.
  func keep(_ request: GraphQLRequest, for body: [UInt8]) -> GraphQLRequest {
    guard body.count <= Self.maximumBodyBytes else { return request }
    var request = request
    request.memo = RequestMemo()
    // A copy, since the connection goes on writing into its own.
    insert(RepeatedBody(Array(body[...]), request))
    return request
  }

  private func insert(_ body: RepeatedBody) {
    if newer.count == Self.maximumCount {
      older = newer
      newer = [:]
    }
    newer[Key(bytes: body.bytes)] = body
  }
}
