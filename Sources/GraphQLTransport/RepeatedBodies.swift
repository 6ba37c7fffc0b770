import Glibc
import GraphQLResponse

/// A body that came before, and what it was read as.
final class RepeatedBody {
  let key: Key
  let request: GraphQLRequest
  var isUsed = false

  init(_ key: Key, _ request: GraphQLRequest) {
    self.key = key
    self.request = request
  }

  /// A body as it is looked for: hashed once and as a whole, and compared so.
  struct Key: Hashable {
    fileprivate let bytes: [UInt8]
    fileprivate let hash: Int

    init(_ bytes: [UInt8]) {
      self.bytes = bytes
      var hasher = Hasher()
      unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
      hash = hasher.finalize()
    }

    /// In memory of its own, since a connection goes on writing into the body it has read.
    fileprivate init(copying key: Key) {
      bytes = Array(key.bytes[...])
      hash = key.hash
    }

    static func == (left: Key, right: Key) -> Bool {
      left.hash == right.hash && RepeatedBody.areEqual(left.bytes, right.bytes)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
  }

  func isRead(from body: [UInt8]) -> Bool { Self.areEqual(key.bytes, body) }

  /// An array compares its elements one by one.
  private static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
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
/// What comes the second time is kept, as most mutations come once, in the place of one that was not asked for
/// since its place was last looked at. Only what depends on nothing but its bytes may be kept.
final class RepeatedBodies {
  private static let maximumBodyBytes = 8 * 1024
  private static let maximumCount = 512

  private var bodies: [RepeatedBody] = []
  private var places: [RepeatedBody.Key: Int] = [:]
  /// Where it is looked for one to forget.
  private var hand = 0
  /// Hashes of bodies that came lately, each in the place it says.
  private var seen = [Int](repeating: 0, count: 1024)

  /// - Returns: what to find and keep a body by; nil for one that is too large to be kept.
  func key(of body: [UInt8]) -> RepeatedBody.Key? {
    body.count <= Self.maximumBodyBytes ? RepeatedBody.Key(body) : nil
  }

  func place(of key: RepeatedBody.Key) -> Int? { places[key] }

  /// The one that is kept there, if it is this one.
  func body(at place: Int, _ bytes: [UInt8]) -> RepeatedBody? {
    guard place < bodies.count, bodies[place].isRead(from: bytes) else { return nil }
    return body(at: place)
  }

  /// - Parameter place: of one that is kept.
  func body(at place: Int) -> RepeatedBody {
    let body = bodies[place]
    body.isUsed = true
    return body
  }

  /// Gives the request as it will be found again, if it is kept.
  func keep(_ request: GraphQLRequest, for key: RepeatedBody.Key) -> GraphQLRequest {
    let place = key.hash & (seen.count - 1)
    guard seen[place] == key.hash else {
      seen[place] = key.hash
      return request
    }
    var request = request
    request.memo = RequestMemo()
    insert(RepeatedBody(RepeatedBody.Key(copying: key), request))
    return request
  }

  private func insert(_ body: RepeatedBody) {
    guard bodies.count == Self.maximumCount else {
      places[body.key] = bodies.count
      return bodies.append(body)
    }
    while bodies[hand].isUsed {
      bodies[hand].isUsed = false
      hand = (hand + 1) % bodies.count
    }
    places[bodies[hand].key] = nil
    places[body.key] = hand
    bodies[hand] = body
    hand = (hand + 1) % bodies.count
  }
}
