import GraphQLLanguage
import GraphQLPlanning
import GraphQLResponse
import JSON

/// An output shape in a flat form for the writer: tables of plain values that refer to each other
/// by index, and all constant text in one buffer. Walking it touches no reference counts.
///
/// The constant text between two values is one piece, including constant fields:
/// `{"__typename":"User","id":`.
final class ShapeProgram: Sendable {
  /// A piece of `text`.
  struct Text {
    let start: Int32
    let count: Int32
  }

  /// A field whose value comes from the record, the page or the request.
  struct Field {
    /// The constant text in front of the value.
    let lead: Text
    let value: Value
    let isNonNull: Bool
    /// Index into `names`.
    let name: Int32
  }

  /// Anything in braces: `{"a":` value `,"b":` value `}`.
  struct Object {
    let firstField: Int32
    let endField: Int32
    let tail: Text
    /// The range of its later parts in `pending`.
    var firstPending: Int32 = 0
    var endPending: Int32 = 0
    /// The index of the delivered object inside this one, or -1. If an object only encloses a
    /// delivered one, its own fields lead to that object and are not written.
    var payload: Int32 = -1
    var live = Live()
  }

  /// `ValueShape` with indices, and what the parts of connections, edges and `pageInfo` are.
  enum Value {
    case leaf(column: Int32, LeafFormat)
    case leaves(column: Int32, LeafFormat, itemsNonNull: Bool)
    case record(column: Int32, record: Int32)
    /// `when` is -1 without a condition.
    case embedded(when: Int32, object: Int32)
    case list(column: Int32, record: Int32, itemsNonNull: Bool)
    case connection(Int32)
    case introspection
    case secret
    /// Index into `refusals`.
    case refused(Int32)
    case edges(object: Int32)
    case nodes(record: Int32)
    /// `page` is the connection that is read for it alone, or -1.
    case pageInfo(object: Int32, page: Int32)
    case node(record: Int32)
    case cursor, hasNextPage, hasPreviousPage, startCursor, endCursor
    /// Index into `streams`.
    case streamed(Int32)
  }

  /// A list of which not all items are of this part.
  struct Stream {
    /// The list.
    let value: Value
    let items: StreamedItems
  }

  enum Record {
    case object(Int32)
    /// The objects are in `tags`, from one index up to another.
    case byTag(column: Int32, first: Int32, end: Int32)
    case nested(column: Int32, record: Int32, live: Live)
  }

  /// The range of a live query's dependencies in `live`.
  struct Live {
    var first: Int32 = 0
    var end: Int32 = 0
  }

  struct Tag {
    let tag: UInt8
    let object: Int32
  }

  struct Connection {
    let object: Int32
    /// -1 when nothing of the page itself is selected.
    let itemsColumn: Int32
    let pageSize: Int
    let skipped: Int
    let isBackward: Bool
    let hasCursor: Bool
    let order: UInt32
    let cost: Int32
    let firstKey: Int32
    let endKey: Int32
  }

  /// The name of a field in error messages.
  struct Name: Sendable {
    let response: String
    let coordinate: String
  }

  let text: [UInt8]
  let fields: [Field]
  let objects: [Object]
  let records: [Record]
  let tags: [Tag]
  let connections: [Connection]
  let keyColumns: [Int32]
  let names: [Name]
  let refusals: [GraphQLError]
  let streams: [Stream]
  /// Numbers of parts that come later.
  let pending: [Int]
  let live: [LiveColumn]
  /// The index of the root object.
  let root: Int32

  /// - Parameter isLater: it is a part of an answer that comes later, whose root is on the way to it.
  init(_ shape: ObjectShape, isLater: Bool = false) {
    var builder = Builder()
    builder.isOnTheWay = isLater
    root = builder.object(shape)
    text = builder.text + [UInt8](repeating: 0, count: JSONWriter.padding)
    (fields, objects) = (builder.fields, builder.objects)
    (records, tags, connections) = (builder.records, builder.tags, builder.connections)
    (keyColumns, names, refusals) = (builder.keyColumns, builder.names, builder.refusals)
    pending = builder.pending
    streams = builder.streams
    live = builder.live
  }

  /// The positions of a list's items that are of this part.
  ///
  /// - Parameter stream: index into `streams`; -1 of a list that is not streamed.
  @inline(__always)
  func range(of stream: Int32, in count: Int) -> Range<Int> {
    stream < 0 ? 0..<count : streams[Int(stream)].items.range.clamped(to: 0..<count)
  }

