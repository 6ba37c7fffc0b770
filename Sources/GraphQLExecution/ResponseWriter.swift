import GraphQLLanguage
import GraphQLPlanning
import JSON

/// Walks the binary record a statement returned by the plan's output shape, once, and writes JSON
/// straight into the response buffer: no tree between rows and bytes.
///
/// A null where the schema allows none becomes an error with its path and moves up to the nearest
/// nullable place, whose text is taken back. GraphQL September 2025, 6.4.4 Handling Execution Errors.
struct ResponseWriter {
  var json: JSONWriter
  private(set) var errors: [GraphQLError] = []
  private var frames = RecordFrames()
  private var cursorBytes: [UInt8] = []
  /// The answers of `__schema` and `__type`, by response name.
  private let introspection: [String: [UInt8]]
  private let cursorKey: CursorKey

  /// What writing a value came to; only `.written` left text behind.
  private enum Outcome {
    case written
    case null
    /// The error is recorded; the null moves up.
    case failed
  }

  init(json: JSONWriter, introspection: [String: [UInt8]] = [:], cursorKey: CursorKey) {
    self.json = json
    self.introspection = introspection
    self.cursorKey = cursorKey
  }

  /// Writes the value of `data`: the root object, or `null`.
  ///
  /// - Parameter bytes: the statement's one record; empty when the plan has no statement.
  mutating func writeData(_ shape: ObjectShape, _ bytes: RawSpan) {
    let start = json.count
    var base = 0
    if bytes.byteCount > 0 {
      base = frames.depth
      guard frames.pushRecord(bytes, 0, bytes.byteCount) != nil else {
        errors.append(GraphQLError("The database's answer could not be read."))
        return json.writeNull()
      }
    }
    if write(shape, bytes, base) != .written {
      json.truncate(to: start)
      json.writeNull()
    }
    frames.pop(to: 0)
  }

  // MARK: - Objects

  /// - Parameter base: where the record's columns begin in `frames`.
  private mutating func write(_ shape: ObjectShape, _ bytes: RawSpan, _ base: Int) -> Outcome {
    json.append(UInt8(ascii: "{"))
    var isFirst = true
    for field in shape.fields {
      if isFirst { isFirst = false } else { json.append(UInt8(ascii: ",")) }
      json.append(field.key)
      let outcome = value(
        field.value, field.responseName, field.isNonNull, field.coordinate, bytes, base)
      if outcome == .failed { return .failed }
    }
    json.append(UInt8(ascii: "}"))
    return .written
  }

  /// A field's value or, where it may be, null.
  private mutating func value(
    _ shape: ValueShape, _ responseName: String, _ isNonNull: Bool, _ coordinate: String,
    _ bytes: RawSpan, _ base: Int
  ) -> Outcome {
    let start = json.count
    let known = errors.count
    let outcome = write(shape, responseName, bytes, base)
    if outcome == .written, errors.count == known { return .written }
    return settle(outcome, start, known, .name(responseName), isNonNull, coordinate)
  }

  /// Completes the paths of new errors by one step, and decides where a null stays.
  private mutating func settle(
    _ outcome: Outcome, _ start: Int, _ known: Int, _ step: PathSegment, _ isNonNull: Bool,
    _ coordinate: String
  ) -> Outcome {
    if outcome == .null, isNonNull {
      errors.append(
        GraphQLError(
          "Cannot return null for non-nullable field \(coordinate).", path: [],
          code: "INTERNAL_SERVER_ERROR"))
    }
    for index in known..<errors.count { errors[index].path?.insert(step, at: 0) }
    switch outcome {
    case .written: return .written
    case .null, .failed:
      if isNonNull { return .failed }
      json.truncate(to: start)
      json.writeNull()
      return .written
    }
  }

  private mutating func write(
    _ shape: ValueShape, _ responseName: String, _ bytes: RawSpan, _ base: Int
  ) -> Outcome {
    switch shape {
    case .constant(let text):
      json.append(text)
      return .written
    case .leaf(let column, let format):
      return leaf(frames[base + column], format, bytes)
    case .leaves(let column, let format, let itemsNonNull):
      return leaves(frames[base + column], format, itemsNonNull, bytes)
    case .record(let column, let record):
      let entry = frames[base + column]
      guard entry.length >= 0 else { return .null }
      return element(entry, record, bytes)
    case .embedded(let when, let object):
      if let when {
        let entry = frames[base + when]
        guard entry.length == 1, bytes.byte(at: Int(entry.offset)) != 0 else { return .null }
      }
      return write(object, bytes, base)
    case .list(let column, let record, let itemsNonNull):
      return list(frames[base + column], record, itemsNonNull, bytes)
    case .connection(let connection):
      return write(connection, bytes, base)
    case .introspection:
      guard let answer = introspection[responseName] else { return .null }
      json.append(answer)
      return .written
    }
  }

