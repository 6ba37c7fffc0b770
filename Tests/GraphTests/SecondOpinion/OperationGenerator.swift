import Foundation
import GraphQLPlanning
import GraphQLSchema
import JSON
import OracleSupport
import TestSupport

/// Makes random valid operations over the whole of `Query`, small enough for the server's limits.
struct OperationGenerator {
  let schema: Schema
  let pool: ArgumentPool
  let book: CursorBook
  var random: SeededGenerator

  private var operation = RandomOperation(viewer: nil, selections: [])
  /// By field name: the arguments of its use without an alias.
  private var unaliased: [String: String] = [:]
  private var aliasCount = 0
  private var fieldCount = 0
  private var choices: [String: Int] = [:]
  private var knownConditions: [String: (all: [String], objects: [String])] = [:]
  /// The type of the node whose id was drawn last: what is selected of it had better be on that.
  private var hint: String?
  private let maximumFields: Int
  private let maximumDepth = 10

  init(
    _ schema: Schema, _ pool: ArgumentPool, _ book: CursorBook, seed: UInt64,
    maximumFields: Int = 60
  ) {
    self.maximumFields = maximumFields
    self.schema = schema
    self.pool = pool
    self.book = book
    random = SeededGenerator(seed: seed)
  }

  mutating func next(viewers: [String?]) -> RandomOperation {
    operation = RandomOperation(
      viewer: viewers.randomElement(using: &random) ?? nil, selections: [])
    unaliased = [:]
    aliasCount = 0
    fieldCount = 0
    let count = chance(0.6) ? 1 : Int.random(in: 2...3, using: &random)
    var roots: [RandomSelection] = []
    for _ in 0..<count {
      let names =
        operation.viewer == nil
        ? ["viewer", "node", "nodes", "user", "post", "search", "posts", "locations", "changes"]
        : ["viewer", "viewer", "viewer", "viewer", "node", "nodes", "user"]
      let name = chance(0.5) ? names.randomElement(using: &random) ?? "viewer" : nil
      if let field = field(of: "Query", named: name, depth: 1, rows: 1) {
        roots.append(.field(field))
      }
    }
    operation.selections =
      roots.isEmpty ? [.field(RandomField(alias: nil, name: "__typename"))] : roots
    return operation
  }

  private mutating func chance(_ probability: Double) -> Bool {
    Double.random(in: 0..<1, using: &random) < probability
  }

  // MARK: - Selections

  /// - Parameter rows: about how many objects these selections are answered for.
  private mutating func selections(
    of type: String, depth: Int, rows: Int, hint: String? = nil
  ) -> [RandomSelection] {
    guard let definition = schema.type(named: type) else { return [] }
    var result: [RandomSelection] = []
    let wanted = Int.random(in: 1...(depth < 4 ? 5 : 3), using: &random)
    if chance(0.12) { result.append(.field(RandomField(alias: nil, name: "__typename"))) }
    for _ in 0..<wanted {
      if definition.isAbstract, chance(definition.fields.isEmpty ? 1 : 0.45) {
        if let fragment = fragment(on: definition, depth: depth, rows: rows, hint: hint) {
          result.append(fragment)
        }
      } else if !definition.fields.isEmpty {
        if chance(0.06) {
          result.append(
            .inline(
              condition: chance(0.5) ? type : nil, directives(),
              selections(of: type, depth: depth, rows: rows)))
        } else if let field = field(of: type, named: nil, depth: depth, rows: rows) {
          result.append(.field(field))
        }
      }
    }
    if result.isEmpty { result.append(.field(RandomField(alias: nil, name: "__typename"))) }
    return result
  }

