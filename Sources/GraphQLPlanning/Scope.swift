import GraphQLLanguage
import GraphQLSchema
import SQL

/// The values of a template's variables at one place of a statement.
struct Scope {
  /// The row that `this` is; its joins are known by name.
  var row: RowBuilder?
  var parent: RowBuilder?
  var storage: TypeStorage?
  /// The joins of the objects that an embedded one is part of.
  var enclosingJoins: [JoinStorage] = []
  var arguments = FieldArguments()
  /// The arguments of the connection, for the fields of its edges.
  var outerArguments = FieldArguments()
  /// The variables that have a value here.
  var variables: [TemplateVariable: SQLFragment] = [:]
  /// The coordinate of the compiled field.
  var coordinate = ""
  /// Whether the scope is inside an embedded object that may be absent.
  var isConditional = false
  /// The row that has the IDs of all elements, as an array if they are given. It is set for a list
  /// whose elements are looked up one by one and whose own columns are not in the result.
  var elements: (row: RowBuilder, ids: SQLFragment?)?
  /// Whether the scope is inside an embedded object.
  var isEmbedded = false
  /// The value of `:value`, and the input that it was given to.
  var value: (definition: InputValueDefinition, value: ArgumentValue?)?
  var valuePlace: InputPlace?
  /// Whether the rows are only asked for a condition, so that they, and the row that they are
  /// asked for, may not be in the result.
  var isAsked = false
  /// The cost of what the field's filters ask of relations.
  var filterCost = 0
  /// The join whose copies of columns replace those of `this`.
  var copying: JoinStorage?
}

extension Scope {
  func position(ofArgument name: String) -> Position? {
    arguments.positions[name] ?? outerArguments.positions[name]
  }

  /// Returns the location of an argument of the compiled field.
  func place(ofArgument name: String) -> InputPlace {
    InputPlace("\(coordinate)(\(name):)", position(ofArgument: name))
  }
}

/// Renders templates into statement text.
struct TemplateRenderer {
  let mapping: StorageMapping
  let statement: StatementBuilder
  /// The type that IDs are bound as.
  var id = ParameterType.id

  private var schema: Schema { mapping.schema }

  /// Renders a template.
  ///
  /// - Parameter isNoted: whether to record its reads as dependencies of a live query; pass false
  ///   if they are recorded otherwise.
  func render(_ template: SQLTemplate, _ scope: Scope, isNoted: Bool = true) -> SQLFragment {
    if isNoted { statement.live?.note(template, scope, self) }
    var fragment = SQLFragment()
    var pieces = template.pieces[...]
    while let piece = pieces.popFirst() {
      if let join = scope.copying, piece == .qualifier("this"),
        case .text(let text)? = pieces.first, let copy = join.copy(in: text)
      {
        pieces.removeFirst()
        fragment.append(text: alias(join.name, scope) + copy)
      } else {
        append(piece, to: &fragment, scope)
      }
    }
    return fragment
  }

