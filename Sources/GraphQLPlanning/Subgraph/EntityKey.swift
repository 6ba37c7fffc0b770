import GraphQLSchema
import SQL

/// A key by which a gateway names objects of this graph in representations:
/// `{"__typename": "Film", "filmId": 7}`. Apollo Federation 2, "Entities".
package struct EntityKey: Sendable, Hashable {
  /// A column of the key.
  package struct Column: Sendable, Hashable {
    /// The name as statements write it.
    let name: String
    package let type: ParameterType
  }

  /// The place of the columns' values in a representation.
  enum Form: Sendable, Hashable {
    /// A node ID of this tag, which is the number of the object.
    case number(tag: Int)
    /// An ID of this tag, which has the values of a key.
    case keyID(tag: Int)
    /// One member for each column.
    case members
  }

  package let type: TypeID
  let typeName: String
  /// The fields of the key.
  package let fields: [String]
  package let columns: [Column]
  let form: Form

  /// The argument of `_entities`.
  static let argument = "representations"

  /// Returns the value of a column in a representation, as text; nil for one that no object has.
  package func text(ofColumn place: Int, in representation: InputValue) -> String? {
    let text: String?
    switch form {
    case .number(let tag):
      guard case .string(let id)? = representation[fields[0]], let number = NodeID.decode(id),
        NodeID.tag(of: number) == tag
      else { return nil }
      text = String(number)
    case .keyID(let tag):
      guard case .string(let id)? = representation[fields[0]], let key = KeyID(id), key.tag == tag
      else { return nil }
      text = key.values(columns.count).map { $0[place] }
    case .members: text = representation[fields[place]]?.keyText
    }
    return text.map { columns[place].type.keyText($0) }
      .flatMap { columns[place].type.isKeyText($0) ? $0 : nil }
  }
}

/// Keys, which are found by the names of their types.
package struct EntityKeys: Sendable, Hashable {
  package let keys: [EntityKey]
  private let places: [String: [Int]]

  init(_ keys: [EntityKey] = []) {
    self.keys = keys
    places = Dictionary(grouping: keys.indices, by: { keys[$0].typeName })
  }

  /// The keys of the type with this name.
  func of(_ typeName: String) -> [EntityKey] { (places[typeName] ?? []).map { keys[$0] } }

  /// Returns the place of the first key that a representation has all fields of, none of them null.
  package func place(of representation: InputValue) -> Int? {
    guard case .string(let name)? = representation["__typename"] else { return nil }
    return places[name]?.first { place in
      keys[place].fields.allSatisfy { (representation[$0] ?? .null) != .null }
    }
  }
}

extension InputValue {
  /// The text of a scalar; nil for anything else, and for what PostgreSQL cannot store.
  fileprivate var keyText: String? {
    switch self {
    case .string(let text): text.utf8.contains(0) ? nil : text
    case .int(let number): String(number)
    case .bigInt(let number): String(number)
    case .float(let number): "\(number)"
    case .number(let number): number
    case .boolean(let flag): flag ? "true" : "false"
    case .null, .enum, .list, .object: nil
    }
  }
}

extension ParameterType {
  /// Returns an integer without a fraction of zeros: another graph may have written 7 as 7.0.
  fileprivate func keyText(_ text: String) -> String {
    switch self {
    case .int4, .named("int8"):
      text.wholeMatch(of: /(-?[0-9]+)\.0+/).map { String($0.1) } ?? text
    default: text
    }
  }

  /// Whether a text of a key can be a value of the type, as far as the server knows: PostgreSQL judges the
  /// text of other types.
  package func isKeyText(_ text: String) -> Bool {
    switch self {
    case .int4: Int32(text) != nil
    case .id, .anyID, .named("int8"): Int64(text) != nil
    case .boolean: ["true", "false"].contains(text)
    case .named("uuid"):
      text.wholeMatch(of: /[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}/) != nil
    default: true
    }
  }
}