  private mutating func fragment(
    on type: TypeDefinition, depth: Int, rows: Int, hint: String?
  ) -> RandomSelection? {
    let names = conditions(on: type)
    let drawn = (chance(0.7) ? names.objects : names.all).randomElement(using: &random)
    guard let condition = hint != nil && chance(0.7) ? hint : drawn else { return nil }
    let reusable = operation.fragments.filter { $0.condition == condition }
    if chance(0.3), let known = reusable.randomElement(using: &random), depth <= 3 {
      return .spread(known.name, directives())
    }
    let inner = selections(of: condition, depth: depth, rows: rows)
    if chance(0.3), !inner.isEmpty {
      let name = "F\(operation.fragments.count + 1)"
      operation.fragments.append(
        RandomFragment(name: name, condition: condition, selections: inner))
      return .spread(name, directives())
    }
    return .inline(condition: condition, directives(), inner)
  }

  /// The names of composite types that share an object type with this one.
  private mutating func conditions(
    on type: TypeDefinition
  ) -> (all: [String], objects: [String]) {
    if let known = knownConditions[type.name] { return known }
    let possible = Set(schema.possibleTypes[Int(type.id.index)])
    let all = schema.types.filter { other in
      other.isComposite && !other.name.hasPrefix("__")
        && !possible.isDisjoint(with: schema.possibleTypes[Int(other.id.index)])
        && other.name != "Payload"
    }
    let found = (all.map(\.name), all.filter { !$0.isAbstract }.map(\.name))
    knownConditions[type.name] = found
    return found
  }

  private mutating func directives() -> RandomDirectives {
    var result = RandomDirectives()
    if chance(0.05) { result.skip = boolean() }
    if chance(0.05) { result.include = boolean() }
    return result
  }

  private mutating func boolean() -> RandomInput {
    let value = JSONValue.boolean(Bool.random(using: &random))
    if chance(0.5) { return .constant(value) }
    let name = "v\(operation.variables.count + 1)"
    let isDefaulted = chance(0.4)
    operation.variables.append(
      RandomVariable(
        name: name, type: isDefaulted && chance(0.5) ? "Boolean" : "Boolean!",
        defaultValue: isDefaulted ? .constant(.boolean(Bool.random(using: &random))) : nil,
        value: isDefaulted && chance(0.5) ? Optional.none : Optional.some(value)))
    return .variable(name)
  }

  // MARK: - Fields

  private mutating func field(
    of type: String, named name: String?, depth: Int, rows: Int
  ) -> RandomField? {
    guard let definition = schema.type(named: type) else { return nil }
    fieldCount += 1
    let isLast = depth >= maximumDepth || fieldCount > maximumFields || rows > 400
    var candidates = definition.fields.filter { candidate in
      return !isLast || schema[candidate.type.namedType].isLeaf
    }
    // Deep down, rather leaves.
    if depth > 5, chance(0.5) {
      let leaves = candidates.filter { schema[$0.type.namedType].isLeaf }
      if !leaves.isEmpty { candidates = leaves }
    }
    // Of two, the one chosen less often so far, so that all are.
    guard let one = candidates.randomElement(using: &random),
      let other = candidates.randomElement(using: &random)
    else { return nil }
    let rarer =
      choices["\(type).\(one.name)", default: 0] <= choices["\(type).\(other.name)", default: 0]
      ? one : other
    let chosen = name.flatMap { definition.field(named: $0) } ?? rarer
    choices["\(type).\(chosen.name)", default: 0] += 1
    let target = schema[chosen.type.namedType]
    var rows = rows
    hint = nil
    let arguments = self.arguments(of: chosen, type, rows: &rows)
    let drawn = hint.flatMap { name in
      schema.type(named: name).flatMap { type in
        target.isAbstract && schema.possibleTypes[Int(target.id.index)].contains(type.id)
          ? name : nil
      }
    }
    if target.name.hasSuffix("Connection") == false, Self.isList(chosen.type) { rows *= 3 }
    var field = RandomField(
      alias: alias(chosen.name, arguments, isRoot: depth == 1), name: chosen.name,
      arguments: arguments, directives: depth == 1 ? RandomDirectives() : directives())
    if target.isComposite {
      field.selections = selections(of: target.name, depth: depth + 1, rows: rows, hint: drawn)
    }
    return field
  }

  private static func isList(_ type: TypeReference) -> Bool {
    if case .list = type.nullable { true } else { false }
  }

