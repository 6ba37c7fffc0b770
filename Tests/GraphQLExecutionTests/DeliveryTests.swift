import GraphQLResponse
import JSON
import Testing

@testable import GraphQLExecution
@testable import GraphQLPlanning

/// Incremental delivery from hand-made records: the places of nulls, and the resulting messages.
@Suite struct DeliveryTests {
  private func field(
    _ name: String, _ value: ValueShape, nonNull isNonNull: Bool = false
  ) -> FieldShape {
    FieldShape(
      key: JSONWriter.key(name), responseName: name, isNonNull: isNonNull, value: value,
      coordinate: "T.\(name)")
  }

  private func marker(_ marker: DeliveryMarker) -> FieldShape { field("", .marker(marker)) }

  private func object(_ fields: FieldShape...) -> ObjectShape { ObjectShape(fields: fields) }

  private func plan(_ shape: ObjectShape) -> ResponsePlan {
    .constant(shape, PlanSize(of: shape, limits: .unlimited))
  }

  /// The responses to an operation, each as text.
  private func responses(
    _ format: IncrementalDelivery, _ usages: [DeliveryUsage], first: (ObjectShape, [UInt8]),
    _ parts: [(usages: [Int], shape: ObjectShape, record: [UInt8])]
  ) -> [String] {
    let delivery = DeliveryPlan(
      format: format, usages: usages,
      parts: parts.map { DeliveryPart(usages: $0.usages, plan: plan($0.shape)) },
      size: PlanSize(of: first.0, limits: .unlimited))
    var state = DeliveryState(delivery, requestID: "r")
    var writer = ResponseWriter(
      ShapeProgram(first.0), json: JSONWriter(), cursorSigner: CursorSigner())
    unsafe writer.writeData(first.1.span.bytes)
    state.begin(writer.notes)
    var json = writer.json
    state.writeBeginning(to: &json)
    var found = [String(decoding: json.finish(), as: UTF8.self)]
    for (number, part) in parts.enumerated() {
      var writer = ResponseWriter(
        ShapeProgram(part.shape, isLater: true), json: JSONWriter(), cursorSigner: CursorSigner())
      let entries = unsafe writer.writeEntries(part.record.span.bytes)
      state.receive(number, entries, in: writer.json.finish())
      if let json = state.next(after: number) {
        found.append(String(decoding: json.finish(), as: UTF8.self) + "}")
      }
    }
    #expect(!state.isPending)
    return found
  }

  private let error =
    #"{"message":"An unexpected error occurred.","path":PATH,"extensions":{"code":"INTERNAL_SERVER_ERROR","requestId":"r"}}"#

  private func error(_ path: String) -> String { error.replacing("PATH", with: path) }

  /// `a { ... @defer(label: "l") { b! } }`
  private var one: (usages: [DeliveryUsage], first: ObjectShape, part: ObjectShape) {
    (
      [DeliveryUsage(label: "l", parent: nil, depth: 1)],
      object(field("a", .record(column: 0, .object(object(marker(.pending(part: 0))))))),
      object(
        field(
          "a",
          .record(
            column: 0,
            .object(
              object(marker(.payload), field("b", .leaf(column: 0, .string), nonNull: true))))))
    )
  }

