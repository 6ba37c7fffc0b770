/// Something that a service can do and that its types do not say.
///
/// A proposal for the specification: https://github.com/graphql/graphql-spec/pull/1208.
package struct ServiceCapability: Sendable {
  /// Names with dots between them. Those that begin with `graphql.` are the specification's.
  package let identifier: String
  package let value: String?

  package init(_ identifier: String, value: String? = nil) {
    self.identifier = identifier
    self.value = value
  }

  /// What this server can do, whatever its schema is.
  package static let all = [
    ServiceCapability("graphql.onError"),
    ServiceCapability("graphql.defaultErrorBehavior", value: "PROPAGATE"),
  ]
}

extension Schema {
  /// The fields of the query type that are answered from the schema.
  package static func isIntrospection(_ field: String) -> Bool {
    field == "__schema" || field == "__type" || field == "__service"
  }

  /// Returns the schema with the field `__service` and its types, after all other types.
  package func offering(_ capabilities: [ServiceCapability]) -> Schema {
    guard let string = typesByName["String"] else { return self }
    func type(_ name: String, _ offset: Int, _ description: String, _ fields: [FieldDefinition])
      -> TypeDefinition
    {
      TypeDefinition(
        id: TypeID(index: Int32(types.count + offset)), name: name, description: description,
        kind: .object, fields: fields, isBuiltIn: true)
    }
    func field(_ name: String, _ type: TypeReference, _ description: String) -> FieldDefinition {
      FieldDefinition(
        name: name, description: description, arguments: [], type: type, deprecationReason: nil)
    }
    let capability = type(
      "__Capability", 1, "Something that the service can do.",
      [
        field("identifier", .nonNull(.named(string)), "The unique name of the capability."),
        field("value", .named(string), "More about the capability, if there is more to say."),
      ])
    let service = type(
      "__Service", 0, "The service that answers, as far as its types do not describe it.",
      [
        field(
          "capabilities", .nonNull(.list(.nonNull(.named(capability.id)))),
          "What the service can do.")
      ])
    return Schema(
      description: description, types: types + [service, capability], directives: directives,
      queryType: queryType, mutationType: mutationType, subscriptionType: subscriptionType,
      appliedDirectives: appliedDirectives,
      possibleTypes: possibleTypes + [[service.id], [capability.id]], capabilities: capabilities)
  }
}
