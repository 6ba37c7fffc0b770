import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import SQL

/// Compiles fields with `@insert`, `@update` and `@delete`.
///
/// The statement is one data-modifying `WITH` query, whose rows' keys become the result:
///
///     WITH chosen AS (keys of the rows, as their viewer sees them, at most one more than allowed),
///       written AS (UPDATE ... FROM chosen ... RETURNING ...)
///     SELECT set_config('sociograph.result', {"count": ..., "rows": [{key columns}, ...]}), ...
///
/// The statement reads the tables as they were before it. Rows that are inserted or updated thus need
/// another statement for the payload. Deleted rows need this one, which has the payload's record in
/// place of the result; so has one whose payload needs only the number of rows.
///
/// Which columns are written is a part of the plan: a column without a member keeps its default. A
/// row that its writer could not read afterwards undoes everything.
extension CallCompiler {
  func written(
    _ write: WriteStorage, _ field: SelectionCompiler.CollectedField, _ arguments: FieldArguments,
    answer: (record: SQLFragment, compiler: SelectionCompiler)?
  ) throws(GraphQLError) -> (PlannedStatement, [WrittenRow]) {
    guard let table = write.table, let target = write.target else {
      throw GraphQLError("\(arguments.coordinate) has no table.", code: .internalServerError)
    }
    let compiler = answer?.compiler ?? compiler()
    var scope = Scope()
    scope.coordinate = arguments.coordinate
    scope.arguments = arguments
    let name = compiler.renderer.render(table, scope, isNoted: false)
    let rule = write.rule.map { rendered($0, of: Insertions.written, compiler, scope) }
    let changed = changedRow(write, scope)
    let references = mapping.checkedReferences(of: target) { WrittenRow.columns(of: changed) }
    // Only the rule needs more than the keys and references, and the right to read it.
    var returned = rule == nil ? write.keys : nil
    if !references.isEmpty {
      returned = returned.map { Self.union($0, references.flatMap { $0.names(in: target) }) }
    }
    var insertions = Insertions()
    var parts: [SQLFragment] = []
    switch write.action {
    case .insert:
      insertions = try self.insertions(
        write, into: name, returning: returned, field, compiler, scope)
      parts = insertions.parts.map { "\(name: $0.name) AS (\($0.text))" }
    case .update, .delete:
      _ = try compiler.checkFilters(arguments, field)
      let columns =
        returned.map { $0.map { "target.\(name: $0)" }.joined(separator: ", ") } ?? "target.*"
      parts = [
        "chosen AS MATERIALIZED (\(chosenRows(write, target, compiler, scope)))",
        "written AS (\(change(write, name, compiler, scope, returning: columns)))",
      ]
    }
    var text: SQLFragment = "WITH \(parts.joined(separator: ", ")) "
    insertions.references += references.map {
      self.refusal(
        $0, of: Insertions.written, among: Insertions.written, target, in: table.lastName,
        compiler, scope)
    }
    let refusal = refusal(write, rule, insertions, compiler, scope)
    let result: SQLFragment
    if let answer {
      result = refusal.isEmpty ? answer.record : "\(answer.record), CASE \(refusal) END"
    } else {
      let rows = rows(write)
      result = kept(result: refusal.isEmpty ? rows : "CASE \(refusal) ELSE \(rows) END")
    }
    text.append(settings(with: result, compiler.statement))
    return (
      finished(text, compiler.statement),
      write.action == .insert ? insertions.rows : changed
    )
  }

  /// The values of an update; none of another action.
  private func changedRow(_ write: WriteStorage, _ scope: Scope) -> [WrittenRow] {
    guard write.action == .update, let (definition, value) = scope.arguments["set"],
      case .inputObject(let members, _) = schema[definition.type.namedType].kind
    else { return [] }
    let input = schema[definition.type.namedType]
    let values = members.compactMap { member in
      value?[member.name].flatMap {
        mapping.written($0, to: member, of: input, scope.place(ofArgument: "set"))
      }
    }
    return [WrittenRow(path: ["set"], table: write.table?.lastName ?? "", values: values)]
  }

  /// The number of rows, for which they are written first: `settings(with:_:)` then sees a transaction
  /// that has written.
  static let writtenCount: SQLFragment = "(SELECT count(*) FROM written)"

  /// Returns whether the statement that writes has the payload's record: for rows that are deleted, or
  /// if nothing but their number is selected.
  func answersAlone(
    _ write: WriteStorage, _ payload: TypeID, _ field: SelectionCompiler.CollectedField,
    _ compiler: SelectionCompiler
  ) -> Bool {
    if write.action == .delete { return true }
    return compiler.collectFields(of: payload, field.selectionSets).allSatisfy { member in
      guard let storage = mapping[payload]?.fields[member.field.name.text] else {
        return member.field.name.text == "__typename"
      }
      switch storage.kind {
      case .userErrors: return true
      case .leaf(let template, nil):
        return !template.variables.isEmpty
          && template.variables.allSatisfy {
            TemplateVariable($0) == .result(key: WriteStorage.count)
          }
      default: return false
      }
    }
  }

