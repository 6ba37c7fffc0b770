import Postgres
import SQL

/// The form of a PostgreSQL type's values in the schema.
struct LeafForm {
  /// The type as SDL writes it, without `!`: `Int`, `[String]`.
  let type: String
  /// The cast with which a column is read; nil if it is read as it is.
  var readCast: String?
  /// The type that given values are cast to; nil if they have the column's type already.
  var writtenType: String?
  /// The column's type, if given values have a wider one: 0.1 as `float8` is not the 0.1 of `float4`.
  var narrowType: String?
  /// Whether values can be arguments of a lookup.
  var isArgument = true
  /// Whether rows can be in the order of the values.
  var isSorted = true
}

/// The scalars and enums of a draft, and which of them each PostgreSQL type has.
struct LeafForms {
  private struct Scalar {
    let name: String
    let sqlType: String
    let description: String?
  }

  private let catalog: DraftCatalog
  private var forms: [PostgresType: LeafForm] = [:]
  private var scalars: [PostgresType: Scalar] = [:]
  private var enums: [PostgresType: DraftedDefinition] = [:]
  private var names: NamePool

  /// - Parameter names: the names of types that are taken.
  init(_ catalog: DraftCatalog, names: NamePool) {
    self.catalog = catalog
    self.names = names
    // In the order of their names, so that the same database always has the same draft.
    let types = catalog.types.sorted {
      ($0.value.sqlName, $0.key.rawValue) < ($1.value.sqlName, $1.key.rawValue)
    }
    let used = usedTypes()
    for (type, _) in types where used.contains(type) { addForm(of: type) }
  }

  func form(of column: DraftCatalog.Column) -> LeafForm {
    var form = readForm(of: column)
    if form.readCast != nil { form.writtenType = catalog.types[column.type]?.sqlName }
    return form
  }

  private func readForm(of column: DraftCatalog.Column) -> LeafForm {
    let type = base(of: column.type)
    guard let entry = catalog.types[type] else { return Self.text }
    guard let element = entry.element else {
      guard var form = forms[type] else { return Self.text }
      // The operators of enums take no domain over one.
      if entry.kind == .enum, type != column.type {
        form.readCast = "::" + entry.sqlName
        form.isArgument = false
      }
      return form
    }
    // An array of more dimensions is no list of values.
    guard column.dimensions < 2 else { return Self.text }
    let single = base(of: element)
    guard let form = forms[single], catalog.types[single]?.element == nil else { return Self.text }
    let isDomain = type != column.type || single != element
    let name = catalog.types[single]?.sqlName ?? "text"
    return LeafForm(
      type: "[\(form.type)]",
      readCast: form.readCast.map { $0 + "[]" } ?? (isDomain ? "::\(name)[]" : nil),
      narrowType: form.narrowType ?? (name == "int2" ? name : nil),
      isArgument: false, isSorted: false)
  }

  private static let text = LeafForm(
    type: "String", readCast: "::text", isArgument: false, isSorted: false)

  /// The definitions of the scalars and enums.
  var definitions: [DraftedDefinition] {
    let written = scalars.values.map { scalar in
      DraftedDefinition(
        keyword: "scalar", name: scalar.name, description: scalar.description,
        directives: [DraftedDirective.text("scalar", [("type", scalar.sqlType)])])
    }
    return (written + enums.values).sorted { $0.name < $1.name }
  }

  // MARK: - Types

  private func base(of type: PostgresType) -> PostgresType {
    var type = type
    for _ in 0..<32 {
      guard let entry = catalog.types[type], entry.kind == .domain, let base = entry.base else {
        break
      }
      type = base
    }
    return type
  }

  /// Returns the types of columns, of elements of arrays and under domains.
  private func usedTypes() -> Set<PostgresType> {
    var used: Set<PostgresType> = []
    for column in catalog.relations.values.flatMap(\.columns) {
      let type = base(of: column.type)
      if let element = catalog.types[type]?.element {
        if column.dimensions < 2 { used.insert(base(of: element)) }
      } else {
        used.insert(type)
      }
    }
    return used
  }

