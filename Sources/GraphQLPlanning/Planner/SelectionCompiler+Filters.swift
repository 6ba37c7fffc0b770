import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import SQL

/// Compiles the values of inputs with `@filter(of:)` to conditions on the rows of a relation.
///
/// Which members are given, and the values of enums and Booleans, are parts of the plan; all other
/// values are parameters, a list one array. A relation is read as its field reads it, through the
/// rows of its type's `@table`: what the viewer may not read meets no condition.
extension SelectionCompiler {
  /// A condition on a row, or a part of one.
  struct Condition {
    let text: SQLFragment
    /// Whether it may fail for some rows, or take a time that discloses their values.
    var canFail = false
  }

  /// Returns the condition of a filter's value; nil if it has none.
  func condition(
    _ value: ArgumentValue, _ input: TypeDefinition, _ place: InputPlace, _ scope: Scope
  ) -> Condition? {
    Self.joined(parts(value, input, place, scope), "AND")
  }

  /// Returns the conditions of a filter's value that must all hold.
  ///
  /// - Parameter isFlat: whether those of `and` are among them, instead of one condition for each.
  func parts(
    _ value: ArgumentValue, _ input: TypeDefinition, _ place: InputPlace, _ scope: Scope,
    isFlat: Bool = false
  ) -> [Condition] {
    guard case .object(let members) = value, let filter = mapping.filter(input.id) else {
      return []
    }
    var parts: [Condition] = []
    for member in members where !member.value.isNull {
      guard let definition = input.inputField(named: member.name) else { continue }
      let type = schema[definition.type.namedType]
      let place = InputPlace("\(input.name).\(member.name)", place.position)
      guard let kind = filter.members[member.name] else {
        // One with a condition of its own.
        var filters: [Filter] = []
        addFilters(definition, place, member.value, scope, &filters)
        parts += filters.map { Condition(text: $0.text, canFail: $0.canFail) }
        continue
      }
      switch kind {
      case .and:
        if isFlat, case .list(let items) = member.value {
          for item in items { parts += self.parts(item, type, place, scope, isFlat: true) }
        } else {
          parts += each(member.value, type, place, scope).compactMap(\.self)
        }
      case .or:
        let items = each(member.value, type, place, scope).map { $0 ?? Condition(text: "true") }
        parts.append(Self.joined(items, "OR") ?? Condition(text: "false"))
      case .not:
        let inner = condition(member.value, type, place, scope) ?? Condition(text: "(true)")
        parts.append(Condition(text: "NOT \(inner.text)", canFail: inner.canFail))
      case .column(let column):
        let operand = Operand(
          text: comparable(renderer.render(column.template, scope), column.type),
          type: column.type, parameter: column.parameter, collation: column.collation,
          canFail: column.template.soleColumn == nil)
        parts += operators(member.value, type, operand, place, scope)
      case .rowCount(let count):
        parts += operators(member.value, type, Operand(text: "count(*)", type: count), place, scope)
      case .aggregates(let column, let result):
        parts += aggregates(member.value, type, column, result, place, scope)
      case .reference(let reference, let field):
        parts.append(exists(field, reference, member.value, type, place, scope))
      case .relation(let relation, let field):
        parts += quantified(field, relation, member.value, type, place, scope)
      }
    }
    return parts
  }

  static func joined(_ parts: [Condition], _ word: String) -> Condition? {
    if parts.isEmpty { return nil }
    return Condition(
      text: "(\(parts.map(\.text).joined(separator: " \(name: word) ")))",
      canFail: parts.contains(where: \.canFail))
  }

  private func each(
    _ value: ArgumentValue, _ type: TypeDefinition, _ place: InputPlace, _ scope: Scope
  ) -> [Condition?] {
    guard case .list(let items) = value else { return [condition(value, type, place, scope)] }
    return items.filter { !$0.isNull }.map { condition($0, type, place, scope) }
  }

  // MARK: - Columns

  /// The left side of a comparison with given values.
  private struct Operand {
    let text: SQLFragment
    let type: TypeReference
    /// The type that values are bound as; nil for that of `type`.
    var parameter: ParameterType?
    /// The collation of patterns, which PostgreSQL refuses under one that is not deterministic.
    var collation: String?
    /// Whether it may fail by itself.
    var canFail = false
  }