  /// The record in an entry, under a frame of its own.
  private mutating func element(
    _ entry: RecordFrames.Entry, _ shape: RecordShape, _ bytes: RawSpan
  ) -> Outcome {
    let base = frames.depth
    guard frames.pushRecord(bytes, Int(entry.offset), Int(entry.length)) != nil else {
      return unreadable()
    }
    let outcome = write(shape, bytes, base)
    frames.pop(to: base)
    return outcome
  }

  private mutating func write(_ shape: RecordShape, _ bytes: RawSpan, _ base: Int) -> Outcome {
    switch shape {
    case .object(let object):
      return write(object, bytes, base)
    case .byTag(let column, let objects):
      let entry = frames[base + column]
      guard entry.length == 8, let object = objects[Int(bytes.byte(at: Int(entry.offset) + 7))]
      else { return .null }
      return write(object, bytes, base)
    case .nested(let column, let record):
      let entry = frames[base + column]
      guard entry.length >= 0 else { return .null }
      return element(entry, record, bytes)
    }
  }

  private mutating func unreadable() -> Outcome {
    errors.append(
      GraphQLError(
        "The database's answer could not be read.", path: [], code: "INTERNAL_SERVER_ERROR"))
    return .failed
  }

  // MARK: - Lists

  private mutating func list(
    _ entry: RecordFrames.Entry, _ shape: RecordShape, _ itemsNonNull: Bool, _ bytes: RawSpan
  ) -> Outcome {
    guard entry.length >= 0 else {
      // A list that only other types have, or that a mask hides.
      json.append("[]")
      return .written
    }
    let base = frames.depth
    guard let count = frames.pushArray(bytes, Int(entry.offset), Int(entry.length)) else {
      return unreadable()
    }
    let outcome = items(base, 0..<count, shape, itemsNonNull, bytes)
    frames.pop(to: base)
    return outcome
  }

  private mutating func items(
    _ base: Int, _ range: Range<Int>, reversed: Bool = false, _ shape: RecordShape,
    _ itemsNonNull: Bool, _ bytes: RawSpan
  ) -> Outcome {
    json.append(UInt8(ascii: "["))
    for position in range {
      if position > range.lowerBound { json.append(UInt8(ascii: ",")) }
      let entry = frames[base + (reversed ? range.upperBound - 1 - position : position)]
      let start = json.count
      let known = errors.count
      let outcome = entry.length >= 0 ? element(entry, shape, bytes) : .null
      if outcome == .written, errors.count == known { continue }
      if settle(outcome, start, known, .index(position), itemsNonNull, "of a list") == .failed {
        return .failed
      }
    }
    json.append(UInt8(ascii: "]"))
    return .written
  }

  private mutating func leaves(
    _ entry: RecordFrames.Entry, _ format: LeafFormat, _ itemsNonNull: Bool, _ bytes: RawSpan
  ) -> Outcome {
    guard entry.length >= 0 else { return .null }
    let base = frames.depth
    guard let count = frames.pushArray(bytes, Int(entry.offset), Int(entry.length)) else {
      return unreadable()
    }
    defer { frames.pop(to: base) }
    json.append(UInt8(ascii: "["))
    for index in 0..<count {
      if index > 0 { json.append(UInt8(ascii: ",")) }
      let start = json.count
      let known = errors.count
      let outcome = leaf(frames[base + index], format, bytes)
      if outcome == .written, errors.count == known { continue }
      if settle(outcome, start, known, .index(index), itemsNonNull, "of a list") == .failed {
        return .failed
      }
    }
    json.append(UInt8(ascii: "]"))
    return .written
  }

  // MARK: - Connections

  private mutating func write(
    _ shape: ConnectionShape, _ bytes: RawSpan, _ parentBase: Int
  ) -> Outcome {
    let base = frames.depth
    var found = 0
    if let column = shape.itemsColumn {
      let entry = frames[parentBase + column]
      if entry.length >= 0 {
        guard let count = frames.pushArray(bytes, Int(entry.offset), Int(entry.length)) else {
          return unreadable()
        }
        found = count
      }
    }
    defer { frames.pop(to: base) }
    let count = min(found, shape.pageSize)
    let page = Page(
      base: base, count: count, hasMore: found > shape.pageSize, isBackward: shape.isBackward)
    json.append(UInt8(ascii: "{"))
    var isFirst = true
    for part in shape.parts {
      if isFirst { isFirst = false } else { json.append(UInt8(ascii: ",")) }
      json.append(part.key)
      let start = json.count
      let known = errors.count
      let outcome = write(part.part, shape, page, bytes, parentBase)
      if outcome == .written, errors.count == known { continue }
      if settle(outcome, start, known, .name(part.responseName), part.isNonNull, part.responseName)
        == .failed
      {
        return .failed
      }
    }
    json.append(UInt8(ascii: "}"))
    return .written
  }

