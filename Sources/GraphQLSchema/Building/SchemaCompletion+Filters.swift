import GraphQLLanguage

/// **Filters and orders.** An input with `@filter(of: "Album")` gets a member for each field of
/// `Album` that is a plain column, for each relation to a type with a filter, and `and`, `or` and
/// `not`. An input with `@order(of: "Album")` gets a member for each such column that can be sorted
/// by, for each relation to one object of a type with an order, and for the number of objects of
/// each other relation; it is a `@oneOf`. The inputs
/// with the operators, such as `StringFilter`, are added at the end. Members that are written stay.
///
/// Types with `@aggregates(of: "Album")` are completed by the same rules: see
/// SchemaCompletion+Aggregates.swift.
extension SchemaCompletion {
  mutating func completeFilters() {
    var filters = FilterCompletion(self)
    guard filters.isNeeded else { return }
    for (place, definition) in definitions.enumerated() {
      guard case .type(let type) = definition, !type.isExtension else { continue }
      if let completed = filters.completed(type) { definitions[place] = .type(completed) }
    }
    for made in filters.made where places[made.name.text] != nil {
      filters.findings.append(
        (
          "Type \"\(made.name.text)\" is made for \(made.isInput ? "filters" : "aggregates") and cannot"
            + " be declared; rename yours.",
          definition(of: made.name.text)?.name.position ?? made.position
        ))
    }
    for (message, position) in filters.findings {
      findings.report(.typeSystem, message, at: position)
    }
    definitions += filters.made.map(Definition.type)
    index()
  }
}

/// Makes the members of filters, orders and aggregates, and the types that they need.
struct FilterCompletion {
  private let schema: SchemaCompletion
  /// The names of the filters, the orders and the aggregates, by the types they are of.
  private var filterNames: [String: String] = [:]
  private var orderNames: [String: String] = [:]
  private var aggregateNames: [String: String] = [:]
  /// The types that the members need, in the order of their first use.
  private(set) var made: [TypeSystemTypeDefinition] = []
  private var known: Set<String> = []
  fileprivate var findings: [(message: String, position: Position)] = []

  fileprivate var isNeeded: Bool {
    !filterNames.isEmpty || !orderNames.isEmpty || !aggregateNames.isEmpty
  }

  fileprivate init(_ schema: SchemaCompletion) {
    self.schema = schema
    for case .type(let type) in schema.definitions where !type.isExtension {
      if let target = type.target(of: "filter")?.text, filterNames[target] == nil {
        filterNames[target] = type.name.text
      }
      if let target = type.target(of: "order")?.text, orderNames[target] == nil {
        orderNames[target] = type.name.text
      }
      if let target = type.target(of: "aggregates")?.text, aggregateNames[target] == nil {
        aggregateNames[target] = type.name.text
      }
    }
  }

  /// Returns the type with its members; nil if there is nothing to add.
  fileprivate mutating func completed(
    _ type: TypeSystemTypeDefinition
  ) -> TypeSystemTypeDefinition? {
    switch type.content {
    case .inputObject(let written): completed(type, written)
    case .object:
      if let target = type.target(of: "aggregates") {
        fields(of: target, "the aggregates", for: type).map { aggregates(type, $0) }
      } else {
        nodeName(ofFields: type.fields).flatMap { node in
          aggregateNames[node].map { page(type, $0, schema.parts(of: node).flatMap(\.fields)) }
        }
      }
    case .scalar, .interface, .union, .enum: nil
    }
  }

  /// Returns the fields of the type that a directive names; nil if it is none.
  private mutating func fields(
    of target: (text: String, position: Position), _ what: String,
    for type: TypeSystemTypeDefinition
  ) -> [FieldDefinitionSyntax]? {
    let fields = schema.parts(of: target.text).flatMap(\.fields)
    guard fields.isEmpty else { return fields }
    let known = schema.places.keys.filter { !(schema.definition(of: $0)?.fields ?? []).isEmpty }
    var suggestions = Suggestions()
    let hint = suggestions.didYouMean(target.text, among: known.sorted())
    findings.append(
      (
        "\(type.isInput ? "Input" : "Type") \"\(type.name.text)\" is \(what) of "
          + "\"\(target.text)\", which is no object or interface type.\(hint)", target.position
      ))
    return nil
  }

