import GraphQLLanguage
import GraphQLSchema

/// The directives that say where each part of a schema lives in PostgreSQL.
///
/// Inside their SQL, `this` is the row described (in relations: the row of the target), `edge` the
/// `from` item, `parent` the row of the enclosing object, `:viewer` the signed-in user's id or 0,
/// `:argument.path` an argument and `:value` the value a `@where` belongs to. See ARCHITECTURE.md.
package enum StorageDirectives {
  package static let sdl = """
    "The PostgreSQL type behind a scalar: timestamptz, date, text or numeric."
    directive @scalar(type: String!) on SCALAR
    "What an enum value is in SQL; its quoted name unless given."
    directive @value(sql: String!) on ENUM_VALUE
    "The low byte of the ids of this type."
    directive @tag(id: Int!) on OBJECT
    "The rows of a type: a table or a call of a set-returning function; masked: what a non-null reference reads instead."
    directive @table(name: String!, masked: String, key: String! = "id") on OBJECT | INTERFACE
    "A left join for the type's own fields, used only when an expression mentions its name."
    directive @join(name: String!, table: String!, on: String!) repeatable on OBJECT | INTERFACE
    "The column of a field that is not the field's name in snake_case."
    directive @column(name: String!) on FIELD_DEFINITION
    "A computed value."
    directive @sql(expression: String!) on FIELD_DEFINITION
    "An object made from the same row; null unless the condition holds."
    directive @embed(when: String) on FIELD_DEFINITION
    "One other object."
    directive @reference(column: String, id: String, where: String, from: String, rows: String) on FIELD_DEFINITION
    "A connection: pages of other objects."
    directive @connection(from: String, on: String! = "this.id = edge.id", where: String, orderBy: String, count: String, rows: String) on FIELD_DEFINITION
    "A plain list of other objects."
    directive @list(from: String, on: String! = "this.id = edge.id", where: String, orderBy: String, rows: String) on FIELD_DEFINITION
    "A condition added when the argument is given, not null and not the value named by unless."
    directive @where(condition: String!, unless: String, counted: Boolean! = false) on ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION
    "The total order an enum value asks for, the unique tie-break last."
    directive @orderBy(by: String!) on ENUM_VALUE
    """

  package static let names: Set<String> = [
    "scalar", "value", "tag", "table", "join", "column", "sql", "embed", "reference", "connection",
    "list", "where", "orderBy",
  ]

  /// The schema as clients see it: the same types, without these directives.
  package static func clientSchema(of schema: Schema) -> Schema {
    Schema(
      description: schema.description, types: schema.types,
      directives: schema.directives.filter { !names.contains($0.name) },
      queryType: schema.queryType, mutationType: schema.mutationType,
      subscriptionType: schema.subscriptionType, appliedDirectives: [],
      possibleTypes: schema.possibleTypes)
  }
}

extension [Directive] {
  func first(named name: String) -> Directive? { first { $0.name.text == name } }
}

extension Directive {
  func string(_ name: String) -> String? {
    guard let argument = arguments.first(where: { $0.name.text == name }),
      case .string(let literal) = argument.value.content
    else { return nil }
    return literal.text
  }

  func int(_ name: String) -> Int? {
    guard let argument = arguments.first(where: { $0.name.text == name }),
      case .int(let text) = argument.value.content
    else { return nil }
    return Int(text)
  }

  func boolean(_ name: String) -> Bool? {
    guard let argument = arguments.first(where: { $0.name.text == name }),
      case .boolean(let value) = argument.value.content
    else { return nil }
    return value
  }
}
