import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import SQL

extension SelectionCompiler {
  /// Compiles the objects that representations name, in their order; null for one that does not exist
  /// for the viewer. Each kind of key is looked up in its own table:
  ///
  ///     ARRAY(SELECT CASE e.kind
  ///         WHEN 0 THEN (SELECT ROW(...) FROM film AS n1 WHERE n1.film_id = e.k1)
  ///         WHEN 1 THEN (SELECT ROW(...) FROM actor AS n2 WHERE n2.actor_id = e.k2) END
  ///       FROM unnest($1::int4[], $2::int4[], $3::int4[]) WITH ORDINALITY AS e(kind, k1, k2, position)
  ///       ORDER BY e.position)
  ///
  /// The plan serves all representations with the same kinds of keys, however many they are.
  func entities(
    _ field: CollectedField, _ storage: FieldStorage, _ scope: Scope
  ) throws(GraphQLError) -> ValueShape {
    guard let parent = scope.row,
      case .scalars(let source, _)? = scope.arguments.value(EntityKey.argument),
      case .list(let given) = source.value(in: reader.variables), !given.isEmpty
    else { return .constant(Array("[]".utf8)) }
    let place = scope.place(ofArgument: EntityKey.argument)
    guard given.count <= limits.maximumRepresentations else {
      throw reader.inputs.error(
        source, of: place,
        "at most \(limits.maximumRepresentations) representations can be given at once, not \(given.count)."
      )
    }
    let all = mapping.entities
    var used: Set<Int> = []
    for (index, value) in given.enumerated() {
      guard let place = all.place(of: value) else {
        throw unknown(value, reader.inputs, source, at: index, scope)
      }
      used.insert(place)
    }
    let chosen = EntityKeys(used.sorted().map { all.keys[$0] })
    let alias = statement.alias("e")
    let edge = SQLFragment(name: alias)
    func reference(_ part: RepresentationPart) -> SQLFragment {
      statement.reference(.representation(source, of: chosen, part), of: place)
    }
    var arrays = [reference(.kind)]
    var names = ["kind"]
    var shapes: [Int: ObjectShape] = [:]
    var text: SQLFragment = "CASE \(edge).kind"
    for (number, key) in chosen.keys.enumerated() {
      var values: [SQLFragment] = []
      for (place, column) in key.columns.enumerated() {
        arrays.append(reference(.value(key: number, column: place)))
        names.append("k\(names.count)")
        values.append("\(name: column.name) = \(edge).\(name: names[names.count - 1])")
      }
      guard
        let (subselect, shape) = try entity(
          key, number, field, among: values, of: RowBuilder(alias: alias), scope)
      else { continue }
      shapes[number] = shape
      text.append("\n  WHEN \(number) THEN \(subselect.indented)")
    }
    let from: SQLFragment = """
      unnest(\(arrays.joined(separator: ", "))) WITH ORDINALITY AS \
      \(edge)(\(name: (names + ["position"]).joined(separator: ", ")))
      """
    let list = select("\(text)\nEND", from: [from], where: [], tail: ["ORDER BY \(edge).position"])
    var length = ListLength.atMost(given.count)
    if case .variable = source { length = .ids(source) }
    return .list(
      column: parent.column("ARRAY\(list)"), .byTag(column: 0, shapes), itemsNonNull: false,
      length: length)
  }

  private func entity(
    _ key: EntityKey, _ number: Int, _ field: CollectedField, among conditions: [SQLFragment],
    of edge: RowBuilder, _ scope: Scope
  ) throws(GraphQLError) -> (SQLFragment, ObjectShape)? {
    guard let group = groups(of: [key.type], rows: nil).first else { return nil }
    var target = scope
    target.parent = nil
    target.row = edge
    let found = try subselect(
      field.selectionSets, group, id: nil,
      { scope in
        conditions.map { "\(name: scope.row?.alias ?? "this").\($0)" }
      }, scope: target, isMasked: false,
      tagging: .number(number, column: "\(name: edge.alias).kind::bigint"))
    guard let found, case .byTag(_, let shapes) = found.1, let shape = shapes[number] else {
      return nil
    }
    return (found.0, shape)
  }

  private func unknown(
    _ value: InputValue, _ inputs: OperationInputs, _ source: InputSource, at index: Int,
    _ scope: Scope
  ) -> GraphQLError {
    let problem: String
    if case .string(let name)? = value["__typename"] {
      let keys = mapping.entities.of(name).map { "\"\($0.fields.joined(separator: " "))\"" }
      problem =
        keys.isEmpty
        ? "\"\(name.prefix(100))\" is no type with a key in this graph."
        : "a \"\(name.prefix(100))\" is found by its key \(keys.joined(separator: " or "))."
    } else {
      problem = "a representation is an object with \"__typename\" and the fields of a key."
    }
    return inputs.error(
      source, at: [.index(index)], of: scope.place(ofArgument: EntityKey.argument), problem)
  }
}

/// The array that a parameter has of representations: one element for each.
package enum RepresentationPart: Sendable, Hashable {
  /// The place of its key among those of the plan; -1 for none of them.
  case kind
  /// The value of a column of a key; null for a representation with another key.
  case value(key: Int, column: Int)
}
