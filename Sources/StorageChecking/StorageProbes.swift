import GraphQLLanguage
import GraphQLPlanning
import GraphQLResponse
import GraphQLSchema

/// Operations for each type, with calls of all its fields, by the shortest path from the query root
/// to a value of the type.
struct StorageProbes {
  struct Group {
    /// The text before and after the calls.
    let before: String
    let after: String
    /// The field that leads to the type; for the query root, its name.
    let place: String
    var calls: [Call] = []

    func operation(_ calls: [String]) -> String {
      before + calls.enumerated().map { "f\($0): \($1)" }.joined(separator: " ") + after
    }
  }

  struct Call {
    let coordinate: String
    let text: String
  }

  let mapping: StorageMapping
  private var schema: Schema { mapping.schema }

  var groups: [Group] {
    guard let root = schema.queryType else { return [] }
    var ways: [TypeID: Group] = [root: Group(before: "{ ", after: " }", place: schema[root].name)]
    var queue = [root]
    var result: [Group] = []
    var checked: Set<TypeID> = []
    while !queue.isEmpty {
      let type = queue.removeFirst()
      guard var group = ways[type] else { continue }
      for field in schema[type].fields {
        let calls = calls(of: field)
        guard let call = calls.first else { continue }
        let target = field.type.namedType
        let isLeaf = schema[target].isLeaf
        group.calls += calls.map { probe($0, of: field, in: type) }
        group.calls += chosen(of: field, &checked).map { probe($0, of: field, in: type) }
        guard !isLeaf else { continue }
        let possible = schema.possibleTypes[Int(target.index)]
        for next in [target] + possible where ways[next] == nil {
          // An id says what type its node is of, so it must be one of this type.
          let node = (next == target ? possible.first : next).flatMap { mapping[$0] }
          let call = sampleID(of: node).flatMap { self.calls(of: field, id: $0).first } ?? call
          let condition = next == target ? "" : "... on \(schema[next].name) { "
          ways[next] = Group(
            before: group.before + call + " { " + condition,
            after: (condition.isEmpty ? "" : " }") + " }" + group.after,
            place: "\(schema[type].name).\(field.name)")
          queue.append(next)
        }
      }
      if !group.calls.isEmpty { result.append(group) }
    }
    return result
  }

  /// Each field of the subscription type, as a separate operation.
  var subscriptions: [Call] {
    guard let root = schema.subscriptionType else { return [] }
    return schema[root].fields.flatMap { field in
      calls(of: field).map { probe($0, of: field, in: root) }
    }
  }

  private func probe(_ call: String, of field: FieldDefinition, in type: TypeID) -> Call {
    let target = field.type.namedType
    return Call(
      coordinate: "\(schema[type].name).\(field.name)",
      text: call + (schema[target].isLeaf ? "" : " { \(leaf(of: target)) }"))
  }

  /// Returns the selection of an object that reads its rows; for a page, of its nodes.
  private func leaf(of type: TypeID) -> String {
    schema[type].field(named: "pageInfo") == nil ? "__typename" : "pageInfo { hasNextPage }"
  }