  // MARK: - Insert

  /// Returns what is done with a row whose unique key another one has: the given columns of that are
  /// set. One that the viewer may not see stays as it is.
  func conflict(
    _ write: WriteStorage, _ given: [String], _ compiler: SelectionCompiler, _ scope: Scope
  ) -> SQLFragment? {
    guard let argument = scope.arguments["updateOnConflict"],
      case .enum(let name)? = argument.value,
      let key = mapping.enumValue(named: name, of: argument.definition.type.namedType),
      let columns = try? SQLQuoting.names(in: key.element).map(SQLQuoting.quoted)
    else { return nil }
    let target = columns.map { SQLFragment(name: $0) }.joined(separator: ", ")
    var set = given.filter { !columns.contains($0) }
    // Without a change there would be no row to return.
    if set.isEmpty { set = columns }
    let changes = set.map { column -> SQLFragment in
      "\(name: column) = excluded.\(name: column)"
    }
    var text: SQLFragment =
      " ON CONFLICT (\(target)) DO UPDATE SET \(changes.joined(separator: ", "))"
    if let rule = write.rule {
      var scope = scope
      scope.row = RowBuilder(alias: "target")
      text.append(" WHERE \(compiler.renderer.render(rule, scope, isNoted: false))")
    }
    return text
  }

  /// Returns a value for a column; a column without one has its default.
  func value(
    _ value: ArgumentValue?, _ member: InputValueDefinition, of input: TypeDefinition,
    _ compiler: SelectionCompiler, _ place: InputPlace
  ) -> SQLFragment {
    guard let value else { return "DEFAULT" }
    // A NULL takes the type of the column.
    guard !value.isNull else { return "NULL" }
    let text = compiler.renderer.text(of: value, member.type, isSplice: false) {
      InputPlace("\(input.name).\(member.name)", place.position)
    }
    let type = member.appliedDirectives.first(named: "column")?.string("type")
    return type.map { "(\(text))::\(name: $0)" } ?? text
  }

  // MARK: - Update and delete

  /// Returns a query of the keys of the rows that the filter finds, at most one more than allowed.
  ///
  /// The rows are locked. If another transaction changes one first, PostgreSQL asks the filter again.
  /// A condition on a version or a balance thus holds when the row is written.
  private func chosenRows(
    _ write: WriteStorage, _ target: TypeID, _ compiler: SelectionCompiler, _ scope: Scope
  ) -> SQLFragment {
    let row = RowBuilder(
      alias: compiler.statement.alias(), rule: mapping[target]?.table?.rule)
    var inner = scope
    inner.row = row
    inner.storage = mapping[target]
    var condition: SQLFragment?
    if let (definition, value) = scope.arguments["filter"], let value {
      condition =
        compiler.rowCondition(
          value, schema[definition.type.namedType], scope.place(ofArgument: "filter"), inner)?.text
    }
    let rows: SQLFragment =
      mapping[target]?.table.map { compiler.renderer.render($0.name, inner, isNoted: false) }
      ?? "NULL"
    let keys = write.keys.map { key -> SQLFragment in "\(name: row.alias).\(name: key)" }
    let from: [SQLFragment] = ["\(rows) AS \(name: row.alias)"] + row.joinClauses
    return """
      SELECT \(keys.joined(separator: ", ")) FROM \(from.joined(separator: " ")) \
      WHERE \(condition ?? "true") LIMIT greatest(\(atMost(compiler, scope))::bigint, 0) + 1 \
      FOR UPDATE OF \(name: row.alias)
      """
  }

  private func atMost(_ compiler: SelectionCompiler, _ scope: Scope) -> SQLFragment {
    guard let (definition, value) = scope.arguments["atMost"], let value, !value.isNull else {
      return "1"
    }
    return compiler.renderer.text(of: value, definition.type, isSplice: false) {
      scope.place(ofArgument: "atMost")
    }
  }

