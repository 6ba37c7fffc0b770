import GraphQLPlanning
import GraphQLSchema
import JSON
import Testing

/// The rules of the API, over the schema that clients see. Each rule has a test; PublishedSchemaTests has that of the
/// descriptions.
@Suite(.usesCluster) struct SchemaRulesTests {
  private let schema: Schema

  init() throws {
    schema = StorageDirectives.clientSchema(of: try GraphServer.mapping.get().schema)
  }

  // MARK: What the rules are about

  private var types: [TypeDefinition] { schema.types.filter { !$0.isBuiltIn } }

  private var mutations: [FieldDefinition] {
    schema.mutationType.map { schema[$0].fields } ?? []
  }

  /// Object and interface types with their fields.
  private var fields: [(coordinate: String, type: TypeDefinition, field: FieldDefinition)] {
    types.flatMap { type in type.fields.map { ("\(type.name).\($0.name)", type, $0) } }
  }

  private var inputFields: [(coordinate: String, field: InputValueDefinition)] {
    types.flatMap { type -> [(String, InputValueDefinition)] in
      guard case .inputObject(let fields, _) = type.kind else { return [] }
      return fields.map { ("\(type.name).\($0.name)", $0) }
    }
  }

  private var arguments: [(coordinate: String, argument: InputValueDefinition)] {
    fields.flatMap { coordinate, _, field in
      field.arguments.map { ("\(coordinate)(\($0.name):)", $0) }
    }
  }

  private func name(of type: TypeReference) -> String { schema[type.namedType].name }

  private func isNode(_ type: TypeDefinition) -> Bool {
    guard case .object = type.kind else { return false }
    return type.interfaces.contains { schema[$0].name == "Node" }
  }

  private static func upperCamel(_ name: String) -> String {
    name.prefix(1).uppercased() + name.dropFirst()
  }

  private static func begins(_ name: String, _ words: String...) -> Bool {
    words.contains { word in
      name.hasPrefix(word) && name.dropFirst(word.count).first?.isUppercase == true
    }
  }

  private static func isID(_ name: String) -> Bool {
    ["id", "ids"].contains(name)
      || [("Id", 2), ("Ids", 3)].contains { suffix, length in
        name.hasSuffix(suffix) && name.dropLast(length).last?.isLowercase == true
      }
  }

  private func expectNone(
    _ found: [String], sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) {
    #expect(found == [], "\(found.joined(separator: "\n"))", sourceLocation: sourceLocation)
  }

  // MARK: Mutations

  @Test func `ids select what a mutation acts on, and its input has what it writes`() {
    // Those of the viewer have no id; updatePost is of several types.
    let exceptions = ["updateProfile", "updateNotificationSettings", "updatePost"]
    expectNone(
      mutations.compactMap { mutation in
        let names = mutation.arguments.map(\.name)
        let writes = Self.begins(mutation.name, "create", "update", "upsert")
        if !writes {
          let plain = names.filter { !Self.isID($0) && !["input", "currentPassword"].contains($0) }
          return plain.count > 3 ? "\(mutation.name): more than three plain arguments" : nil
        }
        if exceptions.contains(mutation.name) { return nil }
        guard let last = mutation.arguments.last, last.name == "input",
          schema.text(of: last.type) == Self.upperCamel(mutation.name) + "Input!"
        else { return "\(mutation.name): the last argument is not its input" }
        let needsID = mutation.name.hasPrefix("update")
        return needsID && (names.count != 2 || !names[0].hasSuffix("Id"))
          ? "\(mutation.name): the first argument is not an id" : nil
      })
  }

