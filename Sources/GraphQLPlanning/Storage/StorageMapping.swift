import GraphQLLanguage
import GraphQLSchema
import SQL

/// The location of every type and field of a schema in PostgreSQL, read once from its storage
/// directives.
///
/// An object type's field without a directive takes that of the interfaces that the type
/// implements; without any, it is the column with its name in snake_case.
package struct StorageMapping: Sendable {
  package let schema: Schema
  /// The types by index; nil for leaf and input types.
  let types: [TypeStorage?]
  private let conditions: [ObjectIdentifier: WhereStorage]
  /// The input types with a condition of their own or of a nested input.
  private let filterTypes: Set<TypeID>
  private let enumValues: [ObjectIdentifier: EnumValueStorage]
  /// The input fields with `@insert`.
  private let nestedInserts: [ObjectIdentifier: NestedInsert]
  /// The inputs with `@filter(of:)` and with `@order(of:)`.
  private let filters: [TypeID: FilterStorage]
  private let orders: [TypeID: FilterStorage]
  /// The types with `@aggregates(of:)`.
  private let aggregates: [TypeID: AggregateStorage]
  /// The scalars by type index.
  private let scalars: [ScalarStorage]
  /// The relation that has rows if anything at all is hidden from the viewer.
  let hiddenRows: SQLTemplate?
  /// The events by field of the subscription type.
  package let events: [String: EventStorage]
  /// The tags of the types with `@id`.
  let keyTags: Set<Int>
  /// The keys of representations; empty unless a field takes them.
  private(set) var entities = EntityKeys()

  /// Whether a field of the mutation type writes rows.
  package var writesRows: Bool {
    guard let fields = schema.mutationType.flatMap({ self[$0] })?.fields.values else {
      return false
    }
    return fields.contains { field in
      if case .call(let call) = field.kind { call.write != nil } else { false }
    }
  }

  /// The tables whose rows clients without a session or a signed token may write, as the schema names
  /// them.
  package var anonymouslyWrittenTables: [String] {
    let fields = schema.mutationType.flatMap({ self[$0] })?.fields.values.map(\.kind) ?? []
    let tables = fields.compactMap { kind -> String? in
      guard case .call(let call) = kind, !call.refusesAnonymous else { return nil }
      return call.write?.table?.source
    }
    return Set(tables).sorted()
  }

  /// Whether an argument or an input field is a password.
  package var takesPasswords: Bool {
    schema.types.contains { type in
      var definitions = type.fields.flatMap(\.arguments)
      if case .inputObject(let fields, _) = type.kind { definitions += fields }
      return definitions.contains { $0.appliedDirectives.first(named: "password") != nil }
    }
  }

  package subscript(_ id: TypeID) -> TypeStorage? { types[Int(id.index)] }

  /// Returns the condition that an argument or an input field adds.
  package func condition(of definition: InputValueDefinition) -> WhereStorage? {
    conditions[ObjectIdentifier(definition)]
  }

  /// Returns whether the fields of an input type, or those of nested inputs, can add conditions.
  package func hasConditions(_ inputType: TypeID) -> Bool { filterTypes.contains(inputType) }

  /// Returns the rows that an input field inserts; nil for a field that is a value.
  func nestedInsert(of definition: InputValueDefinition) -> NestedInsert? {
    nestedInserts.isEmpty ? nil : nestedInserts[ObjectIdentifier(definition)]
  }

  /// Returns what the members of an input with `@filter(of:)` ask.
  package func filter(_ inputType: TypeID) -> FilterStorage? { filters[inputType] }

  /// Returns what the members of an input with `@order(of:)` sort by.
  package func order(_ inputType: TypeID) -> FilterStorage? { orders[inputType] }

  /// Returns what a type with `@aggregates(of:)` is computed from.
  func aggregates(_ type: TypeID) -> AggregateStorage? { aggregates[type] }

  /// Returns whether the objects of a field have IDs by `@id`.
  func hasKeyIDs(_ type: TypeID, _ field: String) -> Bool {
    guard let target = self[type]?.fields[field]?.definition.type.namedType else { return false }
    return hasKeyIDs(schema.possibleTypes[Int(target.index)])
  }

  func hasKeyIDs(_ types: [TypeID]) -> Bool { types.contains { self[$0]?.key != nil } }

  func enumValue(named name: String, of type: TypeID) -> EnumValueStorage? {
    schema[type].enumValue(named: name).flatMap { enumValues[ObjectIdentifier($0)] }
  }

  /// Returns the values of an enum with another text in SQL by `@value(sql:)`, with these texts.
  package func labels(of type: TypeID) -> [(name: String, label: String)] {
    guard case .enum(let values) = schema[type].kind else { return [] }
    return values.compactMap { value in
      guard value.appliedDirectives.first(named: "value")?.string("sql") != nil,
        let label = enumValues[ObjectIdentifier(value)]?.element, label != value.name
      else { return nil }
      return (value.name, label)
    }
  }

  /// Returns the type that values of a leaf type are bound as.
  func parameterType(of id: TypeID) -> ParameterType { scalars[Int(id.index)].parameter }

  /// Returns the format that values of a leaf type are written in.
  func leafFormat(of id: TypeID) -> LeafFormat { scalars[Int(id.index)].format }

  /// Returns whether values of a leaf type are read as their text.
  func isReadAsText(_ id: TypeID) -> Bool { scalars[Int(id.index)].isReadAsText }

  /// Returns the type that reads values of a leaf type from their text; nil if they have a binary form
  /// for sure.
  func textType(of id: TypeID) -> String? {
    guard isReadAsText(id), case .named(let name) = parameterType(of: id) else { return nil }
    return name
  }

  /// Reads the directives of a schema.
  ///
  /// - Throws: all directives that do not fit, each with its schema coordinate.
  package init(_ schema: Schema) throws(StorageErrors) {
    self.schema = schema
    var reader = StorageReader(schema: schema)
    conditions = reader.conditions()
    filterTypes = Self.filterTypes(schema, conditions)
    nestedInserts = reader.nestedInserts()
    enumValues = reader.enumValues()
    hiddenRows = reader.hiddenRows()
    events = reader.events()
    scalars = schema.types.map { ScalarStorage($0) }
    types = schema.types.map { reader.read($0) }
    keyTags = Set(types.compactMap { type in type?.key == nil ? nil : type?.tag })
    var filterReader = FilterReader(schema: schema, types: types)
    var filters = filterReader.read("filter")
    var orders = filterReader.read("order")
    aggregates = filterReader.aggregates(&filters, &orders)
    (self.filters, self.orders) = (filters, orders)
    let problems =
      TemplateVariables(schema: schema).problems + reader.problems + filterReader.problems
      + schema.types.compactMap { ScalarStorage.problem(of: $0) }
      + CallRules(schema: schema, types: types).problems
      + keyProblems
    guard problems.isEmpty else { throw StorageErrors(problems: problems) }
    if types.contains(where: \.hasEntities) { entities = EntityKeys(entityKeys) }
  }
}

