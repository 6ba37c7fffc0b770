import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import SQL

/// The events that a subscription receives, and the statement that runs when it starts. The
/// response to each event is the plan's own statement, in which the event's node is a parameter.
package struct EventPlan: Sendable {
  /// The topic of the events.
  package let topic: String
  /// A statement that returns a row for each key that the viewer subscribes to, `(key,
  /// pg_current_snapshot()::text)`. Events that are visible in that snapshot are not delivered.
  package let start: SQLStatement
  package let parameters: [PlanParameter]
  package let places: [InputPlace?]
  /// Whether the keys are read from tables, and may change later.
  package let hasSet: Bool
  /// Whether events wait until no older transaction can commit.
  package let isSettled: Bool
  /// Whether a null is delivered and ends the subscription. For a field that cannot be null, a null
  /// is not delivered.
  package let endsWithNull: Bool
  /// Whether the response contains the event's node; without it, one response covers all events so
  /// far.
  package let readsNode: Bool
  /// Whether a response equal to the last one, or at first to the initial one, is omitted: the
  /// viewer may not see what the event was about.
  package var isCompared: Bool { endsWithNull && !readsNode }
  /// The response `{"data":{"field":null}}`.
  package let nullBody: [UInt8]
}

/// A field of the subscription type with `@event`.
package struct EventStorage: Sendable {
  package let topic: String
  /// A `SELECT` of keys.
  package let keys: SQLTemplate
  package let hasSet: Bool
  package let isSettled: Bool
}

extension StorageReader {
  /// Returns the storage of all fields of the subscription type with `@event`.
  mutating func events() -> [String: EventStorage] {
    guard let root = schema.subscriptionType else { return [:] }
    var events: [String: EventStorage] = [:]
    for field in schema[root].fields {
      guard let directive = field.appliedDirectives.first(named: "event") else { continue }
      let key = directive.string("key").flatMap { try? SQLTemplate("SELECT \($0)") }
      let keys = directive.string("keys").flatMap { try? SQLTemplate($0) }
      guard let topic = directive.string("topic"), let source = key ?? keys,
        (key == nil) != (keys == nil)
      else {
        problems.append("\(schema[root].name).\(field.name): @event needs either key or keys.")
        continue
      }
      events[field.name] = EventStorage(
        topic: topic, keys: source, hasSet: keys != nil,
        isSettled: directive.boolean("settled") ?? false)
    }
    return events
  }
}

extension Planner {
  /// Returns the plan of a subscription, which has one root field.
  func subscription(
    _ root: TypeID, _ operation: OperationDefinition, fragments: [String: FragmentDefinition],
    _ reader: ArgumentReader
  ) throws(GraphQLError) -> Plan {
    var compiler = SelectionCompiler(
      mapping: mapping, fragments: fragments, reader: reader, limits: limits)
    compiler.readsEvents = true
    guard
      let field = compiler.collectFields(of: root, [operation.selectionSet]).first,
      let storage = mapping[root]?.fields[field.field.name.text],
      let event = mapping.events[field.field.name.text]
    else {
      throw GraphQLError(
        "The subscription cannot be executed by this server.", code: .notImplemented)
    }
    let row = RowBuilder(alias: "")
    var scope = Scope()
    // Elsewhere the word is an argument's name.
    scope.variables[.event] = compiler.statement.reference(.event)
    scope.variables[.told] = compiler.statement.reference(.told)
    scope.variables[.ended] = compiler.statement.reference(.ended)
    let shape = try compiler.object(
      of: root, selectionSets: [operation.selectionSet], row: row, scope: scope)
    let size = PlanSize(of: shape, limits: limits)
    try limits.check(size.size(for: reader.variables))
    // An event that the viewer may not see is skipped. It is not an error.
    let nullable = ObjectShape(
      fields: shape.fields.map {
        FieldShape(
          key: $0.key, responseName: $0.responseName, isNonNull: false, value: $0.value,
          coordinate: $0.coordinate)
      })
    let response = ResponsePlan(row, compiler.statement, nullable, size)
    let name = Array("\"\(field.responseName)\":null".utf8)
    let start = try start(event, field, storage, reader)
    return .subscription(
      response,
      EventPlan(
        topic: event.topic, start: start.statement, parameters: start.parameters,
        places: start.places, hasSet: event.hasSet, isSettled: event.isSettled,
        endsWithNull: !storage.definition.type.isNonNull,
        readsNode: response.parameters.contains(.event),
        nullBody: Array(#"{"data":{"#.utf8) + name + Array("}}".utf8)))
  }

  private func start(
    _ event: EventStorage, _ field: SelectionCompiler.CollectedField, _ storage: FieldStorage,
    _ reader: ArgumentReader
  ) throws(GraphQLError) -> (
    statement: SQLStatement, parameters: [PlanParameter], places: [InputPlace?]
  ) {
    let builder = StatementBuilder()
    var scope = Scope()
    scope.coordinate = storage.coordinate
    scope.arguments = try reader.arguments(of: field.field, storage.definition)
    let keys = TemplateRenderer(mapping: mapping, statement: builder).render(event.keys, scope)
    let (statement, parameters) = builder.finished(
      "SELECT k.key::bigint, pg_current_snapshot()::text FROM (\(keys)) AS k(key)")
    return (statement, parameters, builder.places(of: statement))
  }
}