  private func operators(
    _ value: ArgumentValue, _ input: TypeDefinition, _ operand: Operand, _ place: InputPlace,
    _ scope: Scope
  ) -> [Condition] {
    guard case .object(let members) = value else { return [] }
    return members.compactMap { member in
      guard !member.value.isNull, let definition = input.inputField(named: member.name) else {
        return nil
      }
      let place = InputPlace("\(input.name).\(member.name)", place.position)
      let isPattern = member.name == "like" || member.name == "ilike"
      let given = renderer.text(
        of: member.value, definition.type, as: isPattern ? .pattern : operand.parameter,
        isSplice: false
      ) { place }
      return comparison(member.name, operand, given, member.value).map {
        Condition(
          text: $0,
          canFail: operand.canFail || canFail(member.name, operand.type, operand.parameter))
      }
    }
  }

  /// Returns the conditions on aggregates of a column, which are the fields of the type `result`.
  private func aggregates(
    _ value: ArgumentValue, _ input: TypeDefinition, _ column: AggregateStorage.Column,
    _ result: TypeID, _ place: InputPlace, _ scope: Scope
  ) -> [Condition] {
    guard case .object(let members) = value else { return [] }
    return members.flatMap { member -> [Condition] in
      guard !member.value.isNull, let definition = input.inputField(named: member.name),
        let type = schema[result].field(named: member.name)?.type
      else { return [] }
      let text = aggregate(member.name, of: column, type, scope)
      let place = InputPlace("\(input.name).\(member.name)", place.position)
      let isOfColumn = member.name == "min" || member.name == "max"
      let operand = Operand(
        text: text, type: type, parameter: isOfColumn ? column.parameter : nil,
        collation: column.collation, canFail: true)
      return operators(
        member.value, schema[definition.type.namedType], operand, place, scope)
    }
  }

  /// Returns a column in the form in which it is compared. Where a `String` is another type of
  /// text, or an enum, it is its text; for `text` itself, PostgreSQL ignores the cast.
  func comparable(_ column: SQLFragment, _ type: TypeReference) -> SQLFragment {
    guard mapping.parameterType(of: type.namedType) == .text,
      case .scalar = schema[type.namedType].kind
    else { return column }
    if case .list = type.nullable { return "(\(column))::text[]" }
    return "(\(column))::text"
  }

  private func comparison(
    _ name: String, _ operand: Operand, _ given: SQLFragment, _ value: ArgumentValue
  ) -> SQLFragment? {
    let column = operand.text
    let type = operand.type
    var isList = false
    if case .list = type.nullable { isList = true }
    let isDocument = schema[type.namedType].isDocument
    let pattern = operand.collation.map { "\(column) COLLATE \(name: $0)" } ?? column
    // A type of an extension may have no "<>", such as that of PostGIS. PostgreSQL makes this "<>" of a
    // type that has it.
    var isNegated = false
    if case .named(let name)? = operand.parameter ?? parameter(of: type) {
      isNegated = !ParameterType.leakproof.contains(name)
    }
    switch name {
    case "eq": return "\(column) = \(given)"
    case "ne" where isNegated: return "NOT (\(column) = \(given))"
    case "notIn" where isNegated: return "NOT (\(column) = ANY (\(given)))"
    case "ne": return "\(column) <> \(given)"
    case "lt": return "\(column) < \(given)"
    case "lte": return "\(column) <= \(given)"
    case "gt": return "\(column) > \(given)"
    case "gte": return "\(column) >= \(given)"
    case "in": return "\(column) = ANY (\(given))"
    case "notIn": return "\(column) <> ALL (\(given))"
    case "isNull":
      guard case .boolean(let isNull) = value else { return nil }
      return isNull ? "\(column) IS NULL" : "\(column) IS NOT NULL"
    case "like": return "\(pattern) LIKE \(given)"
    case "ilike": return "\(pattern) ILIKE \(given)"
    case "startsWith": return "\(pattern) LIKE \(Self.pattern(given)) || '%'"
    case "contains" where isList: return "\(column) @> \(list(given, like: column, type))"
    case "contains" where isDocument: return "\(column) @> \(given)"
    case "contains": return "\(pattern) LIKE '%' || \(Self.pattern(given)) || '%'"
    case "overlaps": return "\(column) && \(list(given, like: column, type))"
    case "hasKey": return "\(column) ? \(given)"
    case "matches": return "\(column) @@ websearch_to_tsquery(\(given))"
    default: return nil
    }
  }

  /// Returns the type that a value of a leaf type is bound as; nil for an enum or a list.
  private func parameter(of type: TypeReference) -> ParameterType? {
    guard case .named(let leaf) = type.nullable, case .scalar = schema[leaf].kind else {
      return nil
    }
    return mapping.parameterType(of: leaf)
  }