  private mutating func addForm(of type: PostgresType) {
    guard let entry = catalog.types[type], entry.element == nil else { return }
    if entry.kind == .enum, let values = values(of: type) {
      let name = takeName(Words(entry.name).pascal, or: "Enum")
      enums[type] = DraftedDefinition(
        keyword: "enum", name: name,
        description: DraftedDescription.text(ofComment: entry.comment), members: values)
      forms[type] = LeafForm(type: name)
      return
    }
    if entry.namespace == "pg_catalog", let form = Self.builtIn[entry.name] {
      forms[type] = form
      return
    }
    addScalar(type, entry)
  }

  private mutating func addScalar(_ type: PostgresType, _ entry: DraftCatalog.TypeEntry) {
    let isBuiltIn = entry.namespace == "pg_catalog"
    let known = isBuiltIn ? Self.known[entry.name] : nil
    let name = takeName(known?.name ?? Words(entry.name).pascal, or: "Scalar")
    let isOpaque = isBuiltIn && Self.opaque.contains(entry.name)
    // Filters compare the values of any other type, by operators that the search path has to find.
    let isNative = isOpaque || entry.isSorted || Self.equal.contains(entry.name)
    scalars[type] = Scalar(
      name: name, sqlType: isNative ? Self.scalarTypes[entry.sqlName] ?? entry.sqlName : "text",
      description: known?.description ?? DraftedDescription.text(ofComment: entry.comment))
    forms[type] = LeafForm(
      type: name, readCast: isNative ? nil : "::text", isArgument: isNative && entry.isSorted,
      isSorted: isNative && entry.isSorted && entry.isSent
        && !(isBuiltIn && Self.unsorted.contains(entry.name)))
  }

  /// Types of extensions whose values can be equal, and have no order of their own.
  private static let equal: Set<String> = ["hstore"]

  /// The endings of the names of what is made for a leaf type.
  static let endings = [
    "", "Filter", "ListFilter", "Aggregates", "AggregatesFilter", "AggregatesOrder",
  ]

  /// Returns a free name of a type, of which the names of its filters are free, too.
  private mutating func takeName(_ stem: String, or ending: String) -> String {
    var candidates = [stem, stem + ending]
    candidates += (2..<100).map { "\(stem)\(ending)\($0)" }
    let name = candidates.first { name in
      Self.endings.allSatisfy { names.isFree(name + $0) }
    }
    guard let name else { return names.take([stem + ending]) }
    for ending in Self.endings { names.reserve(name + ending) }
    return name
  }

  /// Returns the values of an enum; nil if it has no labels.
  private func values(of type: PostgresType) -> [DraftedMember]? {
    guard let labels = catalog.labels[type], !labels.isEmpty else { return nil }
    // Labels that are names keep them.
    var taken = NamePool(
      reserved: Set(labels.filter(Self.isName)).union(["true", "false", "null"]))
    return labels.map { label in
      guard !Self.isName(label) else { return DraftedMember(name: label) }
      var name = String(
        label.unicodeScalars.map { scalar in
          scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            ? Character(scalar) : "_"
        })
      if name.allSatisfy({ $0 == "_" }) { name = Words(label).camel }
      if name.first?.isNumber ?? true || name.hasPrefix("__") { name = "VALUE_" + name }
      return DraftedMember(
        name: taken.take([name]),
        directives: [DraftedDirective.text("value", [("sql", SQLQuoting.literal(label))])])
    }
  }

  private static func isName(_ label: String) -> Bool {
    !["true", "false", "null"].contains(label) && Words.isName(label)
  }

  // MARK: - Tables

