import SQL

/// A table with its type, as it is drafted: first its columns, then its relationships.
struct DraftedTable {
  let relation: DraftCatalog.Relation
  let type: String
  private let derived: DerivedNames
  /// The unique key by which rows are ordered and found; nil for a relation without one.
  let key: [DraftCatalog.Column]?
  private(set) var fields: [DraftedMember] = []
  private var names: NamePool
  /// The fields of columns, by the columns' numbers.
  private(set) var columnFields: [Int: String] = [:]
  private var forms: [Int: LeafForm] = [:]
  /// The references of columns, each behind the field of its column.
  private var references: [Int: [DraftedMember]] = [:]

  /// The interface of objects with an ID, and the type's tag; nil if its rows have none.
  let node: DraftedNode?
  /// The names of an earlier draft, by what the fields read.
  private var known: KnownNames

  init(
    _ relation: DraftCatalog.Relation, type: String, inputs: DerivedNames,
    _ forms: LeafForms, node: DraftedNode?, names known: KnownNames
  ) {
    self.known = known
    var others = known
    others.forget { $0 == DraftedNode.fieldKey }
    let hasID = others.all.contains(DraftedNode.id)
    self.node = hasID || Self.key(of: relation) == nil ? nil : node
    derived = inputs
    names = NamePool(reserved: known.all)
    self.relation = relation
    self.type = type
    key = Self.key(of: relation)
    let plain = Set(relation.columns.map { Words($0.name).camel })
    // A type with both is taken for the element of a page.
    if plain.contains("cursor"), plain.contains("node") { names.reserve("cursor") }
    if self.node != nil { names.reserve(DraftedNode.id) }
    // The filters of groups have conditions of these names next to the columns.
    if inputs.aggregates != nil { for name in ["and", "or", "not"] { names.reserve(name) } }
    for column in relation.columns { addColumn(column, forms.form(of: column)) }
  }

  private mutating func addColumn(_ column: DraftCatalog.Column, _ form: LeafForm) {
    let plain = Words(column.name).camel
    let isName = Words.isName(column.name)
    let own = isName ? column.name : plain
    let name =
      known.take(FieldKey.column(column.sqlName))
      ?? names.take([plain, own] + (plain == DraftedNode.id ? ["rowId"] : []) + [plain + "Column"])
    columnFields[column.number] = name
    forms[column.number] = form
    var directives: [String] = []
    if let cast = form.readCast {
      directives = [
        DraftedDirective.text("sql", [("expression", "this.\(column.sqlName)\(cast)")])
      ]
    } else {
      let collation = column.hasLooseCollation && !form.type.hasPrefix("[") ? #""und-x-icu""# : nil
      directives = Self.directives(
        column, named: name, [("type", form.narrowType), ("collation", collation)])
    }
    fields.append(
      DraftedMember(
        name: name, description: DraftedDescription.text(ofComment: column.comment),
        type: form.type + (column.isNotNull ? "!" : ""), directives: directives))
  }

  /// Returns the directive of a field that is a column; none if the name tells all.
  private static func directives(
    _ column: DraftCatalog.Column, named name: String, _ more: [(name: String, value: String?)] = []
  ) -> [String] {
    let isNamed = SQLQuoting.snakeCase(name) != column.name || column.sqlName != column.name
    let arguments = [("name", isNamed ? column.sqlName : nil)] + more
    guard arguments.contains(where: { $0.1 != nil }) else { return [] }
    return [DraftedDirective.text("column", arguments)]
  }

  /// The columns of the key, as a page's order has them.
  var order: String? {
    key.map { $0.map { "this.\($0.sqlName)" }.joined(separator: ", ") }
  }

  func form(of column: DraftCatalog.Column) -> LeafForm? { forms[column.number] }

  /// The type, with its fields in their order.
  var definition: DraftedDefinition {
    let ordered = relation.columns.flatMap { column -> [DraftedMember] in
      let field = columnFields[column.number].flatMap { name in
        fields.first { $0.name == name }
      }
      return [field].compactMap { $0 } + (references[column.number] ?? [])
    }
    let id = node.map { _ in
      DraftedMember(
        name: DraftedNode.id, description: DraftedNode.text, type: "ID!", directives: ["@id"])
    }
    let rest = fields.dropFirst(relation.columns.count)
    let columns = key?.map(\.sqlName).joined(separator: ", ")
    return DraftedDefinition(
      keyword: "type", name: type,
      description: DraftedDescription.text(ofComment: relation.comment),
      interfaces: node.map { [$0.interface] } ?? [],
      directives: (node.map { ["@tag(id: \($0.tag))"] } ?? []) + [
        DraftedDirective.text("table", [("name", relation.sqlName), ("key", columns)])
      ], members: [id].compactMap { $0 } + ordered + rest)
  }

  // MARK: - Filters and orders

