import GraphQLLanguage
import GraphQLPlanning
import GraphQLResponse
import JSON

/// Walks the binary record a statement returned by the plan's output shape, once, and writes JSON
/// straight into the response buffer: no tree between rows and bytes.
///
/// A null where the schema allows none becomes an error with its path and moves up to the nearest
/// nullable place, whose text is taken back. GraphQL September 2025, 6.4.4 Handling Execution Errors.
/// The response has only the error that made such a place null, of all beneath it (proposal 1184). Other
/// behaviors are the request's: see `ErrorBehavior`.
///
/// Recursion is as deep as the operation's selections, which validation limits.
struct ResponseWriter: ~Copyable {
  var json: JSONWriter
  /// The errors, with paths that are completed on the way up.
  var notes: [Note] = []
  let program: ShapeProgram
  var frames: RecordFrames
  var cursorBytes: [UInt8] = []
  /// The answers of `__schema` and `__type`, by response name.
  private let introspection: [String: [UInt8]]
  let cursorSigner: CursorSigner
  /// The token made for the request.
  private let secret: String?
  /// The actual cost of the response, counted as in `OperationSize`.
  var cost = 0
  /// No object is begun once the text is longer.
  let maximumBytes: Int
  /// The effect of errors on the response around them.
  private let onError: ErrorBehavior
  /// The maximum number of items of a list without pages.
  let maximumItems: Int
  /// Keys of a live query, with the indices of their topics.
  private(set) var dependencies: Set<DependencyKey> = []
  /// Whether the response exceeds its maximum size, so that writing stopped.
  private(set) var isTooLarge = false

  enum Note {
    case error(GraphQLError)
    /// An object that is written has fields that are of a later part.
    case pending(part: Int, path: [PathSegment])

    mutating func prepend(_ step: PathSegment) {
      switch self {
      case .error(var error):
        error.path?.insert(step, at: 0)
        self = .error(error)
      case .pending(let part, var path):
        path.insert(step, at: 0)
        self = .pending(part: part, path: path)
      }
    }
  }

  var errors: [GraphQLError] {
    notes.compactMap { if case .error(let error) = $0 { error } else { nil } }
  }

  /// The item of a list, not null, that the last one which failed is for: where its text and its notes begin.
  struct FailedItem {
    let position: Int
    let text: Int
    let notes: Int
  }

  /// The failed item of the list that was abandoned last.
  var failedItem: FailedItem?

  /// The outcome of writing a value. Only `.written` leaves text.
  enum Outcome {
    case written
    case null
    /// The error is recorded; the null moves up.
    case failed
  }

  /// The state of a page that its connection and edges share.
  struct Page {
    static let none = Page(connection: 0, base: 0, count: 0, hasMore: false)

    /// Index into the program's connections.
    let connection: Int
    /// Where the elements begin in `frames`, or would, were none skipped.
    let base: Int
    let count: Int
    let hasMore: Bool
  }

  /// - Parameter frames: those of a writer that is done, to be used again.
  init(
    _ program: ShapeProgram, json: JSONWriter, frames: RecordFrames = RecordFrames(),
    introspection: [String: [UInt8]] = [:], cursorSigner: CursorSigner, secret: String? = nil,
    maximumBytes: Int = .max, maximumItems: Int = .max, onError: ErrorBehavior = .propagate
  ) {
    self.onError = onError
    self.frames = frames
    self.maximumItems = maximumItems
    self.maximumBytes = maximumBytes
    self.program = program
    self.json = json
    self.introspection = introspection
    self.cursorSigner = cursorSigner
    self.secret = secret
  }

  /// Writes the value of `data`: the root object, or `null`.
  ///
  /// - Parameter bytes: the statement's one record; empty when the plan has no statement.
  mutating func writeData(_ bytes: RawSpan) {
    guard fits(bytes) else { return }
    let start = json.count
    if bytes.byteCount > 0 {
      guard frames.pushRecord(bytes, 0, bytes.byteCount) != nil else {
        notes.append(.error(.fault("The record of a statement could not be read.")))
        return json.writeNull()
      }
    }
    if object(program.root, bytes, 0, .none) != .written {
      keepCause(from: 0)
      json.truncate(to: start)
      json.writeNull()
      dropPending(from: 0)
    }
    if json.count > maximumBytes { isTooLarge = true }
    frames.pop(to: 0)
  }

  /// Returns whether a record is no larger than a response may be; notes it if not.
  mutating func fits(_ bytes: RawSpan) -> Bool {
    if bytes.byteCount > maximumBytes { isTooLarge = true }
    return !isTooLarge
  }

  /// The text, and what the next writer can use again.
  consuming func finish(keeping frames: inout RecordFrames) -> [UInt8] {
    swap(&frames, &self.frames)
    frames.clear()
    return json.take()
  }

