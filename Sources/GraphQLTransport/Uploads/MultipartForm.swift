/// The parts of a body of `multipart/form-data` (RFC 7578).
struct MultipartForm {
  struct Part: Equatable {
    let name: String
    /// The place of the part's bytes in the body.
    let content: Range<Int>
  }

  private(set) var parts: [Part] = []

  private static let maximumHeaderBytes = 4096

  /// Parses a body; the time is linear in its length.
  ///
  /// - Parameter contentType: the header field with the boundary.
  init(_ body: [UInt8], contentType: String, maximumParts: Int) throws(TransportError) {
    guard let boundary = Self.boundary(contentType) else {
      throw .form("the Content-Type has no boundary, or one of more than 70 characters")
    }
    let delimiter = Array("\r\n--\(boundary)".utf8)
    // The first delimiter needs no line before it.
    var place: Int
    if body.starts(with: delimiter.dropFirst(2)) {
      place = delimiter.count - 2
    } else if let first = Self.find(delimiter, in: body, from: 0) {
      place = first + delimiter.count
    } else {
      throw .form("the boundary is not in the body")
    }
    while true {
      if Self.has("--", body, at: place) { return }
      while place < body.count, body[place] == 0x20 || body[place] == 0x09 { place += 1 }
      guard Self.has("\r\n", body, at: place) else { throw .form("a line ends wrongly") }
      guard parts.count < maximumParts else {
        throw .form("it has more than \(maximumParts) parts")
      }
      // The line end of a delimiter may be the one before an empty header.
      guard let end = Self.endOfHeader(in: body, from: place) else {
        throw .form("the header of a part does not end")
      }
      let start = end + 4
      let header = String(decoding: body[place..<end], as: UTF8.self)
      // An empty part ends with the line end of its header.
      guard let next = Self.find(delimiter, in: body, from: start - 2) else {
        throw .form("it does not end with the boundary")
      }
      guard let name = Self.name(in: header) else { throw .form("a part has no name") }
      parts.append(Part(name: name, content: start..<max(start, next)))
      place = next + delimiter.count
    }
  }

  private static func endOfHeader(in body: [UInt8], from start: Int) -> Int? {
    let last = min(start + maximumHeaderBytes, body.count - 4)
    return start <= last ? (start...last).first { has("\r\n\r\n", body, at: $0) } : nil
  }

  private static func has(_ text: StaticString, _ body: [UInt8], at place: Int) -> Bool {
    let end = place + text.utf8CodeUnitCount
    return end <= body.count && text.withUTF8Buffer { unsafe body[place..<end].elementsEqual($0) }
  }

  /// Returns the place of a pattern whose first byte is nowhere else in it: after a part of it that
  /// fits, the search goes on behind that part.
  private static func find(_ pattern: [UInt8], in body: [UInt8], from start: Int) -> Int? {
    let (bytes, wanted) = (body.span, pattern.span)
    guard start >= 0, let first = pattern.first else { return nil }
    var place = start
    while place <= bytes.count - wanted.count {
      guard bytes[place] == first else {
        place += 1
        continue
      }
      var count = 1
      while count < wanted.count, bytes[place + count] == wanted[count] { count += 1 }
      if count == wanted.count { return place }
      place += count
    }
    return nil
  }

  /// Returns the boundary, which has at most 70 characters (RFC 2046, 5.1.1).
  private static func boundary(_ contentType: String) -> String? {
    let value = MediaRange.parameter("boundary", of: contentType)
    return value.flatMap { (1...70).contains($0.utf8.count) ? $0 : nil }
  }

  /// Returns the name in the header field `Content-Disposition: form-data; name="a"`.
  private static func name(in header: String) -> String? {
    for line in header.split(whereSeparator: \.isNewline) {
      let pair = line.split(separator: ":", maxSplits: 1)
      guard pair.count == 2, pair[0].lowercased() == "content-disposition" else { continue }
      return MediaRange.parameter("name", of: String(pair[1]))
    }
    return nil
  }
}
