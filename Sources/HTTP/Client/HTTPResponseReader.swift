import CLLHTTP
import Glibc

/// Reads responses on a connection that has one request at a time (RFC 9112), from bytes as they
/// arrive. The buffers stay for the next response.
package struct HTTPResponseReader {
  package enum Progress: Sendable {
    case incomplete
    case complete
    case malformed
  }

  private enum Framing {
    case head
    case length(Int)
    case chunked(HTTPChunkedBody)
    case untilClose
  }

  private struct Field {
    let name: Range<Int>
    let value: Range<Int>
  }

  /// The maximum size of a head, and of a body.
  private static let maximumHeadBytes = 64 * 1024
  private static let maximumBodyBytes = 256 * 1024 * 1024
  private static let maximumFields = 100

  private var bytes: [UInt8] = []
  private var headEnd = 0
  private var scanned = 0
  private var framing = Framing.head
  private var decoded: [UInt8] = []
  private var decodedTo = 0
  private var fields: [Field] = []
  private var places = HTTPFieldPlaces()

  /// The status of the response; 0 before its head is complete.
  package private(set) var status = 0
  /// Whether the connection takes another request after this response.
  package private(set) var keepsAlive = false

  package init() {}

  /// The number of bytes of the response so far, with its head.
  package var receivedBytes: Int { bytes.count }

  /// Prepares for the next response.
  package mutating func reset() {
    bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 20)
    decoded.removeAll(keepingCapacity: true)
    fields.removeAll(keepingCapacity: true)
    (headEnd, scanned, decodedTo, status) = (0, 0, 0, 0)
    framing = .head
    keepsAlive = false
  }

  /// Takes bytes that have arrived.
  package mutating func append(_ new: UnsafeRawBufferPointer) {
    unsafe bytes.append(contentsOf: new)
  }

  /// Reads on in what has arrived.
  package mutating func advance() -> Progress {
    while case .head = framing {
      switch readHead() {
      case .incomplete: return bytes.count > Self.maximumHeadBytes ? .malformed : .incomplete
      case .malformed: return .malformed
      case .complete: break
      }
    }
    switch framing {
    case .head: return .incomplete
    case .length(let length):
      guard bytes.count >= headEnd + length else { return .incomplete }
      // What follows was not asked for.
      if bytes.count > headEnd + length { keepsAlive = false }
      return .complete
    case .chunked(var chunked):
      do throws(HTTPRefusal) {
        decodedTo = try chunked.decode(bytes, from: decodedTo, into: &decoded, limits: HTTPLimits())
      } catch {
        return .malformed
      }
      framing = .chunked(chunked)
      if decodedTo < bytes.count { keepsAlive = false }
      return chunked.isComplete ? .complete : .incomplete
    case .untilClose:
      return bytes.count - headEnd > Self.maximumBodyBytes ? .malformed : .incomplete
    }
  }

  /// Takes the end of the connection, which ends a body without a length.
  package mutating func end() -> Progress {
    guard case .untilClose = framing else { return .malformed }
    return .complete
  }

  private mutating func readHead() -> Progress {
    guard let end = endOfHead() else { return .incomplete }
    places.reserve(Self.maximumFields)
    var head = llhttp_request_head()
    var code: UInt16 = 0
    let result = unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe places.spans.withUnsafeMutableBufferPointer { places in
        unsafe llhttp_parse_response_head(
          bytes.baseAddress, end, places.baseAddress, UInt32(places.count), &head, &code)
      }
    }
    guard result == 0 else { return .malformed }
    guard code >= 200 else {
      // An interim response, before the one that counts.
      bytes.removeFirst(end)
      scanned = 0
      return .complete
    }
    status = Int(code)
    keepsAlive = head.keeps_alive != 0
    headEnd = end
    for place in places.spans[..<min(Int(head.field_count), places.spans.count)] {
      let name = Int(place.name)
      let value = Int(place.value)
      fields.append(
        Field(
          name: name..<name + Int(place.name_length),
          value: value..<value + Int(place.value_length)))
    }
    if status == 204 || status == 304 {
      framing = .length(0)
    } else if head.is_chunked != 0 {
      framing = .chunked(HTTPChunkedBody(maximumBytes: Self.maximumBodyBytes))
      decodedTo = end
    } else if head.has_content_length != 0 {
      guard head.content_length <= UInt64(Self.maximumBodyBytes) else { return .malformed }
      framing = .length(Int(head.content_length))
    } else {
      framing = .untilClose
      keepsAlive = false
    }
    return .complete
  }

  /// Returns the offset after the empty line that ends the head.
  private mutating func endOfHead() -> Int? {
    let start = max(scanned - 3, 0)
    let found = unsafe bytes.withUnsafeBytes { all -> Int? in
      guard let base = all.baseAddress else { return nil }
      let mark: StaticString = "\r\n\r\n"
      guard let place = unsafe memmem(base + start, all.count - start, mark.utf8Start, 4) else {
        return nil
      }
      return unsafe UnsafeRawPointer(place) - base + 4
    }
    scanned = bytes.count
    return found
  }

  // MARK: - The response

  /// Returns the value of a header, the first of its name, which is given in lower case.
  package func header(_ name: StaticString) -> ArraySlice<UInt8>? {
    for field in fields where field.name.count == name.utf8CodeUnitCount {
      let isNamed = name.withUTF8Buffer { wanted in
        unsafe zip(bytes[field.name], wanted).allSatisfy { byte, wanted in
          byte == wanted || (byte | 0x20 == wanted && byte >= 0x41 && byte <= 0x5A)
        }
      }
      if isNamed { return bytes[field.value] }
    }
    return nil
  }

  /// The body of a complete response.
  package var body: ArraySlice<UInt8> {
    switch framing {
    case .head: []
    case .length(let length): bytes[headEnd..<min(headEnd + length, bytes.count)]
    case .chunked: decoded[...]
    case .untilClose: bytes[headEnd...]
    }
  }

  /// Returns whether the body contains a text, which a response without it need not be parsed for.
  package func bodyContains(_ text: StaticString) -> Bool {
    unsafe body.withUnsafeBytes { body in
      guard let base = body.baseAddress else { return false }
      return unsafe memmem(base, body.count, text.utf8Start, text.utf8CodeUnitCount) != nil
    }
  }
}
