import GraphQLLanguage
import GraphQLSchema
import JSON
import SQL

/// Reads the directives of one schema into its storage mapping, and collects errors.
struct StorageReader {
  let schema: Schema
  var problems: [String] = []
  private var identities: [String: Int] = [:]

  init(schema: Schema) { self.schema = schema }

  // MARK: - Input

  /// Reads the conditions of all arguments and input fields.
  mutating func conditions() -> [ObjectIdentifier: WhereStorage] {
    var conditions: [ObjectIdentifier: WhereStorage] = [:]
    for type in schema.types {
      var definitions = type.fields.flatMap { field in
        field.arguments.map { (place: "\(field.name)(\($0.name):)", $0) }
      }
      if case .inputObject(let fields, _) = type.kind {
        definitions += fields.map { (place: $0.name, $0) }
      }
      for (place, definition) in definitions {
        guard let condition = condition(of: definition) else { continue }
        conditions[ObjectIdentifier(definition)] = condition
        let directive = definition.appliedDirectives.first(named: "where")
        let hasMember = directive?.string("in") != nil
        let hasSet = directive?.string("set") != nil
        if condition.wantsAll {
          guard case .list = definition.type.nullable,
            case .inputObject = schema[definition.type.namedType].kind
          else {
            problems.append("\(type.name).\(place): @where(all:) is of a list of input objects.")
            continue
          }
          if directive?.string("condition") == nil, !hasMember, !hasSet { continue }
        }
        if hasMember != hasSet || !hasSet && directive?.string("condition") == nil {
          problems.append(
            "\(type.name).\(place): @where needs a condition, or in and set, or both.")
        }
      }
    }
    return conditions
  }

  private func condition(of definition: InputValueDefinition) -> WhereStorage? {
    guard let directive = definition.appliedDirectives.first(named: "where") else { return nil }
    var membership: SetMembership?
    if let member = template(directive.string("in")), let set = template(directive.string("set")) {
      membership = SetMembership(member: member, set: set)
    }
    return WhereStorage(
      condition: template(directive.string("condition")), membership: membership,
      unless: directive.string("unless"),
      isCounted: directive.boolean("counted") ?? false, among: directive.int("among"),
      wantsAll: directive.boolean("all") ?? false)
  }

  /// Reads the input fields whose rows are inserted with the row around them.
  mutating func nestedInserts() -> [ObjectIdentifier: NestedInsert] {
    var inserts: [ObjectIdentifier: NestedInsert] = [:]
    for type in schema.types {
      guard case .inputObject(let fields, _) = type.kind else { continue }
      for field in fields {
        guard let directive = field.appliedDirectives.first(named: "insert") else { continue }
        if let insert = nestedInsert(directive, field) {
          inserts[ObjectIdentifier(field)] = insert
        } else {
          problems.append(
            "\(type.name).\(field.name): @insert on an input field needs an input object, a type with "
              + "@table in into, and in set the columns that take values of the other row: "
              + "this.a = parent.b or, for one object that is inserted first, parent.b = this.a.")
        }
      }
    }
    return inserts
  }

  private func nestedInsert(
    _ directive: Directive, _ field: InputValueDefinition
  ) -> NestedInsert? {
    guard case .inputObject = schema[field.type.namedType].kind,
      let type = directive.string("into").flatMap({ schema.type(named: $0) }),
      let table = type.appliedDirectives.first(named: "table"),
      let name = template(table.string("name")), let set = template(directive.string("set"))
    else { return nil }
    let pairs = set.equalities.map { ($0.left.soleColumn, $0.right.soleColumn) }
    guard let isFirst = pairs.first.map({ $0.0?.word == "parent" }) else { return nil }
    if isFirst, case .list = field.type.nullable { return nil }
    let words = isFirst ? ("parent", "this") : ("this", "parent")
    var columns: [(set: String, from: String)] = []
    for case (let set?, let from?) in pairs where set.word == words.0 && from.word == words.1 {
      columns.append((SQLQuoting.identifier(set.name), SQLQuoting.name(from.name)))
    }
    guard columns.count == pairs.count else { return nil }
    return NestedInsert(
      type: type.id, table: name, rule: template(table.string("where")), columns: columns,
      isFirst: isFirst)
  }

