import GraphQLLanguage

/// Adds what the SDL of a storage schema omits: the fields that types inherit from their
/// interfaces, connection types, the arguments of pages, and the members of filters and orders.
///
/// It maps syntax to syntax, before `SchemaBuilder`. The specification requires every field of
/// every type, and so does `SchemaBuilder`; only code that loads a schema with its storage calls
/// this first.
///
/// **Interfaces.** An object or interface type gets the fields of its interfaces. A field that it
/// declares gets the missing parts: the description, arguments, and the directives if it has only
/// those of the specification. The same applies to declared arguments. A missing field is inserted
/// after the one that precedes it in the interface; the first one comes last, except `id`, which
/// comes first.
///
/// **Connections.** `FooConnection` and `FooEdge`, as in the Cursor Connections Specification, are
/// created if a field has that type and they are not, or not fully, declared. The node is the type
/// of the edge's `node`, or `Foo`. They come next to the one of the two that is declared, otherwise
/// at the end of the file of `Foo`, in the order of their nodes' types. Fields of connection types
/// get the arguments `first`, `after`, `last` and `before`.
package struct SchemaCompletion {
  /// The definitions of the document, as far as it is completed.
  var definitions: [Definition]
  /// The index in `definitions` of each type, by its name.
  private(set) var places: [String: Int] = [:]
  private(set) var extensions: [String: [TypeSystemTypeDefinition]] = [:]
  var findings = Findings()

  /// Completes a document.
  ///
  /// - Parameter fileEnds: the ends of the files that the source is joined from, ascending; empty
  ///   for a source that is one file.
  /// - Throws: errors about parts that cannot be completed. `SchemaBuilder` finds the other errors.
  package static func complete(
    _ document: Document, fileEnds: [Position] = []
  ) throws(SchemaErrors) -> Document {
    var completion = SchemaCompletion(document)
    completion.completeConnections(fileEnds: fileEnds)
    completion.completeInterfaces()
    completion.completePageArguments()
    completion.completeFilters()
    guard completion.findings.isEmpty else {
      throw SchemaErrors(completion.findings.errors(in: document.source))
    }
    return Document(definitions: completion.definitions, source: document.source)
  }

  private init(_ document: Document) {
    definitions = document.definitions
    index()
  }

  /// Rebuilds the index. Call after adding or moving definitions.
  mutating func index() {
    places = [:]
    extensions = [:]
    for (place, definition) in definitions.enumerated() {
      guard case .type(let type) = definition else { continue }
      if type.isExtension {
        extensions[type.name.text, default: []].append(type)
      } else if places[type.name.text] == nil {
        places[type.name.text] = place
      }
    }
  }

  func definition(of name: String) -> TypeSystemTypeDefinition? {
    guard let place = places[name], case .type(let type) = definitions[place] else { return nil }
    return type
  }

  /// Returns the definition of a type, if there is one, and its extensions.
  func parts(of name: String) -> [TypeSystemTypeDefinition] {
    [definition(of: name)].compactMap { $0 } + (extensions[name] ?? [])
  }
}

extension TypeSystemTypeDefinition {
  /// The fields of an object or interface type; empty for other types.
  var fields: [FieldDefinitionSyntax] {
    switch content {
    case .object(_, let fields), .interface(_, let fields): fields
    case .scalar, .union, .enum, .inputObject: []
    }
  }

  /// The interfaces of an object or interface type; empty for other types.
  var interfaces: [Name] {
    switch content {
    case .object(let interfaces, _), .interface(let interfaces, _): interfaces
    case .scalar, .union, .enum, .inputObject: []
    }
  }

  func with(
    description: StringLiteral?, fields: [FieldDefinitionSyntax]
  ) -> TypeSystemTypeDefinition {
    let content: Content =
      switch content {
      case .object(let interfaces, _): .object(interfaces: interfaces, fields: fields)
      case .interface(let interfaces, _): .interface(interfaces: interfaces, fields: fields)
      case .scalar, .union, .enum, .inputObject: content
      }
    return TypeSystemTypeDefinition(
      isExtension: isExtension, description: description, name: name, directives: directives,
      content: content, position: position)
  }
}

extension [FieldDefinitionSyntax] {
  /// Returns these fields with their missing parts, and the missing fields, in the template's
  /// order.
  ///
  /// - Parameters:
  ///   - extensions: the names of fields that extensions declare, which are not added here.
  ///   - start: returns the index of the template's first field if it is missing.
  func completed(
    from template: [FieldDefinitionSyntax], extensions: Set<String> = [],
    start: (FieldDefinitionSyntax) -> Int
  ) -> [FieldDefinitionSyntax] {
    var fields = self
    var next: Int?
    for field in template where !extensions.contains(field.name.text) {
      if let place = fields.firstIndex(where: { $0.name.text == field.name.text }) {
        fields[place] = fields[place].completed(from: field)
        next = place + 1
      } else {
        let place = next ?? Swift.min(start(field), fields.count)
        fields.insert(field, at: place)
        next = place + 1
      }
    }
    return fields
  }
}

extension FieldDefinitionSyntax {
  fileprivate func completed(from template: FieldDefinitionSyntax) -> FieldDefinitionSyntax {
    FieldDefinitionSyntax(
      description: description ?? template.description, name: name,
      arguments: arguments.completed(from: template.arguments, start: 0), type: type,
      directives: directives.own.isEmpty ? directives + template.directives.own : directives,
      position: position)
  }

  func with(arguments: [InputValueDefinitionSyntax]) -> FieldDefinitionSyntax {
    FieldDefinitionSyntax(
      description: description, name: name, arguments: arguments, type: type,
      directives: directives, position: position)
  }
}

extension [InputValueDefinitionSyntax] {
  /// Returns these arguments with missing descriptions, and the missing arguments, in the
  /// template's order: the first at `start`, or last. A declared argument keeps its own default
  /// value.
  func completed(
    from template: [InputValueDefinitionSyntax], start: Int? = nil
  ) -> [InputValueDefinitionSyntax] {
    var arguments = self
    var next = start ?? count
    for argument in template {
      if let place = arguments.firstIndex(where: { $0.name.text == argument.name.text }) {
        arguments[place] = arguments[place].completed(from: argument)
        next = place + 1
      } else {
        arguments.insert(argument, at: next)
        next += 1
      }
    }
    return arguments
  }
}

extension InputValueDefinitionSyntax {
  fileprivate func completed(
    from template: InputValueDefinitionSyntax
  ) -> InputValueDefinitionSyntax {
    InputValueDefinitionSyntax(
      description: description ?? template.description, name: name, type: type,
      defaultValue: defaultValue,
      directives: directives.own.isEmpty ? directives + template.directives.own : directives,
      position: position)
  }
}

extension [Directive] {
  /// The directives that the specification does not define.
  fileprivate var own: [Directive] {
    filter { directive in !BuiltIns.directives.contains { $0.name.text == directive.name.text } }
  }
}
