import SQL

/// The properties of a database from which the dependencies of a result follow: its tables, what
/// its functions read, and how changes are reported.
///
/// Functions are read as text (`SQLDependencies`): they may read what they mention. Only rows that
/// equal the viewer, an argument or a column of the current row are dependencies. A query with a
/// dependency that cannot be tracked cannot be live.
package struct LiveCatalog: Sendable {
  /// The way in which changes of a table's rows are reported, by a line of the view `live_source`.
  package struct Source: Sendable, Hashable {
    package let relation: String
    /// The column whose values touches have, before and after the change; nil if touches report all
    /// changes of the table.
    package let attribute: String?
    package let topics: [String]
    /// The tags of the nodes of these touches; nil for any.
    package let tags: [Int]?
    /// Whether the column's values are the nodes of touches, not their keys.
    package let isNode: Bool
    /// Whether only the viewer whose ID is the column's value may learn of these touches.
    package let isOwn: Bool
    /// The topic of changes of rows whose former value in the column is not known; nil if there are
    /// none.
    package var unknownTopic: String?

    package init(
      relation: String, attribute: String?, topics: [String], tags: [Int]?, isNode: Bool,
      isOwn: Bool = false
    ) {
      self.relation = relation
      self.attribute = attribute
      self.topics = topics
      self.tags = tags
      self.isNode = isNode
      self.isOwn = isOwn
    }
  }

  /// A function, or a view, which has no parameters.
  package struct Routine: Sendable {
    package let name: String
    package let parameters: [String]
    package let text: String
    /// The table whose rows it returns.
    package let result: String?
    package let isView: Bool
    /// Whether its text is not SQL.
    package let isForeign: Bool
    /// Whether its result depends on its arguments alone.
    package let isImmutable: Bool

    package init(
      name: String, parameters: [String], text: String, result: String?, isView: Bool,
      isForeign: Bool, isImmutable: Bool
    ) {
      self.isView = isView
      self.name = name
      self.parameters = parameters
      self.text = text
      self.result = result
      self.isForeign = isForeign
      self.isImmutable = isImmutable
    }
  }

  enum Operand: Hashable {
    case variable([String])
    case column(String, String)
    /// A column of the row that the routine returns.
    case base(String)
    case parameter(Int)
  }

  /// Rows of a table that are read: those whose columns equal all of these.
  struct Read: Hashable {
    let relation: String
    var equalities: [Equality]
    /// Whether these are the rows that are returned.
    var isBase: Bool

    struct Equality: Hashable {
      let column: String
      let operand: Operand
    }
  }

  enum Unknown: Hashable {
    /// The result changes with time.
    case passing(String)
    /// The dependencies cannot be determined.
    case opaque(String)
  }

  struct Reads {
    var reads: Set<Read> = []
    var unknown: Set<Unknown> = []
  }

  private let relations: Set<String>
  private let views: Set<String>
  private let passing: Set<String>
  private let sources: [String: [Source]]
  /// Whether changes of tables are reported at all.
  let reportsChanges: Bool
  /// Whether the keys of changes are `LiveKey`s of values of any type, and not IDs.
  let hasTextKeys: Bool
  private var known: [String: Reads] = [:]
  private var results: [String: String] = [:]

  /// - Parameters:
  ///   - volatile: functions of PostgreSQL whose results change with time.
  ///   - hasTextKeys: whether the keys of changes are made of texts by `LiveKey`.
  package init(
    relations: Set<String>, routines: [Routine], volatile: Set<String>, sources: [Source],
    hasTextKeys: Bool = false
  ) {
    self.relations = relations
    self.hasTextKeys = hasTextKeys
    reportsChanges = true
    passing = volatile.union(Self.timely)
    self.sources = Dictionary(grouping: sources, by: \.relation)
    views = Set(routines.filter(\.isView).map(\.name))
    let routines = Dictionary(grouping: routines, by: \.name)
    for name in routines.keys { _ = reads(of: name, routines, within: []) }
  }

  /// The catalog of a database that reports no changes: nothing can be tracked.
  package static let silent = LiveCatalog()

  private init() {
    (relations, views, passing, sources) = ([], [], [], [:])
    (reportsChanges, hasTextKeys) = (false, false)
  }

  /// The functions whose result is stable within a transaction but changes with time, such as its
  /// start.
  private static let timely: Set<String> = words.union([
    "now", "transaction_timestamp", "statement_timestamp", "age", "pg_current_snapshot",
    "txid_current_snapshot",
  ])
  /// The functions without brackets.
  private static let words: Set<String> = [
    "current_date", "current_time", "current_timestamp", "localtime", "localtimestamp",
  ]

  private mutating func reads(
    of name: String, _ routines: [String: [Routine]], within outer: Set<String>
  ) -> Reads {
    if let known = known[name] { return known }
    var found = Reads()
    guard !outer.contains(name) else {
      found.unknown.insert(.opaque(name))
      return found
    }
    for routine in routines[name] ?? [] where !routine.isImmutable {
      let text = SQLDependencies(routine.text)
      if routine.isForeign || text.isOpaque {
        found.unknown.insert(.opaque(name))
        continue
      }
      for mention in text.mentions where isRoutine(mention) && routines[mention.name] != nil {
        _ = reads(of: mention.name, routines, within: outer.union([name]))
      }
      let first = text.mentions.first { $0.isFirst }
      let base = first.flatMap { self.result(of: $0) }
      var isBase = false
      if let base {
        isBase = text.givesFirst ? routine.result ?? base == base : routine.result == base
        if isBase { results[name] = base }
      }
      let own = reads(text) { operand in
        switch operand {
        case .variable(let path): return .variable(path)
        case .column(let alias, let column):
          if alias == name, let place = routine.parameters.firstIndex(of: column) {
            return .parameter(place)
          }
          return isBase && alias == first?.alias ? .base(column) : .column(alias, column)
        case .name(let word):
          return routine.parameters.firstIndex(of: word).map { .parameter($0) }
        }
      } isBase: {
        isBase && $0.isFirst
      }
      found.reads.formUnion(own.reads)
      found.unknown.formUnion(own.unknown)
    }
    known[name] = found
    return found
  }

  private func isRoutine(_ mention: SQLDependencies.Mention) -> Bool {
    mention.isCall || views.contains(mention.name)
  }

  /// Returns the table whose rows have the name of a mention.
  private func result(of mention: SQLDependencies.Mention) -> String? {
    if isRoutine(mention) { return results[mention.name] }
    return relations.contains(mention.name) ? mention.name : nil
  }

  /// Returns the table whose rows a FROM item is, or returns.
  func result(of text: SQLDependencies) -> String? {
    text.mentions.first { $0.isFirst }.flatMap { result(of: $0) }
  }

  /// Returns the reads of a text and of the routines that it calls.
  ///
  /// - Parameter isBase: returns whether a mention's rows are those that the text returns.
  func reads(
    _ text: SQLDependencies, _ meaning: (SQLDependencies.Operand) -> Operand?,
    isBase: (SQLDependencies.Mention) -> Bool = { _ in false }
  ) -> Reads {
    var found = Reads()
    if text.isOpaque { found.unknown.insert(.opaque("it")) }
    for mention in text.mentions {
      let equalities = mention.equalities.compactMap { equality in
        meaning(equality.operand).map { Read.Equality(column: equality.column, operand: $0) }
      }
      let base = isBase(mention)
      if !mention.isCall, relations.contains(mention.name) {
        found.reads.insert(Read(relation: mention.name, equalities: equalities, isBase: base))
        continue
      }
      guard isRoutine(mention), let called = known[mention.name] else {
        if passing.contains(mention.name), mention.isCall || Self.words.contains(mention.name) {
          found.unknown.insert(.passing(mention.name))
        }
        continue
      }
      found.unknown.formUnion(called.unknown)
      for var read in called.reads {
        read.equalities = read.equalities.compactMap { equality in
          let operand: Operand?
          switch equality.operand {
          case .parameter(let place):
            operand =
              mention.arguments.indices.contains(place)
              ? mention.arguments[place].flatMap(meaning) : nil
          case .base(let column): operand = meaning(.column(mention.alias, column))
          case .variable, .column: operand = nil
          }
          return operand.map { Read.Equality(column: equality.column, operand: $0) }
        }
        if read.isBase { read.equalities += equalities }
        read.isBase = read.isBase && base
        found.reads.insert(read)
      }
    }
    return found
  }

  /// Returns the sources that report changes of rows by the values of a column; empty if none does.
  func sources(of relation: String, by column: String) -> [Source] {
    (sources[relation] ?? []).filter { $0.attribute == column }
  }

  /// Returns the sources that report all changes of a table; empty if none does.
  func sources(of relation: String) -> [Source] {
    (sources[relation] ?? []).filter { $0.attribute == nil }
  }
}
