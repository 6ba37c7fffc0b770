import GraphQLLanguage
import GraphQLSchema
import SQL

/// Reads the directives of one schema into its storage mapping, collecting what does not fit.
struct StorageReader {
  let schema: Schema
  var problems: [String] = []
  private var identities: [String: Int] = [:]

  init(schema: Schema) { self.schema = schema }

  mutating func read(_ type: TypeDefinition) -> TypeStorage? {
    guard type.isComposite, !type.isBuiltIn else { return nil }
    let ancestors = [type] + type.interfaces.map { schema[$0] }
    var joins: [JoinStorage] = []
    for ancestor in ancestors {
      for directive in ancestor.appliedDirectives where directive.name.text == "join" {
        guard let name = directive.string("name"), let table = directive.string("table"),
          let on = directive.string("on")
        else { continue }
        let join = JoinStorage(name: name, table: SQLTemplate(table), on: SQLTemplate(on))
        if !joins.contains(where: { $0.name == name }) { joins.append(join) }
      }
    }
    var fields: [String: FieldStorage] = [:]
    let isWritten = type.id == schema.mutationType || type.id == schema.subscriptionType
    for own in type.fields {
      let coordinate = "\(type.name).\(own.name)"
      let (definition, directive) = storageDirective(of: own, in: ancestors)
      let kind =
        isWritten
        ? .none : kind(of: definition, directive, in: ancestors, coordinate: coordinate)
      fields[own.name] = FieldStorage(
        definition: definition, coordinate: coordinate, kind: kind,
        identity: identity(of: definition, directive, type, joins))
    }
    let tag = type.appliedDirectives.first(named: "tag")?.int("id")
    if let tag, !(1...255).contains(tag) {
      problems.append("\(type.name): a tag is between 1 and 255, not \(tag).")
    }
    return TypeStorage(
      type: type, table: table(of: ancestors), tag: tag, joins: joins, fields: fields)
  }

  private func table(of ancestors: [TypeDefinition]) -> TableStorage? {
    for ancestor in ancestors {
      guard let directive = ancestor.appliedDirectives.first(named: "table"),
        let name = directive.string("name")
      else { continue }
      return TableStorage(
        name: SQLTemplate(name), masked: directive.string("masked").map { SQLTemplate($0) },
        key: directive.string("key") ?? "id")
    }
    return nil
  }

  private mutating func kind(
    of definition: FieldDefinition, _ directive: Directive?, in ancestors: [TypeDefinition],
    coordinate: String
  ) -> FieldStorage.Kind {
    let target = schema[definition.type.namedType]
    guard target.isComposite else {
      let isEdge =
        ancestors[0].field(named: "cursor") != nil && ancestors[0].field(named: "node") != nil
      return leaf(directive, definition, of: isEdge ? "edge" : "this")
    }
    switch directive?.name.text {
    case "embed":
      return .embed(when: directive?.string("when").map { SQLTemplate($0) })
    case "reference":
      let id =
        directive?.string("id") ?? directive?.string("column").map { "parent.\($0)" }
      let storage = ReferenceStorage(
        id: id.map { SQLTemplate($0) },
        condition: directive?.string("where").map { SQLTemplate($0) },
        from: directive?.string("from").map { SQLTemplate($0) },
        rows: directive?.string("rows").map { SQLTemplate($0) })
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

  /// The argument, or a field of the input object it is, says which rows.
  private func isCondition(_ argument: InputValueDefinition) -> Bool {
    guard WhereStorage(argument) == nil else { return true }
    guard case .inputObject(let fields, _) = schema[argument.type.namedType].kind else {
      return false
    }
    return fields.contains { WhereStorage($0) != nil }
  }

  /// The argument always says in which order.
  private func isOrder(_ argument: InputValueDefinition) -> Bool {
    guard argument.type.isNonNull, argument.coercedDefault != nil,
      case .enum(let values) = schema[argument.type.namedType].kind
    else { return false }
    return values.allSatisfy { $0.appliedDirectives.first(named: "orderBy") != nil }
  }

  private func leaf(
    _ directive: Directive?, _ definition: FieldDefinition, of row: String
  ) -> FieldStorage.Kind {
    if let expression = directive?.string("expression") { return .leaf(SQLTemplate(expression)) }
    let column = directive?.string("name") ?? SQLQuoting.snakeCase(definition.name)
    return .leaf(SQLTemplate("\(row).\(column)"))
  }

  private mutating func relation(
    _ directive: Directive?, _ definition: FieldDefinition, coordinate: String
  ) -> FieldStorage.Kind {
    let isConnection = directive?.name.text == "connection"
    let order = OrderStorage(directive?.string("orderBy") ?? "")
    if isConnection, order.keys.isEmpty, !definition.arguments.contains(where: { isOrder($0) }) {
      problems.append("\(coordinate): pages need an order: orderBy, or an enum with @orderBy.")
    }
    return .relation(
      RelationStorage(
        isConnection: isConnection,
        from: directive?.string("from").map { SQLTemplate($0) },
        rows: directive?.string("rows").map { SQLTemplate($0) },
        on: SQLTemplate(directive?.string("on") ?? "this.id = edge.id"),
        condition: directive?.string("where").map { SQLTemplate($0) },
        order: order,
        count: directive?.string("count").map { SQLTemplate($0) }))
  }

  /// The definition whose directive counts: the field's own, or that of an interface.
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
    "column", "sql", "embed", "reference", "connection", "list",
  ]

  /// Equal for fields of several types that are stored alike, so that they are compiled once.
  private mutating func identity(
    of definition: FieldDefinition, _ directive: Directive?, _ type: TypeDefinition,
    _ joins: [JoinStorage]
  ) -> Int {
    var key = "\(definition.name) \(definition.type)"
    if let directive {
      let arguments = directive.arguments.map {
        "\($0.name.text): \(directive.string($0.name.text) ?? "")"
      }
      key += " @\(directive.name.text)(\(arguments.joined(separator: ", ")))"
      // A join's name means what the type says it means.
      for join in joins where arguments.contains(where: { $0.contains("\(join.name).") }) {
        key += " \(join.name): \(join.table.source) on \(join.on.source)"
      }
    } else if schema[definition.type.namedType].isComposite {
      key += " \(type.name)"
    }
    if let known = identities[key] { return known }
    identities[key] = identities.count
    return identities.count - 1
  }
}
