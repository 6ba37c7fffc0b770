import GraphQLLanguage
import GraphQLSchema

/// The directives that map each part of a schema to PostgreSQL.
///
/// Inside their SQL, `this` is the described row (in relations: the row of the target), `edge` the
/// FROM item, `parent` the row of the enclosing object, `:viewer` the signed-in user's ID or 0,
/// `:argument.path` an argument and `:value` the value that a `@where` belongs to. See
/// docs/reference/directives.md.
package enum StorageDirectives {
  package static let sdl = """
    "The PostgreSQL type behind a scalar: timestamptz, date, text or numeric."
    directive @scalar(type: String!) on SCALAR
    "What an enum value is in SQL, a number, a text in quotes or the tag of a type; its quoted name unless given."
    directive @value(sql: String, type: String) on ENUM_VALUE
    "When an enum value is among those of a field with @values; always unless given."
    directive @when(condition: String!) on ENUM_VALUE
    "The values of the field's enum whose @when holds, in their order; none unless the condition holds."
    directive @values(when: String) on FIELD_DEFINITION
    "Rows that are there when anything at all is hidden from the viewer: only then counts are lessened by what is."
    directive @hidden(rows: String!) on SCHEMA
    "The low byte of the ids of this type."
    directive @tag(id: Int!) on OBJECT
    "The rows of a type: a table or a call of a set-returning function; masked: what a non-null reference reads instead."
    directive @table(name: String!, masked: String, key: String! = "id") on OBJECT | INTERFACE
    "A left join for the type's own fields, used only when an expression mentions its name; required: each row has its counterpart, and PostgreSQL may begin with that; copies: columns, with commas, that it has under the same names, asked by conditions of arguments while pages are in an order of its."
    directive @join(name: String!, table: String!, on: String!, required: Boolean! = false, copies: String) repeatable on OBJECT | INTERFACE
    "The column of a field: its name in snake_case unless given, of the join named; hidden: how many of what it counts are."
    directive @column(name: String, of: String, hidden: String) on FIELD_DEFINITION
    "A computed value."
    directive @sql(expression: String!) on FIELD_DEFINITION
    "An object made from the same row; null unless the condition holds."
    directive @embed(when: String) on FIELD_DEFINITION
    "One other object."
    directive @reference(column: String, id: String, where: String, from: String, rows: String) on FIELD_DEFINITION
    "A connection: pages of other objects."
    directive @connection(from: String, on: String! = "this.id = edge.id", where: String, orderBy: String, count: String, hidden: String, rows: String) on FIELD_DEFINITION
    "A plain list of other objects; ids: those of an array, in its order."
    directive @list(ids: String, from: String, on: String! = "this.id = edge.id", where: String, orderBy: String, rows: String) on FIELD_DEFINITION
    "A condition added when the argument is given, not null and not the value named by unless; in: what must be in a set, worked out once; among: a page looks through so many rows in its order before an index is asked for all. Of an argument that chooses an order: what stands instead of the connection's own condition while its pages are read. Of a list of input objects with conditions a row must fit one, with all each of them."
    directive @where(condition: String, in: String, set: String, unless: String, counted: Boolean! = false, among: Int, all: Boolean! = false) on ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION
    "The total order an enum value asks for, the unique tie-break last."
    directive @orderBy(by: String!) on ENUM_VALUE
    "The function that a mutation's field calls; once: a request repeated with its Idempotency-Key is not done again; again: what is called then if the answer is not to be kept; signsIn: the member of its result with the id of whom it signs in."
    directive @call(function: String!, once: Boolean! = false, again: String, signsIn: String) on FIELD_DEFINITION
    "What the mutation's function returned: a leaf, or the objects of these ids; key: a member of the jsonb that was returned."
    directive @result(key: String) on FIELD_DEFINITION
    "What the mutation was refused for: objects with the columns code, message and path."
    directive @userErrors on FIELD_DEFINITION
    "A password, which the server keeps from the database: its hash is handed on; with of, the stored hash that it was found to match; with again, the same to @call(again:), of a request that was done."
    directive @password(of: String, again: String) on ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION
    "A credential of the identity provider that the argument of this name says: its claims are handed on."
    directive @identityToken(provider: String!) on ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION
    "What only the server can open once it is stored."
    directive @sealed on ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION
    "What a subscription's field tells of: news of this topic under the keys of the viewer or the arguments, one or a SELECT of them; settled: when no older transaction is open. Its other directives say what is sent, with the node as :event, and :told and :ended, the transactions before which everything was told and all have ended; a field that can be null is at its end then, and one without :event is sent where it is another."
    directive @event(topic: String!, key: String, keys: String, settled: Boolean! = false) on FIELD_DEFINITION
    "The token made for the request, of which :secretHash is the SHA-256."
    directive @secret on FIELD_DEFINITION
    """

  package static let names: Set<String> = [
    "scalar", "value", "when", "values", "hidden", "tag", "table", "join", "column", "sql", "embed",
    "reference", "connection", "list", "where", "orderBy", "call", "result", "userErrors", "secret",
    "password", "identityToken", "sealed", "event",
  ]

  /// Returns the schema as clients see it: the same types, without these directives.
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