  private mutating func alias(
    _ name: String, _ arguments: [(name: String, value: RandomInput)], isRoot: Bool
  ) -> String? {
    let text = arguments.map { "\($0.name):\($0.value.text)" }.joined(separator: ",")
    if unaliased[name] == nil || unaliased[name] == text, !isRoot || unaliased[name] == nil,
      aliasCount > 24 || !chance(0.1)
    {
      unaliased[name] = text
      return nil
    }
    aliasCount += 1
    return "a\(aliasCount)"
  }

  // MARK: - Arguments

  private mutating func arguments(
    of field: FieldDefinition, _ type: String, rows: inout Int
  ) -> [(name: String, value: RandomInput)] {
    var result: [(name: String, value: RandomInput)] = []
    let isConnection = schema[field.type.namedType].name.hasSuffix("Connection")
    let hasLast = field.argument(named: "last") != nil
    let pages: Set<String> = ["first", "last", "after", "before"]
    for argument in field.arguments where !pages.contains(argument.name) {
      if argument.name == "orderBy", let order = Self.plainOrders["\(type).\(field.name)"] {
        result.append((argument.name, .enumeration(order)))
        continue
      }
      if argument.isRequired || chance(0.35) {
        result.append((argument.name, input(argument.type, argument, "\(type).\(field.name)")))
      }
    }
    // By distance there must be a place to measure from.
    let isMeasured = result.contains {
      guard case .object(let fields) = $0.value else { return false }
      return fields.contains { $0.name == "near" && isGiven($0.value) }
    }
    for place in result.indices where !isMeasured {
      if case .enumeration("NEAREST") = result[place].value {
        result[place].value = .enumeration("POPULAR")
      }
    }
    if field.argument(named: "limit") != nil { rows *= 20 }
    guard isConnection else { return result }
    // The page: small where there are many already.
    let largest = rows > 60 ? 2 : rows > 15 ? 4 : rows > 4 ? 8 : 25
    let isBackward = hasLast && chance(0.5)
    let size = Int.random(in: 0...largest, using: &random)
    if rows <= 4, chance(0.05) {
      // Null asks for the default.
      result.append(("first", .constant(.null)))
      rows *= 20
    } else if rows > 4 || chance(0.8) {
      let definition = field.argument(named: isBackward ? "last" : "first")
      if let definition {
        result.append(
          (definition.name, variable(.constant(.number("\(size)")), definition, "Int")))
      }
      rows *= max(size, 1)
    } else {
      rows *= 20
    }
    // A cursor some earlier answer gave for the same list in the same order.
    var order = ""
    if let argument = field.argument(named: "orderBy") {
      order =
        argument.coercedDefault.map { if case .enum(let name) = $0 { name } else { "" } } ?? ""
      if let given = result.first(where: { $0.name == "orderBy" })?.value {
        guard case .enumeration(let name) = given else { return result }
        order = name
      }
    } else if field.type.namedType == schema.type(named: "PostConnection")?.id {
      order = ["taggedIn"].contains(field.name) || type == "Product" ? "ID" : "NEWEST"
      if field.name == "reactedFeed" { order = "" }
    }
    if let cursors = book.cursors["\(type).\(field.name) \(order)"], !cursors.isEmpty {
      for name in ["after", "before"] {
        guard let argument = field.argument(named: name), chance(hasLast ? 0.3 : 0.4),
          let cursor = cursors.randomElement(using: &random)
        else { continue }
        result.append((name, variable(.constant(.string(cursor)), argument, "String")))
      }
    }
    return result
  }

  /// Which of many matches are ranked by relevance is the functions' own choice.
  private static let plainOrders = ["Query.users": "NAME", "Query.search": "NEWEST"]

  /// A constant, sometimes by way of a variable.
  /// Returns whether a value is not null.
  private func isGiven(_ value: RandomInput) -> Bool {
    switch value {
    case .constant(let value): return value != .null
    case .variable(let name):
      let variable = operation.variables.first { $0.name == name }
      if let value = variable?.value { return value != .null }
      return variable?.defaultValue.map { isGiven($0) } ?? false
    case .enumeration, .list, .object: return true
    }
  }