extension StorageMapping {
  /// Adds, to the types with conditions, those that contain them.
  private static func filterTypes(
    _ schema: Schema, _ conditions: [ObjectIdentifier: WhereStorage]
  ) -> Set<TypeID> {
    var owners: [TypeID: [TypeID]] = [:]
    var found: Set<TypeID> = []
    for type in schema.types {
      guard case .inputObject(let fields, _) = type.kind else { continue }
      for field in fields {
        owners[field.type.namedType, default: []].append(type.id)
        if conditions[ObjectIdentifier(field)] != nil { found.insert(type.id) }
      }
    }
    var queue = Array(found)
    while let type = queue.popLast() {
      for owner in owners[type] ?? [] where found.insert(owner).inserted { queue.append(owner) }
    }
    return found
  }
}

/// Invalid directives, one line each: `Post.author: ...`.
package struct StorageErrors: Error, Sendable, CustomStringConvertible {
  package let problems: [String]
  package var description: String { problems.joined(separator: "\n") }

  package init(problems: [String]) { self.problems = problems }
}

package final class TypeStorage: Sendable {
  package let type: TypeDefinition
  package let table: TableStorage?
  /// The type in IDs: their low byte, or their first number if they are of a key.
  package let tag: Int?
  /// The key that the IDs of the objects have; nil if the IDs are numbers of 64 bits.
  package let key: KeyStorage?
  package let joins: [JoinStorage]
  package let fields: [String: FieldStorage]

  init(
    type: TypeDefinition, table: TableStorage?, tag: Int?, key: KeyStorage?,
    joins: [JoinStorage], fields: [String: FieldStorage]
  ) {
    self.type = type
    self.table = table
    self.tag = tag
    self.key = key
    self.joins = joins
    self.fields = fields
  }
}