  /// Returns a pattern that only the text matches.
  private static func pattern(_ text: SQLFragment) -> SQLFragment {
    #"replace(replace(replace(\#(text), '\', '\\'), '%', '\%'), '_', '\_')"#
  }

  /// Returns a list of integers as the column's type, which may be `bigint[]`. PostgreSQL leaves
  /// out the case as it plans.
  private func list(
    _ given: SQLFragment, like column: SQLFragment, _ type: TypeReference
  ) -> SQLFragment {
    guard mapping.parameterType(of: type.namedType) == .int4 else { return given }
    return "CASE WHEN false THEN \(column) ELSE \(given) END"
  }

  // MARK: - Relations

  private func exists(
    _ field: FieldStorage, _ reference: ReferenceStorage, _ value: ArgumentValue,
    _ input: TypeDefinition, _ place: InputPlace, _ scope: Scope
  ) -> Condition {
    let types = schema.possibleTypes[Int(field.definition.type.namedType.index)]
    let groups = groups(of: types, rows: nil)
    guard groups.count == 1, let table = groups[0].table else { return Condition(text: "false") }
    let row = RowBuilder(alias: statement.alias(), rule: table.rule)
    row.condition = Self.rule(in: reference.condition)
    var target = asked(field, scope)
    target.parent = scope.row
    target.row = nil
    let id = reference.id.map { renderer.render($0, target) }
    target.row = row
    target.storage = types.first.flatMap { mapping[$0] }
    let name = renderer.render(table.name, target, isNoted: false)
    statement.live?.note(
      rows: table, table.name, in: nil, where: [], each: nil, target, renderer)
    var conditions: [SQLFragment] = []
    if let id { conditions.append("\(name: row.alias).\(name: table.key) = \(id)") }
    if let condition = reference.condition { conditions.append(behindRule(condition, target)) }
    conditions += filters(of: field, target).map(\.text)
    let inner = rowCondition(value, input, place, target)
    if let inner { conditions.append(inner.text) }
    let from: [SQLFragment] = ["\(name) AS \(name: row.alias)"] + row.joinClauses
    return Condition(
      text: "EXISTS \(select("", from: from, where: conditions))", canFail: inner?.canFail ?? false)
  }

  private func quantified(
    _ field: FieldStorage, _ relation: RelationStorage, _ value: ArgumentValue,
    _ input: TypeDefinition, _ place: InputPlace, _ scope: Scope
  ) -> [Condition] {
    guard case .object(let members) = value,
      let target = input.inputField(named: "some").flatMap({
        mapping.filter($0.type.namedType)?.target
      })
    else { return [] }
    let types = schema.possibleTypes[Int(target.index)]
    return members.flatMap { member -> [Condition] in
      guard !member.value.isNull, let definition = input.inputField(named: member.name) else {
        return []
      }
      let type = schema[definition.type.namedType]
      let rows = relationRows(
        types: types, field, relation, asked(field, scope), variables: [:], isCount: true)
      guard rows.group?.table != nil else { return [Condition(text: "false")] }
      if member.name == "count" {
        guard let number = type.inputField(named: "eq")?.type else { return [] }
        let count = select(
          "count(*)", from: rows.from + rows.row.joinClauses, where: rows.conditions)
        let own = InputPlace("\(input.name).count", place.position)
        return operators(member.value, type, Operand(text: count, type: number), own, scope)
      }
      let inner = rowCondition(member.value, type, place, rows.scope)
      let isEvery = member.name == "every"
      if isEvery, inner == nil { return [] }
      let asked = inner.map { isEvery ? "\($0.text) IS NOT TRUE" : $0.text }
      let found = select(
        "", from: rows.from + rows.row.joinClauses,
        where: rows.conditions + [asked].compactMap(\.self))
      return [
        Condition(
          text: member.name == "some" ? "EXISTS \(found)" : "NOT EXISTS \(found)",
          canFail: inner?.canFail ?? false)
      ]
    }
  }

  /// Returns the scope in which a field is read without arguments, as a condition.
  private func asked(_ field: FieldStorage, _ scope: Scope) -> Scope {
    var inner = Scope()
    inner.row = scope.row
    inner.storage = scope.storage
    inner.enclosingJoins = scope.enclosingJoins
    inner.coordinate = field.coordinate
    inner.isAsked = true
    inner.arguments = reader.defaults(of: field.definition)
    return inner
  }

  // MARK: - Limits

  /// What the filters of one field ask for.
  struct FilterSize {
    var conditions = 0
    var relations = 0
    var depth = 0
    var alternatives = 0
  }