  private struct Page {
    let base: Int
    let count: Int
    let hasMore: Bool
    let isBackward: Bool
  }

  private mutating func write(
    _ part: ConnectionShape.Part, _ shape: ConnectionShape, _ page: Page, _ bytes: RawSpan,
    _ parentBase: Int
  ) -> Outcome {
    switch part {
    case .constant(let text):
      json.append(text)
      return .written
    case .leaf(let column, let format):
      return leaf(frames[parentBase + column], format, bytes)
    case .nodes(let record):
      return items(
        page.base, 0..<page.count, reversed: page.isBackward, record, true, bytes)
    case .edges(let edge):
      return edges(edge, shape, page, bytes)
    case .pageInfo(let fields):
      pageInfo(fields, shape, page, bytes)
      return .written
    }
  }

  private mutating func edges(
    _ edge: EdgeShape, _ shape: ConnectionShape, _ page: Page, _ bytes: RawSpan
  ) -> Outcome {
    json.append(UInt8(ascii: "["))
    for position in 0..<page.count {
      if position > 0 { json.append(UInt8(ascii: ",")) }
      let entry = frames[page.base + (page.isBackward ? page.count - 1 - position : position)]
      let known = errors.count
      let base = frames.depth
      guard frames.pushRecord(bytes, Int(entry.offset), Int(max(entry.length, 0))) != nil else {
        return unreadable()
      }
      let outcome = write(edge, shape, bytes, base)
      frames.pop(to: base)
      if errors.count > known {
        for index in known..<errors.count { errors[index].path?.insert(.index(position), at: 0) }
      }
      if outcome == .failed { return .failed }
    }
    json.append(UInt8(ascii: "]"))
    return .written
  }

  private mutating func write(
    _ edge: EdgeShape, _ shape: ConnectionShape, _ bytes: RawSpan, _ base: Int
  ) -> Outcome {
    json.append(UInt8(ascii: "{"))
    var isFirst = true
    for part in edge.parts {
      if isFirst { isFirst = false } else { json.append(UInt8(ascii: ",")) }
      json.append(part.key)
      let start = json.count
      let known = errors.count
      let outcome: Outcome
      switch part.part {
      case .constant(let text):
        json.append(text)
        outcome = .written
      case .cursor:
        cursor(shape, bytes, base)
        outcome = .written
      case .node(let record):
        outcome = write(record, bytes, base)
      case .field(let value):
        outcome = write(value, part.responseName, bytes, base)
      }
      if outcome == .written, errors.count == known { continue }
      if settle(outcome, start, known, .name(part.responseName), part.isNonNull, part.responseName)
        == .failed
      {
        return .failed
      }
    }
    json.append(UInt8(ascii: "}"))
    return .written
  }

  private mutating func pageInfo(
    _ fields: [PageInfoField], _ shape: ConnectionShape, _ page: Page, _ bytes: RawSpan
  ) {
    json.append(UInt8(ascii: "{"))
    var isFirst = true
    for field in fields {
      if isFirst { isFirst = false } else { json.append(UInt8(ascii: ",")) }
      json.append(field.key)
      switch field.kind {
      case .constant(let text): json.append(text)
      case .hasNextPage: json.write(page.isBackward ? shape.hasCursor : page.hasMore)
      case .hasPreviousPage: json.write(page.isBackward ? page.hasMore : shape.hasCursor)
      case .startCursor: boundary(isFirst: true, shape, page, bytes)
      case .endCursor: boundary(isFirst: false, shape, page, bytes)
      }
    }
    json.append(UInt8(ascii: "}"))
  }

  /// The cursor of the first or last element of the page, or null when the page is empty.
  private mutating func boundary(
    isFirst: Bool, _ shape: ConnectionShape, _ page: Page, _ bytes: RawSpan
  ) {
    guard page.count > 0 else { return json.writeNull() }
    let entry = frames[page.base + (isFirst == page.isBackward ? page.count - 1 : 0)]
    let base = frames.depth
    guard frames.pushRecord(bytes, Int(entry.offset), Int(max(entry.length, 0))) != nil else {
      return json.writeNull()
    }
    cursor(shape, bytes, base)
    frames.pop(to: base)
  }