  /// Drops the pending parts of a value that is null.
  mutating func dropPending(from known: Int) {
    guard notes.count > known else { return }
    let kept = notes[known...].filter { if case .error = $0 { true } else { false } }
    notes.replaceSubrange(known..., with: kept)
  }

  /// Of the errors beneath a value that failed, keeps the one that made it fail: the last.
  mutating func keepCause(from known: Int) {
    guard notes.count > known + 1, let cause = notes.popLast() else { return }
    notes.replaceSubrange(known..., with: CollectionOfOne(cause))
  }

  /// Hands over what was noted since, in the order of the response.
  mutating func takeNotes(from known: Int, under path: [PathSegment]) -> [Note] {
    let taken = notes[known...].map { note in
      var note = note
      for step in path.reversed() { note.prepend(step) }
      return note
    }
    notes.removeSubrange(known...)
    return taken
  }

  // MARK: - Objects

  /// - Parameter base: where the record's columns begin in `frames`.
  mutating func object(
    _ index: Int32, _ bytes: RawSpan, _ base: Int, _ page: Page
  ) -> Outcome {
    guard json.count <= maximumBytes else { return giveUp() }
    let object = program.objects[Int(index)]
    keep(object.live, bytes, base)
    for place in Int(object.firstField)..<Int(object.endField) {
      let field = program.fields[place]
      // The most frequent case: a string and the constant text in front of it.
      if case .leaf(let column, .string) = field.value {
        let entry = frames[base + Int(column)]
        if entry.length >= 0, entry.isText {
          let offset = Int(entry.offset)
          let string = bytes.extracting(offset..<offset + Int(entry.length))
          program.append(field.lead, string: string, to: &json)
          continue
        }
      }
      program.append(field.lead, to: &json)
      let start = json.count
      let known = notes.count
      let outcome = value(field, bytes, base, page)
      if outcome == .written, notes.count == known { continue }
      let name = program.names[Int(field.name)]
      if settle(outcome, start, known, .name(name.response), field.isNonNull, name.coordinate)
        == .failed
      {
        return .failed
      }
    }
    program.append(object.tail, to: &json)
    for place in Int(object.firstPending)..<Int(object.endPending) {
      notes.append(.pending(part: program.pending[place], path: []))
    }
    return .written
  }

  /// Takes note of the keys in a record.
  @inline(__always)
  private mutating func keep(_ live: ShapeProgram.Live, _ bytes: RawSpan, _ base: Int) {
    if live.first < live.end { keepSome(live, bytes, base) }
  }

  @inline(never)
  private mutating func keepSome(_ live: ShapeProgram.Live, _ bytes: RawSpan, _ base: Int) {
    for place in Int(live.first)..<Int(live.end) {
      let column = program.live[place]
      let entry = frames[base + column.column]
      if entry.length < 0 { continue }
      if let id = integer(entry, bytes) {
        dependencies.insert(DependencyKey(topic: column.topic, id: id))
        continue
      }
      if entry.isText {
        var key = LiveKey()
        let start = Int(entry.offset)
        for offset in start..<start + Int(entry.length) { key.append(bytes.byte(at: offset)) }
        dependencies.insert(DependencyKey(topic: column.topic, id: key.value))
        continue
      }
      let inner = frames.depth
      let count = frames.pushArray(bytes, Int(entry.offset), Int(entry.length)) ?? 0
      for index in 0..<count {
        let element = frames[inner + index]
        if element.length >= 0, let id = integer(element, bytes) {
          dependencies.insert(DependencyKey(topic: column.topic, id: id))
        }
      }
      frames.pop(to: inner)
    }
  }

  @inline(never)
  mutating func giveUp() -> Outcome {
    isTooLarge = true
    return .failed
  }

  /// Completes the paths of new errors by one step, and decides where a null stays.
  mutating func settle(
    _ outcome: Outcome, _ start: Int, _ known: Int, _ step: PathSegment, _ isNonNull: Bool,
    _ coordinate: String
  ) -> Outcome {
    if isTooLarge { return .failed }
    if outcome == .null, isNonNull {
      notes.append(
        .error(.fault("Cannot return null for non-nullable field \(coordinate).", path: [])))
    }
    for index in known..<notes.count { notes[index].prepend(step) }
    switch outcome {
    case .written: return .written
    case .null, .failed:
      dropPending(from: known)
      if outcome == .failed { keepCause(from: known) }
      switch onError {
      case .propagate: if isNonNull { return .failed }
      case .null: break
      case .halt: if isNonNull || outcome == .failed { return .failed }
      }
      json.truncate(to: start)
      json.writeNull()
      return .written
    }
  }