  /// Returns what a filter asks for. Recursion is as deep as the request, which is limited.
  func size(of value: ArgumentValue, _ input: TypeDefinition, depth: Int = 0) -> FilterSize {
    var size = FilterSize()
    add(value, input, depth, &size)
    return size
  }

  private func add(
    _ value: ArgumentValue, _ input: TypeDefinition, _ depth: Int, _ size: inout FilterSize
  ) {
    guard case .object(let members) = value, let filter = mapping.filter(input.id) else { return }
    size.depth = max(size.depth, depth)
    for member in members where !member.value.isNull {
      guard let definition = input.inputField(named: member.name) else { continue }
      let type = schema[definition.type.namedType]
      switch filter.members[member.name] {
      case .and?, .or?, .not?:
        var items = [member.value]
        if case .list(let list) = member.value { items = list }
        if case .or? = filter.members[member.name] {
          size.alternatives = max(size.alternatives, items.count)
        }
        // An item without conditions is a part of the statement, too.
        size.conditions += items.count { $0.isEmptyObject }
        for item in items { add(item, type, depth + 1, &size) }
      case .column?, .rowCount?: size.conditions += Self.conditions(member.value)
      case .aggregates?:
        guard case .object(let functions) = member.value else { continue }
        size.conditions += functions.reduce(0) { $0 + Self.conditions($1.value) }
      case .reference?:
        size.conditions += 1
        size.relations += 1
        add(member.value, type, depth + 1, &size)
      case .relation?:
        guard case .object(let quantifiers) = member.value else { continue }
        for inner in quantifiers where !inner.value.isNull {
          size.conditions += 1
          size.relations += 1
          guard let definition = type.inputField(named: inner.name) else { continue }
          add(inner.value, schema[definition.type.namedType], depth + 1, &size)
        }
      case nil: size.conditions += 1
      }
    }
  }

  /// Returns the number of operators in a value.
  private static func conditions(_ value: ArgumentValue) -> Int {
    if case .object(let operators) = value { operators.count { !$0.value.isNull } } else { 0 }
  }

  /// Checks what the filters and orders among the arguments ask for.
  ///
  /// - Returns: the cost of the relations in them: each is a page of the usual size.
  func checkFilters(
    _ arguments: FieldArguments, _ field: CollectedField
  ) throws(GraphQLError) -> Int {
    var relations = 0
    for (definition, value) in arguments.values {
      guard let value else { continue }
      let input = schema[definition.type.namedType]
      if mapping.filter(input.id) != nil {
        let size = size(of: value, input)
        relations += size.relations
        try check(size.conditions, limits.maximumFilterConditions, "conditions", definition, field)
        try check(
          size.depth, limits.maximumFilterDepth, "levels of nested filters", definition, field)
        try check(
          size.alternatives, limits.maximumFilterAlternatives, "filters in one \"or\"", definition,
          field)
      } else if mapping.order(input.id) != nil {
        var items = [value]
        if case .list(let list) = value { items = list }
        try check(items.count, limits.maximumOrders, "orders", definition, field)
        let steps = items.reduce(0) { max($0, self.steps(of: $1, input)) }
        try check(steps, limits.maximumOrderDepth, "relations to one column", definition, field)
        relations += items.count { self.steps(of: $0, input) > 0 }
      }
    }
    return relations == 0 ? 0 : relations * (2 + limits.defaultSize)
  }

  /// Returns the number of relations that lead to the column of an order.
  private func steps(of value: ArgumentValue, _ input: TypeDefinition) -> Int {
    guard case .object(let members) = value,
      let member = members.first(where: { !$0.value.isNull }),
      let definition = input.inputField(named: member.name)
    else { return 0 }
    switch mapping.order(input.id)?.members[member.name] {
    case .reference?, .relation?: break
    case .column?, .rowCount?, .aggregates?, .and?, .or?, .not?, nil: return 0
    }
    return 1 + steps(of: member.value, schema[definition.type.namedType])
  }

  private func check(
    _ count: Int, _ most: Int, _ what: String, _ definition: InputValueDefinition,
    _ field: CollectedField
  ) throws(GraphQLError) {
    guard count > most else { return }
    throw GraphQLError(
      "Argument \"\(definition.name)\" may have at most \(most) \(what), not \(count).",
      locations: [reader.source.location(of: field.field.position)], code: .badUserInput)
  }
}

extension ArgumentValue {
  fileprivate var isEmptyObject: Bool {
    if case .object(let members) = self { members.allSatisfy(\.value.isNull) } else { false }
  }
}
