import GraphQLLanguage

/// **Aggregates.** A type with `@aggregates(of: "Album")` gets `count` and a member for each field
/// of `Album` that is a plain column, with the aggregates of its values. Connections to `Album` get
/// the fields `aggregates` and `groups`. Made for them are, with the names of an `AlbumAggregates`:
/// `AlbumGroup`, `AlbumGroupKey`, `AlbumGroupBy`, `AlbumGroupFilter` and `AlbumGroupOrder`, and for
/// each scalar `IntAggregates`, `IntAggregatesFilter` and `IntAggregatesOrder`.
extension FilterCompletion {
  private static let suffix = "Aggregates"

  private static func stem(_ name: String) -> String {
    name.hasSuffix(suffix) && name.utf8.count > suffix.utf8.count
      ? String(name.dropLast(suffix.count)) : name
  }

  mutating func aggregates(
    _ type: TypeSystemTypeDefinition, _ fields: [FieldDefinitionSyntax]
  ) -> TypeSystemTypeDefinition {
    let stem = Self.stem(type.name.text)
    let target = type.name.position
    let columns = fields.filter { isAggregated($0) }
    var members = [self.field("count", "Int", isNonNull: true, "The number of rows.", target)]
    var filters = [input("count", .named(countFilter(target)), "The number of rows.", target)]
    var orders = [input("count", .named(directions(target)), "The number of rows.", target)]
    var keys: [FieldDefinitionSyntax] = []
    var choices: [InputValueDefinitionSyntax] = []
    for column in columns {
      let leaf = column.type.namedType.text
      let name = leaf + Self.suffix
      make(name, of: leaf, target)
      members.append(member(column, name, isNonNull: true, target))
      filters.append(member(column, name + "Filter", type))
      orders.append(member(column, name + "Order", type))
      keys.append(member(column, leaf, isNonNull: false, target))
      choices.append(member(column, isTime(leaf) ? timeGrouping(target) : "Boolean", type))
    }
    let filter = stem + "GroupFilter"
    if !keys.isEmpty {
      addObject(
        stem + "Group", "The rows that are equal in what they are grouped by.",
        [
          self.field(
            "key", stem + "GroupKey", isNonNull: true, "What the rows are grouped by.", target),
          self.field(
            "aggregates", type.name.text, isNonNull: true, "The aggregates of the rows.", target),
        ], target)
      addObject(
        stem + "GroupKey",
        "The columns that rows are grouped by. Only those that `by` has can be selected.", keys,
        target)
      add(
        stem + "GroupBy",
        "The columns to group rows by: `true`, or of a time the unit that it is cut to.",
        .inputObject(fields: choices), target)
      add(
        filter, "Conditions on groups.",
        .inputObject(fields: filters + combinations(filter, target)), target)
      add(
        stem + "GroupOrder", "An order of groups: one of its members.",
        .inputObject(fields: orders), isOneOf: true, target)
    }
    return type.with(
      description: type.description ?? literal("Aggregates of rows.", target),
      fields: type.fields.completed(from: members) { _ in 0 })
  }

  /// Returns whether a field is a column whose values can be compared.
  private func isAggregated(_ field: FieldDefinitionSyntax) -> Bool {
    guard case .named(let name) = field.type.nullability, field.isPlainColumn,
      field.name.text != "count"
    else { return false }
    return kind(of: name.text)?.isSorted == true
  }

  /// Returns a connection type with the fields of aggregates.
  ///
  /// - Parameter fields: the fields of its nodes.
  func page(
    _ type: TypeSystemTypeDefinition, _ aggregates: String, _ fields: [FieldDefinitionSyntax]
  ) -> TypeSystemTypeDefinition {
    let position = type.position
    let stem = Self.stem(aggregates)
    let groups = FieldDefinitionSyntax(
      description: literal(
        "The rows of all pages in groups, with the aggregates of each: in the order `orderBy`, then of"
          + " their keys.", position),
      name: Name(text: "groups", position: position),
      arguments: [
        argument("by", .nonNull(named(stem + "GroupBy", position)), "What to group by.", position),
        argument(
          "having", named(stem + "GroupFilter", position),
          "Returns only groups that meet these conditions.", position),
        argument(
          "orderBy", syntax(.listOf(stem + "GroupOrder"), position), "The order of the groups.",
          position),
        argument(
          "first", named("Int", position),
          "Returns at most this many groups, up to 100. If it is omitted, 20 groups are returned.",
          position),
      ],
      type: .nonNull(.list(.nonNull(named(stem + "Group", position)), position: position)),
      directives: [], position: position)
    let one = field(
      "aggregates", aggregates, isNonNull: true, "The aggregates of the rows of all pages.",
      position)
    // Without a column to group by, all rows are one group.
    let members = fields.contains { isAggregated($0) } ? [one, groups] : [one]
    return type.with(
      description: type.description,
      fields: type.fields.completed(from: members) { _ in type.fields.count })
  }

  // MARK: - The aggregates of a column

