import GraphQLPlanning
import GraphQLResponse
import JSON

extension ResponseWriter {
  /// A value that is no list and no object, in the form that its scalar has in JSON.
  mutating func leaf(
    _ entry: RecordFrames.Entry, _ format: LeafFormat, _ bytes: RawSpan
  ) -> Outcome {
    guard entry.length >= 0 else { return .null }
    let offset = Int(entry.offset)
    switch format {
    case .decimal:
      guard entry.isText else { return mismatch("Decimal", entry) }
      // `NaN`, `Infinity` and `-Infinity` are all that is no number.
      let last = entry.length > 0 ? bytes.byte(at: offset + Int(entry.length) - 1) : 0
      guard last >= UInt8(ascii: "0"), last <= UInt8(ascii: "9") else {
        return notRepresentable("A decimal cannot represent NaN or infinity.")
      }
      json.writeString(utf8: bytes.extracting(offset..<offset + Int(entry.length)))
      return .written
    case .string:
      guard entry.isText else { return mismatch("String", entry) }
      json.writeString(utf8: bytes.extracting(offset..<offset + Int(entry.length)))
      return .written
    case .id:
      guard let id = integer(entry, bytes) else { return mismatch("ID", entry) }
      json.append { text in
        text.append(UInt8(ascii: "\""))
        NodeID.append(id) { text.append($0) }
        text.append(UInt8(ascii: "\""))
      }
      return .written
    case .int:
      guard let number = integer(entry, bytes) else { return mismatch("Int", entry) }
      guard let small = Int32(exactly: number) else {
        return notRepresentable("Int cannot represent non 32-bit signed integer value: \(number)")
      }
      json.write(small)
      return .written
    case .count(let limit):
      guard let number = integer(entry, bytes) else { return mismatch("Int", entry) }
      json.write(Int32(clamping: min(number, Int64(limit))))
      return .written
    case .isCounted(let limit):
      guard let number = integer(entry, bytes) else { return mismatch("Boolean", entry) }
      json.write(number <= Int64(limit))
      return .written
    case .boolean:
      guard entry.type == 16 || entry.isOfDomain, entry.length == 1 else {
        return mismatch("Boolean", entry)
      }
      json.write(bytes.byte(at: offset) != 0)
      return .written
    case .float:
      return float(entry, bytes)
    case .dateTime, .instant:
      guard entry.type == 1184 || entry.isOfDomain, entry.length == 8 else {
        return mismatch("DateTime", entry)
      }
      let isExact = if case .instant = format { true } else { false }
      var isWritten = false
      json.append { text in
        text.append(UInt8(ascii: "\""))
        isWritten = Timestamp.append(
          microseconds: bytes.int64(at: offset), isExact: isExact,
          to: { text.append($0) })
        text.append(UInt8(ascii: "\""))
      }
      guard isWritten else {
        return notRepresentable(
          "A date and time cannot represent infinity, nor what is outside the years 0 to 9999.")
      }
      return .written
    case .date:
      guard entry.type == 1082 || entry.isOfDomain, entry.length == 4 else {
        return mismatch("Date", entry)
      }
      json.append { text in
        text.append(UInt8(ascii: "\""))
        Timestamp.append(date: bytes.int32(at: offset), to: { text.append($0) })
        text.append(UInt8(ascii: "\""))
      }
      return .written
    case .uuid:
      guard entry.type == 2950 || entry.isOfDomain, entry.length == 16 else {
        return mismatch("A UUID", entry)
      }
      json.append { text in
        text.append(UInt8(ascii: "\""))
        for index in 0..<16 {
          if index == 4 || index == 6 || index == 8 || index == 10 {
            text.append(UInt8(ascii: "-"))
          }
          let byte = bytes.byte(at: offset + index)
          text.append(Self.hexadecimal(byte >> 4))
          text.append(Self.hexadecimal(byte & 15))
        }
        text.append(UInt8(ascii: "\""))
      }
      return .written
    case .integerText:
      guard let number = integer(entry, bytes) else { return mismatch("An integer", entry) }
      json.append(UInt8(ascii: "\""))
      json.write(number)
      json.append(UInt8(ascii: "\""))
      return .written
    case .json: return document(entry, bytes)
    case .key(let tag, let isSingle): return keyID(entry, tag, isSingle: isSingle, bytes)
    }
  }

