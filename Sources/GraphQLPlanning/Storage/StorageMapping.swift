import GraphQLLanguage
import GraphQLSchema
import SQL

/// Where every type and field of a schema lives in PostgreSQL, read once from its storage directives.
///
/// An object type's field without a directive of its own takes that of the interfaces it
/// implements; without any it is the column named like it in snake_case.
package struct StorageMapping: Sendable {
  package let schema: Schema
  /// By type index; nil for leaf and input types.
  let types: [TypeStorage?]
  private let conditions: [ObjectIdentifier: WhereStorage]
  /// The input types with a condition of their own or of an input inside of them.
  private let filterTypes: Set<TypeID>
  private let enumValues: [ObjectIdentifier: EnumValueStorage]
  /// By type index.
  private let scalars: [ScalarStorage]
  /// Are there when anything at all is hidden from the viewer.
  let hiddenRows: SQLTemplate?
  /// By field of the subscription type.
  package let events: [String: EventStorage]

  package subscript(_ id: TypeID) -> TypeStorage? { types[Int(id.index)] }

  /// What an argument or an input field of the schema adds to the conditions.
  package func condition(of definition: InputValueDefinition) -> WhereStorage? {
    conditions[ObjectIdentifier(definition)]
  }

  /// Whether the fields of an input type, or those of inputs inside of it, can add conditions.
  package func hasConditions(_ inputType: TypeID) -> Bool { filterTypes.contains(inputType) }

  func enumValue(named name: String, of type: TypeID) -> EnumValueStorage? {
    schema[type].enumValue(named: name).flatMap { enumValues[ObjectIdentifier($0)] }
  }

  /// The values of an enum that `@value(sql:)` says are something else in SQL, with their texts there.
  package func labels(of type: TypeID) -> [(name: String, label: String)] {
    guard case .enum(let values) = schema[type].kind else { return [] }
    return values.compactMap { value in
      guard value.appliedDirectives.first(named: "value")?.string("sql") != nil,
        let label = enumValues[ObjectIdentifier(value)]?.element, label != value.name
      else { return nil }
      return (value.name, label)
    }
  }

  /// What values of a leaf type are bound as.
  func parameterType(of id: TypeID) -> ParameterType { scalars[Int(id.index)].parameter }

  /// How values of a leaf type are written.
  func leafFormat(of id: TypeID) -> LeafFormat { scalars[Int(id.index)].format }

  /// - Throws: every directive that does not fit, each naming its schema coordinate.
  package init(_ schema: Schema) throws(StorageErrors) {
    self.schema = schema
    var reader = StorageReader(schema: schema)
    conditions = reader.conditions()
    filterTypes = Self.filterTypes(schema, conditions)
    enumValues = reader.enumValues()
    hiddenRows = reader.hiddenRows()
    events = reader.events()
    scalars = schema.types.map { ScalarStorage($0) }
    types = schema.types.map { reader.read($0) }
    let problems =
      StorageWords(schema: schema).problems + reader.problems
      + CallRules(schema: schema, types: types).problems
    guard problems.isEmpty else { throw StorageErrors(problems: problems) }
  }
}