  /// Reads the SQL of all enum values.
  mutating func enumValues() -> [ObjectIdentifier: EnumValueStorage] {
    var result: [ObjectIdentifier: EnumValueStorage] = [:]
    for type in schema.types {
      guard case .enum(let values) = type.kind else { continue }
      for value in values {
        let directive = value.appliedDirectives.first(named: "orderBy")
        let constant = constant(of: value, in: type)
        result[ObjectIdentifier(value)] = EnumValueStorage(
          text: constant.text, element: constant.element,
          when: template(value.appliedDirectives.first(named: "when")?.string("condition")),
          order: directive.map { order(of: $0) })
      }
    }
    return result
  }

  private mutating func constant(
    of value: EnumValueDefinition, in type: TypeDefinition
  ) -> (text: String, element: String) {
    guard let directive = value.appliedDirectives.first(named: "value") else {
      return (SQLQuoting.literal(value.name), value.name)
    }
    switch (directive.string("sql"), directive.string("type")) {
    case (let sql?, nil):
      if let number = Int64(sql) { return ("\(number)", "\(number)") }
      if let text = SQLQuoting.text(ofLiteral: sql) { return (SQLQuoting.literal(text), text) }
    case (nil, let name?):
      if let tag = schema.tag(ofTypeNamed: name) { return ("\(tag)", "\(tag)") }
    case (nil, nil), (_?, _?): break
    }
    problems.append(
      "\(type.name).\(value.name): @value needs either sql, a number or a text in single quotes, "
        + "or type, the name of a type with a tag.")
    return (value.name, value.name)
  }

  func hiddenRows() -> SQLTemplate? {
    template(schema.appliedDirectives.first(named: "hidden")?.string("rows"))
  }

  // MARK: - Templates

  /// Parses a template. `TemplateVariables` reports errors in it once, where it was written.
  private func template(_ text: String?) -> SQLTemplate? { text.flatMap { try? SQLTemplate($0) } }

  /// Returns the copies in a comma-separated list, and those that the join's condition makes equal.
  private func copies(_ list: String?, on: SQLTemplate, of join: String) -> [String: String] {
    let names = (list ?? "").split { $0 == "," || $0.isWhitespace }.map(String.init)
    var copies = Dictionary(names.map { ($0, $0) }) { first, _ in first }
    for (left, right) in on.equalities {
      guard let left = left.soleColumn, let right = right.soleColumn,
        // Names in quotes are not looked for in what conditions ask.
        SQLQuoting.name(left.name) == left.name, SQLQuoting.name(right.name) == right.name
      else { continue }
      if left.word == join, right.word == "this" { copies[right.name] = left.name }
      if left.word == "this", right.word == join { copies[left.name] = right.name }
    }
    return copies
  }

  private func order(of directive: Directive) -> OrderStorage {
    var order = order(directive.string("by"))
    order.from = template(directive.string("from"))
    order.fromEnd = template(directive.string("fromEnd"))
    order.given = directive.string("given")
    order.otherwise = directive.string("otherwise")
    return order
  }

  private func order(_ text: String?) -> OrderStorage {
    OrderStorage(keys: text.flatMap { try? SQLSortKey.list($0) } ?? [])
  }

  // MARK: - Types

  mutating func read(_ type: TypeDefinition) -> TypeStorage? {
    guard type.isComposite, !type.isBuiltIn else { return nil }
    let ancestors = [type] + type.interfaces.map { schema[$0] }
    var joins: [JoinStorage] = []
    for ancestor in ancestors {
      for directive in ancestor.appliedDirectives where directive.name.text == "join" {
        guard let name = directive.string("name"), let table = template(directive.string("table")),
          let on = template(directive.string("on"))
        else { continue }
        let join = JoinStorage(
          name: name, table: table, on: on, isRequired: directive.boolean("required") ?? false,
          copies: copies(directive.string("copies"), on: on, of: name))
        if !joins.contains(where: { $0.name == name }) { joins.append(join) }
      }
    }
    var fields: [String: FieldStorage] = [:]
    for own in type.fields {
      let coordinate = "\(type.name).\(own.name)"
      let (definition, directive) = storageDirective(of: own, in: ancestors)
      let kind: FieldStorage.Kind =
        type.id == schema.mutationType
        ? (call(directive) ?? write(directive, own)).map { .call($0) } ?? .none
        : type.id == schema.subscriptionType && own.appliedDirectives.first(named: "event") == nil
          ? .none : kind(of: definition, directive, in: ancestors, joins, coordinate: coordinate)
      fields[own.name] = FieldStorage(
        definition: definition, coordinate: coordinate, kind: kind,
        identity: identity(of: definition, directive, type, joins))
    }
    let tag = type.appliedDirectives.first(named: "tag")?.int("id")
    let table = table(of: ancestors)
    let key = key(of: type, table, tag, fields)
    let maximum = key == nil ? 255 : KeyID.maximumTag
    if let tag, !(1...maximum).contains(tag) {
      problems.append("\(type.name): a tag is between 1 and \(maximum), not \(tag).")
    }
    return TypeStorage(
      type: type, table: table, tag: tag, key: key, joins: joins, fields: fields)
  }

