import GraphQLLanguage
import GraphQLSchema

/// The parts of an operation's variables that determine its statement, and the key that they form
/// for a plan.
///
/// Enums, booleans, nulls and the presence of input fields are always part of it. So are page sizes
/// and, if an ID determines the table to read, its type tag. All other values are parameters: equal
/// keys mean the same plan. O(size of the variables).
package struct OperationChoices: Sendable {
  fileprivate enum Role: Sendable, Equatable {
    case value, pageSize
    /// IDs that are numbers, IDs of keys, and what is used as both.
    case numberID, keyID, anyID
    /// The value is used only as one `jsonb`, or is a JSON document.
    case whole
    /// Rows that are inserted: those that are alike are arrays.
    case rows(UniformRows)
  }

  private let roles: [Role]
  /// Whether each variable is also in representations, whose kinds of keys determine the tables.
  private let namesEntities: [Bool]
  /// The tags that IDs of keys have.
  private let keyTags: Set<Int>
  private let entities: EntityKeys

  /// Walks the operation once. O(selections + fragments).
  package init(
    _ operation: OperationDefinition, fragments: [String: FragmentDefinition],
    mapping: StorageMapping
  ) {
    keyTags = mapping.keyTags
    entities = mapping.entities
    var walker = UsageWalker(mapping: mapping, fragments: fragments)
    if let root = mapping.schema.rootType(for: operation.kind) {
      walker.walk(operation.selectionSet, on: root)
    }
    namesEntities = operation.variables.map { walker.representations.contains($0.name.text) }
    roles = operation.variables.map { variable in
      let isNamed = walker.representations.contains(variable.name.text)
      if mapping.schema.isDocument(variable.type, orList: isNamed) { return .whole }
      if let rows = walker.rows[variable.name.text], !walker.parts.contains(variable.name.text) {
        return .rows(rows)
      }
      return walker.pageSizes.contains(variable.name.text)
        ? .pageSize
        : walker.identity(variable.name.text)
          ?? (walker.wholes.contains(variable.name.text)
            && !walker.parts.contains(variable.name.text) ? .whole : .value)
    }
  }

  package func appendKey(for variables: [InputValue?], to key: inout [UInt8]) {
    for (index, value) in variables.enumerated() where index < roles.count {
      guard let value else {
        key.append(UInt8(ascii: "-"))
        continue
      }
      append(value, roles[index], to: &key)
      if namesEntities[index] { append(representations: value, to: &key) }
    }
  }

  private func append(_ value: InputValue, _ role: Role, to key: inout [UInt8]) {
    switch value {
    case .null: key.append(UInt8(ascii: "0"))
    case .list where appendRows(value, role, to: &key): return
    case _ where role == .whole: key.append(UInt8(ascii: "*"))
    case .boolean(let flag): key.append(UInt8(ascii: flag ? "t" : "f"))
    case .enum(let name):
      key.append(contentsOf: name.utf8)
      key.append(UInt8(ascii: ";"))
    case .int(let number) where role == .pageSize:
      key.append(contentsOf: String(number).utf8)
      key.append(UInt8(ascii: ";"))
    case .int, .bigInt, .float, .number: key.append(UInt8(ascii: "n"))
    case .string(let text) where role == .numberID || role == .anyID:
      key.append(UInt8(ascii: "#"))
      key.append(NodeID.decode(text).map { UInt8(truncatingIfNeeded: $0) } ?? 0)
      if role == .anyID { append(value, .keyID, to: &key) }
    case .string(let text) where role == .keyID:
      key.append(UInt8(ascii: "@"))
      let tag = KeyID(text).map { keyTags.contains($0.tag) ? $0.tag : 0 }
      KeyID.append(tag ?? 0) { key.append($0) }
    case .string(let text): key.append(UInt8(ascii: text.isEmpty ? "e" : "s"))
    case .list(let items):
      if role == .numberID || role == .anyID {
        appendTags(items, to: &key)
        appendExcess(items, to: &key)
        return
      }
      key.append(UInt8(ascii: "["))
      for item in items {
        // Scalars are one array parameter however many they are.
        if item.isScalar { break }
        append(item, role, to: &key)
      }
      key.append(UInt8(ascii: "]"))
    case .object(let members):
      key.append(UInt8(ascii: "{"))
      for member in members {
        key.append(contentsOf: member.name.utf8)
        key.append(UInt8(ascii: ":"))
        append(member.value, role, to: &key)
      }
      key.append(UInt8(ascii: "}"))
    }
  }

  /// Appends the set of kinds of keys, in order, or the name of a type that is given alone.
  private func append(representations value: InputValue, to key: inout [UInt8]) {
    key.append(UInt8(ascii: "("))
    switch value {
    case .list(let items):
      let places = Set(items.map { entities.place(of: $0) ?? -1 })
      for place in places.sorted() {
        key.append(contentsOf: "\(place),".utf8)
      }
      appendExcess(items, to: &key)
    // Of other texts none is a part of the plan. No name has a bracket.
    case .string(let text) where !entities.of(text).isEmpty: key.append(contentsOf: text.utf8)
    default: key.append(contentsOf: "\(entities.place(of: value) ?? -1)".utf8)
    }
    key.append(UInt8(ascii: ")"))
  }

  /// Appends the members of rows that are alike.
  ///
  /// - Returns: whether they are.
  private func appendRows(_ value: InputValue, _ role: Role, to key: inout [UInt8]) -> Bool {
    guard case .rows(let rows) = role, let members = rows.members(of: value) else { return false }
    key.append(UInt8(ascii: "="))
    for member in members {
      key.append(contentsOf: member.utf8)
      key.append(UInt8(ascii: ","))
    }
    return true
  }

  /// Tells lists that may be too long from others, whose plan would take them.
  private func appendExcess(_ items: [InputValue], to key: inout [UInt8]) {
    guard items.count > PlannerLimits().maximumNodeIDs else { return }
    key.append(contentsOf: "!\(items.count)".utf8)
  }

  /// Appends the set of tags, in order.
  private func appendTags(_ items: [InputValue], to key: inout [UInt8]) {
    key.append(UInt8(ascii: "<"))
    let start = key.count
    for item in items {
      guard case .string(let text) = item, let id = NodeID.decode(text) else { continue }
      let tag = UInt8(truncatingIfNeeded: id)
      // Few at most, and at most 256.
      var place = key.count
      while place > start, key[place - 1] > tag { place -= 1 }
      if place == start || key[place - 1] != tag { key.insert(tag, at: place) }
    }
    key.append(0)
  }
}

