import Glibc
import GraphQLResponse

/// A body that came before, and the result of parsing it.
final class CachedBody {
  let key: Key
  let request: GraphQLRequest
  var isUsed = false

  init(_ key: Key, _ request: GraphQLRequest) {
    self.key = key
    self.request = request
  }

  /// A key to look up a body: its hash is computed once over all bytes.
  struct Key: Hashable {
    fileprivate let bytes: [UInt8]
    fileprivate let hash: Int

    init(_ bytes: [UInt8]) {
      self.bytes = bytes
      var hasher = Hasher()
      unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
      hash = hasher.finalize()
    }

    /// Copies the bytes, because a connection overwrites the body that it read.
    fileprivate init(copying key: Key) {
      bytes = Array(key.bytes[...])
      hash = key.hash
    }

    static func == (left: Key, right: Key) -> Bool {
      left.hash == right.hash && CachedBody.areEqual(left.bytes, right.bytes)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
  }

  func isRead(from body: [UInt8]) -> Bool { Self.areEqual(key.bytes, body) }

  /// Compares memory at once; `==` of arrays compares elements one by one.
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

/// The parsed bodies of one loop. A body that repeats byte for byte costs a hash and a comparison
/// instead of a parse, or the comparison alone if its connection sent it last.
///
/// A body is cached when it comes the second time, because most mutations come once. It replaces
/// one that was not used since its place was last considered. Only results that depend on nothing
/// but the bytes may be cached.
final class RequestBodyCache {
  private static let maximumBodyBytes = 8 * 1024
  private static let maximumCount = 512

  private var bodies: [CachedBody] = []
  private var places: [CachedBody.Key: Int] = [:]
  /// The number of bodies that were ever kept.
  private var serial: UInt64 = 0
  /// The place where the search for a body to evict continues.
  private var hand = 0
  /// The hashes of recent bodies; each is at the index that it determines.
  private var seen = [Int](repeating: 0, count: 1024)

  /// Returns a key to find and cache a body by; nil for a body that is too large to be cached.
  func key(of body: [UInt8]) -> CachedBody.Key? {
    body.count <= Self.maximumBodyBytes ? CachedBody.Key(body) : nil
  }

  func place(of key: CachedBody.Key) -> Int? { places[key] }

  /// Returns the body cached at a place, if it equals these bytes.
  func body(at place: Int, _ bytes: [UInt8]) -> CachedBody? {
    guard place < bodies.count, bodies[place].isRead(from: bytes) else { return nil }
    return body(at: place)
  }

  /// Returns a body.
  ///
  /// - Parameter place: the place of a cached body.
  func body(at place: Int) -> CachedBody {
    let body = bodies[place]
    body.isUsed = true
    return body
  }

  /// Caches the request if its body repeats, and returns the request as later lookups will find it.
  func keep(_ request: GraphQLRequest, for key: CachedBody.Key) -> GraphQLRequest {
    let place = key.hash & (seen.count - 1)
    guard seen[place] == key.hash else {
      seen[place] = key.hash
      return request
    }
    var request = request
    let slot = freePlace()
    serial &+= 1
    request.memo = RequestMemo(place: slot, serial: serial)
    let body = CachedBody(CachedBody.Key(copying: key), request)
    places[body.key] = slot
    if slot == bodies.count { bodies.append(body) } else { bodies[slot] = body }
    return request
  }

  /// Returns the place for another body: a new one, or that of a body that is forgotten for it.
  private func freePlace() -> Int {
    guard bodies.count == Self.maximumCount else { return bodies.count }
    while bodies[hand].isUsed {
      bodies[hand].isUsed = false
      hand = (hand + 1) % bodies.count
    }
    places[bodies[hand].key] = nil
    defer { hand = (hand + 1) % bodies.count }
    return hand
  }
}