  private mutating func variable(
    _ value: RandomInput, _ definition: InputValueDefinition, _ type: String,
    probability: Double = 0.3
  ) -> RandomInput {
    guard chance(probability), let json = Self.json(value) else { return value }
    let name = "v\(operation.variables.count + 1)"
    let isNonNull = definition.type.isNonNull
    // A variable that may be null fits a non-null place only where something stands in for it.
    if definition.defaultValue == nil, !isNonNull, chance(0.25) {
      operation.variables.append(
        RandomVariable(
          name: name, type: type, defaultValue: chance(0.5) ? value : nil, value: nil))
      return .variable(name)
    }
    switch Int.random(in: 0...2, using: &random) {
    case 0:
      operation.variables.append(
        RandomVariable(name: name, type: type + "!", defaultValue: nil, value: json))
    case 1:
      // The default is what counts.
      operation.variables.append(
        RandomVariable(
          name: name, type: type + (chance(0.5) ? "!" : ""), defaultValue: value, value: nil))
    default:
      operation.variables.append(
        RandomVariable(
          name: name, type: isNonNull && definition.defaultValue == nil ? type + "!" : type,
          defaultValue: nil, value: json))
    }
    return .variable(name)
  }

  private static func json(_ input: RandomInput) -> JSONValue? {
    switch input {
    case .constant(let value): value
    case .enumeration(let name): .string(name)
    case .variable: nil
    case .list(let elements):
      elements.allSatisfy { json($0) != nil }
        ? .array(elements.compactMap(json)) : nil
    case .object(let fields):
      fields.allSatisfy { json($0.value) != nil }
        ? .object(fields.map { JSONValue.Member(name: $0.name, value: json($0.value) ?? .null) })
        : nil
    }
  }

  private mutating func input(
    _ type: TypeReference, _ definition: InputValueDefinition, _ place: String
  ) -> RandomInput {
    if !type.isNonNull, !["search"].contains(definition.name), chance(0.06) {
      return .constant(.null)
    }
    if case .list(let item) = type.nullable {
      let isEmpty = chance(0.06)
      let count =
        isEmpty ? 0 : Int.random(in: definition.name == "ids" ? 1...12 : 1...3, using: &random)
      var elements: [RandomInput] = []
      for _ in 0..<count { elements.append(value(item, definition, place)) }
      let text = "[\(schema.text(of: item))]"
      // One value is a list of one, also where it comes by a variable.
      if count == 1, chance(0.3) { return variable(elements[0], definition, text) }
      return variable(.list(elements), definition, text)
    }
    let named = schema[type.namedType]
    if case .inputObject(let fields, let isOneOf) = named.kind, named.name != "CoordinatesInput" {
      var given: [(name: String, value: RandomInput)] = []
      if isOneOf {
        if let field = fields.randomElement(using: &random) {
          given.append((field.name, value(field.type, field, place)))
        }
        return variable(.object(given), definition, named.name)
      }
      for field in fields where field.isRequired || chance(field.name == "near" ? 0.5 : 0.3) {
        given.append((field.name, input(field.type, field, "\(named.name)")))
      }
      return variable(.object(given), definition, named.name, probability: 0.2)
    }
    // A variable's value must be known where it chooses an order, to draw cursors for it.
    if definition.name == "orderBy" { return value(type, definition, place) }
    return variable(value(type, definition, place), definition, named.name)
  }

  private mutating func value(
    _ type: TypeReference, _ definition: InputValueDefinition, _ place: String
  ) -> RandomInput {
    let named = schema[type.namedType]
    if case .enum(let values) = named.kind {
      return .enumeration(values.randomElement(using: &random)?.name ?? "")
    }
    switch named.name {
    case "Boolean": return .constant(.boolean(Bool.random(using: &random)))
    case "Float": return .constant(.number(number(definition.name)))
    case "Int": return .constant(.number("\(Int.random(in: 0...4, using: &random))"))
    case "ID": return .constant(.string(id(definition.name, place)))
    case "DateTime": return .constant(.string(moment(definition.name)))
    case "Date":
      return .constant(
        .string(
          "2026-0\(Int.random(in: 1...9, using: &random))-1\(Int.random(in: 0...9, using: &random))"
        ))
    case "CoordinatesInput":
      let (latitude, longitude) = pool.coordinates.randomElement(using: &random) ?? (0, 0)
      return .object([
        ("latitude", .constant(.number("\(latitude)"))),
        ("longitude", .constant(.number("\(longitude)"))),
      ])
    default: return .constant(.string(text(definition.name, place)))
    }
  }

