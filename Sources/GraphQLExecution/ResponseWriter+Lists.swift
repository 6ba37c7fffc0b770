import GraphQLPlanning
import GraphQLResponse
import JSON

/// Writing lists, and the pages of connections.
extension ResponseWriter {
  // MARK: - Lists

  mutating func list(
    _ entry: RecordFrames.Entry, _ record: Int32, _ itemsNonNull: Bool, _ bytes: RawSpan,
    _ stream: Int32 = -1
  ) -> Outcome {
    guard entry.length >= 0 else {
      // A list that only other types have, or that a mask hides.
      json.append("[]")
      return .written
    }
    cost &+= 2
    let base = frames.depth
    guard let count = frames.pushArray(bytes, Int(entry.offset), Int(entry.length)) else {
      return unreadable()
    }
    if count > maximumItems { return tooLong(base) }
    let outcome = items(base, count, reversed: false, record, itemsNonNull, bytes, stream)
    frames.pop(to: base)
    return outcome
  }

  @inline(never)
  private mutating func tooLong(_ base: Int) -> Outcome {
    frames.pop(to: base)
    failedItem = nil
    notes.append(
      .error(
        GraphQLError(
          "The list has more than \(maximumItems) elements, and no pages. Ask for a part of it.",
          path: [],
          code: .resultLimitExceeded)))
    return .failed
  }

  mutating func items(
    _ base: Int, _ count: Int, reversed: Bool, _ record: Int32, _ itemsNonNull: Bool,
    _ bytes: RawSpan, _ stream: Int32 = -1
  ) -> Outcome {
    let range = program.range(of: stream, in: count)
    json.append(UInt8(ascii: "["))
    for position in range {
      if position > range.lowerBound { json.append(UInt8(ascii: ",")) }
      let entry = frames[base + (reversed ? count - 1 - position : position)]
      let start = json.count
      let known = notes.count
      let outcome = entry.length >= 0 ? element(entry, record, bytes) : .null
      if outcome == .written, notes.count == known { continue }
      if settle(outcome, start, known, .index(position), itemsNonNull, "of a list") == .failed {
        failedItem = FailedItem(position: position, text: start, notes: known)
        return .failed
      }
    }
    end(stream, of: count)
    return .written
  }

  mutating func leaves(
    _ entry: RecordFrames.Entry, _ format: LeafFormat, _ itemsNonNull: Bool, _ bytes: RawSpan,
    _ stream: Int32 = -1
  ) -> Outcome {
    guard entry.length >= 0 else { return .null }
    guard json.count <= maximumBytes else { return giveUp() }
    let base = frames.depth
    guard let count = frames.pushArray(bytes, Int(entry.offset), Int(entry.length)) else {
      guard frames.isNested(bytes, Int(entry.offset), Int(entry.length)) else {
        return unreadable()
      }
      failedItem = nil
      return notRepresentable("A list cannot represent an array of several dimensions.")
    }
    defer { frames.pop(to: base) }
    let range = program.range(of: stream, in: count)
    json.append(UInt8(ascii: "["))
    for index in range {
      if index > range.lowerBound { json.append(UInt8(ascii: ",")) }
      let start = json.count
      let known = notes.count
      let outcome = leaf(frames[base + index], format, bytes)
      if outcome == .written, notes.count == known { continue }
      if settle(outcome, start, known, .index(index), itemsNonNull, "of a list") == .failed {
        failedItem = FailedItem(position: index, text: start, notes: known)
        return .failed
      }
    }
    end(stream, of: count)
    return .written
  }

  // MARK: - Connections

  mutating func connection(_ index: Int, _ bytes: RawSpan, _ parentBase: Int) -> Outcome {
    cost &+= Int(program.connections[index].cost)
    let base = frames.depth
    guard let page = page(index, bytes, parentBase) else { return unreadable() }
    let outcome = object(program.connections[index].object, bytes, parentBase, page)
    frames.pop(to: base)
    return outcome
  }

  /// Its elements under frames of their own; nil where they cannot be read.
  mutating func page(_ index: Int, _ bytes: RawSpan, _ parentBase: Int) -> Page? {
    let connection = program.connections[index]
    let base = frames.depth
    var found = 0
    if connection.itemsColumn >= 0 {
      let entry = frames[parentBase + Int(connection.itemsColumn)]
      if entry.length >= 0 {
        guard let count = frames.pushArray(bytes, Int(entry.offset), Int(entry.length)) else {
          return nil
        }
        found = count
      }
    }
    found += connection.skipped
    return Page(
      connection: index, base: base - connection.skipped,
      count: min(found, connection.pageSize), hasMore: found > connection.pageSize)
  }

  /// Writes the page information of the enclosing page, or of the value's own page.
  mutating func pageInfo(
    _ index: Int32, _ own: Int32, _ bytes: RawSpan, _ base: Int, _ page: Page
  ) -> Outcome {
    guard own >= 0 else { return object(index, bytes, base, page) }
    let inner = frames.depth
    guard let page = self.page(Int(own), bytes, base) else { return unreadable() }
    let outcome = object(index, bytes, base, page)
    frames.pop(to: inner)
    return outcome
  }

  mutating func edges(
    _ edge: Int32, _ page: Page, _ bytes: RawSpan, _ stream: Int32 = -1
  ) -> Outcome {
    let isBackward = program.connections[page.connection].isBackward
    let range = program.range(of: stream, in: page.count)
    json.append(UInt8(ascii: "["))
    for position in range {
      if position > range.lowerBound { json.append(UInt8(ascii: ",")) }
      let entry = frames[page.base + (isBackward ? page.count - 1 - position : position)]
      let start = json.count
      let known = notes.count
      let base = frames.depth
      cost &+= 1
      guard frames.pushRecord(bytes, Int(entry.offset), Int(max(entry.length, 0))) != nil else {
        return unreadable()
      }
      let outcome = object(edge, bytes, base, page)
      frames.pop(to: base)
      if notes.count > known {
        for index in known..<notes.count { notes[index].prepend(.index(position)) }
      }
      if outcome == .failed {
        keepCause(from: known)
        failedItem = FailedItem(position: position, text: start, notes: known)
        return .failed
      }
    }
    end(stream, of: page.count)
    return .written
  }

  /// The cursor of the first or last element of the page, or null when the page is empty.
  mutating func boundary(isFirst: Bool, _ page: Page, _ bytes: RawSpan) {
    guard page.count > 0 else { return json.writeNull() }
    let isBackward = program.connections[page.connection].isBackward
    let entry = frames[page.base + (isFirst == isBackward ? page.count - 1 : 0)]
    let base = frames.depth
    guard frames.pushRecord(bytes, Int(entry.offset), Int(max(entry.length, 0))) != nil else {
      frames.pop(to: base)
      return json.writeNull()
    }
    cursor(page.connection, bytes, base)
    frames.pop(to: base)
  }

  mutating func cursor(_ index: Int, _ bytes: RawSpan, _ base: Int) {
    let connection = program.connections[index]
    cursorBytes.removeAll(keepingCapacity: true)
    for place in Int(connection.firstKey)..<Int(connection.endKey) {
      let entry = frames[base + Int(program.keyColumns[place])]
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
    Cursor.append(cursorSigner, to: &cursorBytes, order: connection.order)
    json.append(UInt8(ascii: "\""))
    Base64URL.append(cursorBytes) { json.append($0) }
    json.append(UInt8(ascii: "\""))
  }
}
