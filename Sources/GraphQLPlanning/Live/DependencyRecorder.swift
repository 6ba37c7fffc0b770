import GraphQLSchema
import SQL

/// Records the reads of a statement while it is compiled, as the dependencies of its result.
///
/// Each table is tracked as narrowly as its reads are known: by the viewer, by an argument, or by a
/// column of a row of the result. The value of such a column is selected in an additional column.
/// Otherwise all changes of the table are tracked.
final class DependencyRecorder {
  private let catalog: LiveCatalog
  private(set) var plan = LiveDependencies()
  private var texts: [String: SQLDependencies] = [:]

  init(_ catalog: LiveCatalog) {
    self.catalog = catalog
    if !catalog.reportsChanges { gap("", "this database reports no changes") }
  }

  /// The source of a value, and its reader.
  private enum Value {
    case viewer
    case column(RowBuilder, SQLFragment)
  }

  private func reads(_ template: SQLTemplate) -> SQLDependencies {
    if let known = texts[template.source] { return known }
    let reads = SQLDependencies(template.source)
    texts[template.source] = reads
    return reads
  }

  // MARK: What is read

  /// Records an expression or a condition.
  func note(_ template: SQLTemplate, _ scope: Scope, _ renderer: TemplateRenderer) {
    let found = catalog.reads(reads(template), { Self.operand($0) })
    note(found, scope) { self.value($0, scope, renderer) }
  }

  /// Records a FROM item.
  ///
  /// - Parameters:
  ///   - alias: the word for its rows in conditions.
  ///   - conditions: the conditions that its rows satisfy.
  func note(
    from template: SQLTemplate, as alias: String, where conditions: [SQLTemplate?],
    _ scope: Scope, _ renderer: TemplateRenderer
  ) {
    var found = catalog.reads(
      reads(template), { Self.operand($0) }, isBase: { $0.isFirst })
    found.reads = Set(
      found.reads.map { read in
        var read = read
        if read.isBase { read.equalities += equalities(of: alias, in: conditions) }
        return read
      })
    note(found, scope) { self.value($0, scope, renderer) }
  }

  /// Records the rows of a type.
  ///
  /// - Parameters:
  ///   - id: the key of the one row that is read, which the row `holder` contains; nil if unknown.
  ///   - conditions: the conditions that the rows satisfy, as `this`.
  ///   - row: the row that each of them is in the result; nil if they are only counted.
  func note(
    rows table: TableStorage, _ name: SQLTemplate, id: SQLFragment? = nil,
    in holder: RowBuilder?, where conditions: [SQLTemplate?], each row: RowBuilder?,
    _ scope: Scope, _ renderer: TemplateRenderer
  ) {
    var found = catalog.reads(
      reads(name), { Self.operand($0) }, isBase: { $0.isFirst })
    let own = equalities(of: "this", in: conditions)
    let key = SQLQuoting.catalogName(table.key)
    let idValue = id.flatMap { id in holder.map { Value.column($0, id) } }
    /// Returns the value of an operand that is a column of the rows, known before they are read.
    func value(_ operand: LiveCatalog.Operand) -> Value? {
      guard case .base(let column) = operand else { return self.value(operand, scope, renderer) }
      if column == key, let idValue { return idValue }
      for equality in own where equality.column == column {
        if let value = self.value(equality.operand, scope, renderer) { return value }
      }
      return nil
    }
    for read in found.reads where read.isBase {
      found.reads.remove(read)
      var read = read
      read.equalities += own
      let sources = catalog.sources(of: read.relation, by: key)
      if let idValue, !sources.isEmpty {
        for source in sources { add(source, idValue) }
        continue
      }
      guard !sources.isEmpty, noteNarrow(read, value) else {
        noteAll(read.relation, scope.coordinate)
        continue
      }
      // New and deleted rows are reported by their parents, changes of a row by the row itself.
      if let row {
        let id = Value.column(row, "\(name: row.alias).\(name: table.key)")
        for source in sources { add(source, id) }
      }
    }
    note(found, scope, value)
  }

  /// Records a table joined to the row.
  func note(_ join: JoinStorage, _ scope: Scope, _ renderer: TemplateRenderer) {
    note(from: join.table, as: join.name, where: [join.on], scope, renderer)
  }

  /// Records a dependency that cannot be determined.
  func noteOpaque(_ reason: String, _ scope: Scope) { gap(scope.coordinate, reason) }

  // MARK: Keys

  private func note(
    _ found: LiveCatalog.Reads, _ scope: Scope, _ value: (LiveCatalog.Operand) -> Value?
  ) {
    for unknown in found.unknown {
      switch unknown {
      case .passing(let name):
        gap(scope.coordinate, "it calls \(name)(), whose value changes with time")
      case .opaque(let name):
        gap(scope.coordinate, "the dependencies of \(name) cannot be determined")
      }
    }
    for read in found.reads where !noteNarrow(read, value) {
      noteAll(read.relation, scope.coordinate)
    }
  }

