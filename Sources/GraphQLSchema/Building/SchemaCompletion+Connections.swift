import GraphQLLanguage

extension SchemaCompletion {
  /// The types to add, with the index of the definition that determines their place.
  private struct Additions {
    var before: [Int: TypeSystemTypeDefinition] = [:]
    var after: [Int: TypeSystemTypeDefinition] = [:]
    /// The types to add at the end of the file that has the definition.
    var last: [(place: Int, types: [TypeSystemTypeDefinition])] = []
  }

  mutating func completeConnections(fileEnds: [Position]) {
    var additions = Additions()
    for name in connectionNames() { complete(name, &additions) }
    add(additions, fileEnds: fileEnds)
    index()
  }

  /// Returns the names of connection types that are defined or that fields have, each where it
  /// comes first.
  private func connectionNames() -> [Name] {
    var names: [Name] = []
    for case .type(let type) in definitions {
      names.append(type.name)
      names += type.fields.map(\.type.namedType)
    }
    var seen: Set<String> = []
    return names.filter { ConnectionSyntax(named: $0) != nil && seen.insert($0.text).inserted }
  }

  private mutating func complete(_ name: Name, _ additions: inout Additions) {
    guard let syntax = ConnectionSyntax(named: name) else { return }
    let connection = parts(of: syntax.connection)
    let edge = parts(of: syntax.edge)
    guard (connection + edge).allSatisfy(\.isObject) else { return }
    let node: TypeSyntax
    let origin: Int
    if let type = edge.flatMap(\.fields).first(where: { $0.name.text == "node" })?.type {
      node = type
      origin = firstPlace(of: syntax.edge)
    } else if let place = places[syntax.stem], definition(of: syntax.stem)?.isOutput == true {
      node = .nonNull(.named(Name(text: syntax.stem, position: name.position)))
      origin = place
    } else {
      // A type with fields and without edges is whatever its author means it to be.
      if connection.allSatisfy(\.fields.isEmpty) { reportUnknown(syntax) }
      return
    }
    let page = made(
      syntax.connection, syntax.description, syntax.fields(node: node), syntax.position)
    let item = made(
      syntax.edge, syntax.edgeDescription(page.description?.text ?? ""),
      syntax.edgeFields(node: node), syntax.position)
    switch (places[syntax.connection], places[syntax.edge]) {
    case (let connection?, let edge?):
      definitions[connection] = .type(page)
      definitions[edge] = .type(item)
    case (let connection?, nil):
      definitions[connection] = .type(page)
      additions.after[connection] = item
    case (nil, let edge?):
      additions.before[edge] = page
      definitions[edge] = .type(item)
    case (nil, nil): additions.last.append((origin, [page, item]))
    }
  }

  /// Returns the type as far as it is written, with the missing parts of a connection or edge type.
  private mutating func made(
    _ name: String, _ description: String, _ template: [FieldDefinitionSyntax],
    _ position: Position
  ) -> TypeSystemTypeDefinition {
    let extended = (extensions[name] ?? []).flatMap(\.fields)
    let written =
      definition(of: name)
      ?? TypeSystemTypeDefinition(
        isExtension: false, description: nil, name: Name(text: name, position: position),
        directives: [], content: .object(interfaces: [], fields: []), position: position)
    for field in written.fields + extended {
      guard let expected = template.first(where: { $0.name.text == field.name.text }),
        expected.type.namedType.text != field.type.namedType.text
      else { continue }
      findings.report(
        .typeSystem,
        "Field \"\(name).\(field.name.text)\" must be of type \"\(expected.type.text)\", not"
          + " \"\(field.type.text)\".", at: field.type.position)
    }
    return written.with(
      description: written.description
        ?? StringLiteral(text: description, isBlock: false, position: position),
      fields: written.fields.completed(
        from: template, extensions: Set(extended.map(\.name.text))
      ) { _ in 0 })
  }

  private mutating func reportUnknown(_ syntax: ConnectionSyntax) {
    let known = places.keys.filter { definition(of: $0)?.isOutput == true }
    var suggestions = Suggestions()
    let hint = suggestions.didYouMean(syntax.stem, among: known.sorted())
    findings.report(
      .knownTypeNames,
      "Unknown type \"\(syntax.connection)\". It can be made for an object, interface or union type"
        + " \"\(syntax.stem)\", or for the node of a type \"\(syntax.edge)\"; there is neither."
        + hint, at: syntax.position)
  }

  // MARK: - Page arguments

  /// Adds the arguments `first`, `after`, `last` and `before` to fields of connection types.
  mutating func completePageArguments() {
    for (place, definition) in definitions.enumerated() {
      guard case .type(let type) = definition else { continue }
      let fields = type.fields.map { field in
        guard let syntax = ConnectionSyntax(named: field.type.namedType),
          parts(of: syntax.connection).flatMap(\.fields).contains(where: { $0.name.text == "edges" }
          )
        else { return field }
        return field.with(
          arguments: field.arguments.completed(from: syntax.pageArguments(size: field.pageSize)))
      }
      definitions[place] = .type(type.with(description: type.description, fields: fields))
    }
  }

  // MARK: - Places

  /// Returns the index of the definition or, if there is none, of the first extension.
  private func firstPlace(of name: String) -> Int {
    places[name]
      ?? definitions.firstIndex {
        if case .type(let type) = $0 { type.name.text == name } else { false }
      } ?? definitions.count
  }

