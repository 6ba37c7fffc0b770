import GraphQLResponse
import JSON
import Testing

@testable import GraphQLExecution
@testable import GraphQLPlanning

/// Records made by hand in, JSON out: what a plan's shape makes of the bytes of an answer.
@Suite struct ResponseWriterTests {
  typealias Column = BinaryForm.Column

  private let signer = CursorSigner(bytes: Array(0..<32)) ?? CursorSigner()

  // MARK: - Shapes

  private func field(
    _ name: String, _ value: ValueShape, nonNull isNonNull: Bool = false
  ) -> FieldShape {
    FieldShape(
      key: JSONWriter.key(name), responseName: name, isNonNull: isNonNull, value: value,
      coordinate: "T.\(name)")
  }

  private func object(_ fields: FieldShape...) -> ObjectShape { ObjectShape(fields: fields) }

  private struct Answer: Equatable, CustomStringConvertible {
    let json: String
    /// `.path CODE`
    let errors: [String]

    var description: String { "\(json) \(errors)" }
  }

  private func write(
    _ shape: ObjectShape, _ bytes: [UInt8], introspection: [String: [UInt8]] = [:]
  ) -> Answer {
    var writer = ResponseWriter(
      ShapeProgram(shape), json: JSONWriter(), introspection: introspection, cursorSigner: signer)
    unsafe writer.writeData(bytes.span.bytes)
    let errors = writer.errors.map { "\($0.path?.accessText ?? "") \($0.code.rawValue)" }
    return Answer(json: String(decoding: writer.json.finish(), as: UTF8.self), errors: errors)
  }