extension StorageMapping {
  /// Goes from the types with conditions to those that contain them.
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

/// Directives that do not hold, one line each: `Post.author: ...`.
package struct StorageErrors: Error, Sendable, CustomStringConvertible {
  package let problems: [String]
  package var description: String { problems.joined(separator: "\n") }

  package init(problems: [String]) { self.problems = problems }
}

package final class TypeStorage: Sendable {
  package let type: TypeDefinition
  package let table: TableStorage?
  /// The low byte of the ids of this type.
  package let tag: Int?
  package let joins: [JoinStorage]
  package let fields: [String: FieldStorage]

  init(
    type: TypeDefinition, table: TableStorage?, tag: Int?, joins: [JoinStorage],
    fields: [String: FieldStorage]
  ) {
    self.type = type
    self.table = table
    self.tag = tag
    self.joins = joins
    self.fields = fields
  }
}

package struct TableStorage: Sendable, Hashable {
  package let name: SQLTemplate
  package let masked: SQLTemplate?
  package let key: String
}

package struct JoinStorage: Sendable, Hashable {
  package let name: String
  package let table: SQLTemplate
  package let on: SQLTemplate
  /// Each row has its counterpart: not a left join, so that PostgreSQL may begin with the other.
  package let isRequired: Bool
  /// Columns of `this` that its row has a copy of, and how it is called there. While a page is in an
  /// order that it keeps, the copies are asked, so that an index of the order can tell without the row.
  package let copies: [String: String]

  /// What stands in place of a column behind a dot that there is a copy of, with the text behind it.
  func copy(in text: String) -> String? {
    guard text.first == "." else { return nil }
    let name = text.dropFirst().prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    return copies[String(name)].map { ".\($0)\(text.dropFirst(name.count + 1))" }
  }
}

/// How a field is found from its object's row.
package final class FieldStorage: Sendable {
  package enum Kind: Sendable {
    /// A scalar or enum, or lists of them; a count less what is hidden.
    case leaf(SQLTemplate, hidden: SQLTemplate?)
    /// The values of an enum whose conditions hold.
    case values(when: SQLTemplate?)
    /// An object made from the same row.
    case embed(when: SQLTemplate?)
    case reference(ReferenceStorage)
    case relation(RelationStorage)
    /// A mutation's field.
    case call(CallStorage)
    /// The user errors of a payload.
    case userErrors
    /// The token made for the request.
    case secret
    /// Subscription fields without events, mutations without a function, and introspection: nothing to read.
    case none
  }

  package let definition: FieldDefinition
  /// `Type.field`, for errors.
  package let coordinate: String
  package let kind: Kind

  /// Equal for fields of several types that are stored alike.
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
  /// Read in place of the target type's table, masked or not.
  package let rows: SQLTemplate?
}

/// A connection or a plain list.
package struct RelationStorage: Sendable {
  package let isConnection: Bool
  /// An array of ids, in place of `from`: its elements in its order.
  package let ids: SQLTemplate?
  package let from: SQLTemplate?
  /// Read in place of the target type's table.
  package let rows: SQLTemplate?
  package let on: SQLTemplate
  package let condition: SQLTemplate?
  package let order: OrderStorage
  package let count: SQLTemplate?
  /// How many of `count` are hidden from the viewer.
  package let hidden: SQLTemplate?
}

/// A total order: the last key is unique.
package struct OrderStorage: Sendable, Hashable {
  package let keys: [SQLSortKey]
}

/// A condition that an argument or an input field adds.
package struct WhereStorage: Sendable {
  package let condition: SQLTemplate?
  /// A test besides, or where the condition says `:in`.
  package let membership: SetMembership?
  package let unless: String?
  package let isCounted: Bool
  /// How many rows a page looks through in its order before all are asked for that the condition
  /// holds for.
  package let among: Int?
  /// Whether a row must fit all of a list's input objects, instead of one.
  let wantsAll: Bool

  /// Whether it has a test of its own.
  var isTest: Bool { condition != nil || membership != nil }

  /// Whether each row tells by itself, without much ado.
  var asksOnlyTheRow: Bool { among == nil && asksNoOther }

  /// Whether it looks into no table or set besides.
  var asksNoOther: Bool { membership == nil && condition?.hasSelect != true }

  /// Whether it asks no column of `this` but those that the join has copies of.
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

/// That something is in a set which does not depend on the row: it is worked out once, and hashed.
package struct SetMembership: Sendable {
  package let member: SQLTemplate
  /// A `SELECT` of one column.
  package let set: SQLTemplate
}

/// What an enum value means in SQL.
package struct EnumValueStorage: Sendable {
  /// As an expression: `'GOOD'` or `16`.
  package let text: String
  /// As an element of an array literal: `GOOD` or `16`.
  package let element: String
  /// When it is among the values of a field with `@values`.
  package let when: SQLTemplate?
  /// The order that it asks for.
  package let order: OrderStorage?
}