  @Test func `a null beyond a deferred object fails its fragment, and what was sent stays`() {
    let record = BinaryForm.record([.record(.null)])
    let first = (one.first, BinaryForm.record([.record()]))
    #expect(
      responses(.v02, one.usages, first: first, [([0], one.part, record)]) == [
        #"{"a":{}},"pending":[{"id":"0","path":["a"],"label":"l"}],"hasNext":true"#,
        #"{"completed":[{"id":"0","errors":[\#(error(#"["a","b"]"#))]}],"hasNext":false}"#,
      ])
    #expect(
      responses(.v20220824, one.usages, first: first, [([0], one.part, record)]) == [
        #"{"a":{}},"hasNext":true"#,
        #"{"incremental":[{"label":"l","path":["a"],"data":null,"errors":[\#(error(#"["a","b"]"#))]}],"hasNext":false}"#,
      ])
  }

  @Test func `what two fragments wait for fails both, and what is inside of them is never pending`()
  {
    let usages = [
      DeliveryUsage(label: "l", parent: nil, depth: 1),
      DeliveryUsage(label: "m", parent: nil, depth: 0),
      DeliveryUsage(label: nil, parent: 0, depth: 1),
    ]
    let first = object(
      field(
        "a",
        .record(
          column: 0, .object(object(marker(.pending(part: 0)), marker(.pending(part: 1)))))))
    #expect(
      responses(
        .v02, usages, first: (first, BinaryForm.record([.record()])),
        [
          ([0, 1], one.part, BinaryForm.record([.record(.null)])),
          ([2], one.part, BinaryForm.record([.record(.text("x"))])),
        ]) == [
          #"{"a":{}},"pending":[{"id":"0","path":["a"],"label":"l"},{"id":"1","path":[],"label":"m"}],"hasNext":true"#,
          #"{"completed":[{"id":"0","errors":[\#(error(#"["a","b"]"#))]},{"id":"1","errors":[\#(error(#"["a","b"]"#))]}],"hasNext":false}"#,
        ])
  }

  @Test func `nothing comes later of an object that is null`() {
    #expect(
      responses(
        .v02, one.usages, first: (one.first, BinaryForm.record(.null)),
        [([0], one.part, BinaryForm.record(.null))]) == [#"{"a":null}"#])
  }

  @Test func `an object that the later part does not have is an error and holds nothing up`() {
    #expect(
      responses(
        .v02, one.usages, first: (one.first, BinaryForm.record([.record()])),
        [([0], one.part, BinaryForm.record(.null))]
      ).last
        == #"{"completed":[{"id":"0","errors":[\#(error(#"["a"]"#))]}],"hasNext":false}"#)
  }

  // MARK: - Lists

  private func list(_ items: StreamedItems, nonNull isNonNull: Bool = true, _ more: FieldShape...)
    -> ObjectShape
  {
    var list = field(
      "l",
      .list(
        column: 0,
        .object(ObjectShape(fields: [field("b", .leaf(column: 0, .string), nonNull: true)] + more)),
        itemsNonNull: isNonNull, length: .assumed))
    list.items = items
    return object(field("a", .record(column: 0, .object(object(list)))))
  }

  private func stream(
    _ format: IncrementalDelivery, nonNull isNonNull: Bool = true, _ items: String?...
  ) -> [String] {
    let elements = items.map { BinaryForm.record($0.map { .text($0) } ?? .null) }
    let record = BinaryForm.record([
      .init(
        BinaryForm.OID.record,
        BinaryForm.record([.init(2287, BinaryForm.array(of: BinaryForm.OID.record, elements))]))
    ])
    return responses(
      format, [DeliveryUsage(label: "s", parent: nil, depth: 2, firstItem: 1)],
      first: (list(StreamedItems(0..<1, pending: 0), nonNull: isNonNull), record),
      [([0], list(StreamedItems(1 ..< .max, isDelivered: true), nonNull: isNonNull), record)])
  }

  @Test func `the later items of a list come in order, and of one that has no more nothing comes`()
  {
    #expect(
      stream(.v02, "x", "y", "z") == [
        #"{"a":{"l":[{"b":"x"}]}},"pending":[{"id":"0","path":["a","l"],"label":"s"}],"hasNext":true"#,
        #"{"incremental":[{"id":"0","items":[{"b":"y"},{"b":"z"}]}],"completed":[{"id":"0"}],"hasNext":false}"#,
      ])
    #expect(
      stream(.v20220824, "x", "y", "z") == [
        #"{"a":{"l":[{"b":"x"}]}},"hasNext":true"#,
        #"{"incremental":[{"label":"s","path":["a","l",1],"items":[{"b":"y"},{"b":"z"}]}],"hasNext":false}"#,
      ])
    for format in [IncrementalDelivery.v02, .v20220824] {
      #expect(stream(format, "x") == [#"{"a":{"l":[{"b":"x"}]}}"#])
      #expect(stream(format) == [#"{"a":{"l":[]}}"#])
    }
  }

  @Test func `an item that is null and must not be ends its list, and those before it are there`() {
    #expect(
      stream(.v02, "x", "y", nil, "z").last
        == #"{"incremental":[{"id":"0","items":[{"b":"y"}]}],"completed":[{"id":"0","errors":[\#(error(#"["a","l",2,"b"]"#))]}],"hasNext":false}"#
    )
    #expect(
      stream(.v02, "x", nil, "z").last
        == #"{"completed":[{"id":"0","errors":[\#(error(#"["a","l",1,"b"]"#))]}],"hasNext":false}"#)
    #expect(
      stream(.v20220824, "x", "y", nil, "z").last
        == #"{"incremental":[{"label":"s","path":["a","l",1],"items":[{"b":"y"}]},{"label":"s","path":["a","l",2],"items":null,"errors":[\#(error(#"["a","l",2,"b"]"#))]}],"hasNext":false}"#
    )
    #expect(
      stream(.v20220824, "x", nil).last
        == #"{"incremental":[{"label":"s","path":["a","l",1],"items":null,"errors":[\#(error(#"["a","l",1,"b"]"#))]}],"hasNext":false}"#
    )
  }

  @Test func `an item that may be null is, with its error beside the items`() {
    #expect(
      stream(.v02, nonNull: false, "x", nil, "z").last
        == #"{"incremental":[{"id":"0","items":[null,{"b":"z"}],"errors":[\#(error(#"["a","l",1,"b"]"#))]}],"completed":[{"id":"0"}],"hasNext":false}"#
    )
    #expect(
      stream(.v20220824, nonNull: false, "x", nil, "z").last
        == #"{"incremental":[{"label":"s","path":["a","l",1],"items":[null,{"b":"z"}],"errors":[\#(error(#"["a","l",1,"b"]"#))]}],"hasNext":false}"#
    )
  }

  @Test
  func `what is deferred in later items is pending once these are told, but of none that failed`() {
    let elements = ["x", "y", nil].map { BinaryForm.record($0.map { .text($0) } ?? .null) }
    let record = BinaryForm.record([
      .init(
        BinaryForm.OID.record,
        BinaryForm.record([.init(2287, BinaryForm.array(of: BinaryForm.OID.record, elements))]))
    ])
    let inner = object(marker(.payload), field("c", .leaf(column: 0, .string)))
    var way = field("l", .list(column: 0, .object(inner), itemsNonNull: true, length: .assumed))
    way.items = StreamedItems(1 ..< .max)
    #expect(
      responses(
        .v02,
        [
          DeliveryUsage(label: nil, parent: nil, depth: 2, firstItem: 1),
          DeliveryUsage(label: nil, parent: 0, depth: 3),
        ],
        first: (list(StreamedItems(0..<1, pending: 0)), record),
        [
          (
            [0], list(StreamedItems(1 ..< .max, isDelivered: true), marker(.pending(part: 1))),
            record
          ),
          ([1], object(field("a", .record(column: 0, .object(object(way))))), record),
        ]) == [
          #"{"a":{"l":[{"b":"x"}]}},"pending":[{"id":"0","path":["a","l"]}],"hasNext":true"#,
          #"{"pending":[{"id":"1","path":["a","l",1]}],"incremental":[{"id":"0","items":[{"b":"y"}]}],"completed":[{"id":"0","errors":[\#(error(#"["a","l",2,"b"]"#))]}],"hasNext":true}"#,
          #"{"incremental":[{"id":"1","data":{"c":"y"}}],"completed":[{"id":"1"}],"hasNext":false}"#,
        ])
  }
}