  @Test func `a verb means one thing`() {
    let verbs: Set<String> = [
      "add", "answer", "block", "book", "cancel", "cast", "change", "clear", "close", "create",
      "delete", "email", "flag", "follow", "import", "invite", "join", "leave", "link", "mark",
      "merge", "moderate", "perform", "react", "record", "register", "remove", "reopen", "request",
      "resend", "reset", "resolve", "respond", "restore", "revoke", "schedule", "send", "set",
      "share", "sign", "suggest", "suspend", "track", "transfer", "unblock", "unflag", "unfollow",
      "unlink", "unreact", "unregister", "unsuspend", "update", "upsert", "verify", "withdraw",
    ]
    expectNone(
      mutations.map(\.name).filter { !verbs.contains(String($0.prefix { $0.isLowercase })) })
    let names = Set(mutations.map(\.name))
    let pairs = [
      ("follow", "unfollow"), ("react", "unreact"), ("block", "unblock"), ("join", "leave"),
      ("link", "unlink"), ("suspend", "unsuspend"), ("register", "unregister"),
    ]
    expectNone(
      mutations.map(\.name).filter { name in
        pairs.contains { verb, opposite in
          (name == verb || Self.begins(name, verb))
            && !names.contains(opposite + name.dropFirst(verb.count))
        }
      })
  }

  @Test func `what create takes, update takes, except what others were told by`() {
    let forGood: Set<String> = [
      "circleId", "visibility", "productId", "app", "url", "level", "kind", "memberIds",
      "inviteUserIds", "inviteCircleIds", "notifyUserIds", "notifyCircleIds", "startedAt",
      "endedAt", "path", "category", "externalId", "sourceUrl",
    ]
    func fields(_ name: String) -> [String]? {
      guard let type = schema.type(named: name), case .inputObject(let fields, _) = type.kind else {
        return nil
      }
      return fields.map(\.name)
    }
    expectNone(
      types.map(\.name).filter { $0.hasPrefix("Create") && $0.hasSuffix("Input") }.flatMap { name in
        guard let taken = fields(name), let updated = fields("Update" + name.dropFirst(6)) else {
          return [] as [String]
        }
        return taken.filter { !updated.contains($0) && !forGood.contains($0) }
          .map { "\(name).\($0)" }
      })
  }

  @Test func `mutations and their results are nullable, and payloads say why`() {
    expectNone(
      mutations.filter { $0.type.isNonNull || !name(of: $0.type).hasSuffix("Payload") }
        .map(\.name))
    expectNone(
      fields.filter { _, type, field in
        type.name.hasSuffix("Payload") && field.name != "userErrors" && field.type.isNonNull
      }.map(\.coordinate))
    expectNone(
      types.filter { $0.name.hasSuffix("Payload") && $0.field(named: "userErrors") == nil }
        .map(\.name))
  }

  // MARK: Names

  @Test func `an id is named for what it is of, and nothing else is`() {
    func isWrong(_ value: InputValueDefinition) -> Bool {
      if ["gmapsId", "externalId"].contains(value.name) { return false }
      return (name(of: value.type) == "ID") != Self.isID(value.name)
    }
    expectNone(arguments.filter { isWrong($0.argument) }.map(\.coordinate))
    expectNone(inputFields.filter { isWrong($0.field) }.map(\.coordinate))
    let vague = ["sessionId", "requestId", "offerId", "contactId"]
    expectNone(
      arguments.filter {
        vague.contains($0.argument.name) && !$0.coordinate.hasPrefix("Mutation.revokeSession")
      }.map(\.coordinate))
  }

  @Test func `an input object writes, filters or looks up`() {
    expectNone(
      types.filter {
        guard case .inputObject = $0.kind else { return false }
        return !["Input", "Filter", "Lookup"].contains(where: $0.name.hasSuffix)
      }.map(\.name))
  }

  @Test func `booleans are statements`() {
    let verbs = ["is", "has", "viewer"]
    func isStatement(_ name: String, _ words: [String]) -> Bool {
      words.contains { Self.begins(name, $0) }
    }
    expectNone(
      fields.filter { _, _, field in
        name(of: field.type) == "Boolean" && !isStatement(field.name, verbs)
      }.map(\.coordinate))
    expectNone(
      inputFields.filter { _, field in
        name(of: field.type) == "Boolean" && !isStatement(field.name, verbs + ["include"])
      }.map(\.coordinate))
  }