  /// Whether clients can choose an order: there is a key, which ends it, and a column to begin with.
  private var isSorted: Bool {
    key != nil
      && relation.columns.contains { column in
        forms[column.number].map { $0.readCast == nil && $0.isSorted } ?? false
      }
  }

  /// The inputs of the filter and the order, and the aggregates, whose members are added when the
  /// schema is loaded.
  var inputs: [DraftedDefinition] {
    func made(_ keyword: String, _ name: String, _ directive: String) -> DraftedDefinition {
      DraftedDefinition(
        keyword: keyword, name: name,
        directives: [DraftedDirective.text(directive, [("of", type)])])
    }
    var definitions = [made("input", derived.filter, "filter")]
    if isSorted { definitions.append(made("input", derived.order, "order")) }
    // Rows without a key have no connection.
    if let aggregates = derived.aggregates, key != nil {
      definitions.append(made("type", aggregates, "aggregates"))
    }
    return definitions
  }

  /// The arguments of a field with rows of the table.
  var rowArguments: [String] {
    ["filter: \(derived.filter)"] + (isSorted ? ["orderBy: [\(derived.order)!]"] : [])
  }

  /// The order of pages, if it has to be written: the key is the order of what has an `orderBy`.
  var writtenOrder: String? { isSorted ? nil : order }

  // MARK: - Writing

  /// A column as a member of an input.
  struct WrittenColumn {
    let column: DraftCatalog.Column
    let name: String
    let type: String
    let directives: [String]

    func member(isRequired: Bool) -> DraftedMember {
      DraftedMember(
        name: name, description: DraftedDescription.text(ofComment: column.comment),
        type: type + (isRequired ? "!" : ""), directives: directives)
    }
  }

  /// Returns the columns that satisfy a condition and whose values can be given.
  func written(where condition: (DraftCatalog.Column) -> Bool) -> [WrittenColumn] {
    relation.columns.filter(condition).compactMap { column in
      guard let form = forms[column.number], let name = columnFields[column.number] else {
        return nil
      }
      var directives = Self.directives(column, named: name)
      if form.readCast != nil {
        guard let type = form.writtenType else { return nil }
        directives = [
          DraftedDirective.text("column", [("name", column.sqlName), ("type", type)])
        ]
      }
      return WrittenColumn(column: column, name: name, type: form.type, directives: directives)
    }
  }

  // MARK: - Relationships

  /// A field by a foreign key, of this table or of another one.
  struct Link {
    let field: String
    /// The table that the field leads to.
    let table: UInt32
    let key: DraftCatalog.ForeignKey
    /// Whether the key is of this table.
    let isOwn: Bool
    let isList: Bool
  }

  private(set) var links: [Link] = []

  mutating func add(_ link: Link) { links.append(link) }

  mutating func add(_ field: DraftedMember) { fields.append(field) }

  /// Adds a reference behind the field of its column.
  mutating func add(_ field: DraftedMember, behind column: Int) {
    references[column, default: []].append(field)
  }

  /// Returns a field under the name that it had, or else the first that is free.
  mutating func named(
    _ candidates: [String], type: String, arguments: [String] = [], _ directive: String
  ) -> DraftedMember {
    let key = FieldKey.other(type: type, [directive])
    return DraftedMember(
      name: known.take(key) ?? names.take(candidates), arguments: arguments, type: type,
      directives: [directive])
  }

  // MARK: - Keys

  /// Returns the primary key, or else the shortest unique key in which no two rows can be equal, or
  /// of a view the columns that its comment names after `@primaryKey`.
  private static func key(of relation: DraftCatalog.Relation) -> [DraftCatalog.Column]? {
    let isView = relation.kind == .view || relation.kind == .materializedView
    let keys = relation.keys.map { key in (key, key.columns.compactMap { relation.column($0) }) }
    if let (_, columns) = keys.first(where: { key, columns in
      key.isPrimary || isView || !key.areNullsDistinct || columns.allSatisfy(\.isNotNull)
    }) {
      return columns
    }
    guard isView, let comment = relation.comment,
      let match = comment.firstMatch(of: #/(?:^|\n)\s*@primaryKey\s+([^\n]+)/#)
    else { return nil }
    let names = match.1.split { $0 == "," || $0 == " " }.map(String.init)
    let columns = names.compactMap { name in relation.columns.first { $0.name == name } }
    return columns.count == names.count && !columns.isEmpty ? columns : nil
  }
}

extension DraftCatalog.Column {
  /// The words of the name without `id` or the like at an end; nil if it has none.
  var referenceWords: Words? {
    let words = Words(name)
    if let shorter = words.dropping(["id", "ids", "fk", "uuid", "guid", "oid"]) { return shorter }
    guard words.words.count > 1, let first = words.words.first, ["fk", "id"].contains(first) else {
      return nil
    }
    return Words(Array(words.words.dropFirst()))
  }
}
