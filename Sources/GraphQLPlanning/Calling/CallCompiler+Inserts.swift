import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import SQL

/// The parts of the statement of a field with `@insert`.
///
/// Rows without others inside are one part. A row with others inside is a part of its own, so that
/// they can take its values, or it theirs:
///
///     WITH written AS (INSERT INTO artist ... RETURNING artist_id),
///       inserted1 AS (INSERT INTO album (artist_id, title) VALUES
///         ((SELECT artist_id FROM written), $1), ((SELECT artist_id FROM written), $2))
struct Insertions {
  /// An insert by the name of its rows.
  struct Part {
    let name: String
    let text: SQLFragment
  }

  fileprivate(set) var parts: [Part] = []
  /// The names of the parts whose row others need.
  fileprivate(set) var needed: [String] = []
  /// The number of rows that others need among those of `written`, if it has several parts.
  fileprivate(set) var writtenCount: Int?
  /// The rules of nested parts, by the parts' names.
  fileprivate(set) var rules: [(name: String, rule: SQLFragment)] = []
  /// The branches of a CASE that fail over a reference to a hidden row.
  var references: [SQLFragment] = []
  /// The rows as the client gave them, for errors.
  fileprivate(set) var rows: [WrittenRow] = []
  fileprivate var rowCount = 0

  /// The names of a statement's rows.
  static let written = "written"
}

/// A row of an input, and where it is in the arguments.
private struct GivenRow {
  let value: ArgumentValue
  let path: [String]

  func has(_ member: String) -> Bool {
    if case .rows(_, let members) = value { return members.contains(member) }
    return value[member] != nil
  }
}

/// The table that the rows of one input are inserted into.
private struct InsertTarget {
  let table: SQLFragment
  /// The table's name without its namespace.
  let name: String
  /// The type of its rows.
  let type: TypeID?
  let rule: SQLTemplate?
  let input: TypeDefinition
  /// The columns that are returned, as statements write them; nil for all.
  var returned: [String]?
  /// The columns whose values other rows give.
  var given: [(column: String, value: SQLFragment)] = []

  var members: [InputValueDefinition] {
    if case .inputObject(let members, _) = input.kind { members } else { [] }
  }
}

extension CallCompiler {
  /// Returns the inserts of a field, in which each row's values come before the rows that need them.
  /// The rows of `input` are those of the part `written`.
  ///
  /// - Parameter returned: the columns of `input`'s rows that the statement needs; nil for all.
  func insertions(
    _ write: WriteStorage, into table: SQLFragment, returning returned: [String]?,
    _ field: SelectionCompiler.CollectedField, _ compiler: SelectionCompiler, _ scope: Scope
  ) throws(GraphQLError) -> Insertions {
    var insertions = Insertions()
    guard let (definition, value) = scope.arguments["input"] else { return insertions }
    let position = field.field.position
    let given = field.field.arguments.first { $0.name.text == "input" }?.value.content
    let isOne = if case .object? = given { true } else { false }
    let rows = Self.rows(value, at: ["input"], isList: !isOne)
    var target = InsertTarget(
      table: table, name: write.table?.lastName ?? "", type: write.target, rule: nil,
      input: schema[definition.type.namedType], returned: returned)
    // A row may refer to one of another part.
    let references = references(of: rows, target, scope)
    let returned = returned.map {
      Self.union($0, references.flatMap { $0.names(in: write.target) })
    }
    target.returned = returned
    let names = try insert(
      rows, target, compiler, scope, at: position,
      &insertions,
      conflict: { conflict(write, $0, compiler, scope) })
    if names.count > 1 {
      insertions.writtenCount = names.count { insertions.needed.contains($0) }
      let rows = names.map { name -> SQLFragment in
        let columns = returned.map {
          $0.map { "\(name: name).\(name: $0)" }.joined(separator: ", ")
        }
        return "SELECT \(columns ?? "*") FROM \(name: name)"
      }
      insertions.parts.append(
        Insertions.Part(name: Insertions.written, text: rows.joined(separator: " UNION ALL ")))
    }
    return insertions
  }

  /// Returns names without those that name a column again.
  static func union(_ names: [String], _ others: [String]) -> [String] {
    var known: Set<String> = []
    return (names + others).filter { known.insert(SQLQuoting.catalogName($0)).inserted }
  }

  private static func rows(
    _ value: ArgumentValue?, at path: [String], isList: Bool = true
  ) -> [GivenRow] {
    if case .list(let items)? = value {
      return items.enumerated().map { index, item in
        GivenRow(value: item, path: isList ? path + [String(index)] : path)
      }
    }
    return value.map { $0.isNull ? [] : [GivenRow(value: $0, path: path)] } ?? []
  }