extension InputValue {
  /// Whether the value is one of a scalar.
  fileprivate var isScalar: Bool {
    switch self {
    case .boolean, .int, .bigInt, .float, .number, .string: true
    case .null, .enum, .list, .object: false
    }
  }
}

extension Schema {
  /// Returns whether the type is a scalar whose values are JSON documents.
  ///
  /// - Parameter orList: whether a list of them counts, too.
  fileprivate func isDocument(_ type: TypeSyntax, orList: Bool = false) -> Bool {
    switch type {
    case .named(let name): self.type(named: name.text)?.isDocument == true
    case .nonNull(let inner): isDocument(inner, orList: orList)
    case .list(let inner, _): orList && isDocument(inner, orList: true)
    }
  }
}

private struct UsageWalker {
  let mapping: StorageMapping
  let fragments: [String: FragmentDefinition]
  var pageSizes: Set<String> = []
  /// The variables that determine a table: as a number, and as the ID of a key.
  var numberIDs: Set<String> = []
  var keyIDs: Set<String> = []
  /// The variables that are passed unchanged, and those used in any other way.
  var wholes: Set<String> = []
  var parts: Set<String> = []
  /// The variables in representations.
  var representations: Set<String> = []
  /// The variables that are all rows of an insert.
  var rows: [String: UniformRows] = [:]
  var visited: Set<String> = []