  private static let builtIn = [
    "bool": LeafForm(type: "Boolean"),
    "int2": LeafForm(type: "Int"), "int4": LeafForm(type: "Int"),
    "float4": LeafForm(type: "Float", narrowType: "float4"), "float8": LeafForm(type: "Float"),
    "text": LeafForm(type: "String"), "varchar": LeafForm(type: "String"),
    "name": LeafForm(type: "String"),
  ]

  /// The types of which a filter asks only whether there is a value.
  private static let opaque: Set<String> = [
    "json", "xml", "point", "line", "lseg", "box", "path", "polygon", "circle", "jsonpath",
    "pg_snapshot", "txid_snapshot",
  ]

  /// The types that have an order, and no page is in it.
  private static let unsorted: Set<String> = ["jsonb", "tsvector"]

  /// The types that scalars name otherwise: keywords mean the same without quotes, and an instant has
  /// its microseconds.
  private static let scalarTypes = [
    "timestamptz": "timestamptz(6)", #""time""#: "time", #""timestamp""#: "timestamp",
    #""interval""#: "interval",
  ]

  private static let known: [String: (name: String, description: String?)] = [
    "timestamptz": ("DateTime", "An instant, such as 2026-05-01T18:30:00.000Z."),
    "date": ("Date", "A calendar date, such as 2026-05-01."),
    "numeric": ("Decimal", #"An exact decimal number as a string, such as "129.90"."#),
    "int8": ("BigInt", #"An integer of 64 bits as a string, such as "9007199254740993"."#),
    "uuid": ("UUID", "A UUID, such as 6f9619ff-8b86-d011-b42d-00c04fc964ff."),
    "json": ("JSONText", "JSON as it was stored."),
    "jsonb": ("JSON", "JSON."),
    "timestamp": ("LocalDateTime", "A date and time without a zone, such as 2026-05-01 18:30:00."),
    "time": ("LocalTime", "A time of day without a zone, such as 18:30:00."),
    "timetz": ("Time", "A time of day with its offset, such as 18:30:00+02."),
    "interval": ("Interval", "A span of time, such as 1 day 02:03:04."),
    "bytea": ("Bytes", #"Bytes in hexadecimal, such as "\\x48656c6c6f"."#),
    "inet": ("Inet", "An address of a host or network, such as 192.168.0.1/24."),
    "cidr": ("Cidr", "An address of a network, such as 192.168.0.0/24."),
    "macaddr": ("MacAddress", "A MAC address, such as 08:00:2b:01:02:03."),
    "macaddr8": ("MacAddress8", "A MAC address, such as 08:00:2b:01:02:03:04:05."),
    "money": ("Money", "An amount in the currency of the database, such as $12.34."),
    "tsvector": ("TextSearch", "The words of a text, for full text search."),
    "tsquery": ("TextQuery", "A question of full text search."),
    "xml": ("XML", "XML."),
    "bpchar": ("Char", "A text of fixed length, without the spaces at its end."),
    "char": ("Character", "One character of one byte."),
    "bit": ("Bits", "Bits, such as 1010."), "varbit": ("VarBits", "Bits, such as 1010."),
    "int4range": ("Int4Range", "A range of integers, such as [1,10)."),
    "int8range": ("Int8Range", "A range of integers, such as [1,10)."),
    "numrange": ("NumRange", "A range of numbers, such as [1.5,2.5)."),
    "tsrange": ("LocalDateTimeRange", "A range of times without a zone."),
    "tstzrange": ("DateTimeRange", "A range of instants."),
    "daterange": ("DateRange", "A range of dates, such as [2026-05-01,2026-06-01)."),
    "int4multirange": ("Int4Multirange", nil), "int8multirange": ("Int8Multirange", nil),
    "nummultirange": ("NumMultirange", nil), "tsmultirange": ("LocalDateTimeMultirange", nil),
    "tstzmultirange": ("DateTimeMultirange", nil), "datemultirange": ("DateMultirange", nil),
    "oid": ("OID", "The number of an object of the database."),
    "pg_lsn": ("LSN", "A place in the write-ahead log."),
  ]
}