  private func expect(
    _ shape: ObjectShape, _ columns: [Column], _ json: String, _ errors: String...,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) {
    #expect(
      write(shape, BinaryForm.record(columns)) == Answer(json: json, errors: errors),
      sourceLocation: sourceLocation)
  }

  /// One column of a format, nullable.
  private func leaf(_ format: LeafFormat, _ column: Column) -> Answer {
    write(object(field("a", .leaf(column: 0, format))), BinaryForm.record(column))
  }

  private let wrong = " INTERNAL_SERVER_ERROR"

  // MARK: - Objects

  @Test func `fields stand in the order of the selections, constants among them`() {
    expect(
      object(
        field("__typename", .constant(Array(#""User""#.utf8))),
        field("name", .leaf(column: 1, .string)), field("n", .leaf(column: 0, .int)),
        field("last", .constant(Array("null".utf8)))),
      [.int4(-5), .text("Ann")], #"{"__typename":"User","name":"Ann","n":-5,"last":null}"#)
    expect(object(), [], "{}")
  }

  @Test func `an operation without a statement has no bytes`() {
    let shape = object(field("__typename", .constant(Array(#""Query""#.utf8))))
    #expect(write(shape, []) == Answer(json: #"{"__typename":"Query"}"#, errors: []))
  }

  @Test func `a null stays at the nearest nullable place, and the text before it goes`() {
    let inner = object(
      field("x", .leaf(column: 0, .int), nonNull: true),
      field("y", .leaf(column: 1, .int), nonNull: true))
    let shape = object(
      field("before", .leaf(column: 1, .int)),
      field(
        "outer",
        .record(
          column: 0,
          .object(
            object(field("inner", .record(column: 0, .object(inner)), nonNull: true))))),
      field("after", .leaf(column: 1, .int)))
    expect(
      shape, [.record(.record(.int4(1), .int4(2))), .int4(3)],
      #"{"before":3,"outer":{"inner":{"x":1,"y":2}},"after":3}"#)
    expect(
      shape, [.record(.record(.int4(1), .int4(nil))), .int4(3)],
      #"{"before":3,"outer":null,"after":3}"#, ".outer.inner.y" + wrong)
    expect(
      shape, [.record(Column(BinaryForm.OID.record, nil)), .int4(3)],
      #"{"before":3,"outer":null,"after":3}"#, ".outer.inner" + wrong)
    expect(shape, [.null, .int4(3)], #"{"before":3,"outer":null,"after":3}"#)
    // At the root there is no nullable place but data itself.
    expect(object(field("a", .leaf(column: 0, .int), nonNull: true)), [.null], "null", ".a" + wrong)
  }

  @Test func `an object of the same row is null unless its condition holds`() {
    let part = object(field("x", .leaf(column: 1, .int)))
    let shape = object(field("part", .embedded(when: 0, part)))
    expect(shape, [.boolean(true), .int4(1)], #"{"part":{"x":1}}"#)
    expect(shape, [.boolean(false), .int4(1)], #"{"part":null}"#)
    expect(shape, [.boolean(nil), .int4(1)], #"{"part":null}"#)
    expect(shape, [.int4(1), .int4(1)], #"{"part":null}"#)
    expect(
      object(field("part", .embedded(when: nil, part))), [.null, .int4(1)], #"{"part":{"x":1}}"#)
  }

  @Test func `the low byte of an id says which object a record is`() {
    let shape = object(
      field(
        "node",
        .record(
          column: 0,
          .byTag(
            column: 0,
            [
              1: object(field("is", .constant(Array("1".utf8)))),
              255: object(field("is", .constant(Array("255".utf8)))),
            ]))))
    expect(shape, [.record(.int8(0x701))], #"{"node":{"is":1}}"#)
    expect(shape, [.record(.int8(-1))], #"{"node":{"is":255}}"#)
    expect(shape, [.record(.int8(2))], #"{"node":null}"#)
    expect(shape, [.record(.int8(nil))], #"{"node":null}"#)
    expect(shape, [.record(.int4(1))], #"{"node":null}"#)
    expect(shape, [.record()], #"{"node":null}"#)
  }

  @Test func `a record may be a column of a record`() {
    let shape = object(
      field(
        "a",
        .record(
          column: 0,
          .nested(
            column: 1,
            .object(
              object(field("x", .leaf(column: 0, .string))))))))
    expect(shape, [.record(.int4(0), .record(.text("in")))], #"{"a":{"x":"in"}}"#)
    expect(shape, [.record(.int4(0), .null)], #"{"a":null}"#)
    expect(shape, [.record(.int4(0))], #"{"a":null}"#)
  }

  @Test func `introspection is put in by response name, and what is refused is an error`() {
    let error = GraphQLError("Not this.", code: .badUserInput)
    let shape = object(
      field("s", .introspection), field("t", .introspection), field("no", .refused(error)))
    #expect(
      write(shape, [], introspection: ["s": Array("{}".utf8)])
        == Answer(json: #"{"s":{},"t":null,"no":null}"#, errors: [".no BAD_USER_INPUT"]))
  }

  // MARK: - Lists

  @Test func `lists of objects, with nulls where they may be`() {
    let item = RecordShape.object(object(field("x", .leaf(column: 0, .int), nonNull: true)))
    func list(nonNull: Bool) -> ObjectShape {
      object(field("l", .list(column: 0, item, itemsNonNull: nonNull, length: .assumed)))
    }
    let one = BinaryForm.record(.int4(1))
    let none = BinaryForm.record(.int4(nil))
    for nonNull in [true, false] {
      expect(list(nonNull: nonNull), [.records(one, one)], #"{"l":[{"x":1},{"x":1}]}"#)
      expect(list(nonNull: nonNull), [.records()], #"{"l":[]}"#)
      // A list that a mask hides.
      expect(list(nonNull: nonNull), [.null], #"{"l":[]}"#)
    }
    expect(list(nonNull: false), [.records(one, nil, one)], #"{"l":[{"x":1},null,{"x":1}]}"#)
    expect(
      list(nonNull: false), [.records(one, none)], #"{"l":[{"x":1},null]}"#, ".l[1].x" + wrong)
    expect(list(nonNull: true), [.records(one, nil)], #"{"l":null}"#, ".l[1]" + wrong)
    expect(list(nonNull: true), [.records(none, one)], #"{"l":null}"#, ".l[0].x" + wrong)
  }

  @Test func `lists of leaves`() {
    func list(_ elements: [[UInt8]?], nonNull: Bool) -> Answer {
      write(
        object(field("l", .leaves(column: 0, .int, itemsNonNull: nonNull))),
        BinaryForm.record(Column(1007, BinaryForm.array(of: BinaryForm.OID.int4, elements))))
    }
    let (one, two) = (BinaryForm.big(Int32(1)), BinaryForm.big(Int32(2)))
    #expect(list([one, two], nonNull: true) == Answer(json: #"{"l":[1,2]}"#, errors: []))
    #expect(list([], nonNull: true) == Answer(json: #"{"l":[]}"#, errors: []))
    #expect(list([one, nil], nonNull: false) == Answer(json: #"{"l":[1,null]}"#, errors: []))
    #expect(
      list([one, nil], nonNull: true) == Answer(json: #"{"l":null}"#, errors: [".l[1]" + wrong]))
    #expect(
      list([one, [1]], nonNull: false)
        == Answer(json: #"{"l":[1,null]}"#, errors: [".l[1]" + wrong]))
    expect(
      object(field("l", .leaves(column: 0, .int, itemsNonNull: true))), [.null], #"{"l":null}"#)
  }

  // MARK: - Pages

  private func page(
    _ pageSize: Int, isBackward: Bool = false, hasCursor: Bool = false, items: Int? = 0
  ) -> ObjectShape {
    func part(_ name: String, _ part: ConnectionShape.Part) -> ConnectionShape.PartField {
      ConnectionShape.PartField(
        key: JSONWriter.key(name), responseName: name, isNonNull: true, part: part)
    }
    func info(_ name: String, _ kind: PageInfoField.Kind) -> PageInfoField {
      PageInfoField(key: JSONWriter.key(name), kind: kind)
    }
    func edge(_ name: String, _ part: EdgeShape.Part) -> EdgeShape.PartField {
      EdgeShape.PartField(
        key: JSONWriter.key(name), responseName: name, isNonNull: true, part: part)
    }
    let node = RecordShape.nested(
      column: 0, .object(object(field("x", .leaf(column: 0, .int), nonNull: true))))
    let connection = ConnectionShape(
      parts: [
        part("totalCount", .value(.leaf(column: 1, .int))),
        part("nodes", .nodes(node)),
        part(
          "edges",
          .edges(
            EdgeShape(parts: [
              edge("rank", .field(.leaf(column: 1, .int))), edge("node", .node(node)),
            ]))),
        part(
          "pageInfo",
          .pageInfo([
            info("more", .hasNextPage), info("less", .hasPreviousPage),
            info("is", .constant(Array("1".utf8))),
          ])),
      ],
      itemsColumn: items, pageSize: pageSize, isBackward: isBackward, hasCursor: hasCursor,
      keyColumns: [1], order: 7)
    return object(field("p", .connection(connection)))
  }

  private func item(_ x: Int32, rank: Int32?) -> [UInt8] {
    BinaryForm.record(.record(.int4(x)), .int4(rank))
  }

  @Test func `a page has its size, and what is beyond it says that there is more`() {
    let items = Column.records(item(1, rank: 10), item(2, rank: 20), item(3, rank: 30))
    expect(
      page(2, hasCursor: true), [items, .int8(9)],
      #"{"p":{"totalCount":9,"nodes":[{"x":1},{"x":2}],"#
        + #""edges":[{"rank":10,"node":{"x":1}},{"rank":20,"node":{"x":2}}],"#
        + #""pageInfo":{"more":true,"less":true,"is":1}}}"#)
    expect(
      page(3), [items, .int8(9)],
      #"{"p":{"totalCount":9,"nodes":[{"x":1},{"x":2},{"x":3}],"#
        + #""edges":[{"rank":10,"node":{"x":1}},{"rank":20,"node":{"x":2}},{"rank":30,"node":{"x":3}}],"#
        + #""pageInfo":{"more":false,"less":false,"is":1}}}"#)
  }

  @Test func `a page from the end comes newest first and is turned round`() {
    let items = Column.records(item(3, rank: 30), item(2, rank: 20), item(1, rank: 10))
    expect(
      page(2, isBackward: true, hasCursor: true), [items, .int8(9)],
      #"{"p":{"totalCount":9,"nodes":[{"x":2},{"x":3}],"#
        + #""edges":[{"rank":20,"node":{"x":2}},{"rank":30,"node":{"x":3}}],"#
        + #""pageInfo":{"more":true,"less":true,"is":1}}}"#)
    expect(
      page(5, isBackward: true), [.records(), .int8(0)],
      #"{"p":{"totalCount":0,"nodes":[],"edges":[],"pageInfo":{"more":false,"less":false,"is":1}}}"#
    )
  }

  @Test func `a page of which only the count is selected, and one that a mask hides`() {
    for shape in [page(5, items: nil), page(5)] {
      expect(
        shape, [.null, .int8(4)],
        #"{"p":{"totalCount":4,"nodes":[],"edges":[],"pageInfo":{"more":false,"less":false,"is":1}}}"#
      )
    }
  }

  @Test func `a count is written up to its limit, and whether it is within`() {
    let shape = object(
      field("n", .leaf(column: 0, .count(limit: 5)), nonNull: true),
      field("all", .leaf(column: 0, .isCounted(limit: 5)), nonNull: true))
    expect(shape, [.int8(4)], #"{"n":4,"all":true}"#)
    expect(shape, [.int8(5)], #"{"n":5,"all":true}"#)
    expect(shape, [.int8(6)], #"{"n":5,"all":false}"#)
  }

  @Test func `errors in edges say in which`() {
    let items = Column.records(item(1, rank: 10), item(2, rank: nil))
    expect(page(5), [items, .int8(1)], #"{"p":null}"#, ".p.edges[1].rank" + wrong)
    expect(
      page(5), [.records(item(1, rank: 1), nil), .int8(1)], #"{"p":null}"#, ".p.nodes[1]" + wrong)
  }

  @Test func `cursors hold the keys of their edge, nulls among them`() throws {
    let edge = EdgeShape(parts: [
      EdgeShape.PartField(
        key: JSONWriter.key("c"), responseName: "c", isNonNull: true, part: .cursor)
    ])
    let info: [PageInfoField] = [
      PageInfoField(key: JSONWriter.key("s"), kind: .startCursor),
      PageInfoField(key: JSONWriter.key("e"), kind: .endCursor),
    ]
    let parts = [
      ConnectionShape.PartField(
        key: JSONWriter.key("edges"), responseName: "edges", isNonNull: true, part: .edges(edge)),
      ConnectionShape.PartField(
        key: JSONWriter.key("i"), responseName: "i", isNonNull: true, part: .pageInfo(info)),
    ]
    for isBackward in [false, true] {
      let shape = object(
        field(
          "p",
          .connection(
            ConnectionShape(
              parts: parts, itemsColumn: 0, pageSize: 2, isBackward: isBackward, hasCursor: false,
              keyColumns: [1, 0, 5], order: 7))))
      let items = Column.records(
        BinaryForm.record(.text("a"), .int4(1)),
        BinaryForm.record(.text(nil), .int4(2)), BinaryForm.record(.text("c"), .int4(3)))
      let answer = try JSONParser.parse(Array(write(shape, BinaryForm.record([items])).json.utf8))
      func keys(_ value: JSONValue?) -> [[UInt8]?]? {
        guard case .string(let text)? = value else { return nil }
        return Cursor(text, order: 7, signer: signer)?.keys
      }
      let first: [[UInt8]?] = [BinaryForm.big(Int32(1)), Array("a".utf8), nil]
      let second: [[UInt8]?] = [BinaryForm.big(Int32(2)), nil, nil]
      guard case .array(let edges)? = answer["p"]?["edges"] else {
        Issue.record("\(answer)")
        return
      }
      let expected = isBackward ? [second, first] : [first, second]
      #expect(edges.map { keys($0["c"]) } == expected)
      #expect(keys(answer["p"]?["i"]?["s"]) == expected[0])
      #expect(keys(answer["p"]?["i"]?["e"]) == expected[1])
      #expect(
        write(shape, BinaryForm.record([.records()])).json
          == #"{"p":{"edges":[],"i":{"s":null,"e":null}}}"#)
    }
  }

  // MARK: - Leaves

  private static let readable: [(LeafFormat, Column, String)] = [
    (LeafFormat.int, Column.int2(-3), "-3"), (.int, .int4(.max), "2147483647"),
    (.int, .int8(-2_147_483_648), "-2147483648"),
    (.float, .float8(0.1), "0.1"), (.float, .float4(0.5), "0.5"), (.float, .int8(3), "3"),
    (.boolean, .boolean(true), "true"), (.boolean, .boolean(false), "false"),
    (.id, .int8(0x0102), #""AQI""#), (.id, .int4(1), #""AQ""#),
    (.string, .text(""), #""""#), (.string, .text("é\"\\\n\u{1}ab"), #""é\"\\\n\u0001ab""#),
    (.string, Column(BinaryForm.OID.own, Array("OPEN".utf8)), #""OPEN""#),
    (.dateTime, Column(1184, BinaryForm.big(Int64(0))), #""2000-01-01T00:00:00.000Z""#),
    (.dateTime, Column(1184, BinaryForm.big(Int64(-1))), #""1999-12-31T23:59:59.999Z""#),
    (.date, Column(1082, BinaryForm.big(Int32.max)), #""infinity""#),
    (.date, Column(BinaryForm.OID.own, BinaryForm.big(Int32.min)), #""-infinity""#),
    (.date, Column(1082, BinaryForm.big(Int32(2_921_940))), #""+010000-01-01""#),
    (.date, Column(1082, BinaryForm.big(Int32(-730_486))), #""-000001-12-31""#),
    (.instant, Column(1184, BinaryForm.big(Int64.max)), #""infinity""#),
    (.instant, Column(1184, BinaryForm.big(Int64.min)), #""-infinity""#),
    (.instant, Column(1184, BinaryForm.big(Int64(0))), #""2000-01-01T00:00:00.000Z""#),
    (.instant, Column(1184, BinaryForm.big(Int64(20_034))), #""2000-01-01T00:00:00.020034Z""#),
    (.instant, Column(1184, BinaryForm.big(Int64(-1))), #""1999-12-31T23:59:59.999999Z""#),
    (.date, Column(1082, BinaryForm.big(Int32(-1))), #""1999-12-31""#),
  ]

  @Test(arguments: readable)
  func `a leaf is written as its scalar`(format: LeafFormat, column: Column, json: String) {
    #expect(leaf(format, column) == Answer(json: "{\"a\":\(json)}", errors: []))
    #expect(leaf(format, Column(column.type, nil)) == Answer(json: "{\"a\":null}", errors: []))
  }

  private static let unreadable: [(LeafFormat, Column)] = [
    (LeafFormat.int, Column.text("1")), (.int, .float8(1)),
    (.int, Column(BinaryForm.OID.int4, [1])), (.int, Column(BinaryForm.OID.int8, [])),
    (.id, .text("ab")), (.id, Column(BinaryForm.OID.int8, [0, 0, 0, 1])),
    (.float, Column(BinaryForm.OID.float8, [0, 0, 0, 0])), (.float, .boolean(true)),
    (.boolean, .int4(1)), (.boolean, .text("")), (.boolean, .text("t")),
    (.dateTime, Column(1184, [0])), (.dateTime, .int8(0)), (.dateTime, .text("2000-01-01")),
    (.date, Column(1082, BinaryForm.big(Int64(0)))), (.date, .int4(0)),
    (.string, .int4(65)), (.string, .float8(1)), (.string, .boolean(true)),
    (.string, Column(BinaryForm.OID.bytea, [0xFF])),
    (.string, Column(1184, BinaryForm.big(Int64(0)))),
  ]

  @Test(arguments: unreadable)
  func `what a scalar cannot be read from is an error and null`(
    format: LeafFormat, column: Column
  ) {
    #expect(leaf(format, column) == Answer(json: "{\"a\":null}", errors: [".a" + wrong]))
  }

  private static let notRepresentable: [(LeafFormat, Column)] = [
    (LeafFormat.int, Column.int8(2_147_483_648)),
    (.float, .float8(.infinity)), (.float, .float8(.nan)), (.float, .float4(-.infinity)),
    (.dateTime, Column(1184, BinaryForm.big(Int64.max))),
    (.dateTime, Column(1184, BinaryForm.big(Int64.min))),
    (.decimal, .text("NaN")), (.decimal, .text("-Infinity")), (.decimal, .text("")),
    (.int, Column(BinaryForm.OID.own, BinaryForm.big(Int64.max))),
  ]

  @Test(arguments: notRepresentable)
  func `what no value of a scalar is, is an error of its own and null`(
    format: LeafFormat, column: Column
  ) {
    #expect(
      leaf(format, column)
        == Answer(json: "{\"a\":null}", errors: [".a VALUE_NOT_REPRESENTABLE"]))
  }

  private static let ofDomains: [(LeafFormat, [UInt8], String)] = [
    (LeafFormat.int, BinaryForm.big(Int16(-3)), "-3"), (.int, BinaryForm.big(Int32(7)), "7"),
    (.id, BinaryForm.big(Int64(0x0102)), #""AQI""#), (.boolean, [1], "true"),
    (.float, BinaryForm.big(Double(0.5).bitPattern), "0.5"),
    (.float, BinaryForm.big(Float(0.5).bitPattern), "0.5"),
    (.date, BinaryForm.big(Int32(-1)), #""1999-12-31""#),
    (.dateTime, BinaryForm.big(Int64(0)), #""2000-01-01T00:00:00.000Z""#),
    (.decimal, Array("1.50".utf8), #""1.50""#),
  ]

  @Test(arguments: ofDomains)
  func `values of domains are read as those of their bases`(
    format: LeafFormat, bytes: [UInt8], json: String
  ) {
    #expect(
      leaf(format, Column(BinaryForm.OID.own, bytes)) == Answer(json: "{\"a\":\(json)}", errors: [])
    )
  }

  // MARK: - Malformed bytes

  private var whole: (shape: ObjectShape, bytes: [UInt8]) {
    let connection: ValueShape = page(2).fields[0].value
    let shape = object(
      field("p", connection),
      field("names", .leaves(column: 2, .string, itemsNonNull: true)),
      field(
        "who",
        .record(
          column: 3,
          .byTag(
            column: 0,
            [
              1: object(
                field("id", .leaf(column: 0, .id), nonNull: true),
                field("at", .leaf(column: 1, .dateTime)))
            ]))),
      field("part", .embedded(when: 4, object(field("f", .leaf(column: 5, .float))))))
    let items = Column.records(item(1, rank: 10), item(2, rank: 20), item(3, rank: 30))
    let bytes = BinaryForm.record(
      items, .int8(9),
      Column(1009, BinaryForm.array(of: 25, [Array("Ann".utf8), Array("".utf8)])),
      .record(.int8(0x101), Column(1184, BinaryForm.big(Int64(5)))), .boolean(true), .float8(0.5))
    return (shape, bytes)
  }

  /// Checks that any result is JSON, and has an error if there is no data.
  private func expectAnswer(_ answer: Answer, _ what: @autoclosure () -> String) {
    let json = try? JSONParser.parse(Array(answer.json.utf8))
    #expect(json != nil, "\(what()): \(answer)")
    #expect(json != .null || !answer.errors.isEmpty, "\(what()): \(answer)")
  }

  @Test func `bytes that are no record are an error, and data is null`() {
    let (shape, bytes) = whole
    #expect(write(shape, bytes).errors == [])
    for length in 1..<bytes.count {
      let answer = write(shape, Array(bytes.prefix(length)))
      #expect(answer == Answer(json: "null", errors: [wrong]))
    }
    #expect(write(shape, bytes + [0]) == Answer(json: "null", errors: [wrong]))
  }

  @Test func `a record inside that is malformed is an error at its place`() {
    let item = RecordShape.object(object(field("x", .leaf(column: 0, .int))))
    for bytes in [
      [], [0], [0, 0, 0, 1], [0xFF, 0xFF, 0xFF, 0xFF], [0x7F, 0xFF, 0xFF, 0xFF, 0, 0],
    ] as [[UInt8]] {
      let record = Column(BinaryForm.OID.record, bytes)
      expect(
        object(field("a", .record(column: 0, item)), field("b", .leaf(column: 1, .int))),
        [record, .int4(1)], #"{"a":null,"b":1}"#, ".a" + wrong)
      expect(
        object(field("a", .list(column: 0, item, itemsNonNull: false, length: .assumed))), [record],
        #"{"a":null}"#, ".a" + wrong)
      expect(
        object(field("a", .list(column: 0, item, itemsNonNull: false, length: .assumed))),
        [.records(bytes)],
        #"{"a":[null]}"#, ".a[0]" + wrong)
      expect(
        object(field("a", .leaves(column: 0, .int, itemsNonNull: false))), [record],
        #"{"a":null}"#, ".a" + wrong)
      expect(page(5), [record, .int8(1)], #"{"p":null}"#, ".p" + wrong)
      expect(page(5), [.records(bytes), .int8(1)], #"{"p":null}"#, ".p.nodes[0]" + wrong)
    }
  }

  @Test func `no object is begun beyond the largest text, whatever may be null`() {
    let name = String(repeating: "n", count: 1000)
    let item = RecordShape.object(object(field(name, .leaf(column: 0, .int))))
    for itemsNonNull in [false, true] {
      let shape = object(
        field("a", .list(column: 0, item, itemsNonNull: itemsNonNull, length: .assumed)),
        field("b", .leaf(column: 1, .int)))
      let items = [[UInt8]?](repeating: BinaryForm.record(.int4(1)), count: 1000)
      let bytes = BinaryForm.record(
        Column(2287, BinaryForm.array(of: BinaryForm.OID.record, items)), .int4(1))
      func written(_ maximum: Int) -> (isTooLarge: Bool, held: Int, errors: Int) {
        var writer = ResponseWriter(
          ShapeProgram(shape), json: JSONWriter(), cursorSigner: signer, maximumBytes: maximum)
        unsafe writer.writeData(bytes.span.bytes)
        return (writer.isTooLarge, writer.json.count, writer.errors.count)
      }
      let whole = written(.max)
      #expect(!whole.isTooLarge && whole.held > 1_000_000)
      #expect(!written(whole.held).isTooLarge)
      #expect(written(whole.held - 1).isTooLarge)
      let stopped = written(10_000)
      #expect(stopped.isTooLarge && stopped.held < 12_000 && stopped.errors == 0)
    }
  }

  @Test func `a record of fewer columns than the plan has is one of nulls`() {
    let (shape, _) = whole
    #expect(
      write(shape, BinaryForm.record())
        == Answer(
          json: #"{"p":null,"names":null,"who":null,"part":null}"#,
          errors: [".p.totalCount" + wrong]))
  }

  @Test func `no byte that is changed ends in anything but JSON`() {
    let (shape, bytes) = whole
    for place in bytes.indices {
      for byte in [0, 1, 0x7F, 0x80, 0xFE, 0xFF, bytes[place] ^ 1, bytes[place] &+ 1] as [UInt8] {
        var changed = bytes
        changed[place] = byte
        expectAnswer(write(shape, changed), "\(byte) at \(place)")
      }
    }
  }

  @Test func `nor do bytes made up, left out and repeated`() {
    let (shape, bytes) = whole
    var random = SplitMix64(seed: 20_261_122)
    for round in 0..<3_000 {
      var changed = bytes
      for _ in 0...Int.random(in: 0..<4, using: &random) where !changed.isEmpty {
        let start = Int.random(in: 0..<changed.count, using: &random)
        let end = Int.random(in: start...min(changed.count, start + 12), using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: changed.removeSubrange(start..<end)
        case 1: changed.insert(contentsOf: changed[start..<end], at: start)
        case 2:
          for place in start..<end { changed[place] = UInt8.random(in: 0...255, using: &random) }
        default:
          changed.replaceSubrange(
            start..<end, with: BinaryForm.big(Int32.random(in: -3...40, using: &random)))
        }
      }
      expectAnswer(write(shape, changed), "round \(round)")
    }
  }
}

/// The same numbers on every machine.
private struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