extension StorageMapping {
  /// The keys of all types whose objects can be looked up, in the order of the types. An ID comes
  /// before the columns of the table's key, and these before keys by `@key`.
  package var entityKeys: [EntityKey] {
    schema.types.flatMap { type -> [EntityKey] in
      guard case .object = type.kind, let storage = self[type.id], let table = storage.table,
        ![schema.queryType, schema.mutationType, schema.subscriptionType].contains(type.id)
      else { return [] }
      // What other graphs find is not found here.
      var known = Set(type.writtenKeys.filter { !$0.isResolvable }.map { $0.fields.sorted() })
      var keys = [idKey(of: type, storage, table)].compactMap(\.self)
        .filter { !known.contains($0.fields) }
      for fields in [columnFields(of: storage, table)].compactMap(\.self)
        + type.writtenKeys.filter(\.isResolvable).map(\.fields)
      where known.insert(fields.sorted()).inserted {
        if let key = key(of: type, storage, by: fields) { keys.append(key) }
      }
      return keys
    }
  }

  /// The faults of keys by `@key`, one line each.
  var keyProblems: [String] {
    schema.types.flatMap { type in
      type.writtenKeys.compactMap { fields, isResolvable -> String? in
        let name = "\(type.name): @key(fields: \"\(fields.joined(separator: " "))\")"
        if fields.isEmpty || fields.contains(where: { type.field(named: $0) == nil }) {
          return "\(name) names fields of the type, separated by spaces."
        }
        guard isResolvable, let storage = self[type.id] else { return nil }
        return storage.table != nil && key(of: type, storage, by: fields) != nil
          ? nil
          : "\(name) is of scalar columns, in a type with @table; with resolvable: false, of any fields."
      }
    }
  }

  private func idKey(
    of type: TypeDefinition, _ storage: TypeStorage, _ table: TableStorage
  ) -> EntityKey? {
    guard let tag = storage.tag else { return nil }
    for field in type.fields where schema[field.type.namedType].builtInScalar == .id {
      switch storage.fields[field.name]?.kind {
      case .keyID:
        // The columns' types are those of their fields.
        guard let fields = columnFields(of: storage, table),
          let columns = key(of: type, storage, by: fields)?.columns
        else { return nil }
        return EntityKey(
          type: type.id, typeName: type.name, fields: [field.name], columns: columns,
          form: .keyID(tag: tag))
      case .leaf(let template, hidden: nil)
      where template.soleColumn?.word == "this"
        && template.soleColumn?.name == SQLQuoting.catalogName(table.key)
        && table.keys.count == 1:
        return EntityKey(
          type: type.id, typeName: type.name, fields: [field.name],
          columns: [EntityKey.Column(name: table.key, type: .id)], form: .number(tag: tag))
      default: continue
      }
    }
    return nil
  }

  /// Returns the fields that are the columns of the table's key; nil unless each column has one.
  private func columnFields(of storage: TypeStorage, _ table: TableStorage) -> [String]? {
    var names: [String] = []
    for column in table.keys.map(SQLQuoting.catalogName) {
      let field = storage.type.fields.first { field in
        guard case .leaf(let template, hidden: nil)? = storage.fields[field.name]?.kind else {
          return false
        }
        return template.soleColumn?.word == "this" && template.soleColumn?.name == column
      }
      guard let field else { return nil }
      names.append(field.name)
    }
    return names
  }

  /// Returns a key of fields that are columns of the table; nil if one of them is something else, or an
  /// enum: the statement could not name the type of its values.
  private func key(
    of type: TypeDefinition, _ storage: TypeStorage, by fields: [String]
  ) -> EntityKey? {
    var columns: [EntityKey.Column] = []
    for name in fields {
      guard let field = storage.fields[name], case .leaf(let template, hidden: nil) = field.kind,
        let column = template.soleColumn, column.word == "this",
        case .named(let leaf) = field.definition.type.nullable,
        case .scalar = schema[leaf].kind, schema[leaf].builtInScalar != .id
      else { return nil }
      columns.append(
        EntityKey.Column(name: SQLQuoting.identifier(column.name), type: parameterType(of: leaf)))
    }
    guard !columns.isEmpty else { return nil }
    return EntityKey(
      type: type.id, typeName: type.name, fields: fields, columns: columns, form: .members)
  }
}

extension TypeDefinition {
  /// The keys that `@key` names.
  var writtenKeys: [(fields: [String], isResolvable: Bool)] {
    appliedDirectives.filter { $0.name.text == "key" }.map { directive in
      (
        (directive.string("fields") ?? "").split(separator: " ").map(String.init),
        directive.boolean("resolvable") ?? true
      )
    }
  }
}