  // MARK: - Filters

  private mutating func completed(
    _ type: TypeSystemTypeDefinition, _ written: [InputValueDefinitionSyntax]
  ) -> TypeSystemTypeDefinition? {
    let isOrder = type.target(of: "filter") == nil
    guard let target = type.target(of: "filter") ?? type.target(of: "order"),
      let fields = fields(of: target, isOrder ? "an order" : "a filter", for: type)
    else { return nil }
    var members = isOrder ? orders(fields, type) : conditions(fields, type)
    members.removeAll { member in written.contains { $0.name.text == member.name.text } }
    let isOneOf = type.directives.contains { $0.name.text == "oneOf" }
    let oneOf = isOrder && !isOneOf ? [Self.oneOf(type.position)] : []
    let text =
      isOrder ? "An order of \(target.text): one of its members." : "Conditions on \(target.text)."
    return TypeSystemTypeDefinition(
      isExtension: false, description: type.description ?? literal(text, type.position),
      name: type.name, directives: type.directives + oneOf,
      content: .inputObject(fields: written + members), position: type.position)
  }

  private mutating func conditions(
    _ fields: [FieldDefinitionSyntax], _ type: TypeSystemTypeDefinition
  ) -> [InputValueDefinitionSyntax] {
    let own = type.name.text
    var members: [InputValueDefinitionSyntax] = []
    for field in fields where !["and", "or", "not"].contains(field.name.text) {
      if let input = operators(of: field, type.position) {
        members.append(member(field, input, type))
      } else if field.isPlainReference, let filter = filterNames[field.type.namedType.text] {
        members.append(member(field, filter, type))
      } else if let node = node(of: field), let filter = filterNames[node] {
        members.append(member(field, relation(filter, type.position), type))
      }
    }
    return members + combinations(own, type.position)
  }

  /// Returns the members with which conditions are combined.
  func combinations(_ own: String, _ position: Position) -> [InputValueDefinitionSyntax] {
    [
      input("and", .listOf(own), "All of these must hold.", position),
      input("or", .listOf(own), "At least one of these must hold.", position),
      input("not", .named(own), "This must not hold.", position),
    ]
  }

  /// Returns the name of the input with the operators of a column; nil for a field that is none.
  mutating func operators(
    of field: FieldDefinitionSyntax, _ position: Position
  ) -> String? {
    guard field.isPlainColumn, let kind = kind(of: field.type.namedType.text) else { return nil }
    let name = field.type.namedType.text
    let element = ValueSyntax.named(name)
    var members: [(name: String, type: ValueSyntax, text: String)]
    let input: String
    switch field.type.nullability {
    case .named:
      input = name + "Filter"
      members = kind.operators.map { ($0, $0 == "isNull" ? .named("Boolean") : element, "") }
      members = members.map { member in
        switch member.name {
        case "in", "notIn": (member.name, .listOf(name), "")
        case "hasKey", "matches": (member.name, .named("String"), "")
        default: member
        }
      }
    case .list(let item, _):
      guard kind.isElement, case .named = item.nullability else { return nil }
      input = name + "ListFilter"
      members = [
        ("contains", .listOf(name), ""), ("overlaps", .listOf(name), ""),
        ("isNull", .named("Boolean"), ""),
      ]
    case .nonNull: return nil
    }
    guard isNew(input) else { return input }
    let isList = input.hasSuffix("ListFilter")
    add(
      input, "Conditions on \(isList ? "a list of values" : "a value") of `\(name)`.",
      members.map { ($0.name, $0.type, Self.text(of: $0.name, isList: isList, kind)) }, position)
    return input
  }