  func append(_ piece: SQLTemplate.Piece, to fragment: inout SQLFragment, _ scope: Scope) {
    switch piece {
    case .text(let part): fragment.append(text: part)
    case .verbatim(let part): fragment.append(verbatim: part)
    case .qualifier(let name): fragment.append(text: alias(name, scope))
    case .variable(let path, let isSplice):
      fragment.append(variable(path, isSplice: isSplice, scope))
    }
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
      var scope = scope
      scope.copying = nil
      let kind: SQLFragment = join.isRequired ? "JOIN" : "LEFT JOIN"
      statement.live?.note(join, scope, self)
      let table = render(join.table, scope, isNoted: false)
      row.addClause("\(kind) \(table) AS \(name: alias) ON \(render(join.on, scope))")
      return alias
    }
  }

  // MARK: - Variables

  private func variable(_ path: [String], isSplice: Bool, _ scope: Scope) -> SQLFragment {
    let name = path[0]
    switch TemplateVariable(path) {
    case .viewer?: return statement.reference(.viewer)
    case .locale? where scope.arguments[name] == nil: return statement.reference(.locale)
    case .sessionHash?: return statement.reference(.sessionHash)
    case .claim(let steps)?
    where name != "value" && scope.arguments[name] == nil && scope.outerArguments[name] == nil:
      return statement.reference(.claim(steps))
    case .app? where scope.arguments[name] == nil: return statement.reference(.app)
    case .tag(let type)?: return schema.tag(ofTypeNamed: type).map { "\($0)" } ?? "NULL"
    case .result(let key)?:
      if let text = scope.variables[.result(key: key)] { return text }
      guard let result = scope.variables[.result(key: nil)] else { break }
      // A member of what a mutation's function returned as jsonb.
      return key.map { "(\(result)::jsonb ->> \(literal: $0))" } ?? result
    case let word?: if let text = scope.variables[word] { return text }
    case nil: break
    }
    let found =
      name == "value"
      ? scope.value : scope.arguments[name] ?? scope.outerArguments[name]
    guard let found else { return "NULL" }
    var type = found.definition.type
    var value = found.value
    var owner: TypeDefinition?
    for step in path.dropFirst() {
      let object = schema[type.namedType]
      guard let field = object.inputField(named: step) else { return "NULL" }
      owner = object
      type = field.type
      value = value?[step]
    }
    let place = { () -> InputPlace? in
      if name == "value", owner == nil { return scope.valuePlace }
      let position =
        name == "value" ? scope.valuePlace?.position : scope.position(ofArgument: name)
      return InputPlace(
        owner.map { "\($0.name).\(path[path.count - 1])" } ?? "\(scope.coordinate)(\(name):)",
        position)
    }
    return text(of: value ?? .null, type, isSplice: isSplice, place)
  }

  /// Returns `NULL` with the type that the value would have.
  private func null(_ type: TypeReference) -> SQLFragment {
    let parameter = parameterType(of: type)
    let named = parameter == .boolean ? SQLType("boolean") : parameter.sql
    if case .list = type.nullable {
      return "NULL::\(name: "\(SQLType(named.name, isArray: true))")"
    }
    return "NULL::\(name: "\(named)")"
  }

  /// - Parameter parameter: the type that a single value is bound as, if it is not its own.
  func text(
    of value: ArgumentValue, _ type: TypeReference, as parameter: ParameterType? = nil,
    isSplice: Bool, _ place: () -> InputPlace?
  ) -> SQLFragment {
    switch value {
    case .null: return isSplice ? "NULL" : null(type)
    case .boolean(let flag): return flag ? "true" : "false"
    case .enum(let name): return SQLFragment(name: enumValue(name, type)?.text ?? "NULL")
    case .scalar(let source, _):
      return reference(source, as: parameter ?? parameterType(of: type), place)
    case .scalars(let source, _):
      return reference(source, as: .array(parameter ?? parameterType(of: type)), place)
    case .list(let items):
      let values = items.map { item -> EnumValueStorage? in
        if case .enum(let name) = item { enumValue(name, type) } else { nil }
      }
      guard isSplice else {
        return SQLFragment(name: SQLQuoting.arrayLiteral(values.map { $0?.element }))
      }
      return values.isEmpty
        ? "NULL" : SQLFragment(name: values.map { $0?.text ?? "NULL" }.joined(separator: ", "))
    case .object, .rows: return "NULL"
    }
  }

  private func reference(
    _ source: InputSource, as type: ParameterType, _ place: () -> InputPlace?
  ) -> SQLFragment {
    statement.reference(.input(source, as: type), of: place())
  }

  private func parameterType(of type: TypeReference) -> ParameterType {
    let known = mapping.parameterType(of: type.namedType)
    return known == .id ? id : known
  }

  private func enumValue(_ name: String, _ type: TypeReference) -> EnumValueStorage? {
    mapping.enumValue(named: name, of: type.namedType)
  }
}