  /// Returns the role of a variable that determines a table; nil for another one.
  func identity(_ variable: String) -> OperationChoices.Role? {
    switch (numberIDs.contains(variable), keyIDs.contains(variable)) {
    case (true, true): .anyID
    case (true, false): .numberID
    case (false, true): .keyID
    case (false, false): nil
    }
  }

  mutating func walk(_ set: SelectionSet, on type: TypeID) {
    for selection in set.selections {
      switch selection {
      case .field(let field):
        note(field, on: type)
        if let inner = field.selectionSet,
          let definition = mapping.schema[type].field(named: field.name.text)
        {
          walk(inner, on: definition.type.namedType)
        }
      case .inlineFragment(let inline):
        let condition = inline.typeCondition.flatMap { mapping.schema.typesByName[$0.text] }
        walk(inline.selectionSet, on: condition ?? type)
      case .fragmentSpread(let spread):
        guard visited.insert(spread.name.text).inserted, let fragment = fragments[spread.name.text],
          let condition = mapping.schema.typesByName[fragment.typeCondition.text]
        else { continue }
        walk(fragment.selectionSet, on: condition)
      }
    }
  }

  private mutating func note(_ field: Field, on type: TypeID) {
    for argument in field.directives.first(named: "stream")?.arguments ?? []
    where argument.name.text == "initialCount" {
      pageSizes.formUnion(variables(in: argument.value))
    }
    for argument in field.arguments {
      let variables = variables(in: argument.value)
      guard !variables.isEmpty else { continue }
      let name = argument.name.text
      if ["first", "last", "limit"].contains(name) { pageSizes.formUnion(variables) }
      if isWhole(argument, of: field, on: type) {
        wholes.formUnion(variables)
      } else if case .variable(let name) = argument.value.content,
        let found = rows(argument, of: field, on: type)
      {
        rows[name] = found
      } else {
        parts.formUnion(variables)
      }
      switch mapping[type]?.fields[field.name.text]?.kind {
      case .reference(let reference) where reference.id?.soleVariable == [name]:
        if mapping.hasKeyIDs(type, field.name.text) {
          keyIDs.formUnion(variables)
        } else {
          numberIDs.formUnion(variables)
        }
      case .relation(let relation) where relation.ids?.soleVariable == [name]:
        numberIDs.formUnion(variables)
      case .entities: representations.formUnion(variables)
      default: break
      }
    }
  }

  /// Returns whether the argument is a variable with an input object, and the call uses none of its
  /// fields alone.
  private func isWhole(_ argument: Argument, of field: Field, on type: TypeID) -> Bool {
    guard case .call(let call)? = mapping[type]?.fields[field.name.text]?.kind,
      case .variable = argument.value.content,
      let definition = mapping.schema[type].field(named: field.name.text)?
        .argument(named: argument.name.text),
      case .inputObject = mapping.schema[definition.type.namedType].kind
    else { return false }
    return call.takesWhole(argument.name.text)
  }

  /// Returns the rule for the rows of an argument; nil if they are not inserted.
  private func rows(_ argument: Argument, of field: Field, on type: TypeID) -> UniformRows? {
    guard case .call(let call)? = mapping[type]?.fields[field.name.text]?.kind,
      call.write?.action == .insert,
      let definition = mapping.schema[type].field(named: field.name.text)?
        .argument(named: argument.name.text)
    else { return nil }
    return UniformRows(definition, mapping)
  }

  private func variables(in value: Value) -> [String] {
    switch value.content {
    case .variable(let name): [name]
    case .list(let items): items.flatMap { variables(in: $0) }
    case .object(let fields): fields.flatMap { variables(in: $0.value) }
    case .int, .float, .string, .boolean, .null, .enum: []
    }
  }
}