  private static func text(of name: String, isList: Bool, _ kind: ColumnKind) -> String {
    switch name {
    case "eq": "It is equal to this."
    case "ne": "It is not equal to this."
    case "in": "It is one of these."
    case "notIn": "It is none of these."
    case "lt": "It is less than this."
    case "lte": "It is at most this."
    case "gt": "It is greater than this."
    case "gte": "It is at least this."
    case "isNull": "Whether there is no value."
    case "like": "It matches this pattern: `%` is any text, `_` any character."
    case "ilike": "It matches this pattern, in capitals or not."
    case "startsWith": "It starts with this text."
    case "contains" where isList: "All of these are in it."
    case "contains" where kind == .document: "This is in it: the same members with the same values."
    case "contains": "This text is in it."
    case "overlaps": "Any of these is in it."
    case "hasKey": "It has a member of this name, or this text as an item."
    case "matches":
      "It matches this search: words, `\"phrases\"`, `or`, and `-` before what must not be in it."
    default: ""
    }
  }

  /// Returns the name of the input with the conditions on a relation to many objects.
  private mutating func relation(_ filter: String, _ position: Position) -> String {
    let base = filter.hasSuffix("Filter") ? String(filter.dropLast(6)) : filter
    let name = base + "RelationFilter"
    guard isNew(name) else { return name }
    add(
      name, "What must hold of the objects of a relation.",
      [
        ("some", .named(filter), "At least one of them meets these conditions."),
        ("none", .named(filter), "None of them meets these conditions."),
        ("every", .named(filter), "Each of them meets these conditions."),
        ("count", .named(countFilter(position)), "The number of them."),
      ], position)
    return name
  }

  // MARK: - Orders

  private mutating func orders(
    _ fields: [FieldDefinitionSyntax], _ type: TypeSystemTypeDefinition
  ) -> [InputValueDefinitionSyntax] {
    var members: [InputValueDefinitionSyntax] = []
    for field in fields {
      if field.isPlainColumn, let kind = kind(of: field.type.namedType.text), kind.isSorted,
        case .named = field.type.nullability
      {
        members.append(member(field, directions(type.position), type))
      } else if field.isPlainReference, let order = orderNames[field.type.namedType.text] {
        members.append(member(field, order, type))
      } else if node(of: field) != nil {
        members.append(member(field, relationOrder(type.position), type))
      }
    }
    return members
  }

  private mutating func relationOrder(_ position: Position) -> String {
    let name = "RelationOrder"
    guard isNew(name) else { return name }
    let count = input("count", .named(directions(position)), "The number of them.", position)
    add(
      name, "An order by the objects of a relation.", .inputObject(fields: [count]), isOneOf: true,
      position)
    return name
  }

  mutating func directions(_ position: Position) -> String {
    let name = "SortDirection"
    guard isNew(name) else { return name }
    let values = [
      ("ASC", "The least first, and null last."), ("DESC", "The greatest first, after null."),
      ("ASC_NULLS_FIRST", "The least first, after null."),
      ("ASC_NULLS_LAST", "The least first, and null last."),
      ("DESC_NULLS_FIRST", "The greatest first, after null."),
      ("DESC_NULLS_LAST", "The greatest first, and null last."),
    ].map { name, text in
      EnumValueDefinitionSyntax(
        description: literal(text, position), name: Name(text: name, position: position),
        directives: [], position: position)
    }
    add(name, "A direction to sort in.", .enum(values: values), position)
    return name
  }

  // MARK: - Types

  /// Returns the type of the objects of a relation to many, if it can be part of a filter.
  private func node(of field: FieldDefinitionSyntax) -> String? {
    guard field.isPlainRelation else { return nil }
    let name = field.type.namedType.text
    guard field.directives.contains(where: { $0.name.text == "connection" }) else { return name }
    return nodeName(ofFields: schema.parts(of: name).flatMap(\.fields))
  }

  /// Returns the type of the elements of a connection with these fields; nil if it is none.
  private func nodeName(ofFields fields: [FieldDefinitionSyntax]) -> String? {
    guard let edges = fields.first(where: { $0.name.text == "edges" }) else { return nil }
    return schema.parts(of: edges.type.namedType.text).flatMap(\.fields)
      .first { $0.name.text == "node" }?.type.namedType.text
  }