  private mutating func cursor(_ shape: ConnectionShape, _ bytes: RawSpan, _ base: Int) {
    cursorBytes.removeAll(keepingCapacity: true)
    for column in shape.keyColumns {
      let entry = frames[base + column]
      guard entry.length >= 0 else {
        cursorBytes.append(0xFF)
        cursorBytes.append(0xFF)
        continue
      }
      let length = min(Int(entry.length), Cursor.maximumKeyBytes)
      cursorBytes.append(UInt8(truncatingIfNeeded: length >> 8))
      cursorBytes.append(UInt8(truncatingIfNeeded: length))
      for index in 0..<length { cursorBytes.append(bytes.byte(at: Int(entry.offset) + index)) }
    }
    Cursor.seal(&cursorBytes, order: shape.order, key: cursorKey)
    json.append(UInt8(ascii: "\""))
    Base64URL.append(cursorBytes) { json.append($0) }
    json.append(UInt8(ascii: "\""))
  }

  // MARK: - Leaves

  private mutating func leaf(
    _ entry: RecordFrames.Entry, _ format: LeafFormat, _ bytes: RawSpan
  ) -> Outcome {
    guard entry.length >= 0 else { return .null }
    let offset = Int(entry.offset)
    switch format {
    case .string:
      json.writeString(utf8: bytes.extracting(offset..<offset + Int(entry.length)))
      return .written
    case .id:
      guard let id = integer(entry, bytes) else { return mismatch("ID", entry) }
      json.append(UInt8(ascii: "\""))
      NodeID.append(id) { json.append($0) }
      json.append(UInt8(ascii: "\""))
      return .written
    case .int:
      guard let number = integer(entry, bytes) else { return mismatch("Int", entry) }
      guard let small = Int32(exactly: number) else {
        return failed("Int cannot represent non 32-bit signed integer value: \(number)")
      }
      json.write(small)
      return .written
    case .boolean:
      guard entry.length == 1 else { return mismatch("Boolean", entry) }
      json.write(bytes.byte(at: offset) != 0)
      return .written
    case .float:
      return float(entry, bytes)
    case .dateTime:
      guard entry.type == 1184, entry.length == 8 else { return mismatch("DateTime", entry) }
      json.append(UInt8(ascii: "\""))
      guard Timestamp.append(microseconds: bytes.int64(at: offset), to: { json.append($0) }) else {
        return failed("A time outside the years 0 to 9999 cannot be written.")
      }
      json.append(UInt8(ascii: "\""))
      return .written
    case .date:
      guard entry.type == 1082, entry.length == 4 else { return mismatch("Date", entry) }
      json.append(UInt8(ascii: "\""))
      guard Timestamp.append(days: Int64(bytes.int32(at: offset)), to: { json.append($0) }) else {
        return failed("A day outside the years 0 to 9999 cannot be written.")
      }
      json.append(UInt8(ascii: "\""))
      return .written
    }
  }

  private func integer(_ entry: RecordFrames.Entry, _ bytes: RawSpan) -> Int64? {
    let offset = Int(entry.offset)
    switch (entry.type, entry.length) {
    case (20, 8): return bytes.int64(at: offset)
    case (23, 4): return Int64(bytes.int32(at: offset))
    case (21, 2): return Int64(bytes.int16(at: offset))
    default: return nil
    }
  }

  private mutating func float(_ entry: RecordFrames.Entry, _ bytes: RawSpan) -> Outcome {
    let value: Double
    switch (entry.type, entry.length) {
    case (701, 8):
      value = Double(bitPattern: UInt64(bitPattern: bytes.int64(at: Int(entry.offset))))
    case (700, 4):
      value = Double(
        Float(bitPattern: UInt32(bitPattern: bytes.int32(at: Int(entry.offset)))))
    default:
      guard let number = integer(entry, bytes) else { return mismatch("Float", entry) }
      value = Double(number)
    }
    guard value.isFinite else {
      return failed("Float cannot represent non numeric value: \(value)")
    }
    json.write(value)
    return .written
  }

  private mutating func mismatch(_ scalar: String, _ entry: RecordFrames.Entry) -> Outcome {
    failed("\(scalar) cannot be read from PostgreSQL's type \(entry.type).")
  }

  private mutating func failed(_ message: String) -> Outcome {
    errors.append(GraphQLError(message, path: [], code: "INTERNAL_SERVER_ERROR"))
    return .failed
  }
}