  @inline(__always)
  private mutating func value(
    _ field: ShapeProgram.Field, _ bytes: RawSpan, _ base: Int, _ page: Page
  ) -> Outcome {
    switch field.value {
    case .leaf(let column, let format):
      return leaf(frames[base + Int(column)], format, bytes)
    case .leaves(let column, let format, let itemsNonNull):
      return leaves(frames[base + Int(column)], format, itemsNonNull, bytes)
    case .record(let column, let record):
      let entry = frames[base + Int(column)]
      guard entry.length >= 0 else { return .null }
      return element(entry, record, bytes)
    case .embedded(let when, let index):
      if when >= 0 {
        let entry = frames[base + Int(when)]
        guard entry.length == 1, bytes.byte(at: Int(entry.offset)) != 0 else { return .null }
      }
      return object(index, bytes, base, .none)
    case .list(let column, let record, let itemsNonNull):
      return list(frames[base + Int(column)], record, itemsNonNull, bytes)
    case .connection(let index):
      return connection(Int(index), bytes, base)
    case .introspection:
      guard let answer = introspection[program.names[Int(field.name)].response] else {
        return .null
      }
      json.append(answer)
      return .written
    case .secret:
      guard let secret else { return .null }
      json.write(secret)
      return .written
    case .refused(let index):
      var error = program.refusals[Int(index)]
      error.path = []
      notes.append(.error(error))
      return .failed
    case .edges(let edge):
      return edges(edge, page, bytes)
    case .nodes(let record):
      return items(
        page.base, page.count, reversed: program.connections[page.connection].isBackward, record,
        true, bytes)
    case .pageInfo(let index, let own):
      return pageInfo(index, own, bytes, base, page)
    case .node(let index):
      return record(index, bytes, base)
    case .cursor:
      cursor(page.connection, bytes, base)
    case .hasNextPage:
      let connection = program.connections[page.connection]
      json.write(connection.isBackward ? connection.hasCursor : page.hasMore)
    case .hasPreviousPage:
      let connection = program.connections[page.connection]
      json.write(connection.isBackward ? page.hasMore : connection.hasCursor)
    case .startCursor: boundary(isFirst: true, page, bytes)
    case .endCursor: boundary(isFirst: false, page, bytes)
    case .streamed(let index):
      return streamed(index, bytes, base, page)
    }
    return .written
  }

  /// Writes the items of a streamed list that belong to this part.
  @inline(never)
  mutating func streamed(
    _ stream: Int32, _ bytes: RawSpan, _ base: Int, _ page: Page
  ) -> Outcome {
    switch program.streams[Int(stream)].value {
    case .leaves(let column, let format, let itemsNonNull):
      leaves(frames[base + Int(column)], format, itemsNonNull, bytes, stream)
    case .list(let column, let record, let itemsNonNull):
      list(frames[base + Int(column)], record, itemsNonNull, bytes, stream)
    case .edges(let edge): edges(edge, page, bytes, stream)
    case .nodes(let record):
      items(
        page.base, page.count, reversed: program.connections[page.connection].isBackward, record,
        true, bytes, stream)
    case .leaf, .record, .embedded, .connection, .introspection, .secret, .refused, .pageInfo,
      .node, .cursor, .hasNextPage, .hasPreviousPage, .startCursor, .endCursor, .streamed:
      .null
    }
  }

  /// Ends a list, and says that the others of so many items come later, where there are any.
  @inline(__always)
  mutating func end(_ stream: Int32, of count: Int) {
    json.append(UInt8(ascii: "]"))
    if stream >= 0 { noteOthers(stream, of: count) }
  }

  @inline(never)
  private mutating func noteOthers(_ stream: Int32, of count: Int) {
    let items = program.streams[Int(stream)].items
    if let part = items.pending, count > items.range.upperBound {
      notes.append(.pending(part: part, path: []))
    }
  }

  /// The record in an entry, under a frame of its own.
  mutating func element(
    _ entry: RecordFrames.Entry, _ index: Int32, _ bytes: RawSpan
  ) -> Outcome {
    let base = frames.depth
    cost &+= 1
    guard frames.pushRecord(bytes, Int(entry.offset), Int(entry.length)) != nil else {
      return unreadable()
    }
    let outcome = record(index, bytes, base)
    frames.pop(to: base)
    return outcome
  }

  private mutating func record(_ index: Int32, _ bytes: RawSpan, _ base: Int) -> Outcome {
    switch program.records[Int(index)] {
    case .object(let index):
      return object(index, bytes, base, .none)
    case .byTag(let column, let first, let end):
      let entry = frames[base + Int(column)]
      guard entry.length == 8 else { return .null }
      let tag = bytes.byte(at: Int(entry.offset) + 7)
      for place in Int(first)..<Int(end) where program.tags[place].tag == tag {
        return object(program.tags[place].object, bytes, base, .none)
      }
      return .null
    case .nested(let column, let index, let live):
      keep(live, bytes, base)
      let entry = frames[base + Int(column)]
      guard entry.length >= 0 else { return .null }
      return element(entry, index, bytes)
    }
  }

  mutating func unreadable() -> Outcome {
    failedItem = nil
    notes.append(.error(.fault("A value of a statement's record could not be read.", path: [])))
    return .failed
  }
}