  /// Makes the types with the aggregates of a leaf type's values.
  private mutating func make(_ name: String, of leaf: String, _ position: Position) {
    guard isNew(name) else { return }
    let members = aggregates(of: leaf)
    addObject(
      name, "Aggregates of values of `\(leaf)`. Null does not count as a value.",
      members.map { member in
        field(
          member.name, member.type, isNonNull: member.name.hasPrefix("count"), member.text, position
        )
      }, position)
    add(
      name + "Filter", "Conditions on aggregates of values of `\(leaf)`.",
      members.compactMap { member in
        let column = field(member.name, member.type, isNonNull: false, "", position)
        return operators(of: column, position).map { (member.name, .named($0), member.text) }
      }, position)
    add(
      name + "Order", "An order by an aggregate of values of `\(leaf)`.",
      .inputObject(
        fields: members.map {
          input($0.name, .named(directions(position)), $0.text, position)
        }), isOneOf: true, position)
  }

  private func aggregates(of leaf: String) -> [(name: String, type: String, text: String)] {
    var values = ColumnAggregates()
    if case .text? = kind(of: leaf) { values.hasExtremes = true }
    if case .ordered? = kind(of: leaf) {
      values = ColumnAggregates(leaf: leaf, postgresType: postgresType(of: leaf))
    }
    var members = [
      ("count", "Int", "The number of values."),
      ("countDistinct", "Int", "The number of different values."),
    ]
    if let type = values.sum { members.append(("sum", type, "The sum; null without values.")) }
    if let type = values.average {
      members.append(("avg", type, "The average; null without values."))
    }
    if values.hasExtremes {
      members.append(("min", leaf, "The least value; null without values."))
      members.append(("max", leaf, "The greatest value; null without values."))
    }
    return members
  }

  /// Returns the input with the conditions on a number of rows.
  mutating func countFilter(_ position: Position) -> String {
    operators(of: field("count", "Int", isNonNull: false, "", position), position) ?? "IntFilter"
  }

  private func isTime(_ leaf: String) -> Bool {
    let name = postgresType(of: leaf)?.lowercased().prefix { $0 != "(" } ?? ""
    return [
      "timestamptz", "timestamp", "date", "timestamp with time zone", "timestamp without time zone",
    ].contains(String(name))
  }

  private mutating func timeGrouping(_ position: Position) -> String {
    let name = "TimeGrouping"
    guard isNew(name) else { return name }
    let values = [
      ("VALUE", "Equal times."), ("HOUR", "The same hour."), ("DAY", "The same day."),
      ("WEEK", "The same week, from Monday on."), ("MONTH", "The same month."),
      ("QUARTER", "The same quarter of a year."), ("YEAR", "The same year."),
    ].map { name, text in
      EnumValueDefinitionSyntax(
        description: literal(text, position), name: Name(text: name, position: position),
        directives: [], position: position)
    }
    add(
      name, "What times are grouped by. Those with a time zone are in UTC.", .enum(values: values),
      position)
    return name
  }

  // MARK: - Syntax

  private mutating func addObject(
    _ name: String, _ text: String, _ fields: [FieldDefinitionSyntax], _ position: Position
  ) {
    add(name, text, .object(interfaces: [], fields: fields), position)
  }

  private func named(_ name: String, _ position: Position) -> TypeSyntax {
    syntax(.named(name), position)
  }

  private func field(
    _ name: String, _ type: String, isNonNull: Bool, _ text: String, _ position: Position
  ) -> FieldDefinitionSyntax {
    FieldDefinitionSyntax(
      description: literal(text, position), name: Name(text: name, position: position),
      arguments: [], type: isNonNull ? .nonNull(named(type, position)) : named(type, position),
      directives: [], position: position)
  }

  /// Returns the member for a column, with its description.
  private func member(
    _ column: FieldDefinitionSyntax, _ type: String, isNonNull: Bool, _ position: Position
  ) -> FieldDefinitionSyntax {
    let field = field(column.name.text, type, isNonNull: isNonNull, "", position)
    return FieldDefinitionSyntax(
      description: column.description, name: field.name, arguments: [], type: field.type,
      directives: [], position: position)
  }

  private func argument(
    _ name: String, _ type: TypeSyntax, _ text: String, _ position: Position
  ) -> InputValueDefinitionSyntax {
    InputValueDefinitionSyntax(
      description: literal(text, position), name: Name(text: name, position: position), type: type,
      defaultValue: nil, directives: [], position: position)
  }
}

/// The aggregates that PostgreSQL has of the values of a leaf type, with the types of their results.
private struct ColumnAggregates {
  var sum: String?
  var average: String?
  var hasExtremes = false

  init() {}

  /// - Parameter postgresType: the type that a scalar of the schema names.
  init(leaf: String, postgresType: String?) {
    switch leaf {
    case "Int", "Float": (sum, average, hasExtremes) = ("Float", "Float", true)
    default:
      let name = String((postgresType ?? "").lowercased().prefix { $0 != "(" })
      hasExtremes = Self.ordered.contains(name)
      switch name {
      case "int2", "int4", "smallint", "integer", "int": (sum, average) = ("Float", "Float")
      case "int8", "bigint": (sum, average) = (leaf, "Float")
      case "numeric", "decimal", "interval": (sum, average) = (leaf, leaf)
      case "money": sum = leaf
      default: break
      }
    }
  }

  /// The types with `min` and `max`. `uuid`, `bytea` and ranges have none in PostgreSQL 15.
  private static let ordered: Set<String> = [
    "int2", "int4", "int8", "smallint", "integer", "int", "bigint", "numeric", "decimal", "money",
    "float4", "float8", "real", "double precision", "interval", "date", "time", "timetz",
    "timestamp", "timestamptz", "time without time zone", "time with time zone",
    "timestamp without time zone", "timestamp with time zone", "inet", "oid",
  ]
}