  @Test func `a number with a unit has it in its name`() {
    let bare = ["duration", "distance", "radius", "length", "weight", "age"]
    expectNone(fields.filter { bare.contains($0.field.name) }.map(\.coordinate))
    expectNone(inputFields.filter { bare.contains($0.field.name) }.map(\.coordinate))
  }

  @Test func `fields of one name fit side by side on all types of node`() {
    var shapes: [String: [String: String]] = [:]
    for (_, type, field) in fields where isNode(type) {
      // Objects of several types may stand side by side; leaves only if they are the same.
      let isLeaf = schema[field.type.namedType].isLeaf
      let text = schema.text(of: field.type)
      let shape = isLeaf ? text : text.replacing(name(of: field.type), with: "_")
      shapes[field.name, default: [:]][shape, default: ""] += " " + type.name
    }
    expectNone(shapes.filter { $0.value.count > 1 }.map { "\($0.key): \($0.value)" }.sorted())
  }

  // MARK: Ids, times, null

  @Test func `what has an id is a node`() {
    expectNone(
      types.filter {
        // The moderation queue is to name flags by what they are about.
        guard case .object = $0.kind, $0.name != "Flag" else { return false }
        return $0.field(named: "id") != nil && !isNode($0)
      }.map(\.name))
  }

  @Test func `lists are never null, nor are their elements`() {
    expectNone(
      fields.filter { _, type, field in
        guard case .list(let element) = field.type.nullable, !type.name.hasSuffix("Payload") else {
          return false
        }
        // The path of an error may be missing; nodes(ids:) has holes.
        let exceptions = ["field", "nodes"]
        return !exceptions.contains(field.name) && (!field.type.isNonNull || !element.isNonNull)
      }.map(\.coordinate))
    expectNone(
      fields.filter { name(of: $0.field.type).hasSuffix("Connection") && !$0.field.type.isNonNull }
        .map(\.coordinate))
  }

  @Test func `an argument that may be left out filters nothing`() {
    expectNone(
      arguments.filter { !$0.argument.type.isNonNull && $0.argument.defaultValue != nil }
        .map(\.coordinate))
    expectNone(
      inputFields.filter { !$0.field.type.isNonNull && $0.field.defaultValue != nil }
        .map(\.coordinate))
  }

  // MARK: Lists

  @Test func `connections page both ways, plain lists are cut by a limit`() {
    let page = ["first", "after", "last", "before"]
    expectNone(
      fields.filter { _, _, field in
        let paging = field.arguments.filter { page.contains($0.name) }
        return name(of: field.type).hasSuffix("Connection")
          ? paging.map(\.name) != page || paging.contains { $0.defaultValue != nil }
          : !paging.isEmpty
      }.map(\.coordinate))
    expectNone(
      arguments.filter {
        $0.argument.name == "limit" && schema.text(of: $0.argument.type) != "Int!"
      }
      .map(\.coordinate))
  }

  @Test func `orders are enums with the direction in their values`() {
    expectNone(
      arguments.filter {
        ($0.argument.name == "orderBy") != name(of: $0.argument.type).hasSuffix("Order")
      }.map(\.coordinate))
    let vague = ["RECENT", "PRICE", "ASC", "DESC", "LATEST"]
    expectNone(
      types.flatMap { type -> [String] in
        guard type.name.hasSuffix("Order"), case .enum(let values) = type.kind else { return [] }
        return values.filter { vague.contains($0.name) }.map { "\(type.name).\($0.name)" }
      })
  }

  // MARK: Words

  @Test func `the schema says what it is`() {
    #expect((schema.description ?? "").split(separator: " ").count > 20)
  }
}