  private mutating func number(_ name: String) -> String {
    switch name {
    case "latitude": "\(pool.coordinates.randomElement(using: &random)?.0 ?? 0)"
    case "longitude": "\(pool.coordinates.randomElement(using: &random)?.1 ?? 0)"
    case "south": "\(Double.random(in: -90...20, using: &random).rounded())"
    case "north": "\(Double.random(in: 20...90, using: &random).rounded())"
    case "west", "east": "\(Double.random(in: -180...180, using: &random).rounded())"
    default: "\(Double.random(in: 100...490_000, using: &random).rounded())"
    }
  }

  private mutating func moment(_ name: String) -> String {
    let moment = pool.moments.randomElement(using: &random) ?? "2026-01-01T00:00:00.000Z"
    if chance(0.3) {
      return name == "from" ? "2020-01-01T00:00:00.000Z" : "2030-01-01T00:00:00.000Z"
    }
    return moment
  }

  private mutating func id(_ name: String, _ place: String) -> String {
    if chance(0.02) { return NodeID.encode(Int64(999_999_999) << 8 | 1) }
    let tags: [Int]
    switch (name, place) {
    case ("withinId", _), ("sendsToId", _): tags = [3]
    case ("circleIds", _): tags = [5]
    case ("programId", _): tags = [40]
    case ("trainerId", _): tags = [1]
    case (_, "Query.post"): tags = Array(16...24)
    case (_, "Query.circle"): tags = [5]
    case (_, "Query.product"): tags = [4]
    case (_, "Query.user"): tags = [1]
    case (_, "Query.location"): tags = [3]
    default: tags = Array(pool.ids.keys.sorted())
    }
    let tag = chance(0.02) ? 4 : tags.randomElement(using: &random) ?? 1
    let own = operation.viewer.flatMap { pool.own[$0] } ?? [:]
    if tags.count > 1, chance(0.5), let tag = own.keys.sorted().randomElement(using: &random),
      tags.contains(tag), let id = own[tag]?.randomElement(using: &random)
    {
      hint = Crawler.type(of: NodeKey(id))
      return NodeID.encode(id)
    }
    let id = pool.ids[tag]?.randomElement(using: &random) ?? Int64(1) << 8 | Int64(tag)
    hint = Crawler.type(of: NodeKey(id))
    return NodeID.encode(id)
  }

  private mutating func text(_ name: String, _ place: String) -> String {
    switch name {
    case "username":
      let name = pool.usernames.randomElement(using: &random) ?? ""
      return chance(0.3) ? name.uppercased() : chance(0.1) ? "nobody_here" : name
    case "gmapsId": return pool.gmapsIDs.randomElement(using: &random) ?? "none"
    case "app": return pool.apps.randomElement(using: &random) ?? ""
    case "retailer": return pool.retailers.randomElement(using: &random) ?? ""
    case "since":
      return pool.tokens[operation.viewer ?? ""]?.randomElement(using: &random) ?? ""
    case "to":
      return ["+49 30 1234", "", "someone@example.org"].randomElement(using: &random) ?? ""
    default:
      let source =
        place.contains("users") || place.contains("follow") || place.contains("members")
        ? pool.names : chance(0.3) ? pool.names : pool.words
      var text = source.randomElement(using: &random) ?? ""
      if chance(0.4) { text = String(text.prefix(Int.random(in: 1...3, using: &random))) }
      if chance(0.1) { text += " " + (source.randomElement(using: &random) ?? "") }
      if chance(0.05) { text = ["", "!?", "  "].randomElement(using: &random) ?? "" }
      return text
    }
  }
}
