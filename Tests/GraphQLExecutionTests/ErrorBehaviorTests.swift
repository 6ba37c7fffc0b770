import GraphQLResponse
import JSON
import Testing

@testable import GraphQLExecution
@testable import GraphQLPlanning

/// What an error does to the response around it: `onError`, and the errors beneath a null.
@Suite struct ErrorBehaviorTests {
  private typealias Column = BinaryForm.Column

  private func field(
    _ name: String, _ value: ValueShape, nonNull isNonNull: Bool = false
  ) -> FieldShape {
    FieldShape(
      key: JSONWriter.key(name), responseName: name, isNonNull: isNonNull, value: value,
      coordinate: "T.\(name)")
  }

  /// Returns the data, and behind it the paths of the errors.
  private func write(
    _ shape: ObjectShape, _ bytes: [UInt8], _ onError: ErrorBehavior
  ) -> [String] {
    var writer = ResponseWriter(
      ShapeProgram(shape), json: JSONWriter(), cursorSigner: CursorSigner(), onError: onError)
    unsafe writer.writeData(bytes.span.bytes)
    let paths = writer.errors.map { $0.path?.accessText ?? "" }
    return [String(decoding: writer.json.finish(), as: UTF8.self)] + paths
  }

  /// `a { x y! z } b`, where `x` and `z` may be wrong and `y` must not be null.
  private func shape(isNonNull: Bool) -> ObjectShape {
    ObjectShape(fields: [
      field(
        "a",
        .record(
          column: 0,
          .object(
            ObjectShape(fields: [
              field("x", .leaf(column: 0, .int)),
              field("y", .leaf(column: 1, .int), nonNull: isNonNull),
              field("z", .leaf(column: 2, .int)),
            ])))), field("b", .leaf(column: 1, .int)),
    ])
  }

  /// A text is no Int.
  private let bytes = BinaryForm.record(
    .record(.text("x"), .int4(nil), .text("z")), .int4(1))

  @Test func `a null that moves up is told of once, without the errors beside it`() {
    let answer = write(shape(isNonNull: true), bytes, .propagate)
    #expect(answer == [#"{"a":null,"b":1}"#, ".a.y"])
  }

  @Test func `errors outside of it stay`() {
    let answer = write(shape(isNonNull: false), bytes, .propagate)
    #expect(answer == [#"{"a":{"x":null,"y":null,"z":null},"b":1}"#, ".a.x", ".a.z"])
  }

  @Test func `under NULL each position that failed is null, and no other`() {
    let answer = write(shape(isNonNull: true), bytes, .null)
    #expect(
      answer == [#"{"a":{"x":null,"y":null,"z":null},"b":1}"#, ".a.x", ".a.y", ".a.z"])
  }

  @Test func `under HALT the first error is the only one, and data is null`() {
    #expect(write(shape(isNonNull: true), bytes, .halt) == ["null", ".a.x"])
    let nulls = BinaryForm.record(.record(.int4(1), .int4(nil), .int4(3)), .int4(nil))
    #expect(write(shape(isNonNull: true), nulls, .halt) == ["null", ".a.y"])
    // A null that is no error does not halt.
    #expect(
      write(shape(isNonNull: false), nulls, .halt)
        == [#"{"a":{"x":1,"y":null,"z":3},"b":null}"#])
  }

  @Test func `an item of a list is such a position`() {
    let list = ObjectShape(fields: [
      field("l", .leaves(column: 0, .int, itemsNonNull: true), nonNull: true)
    ])
    let bytes = BinaryForm.record(
      Column(1007, BinaryForm.array(of: 23, [BinaryForm.big(Int32(1)), nil])))
    #expect(write(list, bytes, .propagate) == ["null", ".l[1]"])
    #expect(write(list, bytes, .null) == [#"{"l":[1,null]}"#, ".l[1]"])
    #expect(write(list, bytes, .halt) == ["null", ".l[1]"])
  }

  /// The specification's equivalence: NULL treats every type as if it had no `!`.
  @Test func `the data under NULL is that of a schema without non-null types`() {
    for first in [Column.int4(1), .int4(nil), .text("x")] {
      for second in [Column.int4(2), .int4(nil), .text("y")] {
        for record in [
          Column.record(first, second, first), Column(BinaryForm.OID.record, nil),
          Column(BinaryForm.OID.record, [1]),
        ] {
          let bytes = BinaryForm.record(record, second)
          #expect(
            write(shape(isNonNull: true), bytes, .null).first
              == write(shape(isNonNull: false), bytes, .propagate).first)
        }
      }
    }
  }

  @Test func `a mutation halts behind the first field with an error`() {
    var progress = MutationProgress(
      [.call, .call, .known(.value([]))], viewer: 257, haltsOnError: true)
    #expect(progress.start() == .call(0))
    #expect(progress.returned(.value(Array("1".utf8))) == .call(1))
    var failed = FieldOutcome.failed([.fault("No.")])
    failed.mayHaveEndedSession = true
    #expect(progress.returned(failed) == .finish)
    #expect(progress.outcomes.count == 2)
    var known = MutationProgress(
      [.known(.failed([.fault("No.")])), .call], viewer: 0, haltsOnError: true)
    #expect(known.start() == .finish)
    #expect(known.outcomes.count == 1)
  }
}
