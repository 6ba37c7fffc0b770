/// Turns a syntax tree back into text, in the layout of graphql-js 16's `print`.
///
/// Every definition, value and type has one form, so printing is also a way to compare documents.
/// Comments and the layout of the source are lost; block strings stay block strings.
package struct Printer {
  private(set) var bytes: [UInt8] = []
  private var depth = 0
  /// The number of bytes that are indentation.
  private var indentation = 0

  package static func print(_ document: Document) -> String {
    var printer = Printer()
    printer.bytes.reserveCapacity(document.source.bytes.count)
    printer.separated(document.definitions, "\n\n") { $0.write($1) }
    return printer.text
  }

  package static func print(_ definition: Definition) -> String {
    text { $0.write(definition) }
  }

  package static func print(_ value: Value) -> String {
    text { $0.write(value) }
  }

  package static func print(_ type: TypeSyntax) -> String {
    text { $0.write(type) }
  }

  package static func print(_ directive: Directive) -> String {
    text { $0.write(directive) }
  }

  private static func text(_ body: (inout Printer) -> Void) -> String {
    var printer = Printer()
    body(&printer)
    return printer.text
  }

  private var text: String { String(decoding: bytes, as: UTF8.self) }

  // MARK: - Layout

  /// Appends text, with the current indentation after every line feed.
  mutating func write(_ text: String) {
    guard depth > 0, text.utf8.contains(UInt8(ascii: "\n")) else {
      bytes.append(contentsOf: text.utf8)
      return
    }
    for byte in text.utf8 {
      bytes.append(byte)
      if byte == UInt8(ascii: "\n") { indent() }
    }
  }

  private mutating func indent() {
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
    indentation += 2 * depth
  }

  mutating func separated<Item>(
    _ items: [Item], _ separator: String, _ body: (inout Printer, Item) -> Void
  ) {
    for (index, item) in items.enumerated() {
      if index > 0 { write(separator) }
      body(&self, item)
    }
  }

  /// Writes items on lines of their own, indented, between two brackets.
  mutating func indented<Item>(
    _ open: String, _ items: [Item], _ close: String, _ body: (inout Printer, Item) -> Void
  ) {
    write(open)
    depth += 1
    write("\n")
    separated(items, "\n", body)
    depth -= 1
    write("\n")
    write(close)
  }

  /// Writes a space and a block in braces; nothing if there are no items.
  mutating func block<Item>(_ items: [Item], _ body: (inout Printer, Item) -> Void) {
    guard !items.isEmpty else { return }
    write(" ")
    indented("{", items, "}", body)
  }

  /// Writes arguments in parentheses on one line; nothing if there are none.
  mutating func parenthesised<Item>(_ items: [Item], _ body: (inout Printer, Item) -> Void) {
    guard !items.isEmpty else { return }
    write("(")
    separated(items, ", ", body)
    write(")")
  }

  /// Writes items in parentheses: on one line, unless one of them takes several.
  ///
  /// Without `indenting` the lines are those of variable definitions, which graphql-js does not
  /// indent.
  mutating func definitions<Item>(
    _ items: [Item], indenting: Bool, _ body: (inout Printer, Item) -> Void
  ) {
    let mark = mark
    parenthesised(items, body)
    guard bytes[mark.count...].contains(UInt8(ascii: "\n")) else { return }
    rewind(to: mark)
    if indenting {
      indented("(", items, ")", body)
    } else {
      write("(\n")
      separated(items, "\n", body)
      write("\n)")
    }
  }

  private var mark: (count: Int, indentation: Int) { (bytes.count, indentation) }

  private mutating func rewind(to mark: (count: Int, indentation: Int)) {
    bytes.removeLast(bytes.count - mark.count)
    indentation = mark.indentation
  }

  // MARK: - Parts

  mutating func write(_ description: StringLiteral?) {
    guard let description else { return }
    write(description)
    write("\n")
  }

  mutating func write(_ literal: StringLiteral) {
    write(literal.isBlock ? Self.blockString(literal.text) : Self.string(literal.text))
  }

  mutating func write(_ value: Value) {
    switch value.content {
    case .variable(let name):
      write("$")
      write(name)
    case .int(let text), .float(let text), .enum(let text): write(text)
    case .string(let literal): write(literal)
    case .boolean(let boolean): write(boolean ? "true" : "false")
    case .null: write("null")
    case .list(let values):
      write("[")
      separated(values, ", ") { $0.write($1) }
      write("]")
    case .object(let fields):
      write("{")
      separated(fields, ", ") { printer, field in
        printer.write(field.name.text)
        printer.write(": ")
        printer.write(field.value)
      }
      write("}")
    }
  }

  mutating func write(_ type: TypeSyntax) {
    switch type {
    case .named(let name): write(name.text)
    case .list(let inner, position: _):
      write("[")
      write(inner)
      write("]")
    case .nonNull(let inner):
      write(inner)
      write("!")
    }
  }

  private mutating func write(_ argument: Argument) {
    write(argument.name.text)
    write(": ")
    write(argument.value)
  }

  mutating func write(_ directive: Directive) {
    write("@")
    write(directive.name.text)
    parenthesised(directive.arguments) { $0.write($1) }
  }

  /// Writes directives, each after a space.
  mutating func write(_ directives: [Directive]) {
    for directive in directives {
      write(" ")
      write(directive)
    }
  }

  // MARK: - Executable definitions

  private mutating func write(_ definition: Definition) {
    switch definition {
    case .operation(let operation): write(operation)
    case .fragment(let fragment): write(fragment)
    case .schema(let schema): write(schema)
    case .type(let type): write(type)
    case .directive(let directive): write(directive)
    }
  }

  private mutating func write(_ operation: OperationDefinition) {
    write(operation.description)
    if operation.kind != .query || operation.description != nil || operation.name != nil
      || !operation.variables.isEmpty || !operation.directives.isEmpty
    {
      write(operation.kind.rawValue)
      if operation.name != nil || !operation.variables.isEmpty { write(" ") }
      write(operation.name?.text ?? "")
      definitions(operation.variables, indenting: false) { $0.write($1) }
      write(operation.directives)
      write(" ")
    }
    write(operation.selectionSet)
  }

  private mutating func write(_ variable: VariableDefinition) {
    write(variable.description)
    write("$")
    write(variable.name.text)
    write(": ")
    write(variable.type)
    if let value = variable.defaultValue {
      write(" = ")
      write(value)
    }
    write(variable.directives)
  }

  private mutating func write(_ fragment: FragmentDefinition) {
    write(fragment.description)
    write("fragment ")
    write(fragment.name.text)
    write(" on ")
    write(fragment.typeCondition.text)
    write(fragment.directives)
    write(" ")
    write(fragment.selectionSet)
  }

  private mutating func write(_ set: SelectionSet) {
    if set.selections.isEmpty { return write("{}") }
    indented("{", set.selections, "}") { $0.write($1) }
  }

  private mutating func write(_ selection: Selection) {
    switch selection {
    case .field(let field): write(field)
    case .fragmentSpread(let spread):
      write("...")
      write(spread.name.text)
      write(spread.directives)
    case .inlineFragment(let fragment):
      write("...")
      if let typeCondition = fragment.typeCondition {
        write(" on ")
        write(typeCondition.text)
      }
      write(fragment.directives)
      write(" ")
      write(fragment.selectionSet)
    }
  }

  private mutating func write(_ field: Field) {
    let start = mark
    if let alias = field.alias {
      write(alias.text)
      write(": ")
    }
    write(field.name.text)
    let beforeArguments = mark
    parenthesised(field.arguments) { $0.write($1) }
    if !field.arguments.isEmpty, length(since: start) > Self.maximumLineLength {
      rewind(to: beforeArguments)
      indented("(", field.arguments, ")") { $0.write($1) }
    }
    write(field.directives)
    if let selectionSet = field.selectionSet {
      write(" ")
      write(selectionSet)
    }
  }

  private static let maximumLineLength = 80

  /// Returns the length in UTF-16 units and without indentation, as graphql-js measures it.
  private func length(since mark: (count: Int, indentation: Int)) -> Int {
    var length = mark.indentation - indentation
    for byte in bytes[mark.count...] where byte & 0xC0 != 0x80 { length += byte < 0xF0 ? 1 : 2 }
    return length
  }
}
