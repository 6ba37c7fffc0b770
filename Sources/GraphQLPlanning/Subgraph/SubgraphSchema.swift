import GraphQLLanguage
import GraphQLSchema

/// The schema as a part of a larger graph, which a gateway composes of several.
///
/// A type is an entity if its objects can be looked up by a key. Other objects are values, which
/// several parts may have. `node(id:)` and `nodes(ids:)` stay inside: their IDs are those of one part.
package enum SubgraphSchema {
  /// The composer that reads the text.
  package enum Form: String, CaseIterable, Sendable {
    /// Apollo Federation 2: `_service { sdl }`.
    case federation
    /// The GraphQL foundation's text on composite schemas: lookups are fields with `@lookup`.
    case composite
  }

  /// Returns the definitions with which a schema serves a gateway, as SDL behind its own.
  package static func additions(to mapping: StorageMapping) -> String {
    guard let query = mapping.schema.queryType else { return "" }
    let entities = entityTypes(mapping)
    let text = text(of: mapping, as: .federation)
    // A union has members: without entities there is nothing to look up.
    let lookup =
      entities.isEmpty
      ? ""
      : """
      "An object with `__typename` and the fields of one of the type's keys."
      scalar _Any @scalar(type: "jsonb")
      union _Entity = \(entities.map { mapping.schema[$0].name }.joined(separator: " | "))
      extend type \(mapping.schema[query].name) {
        "The objects with these keys, in their order; null for one that does not exist for the viewer."
        _entities(representations: [_Any!]!): [_Entity]! @entities
      }

      """
    return """
      \(lookup)
      type _Service {
        "The schema with the directives of Apollo Federation."
        sdl: String! @constant(text: \(Printer.string(text)))
      }
      extend type \(mapping.schema[query].name) {
        "What a gateway composes."
        _service: _Service! @embed
      }
      """
  }

  /// Returns the schema with the directives that a gateway reads.
  package static func text(of mapping: StorageMapping, as form: Form) -> String {
    let printer = SchemaPrinter(
      StorageDirectives.clientSchema(of: mapping.schema),
      directives: Marks(mapping, form).directives)
    // Composers that know older editions learn of it here.
    let isOneOf = mapping.schema.types.contains { type in
      if case .inputObject(_, isOneOf: true) = type.kind { true } else { false }
    }
    let oneOf = form == .federation && isOneOf ? "directive @oneOf on INPUT_OBJECT\n\n" : ""
    return "\(printer.print())\n\n\(oneOf)\(definitions(form))"
  }

  private static func definitions(_ form: Form) -> String {
    switch form {
    case .federation:
      """
      extend schema @link(
        url: "https://specs.apollo.dev/federation/v2.3"
        import: ["@key", "@shareable", "@inaccessible", "@external", "@provides", "@override"]
      )
      """
    case .composite:
      """
      scalar FieldSelectionSet

      directive @lookup on FIELD_DEFINITION

      directive @key(fields: FieldSelectionSet!) repeatable on OBJECT | INTERFACE

      directive @shareable repeatable on OBJECT | FIELD_DEFINITION

      directive @inaccessible on FIELD_DEFINITION | OBJECT | INTERFACE | UNION | ARGUMENT_DEFINITION | SCALAR | ENUM | ENUM_VALUE | INPUT_OBJECT | INPUT_FIELD_DEFINITION

      directive @external on FIELD_DEFINITION

      directive @provides(fields: FieldSelectionSet!) on FIELD_DEFINITION

      directive @override(from: String!) on FIELD_DEFINITION
      """
    }
  }

  private static func entityTypes(_ mapping: StorageMapping) -> [TypeID] {
    var known: Set<TypeID> = []
    return mapping.entityKeys.map(\.type).filter { known.insert($0).inserted }
  }

  /// The directives of each definition.
  private struct Marks {
    private let mapping: StorageMapping
    private let form: Form
    private let keys: [TypeID: [EntityKey]]

    init(_ mapping: StorageMapping, _ form: Form) {
      self.mapping = mapping
      self.form = form
      keys = Dictionary(grouping: mapping.entityKeys, by: \.type)
    }

    func directives(_ type: TypeDefinition, _ field: FieldDefinition?) -> [String] {
      guard let field else { return directives(of: type) }
      var marks = written(field.appliedDirectives)
      if type.id == mapping.schema.queryType {
        if isFoundByID(field), mapping.schema[field.type.namedType].name == "Node" {
          marks += ["@shareable", "@inaccessible"]
        }
        if form == .composite, isLookup(field) { marks.append("@lookup") }
      }
      return marks
    }

    private func directives(of type: TypeDefinition) -> [String] {
      var marks = written(type.appliedDirectives)
      guard case .object = type.kind, !isRoot(type) else { return marks }
      var found = (keys[type.id] ?? []).map(\.fields)
      // The composite text has no word for it.
      found += type.writtenKeys.filter { !$0.isResolvable && form == .composite }.map(\.fields)
      marks += found.map { "@key(fields: \"\($0.joined(separator: " "))\")" }
      if form == .federation {
        marks += type.writtenKeys.filter { !$0.isResolvable }.map {
          "@key(fields: \"\($0.fields.joined(separator: " "))\", resolvable: false)"
        }
      }
      if keys[type.id] == nil, type.writtenKeys.isEmpty, !marks.contains("@shareable") {
        marks.append("@shareable")
      }
      return marks
    }

    private func isRoot(_ type: TypeDefinition) -> Bool {
      let schema = mapping.schema
      return [schema.queryType, schema.mutationType, schema.subscriptionType].contains(type.id)
    }

    /// The directives that the schema's owner wrote.
    private func written(_ directives: [Directive]) -> [String] {
      directives.compactMap { directive in
        switch directive.name.text {
        case "shareable", "inaccessible", "external": "@" + directive.name.text
        case "provides":
          "@provides(fields: \(Printer.string(directive.string("fields") ?? "")))"
        case "override": "@override(from: \(Printer.string(directive.string("from") ?? "")))"
        default: nil
        }
      }
    }

    /// Whether the field finds objects of several types by IDs of this graph.
    private func isFoundByID(_ field: FieldDefinition) -> Bool {
      guard mapping.schema[field.type.namedType].isAbstract, let query = mapping.schema.queryType
      else { return false }
      switch mapping[query]?.fields[field.name]?.kind {
      case .reference(let reference): return reference.id?.soleVariable?.count == 1
      case .relation(let relation): return relation.ids?.soleVariable?.count == 1
      default: return false
      }
    }

    /// Whether the field finds one object by the values of a key.
    private func isLookup(_ field: FieldDefinition) -> Bool {
      guard let query = mapping.schema.queryType,
        case .reference? = mapping[query]?.fields[field.name]?.kind, !field.type.isNonNull
      else { return false }
      if isFoundByID(field) { return true }
      let given = Set(field.arguments.map(\.name))
      return (keys[field.type.namedType] ?? []).contains { Set($0.fields) == given }
    }
  }
}
