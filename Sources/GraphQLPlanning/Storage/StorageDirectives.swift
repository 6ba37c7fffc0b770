import GraphQLLanguage
import GraphQLSchema

/// The directives that map each part of a schema to PostgreSQL.
///
/// Names in their SQL: `this` is the described row, in relations the row of the target. `edge` is
/// the FROM item, and `parent` the row of the enclosing object. `:viewer` is the viewer's ID or 0,
/// `:argument.path` an argument, and `:value` the value that a `@where` belongs to. See
/// docs/reference/directives.md.
package enum StorageDirectives {
  package static let sdl = """
    "The PostgreSQL type of the scalar, by the name that casts use. `jsonb` and `json` are JSON in responses, and `int8` is a string. `timestamptz` is an instant in milliseconds, `timestamptz(6)` in microseconds. A type without a form of its own is read and given as its text."
    directive @scalar(type: String!) on SCALAR
    "The value in SQL: a number, a text in quotes, or the tag of a type; by default the quoted name. With `sql`, a field that reads this value returns the enum value."
    directive @value(sql: String, type: String) on ENUM_VALUE
    "The condition under which the enum value is among the `@values` of a field; by default always."
    directive @when(condition: String!) on ENUM_VALUE
    "The values of its enum whose `@when` holds, in their order; none unless the condition holds."
    directive @values(when: String) on FIELD_DEFINITION
    "Rows that exist if anything at all is hidden from the viewer. Without such rows nothing is subtracted from counts."
    directive @hidden(rows: String!) on SCHEMA
    "The type in the IDs of its objects: their low byte, or with `@id` a number up to 65535."
    directive @tag(id: Int!) on OBJECT
    "The rows of the type: a table or a call of a set-returning function. `where`: the condition of rows that exist for the viewer, on `this`. `masked`: the rows that a non-null reference reads instead."
    directive @table(name: String!, where: String, masked: String, key: String! = "id") on OBJECT | INTERFACE
    "A left join, added when an expression mentions its name. `required`: each row has its counterpart, so PostgreSQL may begin there. `copies`: the columns, separated by commas, that the joined table has under the same names; pages in an order of that table read the copies."
    directive @join(name: String!, table: String!, on: String!, required: Boolean! = false, copies: String) repeatable on OBJECT | INTERFACE
    "A column whose name is not the field's in snake_case, or that belongs to the join `of`, or a count from which `hidden` is subtracted. `type`: the PostgreSQL type of the column, which values in filters have, too, if it is not that of the field's scalar. `collation`: that of patterns, if the column's own is not deterministic. On an input field, `type`: the PostgreSQL type that given values are cast to."
    directive @column(name: String, of: String, hidden: String, type: String, collation: String) on FIELD_DEFINITION | INPUT_FIELD_DEFINITION
    "A computed leaf."
    directive @sql(expression: String!) on FIELD_DEFINITION
    "An object made from the same row; null unless the condition holds."
    directive @embed(when: String) on FIELD_DEFINITION
    "The ID of the object: the type's `@tag` and the values of the columns of its key. A `@reference` of an interface or a union whose `id` is an argument finds the object again."
    directive @id on FIELD_DEFINITION
    "One other object."
    directive @reference(column: String, id: String, where: String, from: String, rows: String) on FIELD_DEFINITION
    "Pages of other objects. `count` is a stored count, from which `hidden` is subtracted. `fromEnd`: what is read in place of `from` for a page with `last`, if `from` pages by itself. `size`: the number of elements of a page without `first` and `last`; by default 20."
    directive @connection(from: String, fromEnd: String, on: String! = "this.id = edge.id", where: String, orderBy: String, count: String, hidden: String, rows: String, size: Int) on FIELD_DEFINITION
    "A plain list of other objects, or of those with the `ids` of an array, in its order."
    directive @list(ids: String, from: String, on: String! = "this.id = edge.id", where: String, orderBy: String, rows: String) on FIELD_DEFINITION
    "A condition that is added when the argument is given, not null, and not the value named by `unless`. In a list of input objects the conditions of one object must hold; with `all`, those of each object. `in` a `set` that is computed and hashed once; if the set is empty, no row is read. `among`: a page tests this many rows of its order before it uses an index to find all. On the argument that chooses an order: the condition that replaces the connection's `where` while pages are read."
    directive @where(condition: String, in: String, set: String, unless: String, counted: Boolean! = false, among: Int, all: Boolean! = false) on ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION
    "A total order, unique key last. `from`: what has the rows in this order, in place of the connection's; `fromEnd`: for a page with `last`. `given`: an argument, or a field of one, without which the order is that of another value, `otherwise`, or refused."
    directive @orderBy(by: String!, from: String, fromEnd: String, given: String, otherwise: String) on ENUM_VALUE
    "Conditions on the rows of this type: a member for each of its columns, each relation to a type with a filter, `and`, `or` and `not` are added. A field uses it as an argument."
    directive @filter(of: String!) on INPUT_OBJECT
    "An order of the rows of this type, chosen by one member. Added are one for each of its columns, for each relation to one object of a type with an order, and for the number of objects of each other relation. A list or connection uses a list of it as an argument; the type's key is appended."
    directive @order(of: String!) on INPUT_OBJECT
    "Aggregates of the rows of this type: `count` and a member for each of its columns are added, and connections to the type get the fields `aggregates` and `groups`. They read all rows that the connection has on all pages. `cost`: the cost of each."
    directive @aggregates(of: String!, cost: Int! = 100) on OBJECT
    "The function that the mutation's field calls. `once`: a repeated request with the same `Idempotency-Key` does not call it again. `again`: the function that is called then, if the response must not be stored. `signsIn`: the member of the result that is the ID of the user who is signed in. `endsSessions`: the function may end sessions of others, so that the server looks up all of them again before it answers; one that takes `:sessionHash` needs no word."
    directive @call(function: String!, once: Boolean! = false, again: String, signsIn: String, endsSessions: Boolean! = false) on FIELD_DEFINITION
    "Inserts rows into the table of this type. Arguments: `input`, a list of rows whose members are columns; `updateOnConflict`, an enum whose `@value` is the columns of a unique key: a row that is there is updated instead. The result is `jsonb` with the members `count` and `rows`, the keys of the rows. On an input field: rows that are inserted with the row around them, which is `parent`; `set` says which columns take values of the other row, which is inserted first. With `anonymous: false`, clients without a session or a signed token are refused."
    directive @insert(into: String!, set: String, anonymous: Boolean! = true) on FIELD_DEFINITION | INPUT_FIELD_DEFINITION
    "Updates rows of this type. Arguments: `filter`, an input with `@filter(of:)`; `set`, an object whose members are columns; `atMost`, the number of rows above which nothing is changed. The result is that of `@insert`, and so is `anonymous`."
    directive @update(of: String!, anonymous: Boolean! = true) on FIELD_DEFINITION
    "Deletes rows of this type. Arguments: `filter` and `atMost`, as of `@update`. The result is that of `@insert`, and so is `anonymous`."
    directive @delete(of: String!, anonymous: Boolean! = true) on FIELD_DEFINITION
    "The result of the function: a leaf, or the objects with these IDs. `key`: a member of the `jsonb` that was returned."
    directive @result(key: String) on FIELD_DEFINITION
    "The reasons for which the mutation was refused: rows with the columns code, message, path and constraint."
    directive @userErrors on FIELD_DEFINITION
    "A password: the function receives its hash. With `of`, the stored hash that it matches; with `again`, so does `@call(again:)`."
    directive @password(of: String, again: String) on ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION
    "A credential of the identity provider that the argument of this name says: the function receives its claims."
    directive @identityToken(provider: String!) on ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION
    "A secret: the function receives it encrypted, and only the server can open it."
    directive @sealed on ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION
    "A picture in base64, alone or as a `data:` URL. It is stored, and the function receives its `path`, `width`, `height` and `moderation` as `jsonb`, or `fault` with an error code if it is none."
    directive @picture on ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION
    "Events of this topic under the keys of the viewer or of the arguments: one key, or a `SELECT` of several. `settled`: reported once no older transaction is open. The field's other directives say what is sent, with the node as `:event`. A field that can be null ends the subscription when it is. A field without `:event` sends a response only if it differs from the last one."
    directive @event(topic: String!, key: String, keys: String, settled: Boolean! = false) on FIELD_DEFINITION
    "The token made for the request, whose SHA-256 is `:secretHash`."
    directive @secret on FIELD_DEFINITION
    "What others must not learn even from the length of a response: responses with it are not compressed."
    directive @confidential on FIELD_DEFINITION
    "A key by which a gateway finds the objects, in addition to the ID and the key of `@table`: fields that are columns, separated by spaces. With `resolvable: false`, another part of the larger graph finds them."
    directive @key(fields: String!, resolvable: Boolean! = true) repeatable on OBJECT
    "Other parts of the larger graph have the field, or all fields of the type, too. Objects without a key are so anyway."
    directive @shareable on OBJECT | FIELD_DEFINITION
    "Gateways use it, and do not show it to their clients."
    directive @inaccessible on FIELD_DEFINITION | OBJECT | INTERFACE | UNION | SCALAR | ENUM | INPUT_OBJECT
    "The field is that of another part of the larger graph, and here only as part of a key or of `@provides`."
    directive @external on FIELD_DEFINITION
    "The fields of the object that this graph returns as well, although they are those of another part of the larger graph."
    directive @provides(fields: String!) on FIELD_DEFINITION
    "The field is taken over from another part of the larger graph, by its name in the gateway."
    directive @override(from: String!) on FIELD_DEFINITION
    "The objects that a gateway names by their keys. `serve --subgraph` writes it."
    directive @entities on FIELD_DEFINITION
    "A text that is known without the database."
    directive @constant(text: String!) on FIELD_DEFINITION
    """

  package static let names: Set<String> = [
    "scalar", "value", "when", "values", "hidden", "tag", "table", "join", "column", "sql", "id",
    "embed", "reference", "connection", "list", "where", "orderBy", "filter", "order", "aggregates",
    "call", "insert", "update", "delete", "result", "userErrors", "secret", "password",
    "identityToken", "sealed", "picture", "event", "confidential", "key", "shareable",
    "inaccessible", "external", "provides", "override", "entities", "constant",
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
