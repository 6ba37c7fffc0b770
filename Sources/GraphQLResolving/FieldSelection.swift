import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import GraphQLValidation

/// The fields with one response name in one selection, and the selections on their values.
///
/// It is a class, so that the items of a list collect their common selections once per object type.
final class FieldGroup {
  let first: Field
  private(set) var fields: [Field]
  let definition: FieldDefinition?
  private var selected: [TypeID: [FieldGroup]] = [:]

  init(_ field: Field, _ definition: FieldDefinition?) {
    first = field
    fields = [field]
    self.definition = definition
  }

  var responseName: String { first.responseName }
  var name: String { first.name.text }

  func add(_ field: Field) { fields.append(field) }

  func locations(in document: ValidDocument) -> [SourceLocation] {
    fields.map { document.document.source.location(of: $0.position) }
  }

  func selected(
    on type: TypeDefinition, by selection: FieldSelection
  ) throws(GraphQLError) -> [FieldGroup] {
    if let known = selected[type.id] { return known }
    let groups = try selection.fields(of: fields.compactMap(\.selectionSet), on: type)
    selected[type.id] = groups
    return groups
  }
}

/// A field and the type it is read from, for messages.
struct FieldPlace {
  let group: FieldGroup
  let parent: TypeDefinition

  var coordinate: String { "\(parent.name).\(group.name)" }
}

/// Finds the fields that apply to an object, in the order of the document.
///
/// GraphQL September 2025, 6.3 Collecting Fields.
struct FieldSelection {
  private let document: ValidDocument
  private let schema: Schema
  private let arguments: ArgumentCoercion

  init(_ document: ValidDocument, arguments: ArgumentCoercion) {
    self.document = document
    schema = document.schema
    self.arguments = arguments
  }

  func fields(
    of sets: [SelectionSet], on type: TypeDefinition
  ) throws(GraphQLError) -> [FieldGroup] {
    var groups: [FieldGroup] = []
    var groupIndices: [String: Int] = [:]
    var visited: Set<String> = []
    // The selections to be read, the next one last.
    var pending: [ArraySlice<Selection>] = sets.reversed().map { $0.selections[...] }
    while var selections = pending.popLast() {
      guard let selection = selections.popFirst() else { continue }
      pending.append(selections)
      switch selection {
      case .field(let field):
        guard try isIncluded(field.directives) else { continue }
        if let index = groupIndices[field.responseName] {
          groups[index].add(field)
          continue
        }
        let name = field.name.text
        let definition = type.field(named: name) ?? schema.metaField(named: name, on: type)
        // An unknown field has no entry in the response.
        guard definition != nil else { continue }
        groupIndices[field.responseName] = groups.count
        groups.append(FieldGroup(field, definition))
      case .inlineFragment(let inline):
        guard try isIncluded(inline.directives), applies(inline.typeCondition, to: type) else {
          continue
        }
        pending.append(inline.selectionSet.selections[...])
      case .fragmentSpread(let spread):
        guard !visited.contains(spread.name.text), try isIncluded(spread.directives) else {
          continue
        }
        visited.insert(spread.name.text)
        guard let fragment = document.fragments[spread.name.text],
          applies(fragment.typeCondition, to: type)
        else { continue }
        pending.append(fragment.selectionSet.selections[...])
      }
    }
    return groups
  }

  private func applies(_ condition: Name?, to type: TypeDefinition) -> Bool {
    guard let condition else { return true }
    guard let id = schema.typesByName[condition.text] else { return false }
    return id == type.id
      || schema[id].isAbstract && schema.possibleTypes[Int(id.index)].contains(type.id)
  }

  private func isIncluded(_ directives: [Directive]) throws(GraphQLError) -> Bool {
    if directives.isEmpty { return true }
    if try condition("skip", in: directives) == true { return false }
    return try condition("include", in: directives) != false
  }

  private func condition(
    _ name: String, in directives: [Directive]
  ) throws(GraphQLError) -> Bool? {
    guard let directive = directives.first(where: { $0.name.text == name }),
      let definition = schema.directivesByName[name]
    else { return nil }
    let values = try arguments.coerce(
      directive.arguments, as: definition.arguments, at: directive.position)
    guard case .boolean(let value)? = values["if"] else { return nil }
    return value
  }
}
