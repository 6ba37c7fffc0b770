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

  package subscript(_ id: TypeID) -> TypeStorage? { types[Int(id.index)] }

  /// - Throws: every directive that does not fit, each naming its schema coordinate.
  package init(_ schema: Schema) throws(StorageErrors) {
    self.schema = schema
    var reader = StorageReader(schema: schema)
    types = schema.types.map { reader.read($0) }
    let problems = reader.problems + StorageWords(schema: schema).problems
    guard problems.isEmpty else { throw StorageErrors(problems: problems) }
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
}

/// How a field is found from its object's row.
package final class FieldStorage: Sendable {
  package enum Kind: Sendable {
    /// A scalar or enum, or lists of them.
    case leaf(SQLTemplate)
    /// An object made from the same row.
    case embed(when: SQLTemplate?)
    case reference(ReferenceStorage)
    case relation(RelationStorage)
    /// Mutation and subscription fields, and introspection: nothing to read.
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
  package let from: SQLTemplate?
  /// Read in place of the target type's table.
  package let rows: SQLTemplate?
  package let on: SQLTemplate
  package let condition: SQLTemplate?
  package let order: OrderStorage
  package let count: SQLTemplate?
}

/// A total order: the last key is unique.
package struct OrderStorage: Sendable, Hashable {
  package struct Key: Sendable, Hashable {
    package let expression: SQLTemplate
    package let isDescending: Bool
    /// Nil when the key is never null.
    package let nullsFirst: Bool?
  }

  package let keys: [Key]

  package init(_ text: String) {
    guard !text.isEmpty else {
      keys = []
      return
    }
    keys = SQLTemplate(text).splitAtCommas().map { part in
      var words = part.source.split(separator: " ").map(String.init)
      var isDescending = false
      var nullsFirst: Bool?
      if words.count > 2, words[words.count - 2].uppercased() == "NULLS" {
        nullsFirst = words[words.count - 1].uppercased() == "FIRST"
        words.removeLast(2)
      }
      if let last = words.last?.uppercased(), last == "DESC" || last == "ASC" {
        isDescending = last == "DESC"
        words.removeLast()
      }
      return Key(
        expression: SQLTemplate(words.joined(separator: " ")), isDescending: isDescending,
        nullsFirst: nullsFirst)
    }
  }
}

/// A condition that an argument or an input field adds.
package struct WhereStorage: Sendable {
  package let condition: SQLTemplate
  package let unless: String?
  package let isCounted: Bool

  package init?(_ definition: InputValueDefinition) {
    guard let directive = definition.appliedDirectives.first(named: "where"),
      let condition = directive.string("condition")
    else { return nil }
    self.condition = SQLTemplate(condition)
    unless = directive.string("unless")
    isCounted = directive.boolean("counted") ?? false
  }
}
