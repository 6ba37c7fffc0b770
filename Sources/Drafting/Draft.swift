import Postgres
import SQL

/// The SDL of a schema over existing tables, with the storage directives that serve it.
///
/// A draft is a function of the catalog: a file for each table, with its type and its fields of the
/// query type, and one for the scalars and enums. `sociograph draft` writes it, a person owns it.
package struct Draft {
  package private(set) var files: [DraftedFile]
  /// Remarks for the owner of the database, a line each.
  package let remarks: [String]

  /// The name of the file with the scalars, the enums and the query type.
  package static let typesFile = "types.graphql"

  /// Drafts a schema.
  ///
  /// - Parameters:
  ///   - history: the names of an earlier draft, which stay.
  ///   - mutations: whether rows can be written.
  ///   - anonymousWrites: whether clients without a session or a signed token may write them.
  ///   - nested: whether rows are inserted together with those that they refer to.
  ///   - aggregates: whether connections have the aggregates of their rows.
  ///   - nodes: whether rows with a key have an ID, by which the query type finds them.
  package init(
    _ catalog: DraftCatalog, history: NameHistory = NameHistory(), mutations: Bool = false,
    anonymousWrites: Bool = false, nested: Bool = false, aggregates: Bool = false,
    nodes: Bool = false
  ) {
    let relations = catalog.order.compactMap { oid in catalog.relations[oid].map { (oid, $0) } }
      .filter { !$0.1.columns.isEmpty }
    var names = TypeNames(relations, history, aggregates: aggregates, mutations: mutations)
    var writes = WriteFields(
      names: history.names(of: "Mutation"), isForAnonymous: anonymousWrites)
    if mutations { writes.reserve(relations, history, nested: nested, &names) }
    let interface = nodes ? history.interface ?? names.pool.take(["Node", "NodeObject"]) : ""
    var tag = history.greatestTag
    let forms = LeafForms(catalog, names: names.pool)
    var tables: [UInt32: DraftedTable] = [:]
    for (oid, relation) in relations {
      guard let type = names[oid], let inputs = names.inputs(of: oid) else { continue }
      tables[oid] = DraftedTable(
        relation, type: type, inputs: inputs, forms,
        node: nodes
          ? DraftedNode(interface: interface, tag: history.tag(of: type) ?? tag + 1) : nil,
        names: history.names(of: type))
      tag = max(tag, tables[oid]?.node?.tag ?? 0)
    }
    var relationships = Relationships(catalog, tables, history)
    relationships.addAll()
    tables = relationships.tables
    var queries = QueryFields(
      relations.compactMap { tables[$0.0] }, names: history.names(of: "Query"))
    var fileNames = NamePool(reserved: ["types"])
    var files: [DraftedFile] = []
    for (oid, relation) in relations {
      guard let table = tables[oid] else { continue }
      let stem = Self.fileStem(relation.name)
      let file = fileNames.take([stem, Self.fileStem("\(relation.namespace)_\(relation.name)")])
      var definitions = [table.definition] + table.inputs
      let fields = queries.fields(of: table)
      if !fields.isEmpty {
        definitions.append(
          DraftedDefinition(keyword: "extend type", name: "Query", members: fields))
      }
      if mutations { definitions += writes.definitions(of: table, oid, tables) }
      files.append(DraftedFile(name: file + ".graphql", definitions: definitions))
    }
    let hasNodes = tables.values.contains { $0.node != nil }
    let common =
      Self.common + (hasNodes ? DraftedNode.definitions(interface, queries.takeNode()) : [])
      + (writes.isEmpty ? [] : WriteFields.common)
    files.append(DraftedFile(name: Self.typesFile, definitions: common + forms.definitions))
    self.files = files
    remarks = relations.filter { !$0.1.isPopulated }.map {
      let name = ChangedName.now(in: $0.1.sqlName)
      return "\(name) cannot be read before REFRESH MATERIALIZED VIEW \(name)"
    }
  }

  /// Removes a field, or a type without fields of others, by its coordinate.
  ///
  /// - Returns: how to have it nevertheless, if that is known.
  package mutating func leaveOut(_ coordinate: String) -> String? {
    let parts = coordinate.split(separator: ".").map(String.init)
    guard parts.count > 1 else { return nil }
    let member = parts[1].prefix { $0 != "(" }
    // The fields of a connection are made from a type of aggregates, which has no members here.
    for file in files.indices {
      let count = files[file].definitions.count
      files[file].definitions.removeAll { definition in
        definition.aggregated.map {
          definition.name == parts[0]
            || $0 + "Connection" == parts[0] && ["aggregates", "groups"].contains(member)
        } ?? false
      }
      if files[file].definitions.count < count {
        return "a view of the columns that are to be counted has aggregates of its own"
      }
    }
    for file in files.indices {
      for place in files[file].definitions.indices
      where files[file].definitions[place].name == parts[0] {
        files[file].definitions[place].members.removeAll { $0.name == member }
      }
      files[file].definitions.removeAll { $0.isExtension && $0.members.isEmpty }
    }
    let definitions = files.flatMap(\.definitions)
    if !definitions.contains(where: { $0.isExtension && $0.name == "Mutation" }) {
      for file in files.indices {
        files[file].definitions.removeAll { $0.name == "Mutation" }
      }
    }
    return nil
  }

  /// Returns the name of a table's file, in lower case: two files whose names differ only in case
  /// are one in some file systems.
  private static func fileStem(_ name: String) -> String {
    let isPlain = name.utf8.allSatisfy { byte in
      byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
        || (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
    }
    return isPlain && name.utf8.count <= 63 && !name.hasPrefix("-")
      ? name
      : Words(name).words.joined(separator: "_").isEmpty
        ? "table" : Words(name).words.joined(separator: "_")
  }

  /// The definitions of every draft: the query type, whose fields are in the files of the tables,
  /// and the position of a page.
  private static let common = [
    DraftedDefinition(keyword: "type", name: "Query"),
    DraftedDefinition(
      keyword: "directive",
      name: "@defer(if: Boolean! = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT",
      description: "Delivers the fragment after the rest of the response."),
    DraftedDefinition(
      keyword: "directive",
      name: "@stream(if: Boolean! = true, label: String, initialCount: Int = 0) on FIELD",
      description: "Delivers the elements of the list in several parts."),
    DraftedDefinition(
      keyword: "directive", name: "@live(if: Boolean! = true, interval: Int) on QUERY",
      description:
        "Executes the query again at this interval in milliseconds, at least 10000, and sends the result if it has changed."
    ),
    DraftedDefinition(
      keyword: "type", name: "PageInfo", description: "The position of a page in its connection.",
      members: [
        DraftedMember(
          name: "hasNextPage", description: "Whether elements follow the page.", type: "Boolean!"),
        DraftedMember(
          name: "hasPreviousPage", description: "Whether elements precede the page.",
          type: "Boolean!"),
        DraftedMember(
          name: "startCursor",
          description: "The cursor of the first element of the page. Null if the page is empty.",
          type: "String"),
        DraftedMember(
          name: "endCursor",
          description: "The cursor of the last element of the page. Null if the page is empty.",
          type: "String"),
      ]),
  ]
}

/// The names of the types of tables: `Film` for `film`, `films` and `Films`.
struct TypeNames {
  /// The names of the specification, of every draft, and of what is added when a schema is loaded.
  var pool = NamePool(
    reserved: Set(
      [
        "Query", "Mutation", "Subscription", "PageInfo", "SortDirection", "RelationOrder",
        "TimeGrouping",
      ]
        + ["Int", "Float", "String", "Boolean", "ID"].flatMap { leaf in
          LeafForms.endings.map { leaf + $0 }
        }))
  private var inputs: [UInt32: DerivedNames] = [:]
  private var names: [UInt32: String] = [:]

  init(
    _ relations: [(UInt32, DraftCatalog.Relation)], _ history: NameHistory, aggregates: Bool,
    mutations: Bool
  ) {
    for definition in mutations ? WriteFields.common : [] { pool.reserve(definition.name) }
    for name in history.typeNames + history.madeNames { pool.reserve(name) }
    if let interface = history.interface { pool.reserve(interface) }
    let wanted = Set(relations.map { Words($0.1.name).singular.pascal })
    let main = relations.first?.1.namespace
    for (oid, relation) in relations {
      if let known = history.type(of: relation.sqlName) {
        names[oid] = known
        continue
      }
      let words = Words(relation.name)
      let name = words.singular.pascal
      var candidates = [name, words.pascal]
      if relation.namespace != main {
        candidates.append(Words("\(relation.namespace)_\(relation.name)").singular.pascal)
      }
      candidates.append(name + "Row")
      // The pages of a type have types with these endings.
      let isDerived = ["Connection", "Edge"].contains { ending in
        name.hasSuffix(ending) && wanted.contains(String(name.dropLast(ending.count)))
      }
      if isDerived { candidates = [name + "Row"] }
      names[oid] = pool.take(candidates)
    }
    for name in names.values {
      pool.reserve(name + "Connection")
      pool.reserve(name + "Edge")
    }
    // The names of types come before those of what is made for them.
    for (oid, _) in relations {
      guard let name = names[oid] else { continue }
      let filter = takeFilter(name, history.made(.filter, for: name))
      let order =
        history.made(.order, for: name) ?? pool.take([name + "Order", name + "OrderInput"])
      let known = history.made(.aggregates, for: name)
      inputs[oid] = DerivedNames(
        filter: filter, order: order, aggregates: aggregates ? takeAggregates(name, known) : nil)
    }
  }

  /// Returns a free name for a table's filter, of which the name of the filter of relations is free,
  /// too.
  private mutating func takeFilter(_ name: String, _ known: String?) -> String {
    func relation(_ filter: String) -> String {
      let stem = filter.hasSuffix("Filter") ? String(filter.dropLast("Filter".count)) : filter
      return stem + "RelationFilter"
    }
    let candidates = ["", "Input", "RowInput", "TableInput"].map { name + "Filter" + $0 }
    let filter = candidates.first { pool.isFree($0) && pool.isFree(relation($0)) }
    let taken = known ?? pool.take([filter ?? name + "FilterInput"])
    pool.reserve(relation(taken))
    return taken
  }

  /// Returns a free name for a table's aggregates, of which the names of its groups are free, too.
  private mutating func takeAggregates(_ name: String, _ known: String?) -> String? {
    if let known {
      let ending = "Aggregates"
      let stem = known.hasSuffix(ending) ? String(known.dropLast(ending.count)) : known
      for ending in DerivedNames.ofGroups { pool.reserve(stem + ending) }
      return known
    }
    let stem = [name, name + "Row", name + "Table"].first { stem in
      (DerivedNames.ofGroups + ["Aggregates"]).allSatisfy { pool.isFree(stem + $0) }
    }
    guard let stem else { return nil }
    for ending in DerivedNames.ofGroups { pool.reserve(stem + ending) }
    return pool.take([stem + "Aggregates"])
  }

  /// Returns the names of the types that are made for a table.
  func inputs(of oid: UInt32) -> DerivedNames? { inputs[oid] }

  subscript(oid: UInt32) -> String? { names[oid] }
}

/// The names of the types that are made for a table.
struct DerivedNames {
  let filter: String
  let order: String
  /// That of the aggregates; nil without them.
  var aggregates: String?

  /// The endings of the names of types that are made for groups.
  static let ofGroups = ["Group", "GroupKey", "GroupBy", "GroupFilter", "GroupOrder"]
}