  /// Returns calls of a field: one with every argument and input field that has a condition, then
  /// one for each other choice of an argument, and for pages after and before a cursor. There are
  /// none if an argument has no sample.
  private func calls(of field: FieldDefinition, id: String? = nil) -> [String] {
    if field.appliedDirectives.contains(where: { $0.name.text == "entities" }) {
      return representations.map { "\(field.name)(representations: [\($0)])" }
    }
    var arguments: [(name: String, samples: [String])] = []
    var expansion = Expansion()
    for argument in field.arguments where !Self.pageArguments.contains(argument.name) {
      let samples = samples(of: argument.type, id, &expansion)
      if !samples.isEmpty {
        arguments.append((argument.name, samples))
      } else if argument.isRequired, let nothing = nothing(of: argument.type) {
        arguments.append((argument.name, [nothing]))
      } else if argument.isRequired {
        return []
      }
    }
    func call(_ texts: [String], _ page: [String]) -> String {
      let list = zip(arguments, texts).map { "\($0.name): \($1)" } + page
      return list.isEmpty ? field.name : "\(field.name)(\(list.joined(separator: ", ")))"
    }
    let has = { (name: String) in field.argument(named: name) != nil }
    let page = ["first", "limit"].filter(has).map { "\($0): 1" }
    var result = Self.variations(arguments.map(\.samples)).map { call($0, page) }
    let first = arguments.map { $0.samples[0] }
    if has("after") { result.append(call(first, page + [#"after: "a""#])) }
    if has("before"), has("last") { result.append(call(first, ["last: 1", #"before: "a""#])) }
    return result
  }

  /// One representation for each key, in lists as long as a request may have them.
  private var representations: [String] {
    let samples = mapping.entityKeys.map { key -> String in
      let members = key.fields.map { name -> String in
        guard let type = schema[key.type].field(named: name)?.type.namedType else { return "" }
        return "\(name): \(sample(ofScalar: schema[type], nil))"
      }
      return "{__typename: \"\(schema[key.type].name)\", \(members.joined(separator: ", "))}"
    }
    let most = PlannerLimits().maximumRepresentations
    return stride(from: 0, to: samples.count, by: most).map { start in
      samples[start..<min(start + most, samples.count)].joined(separator: ", ")
    }
  }

  private static let pageArguments: Set<String> = ["first", "last", "after", "before", "limit"]

  /// Returns the first of each list, then each other element combined with the first of the rest.
  private static func variations(_ choices: [[String]]) -> [[String]] {
    let first = choices.map { $0[0] }
    var result = [first]
    for (place, samples) in choices.enumerated() {
      for sample in samples.dropFirst() {
        var variation = first
        variation[place] = sample
        result.append(variation)
      }
    }
    return result
  }

  /// The input types that the samples of one call contain so far.
  private struct Expansion {
    var known: Set<TypeID> = []
    var depth = 0

    /// The maximum nesting of inputs, which bounds the recursion; real schemas nest less.
    static let maximumDepth = 64
  }

  /// Returns samples of a type: all values of an enum, each member of a oneOf input, one of a
  /// scalar.
  ///
  /// An input type may contain itself, and many may contain each other. Each is expanded once in a
  /// call; its other occurrences have only its scalars and enums. Cost: O(fields of the input types
  /// that the call reaches).
  private func samples(
    of type: TypeReference, _ id: String?, _ expansion: inout Expansion
  ) -> [String] {
    switch type {
    case .nonNull(let inner): return samples(of: inner, id, &expansion)
    case .list(let inner): return samples(of: inner, id, &expansion).map { "[\($0)]" }
    case .named(let input):
      let named = schema[input]
      switch named.kind {
      case .enum(let values): return values.map(\.name)
      case .inputObject where isChecked(input): return []
      case .inputObject(let fields, let isOneOf):
        let isExpanded =
          expansion.depth < Expansion.maximumDepth && expansion.known.insert(input).inserted
        expansion.depth += 1
        defer { expansion.depth -= 1 }
        var members: [(name: String, samples: [String])] = []
        for field in fields where isExpanded || schema[field.type.namedType].isLeaf {
          let samples = samples(of: field.type, id, &expansion)
          if !samples.isEmpty { members.append((field.name, samples)) }
        }
        if members.isEmpty, !isExpanded { return [] }
        if isOneOf {
          return members.flatMap { member in member.samples.map { "{\(member.name): \($0)}" } }
        }
        return Self.variations(members.map(\.samples)).map { texts in
          "{" + zip(members, texts).map { "\($0.name): \($1)" }.joined(separator: ", ") + "}"
        }
      case .scalar:
        return [sample(ofScalar: named, id)]
      case .object, .interface, .union: return []
      }
    }
  }

  // MARK: - Filters and orders

  /// Returns a call with the filters and orders that no other call has had: each of their columns
  /// with one operator, and each of their relations. None if there are none.
  private func chosen(of field: FieldDefinition, _ checked: inout Set<TypeID>) -> [String] {
    var chosen: [String] = []
    var others: [String] = []
    for argument in field.arguments where !Self.pageArguments.contains(argument.name) {
      let type = argument.type.namedType
      if isChecked(type) {
        guard checked.insert(type).inserted else { continue }
        let text = mapping.filter(type) != nil ? filterSample(type) : orderSample(type)
        chosen.append("\(argument.name): \(text)")
      } else if argument.isRequired {
        var expansion = Expansion()
        guard let sample = samples(of: argument.type, nil, &expansion).first else { return [] }
        others.append("\(argument.name): \(sample)")
      }
    }
    if chosen.isEmpty { return [] }
    return ["\(field.name)(\((others + chosen).joined(separator: ", ")))"]
  }

  private func filterSample(_ input: TypeID) -> String {
    guard let filter = mapping.filter(input) else { return "{}" }
    let conditions = members(of: input).compactMap { field -> String? in
      switch filter.members[field.name] {
      case .and?, .or?, .not?: return nil
      case .reference?: return "\(field.name): {}"
      case .relation?: return "\(field.name): {some: {}}"
      case .column?, .rowCount?:
        return self.condition(of: field.type.namedType).map { "\(field.name): \($0)" }
      case .aggregates?:
        guard let function = members(of: field.type.namedType).first,
          let condition = condition(of: function.type.namedType)
        else { return nil }
        return "\(field.name): {\(function.name): \(condition)}"
      case nil:
        var expansion = Expansion()
        return samples(of: field.type, nil, &expansion).first.map { "\(field.name): \($0)" }
      }
    }
    return "{\(conditions.joined(separator: ", "))}"
  }

  /// Returns an input with one operator.
  private func condition(of input: TypeID) -> String? {
    guard let first = members(of: input).first else { return nil }
    var expansion = Expansion()
    return samples(of: first.type, nil, &expansion).first.map { "{\(first.name): \($0)}" }
  }

  private func members(of input: TypeID) -> [InputValueDefinition] {
    if case .inputObject(let fields, _) = schema[input].kind { fields } else { [] }
  }

  private func orderSample(_ input: TypeID) -> String {
    let columns = sortedColumns(of: input).map { "{\($0): ASC}" }
    guard let order = mapping.order(input) else { return "[]" }
    let related = members(of: input).compactMap { field -> String? in
      let inner = field.type.namedType
      let name: String? =
        switch order.members[field.name] {
        case .reference?: sortedColumns(of: inner).first
        case .relation?, .aggregates?: members(of: inner).first?.name
        default: nil
        }
      return name.map { "{\(field.name): {\($0): ASC}}" }
    }
    return "[\((columns + related).joined(separator: ", "))]"
  }

  private func sortedColumns(of input: TypeID) -> [String] {
    guard let order = mapping.order(input) else { return [] }
    return members(of: input).map(\.name).filter { name in
      switch order.members[name] {
      case .column?, .rowCount?: true
      default: false
      }
    }
  }

  /// Returns whether the input is a filter or an order, which one call alone has.
  private func isChecked(_ id: TypeID) -> Bool {
    mapping.filter(id) != nil || mapping.order(id) != nil
  }

  /// Returns the filter or the list of orders that asks for nothing.
  private func nothing(of type: TypeReference) -> String? {
    guard isChecked(type.namedType) else { return nil }
    if case .list = type.nullable { return "[]" }
    return "{}"
  }

  /// Returns an ID of no object of a type; nil for a type without a tag.
  private func sampleID(of type: TypeStorage?) -> String? {
    guard let type, let tag = type.tag else { return nil }
    guard let key = type.key else { return NodeID.encode(Int64(256 | tag)) }
    return KeyID.encode(tag, key.columns.map { _ in "0" })
  }

  private func sample(ofScalar type: TypeDefinition, _ id: String?) -> String {
    switch type.name {
    case "Int": return "1"
    case "Float": return "1.5"
    case "Boolean": return "true"
    case "ID": return "\"\(id ?? NodeID.encode(257))\""
    default:
      let directive = type.appliedDirectives.first { $0.name.text == "scalar" }
      guard case .string(let stored)? = directive?.arguments.first?.value.content else {
        return #""a""#
      }
      switch stored.text {
      case "timestamptz": return #""2026-01-01T00:00:00Z""#
      case "date": return #""2026-01-01""#
      case "numeric": return #""1.5""#
      default: return #""a""#
      }
    }
  }
}
