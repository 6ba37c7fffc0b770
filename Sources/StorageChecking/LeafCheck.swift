import GraphQLPlanning
import GraphQLSchema
import Postgres
import SQL

/// Compares the PostgreSQL types of leaves with their scalars and enums, and their columns' nulls
/// with `!`.
struct LeafCheck {
  let mapping: StorageMapping
  let catalog: DatabaseCatalog

  func findings(for row: DescribedRow) -> [StorageFinding] {
    row.values.flatMap { value, type, array in
      switch value.kind {
      case .leaf(let format, let reference):
        let problem =
          unreadable(value, format, reference, type, array)
          ?? otherValues(value, reference, type, row)
        return [problem, nullable(value, isNonNull: reference.isNonNull, row)].compactMap { $0 }
      case .key(let isNonNull):
        return [nullable(value, isNonNull: isNonNull, row)].compactMap { $0 }
      }
    }
  }

  // MARK: - Types

  private func unreadable(
    _ value: PlannedValue, _ format: LeafFormat, _ reference: TypeReference, _ type: PostgresType,
    _ array: PostgresType?
  ) -> StorageFinding? {
    // NULL has every type.
    if value.isNull || !mapping.labels(of: reference.namedType).isEmpty && isNamed(type) {
      return nil
    }
    let wanted = mapping.schema[reference.namedType].name
    // Its domain, where it has one.
    let own = array.flatMap { catalog.types[$0]?.element } ?? type
    let name = catalog.name(of: catalog.types[type]?.element == nil ? own : type)
    let subject = value.column.map { "the column \($0.name)" } ?? "the expression"
    let element = catalog.types[catalog.base(of: type)]?.element
    var isList = false
    if case .list = reference.nullable { isList = true }
    guard let single = isList ? element : element == nil ? own : nil else {
      return StorageFinding(
        .error, value.coordinate,
        isList
          ? "\(subject) is of PostgreSQL's type \(name), which is not an array, and the field is a list; "
            + "write \(instead(value, "ARRAY[", "]"))."
          : "\(subject) is of PostgreSQL's type \(name), an array, and the field is not a list; "
            + "write [\(wanted)] for its type.")
    }
    guard !isReadable(single, as: format) else { return nil }
    let beginning =
      "\(subject) is of PostgreSQL's type \(name), from which \(wanted) cannot be read; "
    if format == .id {
      return StorageFinding(
        .error, value.coordinate,
        beginning + "an ID is a bigint with the type's tag in its low byte: give it such a column, "
          + "write @id for an ID made of the key, or make the field a String with \(instead(value, "", "::text")).",
        operators: ["\(name) & integer", "\(name) = bigint", "bigint = \(name)"])
    }
    let (before, after) = conversion(of: catalog.base(of: single), to: format)
    return StorageFinding(
      .error, value.coordinate,
      beginning + "write \(instead(value, before, after + (isList ? "[]" : ""))).")
  }

  /// Returns whether an enum with other labels in SQL can be read from it, once or in an array: by
  /// their texts.
  private func isNamed(_ type: PostgresType) -> Bool {
    let base = catalog.base(of: type)
    let single = catalog.types[base]?.element.map { catalog.base(of: $0) } ?? base
    return Self.integers.contains(single)
  }

  private func instead(_ value: PlannedValue, _ before: String, _ after: String) -> String {
    guard let (word, name) = value.column else {
      return "\(before)(...)\(after) around it"
    }
    let column = SQLQuoting.name(name).replacing("\"", with: "\\\"")
    return "@sql(expression: \"\(before)\(word).\(column)\(after)\")"
  }

  /// Returns whether `ResponseWriter` can write the type, or the one under a domain. By its length
  /// alone, it cannot determine whether a domain's number is an integer, so a `Float` cannot be
  /// read from a domain over integers.
  private func isReadable(_ type: PostgresType, as format: LeafFormat) -> Bool {
    let base = catalog.base(of: type)
    switch format {
    // It is read as text.
    case .key: return true
    case .id, .int, .count, .isCounted: return Self.integers.contains(base)
    case .float: return Self.integers.contains(type) || Self.floats.contains(base)
    case .boolean: return base == .bool
    case .dateTime, .instant: return base == .timestamptz
    case .date: return base == .date
    case .uuid: return base == .uuid
    case .integerText: return Self.integers.contains(base)
    case .json: return base == .json || base == .jsonb
    case .string, .decimal:
      return Self.texts.contains(base) || catalog.types[base]?.isEnum == true
        || catalog.types[base]?.name == "citext"
    }
  }

