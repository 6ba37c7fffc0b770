import Foundation
import GraphQLPlanning
import GraphQLSchema
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

  /// The query that GraphiQL and code generators send.
  private static let standard = """
    { __schema {
      description queryType { name kind } mutationType { name kind } subscriptionType { name kind }
      types { ...FullType }
      directives { name description isRepeatable locations args(includeDeprecated: true) { ...Input } }
    } }
    fragment FullType on __Type {
      kind name description specifiedByURL isOneOf
      fields(includeDeprecated: true) { name description args(includeDeprecated: true) { ...Input }
        type { ...Type } isDeprecated deprecationReason }
      inputFields(includeDeprecated: true) { ...Input } interfaces { ...Type }
      enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
      possibleTypes { ...Type } }
    fragment Input on __InputValue {
      name description type { ...Type } defaultValue isDeprecated deprecationReason }
    fragment Type on __Type { kind name ofType { kind name ofType { kind name ofType { kind name
      ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType {
      kind name ofType { kind name } } } } } } } } } }
    """

  @Test func `introspection is answered whatever the limit of responses, and not many times over`()
    throws
  {
    let server = try GraphServer(
      database: GraphServer.shared.database,
      settings: { $0.execution.maximumResponseBytes = 4_096 })
    defer { server.stop() }
    let response = try server.send(Self.standard)
    let schema = StorageDirectives.clientSchema(of: try GraphServer.mapping.get().schema)
    #expect(try JSONParser.parse(response.body).at("data.__schema.types") != nil)
    #expect(response.body.count > 100 * 4_096)
    #expect(response.body.count <= schema.introspectionSize)
    #expect(response.body.count * 3 > schema.introspectionSize)
    let repeated = Self.standard.replacing("{ __schema {", with: "{ a: __typename __schema {")
      .replacing("types { ...FullType }", with: "types { ...FullType } b: types { ...FullType }")
    #expect(try server.errorCodes(repeated) == ["COST_LIMIT_EXCEEDED"])
    let fields = (0..<10).map { "s\($0): __schema { types { ...FullType } } " }.joined()
    let fragments = try #require(Self.standard.firstRange(of: "fragment FullType")?.lowerBound)
    #expect(
      try server.errorCodes("{ \(fields) } \(Self.standard[fragments...])")
        == ["COST_LIMIT_EXCEEDED"])
  }
}