  private func gap(_ coordinate: String, _ reason: String, of relation: String? = nil) {
    let gap = LiveDependencies.UntrackedDependency(
      coordinate: coordinate, reason: reason, relation: relation)
    if !plan.untracked.contains(gap) { plan.untracked.append(gap) }
  }

  private func noteNarrow(
    _ read: LiveCatalog.Read, _ value: (LiveCatalog.Operand) -> Value?
  ) -> Bool {
    for equality in read.equalities {
      let sources = catalog.sources(of: read.relation, by: equality.column)
      if !sources.isEmpty, let value = value(equality.operand) {
        for source in sources { add(source, value) }
        return true
      }
    }
    return false
  }

  private func noteAll(_ relation: String, _ coordinate: String) {
    let sources = catalog.sources(of: relation)
    if sources.isEmpty {
      gap(coordinate, "changes of \(relation) are not reported", of: relation)
    }
    for source in sources {
      for topic in source.topics {
        plan.patterns.insert(LiveDependencies.Pattern(topic: topic, tags: source.tags))
      }
    }
  }

  private func add(_ source: LiveCatalog.Source, _ value: Value) {
    if let topic = source.unknownTopic {
      plan.patterns.insert(LiveDependencies.Pattern(topic: topic, tags: nil))
    }
    for name in source.topics {
      let topic = LiveDependencies.Topic(name: name, isNode: source.isNode, isOwn: source.isOwn)
      switch value {
      case .viewer: plan.viewerTopics.insert(topic)
      case .column(let row, let text):
        let index = plan.topics.firstIndex(of: topic) ?? plan.topics.count
        if index == plan.topics.count { plan.topics.append(topic) }
        let key = catalog.hasTextKeys ? "(\(text))::text" : text
        row.keep(LiveColumn(column: row.column(key), topic: index))
      }
    }
  }

  // MARK: Values

  private func equalities(
    of alias: String, in conditions: [SQLTemplate?]
  ) -> [LiveCatalog.Read.Equality] {
    conditions.compactMap(\.self).flatMap { reads($0).conditions }.filter { $0.alias == alias }
      .compactMap { equality in
        Self.operand(equality.operand).map {
          LiveCatalog.Read.Equality(column: equality.column, operand: $0)
        }
      }
  }

  private static func operand(_ operand: SQLDependencies.Operand) -> LiveCatalog.Operand? {
    switch operand {
    case .variable(let path): .variable(path)
    case .column(let alias, let column): .column(alias, column)
    case .name: nil
    }
  }

  /// Returns a column of a row by its name in the catalog.
  private static func text(_ row: RowBuilder, _ column: String) -> SQLFragment {
    "\(name: row.alias).\(name: SQLQuoting.name(column))"
  }

  /// Returns the value of an operand; nil if it is not known before rows are read that may not be
  /// in the result.
  private func value(
    _ operand: LiveCatalog.Operand, _ scope: Scope, _ renderer: TemplateRenderer
  ) -> Value? {
    if case .variable(["viewer"]) = operand { return catalog.hasTextKeys ? nil : .viewer }
    // What is not in the result has no column there.
    if scope.isAsked { return nil }
    switch operand {
    case .variable(["viewer"]): return .viewer
    case .variable(let path):
      guard let row = scope.parent ?? scope.row,
        renderer.isKey(path, scope, ofAnyType: catalog.hasTextKeys)
      else { return nil }
      var text = SQLFragment()
      renderer.append(.variable(path, isSplice: false), to: &text, scope)
      return .column(row, text)
    case .column("parent", let column):
      guard let parent = scope.parent, !parent.alias.isEmpty else { return nil }
      return .column(parent, Self.text(parent, column))
    case .column("this", let column):
      guard let row = scope.row, !row.alias.isEmpty,
        scope.parent == nil || scope.parent === row
      else { return nil }
      return .column(row, Self.text(row, column))
    case .column, .base, .parameter: return nil
    }
  }
}

extension TemplateRenderer {
  /// Returns whether a variable is an argument whose value is one ID, or one scalar of any type.
  fileprivate func isKey(_ path: [String], _ scope: Scope, ofAnyType: Bool) -> Bool {
    let found =
      path[0] == "value"
      ? scope.value?.definition
      : (scope.arguments[path[0]] ?? scope.outerArguments[path[0]])?.definition
    guard var type = found?.type else { return false }
    for step in path.dropFirst() {
      guard let field = mapping.schema[type.namedType].inputField(named: step) else { return false }
      type = field.type
    }
    if case .list = type.nullable { return false }
    if ofAnyType, case .scalar = mapping.schema[type.namedType].kind { return true }
    return mapping.parameterType(of: type.namedType) == .id
  }
}
