import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import SQL

/// Compiles the selections of one operation into columns of rows and the shapes that read them.
struct SelectionCompiler {
  let mapping: StorageMapping
  let fragments: [String: FragmentDefinition]
  let reader: ArgumentReader
  let limits: PlannerLimits
  let statement: StatementBuilder
  let renderer: TemplateRenderer
  /// Whether the root field reads the event's node, or nothing.
  var readsEvents = false

  var schema: Schema { mapping.schema }

  init(
    mapping: StorageMapping, fragments: [String: FragmentDefinition], reader: ArgumentReader,
    limits: PlannerLimits
  ) {
    self.mapping = mapping
    self.fragments = fragments
    self.reader = reader
    self.limits = limits
    statement = StatementBuilder()
    renderer = TemplateRenderer(mapping: mapping, statement: statement)
  }

  // MARK: - Collecting fields

  /// The merged fields of one response name. GraphQL September 2025, 6.3.2 Field Collection.
  struct CollectedField {
    let responseName: String
    var nodes: [Field]
    var field: Field { nodes[0] }
    var selectionSets: [SelectionSet] { nodes.compactMap(\.selectionSet) }
  }

  func collectFields(of type: TypeID, _ selectionSets: [SelectionSet]) -> [CollectedField] {
    var collected: [CollectedField] = []
    var places: [String: Int] = [:]
    var visited: Set<String> = []
    func collect(_ set: SelectionSet) {
      for selection in set.selections {
        switch selection {
        case .field(let field):
          guard isIncluded(field.directives) else { continue }
          if let place = places[field.responseName] {
            collected[place].nodes.append(field)
          } else {
            places[field.responseName] = collected.count
            collected.append(CollectedField(responseName: field.responseName, nodes: [field]))
          }
        case .fragmentSpread(let spread):
          guard isIncluded(spread.directives), visited.insert(spread.name.text).inserted,
            let fragment = fragments[spread.name.text],
            applies(fragment.typeCondition.text, to: type)
          else { continue }
          collect(fragment.selectionSet)
        case .inlineFragment(let inline):
          guard isIncluded(inline.directives) else { continue }
          if let condition = inline.typeCondition, !applies(condition.text, to: type) { continue }
          collect(inline.selectionSet)
        }
      }
    }
    for set in selectionSets { collect(set) }
    return collected
  }

  func applies(_ condition: String, to type: TypeID) -> Bool {
    guard let conditionType = schema.typesByName[condition] else { return false }
    return conditionType == type || schema.possibleTypes[Int(conditionType.index)].contains(type)
  }

  func isIncluded(_ directives: [Directive]) -> Bool {
    for directive in directives {
      let isSkip = directive.name.text == "skip"
      guard isSkip || directive.name.text == "include",
        let value = directive.arguments.first(where: { $0.name.text == "if" })?.value
      else { continue }
      if (condition(value) ?? false) == isSkip { return false }
    }
    return true
  }

  /// Returns a condition's value; nil for a variable that is not given.
  func condition(_ value: Value) -> Bool? {
    switch value.content {
    case .boolean(let flag): flag
    case .variable(let name):
      reader.variableIndices[name].flatMap { reader.variables[$0] }.map { $0 == .boolean(true) }
    default: false
    }
  }

  // MARK: - Objects

  /// A field of some of the possible types, compiled once for all of them.
  private struct FieldKey: Hashable {
    let storage: Int
    let nodes: [ObjectIdentifier]
  }

  /// Compiles the fields of one object type, read from `row`.
  func object(
    of type: TypeID, selectionSets: [SelectionSet], row: RowBuilder, scope: Scope
  ) throws(GraphQLError) -> ObjectShape {
    let shapes = try objects(of: [type], selectionSets: selectionSets, row: row, scope: scope)
    return shapes[0].shape
  }

