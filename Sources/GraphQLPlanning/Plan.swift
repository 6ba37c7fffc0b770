import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import SQL

/// How one operation is answered: one statement, its parameters, and how its row becomes JSON.
///
/// A value that holds nothing about a viewer or the time, so it is cached, printed and compared. The
/// statement returns one row with one column: a record of what the root fields need, in binary.
package struct Plan: Sendable {
  /// Nil when no root field needs the database (`{ __typename }`, introspection).
  package let statement: SQLStatement?
  /// In the order of `$1`, `$2`, ...
  package let parameters: [PlanParameter]
  /// What each of them was given to, where that is known.
  package var places: [InputPlace?] = []
  package let shape: ObjectShape
  /// Of a mutation, in order: it has no statement of its own.
  package var mutation: [MutationField] = []
  /// Of the largest answer.
  package var size: PlanSize
  /// Of a subscription.
  package var event: EventPlan?
  /// What comes after the answer that all of the above is about.
  package var delivery: DeliveryPlan?
  /// Of a live query.
  package var live: LivePlan?
}

/// Where the value of a statement's parameter comes from when the operation runs.
package enum PlanParameter: Sendable, Hashable {
  /// The signed-in user's id; 0 for an anonymous client.
  case viewer
  case input(InputSource, as: ParameterType)
  /// A sort key inside a cursor; `order` ties the cursor to the order it was made for.
  case sortKey(InputSource, index: Int, order: UInt32)
  case sortKeyIsNull(InputSource, index: Int, order: UInt32)
  /// How many rows are read for a page, by the number of the page in the statement: those of one plan are
  /// fixed, but plans that differ in them share a statement.
  case rowCount(Int, page: Int)
  case call(CallParameter)
  /// The node that a subscription is told of.
  case event
  /// The transaction before which a subscription was told everything.
  case told
  /// The transaction before which all have ended.
  case ended

  /// Nil for what is compared with a sort key, which says the type.
  package var sqlType: SQLType? {
    switch self {
    case .viewer: ParameterType.id.sql
    case .input(_, let type): type.sql
    case .sortKey: nil
    case .sortKeyIsNull: SQLType("bool")
    case .rowCount: SQLType("bigint")
    case .call(let parameter): parameter.sql
    case .event, .told, .ended: ParameterType.id.sql
    }
  }
}

/// The part of an operation's input a parameter is made from.
package indirect enum InputSource: Sendable, Hashable {
  case string(String)
  case int(Int64)
  case float(Double)
  /// The variable by its index in the operation, then input fields and items of lists inside it.
  case variable(Int, path: [PathSegment])
  case list([InputSource])
  case constant(InputValue)
  case object([Member])

  package struct Member: Sendable, Hashable {
    package let name: String
    package let source: InputSource
  }
}

/// PostgreSQL types that parameters are bound as.
package enum ParameterType: Sendable, Hashable {
  /// A node id, decoded from its wire form.
  case id
  /// The same, and 0 for what is no id: nothing has it.
  case anyID
  case int4, float8, text
  case timestamptz, date, numeric
  case json(JSONForm)
  indirect case array(ParameterType)

  /// The cast behind `$n::`.
  package var sql: SQLType {
    switch self {
    case .id, .anyID: SQLType("bigint")
    case .int4: SQLType("int4")
    case .float8: SQLType("float8")
    case .text: SQLType("text")
    case .timestamptz: SQLType("timestamptz")
    case .date: SQLType("date")
    case .numeric: SQLType("numeric")
    case .json: SQLType("jsonb")
    case .array(let element): SQLType(element.sql.name, isArray: true)
    }
  }
}

// MARK: - Output shape

/// An object of the response: its fields in the order of the selections.
package final class ObjectShape: Sendable {
  package let fields: [FieldShape]
  /// Keys of a live query, in the same record.
  package let live: [LiveColumn]

  package init(fields: [FieldShape], live: [LiveColumn] = []) {
    self.fields = fields
    self.live = live
  }
}

package struct FieldShape: Sendable {
  /// `"name":`, ready to be copied.
  package let key: [UInt8]
  package let responseName: String
  package let isNonNull: Bool
  package let value: ValueShape
  /// What a masked row has where the schema allows no null.
  package let coordinate: String
  /// Of a streamed list.
  package var items: StreamedItems?
}