  /// Returns the key that the IDs of a type's objects have; nil without a field with `@id`.
  private mutating func key(
    of type: TypeDefinition, _ table: TableStorage?, _ tag: Int?, _ fields: [String: FieldStorage]
  ) -> KeyStorage? {
    let ids = type.fields.filter { field in
      if case .keyID? = fields[field.name]?.kind { true } else { false }
    }
    guard let id = ids.first, case .object = type.kind else { return nil }
    guard let table, tag != nil, schema[id.type.namedType].builtInScalar == .id else {
      problems.append(
        "\(type.name).\(id.name): @id is of an ID, in a type with @table(name:, key:) and @tag(id:)."
      )
      return nil
    }
    var types: [String: ParameterType] = [:]
    for field in fields.values {
      guard case .leaf(let template, hidden: nil) = field.kind,
        let column = template.soleColumn, column.word == "this",
        case .named(let leaf) = field.definition.type.nullable
      else { continue }
      types[column.name] = ScalarStorage(schema[leaf]).parameter
    }
    return KeyStorage(
      columns: table.keys.map {
        KeyStorage.Column(name: $0, type: types[SQLQuoting.catalogName($0)])
      })
  }

  private func table(of ancestors: [TypeDefinition]) -> TableStorage? {
    for ancestor in ancestors {
      guard let directive = ancestor.appliedDirectives.first(named: "table"),
        let name = template(directive.string("name"))
      else { continue }
      return TableStorage(
        name: Self.rows(of: name, where: template(directive.string("where"))),
        rule: template(directive.string("where")),
        masked: template(directive.string("masked")),
        keys: Self.keys(directive.string("key")))
    }
    return nil
  }

  /// Returns what stands for a table with a rule: its rows that satisfy it. PostgreSQL merges such a
  /// sub-select with the statement around it, and asks its conditions in any order: see
  /// SelectionCompiler+Barriers.swift.
  private static func rows(of table: SQLTemplate, where rule: SQLTemplate?) -> SQLTemplate {
    guard let rule else { return table }
    let names = ["this": "own_row"]
    let text = """
      (SELECT own_row.* FROM \(table.text(renaming: [:])) AS own_row WHERE \(rule.text(renaming: names)))
      """
    return (try? SQLTemplate(text)) ?? table
  }

  /// Returns the columns of a key, which are separated by commas.
  private static func keys(_ text: String?) -> [String] {
    let names = (try? SQLQuoting.names(in: text ?? "id")) ?? []
    return names.isEmpty ? ["id"] : names
  }

  /// Returns the order of a connection that has no other: its type's key.
  private func keyOrder(of connection: TypeID) -> OrderStorage {
    guard let edges = schema[connection].field(named: "edges"),
      let node = schema[edges.type.namedType].field(named: "node")
    else { return order(nil) }
    let type = schema[node.type.namedType]
    guard let table = table(of: [type] + type.interfaces.map { schema[$0] }) else {
      return order(nil)
    }
    return order(table.keys.map { "this.\($0)" }.joined(separator: ", "))
  }

