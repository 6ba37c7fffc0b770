import GraphQLLanguage
import GraphQLSchema
import SQL

/// Finds arguments, input fields and enum values that clients can give and that nothing reads. A
/// client that gives one gets a response as if it had not, without a warning.
///
/// It errs on the side of use: a word in any directive that may be about an argument counts.
package struct ArgumentUses {
  private let mapping: StorageMapping
  private var schema: Schema { mapping.schema }
  /// The paths of `:name.member` that are not about an argument of their own field.
  private var sharedPaths: [[String]] = []
  /// The names of arguments and input fields that directives mention in other ways than `:name`.
  private var names: Set<String> = []
  private var arguments: [String: Argument] = [:]
  private var readFields: Set<ObjectIdentifier> = []
  private var inputs: [TypeID] = []
  /// The input types that were visited beyond all paths, where only the type counts: those that are
  /// read as one, and others. Types that all have each other have more paths than can be visited.
  private var visited: [Bool: Set<TypeID>] = [:]
  private var orderProblems: [Problem] = []

  /// A schema coordinate, and what to do about it.
  package typealias Problem = (coordinate: String, message: String)

  /// An argument of a field, which several types can have from one interface.
  private struct Argument {
    var isRead = false
    /// Whether a list or connection has it.
    var kind = Kind.other
    let definition: InputValueDefinition
    let order: Int

    enum Kind { case list, connection, other }
  }

  package init(_ mapping: StorageMapping) {
    self.mapping = mapping
    for definition in definitions { note(definition) }
    for type in schema.types where !type.isBuiltIn && !isPagePart(type) {
      guard case .object = type.kind else { continue }
      for field in type.fields { read(field, of: type) }
    }
  }

  package var problems: [Problem] {
    let unread = arguments.filter { !$0.value.isRead }.sorted { $0.value.order < $1.value.order }
    var problems = unread.map { coordinate, argument -> Problem in
      (
        coordinate,
        "nothing reads this argument; " + remedy(argument.definition.name, argument.kind)
      )
    }
    for id in inputs {
      guard case .inputObject(let fields, _) = schema[id].kind else { continue }
      for field in fields where !readFields.contains(ObjectIdentifier(field)) {
        problems.append(
          (
            "\(schema[id].name).\(field.name)",
            "nothing reads this input field; give it a @where, read it in SQL, or leave it out."
          ))
      }
    }
    return problems + orderProblems
  }

  private func remedy(_ name: String, _ kind: Argument.Kind) -> String {
    let sizes: Set = ["first", "last", "limit", "top", "count", "size", "max", "take", "n"]
    switch kind {
    case .list where sizes.contains(name): return "the one that cuts a @list is named limit."
    case .connection where sizes.contains(name):
      return "those that cut the page of a @connection are named first and last."
    case .list, .connection, .other:
      return "give it a @where, use :\(name) in SQL, or leave it out."
    }
  }

  // MARK: - What directives mention

  /// Everything that has directives, with the names of its own arguments.
  private var definitions: [(directives: [Directive], own: Set<String>)] {
    var found: [(directives: [Directive], own: Set<String>)] = [(schema.appliedDirectives, [])]
    for type in schema.types where !type.isBuiltIn {
      found.append((type.appliedDirectives, []))
      for field in type.fields {
        let own = Set(field.arguments.map(\.name))
        found.append((field.appliedDirectives, own))
        found += field.arguments.map { ($0.appliedDirectives, own) }
      }
      switch type.kind {
      case .inputObject(let fields, _): found += fields.map { ($0.appliedDirectives, []) }
      case .enum(let values): found += values.map { ($0.appliedDirectives, []) }
      case .scalar, .object, .interface, .union: break
      }
    }
    return found
  }

  private mutating func note(_ definition: (directives: [Directive], own: Set<String>)) {
    for directive in definition.directives
    where StorageDirectives.names.contains(directive.name.text) {
      for name in ["given", "provider", "unless", "signsIn"] {
        names.formUnion((directive.string(name) ?? "").split(separator: ".").map(String.init))
      }
      sharedPaths += Self.paths(directive).filter { !definition.own.contains($0[0]) }
    }
  }

  private static func paths(_ directive: Directive) -> [[String]] {
    directive.arguments.flatMap { argument -> [[String]] in
      guard case .string(let literal) = argument.value.content else { return [] }
      let place = "\(directive.name.text)(\(argument.name.text):)"
      let templates = try? TemplateVariables.templates(in: literal.text, of: place)
      return (templates ?? []).flatMap(\.variables).filter { !$0.isEmpty }
    }
  }

  // MARK: - Fields

  /// Returns whether the type is a connection or an edge, whose fields are found by name.
  private func isPagePart(_ type: TypeDefinition) -> Bool {
    type.appliedDirectives.first(named: "table") == nil
      && (type.field(named: "edges") != nil
        || type.field(named: "cursor") != nil && type.field(named: "node") != nil)
  }

  private mutating func read(_ field: FieldDefinition, of type: TypeDefinition) {
    guard !field.arguments.isEmpty, let storage = mapping[type.id]?.fields[field.name] else {
      return
    }
    var kind = Argument.Kind.other
    var read: Set<String> = []
    var isWhole = false
    switch storage.kind {
    case .none: return
    case .relation(let relation) where relation.isConnection:
      kind = .connection
      read = ["first", "last", "after", "before"]
    case .relation:
      kind = .list
      read = ["limit"]
    case .call(let call):
      isWhole = call.write != nil || call.function?.mentions(variable: "arguments") == true
      if let write = call.write { read = Set(write.read) }
    case .entities: read = [EntityKey.argument]
    case .leaf, .keyID, .values, .embed, .reference, .userErrors, .secret, .constant: break
    }
    let declarations =
      [field, storage.definition]
      + type.interfaces.compactMap { schema[$0].field(named: field.name) }
    let directives = declarations.flatMap {
      $0.appliedDirectives + $0.arguments.flatMap(\.appliedDirectives)
    }
    let paths = sharedPaths + directives.flatMap(Self.paths)
    for argument in field.arguments {
      let owner =
        type.interfaces.first {
          schema[$0].field(named: field.name)?.argument(named: argument.name) != nil
        } ?? type.id
      let coordinate = "\(schema[owner].name).\(field.name)(\(argument.name):)"
      let isCalled = isWhole && (read.isEmpty || read.contains(argument.name))
      let declared = declarations.compactMap { $0.argument(named: argument.name) }
      let isRead =
        read.contains(argument.name) || isCalled
        || declared.contains { self.isRead($0, [argument.name], paths) }
      var known = arguments[coordinate] ?? Argument(definition: argument, order: arguments.count)
      known.isRead = known.isRead || isRead
      known.kind = kind
      arguments[coordinate] = known
      visit(argument, [argument.name], paths, isWhole: isCalled, within: [])
      if case .relation(let relation) = storage.kind, relation.order.keys.isEmpty {
        checkOrder(argument, storage.coordinate)
      }
    }
  }

  /// Returns whether a directive of the definition, or a path that begins with its own, reads it.
  private func isRead(
    _ definition: InputValueDefinition, _ path: [String], _ paths: [[String]]
  ) -> Bool {
    let type = schema[definition.type.namedType]
    return definition.appliedDirectives.contains { StorageDirectives.names.contains($0.name.text) }
      || names.contains(definition.name) || paths.contains { $0.starts(with: path) }
      || mapping.filter(type.id) != nil || mapping.order(type.id) != nil
      || mapping.hasConditions(type.id) || isOrder(type)
  }

  private func isOrder(_ type: TypeDefinition) -> Bool {
    guard case .enum(let values) = type.kind else { return false }
    return values.contains { $0.appliedDirectives.first(named: "orderBy") != nil }
  }

  private mutating func checkOrder(_ argument: InputValueDefinition, _ field: String) {
    let type = schema[argument.type.namedType]
    guard isOrder(type), case .enum(let values) = type.kind else { return }
    for value in values where value.appliedDirectives.first(named: "orderBy") == nil {
      orderProblems.append(
        (
          "\(type.name).\(value.name)",
          "it orders nothing in \(field); write @orderBy on it, or orderBy in the field's directive."
        ))
    }
  }

  // MARK: - Input fields

  /// Notes the fields of an argument's input object that are read, and of those inside it.
  ///
  /// - Parameters:
  ///   - isWhole: whether the value is read as one, so that all of it is.
  ///   - outer: the input types around it, as they may be recursive.
  private mutating func visit(
    _ definition: InputValueDefinition, _ path: [String], _ paths: [[String]], isWhole: Bool,
    within outer: [TypeID]
  ) {
    let type = schema[definition.type.namedType]
    guard case .inputObject(let fields, _) = type.kind, !outer.contains(type.id),
      mapping.filter(type.id) == nil, mapping.order(type.id) == nil
    else { return }
    if !inputs.contains(type.id) { inputs.append(type.id) }
    let isWhole =
      isWhole || paths.contains(path)
      || definition.appliedDirectives.contains { StorageDirectives.names.contains($0.name.text) }
    if !paths.contains(where: { $0.starts(with: path) }) {
      guard visited[isWhole, default: []].insert(type.id).inserted else { return }
    }
    for field in fields {
      let inner = path + [field.name]
      if isWhole || isRead(field, inner, paths) { readFields.insert(ObjectIdentifier(field)) }
      visit(field, inner, paths, isWhole: isWhole, within: outer + [type.id])
    }
  }
}