  private func change(
    _ write: WriteStorage, _ table: SQLFragment, _ compiler: SelectionCompiler, _ scope: Scope,
    returning columns: SQLFragment
  ) -> SQLFragment {
    let found = write.keys.map { key -> SQLFragment in "target.\(name: key) = chosen.\(name: key)" }
      .joined(separator: " AND ")
    // Too many rows are an error behind this; none of them is written until then.
    let condition: SQLFragment =
      "\(found) AND (SELECT count(*) FROM chosen) <= \(atMost(compiler, scope))"
    guard write.action == .update else {
      return """
        DELETE FROM \(table) AS target USING chosen WHERE \(condition) RETURNING \(columns)
        """
    }
    var set: [SQLFragment] = []
    if let (definition, value) = scope.arguments["set"],
      case .inputObject(let members, _) = schema[definition.type.namedType].kind
    {
      let input = schema[definition.type.namedType]
      for member in members {
        guard let given = value?[member.name] else { continue }
        let text = self.value(
          given, member, of: input, compiler, scope.place(ofArgument: "set"))
        set.append("\(name: SQLQuoting.quoted(WriteStorage.column(of: member))) = \(text)")
      }
    }
    // Nothing is to be set: no column might be settable, and a trigger need not hear of it.
    if set.isEmpty { return "SELECT \(columns) FROM \(table) AS target, chosen WHERE \(condition)" }
    return """
      UPDATE \(table) AS target SET \(set.joined(separator: ", ")) FROM chosen WHERE \(condition) \
      RETURNING \(columns)
      """
  }

  // MARK: - Result

  /// Returns the result: the number of rows, and their keys.
  func rows(_ write: WriteStorage) -> SQLFragment {
    let members = write.keys.map { key -> SQLFragment in
      "\(literal: SQLQuoting.catalogName(key)), written.\(name: key)"
    }
    return """
      (SELECT jsonb_build_object(\(literal: WriteStorage.count), count(*), 'rows', \
      coalesce(jsonb_agg(jsonb_build_object(\(members.joined(separator: ", ")))), '[]')) \
      FROM written)::text
      """
  }

  /// Returns the branches of a CASE that fail, so that nothing is written; empty if there are none.
  private func refusal(
    _ write: WriteStorage, _ rule: SQLFragment?, _ insertions: Insertions,
    _ compiler: SelectionCompiler, _ scope: Scope
  ) -> SQLFragment {
    var cases: [SQLFragment] = []
    if write.action != .insert {
      let found: SQLFragment = "(SELECT count(*) FROM chosen)"
      cases.append(
        "WHEN \(found) > \(atMost(compiler, scope)) THEN \(failure(WriteRefusal.tooMany, found))")
    }
    // Read first, so that rows are written in the order of the input.
    if let count = insertions.writtenCount {
      cases.append(
        "WHEN \(Self.writtenCount) < \(count) THEN \(failure(WriteRefusal.forbidden, Self.writtenCount))"
      )
    }
    // What others need, a trigger or a rule may have kept from being written.
    for name in insertions.needed {
      let found: SQLFragment = "(SELECT count(*) FROM \(name: name))"
      cases.append("WHEN \(found) < 1 THEN \(failure(WriteRefusal.forbidden, found))")
    }
    let own = write.action == .delete ? nil : rule.map { (name: Insertions.written, rule: $0) }
    for (name, rule) in [own].compactMap(\.self) + insertions.rules {
      let hidden: SQLFragment = "(SELECT count(*) FROM \(name: name) WHERE (\(rule)) IS NOT TRUE)"
      cases.append("WHEN \(hidden) > 0 THEN \(failure(WriteRefusal.forbidden, hidden))")
    }
    cases += insertions.references
    return cases.joined(separator: " ")
  }

  /// Returns a rule of the rows of a part of the statement.
  func rendered(
    _ rule: SQLTemplate, of name: String, _ compiler: SelectionCompiler, _ scope: Scope
  ) -> SQLFragment {
    var scope = scope
    scope.row = RowBuilder(alias: name)
    return compiler.renderer.render(rule, scope, isNoted: false)
  }

  /// Returns an expression that fails when it is evaluated, with a text that tells why.
  func failure(_ refusal: String, _ count: SQLFragment) -> SQLFragment {
    "((\(literal: refusal) || \(count))::int)::text"
  }
}

/// The texts in PostgreSQL's errors by which the statements above refuse.
package enum WriteRefusal {
  /// More rows than `atMost` are found.
  package static let tooMany = "sociograph.atMost "
  /// A row that would be written does not exist for the viewer.
  package static let forbidden = "sociograph.rule "

  /// A row that would be written refers to one that does not exist for the viewer.
  static func reference(from table: String, by columns: [String]) -> String {
    ([references, table] + columns).joined(separator: separator) + separator
  }

  /// Returns the table and the columns of the reference that a message is about; nil for another one.
  package static func reference(in message: String) -> (table: String, columns: [String])? {
    guard let start = message.firstRange(of: references + separator) else { return nil }
    let parts = message[start.upperBound...].split(separator: Character(separator))
    guard parts.count > 2 else { return nil }
    return (String(parts[0]), parts[1..<(parts.count - 1)].map(String.init))
  }

  private static let references = "sociograph.reference"
  /// In no name.
  private static let separator = "\u{1F}"
}