  /// Compiles the record of objects that can be any of `types`, all read from `row`.
  func record(
    of types: [TypeID], selectionSets: [SelectionSet], row: RowBuilder, scope: Scope
  ) throws(GraphQLError) -> RecordShape {
    let compiled = try objects(of: types, selectionSets: selectionSets, row: row, scope: scope)
    guard let first = compiled.first else { return .byTag(column: 0, [:]) }
    if compiled.allSatisfy({ $0.signature == first.signature }) { return .object(first.shape) }
    return byTag(compiled, row: row)
  }

  /// Compiles the record of objects of several types, always distinguished by the tag of the ID in
  /// `row`'s first column.
  func taggedRecord(
    of types: [TypeID], selectionSets: [SelectionSet], row: RowBuilder, scope: Scope
  ) throws(GraphQLError) -> RecordShape {
    let key = mapping[types[0]]?.table?.key ?? "id"
    _ = row.column("\(name: row.alias).\(name: key)")
    return byTag(
      try objects(of: types, selectionSets: selectionSets, row: row, scope: scope), row: row)
  }

  private func byTag(_ compiled: [CompiledObject], row: RowBuilder) -> RecordShape {
    var shapes: [Int: ObjectShape] = [:]
    for object in compiled {
      if let tag = mapping[object.type]?.tag { shapes[tag] = object.shape }
    }
    let key = compiled.first.flatMap { mapping[$0.type]?.table?.key } ?? "id"
    return .byTag(column: row.column("\(name: row.alias).\(name: key)"), shapes)
  }

  private struct CompiledObject {
    let type: TypeID
    let shape: ObjectShape
    /// A signature that is equal for types whose objects are written alike.
    let signature: [String]
  }

  private func objects(
    of types: [TypeID], selectionSets: [SelectionSet], row: RowBuilder, scope: Scope
  ) throws(GraphQLError) -> [CompiledObject] {
    let collected = types.map { collectFields(of: $0, selectionSets) }
    var tagsByKey: [FieldKey: [Int]] = [:]
    for (type, fields) in zip(types, collected) {
      for field in fields {
        guard let storage = mapping[type]?.fields[field.field.name.text] else { continue }
        tagsByKey[key(storage, field), default: []].append(mapping[type]?.tag ?? 0)
      }
    }
    var values: [FieldKey: ValueShape] = [:]
    var numbers: [FieldKey: Int] = [:]
    var filterCosts: [FieldKey: Int] = [:]
    var result: [CompiledObject] = []
    for (type, fields) in zip(types, collected) {
      var shapes: [FieldShape] = []
      var signature: [String] = []
      for field in fields {
        let name = field.field.name.text
        if name == "__typename" {
          shapes.append(
            FieldShape(
              field.responseName, isNonNull: true,
              .constant(Array("\"\(schema[type].name)\"".utf8)), coordinate: "__typename"))
          signature.append("\(field.responseName):\(type.index)")
          continue
        }
        if let marker = DeliveryMarker(field.field) {
          shapes.append(
            FieldShape(field.responseName, isNonNull: false, .marker(marker), coordinate: name))
          signature.append(field.responseName)
          continue
        }
        if Schema.isIntrospection(name) {
          shapes.append(
            FieldShape(
              field.responseName, isNonNull: name != "__type", .introspection, coordinate: name))
          signature.append(field.responseName)
          continue
        }
        guard let typeStorage = mapping[type], let storage = typeStorage.fields[name] else {
          continue
        }
        let key = key(storage, field)
        if values[key] == nil {
          var inner = scope
          inner.row = row
          inner.storage = typeStorage
          let tags = tagsByKey[key] ?? []
          var cost = 0
          let value = try compile(
            field, storage, scope: inner, onlyForTags: tags.count < types.count ? tags : [], &cost)
          values[key] = value
          filterCosts[key] = cost
          numbers[key] = numbers.count
        }
        guard let value = values[key] else { continue }
        _ = try initialCount(field.field)
        var shape = FieldShape(
          field.responseName, isNonNull: storage.definition.type.isNonNull, value,
          coordinate: storage.coordinate)
        shape.filterCost = filterCosts[key] ?? 0
        if value.isList { shape.items = StreamedItems(field.field) }
        shapes.append(shape)
        signature.append("\(field.responseName):\(numbers[key] ?? -1)")
      }
      result.append(
        CompiledObject(type: type, shape: ObjectShape(fields: shapes), signature: signature))
    }
    // Those of an embedded object belong to the one around it, as that is always there.
    guard !scope.isEmbedded, !row.liveColumns.isEmpty else { return result }
    return result.map {
      CompiledObject(
        type: $0.type, shape: ObjectShape(fields: $0.shape.fields, live: row.liveColumns),
        signature: $0.signature)
    }
  }