  /// Adds the inserts of rows, and returns the names of the parts that they are.
  ///
  /// - Parameter conflict: what is done with rows of these columns that are there already; nil in rows
  ///   inside of others.
  private func insert(
    _ rows: [GivenRow], _ target: InsertTarget, _ compiler: SelectionCompiler, _ scope: Scope,
    at position: Position, _ insertions: inout Insertions,
    conflict: (([String]) -> SQLFragment?)? = nil
  ) throws(GraphQLError) -> [String] {
    insertions.rowCount += rows.count
    let isTop = conflict != nil
    guard insertions.rowCount <= limits.maximumInsertedRows else {
      throw refusal(
        "At most \(limits.maximumInsertedRows) rows can be inserted at once, not "
          + "\(insertions.rowCount)\(isTop ? "" : " or more").", position)
    }
    insertions.rows += rows.map { written($0, target, scope) }
    var groups: [[GivenRow]] = []
    var isOpen = false
    for row in rows {
      let isAlone = !nested(in: row, of: target).isEmpty
      if isAlone || !isOpen { groups.append([row]) } else { groups[groups.count - 1].append(row) }
      isOpen = !isAlone
    }
    if groups.isEmpty { groups = [[]] }
    var names: [String] = []
    for group in groups {
      var target = target
      let inner = group.first.map { nested(in: $0, of: target) } ?? []
      for (member, insert, rows) in inner where insert.isFirst {
        let name = try self.insert(
          rows, of: member, insert, returning: insert.columns.map(\.from), [], compiler, scope,
          at: position, &insertions
        ).first
        guard let name else { continue }
        insertions.needed.append(name)
        target.given += insert.columns.map {
          ($0.set, "(SELECT \(name: name).\(name: $0.from) FROM \(name: name))")
        }
      }
      let name =
        isTop && groups.count == 1 ? Insertions.written : "inserted\(insertions.parts.count + 1)"
      let followers = inner.filter { !$0.insert.isFirst }
      let needed = followers.flatMap { $0.insert.columns.map(\.from) }
      let references = references(of: group, target, scope)
      target.returned = target.returned.map {
        Self.union($0, needed + references.flatMap { $0.names(in: target.type) })
      }
      insertions.parts.append(
        Insertions.Part(
          name: name,
          text: try insertion(group, target, compiler, scope, at: position, conflict: conflict)))
      names.append(name)
      if let rule = target.rule {
        insertions.rules.append((name, rendered(rule, of: name, compiler, scope)))
      }
      insertions.references += references.map {
        refusal(
          $0, of: name, among: isTop ? Insertions.written : name, target.type, in: target.name,
          compiler, scope)
      }
      if !followers.isEmpty { insertions.needed.append(name) }
      for (member, insert, rows) in followers {
        _ = try self.insert(
          rows, of: member, insert, returning: [],
          insert.columns.map {
            ($0.set, "(SELECT \(name: name).\(name: $0.from) FROM \(name: name))")
          }, compiler,
          scope, at: position, &insertions)
      }
    }
    return names
  }

  private func references(
    of rows: [GivenRow], _ target: InsertTarget, _ scope: Scope
  ) -> [CheckedReference] {
    target.type.map {
      mapping.checkedReferences(of: $0) {
        WrittenRow.columns(of: rows.map { written($0, target, scope) })
      }
    } ?? []
  }

  private func written(
    _ row: GivenRow, _ target: InsertTarget, _ scope: Scope
  ) -> WrittenRow {
    let place = scope.place(ofArgument: "input")
    if case .rows(let list, let names) = row.value {
      return WrittenRow(
        path: row.path, table: target.name,
        values: target.members.filter { names.contains($0.name) }.compactMap { member in
          mapping.written(
            .scalars(.each(list, member.name), values: []), to: member, of: target.input, place)
        }, list: list)
    }
    return WrittenRow(
      path: row.path, table: target.name,
      values: target.members.compactMap { member in
        row.value[member.name].flatMap {
          mapping.written($0, to: member, of: target.input, place)
        }
      })
  }