  private mutating func kind(
    of definition: FieldDefinition, _ directive: Directive?, in ancestors: [TypeDefinition],
    _ joins: [JoinStorage], coordinate: String
  ) -> FieldStorage.Kind {
    let target = schema[definition.type.namedType]
    switch directive?.name.text {
    case "userErrors": return .userErrors
    case "secret": return .secret
    case "entities": return .entities
    case "constant":
      return .constant(Array(JSONValue.string(directive?.string("text") ?? "").description.utf8))
    case "id":
      let tag = ancestors[0].appliedDirectives.first(named: "tag")?.int("id") ?? 0
      return keyID(of: table(of: ancestors)?.keys ?? [], tag: tag)
    case "result": return result(directive?.string("key"), definition, coordinate: coordinate)
    default: break
    }
    guard target.isComposite else {
      // A table may have such columns, or refer to tables of these names.
      let isEdge =
        ancestors[0].field(named: "cursor") != nil && ancestors[0].field(named: "node") != nil
        && table(of: ancestors) == nil
      // The type that contains an embedded object has the joins.
      if let join = directive?.string("of"), case .object = ancestors[0].kind,
        table(of: ancestors) != nil,
        !joins.contains(where: { $0.name == join })
      {
        problems.append("\(coordinate): @column(of:) names a @join, and \"\(join)\" is not one.")
      }
      return leaf(directive, definition, of: isEdge ? "edge" : "this")
    }
    switch directive?.name.text {
    case "embed":
      return .embed(when: template(directive?.string("when")))
    case "reference":
      let id =
        directive?.string("id")
        ?? directive?.string("column").map { "parent.\(SQLQuoting.written($0))" }
      let storage = ReferenceStorage(
        id: template(id),
        condition: template(directive?.string("where")),
        from: template(directive?.string("from")),
        rows: template(directive?.string("rows")))
      if storage.id == nil, storage.condition == nil, storage.from == nil,
        !definition.arguments.contains(where: { isCondition($0) })
      {
        problems.append(
          "\(coordinate): @reference needs one of column, id, where and from, or a @where.")
      }
      return .reference(storage)
    case "connection", "list":
      return relation(directive, definition, coordinate: coordinate)
    default:
      // The parts of a connection are found by name; they need no directive.
      return .none
    }
  }

  /// Returns the ID of objects that are found by the columns of a key, which is read as text.
  private func keyID(of keys: [String], tag: Int) -> FieldStorage.Kind {
    let columns = keys.map { "this.\($0)::text" }
    let isSingle = columns.count == 1
    let text = isSingle ? columns[0] : "ARRAY[\(columns.joined(separator: ", "))]"
    return template(text).map { .keyID($0, .key(tag: tag, isSingle: isSingle)) } ?? .none
  }

  /// Returns the storage by the field's type: a leaf, an object by its ID, or objects by their IDs.
  private mutating func result(
    _ key: String?, _ definition: FieldDefinition, coordinate: String
  ) -> FieldStorage.Kind {
    guard schema[definition.type.namedType].isComposite else {
      return template(ResultText.leaf(key, definition.type, in: schema))
        .map { .leaf($0, hidden: nil) } ?? .none
    }
    guard case .list = definition.type.nullable else {
      return .reference(
        ReferenceStorage(
          id: template(ResultText.id(key)), condition: nil, from: nil, rows: nil))
    }
    if key != nil { problems.append("\(coordinate): objects in a list are the whole @result.") }
    return .relation(
      RelationStorage(
        isConnection: false, ids: template(ResultText.ids), from: nil, rows: nil,
        on: template("this.id = edge.id") ?? SQLTemplate(), condition: nil,
        order: order("edge.position"), count: nil, hidden: nil))
  }

  private func call(_ directive: Directive?) -> CallStorage? {
    guard let directive, directive.name.text == "call",
      let function = template(directive.string("function"))
    else { return nil }
    return CallStorage(
      action: .function(function), isOnce: directive.boolean("once") ?? false,
      again: template(directive.string("again")), signsIn: directive.string("signsIn"),
      endsSessions: directive.boolean("endsSessions") ?? false)
  }

  private func write(_ directive: Directive?, _ field: FieldDefinition) -> CallStorage? {
    guard let directive, let action = WriteStorage.Action(rawValue: directive.name.text),
      let name = directive.string("into") ?? directive.string("of")
    else { return nil }
    let target = schema.type(named: name)
    let table = target?.appliedDirectives.first(named: "table")
    return CallStorage(
      action: .rows(
        WriteStorage(
          action: action, target: target?.id, targetName: name,
          table: template(table?.string("name")), rule: template(table?.string("where")),
          keys: Self.keys(table?.string("key")), field: field)),
      isOnce: false, again: nil, signsIn: nil, endsSessions: false,
      refusesAnonymous: directive.boolean("anonymous") == false)
  }

  /// Returns whether the argument, or a field of its input object, filters rows.
  private func isCondition(_ argument: InputValueDefinition) -> Bool {
    guard condition(of: argument) == nil else { return true }
    guard case .inputObject(let fields, _) = schema[argument.type.namedType].kind else {
      return false
    }
    return fields.contains { condition(of: $0) != nil }
  }

  /// Returns whether the argument always determines the order.
  private func isOrder(_ argument: InputValueDefinition) -> Bool {
    guard argument.type.isNonNull, argument.coercedDefault != nil,
      case .enum(let values) = schema[argument.type.namedType].kind
    else { return false }
    return values.allSatisfy { $0.appliedDirectives.first(named: "orderBy") != nil }
  }