  private func key(_ storage: FieldStorage, _ field: CollectedField) -> FieldKey {
    FieldKey(storage: storage.identity, nodes: field.nodes.map { ObjectIdentifier($0) })
  }

  // MARK: - Fields

  private func compile(
    _ field: CollectedField, _ storage: FieldStorage, scope: Scope, onlyForTags tags: [Int],
    _ filterCost: inout Int
  ) throws(GraphQLError) -> ValueShape {
    guard let row = scope.row else { return .constant(Array("null".utf8)) }
    var scope = scope
    scope.coordinate = storage.coordinate
    do {
      scope.arguments = try reader.arguments(of: field.field, storage.definition)
      try checkConditions(scope.arguments, field)
      scope.filterCost = try checkFilters(scope.arguments, field)
    } catch {
      // 6.4.1 Coercing Field Arguments: an error of the field, not of the request.
      return .refused(error)
    }
    let type = storage.definition.type
    switch storage.kind {
    case .leaf(let template, let hidden):
      var text = less(renderer.render(template, scope), hidden, scope)
      if template.isExpensive || hidden != nil { text = guarded(text, tags, scope) }
      return leaf(text, type, row, hidden == nil ? template : nil, scope)
    case .keyID(let template, let format):
      return .leaf(column: row.column(renderer.render(template, scope)), format)
    case .values(let condition):
      let text = guarded(values(of: type, condition, scope), tags, scope)
      return leaf(text, type, row, nil, scope, namesValues: false)
    case .embed(let condition):
      let when = condition.map { row.column("(\(renderer.render($0, scope)))") }
      var inner = childScope(row)
      inner.isConditional = scope.isConditional || condition != nil
      inner.isEmbedded = true
      inner.enclosingJoins = scope.enclosingJoins + (scope.storage?.joins ?? [])
      let shape = try object(
        of: type.namedType, selectionSets: field.selectionSets, row: row, scope: inner)
      return .embedded(when: when, shape)
    case .reference(let reference):
      filterCost = scope.filterCost
      guard
        let (text, shape) = try self.reference(field, storage, reference, scope)
      else { return .constant(Array("null".utf8)) }
      return .record(column: row.column(guarded(text, tags, scope)), shape)
    case .relation(let relation):
      if relation.isConnection {
        // It has the cost itself.
        return .connection(
          try connection(field, storage, relation, scope, onlyForTags: tags))
      }
      filterCost = scope.filterCost
      return try list(field, storage, relation, scope, onlyForTags: tags)
    case .entities: return try entities(field, storage, scope)
    case .constant(let json): return .constant(json)
    case .userErrors: return .constant(Array("[]".utf8))
    case .secret: return .secret
    case .call, .none:
      throw GraphQLError(
        "\(storage.coordinate) cannot be executed by this server yet.",
        locations: [reader.source.location(of: field.field.position)], code: .notImplemented)
    }
  }

  /// Returns a count less the hidden rows. The latter are counted only if there are any, and for
  /// viewers from whom any row is hidden.
  func less(_ count: SQLFragment, _ hidden: SQLTemplate?, _ scope: Scope) -> SQLFragment {
    guard let hidden else { return count }
    let amount = renderer.render(hidden, scope)
    guard let rows = mapping.hiddenRows else { return "\(count) - \(amount)" }
    let some = renderer.render(rows, scope)
    let lines: SQLFragment =
      "\(count) - CASE WHEN \(count) > 0 AND EXISTS (SELECT FROM \(some))\nTHEN \(amount) ELSE 0 END"
    return lines.indented
  }

