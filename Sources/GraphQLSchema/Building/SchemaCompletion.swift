import GraphQLLanguage

/// Writes out what the SDL of a storage schema leaves unsaid: the fields that types inherit from
/// their interfaces, connection types, and the arguments of pages.
///
/// Syntax in, syntax out, before `SchemaBuilder` looks at it. The specification wants every field of
/// every type written, and `SchemaBuilder` alone goes on asking for that; only those who load a
/// schema with its storage call this first.
///
/// **Interfaces.** An object or interface type gets the fields of its interfaces. Of a field that it
/// writes itself it gets what is missing there: the description, arguments, and the directives if it
/// has none of its own but the specification's; the same goes for an argument that it writes. A field that it does not write stands after the one
/// that precedes it in the interface; the first one stands last, but `id`, which comes first.
///
/// **Connections.** `FooConnection` and `FooEdge`, as the Cursor Connections Specification has them,
/// are made where a field is of that type and they are not written, or not wholly: the node is what
/// the edge's `node` says, or `Foo`. They stand next to the one of the two that is written, else at
/// the end of the file of `Foo`, in the order of the types they are made for. Fields of connection
/// types get the arguments `first: Int = 20` and `after: String`, unless they have `last`.
package struct SchemaCompletion {
  /// The document, as far as it is completed.
  var definitions: [Definition]
  /// Where in `definitions` a type is defined, by its name.
  private(set) var places: [String: Int] = [:]
  private(set) var extensions: [String: [TypeSystemTypeDefinition]] = [:]
  var findings = Findings()

  /// - Parameter fileEnds: where each of the files ends that the source is joined from, ascending;
  ///   none for a source that is one file.
  /// - Throws: what cannot be completed. What is wrong besides is left for `SchemaBuilder` to find.
  package static func complete(
    _ document: Document, fileEnds: [Position] = []
  ) throws(SchemaErrors) -> Document {
    var completion = SchemaCompletion(document)
    completion.completeConnections(fileEnds: fileEnds)
    completion.completeInterfaces()
    completion.completePageArguments()
    guard completion.findings.isEmpty else {
      throw SchemaErrors(completion.findings.errors(in: document.source))
    }
    return Document(definitions: completion.definitions, source: document.source)
  }

  private init(_ document: Document) {
    definitions = document.definitions
    index()
  }

  /// To be called after definitions were added or moved.
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

  /// The definition, if there is one, and the extensions of a type.
  func parts(of name: String) -> [TypeSystemTypeDefinition] {
    [definition(of: name)].compactMap { $0 } + (extensions[name] ?? [])
  }
}

extension TypeSystemTypeDefinition {
  /// Of an object or interface type; empty for the others.
  var fields: [FieldDefinitionSyntax] {
    switch content {
    case .object(_, let fields), .interface(_, let fields): fields
    case .scalar, .union, .enum, .inputObject: []
    }
  }

  /// Of an object or interface type; empty for the others.
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
  /// These fields with what they leave out, and those that are missing, in the template's order.
  ///
  /// - Parameters:
  ///   - extensions: names of fields that extensions of the type write: neither missing nor here.
  ///   - start: where the template's first field goes when it is missing.
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
  /// These arguments, described where they are not, and those that are missing, in the template's
  /// order: the first at `start`, last unless given. A default value is part of what is written.
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
  /// Those that the specification does not define.
  fileprivate var own: [Directive] {
    filter { directive in !BuiltIns.directives.contains { $0.name.text == directive.name.text } }
  }
}