extension TypeStorage? {
  /// Whether a field has the objects that a gateway names.
  fileprivate var hasEntities: Bool {
    self?.fields.values.contains { if case .entities = $0.kind { true } else { false } } ?? false
  }
}

package struct TableStorage: Sendable, Hashable {
  /// The rows: the table, or a sub-select of those that the rule lets through.
  package let name: SQLTemplate
  /// The condition of rows that exist for the viewer, on `this`.
  package var rule: SQLTemplate?
  package let masked: SQLTemplate?
  /// The columns of the key.
  package let keys: [String]
  /// The first of them: the column by which objects are found.
  package var key: String { keys.first ?? "id" }
}

/// The columns by which objects are found that have IDs by `@id`.
package struct KeyStorage: Sendable {
  package struct Column: Sendable {
    /// The name as statements write it.
    package let name: String
    /// The type that the values of the column's field are bound as; nil without a field.
    let type: ParameterType?
  }

  package let columns: [Column]
}

package struct JoinStorage: Sendable, Hashable {
  package let name: String
  package let table: SQLTemplate
  package let on: SQLTemplate
  /// Whether each row has its counterpart: an inner join then, so that PostgreSQL may start with
  /// the other table.
  package let isRequired: Bool
  /// The columns of `this` that the join's row has copies of, with their names there. While a page
  /// is in an order that the join keeps, the copies are used, so that an index of the order
  /// suffices without the row.
  package let copies: [String: String]

  /// Returns the copy of a column after a dot, with the text that follows it; nil if there is none.
  func copy(in text: String) -> String? {
    guard text.first == "." else { return nil }
    let name = text.dropFirst().prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    return copies[String(name)].map { ".\($0)\(text.dropFirst(name.count + 1))" }
  }
}

/// The way to read a field from its object's row.
package final class FieldStorage: Sendable {
  package enum Kind: Sendable {
    /// A scalar or enum, or lists of them; or a count less the hidden rows.
    case leaf(SQLTemplate, hidden: SQLTemplate?)
    /// The ID by the columns of the key.
    case keyID(SQLTemplate, LeafFormat)
    /// The values of an enum whose conditions hold.
    case values(when: SQLTemplate?)
    /// An object made from the same row.
    case embed(when: SQLTemplate?)
    case reference(ReferenceStorage)
    case relation(RelationStorage)
    /// The objects that a gateway names by their keys.
    case entities
    /// JSON that is known without the database.
    case constant([UInt8])
    /// A mutation's field.
    case call(CallStorage)
    /// The user errors of a payload.
    case userErrors
    /// The token made for the request.
    case secret
    /// Nothing to read: subscription fields without events, mutations without a function, and
    /// introspection.
    case none
  }

  package let definition: FieldDefinition
  /// The coordinate `Type.field`, for errors.
  package let coordinate: String
  package let kind: Kind

  /// A number that is equal for fields of several types that are stored alike.
  let identity: Int

  init(definition: FieldDefinition, coordinate: String, kind: Kind, identity: Int) {
    self.identity = identity
    self.definition = definition
    self.coordinate = coordinate
    self.kind = kind
  }
}

