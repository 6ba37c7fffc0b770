import GraphQLLanguage

extension SchemaCompletion {
  mutating func completeInterfaces() {
    var names: [(name: String, interfaces: [String], place: Int)] = places.map { name, place in
      (name, parts(of: name).flatMap(\.interfaces).map(\.text), place)
    }
    // An interface implements all that those it implements do, so it comes after them.
    names.sort { ($0.interfaces.count, $0.place) < ($1.interfaces.count, $1.place) }
    let interfaces = Dictionary(
      names.map { ($0.name, Set($0.interfaces)) }, uniquingKeysWith: { first, _ in first })
    for (name, declared, place) in names where !declared.isEmpty {
      guard let type = definition(of: name) else { continue }
      // Interfaces that one of them implements are completed there.
      let nearest = declared.filter { candidate in
        !declared.contains { $0 != candidate && interfaces[$0]?.contains(candidate) == true }
      }
      definitions[place] = .type(completed(type, from: nearest))
    }
  }

  private mutating func completed(
    _ type: TypeSystemTypeDefinition, from interfaces: [String]
  ) -> TypeSystemTypeDefinition {
    let extended = Set((extensions[type.name.text] ?? []).flatMap(\.fields).map(\.name.text))
    let written = extended.union(type.fields.map(\.name.text))
    var inherited: [String: (interface: String, field: FieldDefinitionSyntax)] = [:]
    var fields = type.fields
    for interface in interfaces {
      guard let definition = definition(of: interface), case .interface = definition.content else {
        continue
      }
      let template = parts(of: interface).flatMap(\.fields)
      for field in template where !written.contains(field.name.text) {
        guard let other = inherited.updateValue((interface, field), forKey: field.name.text),
          other.field.type.text != field.type.text
        else { continue }
        findings.report(
          .typeSystem,
          "Type \"\(type.name.text)\" inherits \"\(field.name.text)\" as \"\(other.field.type.text)\""
            + " from \"\(other.interface)\" and as \"\(field.type.text)\" from \"\(interface)\"."
            + " Write the field in \"\(type.name.text)\".",
          at: [type.position, other.field.position, field.position])
      }
      let end = fields.count
      fields = fields.completed(from: template, extensions: extended) { first in
        first.name.text == "id" ? 0 : end
      }
    }
    return type.with(description: type.description, fields: fields)
  }
}

extension TypeSyntax {
  /// The type as it is written: `[User!]!`.
  var text: String {
    switch self {
    case .named(let name): name.text
    case .list(let inner, _): "[\(inner.text)]"
    case .nonNull(let inner): "\(inner.text)!"
    }
  }
}
