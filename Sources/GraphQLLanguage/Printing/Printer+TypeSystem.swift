// Type system definitions and extensions.

extension Printer {
  mutating func write(_ schema: SchemaDefinition) {
    write(schema.description)
    write(schema.isExtension ? "extend schema" : "schema")
    write(schema.directives)
    block(schema.operationTypes) { printer, operationType in
      printer.write(operationType.kind.rawValue)
      printer.write(": ")
      printer.write(operationType.type.text)
    }
  }

  mutating func write(_ type: TypeSystemTypeDefinition) {
    write(type.description)
    if type.isExtension { write("extend ") }
    let (keyword, interfaces) = type.content.keywordAndInterfaces
    write(keyword)
    write(" ")
    write(type.name.text)
    if !interfaces.isEmpty {
      write(" implements ")
      separated(interfaces, " & ") { $0.write($1.text) }
    }
    write(type.directives)
    switch type.content {
    case .scalar: break
    case .object(_, let fields), .interface(_, let fields): block(fields) { $0.write($1) }
    case .union(let members):
      guard !members.isEmpty else { break }
      write(" = ")
      separated(members, " | ") { $0.write($1.text) }
    case .enum(let values):
      block(values) { printer, value in
        printer.write(value.description)
        printer.write(value.name.text)
        printer.write(value.directives)
      }
    case .inputObject(let fields): block(fields) { $0.write($1) }
    }
  }

  private mutating func write(_ field: FieldDefinitionSyntax) {
    write(field.description)
    write(field.name.text)
    definitions(field.arguments, indenting: true) { $0.write($1) }
    write(": ")
    write(field.type)
    write(field.directives)
  }

  private mutating func write(_ input: InputValueDefinitionSyntax) {
    write(input.description)
    write(input.name.text)
    write(": ")
    write(input.type)
    if let value = input.defaultValue {
      write(" = ")
      write(value)
    }
    write(input.directives)
  }

  mutating func write(_ directive: DirectiveDefinitionSyntax) {
    write(directive.description)
    write(directive.isExtension ? "extend directive @" : "directive @")
    write(directive.name.text)
    definitions(directive.arguments, indenting: true) { $0.write($1) }
    write(directive.directives)
    if directive.isExtension { return }
    write(directive.isRepeatable ? " repeatable on " : " on ")
    separated(directive.locations, " | ") { $0.write($1.text) }
  }
}

extension TypeSystemTypeDefinition.Content {
  fileprivate var keywordAndInterfaces: (String, [Name]) {
    switch self {
    case .scalar: ("scalar", [])
    case .object(let interfaces, _): ("type", interfaces)
    case .interface(let interfaces, _): ("interface", interfaces)
    case .union: ("union", [])
    case .enum: ("enum", [])
    case .inputObject: ("input", [])
    }
  }
}
