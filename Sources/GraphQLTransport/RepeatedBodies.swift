import Glibc
import GraphQLResponse

/// What bodies that came before were read as, of one loop: a body that repeats byte for byte costs a
/// hash and a comparison instead of a parse.
///
/// Two generations: what is asked for moves to the newer one, and when that is full the older is
/// forgotten. Only what depends on nothing but its bytes may be kept.
final class RepeatedBodies {
  private static let maximumBodyBytes = 8 * 1024
  private static let maximumCount = 256

  /// Hashed and compared as a whole; an array is byte by byte.
  private struct Key: Hashable {
    let bytes: [UInt8]

    static func == (left: Key, right: Key) -> Bool {
      unsafe left.bytes.withUnsafeBytes { left in
        unsafe right.bytes.withUnsafeBytes { right in
          guard left.count == right.count else { return false }
          guard let first = left.baseAddress, let second = right.baseAddress else { return true }
          return unsafe memcmp(first, second, left.count) == 0
        }
      }
    }

    func hash(into hasher: inout Hasher) {
      unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }
  }

  private var newer: [Key: GraphQLRequest] = [:]
  private var older: [Key: GraphQLRequest] = [:]

  func request(_ body: [UInt8]) -> GraphQLRequest? {
    guard body.count <= Self.maximumBodyBytes else { return nil }
    let key = Key(bytes: body)
    if let known = newer[key] { return known }
    guard let known = older.removeValue(forKey: key) else { return nil }
    insert(known, for: body)
    return known
  }

  /// Gives the request as it will be found again.
  func keep(_ request: GraphQLRequest, for body: [UInt8]) -> GraphQLRequest {
    guard body.count <= Self.maximumBodyBytes else { return request }
    var request = request
    request.memo = RequestMemo()
    insert(request, for: body)
    return request
  }

  private func insert(_ request: GraphQLRequest, for body: [UInt8]) {
    if newer.count == Self.maximumCount {
      older = newer
      newer = [:]
    }
    // A copy, since the connection goes on writing into its own.
    newer[Key(bytes: Array(body[...]))] = request
  }
}