  private mutating func add(_ additions: Additions, fileEnds: [Position]) {
    func file(of definition: Definition) -> Int {
      guard case .type(let type) = definition else { return 0 }
      return fileEnds.count { $0.offset <= type.position.offset }
    }
    var last: [Int: [TypeSystemTypeDefinition]] = [:]
    for (place, types) in additions.last.sorted(by: { $0.place < $1.place }) {
      last[file(of: definitions[place]), default: []] += types
    }
    var result: [Definition] = []
    var current = 0
    for (place, definition) in definitions.enumerated() {
      while current < file(of: definition) {
        result += (last.removeValue(forKey: current) ?? []).map(Definition.type)
        current += 1
      }
      if let type = additions.before[place] { result.append(.type(type)) }
      result.append(definition)
      if let type = additions.after[place] { result.append(.type(type)) }
    }
    for (_, types) in last.sorted(by: { $0.key < $1.key }) { result += types.map(Definition.type) }
    definitions = result
  }
}

/// The connection and edge types for one type of node, with the names and fields of the Cursor
/// Connections Specification, and with `nodes`, `totalCount` and `isTotalCountExact`.
private struct ConnectionSyntax {
  static let suffix = "Connection"

  let stem: String
  /// The position where the connection type is named first.
  let position: Position

  /// Creates the syntax; nil if the name is not that of a connection type.
  init?(named name: Name) {
    guard name.text.hasSuffix(Self.suffix), name.text.utf8.count > Self.suffix.utf8.count else {
      return nil
    }
    stem = String(name.text.dropLast(Self.suffix.count))
    position = name.position
  }

  var connection: String { stem + Self.suffix }
  var edge: String { stem + "Edge" }

  var description: String { Self.page + "\(nouns)." }

  /// Returns a description derived from the connection's: "An element of a page of the cards owed."
  /// for "A page of the cards owed."
  func edgeDescription(_ description: String) -> String {
    "An element of a page of "
      + (description.hasPrefix(Self.page)
        ? String(description.dropFirst(Self.page.count)) : "\(nouns).")
  }

  private static let page = "A page of "

  func fields(node: TypeSyntax) -> [FieldDefinitionSyntax] {
    [
      field("edges", list(nonNull(edge)), "The elements of the page, each with its cursor."),
      field("nodes", list(node), "The elements of the page, without cursors."),
      field(
        "pageInfo", nonNull("PageInfo"),
        "The position of the page, for requesting the next or the previous page."),
      field(
        "totalCount", nonNull("Int"),
        "The number of elements on all pages together. Counted only if selected."),
      field(
        "isTotalCountExact", nonNull("Boolean"),
        "Whether `totalCount` is the exact number. If false, counting stopped at a limit of the server."
      ),
    ]
  }

  func edgeFields(node: TypeSyntax) -> [FieldDefinitionSyntax] {
    [
      field("cursor", nonNull("String"), "The position of the element, for `after` and `before`."),
      field("node", node, "The element at this position."),
    ]
  }

  /// The arguments for a page from either end, of this size if none is requested.
  func pageArguments(size: String) -> [InputValueDefinitionSyntax] {
    [
      argument(
        "first", "Int",
        "Returns at most this many elements from the start, up to 100. If `first` and `last` are omitted, \(size)"
          + " elements are returned."),
      argument("after", "String", "Returns the elements after this cursor."),
      argument("last", "Int", "Returns at most this many elements from the end, up to 100."),
      argument("before", "String", "Returns the elements before this cursor."),
    ]
  }

  private func argument(
    _ name: String, _ type: String, _ description: String
  ) -> InputValueDefinitionSyntax {
    InputValueDefinitionSyntax(
      description: text(description), name: Name(text: name, position: position),
      type: .named(Name(text: type, position: position)), defaultValue: nil, directives: [],
      position: position)
  }

  private func text(_ text: String) -> StringLiteral {
    StringLiteral(text: text, isBlock: false, position: position)
  }

  private func field(
    _ name: String, _ type: TypeSyntax, _ description: String
  ) -> FieldDefinitionSyntax {
    FieldDefinitionSyntax(
      description: text(description),
      name: Name(text: name, position: position), arguments: [], type: type, directives: [],
      position: position)
  }

  private func nonNull(_ name: String) -> TypeSyntax {
    .nonNull(.named(Name(text: name, position: position)))
  }

  private func list(_ element: TypeSyntax) -> TypeSyntax {
    .nonNull(.list(element, position: position))
  }

  /// The plural of the type's name in words: `activity tracks` for `ActivityTrack`.
  private var nouns: String {
    var words = ""
    for character in stem {
      if character.isUppercase, !words.isEmpty { words += " " }
      words += character.lowercased()
    }
    let isSibilant = ["s", "x", "z", "ch", "sh"].contains { words.hasSuffix($0) }
    if words.hasSuffix("y"), !["ay", "ey", "oy", "uy"].contains(where: { words.hasSuffix($0) }) {
      return words.dropLast() + "ies"
    }
    return words + (isSibilant ? "es" : "s")
  }
}

extension FieldDefinitionSyntax {
  /// The size of its pages if none is requested: `size` of its `@connection`, or 20.
  fileprivate var pageSize: String {
    let size = directives.first { $0.name.text == "connection" }?
      .arguments.first { $0.name.text == "size" }
    if case .int(let text)? = size?.value.content { return text }
    return "20"
  }
}

extension TypeSystemTypeDefinition {
  fileprivate var isObject: Bool { if case .object = content { true } else { false } }

  /// Whether it is an object, interface or union type.
  fileprivate var isOutput: Bool {
    switch content {
    case .object, .interface, .union: true
    case .scalar, .enum, .inputObject: false
    }
  }
}