  /// Returns the PostgreSQL type that a scalar names, without quotes; nil if it names none.
  func postgresType(of name: String) -> String? {
    schema.definition(of: name)?.target(of: "scalar", "type")?.text.filter { $0 != "\"" }
  }

  /// Returns the kind of a leaf type's values; nil for another type.
  func kind(of name: String) -> ColumnKind? {
    switch name {
    case "Boolean": return .boolean
    case "ID": return .identity
    case "String": return .text
    case "Int", "Float": return .ordered
    default: break
    }
    guard let type = schema.definition(of: name) else { return nil }
    switch type.content {
    case .enum: return .enumeration
    case .scalar: return ColumnKind(postgresType: postgresType(of: name) ?? "text")
    case .object, .interface, .union, .inputObject: return nil
    }
  }

  // MARK: - Syntax

  enum ValueSyntax {
    case named(String)
    case listOf(String)
  }

  /// Returns whether a type is to be made, and that it is from now on.
  mutating func isNew(_ name: String) -> Bool { known.insert(name).inserted }

  mutating func add(
    _ name: String, _ text: String, _ members: [(name: String, type: ValueSyntax, text: String)],
    _ position: Position
  ) {
    let fields = members.map { input($0.name, $0.type, $0.text, position) }
    add(name, text, .inputObject(fields: fields), position)
  }

  mutating func add(
    _ name: String, _ text: String, _ content: TypeSystemTypeDefinition.Content,
    isOneOf: Bool = false, _ position: Position
  ) {
    made.append(
      TypeSystemTypeDefinition(
        isExtension: false, description: literal(text, position),
        name: Name(text: name, position: position),
        directives: isOneOf ? [Self.oneOf(position)] : [], content: content, position: position))
  }

  private static func oneOf(_ position: Position) -> Directive {
    Directive(name: Name(text: "oneOf", position: position), arguments: [], position: position)
  }

  /// Returns the member for a field, with its description.
  func member(
    _ field: FieldDefinitionSyntax, _ type: String, _ owner: TypeSystemTypeDefinition
  ) -> InputValueDefinitionSyntax {
    InputValueDefinitionSyntax(
      description: field.description, name: Name(text: field.name.text, position: owner.position),
      type: .named(Name(text: type, position: owner.position)), defaultValue: nil, directives: [],
      position: owner.position)
  }

  func input(
    _ name: String, _ type: ValueSyntax, _ text: String, _ position: Position
  ) -> InputValueDefinitionSyntax {
    InputValueDefinitionSyntax(
      description: literal(text, position), name: Name(text: name, position: position),
      type: syntax(type, position), defaultValue: nil, directives: [], position: position)
  }

  func syntax(_ type: ValueSyntax, _ position: Position) -> TypeSyntax {
    switch type {
    case .named(let name): .named(Name(text: name, position: position))
    case .listOf(let name):
      .list(.nonNull(.named(Name(text: name, position: position))), position: position)
    }
  }

  func literal(_ text: String, _ position: Position) -> StringLiteral {
    StringLiteral(text: text, isBlock: false, position: position)
  }
}

/// What can be asked of the values of a column.
enum ColumnKind {
  case boolean, identity, text, ordered, enumeration, document, search
  /// Values that can be compared, but are in no order.
  case equal
  /// Values that cannot be compared.
  case opaque

  /// - Parameter postgresType: as `@scalar(type:)` names it.
  init(postgresType: String) {
    let name = String(postgresType.lowercased().prefix { $0 != "(" })
    self =
      switch name {
      case "text", "varchar", "citext", "name", "char", "bpchar", "character", "character varying":
        .text
      case "jsonb": .document
      case "tsvector": .search
      case "json", "xml", "point", "line", "lseg", "box", "path", "polygon", "circle", "jsonpath",
        "refcursor", "pg_snapshot", "txid_snapshot":
        .opaque
      case "hstore", "xid", "cid", "aclitem": .equal
      case _ where name.hasSuffix(".hstore"): .equal
      default: postgresType.hasSuffix("]") ? .equal : .ordered
      }
  }