package struct ReferenceStorage: Sendable {
  package let id: SQLTemplate?
  package let condition: SQLTemplate?
  package let from: SQLTemplate?
  /// The relation read in place of the target type's table, masked or not.
  package let rows: SQLTemplate?
}

/// A connection or a plain list.
package struct RelationStorage: Sendable {
  package let isConnection: Bool
  /// An array of IDs, in place of `from`: its elements in its order.
  package let ids: SQLTemplate?
  package var from: SQLTemplate?
  /// What is read in place of `from` for a page from the end of the order.
  package var fromEnd: SQLTemplate?
  /// The relation read in place of the target type's table.
  package let rows: SQLTemplate?
  package let on: SQLTemplate
  package let condition: SQLTemplate?
  package let order: OrderStorage
  package let count: SQLTemplate?
  /// The number of rows in `count` that are hidden from the viewer.
  package let hidden: SQLTemplate?
  /// The size of a page for which no size is requested; nil for the usual one.
  package var size: Int?

  /// Returns the relation as a page in an order reads it, from its start or its end.
  func read(in order: OrderStorage, fromEnd isBackward: Bool) -> Self {
    var relation = self
    let start = order.from ?? from
    relation.from = isBackward ? (order.from == nil ? fromEnd : order.fromEnd) ?? start : start
    return relation
  }
}

/// A total order: the last key is unique.
package struct OrderStorage: Sendable, Hashable {
  package internal(set) var keys: [SQLSortKey]
  /// What is read in this order in place of the relation's `from`, and for a page from its end.
  var from: SQLTemplate?
  var fromEnd: SQLTemplate?
  /// The argument without which the order is that of another value.
  var given: String?
  var otherwise: String?
  /// Whether a list of an input with `@order(of:)` chose it.
  var isChosen = false
}

/// A condition that an argument or an input field adds.
package struct WhereStorage: Sendable {
  package let condition: SQLTemplate?
  /// A test in addition to the condition, or at its `:in`.
  package let membership: SetMembership?
  package let unless: String?
  package let isCounted: Bool
  /// The number of rows that a page checks in its order before it reads all that satisfy the
  /// condition.
  package let among: Int?
  /// Whether a row must match all of a list's input objects, instead of one.
  let wantsAll: Bool

  /// Whether it may fail for some rows.
  var canFail: Bool {
    [condition, membership?.member, membership?.set].contains { $0?.canFail == true }
  }

  /// Whether it has its own test.
  var isTest: Bool { condition != nil || membership != nil }

  /// Whether it can be evaluated on each row alone, at low cost.
  var asksOnlyTheRow: Bool { among == nil && asksNoOther }

  /// Whether it reads no other table or set.
  var asksNoOther: Bool { membership == nil && condition?.hasSelect != true }

  /// Returns whether it reads only those columns of `this` that the join has copies of.
  func asksOnly(_ join: JoinStorage) -> Bool {
    let templates = [condition, membership?.member, membership?.set].compactMap(\.self)
    return templates.allSatisfy { template in
      zip(template.pieces, template.pieces.dropFirst() + [.text("")]).allSatisfy { piece, next in
        guard case .qualifier(let name) = piece, name == "this" else { return true }
        guard case .text(let text) = next else { return false }
        return join.copy(in: text) != nil
      }
    }
  }
}

/// A test of membership in a set that does not depend on the row: it is computed once, and hashed.
package struct SetMembership: Sendable {
  package let member: SQLTemplate
  /// A `SELECT` of one column.
  package let set: SQLTemplate
}

/// The SQL of an enum value.
package struct EnumValueStorage: Sendable {
  /// The value as an expression: `'GOOD'` or `16`.
  package let text: String
  /// The value as an element of an array literal: `GOOD` or `16`.
  package let element: String
  /// The condition under which a field with `@values` includes it.
  package let when: SQLTemplate?
  /// The order that the value selects.
  package let order: OrderStorage?
}