  /// Returns whether the argument is of an input with `@order(of:)`.
  private func isChoice(_ argument: InputValueDefinition) -> Bool {
    schema[argument.type.namedType].appliedDirectives.first(named: "order") != nil
  }

  private func leaf(
    _ directive: Directive?, _ definition: FieldDefinition, of row: String
  ) -> FieldStorage.Kind {
    if directive?.name.text == "values" {
      return .values(when: template(directive?.string("when")))
    }
    let column =
      directive?.string("name").map(SQLQuoting.written) ?? SQLQuoting.snakeCase(definition.name)
    let text = directive?.string("expression") ?? "\(directive?.string("of") ?? row).\(column)"
    guard let template = template(text) else { return .none }
    return .leaf(template, hidden: self.template(directive?.string("hidden")))
  }

  private mutating func relation(
    _ directive: Directive?, _ definition: FieldDefinition, coordinate: String
  ) -> FieldStorage.Kind {
    let isConnection = directive?.name.text == "connection"
    let ids = template(directive?.string("ids"))
    var order = order(directive?.string("orderBy") ?? (ids == nil ? nil : "edge.position"))
    if isConnection, order.keys.isEmpty,
      definition.arguments.contains(where: { isChoice($0) })
    {
      order = keyOrder(of: definition.type.namedType)
    }
    if isConnection, order.keys.isEmpty, !definition.arguments.contains(where: { isOrder($0) }) {
      problems.append("\(coordinate): pages need an order: orderBy, or an enum with @orderBy.")
    }
    return .relation(
      RelationStorage(
        isConnection: isConnection,
        ids: ids,
        from: template(directive?.string("from")),
        fromEnd: template(directive?.string("fromEnd")),
        rows: template(directive?.string("rows")),
        on: template(directive?.string("on") ?? "this.id = edge.id") ?? SQLTemplate(),
        condition: template(directive?.string("where")),
        order: order,
        count: template(directive?.string("count")),
        hidden: template(directive?.string("hidden")),
        size: directive?.int("size")))
  }

  /// Returns the definition whose directive applies: the field's own, or that of an interface.
  private func storageDirective(
    of definition: FieldDefinition, in ancestors: [TypeDefinition]
  ) -> (FieldDefinition, Directive?) {
    for ancestor in ancestors {
      let candidate =
        ancestor === ancestors[0] ? definition : ancestor.field(named: definition.name)
      if let candidate,
        let directive = candidate.appliedDirectives.first(where: {
          Self.fieldDirectives.contains($0.name.text)
        })
      {
        return (candidate, directive)
      }
    }
    return (definition, nil)
  }

  private static let fieldDirectives: Set<String> = [
    "column", "sql", "id", "values", "embed", "reference", "connection", "list", "call", "insert",
    "update", "delete", "result", "userErrors", "secret", "entities", "constant",
  ]

  /// Returns a number that is equal for fields of several types that are stored alike, so that they
  /// are compiled once.
  private mutating func identity(
    of definition: FieldDefinition, _ directive: Directive?, _ type: TypeDefinition,
    _ joins: [JoinStorage]
  ) -> Int {
    var key = "\(definition.name) \(definition.type)"
    if let directive {
      let arguments = directive.arguments.map {
        let name = $0.name.text
        return "\(name): \(directive.string(name) ?? directive.int(name).map(String.init) ?? "")"
      }
      key += " @\(directive.name.text)(\(arguments.joined(separator: ", ")))"
      // A join's name means what the type says it means.
      for join in joins where mentions(directive, join.name) {
        key += " \(join.name): \(join.table.source) on \(join.on.source)"
      }
      if directive.name.text == "id" { key += " \(type.name)" }
    } else if schema[definition.type.namedType].isComposite {
      key += " \(type.name)"
    }
    if let known = identities[key] { return known }
    identities[key] = identities.count
    return identities.count - 1
  }

  private func mentions(_ directive: Directive, _ join: String) -> Bool {
    directive.arguments.contains { argument in
      guard case .string(let literal) = argument.value.content else { return false }
      return literal.text == join
        || template(literal.text)?.pieces.contains(.qualifier(join)) == true
    }
  }
}

extension Schema {
  /// Returns the tag of an object type with `@tag`.
  package func tag(ofTypeNamed name: String) -> Int? {
    type(named: name)?.appliedDirectives.first(named: "tag")?.int("id")
  }
}
