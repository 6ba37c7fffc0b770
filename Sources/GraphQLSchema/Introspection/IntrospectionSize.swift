extension Schema {
  /// An upper bound of the size of the response to the introspection query that tools send, in
  /// bytes: it has every description, and what is deprecated.
  ///
  /// O(schema).
  package var introspectionSize: Int {
    var size = 1_024 + Self.size(description)
    for type in types {
      size += 320 + type.name.utf8.count + Self.size(type.description)
      for field in type.fields {
        size += 96 + self.size(field.name, field.description, field.type, field.deprecationReason)
        for argument in field.arguments { size += self.size(argument) }
      }
      for id in type.interfaces { size += named + self[id].name.utf8.count }
      switch type.kind {
      case .scalar(let url): size += Self.size(url)
      case .object: break
      case .interface, .union:
        for id in possibleTypes[Int(type.id.index)] { size += named + self[id].name.utf8.count }
      case .enum(let values):
        for value in values {
          size +=
            160 + value.name.utf8.count + Self.size(value.description)
            + Self.size(value.deprecationReason)
        }
      case .inputObject(let fields, _): for field in fields { size += self.size(field) }
      }
    }
    for directive in directives {
      size += 640 + directive.name.utf8.count + Self.size(directive.description)
      for argument in directive.arguments { size += self.size(argument) }
    }
    return size
  }

  /// The size of `{"kind":"INPUT_OBJECT","name":"","ofType":null},` and of a wrapper around it.
  private var named: Int { 64 }

  private func size(_ value: InputValueDefinition) -> Int {
    size(value.name, value.description, value.type, value.deprecationReason)
      + Self.size(defaultText(of: value))
  }

  private func size(
    _ name: String, _ description: String?, _ type: TypeReference, _ reason: String?
  ) -> Int {
    var size = 160 + name.utf8.count + Self.size(description) + Self.size(reason)
    var type = type
    while true {
      size += named
      switch type {
      case .list(let inner), .nonNull(let inner): type = inner
      case .named(let id): return size + self[id].name.utf8.count
      }
    }
  }

  /// Half of the characters of a text may need an escape.
  private static func size(_ text: String?) -> Int { text.map { $0.utf8.count * 3 / 2 } ?? 0 }
}
