import GraphQLLanguage
import GraphQLSchema
import SQL

/// Keeps what a client asks behind the rule of the table that it asks.
///
/// PostgreSQL evaluates the conditions of a statement in any order, cheap ones first. If one can
/// fail, its error tells that a row has a value although the rule hides the row. PostgreSQL keeps the
/// order inside of a CASE, so such a condition gets one:
///
///     WHERE rule AND safe AND CASE WHEN rule THEN unsafe ELSE false END
///
/// The rule stays outside, too, where indexes serve it. So do conditions that cannot fail: those whose
/// operators PostgreSQL itself calls leakproof (`pg_proc.proleakproof`), as it lets them pass its row
/// level security. A table without a rule needs none of this.
extension SelectionCompiler {
  /// Returns the condition of a filter's value, behind the rule of the row where it needs that; nil
  /// if it has none.
  func rowCondition(
    _ value: ArgumentValue, _ input: TypeDefinition, _ place: InputPlace, _ scope: Scope
  ) -> Condition? {
    let isRuled = scope.row?.rule != nil || scope.row?.condition != nil
    let parts = parts(value, input, place, scope, isFlat: isRuled)
    guard isRuled, parts.contains(where: \.canFail) else { return Self.joined(parts, "AND") }
    let safe = parts.filter { !$0.canFail }.map(\.text)
    let others = parts.filter(\.canFail).map(\.text)
    let behind = behindRule(others.joined(separator: " AND "), scope, isTypes: true)
    let text = (safe + [behind]).joined(separator: " AND ")
    return Condition(text: safe.isEmpty ? text : "(\(text))", canFail: true)
  }

  /// Returns a condition that holds only for rows that the rule lets through, and is evaluated only
  /// for those.
  ///
  /// - Parameter isTypes: whether it is a filter of the row's type, for which the relation's
  ///   condition is a rule, too.
  func behindRule(
    _ condition: SQLFragment, _ scope: Scope, isTypes: Bool = false
  ) -> SQLFragment {
    guard let rule = rule(of: scope, isTypes: isTypes) else { return condition }
    return "CASE WHEN \(rule) THEN \(condition) ELSE false END"
  }

  /// Returns a condition of the schema; those of its parts that can fail are behind the rule.
  func behindRule(_ template: SQLTemplate, _ scope: Scope) -> SQLFragment {
    guard scope.row?.rule != nil, template.canFail else { return renderer.render(template, scope) }
    return template.conjuncts.map { part in
      let text: SQLFragment = "(\(renderer.render(part, scope)))"
      return part.canFail ? behindRule(text, scope) : text
    }.joined(separator: " AND ")
  }

  func behindRule(_ filter: Filter, _ scope: Scope) -> Filter {
    guard scope.row?.rule != nil else { return filter }
    return Filter(
      coordinate: filter.coordinate, text: behindRule(filter.text, scope),
      isCounted: filter.isCounted, among: filter.among, isAskedFirst: filter.isAskedFirst,
      isPlain: filter.isPlain, ofRow: filter.ofRow.map { behindRule($0, scope) },
      isOfType: filter.isOfType, canFail: true)
  }

  /// Returns the condition of a relation or reference if it chooses among the rows that a key leads
  /// to; nil if it is only the equality of keys.
  static func rule(in condition: SQLTemplate?) -> SQLTemplate? {
    condition.flatMap { $0.isJoin ? nil : $0 }
  }

  private func rule(of scope: Scope, isTypes: Bool) -> SQLFragment? {
    guard let row = scope.row else { return nil }
    var scope = scope
    scope.copying = nil
    let rules = [row.rule, isTypes ? row.condition : nil].compactMap(\.self).map {
      "(\(renderer.render($0, scope, isNoted: false)))" as SQLFragment
    }
    return rules.isEmpty ? nil : rules.joined(separator: " AND ")
  }

  /// Returns whether an operator of filters may fail for a value of a column of this type, or take a
  /// time that discloses it.
  func canFail(_ name: String, _ type: TypeReference, _ parameter: ParameterType?) -> Bool {
    switch name {
    case "isNull": return false
    case "eq", "ne", "in", "notIn", "lt", "lte", "gt", "gte": break
    default: return true
    }
    guard case .named(let leaf) = type.nullable, case .scalar = schema[leaf].kind else {
      return true
    }
    switch parameter ?? mapping.parameterType(of: leaf) {
    case .id, .anyID, .int4, .float8, .text, .boolean, .timestamptz, .instant, .date: return false
    case .named(let name): return !ParameterType.leakproof.contains(name)
    case .numeric, .json, .document, .array, .pattern: return true
    }
  }
}

extension ParameterType {
  /// The names of types of which PostgreSQL 15 calls all six comparisons leakproof, as scalars name
  /// them.
  package static let leakproof: Set<String> = [
    "\"char\"", "bigint", "bit", "\"bit\"", "bool", "boolean", "bpchar", "bytea", "char",
    "character", "cidr", "date", "double precision", "float4", "float8", "inet", "int2", "int4",
    "int8", "integer", "interval", "macaddr", "macaddr8", "money", "name", "oid", "pg_lsn", "real",
    "smallint", "text", "time", "timestamp", "timestamptz", "timetz", "uuid", "varbit", "xid",
    "xid8",
  ]
}
