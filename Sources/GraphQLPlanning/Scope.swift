import GraphQLLanguage
import GraphQLSchema
import SQL

/// What the words of a template mean at one place of a statement.
struct Scope {
  /// The row that `this` is; its joins are known by name.
  var row: RowBuilder?
  var parent: RowBuilder?
  var storage: TypeStorage?
  /// Of the objects that an embedded one is part of.
  var enclosingJoins: [JoinStorage] = []
  var arguments = FieldArguments()
  /// Of the connection, for the fields of its edges.
  var outerArguments = FieldArguments()
  /// `limit`, `key1`, `totalCount`, `field`: ready SQL.
  var words: [String: String] = [:]
  /// What `:value` is.
  var value: (definition: InputValueDefinition, value: ArgumentValue?)?
}

/// Renders templates into statement text.
struct TemplateRenderer {
  let schema: Schema
  let statement: StatementBuilder
  let scalarTypes: [TypeID: ParameterType]

  func render(_ template: SQLTemplate, _ scope: Scope) -> String {
    var text = ""
    for piece in template.pieces {
      switch piece {
      case .text(let part):
        text += part
      case .qualifier(let name):
        text += alias(name, scope)
      case .variable(let path, let isSplice):
        text += variable(path, isSplice: isSplice, scope)
      }
    }
    return text
  }

  private func alias(_ name: String, _ scope: Scope) -> String {
    switch name {
    case "this": return scope.row?.alias ?? name
    case "edge": return scope.row?.edgeAlias ?? name
    case "parent": return scope.parent?.alias ?? name
    default:
      let joins = (scope.storage?.joins ?? []) + scope.enclosingJoins
      guard let row = scope.row, let join = joins.first(where: { $0.name == name }) else {
        return name
      }
      if let known = row.alias(of: join) { return known }
      let alias = row.addAlias(for: join)
      // Its own condition names the join by this alias: it is known from here on.
      row.addClause(
        "LEFT JOIN \(render(join.table, scope)) AS \(alias) ON \(render(join.on, scope))")
      return alias
    }
  }

  // MARK: - Variables

  private func variable(_ path: [String], isSplice: Bool, _ scope: Scope)
    -> String
  {
    let name = path[0]
    if name == "viewer" { return statement.reference(.viewer) + "::bigint" }
    if let word = scope.words[name] { return word }
    let found =
      name == "value"
      ? scope.value : scope.arguments[name] ?? scope.outerArguments[name]
    guard let found else { return "NULL" }
    var type = found.definition.type
    var value = found.value
    for step in path.dropFirst() {
      guard let field = schema[type.namedType].inputField(named: step) else { return "NULL" }
      type = field.type
      value = value?[step]
    }
    return text(of: value ?? .null, type, isSplice: isSplice)
  }

  /// `NULL` with the type that the value would have.
  private func nullText(_ type: TypeReference) -> String {
    var cast = parameterType(of: type.namedType)?.sql ?? "text"
    if schema[type.namedType].name == "Boolean" { cast = "boolean" }
    if case .list = type.nullable { cast += "[]" }
    return "NULL::\(cast)"
  }

  func text(of value: ArgumentValue, _ type: TypeReference, isSplice: Bool = false) -> String {
    switch value {
    case .null: return isSplice ? "NULL" : nullText(type)
    case .boolean(let flag): return flag ? "true" : "false"
    case .enum(let name): return enumText(name, type)
    case .scalar(let source, _):
      let parameter = parameterType(of: type.namedType) ?? .text
      return statement.reference(.input(source, as: parameter)) + "::" + parameter.sql
    case .scalars(let source, _):
      let parameter = ParameterType.array(parameterType(of: type.namedType) ?? .text)
      return statement.reference(.input(source, as: parameter)) + "::" + parameter.sql
    case .list(let items):
      let names = items.compactMap { if case .enum(let name) = $0 { name } else { nil } }
      if isSplice {
        return names.isEmpty
          ? "NULL" : names.map { enumText($0, type) }.joined(separator: ", ")
      }
      let raw = names.map { name in
        let text = enumText(name, type)
        return text.hasPrefix("'") ? name : text
      }
      return SQLQuoting.arrayLiteral(raw)
    case .object: return "NULL"
    }
  }

  private func enumText(_ name: String, _ type: TypeReference) -> String {
    let value = schema[type.namedType].enumValue(named: name)
    return value?.appliedDirectives.first(named: "value")?.string("sql")
      ?? SQLQuoting.literal(name)
  }

  private func parameterType(of id: TypeID) -> ParameterType? {
    scalarTypes[id]
  }
}

extension StorageMapping {
  /// What values of each scalar are bound as.
  var scalarTypes: [TypeID: ParameterType] {
    var result: [TypeID: ParameterType] = [:]
    for type in schema.types {
      guard case .scalar = type.kind else { continue }
      switch type.name {
      case "ID": result[type.id] = .id
      case "Int": result[type.id] = .int4
      case "Float": result[type.id] = .float8
      case "String": result[type.id] = .text
      case "Boolean": break
      default:
        switch type.appliedDirectives.first(named: "scalar")?.string("type") {
        case "timestamptz": result[type.id] = .timestamptz
        case "date": result[type.id] = .date
        case "numeric": result[type.id] = .numeric
        default: result[type.id] = .text
        }
      }
    }
    return result
  }

  /// How values of each leaf type are written.
  func leafFormat(of id: TypeID) -> LeafFormat {
    let type = schema[id]
    switch type.name {
    case "ID": return .id
    case "Int": return .int
    case "Float": return .float
    case "Boolean": return .boolean
    default:
      switch type.appliedDirectives.first(named: "scalar")?.string("type") {
      case "timestamptz": return .dateTime
      case "date": return .date
      default: return .string
      }
    }
  }
}