  @inline(__always)
  func append(_ piece: Text, to json: inout JSONWriter) {
    json.append(text, from: Int(piece.start), count: Int(piece.count))
  }

  @inline(__always)
  func append(_ piece: Text, string bytes: RawSpan, to json: inout JSONWriter) {
    json.append(text, from: Int(piece.start), count: Int(piece.count), string: bytes)
  }
}

/// Appends each part to its table after the parts that it refers to. Equal parts share an entry.
private struct Builder {
  typealias Program = ShapeProgram

  var text: [UInt8] = []
  var fields: [Program.Field] = []
  var objects: [Program.Object] = []
  var records: [Program.Record] = []
  var tags: [Program.Tag] = []
  var connections: [Program.Connection] = []
  var keyColumns: [Int32] = []
  var names: [Program.Name] = []
  var refusals: [GraphQLError] = []
  var streams: [Program.Stream] = []
  var pending: [Int] = []
  var live: [LiveColumn] = []
  /// Whether the builder is in a value that encloses the delivered one.
  var isOnTheWay = false
  private var known: [Known: Int32] = [:]

  private struct Known: Hashable {
    let shape: ObjectIdentifier
    let isOnTheWay: Bool
  }

  init() {}

  private enum Part {
    case constant([UInt8])
    case value(Program.Value)
    case marker(DeliveryMarker)
  }

  private typealias Member = (
    key: [UInt8], name: String, coordinate: String, isNonNull: Bool, part: Part
  )

  mutating func object(_ shape: ObjectShape) -> Int32 {
    let key = Known(shape: ObjectIdentifier(shape), isOnTheWay: isOnTheWay)
    if let index = known[key] { return index }
    let index = object(shape.fields) { builder, field in
      (
        field.key, field.responseName, field.coordinate, field.isNonNull,
        builder.streamed(field.items) { $0.part(field.value) }
      )
    }
    objects[Int(index)].live = live(shape.live)
    known[key] = index
    return index
  }

  private mutating func live(_ columns: [LiveColumn]) -> Program.Live {
    defer { live += columns }
    return Program.Live(first: Int32(live.count), end: Int32(live.count + columns.count))
  }

  /// Adds an object. In an enclosing object, the fields before the marker lead to the delivered
  /// object, and those after it are an object of their own.
  private mutating func object<Field>(
    _ fields: [Field], _ member: (inout Builder, Field) -> Member
  ) -> Int32 {
    guard isOnTheWay else { return object(fields.map { member(&self, $0) }) }
    var way: [Member] = []
    for (place, field) in fields.enumerated() {
      let found = member(&self, field)
      if case .marker(.payload) = found.part {
        isOnTheWay = false
        let payload = object(fields[(place + 1)...].map { member(&self, $0) })
        isOnTheWay = true
        return object(way, payload: payload)
      }
      way.append(found)
    }
    return object(way)
  }

  private mutating func object(_ members: [Member], payload: Int32 = -1) -> Int32 {
    let first = Int32(fields.count)
    let firstPending = Int32(self.pending.count)
    var pending: [UInt8] = []
    var separator = UInt8(ascii: "{")
    for member in members {
      if case .marker(let marker) = member.part {
        if case .pending(let part) = marker { self.pending.append(part) }
        continue
      }
      pending.append(separator)
      separator = UInt8(ascii: ",")
      pending += member.key
      switch member.part {
      case .marker: break
      case .constant(let json): pending += json
      case .value(let value):
        fields.append(
          Program.Field(
            lead: add(pending), value: value, isNonNull: member.isNonNull,
            name: Int32(names.count)))
        names.append(Program.Name(response: member.name, coordinate: member.coordinate))
        pending.removeAll()
      }
    }
    if separator == UInt8(ascii: "{") { pending.append(separator) }
    pending.append(UInt8(ascii: "}"))
    objects.append(
      Program.Object(
        firstField: first, endField: Int32(fields.count), tail: add(pending),
        firstPending: firstPending, endPending: Int32(self.pending.count), payload: payload))
    return Int32(objects.count - 1)
  }

  private mutating func add(_ piece: [UInt8]) -> Program.Text {
    text += piece
    return Program.Text(start: Int32(text.count - piece.count), count: Int32(piece.count))
  }