  /// Writes an ID from a text, or from an array of texts of which none is null.
  private mutating func keyID(
    _ entry: RecordFrames.Entry, _ tag: Int, isSingle: Bool, _ bytes: RawSpan
  ) -> Outcome {
    let base = frames.depth
    defer { frames.pop(to: base) }
    var values: [RecordFrames.Entry] = [entry]
    if !isSingle {
      guard let count = frames.pushArray(bytes, Int(entry.offset), Int(entry.length)) else {
        return unreadable()
      }
      values = (0..<count).map { frames[base + $0] }
    }
    guard values.allSatisfy({ $0.length >= 0 }) else { return .null }
    var encoder = Base64URLEncoder()
    json.append(UInt8(ascii: "\""))
    KeyID.append(tag) { byte in encoder.append(byte) { json.append($0) } }
    for (place, value) in values.enumerated() {
      if place < values.count - 1 {
        KeyID.append(Int(value.length)) { byte in encoder.append(byte) { json.append($0) } }
      }
      let start = Int(value.offset)
      for offset in start..<start + Int(value.length) {
        encoder.append(bytes.byte(at: offset)) { json.append($0) }
      }
    }
    encoder.finish { json.append($0) }
    json.append(UInt8(ascii: "\""))
    return .written
  }

  private static func hexadecimal(_ digit: UInt8) -> UInt8 {
    digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
  }

  /// Copies a `json` or `jsonb`, which is JSON already. The latter, and a domain over it, begins
  /// with its version.
  private mutating func document(_ entry: RecordFrames.Entry, _ bytes: RawSpan) -> Outcome {
    guard entry.type == 114 || entry.type == 3802 || entry.isOfDomain, entry.length > 0 else {
      return mismatch("JSON", entry)
    }
    var start = Int(entry.offset)
    let end = start + Int(entry.length)
    if bytes.byte(at: start) == 1 { start += 1 }
    let text = bytes.extracting(start..<end)
    // Line breaks can be only between values, and would end a line of an event stream.
    guard (start..<end).contains(where: { bytes.byte(at: $0) < 0x20 }) else {
      unsafe text.withUnsafeBytes { unsafe json.append(raw: $0) }
      return .written
    }
    for place in start..<end { json.append(max(bytes.byte(at: place), 0x20)) }
    return .written
  }

  func integer(_ entry: RecordFrames.Entry, _ bytes: RawSpan) -> Int64? {
    let offset = Int(entry.offset)
    switch (entry.type, entry.length) {
    case (20, 8): return bytes.int64(at: offset)
    case (23, 4): return Int64(bytes.int32(at: offset))
    case (21, 2): return Int64(bytes.int16(at: offset))
    default: break
    }
    guard entry.isOfDomain else { return nil }
    switch entry.length {
    case 8: return bytes.int64(at: offset)
    case 4: return Int64(bytes.int32(at: offset))
    case 2: return Int64(bytes.int16(at: offset))
    default: return nil
    }
  }

  private mutating func float(_ entry: RecordFrames.Entry, _ bytes: RawSpan) -> Outcome {
    let value: Double
    switch (entry.isOfDomain ? (entry.length == 4 ? 700 : 701) : entry.type, entry.length) {
    case (701, 8):
      value = Double(bitPattern: UInt64(bitPattern: bytes.int64(at: Int(entry.offset))))
    case (700, 4):
      let number = Float(bitPattern: UInt32(bitPattern: bytes.int32(at: Int(entry.offset))))
      // 9.8, as PostgreSQL shows it, not the 9.800000190734863 that is nearest to it as a double.
      value = Double(number.description) ?? Double(number)
    default:
      guard let number = integer(entry, bytes) else { return mismatch("Float", entry) }
      value = Double(number)
    }
    guard value.isFinite else {
      let text = value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity"
      return notRepresentable("Float cannot represent non numeric value: \(text)")
    }
    json.write(value)
    return .written
  }

  private mutating func mismatch(_ scalar: String, _ entry: RecordFrames.Entry) -> Outcome {
    failed("\(scalar) cannot be read from PostgreSQL's type \(entry.type).")
  }

  mutating func notRepresentable(_ message: String) -> Outcome {
    notes.append(.error(.notRepresentable(message)))
    return .failed
  }

  private mutating func failed(_ reason: String) -> Outcome {
    notes.append(.error(.fault(reason, path: [])))
    return .failed
  }
}