  var operators: [String] {
    switch self {
    case .boolean: ["eq", "ne", "isNull"]
    case .identity, .enumeration: ["eq", "ne", "in", "notIn", "isNull"]
    case .ordered: ["eq", "ne", "in", "notIn", "lt", "lte", "gt", "gte", "isNull"]
    case .text:
      [
        "eq", "ne", "in", "notIn", "lt", "lte", "gt", "gte", "like", "ilike", "startsWith",
        "contains", "isNull",
      ]
    case .document: ["contains", "hasKey", "isNull"]
    case .search: ["matches", "isNull"]
    case .equal: ["eq", "ne", "isNull"]
    case .opaque: ["isNull"]
    }
  }

  /// Whether an array of such values can be asked what is in it.
  var isElement: Bool {
    switch self {
    case .boolean, .identity, .text, .ordered, .enumeration: true
    case .document, .search, .equal, .opaque: false
    }
  }

  /// Whether pages can be in an order of such values.
  var isSorted: Bool {
    switch self {
    case .boolean, .identity, .text, .ordered, .enumeration: true
    case .document, .search, .equal, .opaque: false
    }
  }
}

extension TypeSystemTypeDefinition {
  fileprivate var isInput: Bool {
    switch content {
    case .inputObject, .enum: true
    case .scalar, .object, .interface, .union: false
    }
  }

  /// Returns the text that a directive has as an argument.
  fileprivate func target(
    of directive: String, _ argument: String = "of"
  ) -> (text: String, position: Position)? {
    guard
      let value = directives.first(where: { $0.name.text == directive })?.arguments
        .first(where: { $0.name.text == argument })?.value,
      case .string(let literal) = value.content
    else { return nil }
    return (literal.text, value.position)
  }
}

extension FieldDefinitionSyntax {
  /// Whether the field is a column of the type's own row.
  var isPlainColumn: Bool {
    arguments.isEmpty
      && directives.allSatisfy { directive in
        switch directive.name.text {
        case "deprecated": true
        case "column":
          directive.arguments.allSatisfy { ["name", "type", "collation"].contains($0.name.text) }
        default: false
        }
      }
  }

  /// Whether the field is one other object that a filter can ask.
  fileprivate var isPlainReference: Bool {
    guard let directive = directives.first(where: { $0.name.text == "reference" }) else {
      return false
    }
    return takesNothing && directive.asksOnlyTheRow(besides: ["rows", "from"])
  }

  /// Whether the field is many other objects that a filter can ask.
  fileprivate var isPlainRelation: Bool {
    guard
      let directive = directives.first(where: { ["connection", "list"].contains($0.name.text) })
    else { return false }
    return takesNothing && directive.asksOnlyTheRow(besides: ["rows", "ids"])
  }

  private var takesNothing: Bool {
    !directives.contains { $0.name.text == "confidential" }
      && arguments.allSatisfy {
        if case .nonNull = $0.type { $0.defaultValue != nil } else { true }
      }
  }
}

extension Directive {
  /// Returns whether its SQL depends on nothing but the row and the viewer, and it has none of
  /// these arguments.
  fileprivate func asksOnlyTheRow(besides others: Set<String>) -> Bool {
    arguments.allSatisfy { argument in
      guard !others.contains(argument.name.text) else { return false }
      guard !["orderBy", "count", "hidden", "fromEnd"].contains(argument.name.text),
        case .string(let literal) = argument.value.content
      else { return true }
      return literal.text.variables.allSatisfy {
        ["viewer", "tag", "locale", "app", "claim", "role"].contains($0)
      }
    }
  }
}

extension String {
  /// The words after a colon that is no part of a cast; more than SQL's variables where a colon is
  /// in a string.
  fileprivate var variables: [Substring] {
    var found: [Substring] = []
    var before: Character = " "
    for (index, character) in zip(indices, self) {
      let rest = self[self.index(after: index)...]
      if character == ":", before != ":", rest.first?.isLetter == true {
        found.append(rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
      }
      before = character
    }
    return found
  }
}

extension TypeSyntax {
  /// The type without an outer non-null.
  var nullability: TypeSyntax {
    if case .nonNull(let inner) = self { inner } else { self }
  }
}
