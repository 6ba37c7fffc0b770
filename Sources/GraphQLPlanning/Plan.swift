import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import SQL

/// The way to execute one operation.
///
/// It contains nothing about a viewer or the time, so it can be cached, printed and compared.
package enum Plan: Sendable {
  /// A query with a single response.
  case query(ResponsePlan)
  /// A query that has another response each time its result changes.
  case live(ResponsePlan, LiveDependencies)
  /// A query whose response comes in parts: the first one, and those that come later.
  case incremental(ResponsePlan, DeliveryPlan)
  case mutation(MutationPlan)
  /// The response for each event, and the selection of the events.
  case subscription(ResponsePlan, EventPlan)

  /// The size of the largest response, all of its parts together.
  package var size: PlanSize {
    switch self {
    case .query(let response), .live(let response, _), .subscription(let response, _):
      response.size
    case .incremental(_, let delivery): delivery.size
    case .mutation(let mutation): mutation.size
    }
  }
}

/// How one response is made, or one of its parts.
package enum ResponsePlan: Sendable {
  /// No root field needs the database: `{ __typename }`, introspection.
  case constant(ObjectShape, PlanSize)
  case read(ReadPlan)

  package var shape: ObjectShape {
    switch self {
    case .constant(let shape, _): shape
    case .read(let read): read.shape
    }
  }

  package var size: PlanSize {
    switch self {
    case .constant(_, let size): size
    case .read(let read): read.size
    }
  }
}

/// One statement, its parameters, and how its row becomes JSON.
///
/// The statement returns one row with one column: a record of what the root fields need, in binary.
package struct ReadPlan: Sendable {
  package let statement: SQLStatement
  /// The parameters in the order of `$1`, `$2`, ...
  package let parameters: [PlanParameter]
  /// The input that each parameter comes from, or nil if it is unknown.
  package let places: [InputPlace?]
  package let shape: ObjectShape
  package let size: PlanSize
}

/// The root fields of a mutation, in order.
package struct MutationPlan: Sendable {
  package let fields: [MutationField]
  package let size: PlanSize
}

/// The source of the value of a statement's parameter when the operation runs.
package enum PlanParameter: Sendable, Hashable {
  /// The signed-in user's ID; 0 for an anonymous client.
  case viewer
  /// The languages that the request asks for, best first, separated by spaces.
  case locale
  /// The application that the request names; empty for none.
  case app
  /// The SHA-256 of the token of the request's session.
  case sessionHash
  /// A claim of the request's signed token, as text; null without a token or without the claim.
  case claim([String])
  case input(InputSource, as: ParameterType)
  /// A sort key inside a cursor; `order` ties the cursor to the order that it was made for.
  case sortKey(InputSource, index: Int, order: UInt32)
  case sortKeyIsNull(InputSource, index: Int, order: UInt32)
  /// A value of a key inside an ID, by its place among so many; null if the ID has no such key or
  /// the value is none of its type. Without a type it follows from the comparison.
  case keyValue(InputSource, place: Int, count: Int, as: ParameterType?)
  /// An array with a part of each representation, whose keys are among these.
  case representation(InputSource, of: EntityKeys, RepresentationPart)
  /// The number of rows to read for a page, by the number of the page in the statement. Each plan
  /// has fixed numbers, but plans that differ in them share a statement.
  case rowCount(Int, page: Int)
  case call(CallParameter)
  /// The node of a subscription's event.
  case event
  /// The transaction before which all events of a subscription were delivered.
  case told
  /// The transaction before which all transactions have ended.
  case ended

  /// The type of the parameter; nil for a sort key, whose type follows from the comparison.
  package var sqlType: SQLType? {
    switch self {
    case .viewer: ParameterType.id.sql
    case .locale, .app, .claim: ParameterType.text.sql
    case .sessionHash: SQLType("bytea")
    case .input(_, let type): type.sql
    case .sortKey: nil
    // An `Int` may be of any integer type.
    case .keyValue(_, _, _, let type): type == .int4 ? SQLType("int4") : nil
    case .representation(_, _, .kind): SQLType("int4", isArray: true)
    case .representation(_, let keys, .value(let key, let column)):
      SQLType(keys.keys[key].columns[column].type.sql.name, isArray: true)
    case .sortKeyIsNull: SQLType("bool")
    case .rowCount: SQLType("bigint")
    case .call(let parameter): parameter.sql
    case .event, .told, .ended: ParameterType.id.sql
    }
  }
}