  /// Adds the inserts of the rows in a member of another row.
  private func insert(
    _ rows: [GivenRow], of member: InputValueDefinition, _ insert: NestedInsert,
    returning returned: [String], _ given: [(String, SQLFragment)], _ compiler: SelectionCompiler,
    _ scope: Scope, at position: Position, _ insertions: inout Insertions
  ) throws(GraphQLError) -> [String] {
    if rows.isEmpty { return [] }
    return try self.insert(
      rows,
      InsertTarget(
        table: compiler.renderer.render(insert.table, scope, isNoted: false),
        name: insert.table.lastName, type: insert.type, rule: insert.rule,
        input: schema[member.type.namedType],
        returned: insert.rule == nil ? returned : nil, given: given), compiler, scope, at: position,
      &insertions)
  }

  /// Returns the members of a row that are rows themselves.
  private func nested(
    in row: GivenRow, of target: InsertTarget
  ) -> [(member: InputValueDefinition, insert: NestedInsert, rows: [GivenRow])] {
    target.members.compactMap { member in
      guard let insert = mapping.nestedInsert(of: member) else { return nil }
      let rows = Self.rows(row.value[member.name], at: row.path + [member.name])
      return rows.isEmpty ? nil : (member, insert, rows)
    }
  }

  /// Returns the insert of rows of which none but a single one has others inside.
  private func insertion(
    _ rows: [GivenRow], _ target: InsertTarget, _ compiler: SelectionCompiler, _ scope: Scope,
    at position: Position, conflict: (([String]) -> SQLFragment?)?
  ) throws(GraphQLError) -> SQLFragment {
    let given = target.members.filter { member in
      mapping.nestedInsert(of: member) == nil && rows.contains { $0.has(member.name) }
    }
    let own = given.map { SQLQuoting.quoted(WriteStorage.column(of: $0)) }
    let columns = own + target.given.map(\.column)
    if let twice = columns.indices.first(where: { columns[..<$0].contains(columns[$0]) }) {
      throw refusal(
        "\(target.input.name) gives the column \(columns[twice]) two values: leave out one of them.",
        position)
    }
    var text: SQLFragment = "INSERT INTO \(target.table) AS target "
    if rows.isEmpty {
      text.append("SELECT WHERE false")
    } else if columns.isEmpty {
      // VALUES has no rows without columns: one row of defaults is what SQL can say.
      guard rows.count == 1 else {
        throw refusal("Several rows of defaults alone cannot be inserted at once.", position)
      }
      text.append("DEFAULT VALUES")
    } else if case .rows(let list, _)? = rows.first?.value {
      let names = columns.map { SQLFragment(name: $0) }.joined(separator: ", ")
      text.append("(\(names)) \(selected(given, of: list, target, compiler, scope))")
    } else {
      let lines = rows.map { row -> SQLFragment in
        let values = given.map { member in
          self.value(
            row.value[member.name], member, of: target.input, compiler,
            scope.place(ofArgument: "input"))
        }
        return "(\((values + target.given.map(\.value)).joined(separator: ", ")))"
      }
      let names = columns.map { SQLFragment(name: $0) }.joined(separator: ", ")
      text.append("(\(names)) VALUES \(lines.joined(separator: ", "))")
    }
    if !rows.isEmpty, !columns.isEmpty, let conflict = conflict?(columns) { text.append(conflict) }
    if let returned = target.returned {
      if !returned.isEmpty {
        text.append(" RETURNING \(returned.map { "target.\(name: $0)" }.joined(separator: ", "))")
      }
    } else {
      text.append(" RETURNING target.*")
    }
    return text
  }

  /// Returns a query of rows whose members are arrays, in their order:
  ///
  ///     SELECT given.c1, given.c2::mood FROM unnest($1::text[], $2::text[]) AS given (c1, c2)
  private func selected(
    _ members: [InputValueDefinition], of list: InputSource, _ target: InsertTarget,
    _ compiler: SelectionCompiler, _ scope: Scope
  ) -> SQLFragment {
    let place = scope.place(ofArgument: "input")
    let arrays = members.map { member in
      compiler.renderer.text(
        of: .scalars(.each(list, member.name), values: []), member.type, isSplice: false
      ) { InputPlace("\(target.input.name).\(member.name)", place.position) }
    }
    let names = members.indices.map { "c\($0 + 1)" }
    let values = zip(members, names).map { member, name -> SQLFragment in
      let type = member.appliedDirectives.first(named: "column")?.string("type")
      return type.map { "given.\(name: name)::\(name: $0)" } ?? "given.\(name: name)"
    }
    return """
      SELECT \(values.joined(separator: ", ")) FROM unnest(\(arrays.joined(separator: ", "))) \
      AS given (\(name: names.joined(separator: ", ")))
      """
  }

  private func refusal(_ message: String, _ position: Position) -> GraphQLError {
    GraphQLError(message, locations: [reader.source.location(of: position)], code: .badUserInput)
  }
}
