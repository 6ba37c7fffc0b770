import JSON
import TestSupport
import Testing

/// Introspection of the whole schema.
@Suite(.usesCluster) struct IntrospectionTests {
  @Test func `PLAT-1: tools read the whole schema by introspection`() throws {
    let server = try GraphServer.shared
    let schema = try GraphServer.mapping.get().schema
    let found = try server.data(
      """
      { __schema {
        queryType { name } mutationType { name } subscriptionType { name }
        types { kind name description ...Fields inputFields { ...Input }
          interfaces { name } possibleTypes { name } enumValues(includeDeprecated: true) { name } }
        directives { name locations args { ...Input } }
      } }
      fragment Fields on __Type { fields(includeDeprecated: true) {
        name description args { ...Input } type { ...Type } } }
      fragment Input on __InputValue { name defaultValue type { ...Type } }
      fragment Type on __Type {
        kind name ofType { kind name ofType { kind name ofType { kind name } } } }
      """)
    #expect(found.at("__schema.queryType.name") == "Query")
    #expect(found.at("__schema.mutationType.name") == "Mutation")
    #expect(found.at("__schema.subscriptionType.name") == "Subscription")
    #expect(Set(found.strings("__schema.types", "name")) == Set(schema.types.map(\.name)))
    for type in found.at("__schema.types")?.array ?? [] {
      let name = type["name"]?.string ?? ""
      let definition = try #require(schema.type(named: name))
      guard let fields = type["fields"]?.array else { continue }
      #expect(fields.map { $0["name"]?.string } == definition.fields.map { $0.name }, "\(name)")
      if !name.hasPrefix("__") {
        #expect(type["description"]?.string?.isEmpty == false, "\(name)")
        #expect(fields.allSatisfy { $0["description"]?.string?.isEmpty == false }, "\(name)")
      }
    }
    // How things are stored is nobody's business.
    #expect(
      Set(found.strings("__schema.directives", "name"))
        == ["defer", "live", "stream", "skip", "include", "deprecated", "specifiedBy", "oneOf"])
    let type = try server.data(
      """
      { __type(name: "UserLookup") { kind isOneOf inputFields { name type { name } } }
        missing: __type(name: "Usr") { name } }
      """)
    #expect(
      type == [
        "__type": [
          "kind": "INPUT_OBJECT", "isOneOf": true,
          "inputFields": [
            ["name": "id", "type": ["name": "ID"]],
            ["name": "username", "type": ["name": "String"]],
          ],
        ],
        "missing": nil,
      ])
  }
}