/// The part of an operation's input that a parameter is made from.
package indirect enum InputSource: Sendable, Hashable {
  case string(String)
  case int(Int64)
  case float(Double)
  /// A variable by its index in the operation, then input fields and items of lists inside it.
  case variable(Int, path: [PathSegment])
  case list([InputSource])
  case constant(InputValue)
  case object([Member])
  /// The values that a member has in each object of a list.
  case each(InputSource, String)

  /// Returns the value in a request with these variables, by their index; null for one that is not given.
  package func value(in variables: [InputValue?]) -> InputValue {
    switch self {
    case .constant(let value): return value
    case .object(let members):
      return .object(
        members.map { InputValue.Member(name: $0.name, value: $0.source.value(in: variables)) })
    case .string(let text): return .string(text)
    case .int(let number):
      return Int32(exactly: number).map { .int($0) } ?? .bigInt(number)
    case .float(let number): return .float(number)
    case .list(let items): return .list(items.map { $0.value(in: variables) })
    case .each(let list, let name):
      guard case .list(let items) = list.value(in: variables) else { return .null }
      return .list(items.map { $0[name] ?? .null })
    case .variable(let index, let path):
      guard index < variables.count, let value = variables[index] else { return .null }
      return path.isEmpty ? value : value.value(at: path)
    }
  }

  package struct Member: Sendable, Hashable {
    package let name: String
    package let source: InputSource
  }
}

/// The PostgreSQL types that parameters are bound as.
package enum ParameterType: Sendable, Hashable {
  /// A node ID, decoded from its wire form.
  case id
  /// A node ID, or 0 for an invalid one, which no node has.
  case anyID
  case int4, float8, text
  /// A pattern of `LIKE`.
  case pattern
  /// An element of a list of Booleans; a Boolean alone is a part of the statement.
  case boolean
  /// An instant in milliseconds, or in microseconds.
  case timestamptz, instant
  case date, numeric
  case json(JSONForm)
  /// A value of any other PostgreSQL type, which reads it from its text before the statement begins: an
  /// invalid one is refused whatever the rows are. (A cast, `($1::text)::uuid`, is evaluated for the rows
  /// that meet cheaper conditions, so its error would disclose them.)
  case named(String)
  /// A value of any form as the text of a JSON document, of type `json` or `jsonb`.
  case document(String)
  indirect case array(ParameterType)

  /// The cast after `$n::`.
  package var sql: SQLType {
    switch self {
    case .id, .anyID: SQLType("bigint")
    case .int4: SQLType("int4")
    case .boolean: SQLType("bool")
    case .float8: SQLType("float8")
    case .text, .pattern: SQLType("text")
    case .timestamptz, .instant: SQLType("timestamptz")
    case .date: SQLType("date")
    case .numeric: SQLType("numeric")
    case .json: SQLType("jsonb")
    case .named(let name), .document(let name): SQLType(name)
    case .array(let element): SQLType(element.sql.name, isArray: true)
    }
  }

  /// The type that reads the value from its text; nil if it is bound in a form of this program.
  package var castType: SQLType? {
    switch self {
    case .named(let name), .document(let name): SQLType(name)
    case .array(let element): element.castType.map { SQLType($0.name, isArray: true) }
    case .id, .anyID, .int4, .float8, .text, .pattern, .boolean, .timestamptz, .instant, .date,
      .numeric, .json:
      nil
    }
  }
}

// MARK: - Output shape

/// An object of the response: its fields in the order of the selections.
package final class ObjectShape: Sendable {
  package let fields: [FieldShape]
  /// The keys of a live query, in the same record.
  package let live: [LiveColumn]

  package init(fields: [FieldShape], live: [LiveColumn] = []) {
    self.fields = fields
    self.live = live
  }
}

package struct FieldShape: Sendable {
  /// The bytes `"name":`, ready to be copied.
  package let key: [UInt8]
  package let responseName: String
  package let isNonNull: Bool
  package let value: ValueShape
  /// The coordinate of the field, for the error of a null that the schema does not allow, such as
  /// that of a masked row.
  package let coordinate: String
  /// The items of a streamed list.
  package var items: StreamedItems?
  /// The cost of what its filters ask of relations; a connection has its own.
  package var filterCost = 0
}