/// How a value is found in the record of its object and written. Columns count from 0.
package indirect enum ValueShape: Sendable {
  /// JSON known when planning, such as `"User"` for `__typename`.
  case constant([UInt8])
  case leaf(column: Int, LeafFormat)
  /// An array of leaves, one level deep.
  case leaves(column: Int, LeafFormat, itemsNonNull: Bool)
  /// A record inside the column.
  case record(column: Int, RecordShape)
  /// The same record seen as another object; null unless the boolean column holds.
  case embedded(when: Int?, ObjectShape)
  /// An array of records.
  case list(column: Int, RecordShape, itemsNonNull: Bool, length: ListLength)
  case connection(ConnectionShape)
  /// `__schema` and `__type`: answered without the database, by response name.
  case introspection
  /// The token made for the request, behind these words.
  case secret
  /// No value can be had: an error of this field, and null. Its path is the writer's to add.
  case refused(GraphQLError)
  /// No field of the response, but where parts of it meet.
  case marker(DeliveryMarker)
}

/// Which object a record is.
package indirect enum RecordShape: Sendable {
  case object(ObjectShape)
  /// By the low byte of the id in a column; a tag not listed is null.
  case byTag(column: Int, [Int: ObjectShape])
  /// The record is a column of this record (a node beside the columns of its edge).
  case nested(column: Int, RecordShape, live: [LiveColumn] = [])
}

/// A page: its elements are records in one array column, in page order or reversed.
package final class ConnectionShape: Sendable {
  package enum Part: Sendable {
    case constant([UInt8])
    case edges(EdgeShape)
    case nodes(RecordShape)
    /// Of this page, or of one that is read for it alone, where not all of this one is.
    case pageInfo([PageInfoField], of: ConnectionShape? = nil)
    /// A leaf of the enclosing record: `totalCount` and other counts and texts.
    case leaf(column: Int, LeafFormat)
    case marker(DeliveryMarker)
  }

  package struct PartField: Sendable {
    package let key: [UInt8]
    package let responseName: String
    package let isNonNull: Bool
    package let part: Part
    /// Of a streamed list.
    package var items: StreamedItems?
  }

  package let parts: [PartField]
  /// Nil when nothing of the page itself is selected.
  package let itemsColumn: Int?
  package let pageSize: Int
  /// How many elements of the page, from its first one on, are not in the array.
  package let skipped: Int
  /// `last`: the array comes newest first and is written from its end.
  package let isBackward: Bool
  /// A cursor was given, so there is something on its other side.
  package let hasCursor: Bool
  /// Columns of the element record that make its cursor.
  package let keyColumns: [Int]
  package let order: UInt32

  package init(
    parts: [PartField], itemsColumn: Int?, pageSize: Int, skipped: Int = 0, isBackward: Bool,
    hasCursor: Bool, keyColumns: [Int], order: UInt32
  ) {
    self.parts = parts
    self.itemsColumn = itemsColumn
    self.pageSize = pageSize
    self.skipped = skipped
    self.isBackward = isBackward
    self.hasCursor = hasCursor
    self.keyColumns = keyColumns
    self.order = order
  }
}

package final class EdgeShape: Sendable {
  package enum Part: Sendable {
    case constant([UInt8])
    case cursor
    case node(RecordShape)
    case field(ValueShape)
    case marker(DeliveryMarker)
  }

  package struct PartField: Sendable {
    package let key: [UInt8]
    package let responseName: String
    package let isNonNull: Bool
    package let part: Part
  }

  package let parts: [PartField]

  package init(parts: [PartField]) { self.parts = parts }
}

package struct PageInfoField: Sendable {
  package enum Kind: Sendable {
    case hasNextPage, hasPreviousPage, startCursor, endCursor
    case constant([UInt8])
  }

  package let key: [UInt8]
  package let kind: Kind
}

/// How a column's binary value is written. The record says the column's PostgreSQL type; this says
/// what the schema promises.
package enum LeafFormat: Sendable, Hashable {
  case id, int, float, boolean
  /// A number that was counted up to one more than this limit, written as at most the limit.
  case count(limit: Int32)
  /// The same number's column: whether it is within the limit, a boolean.
  case isCounted(limit: Int32)
  /// Text, enums, and scalars stored as text.
  case string
  /// A number as text.
  case decimal
  case dateTime, date
}