  /// Returns an array of the values of an enum whose conditions hold.
  private func values(
    of type: TypeReference, _ condition: SQLTemplate?, _ scope: Scope
  ) -> SQLFragment {
    guard case .enum(let values) = schema[type.namedType].kind else { return "NULL" }
    let elements = values.map { value -> SQLFragment in
      guard let when = mapping.enumValue(named: value.name, of: type.namedType)?.when else {
        return "\(literal: value.name)"
      }
      let lines: SQLFragment = "CASE WHEN \(renderer.render(when, scope))"
      return "\(lines.indented) THEN \(literal: value.name) END"
    }
    let list: SQLFragment = "\n\(elements.joined(separator: ",\n"))"
    let array: SQLFragment = "array_remove(ARRAY[\(list.indented)], NULL)"
    guard let condition else { return array }
    return "CASE WHEN \(renderer.render(condition, scope)) THEN \(array) ELSE '{}'::text[] END"
  }

  func leaf(
    _ text: SQLFragment, _ type: TypeReference, _ row: RowBuilder, _ template: SQLTemplate?,
    _ scope: Scope, namesValues: Bool = true
  ) -> ValueShape {
    let format = mapping.leafFormat(of: type.namedType)
    var text = text
    if mapping.isReadAsText(type.namedType) {
      if case .list = type.nullable { text = "(\(text))::text[]" } else { text = "(\(text))::text" }
    }
    statement.recorder?.note(.leaf(format, type), text, template, in: row, scope)
    if namesValues { text = named(text, type) }
    if case .list(let item) = type.nullable {
      let column = row.column(text)
      return .leaves(column: column, format, itemsNonNull: item.isNonNull)
    }
    return .leaf(column: row.column(text), format)
  }

  /// Converts an enum, or an array of enums, from the labels of `@value(sql:)` to GraphQL names.
  /// Other values stay unchanged.
  private func named(_ text: SQLFragment, _ type: TypeReference) -> SQLFragment {
    let labels = mapping.labels(of: type.namedType)
    guard !labels.isEmpty else { return text }
    let cases = labels.map { "WHEN \(literal: $0.label) THEN \(literal: $0.name)" as SQLFragment }
      .joined(separator: " ")
    // OFFSET 0: it is worked out once.
    let alias = SQLFragment(name: statement.alias("v"))
    let value: SQLFragment = "CASE \(alias).v \(cases) ELSE \(alias).v END"
    guard case .list = type.nullable else {
      return "(SELECT \(value) FROM (SELECT (\(text))::text AS v OFFSET 0) AS \(alias))"
    }
    return """
      (SELECT CASE WHEN \(alias).a IS NOT NULL THEN ARRAY(SELECT CASE e.v \(cases) ELSE e.v END \
      FROM unnest(\(alias).a) WITH ORDINALITY AS e(v, n) ORDER BY e.n) END \
      FROM (SELECT (\(text))::text[] AS a OFFSET 0) AS \(alias))
      """
  }

  /// Restricts an expression to the possible types that need it.
  func guarded(_ text: SQLFragment, _ tags: [Int], _ scope: Scope) -> SQLFragment {
    guard !tags.isEmpty, let row = scope.row, let key = scope.storage?.table?.key else {
      return text
    }
    let list = tags.map(String.init).joined(separator: ", ")
    return
      "CASE WHEN \(name: row.alias).\(name: key) & 255 IN (\(name: list)) THEN \(text) END"
  }
}

extension ValueShape {
  /// Whether it has items in the record.
  fileprivate var isList: Bool {
    if case .list = self { return true }
    if case .leaves = self { return true }
    return false
  }
}

extension FieldShape {
  init(_ responseName: String, isNonNull: Bool, _ value: ValueShape, coordinate: String) {
    self.init(
      key: Array("\"\(responseName)\":".utf8), responseName: responseName, isNonNull: isNonNull,
      value: value, coordinate: coordinate)
  }
}