  private mutating func part(_ value: ValueShape) -> Part {
    switch value {
    case .constant(let json): .constant(json)
    case .leaf(let column, let format): .value(.leaf(column: Int32(column), format))
    case .leaves(let column, let format, let itemsNonNull):
      .value(.leaves(column: Int32(column), format, itemsNonNull: itemsNonNull))
    case .record(let column, let shape):
      .value(.record(column: Int32(column), record: record(shape)))
    case .embedded(let when, let shape):
      .value(.embedded(when: Int32(when ?? -1), object: object(shape)))
    case .list(let column, let shape, let itemsNonNull, _):
      .value(
        .list(column: Int32(column), record: record(shape), itemsNonNull: itemsNonNull))
    case .connection(let shape): .value(.connection(connection(shape)))
    case .introspection: .value(.introspection)
    case .secret: .value(.secret)
    case .refused(let error): .value(.refused(refusal(error)))
    case .marker(let marker): .marker(marker)
    }
  }

  /// Adds the items of a streamed list that belong to this part, or all of any other value.
  private mutating func streamed(_ items: StreamedItems?, _ part: (inout Self) -> Part) -> Part {
    guard let items else { return part(&self) }
    let wasOnTheWay = isOnTheWay
    if items.isDelivered { isOnTheWay = false }
    defer { isOnTheWay = wasOnTheWay }
    let found = part(&self)
    guard case .value(let value) = found else { return found }
    streams.append(Program.Stream(value: value, items: items))
    return .value(.streamed(Int32(streams.count - 1)))
  }

  private mutating func refusal(_ error: GraphQLError) -> Int32 {
    refusals.append(error)
    return Int32(refusals.count - 1)
  }

  private mutating func record(_ shape: RecordShape) -> Int32 {
    let record: Program.Record
    switch shape {
    case .object(let shape): record = .object(object(shape))
    case .byTag(let column, let shapes):
      let found = shapes.sorted { $0.key < $1.key }.compactMap { tag, shape in
        UInt8(exactly: tag).map { Program.Tag(tag: $0, object: object(shape)) }
      }
      record = .byTag(
        column: Int32(column), first: Int32(tags.count), end: Int32(tags.count + found.count))
      tags += found
    case .nested(let column, let shape, let live):
      record = .nested(
        column: Int32(column), record: self.record(shape), live: self.live(live))
    }
    records.append(record)
    return Int32(records.count - 1)
  }

  private mutating func connection(_ shape: ConnectionShape) -> Int32 {
    let key = Known(shape: ObjectIdentifier(shape), isOnTheWay: isOnTheWay)
    if let index = known[key] { return index }
    let object = object(shape.parts) { builder, field in
      let part = builder.streamed(field.items) { builder -> Part in
        switch field.part {
        case .constant(let json): .constant(json)
        case .edges(let edge): .value(.edges(object: builder.edge(edge)))
        case .nodes(let record): .value(.nodes(record: builder.record(record)))
        case .pageInfo(let fields, let page):
          .value(
            .pageInfo(
              object: builder.pageInfo(fields), page: page.map { builder.connection($0) } ?? -1))
        case .value(let value): builder.part(value)
        case .marker(let marker): .marker(marker)
        }
      }
      return (field.key, field.responseName, field.responseName, field.isNonNull, part)
    }
    let firstKey = Int32(keyColumns.count)
    keyColumns += shape.keyColumns.map { Int32($0) }
    connections.append(
      Program.Connection(
        object: object, itemsColumn: Int32(shape.itemsColumn ?? -1), pageSize: shape.pageSize,
        skipped: shape.skipped, isBackward: shape.isBackward, hasCursor: shape.hasCursor,
        order: shape.order, cost: Int32(clamping: 2 + shape.cost),
        firstKey: firstKey, endKey: Int32(keyColumns.count)))
    let index = Int32(connections.count - 1)
    known[key] = index
    return index
  }

  private mutating func edge(_ shape: EdgeShape) -> Int32 {
    object(shape.parts) { builder, field in
      let part: Part =
        switch field.part {
        case .constant(let json): .constant(json)
        case .cursor: .value(.cursor)
        case .node(let record): .value(.node(record: builder.record(record)))
        case .field(let value): builder.part(value)
        case .marker(let marker): .marker(marker)
        }
      return (field.key, field.responseName, field.responseName, field.isNonNull, part)
    }
  }

  private mutating func pageInfo(_ fields: [PageInfoField]) -> Int32 {
    object(
      fields.map { field in
        let part: Part =
          switch field.kind {
          case .constant(let json): .constant(json)
          case .hasNextPage: .value(.hasNextPage)
          case .hasPreviousPage: .value(.hasPreviousPage)
          case .startCursor: .value(.startCursor)
          case .endCursor: .value(.endCursor)
          }
        return (field.key, "pageInfo", "pageInfo", false, part)
      })
  }
}