/// The location of a value in the record of its object, and its format. Columns count from 0.
package indirect enum ValueShape: Sendable {
  /// JSON known during planning, such as `"User"` for `__typename`.
  case constant([UInt8])
  case leaf(column: Int, LeafFormat)
  /// An array of leaves, one level deep.
  case leaves(column: Int, LeafFormat, itemsNonNull: Bool)
  /// A record inside the column.
  case record(column: Int, RecordShape)
  /// An object from the same record; null unless the boolean column is true.
  case embedded(when: Int?, ObjectShape)
  /// An array of records.
  case list(column: Int, RecordShape, itemsNonNull: Bool, length: ListLength)
  case connection(ConnectionShape)
  /// The fields `__schema` and `__type`: answered without the database, by response name.
  case introspection
  /// The token made for the request, after this prefix.
  case secret
  /// An error of this field, and null. The writer adds its path.
  case refused(GraphQLError)
  /// A place in the response where its parts meet. It is not a field.
  case marker(DeliveryMarker)
}

/// The object types of a record.
package indirect enum RecordShape: Sendable {
  case object(ObjectShape)
  /// A record whose type is the low byte of the ID in a column; null for a tag that is not listed.
  case byTag(column: Int, [Int: ObjectShape])
  /// A record in a column of this record (a node next to the columns of its edge).
  case nested(column: Int, RecordShape, live: [LiveColumn] = [])
}

/// A page: its elements are records in one array column, in page order or reversed.
package final class ConnectionShape: Sendable {
  package enum Part: Sendable {
    case constant([UInt8])
    case edges(EdgeShape)
    case nodes(RecordShape)
    /// The page information of this page, or of one that is read only for it, if this one is
    /// incomplete.
    case pageInfo([PageInfoField], of: ConnectionShape? = nil)
    /// A value of the enclosing record: `totalCount` and other counts and texts, and aggregates.
    case value(ValueShape)
    case marker(DeliveryMarker)
  }

  package struct PartField: Sendable {
    package let key: [UInt8]
    package let responseName: String
    package let isNonNull: Bool
    package let part: Part
    /// The items of a streamed list.
    package var items: StreamedItems?
  }

  package let parts: [PartField]
  /// The column of the items; nil if nothing of the page itself is selected.
  package let itemsColumn: Int?
  package let pageSize: Int
  /// The number of elements of the page, from its first one on, that are not in the array.
  package let skipped: Int
  /// Whether the page is for `last`: the array is in reversed order and written from its end.
  package let isBackward: Bool
  /// Whether a cursor was given, so that there are elements on its other side.
  package let hasCursor: Bool
  /// The columns of the element record that form its cursor.
  package let keyColumns: [Int]
  package let order: UInt32
  /// The cost of what its filters ask of relations, and of its aggregates.
  package let cost: Int

  package init(
    parts: [PartField], itemsColumn: Int?, pageSize: Int, skipped: Int = 0, isBackward: Bool,
    hasCursor: Bool, keyColumns: [Int], order: UInt32, cost: Int = 0
  ) {
    self.parts = parts
    self.itemsColumn = itemsColumn
    self.pageSize = pageSize
    self.skipped = skipped
    self.isBackward = isBackward
    self.hasCursor = hasCursor
    self.keyColumns = keyColumns
    self.order = order
    self.cost = cost
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

/// The format of a column's binary value. The record has the column's PostgreSQL type; this is the
/// type in the schema.
package enum LeafFormat: Sendable, Hashable {
  case id, int, float, boolean
  /// A number that was counted up to one more than this limit, written as at most the limit.
  case count(limit: Int32)
  /// The column of such a number, written as a boolean: whether it is within the limit.
  case isCounted(limit: Int32)
  /// A text, an enum, or a scalar stored as text.
  case string
  /// A number as text.
  case decimal
  case dateTime, date
  /// An instant whose microseconds are written where it has some.
  case instant
  /// The 36 characters of a `uuid`.
  case uuid
  /// An integer of up to 64 bits, in quotes.
  case integerText
  /// A `json` or `jsonb`, as it is.
  case json
  /// The ID of an object of this tag, from the value of its key as text, or from an array of them.
  case key(tag: Int, isSingle: Bool)
}