  private static let integers: Set<PostgresType> = [.int2, .int4, .int8]
  private static let floats: Set<PostgresType> = [.float4, .float8]
  private static let texts: Set<PostgresType> = [
    .text, .varchar, .bpchar, .name, .json, .xml, .unknown,
  ]

  private func conversion(
    of type: PostgresType, to format: LeafFormat
  ) -> (before: String, after: String) {
    switch format {
    case .id: ("", "::bigint")
    case .int, .count, .isCounted: ("", "::int")
    case .float: ("", "::float8")
    case .boolean: ("", "::boolean")
    case .dateTime where type == .timestamp, .instant where type == .timestamp:
      ("", " AT TIME ZONE 'UTC'")
    case .dateTime, .instant: ("", "::timestamptz")
    case .date: ("", "::date")
    case .uuid: ("", "::uuid")
    case .integerText: ("", "::int8")
    case .json: ("to_jsonb(", ")")
    case .string, .decimal, .key: ("", "::text")
    }
  }

  // MARK: - Nulls

  private func nullable(
    _ value: PlannedValue, isNonNull: Bool, _ row: DescribedRow
  ) -> StorageFinding? {
    guard isNonNull, !value.isConditional,
      let (relation, column, name) = catalog.column(of: value, in: row), !column.isNotNull,
      !relation.checks.contains(where: {
        $0.columns.contains(name)
          && $0.definition.contains("\(SQLQuoting.name(name)) IS NOT NULL")
      })
    else { return nil }
    return StorageFinding(
      .warning, value.coordinate,
      "the column \(name) of \(relation.name) may be null, and the field may not; make it NOT NULL, "
        + "or write the field's type without \"!\".")
  }

  // MARK: - Enums

  /// Returns a finding about a value that the column can have and its enum does not.
  private func otherValues(
    _ value: PlannedValue, _ reference: TypeReference, _ type: PostgresType, _ row: DescribedRow
  ) -> StorageFinding? {
    guard case .enum(let values) = mapping.schema[reference.namedType].kind else { return nil }
    let known = Set(values.map(\.name) + mapping.labels(of: reference.namedType).map(\.label))
    let wanted = mapping.schema[reference.namedType].name
    let base = catalog.base(of: type)
    let single = catalog.types[base]?.element.map { catalog.base(of: $0) } ?? base
    if let labels = catalog.labels[single] {
      let others = labels.filter { !known.contains($0) }
      guard !others.isEmpty else { return nil }
      return StorageFinding(
        .error, value.coordinate,
        "PostgreSQL's enum \(catalog.name(of: single)) has \(quoted(others)), and \(wanted) has not; "
          + "add to \(wanted) what is missing, or map it with @sql(expression:).")
    }
    guard let (relation, _, name) = catalog.column(of: value, in: row),
      let (check, permitted) = relation.permittedValues(of: name)
    else { return nil }
    let others = permitted.filter { !known.contains($0) }
    guard !others.isEmpty else { return nil }
    return StorageFinding(
      .error, value.coordinate,
      "the constraint \(check) of \(relation.name) permits \(quoted(others)), and \(wanted) has not; "
        + "add to \(wanted) what is missing, or map it with @sql(expression:).")
  }
}

/// Returns `"a", "b" and 3 more`.
func quoted(_ names: [String]) -> String {
  let shown = names.prefix(5).map { "\"\($0)\"" }.joined(separator: ", ")
  return names.count > 5 ? "\(shown) and \(names.count - 5) more" : shown
}

extension DatabaseCatalog.Relation {
  /// Returns the values that a CHECK constraint permits in a column, if it is just a list of
  /// values.
  func permittedValues(of column: String) -> (check: String, values: [String])? {
    for check in checks where check.columns == [column] {
      let text = check.definition
      guard text.contains("= ANY (") || text.contains("<@ ") || text.contains(" = '"),
        !text.contains(" AND "), !text.contains(" OR "), !text.contains("NOT ")
      else { continue }
      // 'it''s'::text, or '{A,B}'::text[]
      var values: [String] = []
      for match in text.matches(of: /'((?:[^']|'')*)'::[a-z ]+(\[\])?/) {
        let literal = String(match.1).replacing("''", with: "'")
        if match.2 != nil, literal.hasPrefix("{"), literal.hasSuffix("}") {
          values += literal.dropFirst().dropLast().split(separator: ",")
            .map { $0.replacing("\"", with: "") }.map { String($0) }
        } else {
          values.append(literal)
        }
      }
      if !values.isEmpty { return (check.name, values) }
    }
    return nil
  }
}
