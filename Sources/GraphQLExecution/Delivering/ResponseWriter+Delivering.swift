import GraphQLResponse
import JSON

extension ResponseWriter {
  /// The fields of an object, or the items of a list, that a part delivers.
  struct Entry {
    let path: [PathSegment]
    /// The range of its fields or items in the text, or nil if a null propagated beyond the object.
    var data: Range<Int>?
    /// The errors of its data.
    var notes: [Note] = []
    /// Why the object is not there, or the items from this one on.
    var failure: [GraphQLError] = []
    var failedItem: Int?
  }

  /// Writes, one after the other, the objects of a part that comes later: what lies between them is the way there,
  /// which the client has.
  ///
  /// - Parameter bytes: the statement's one record; empty when the plan has no statement.
  mutating func writeEntries(_ bytes: RawSpan) -> [Entry] {
    guard fits(bytes) else { return [] }
    var walk = Walk()
    if bytes.byteCount > 0, frames.pushRecord(bytes, 0, bytes.byteCount) == nil { return [] }
    object(program.root, bytes, 0, .none, &walk)
    frames.pop(to: 0)
    return walk.entries
  }

  private struct Walk {
    var path: [PathSegment] = []
    var entries: [Entry] = []
  }

  private mutating func object(
    _ index: Int32, _ bytes: RawSpan, _ base: Int, _ page: Page, _ walk: inout Walk
  ) {
    guard !isTooLarge else { return }
    let object = program.objects[Int(index)]
    if object.payload >= 0 {
      let start = json.count
      let known = notes.count
      let outcome = self.object(object.payload, bytes, base, page)
      walk.entries.append(entry(outcome, start, known, at: walk.path))
    }
    for place in Int(object.firstField)..<Int(object.endField) {
      let field = program.fields[place]
      walk.path.append(.name(program.names[Int(field.name)].response))
      value(field.value, bytes, base, page, &walk)
      walk.path.removeLast()
    }
  }

  /// Takes what was written and noted of an object or a list.
  private mutating func entry(
    _ outcome: Outcome, _ start: Int, _ known: Int, at path: [PathSegment]
  ) -> Entry {
    guard outcome != .written else {
      return Entry(
        path: path, data: start..<json.count, notes: takeNotes(from: known, under: path))
    }
    json.truncate(to: start)
    keepCause(from: known)
    return Entry(path: path, failure: takeErrors(from: known, under: path))
  }

  private mutating func takeErrors(from known: Int, under path: [PathSegment]) -> [GraphQLError] {
    takeNotes(from: known, under: path).compactMap {
      if case .error(let error) = $0 { error } else { nil }
    }
  }

  /// Writes the items of a streamed list, up to one that is null and must not be.
  private mutating func deliver(
    _ stream: Int32, _ bytes: RawSpan, _ base: Int, _ page: Page, _ walk: inout Walk
  ) {
    let start = json.count
    let known = notes.count
    failedItem = nil
    let outcome = streamed(stream, bytes, base, page)
    guard outcome == .failed, let failed = failedItem else {
      var entry = entry(outcome, start, known, at: walk.path)
      // Without brackets, as the client appends them.
      entry.data = entry.data.map { $0.dropFirst().dropLast() }
      return walk.entries.append(entry)
    }
    let failure = takeErrors(from: failed.notes, under: walk.path)
    // With the comma or bracket before it.
    json.truncate(to: failed.text - 1)
    walk.entries.append(
      Entry(
        path: walk.path, data: min(start + 1, json.count)..<json.count,
        notes: takeNotes(from: known, under: walk.path), failure: failure,
        failedItem: failed.position))
  }

  /// Nothing leads on through what is null, or could not be read: the first part has said so.
  private mutating func value(
    _ value: ShapeProgram.Value, _ bytes: RawSpan, _ base: Int, _ page: Page,
    _ walk: inout Walk, of stream: Int32 = -1
  ) {
    switch value {
    case .record(let column, let record):
      element(frames[base + Int(column)], record, bytes, &walk)
    case .embedded(let when, let index):
      if when >= 0 {
        let entry = frames[base + Int(when)]
        guard entry.length == 1, bytes.byte(at: Int(entry.offset)) != 0 else { return }
      }
      object(index, bytes, base, .none, &walk)
    case .list(let column, let record, _):
      let entry = frames[base + Int(column)]
      let inner = frames.depth
      cost &+= 2
      guard entry.length >= 0,
        let count = frames.pushArray(bytes, Int(entry.offset), Int(entry.length))
      else { return frames.pop(to: inner) }
      items(inner, count, isBackward: false, record, bytes, &walk, of: stream)
      frames.pop(to: inner)
    case .connection(let index):
      let inner = frames.depth
      cost &+= 2
      if let page = self.page(Int(index), bytes, base) {
        object(program.connections[Int(index)].object, bytes, base, page, &walk)
      }
      frames.pop(to: inner)
    case .edges(let edge):
      let isBackward = program.connections[page.connection].isBackward
      for position in program.range(of: stream, in: page.count) {
        let entry = frames[page.base + (isBackward ? page.count - 1 - position : position)]
        let inner = frames.depth
        cost &+= 1
        walk.path.append(.index(position))
        if frames.pushRecord(bytes, Int(entry.offset), Int(max(entry.length, 0))) != nil {
          object(edge, bytes, inner, page, &walk)
        }
        walk.path.removeLast()
        frames.pop(to: inner)
      }
    case .nodes(let record):
      items(
        page.base, page.count, isBackward: program.connections[page.connection].isBackward, record,
        bytes, &walk, of: stream)
    case .streamed(let stream):
      let list = program.streams[Int(stream)]
      if list.items.isDelivered {
        deliver(stream, bytes, base, page, &walk)
      } else {
        self.value(list.value, bytes, base, page, &walk, of: stream)
      }
    case .node(let index):
      record(index, bytes, base, &walk)
    case .leaf, .leaves, .introspection, .secret, .refused, .pageInfo, .cursor, .hasNextPage,
      .hasPreviousPage, .startCursor, .endCursor:
      break
    }
  }

  private mutating func items(
    _ base: Int, _ count: Int, isBackward: Bool, _ record: Int32, _ bytes: RawSpan,
    _ walk: inout Walk, of stream: Int32
  ) {
    for position in program.range(of: stream, in: count) {
      walk.path.append(.index(position))
      element(
        frames[base + (isBackward ? count - 1 - position : position)], record, bytes, &walk)
      walk.path.removeLast()
    }
  }

  private mutating func element(
    _ entry: RecordFrames.Entry, _ index: Int32, _ bytes: RawSpan, _ walk: inout Walk
  ) {
    guard entry.length >= 0 else { return }
    cost &+= 1
    let base = frames.depth
    if frames.pushRecord(bytes, Int(entry.offset), Int(entry.length)) != nil {
      record(index, bytes, base, &walk)
    }
    frames.pop(to: base)
  }

  private mutating func record(
    _ index: Int32, _ bytes: RawSpan, _ base: Int, _ walk: inout Walk
  ) {
    switch program.records[Int(index)] {
    case .object(let index): object(index, bytes, base, .none, &walk)
    case .byTag(let column, let first, let end):
      let entry = frames[base + Int(column)]
      guard entry.length == 8 else { return }
      let tag = bytes.byte(at: Int(entry.offset) + 7)
      for place in Int(first)..<Int(end) where program.tags[place].tag == tag {
        return object(program.tags[place].object, bytes, base, .none, &walk)
      }
    case .nested(let column, let index, _):
      element(frames[base + Int(column)], index, bytes, &walk)
    }
  }
}
