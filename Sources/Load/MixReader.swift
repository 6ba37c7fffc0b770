import GraphQLLanguage
import JSON

/// Reads a mix from the texts of its files.
package struct MixReader {
  /// A file of a mix folder.
  package struct File: Sendable {
    /// The name without the folder.
    package let name: String
    package let bytes: [UInt8]

    package init(name: String, bytes: [UInt8]) {
      self.name = name
      self.bytes = bytes
    }
  }

  private var operations: [Mix.Operation] = []
  private var variableNames: [String: Set<String>] = [:]
  private var pools: [Mix.Pool] = []
  private var poolPlaces: [String: Int] = [:]
  private var mutationsAreOptional = false
  private var tokens: String?

  /// - Parameters:
  ///   - folder: the files of a mix folder.
  ///   - manifest: trusted documents by their IDs.
  ///   - file: returns the bytes of a file that a pool names.
  package static func read(
    folder: [File], manifest: [(id: String, text: String)],
    file: (String) throws -> [UInt8]
  ) throws -> Mix {
    var reader = MixReader()
    for file in folder.sorted(by: { $0.name < $1.name }) where file.name.hasSuffix(".graphql") {
      try reader.addDocument(file)
    }
    try reader.addManifest(manifest)
    if let settings = folder.first(where: { $0.name == "mix.json" }) {
      try reader.readSettings(settings.bytes, file)
    }
    guard !reader.operations.isEmpty else {
      throw LoadInputError("the mix has no operations; it needs files such as Feed.graphql.")
    }
    return Mix(
      operations: reader.operations, pools: reader.pools,
      mutationsAreOptional: reader.mutationsAreOptional, tokens: reader.tokens)
  }

  // MARK: Documents

  private mutating func addDocument(_ file: File) throws {
    let name = String(file.name.dropLast(".graphql".utf8.count))
    let text = String(decoding: file.bytes, as: UTF8.self)
    let found = try operations(of: text, file.name)
    guard found.count == 1, let operation = found.first else {
      throw LoadInputError("\(file.name) must have one operation, not \(found.count).")
    }
    guard operation.name?.text == name else {
      throw LoadInputError(
        "the operation of \(file.name) must be named \(name), not \(operation.name?.text ?? "nothing")."
      )
    }
    add(name, operation, text, id: nil)
  }

  private mutating func addManifest(_ documents: [(id: String, text: String)]) throws {
    for (id, text) in documents {
      for operation in try operations(of: text, "document \(id)") {
        guard let name = operation.name?.text else {
          throw LoadInputError("an operation of document \(id) has no name.")
        }
        if let place = operations.firstIndex(where: { $0.name == name }) {
          guard operations[place].documentID == nil else {
            throw LoadInputError("two trusted documents have an operation \(name).")
          }
          operations[place].documentID = id
        } else {
          add(name, operation, text, id: id)
        }
      }
    }
  }

  private func operations(
    of text: String, _ source: String
  ) throws(LoadInputError) -> [OperationDefinition] {
    do {
      return try Parser.parse(text).definitions.compactMap { definition in
        if case .operation(let operation) = definition { operation } else { nil }
      }
    } catch {
      throw LoadInputError("\(source): \(error.message)")
    }
  }

  private mutating func add(
    _ name: String, _ operation: OperationDefinition, _ text: String, id: String?
  ) {
    operations.append(
      Mix.Operation(name: name, kind: operation.kind, document: text, documentID: id))
    variableNames[name] = Set(operation.variables.map(\.name.text))
  }

  // MARK: mix.json

  private mutating func readSettings(
    _ bytes: [UInt8], _ file: (String) throws -> [UInt8]
  ) throws {
    let settings: JSONValue
    do {
      settings = try JSONParser.parse(bytes)
    } catch {
      throw LoadInputError("mix.json: \(error)")
    }
    let members = try Self.members(
      settings, ["pools", "operations", "mutations", "tokens"], "mix.json")
    try readDefaults(members)
    // In the order of the file, on which the seeds of pools depend.
    _ = try Self.members(members["pools"] ?? .object([]), nil, "pools")
    for member in members["pools"]?.members ?? [] {
      try addPool(member.name, member.value, file)
    }
    _ = try Self.members(members["operations"] ?? .object([]), nil, "operations")
    for member in members["operations"]?.members ?? [] {
      try set(member.name, member.value)
    }
    for operation in operations where operation.audience != nil && operation.weight > 0 {
      try checkTrigger(operation)
    }
  }

  private mutating func readDefaults(_ members: [String: JSONValue]) throws(LoadInputError) {
    if let value = members["mutations"] {
      guard value.text == "optional" || value.text == "required" else {
        throw LoadInputError("mix.json: mutations must be optional or required.")
      }
      mutationsAreOptional = value.text == "optional"
    }
    if let value = members["tokens"] {
      guard let name = value.text, !name.isEmpty else {
        throw LoadInputError("mix.json: tokens must be the name of a file.")
      }
      tokens = name
    }
  }

  /// Checks that events of a subscription can be told apart by what its trigger sends.
  private func checkTrigger(_ subscription: Mix.Operation) throws(LoadInputError) {
    guard let audience = subscription.audience else { return }
    let place = "the trigger of \"\(subscription.name)\""
    guard let trigger = operations.first(where: { $0.name == audience.trigger }),
      trigger.kind == .mutation, trigger.weight > 0
    else {
      throw LoadInputError(
        "mix.json: \(place) must be a mutation of the mix with a weight above 0.")
    }
    guard trigger.variables.hasUnique else {
      throw LoadInputError(
        "mix.json: \(place), \(trigger.name), has no $unique text by which its events are told apart."
      )
    }
  }

  /// Returns the members of an object by name.
  ///
  /// - Parameter known: the names that it may have; nil for any.
  private static func members(
    _ value: JSONValue, _ known: [String]?, _ place: String
  ) throws(LoadInputError) -> [String: JSONValue] {
    guard let members = value.members else {
      throw LoadInputError("mix.json: \(place) must be an object.")
    }
    var result: [String: JSONValue] = [:]
    for member in members {
      if let known, !known.contains(member.name) {
        throw LoadInputError(
          "mix.json: \(place) has no \"\(member.name)\"; it may have \(known.joined(separator: ", "))."
        )
      }
      result[member.name] = member.value
    }
    return result
  }

  private mutating func addPool(
    _ name: String, _ value: JSONValue, _ file: (String) throws -> [UInt8]
  ) throws {
    let place = "pool \"\(name)\""
    let members = try Self.members(
      value, ["query", "path", "size", "viewer", "file", "values"], place)
    let sources = ["query", "file", "values"].filter { members[$0] != nil }
    guard sources.count == 1 else {
      throw LoadInputError("mix.json: \(place) needs one of query, file and values.")
    }
    let source: Mix.PoolSource
    if let query = members["query"] {
      guard let document = query.text, let path = members["path"]?.text, !path.isEmpty else {
        throw LoadInputError("mix.json: \(place) needs a text as query, and one as path.")
      }
      guard try operations(of: document, place).count == 1 else {
        throw LoadInputError("mix.json: the query of \(place) must be one operation.")
      }
      source = .query(
        document: document, path: path.split(separator: ".").map(String.init),
        size: try size(members["size"], place), isForAnybody: try viewer(members["viewer"], place))
    } else {
      guard Set(members.keys).isSubset(of: ["file", "values"]) else {
        throw LoadInputError("mix.json: \(place) has path, size or viewer without a query.")
      }
      source = .values(try values(members, place, file))
    }
    poolPlaces[name] = pools.count
    pools.append(Mix.Pool(name: name, source: source))
  }

  private func values(
    _ members: [String: JSONValue], _ place: String, _ file: (String) throws -> [UInt8]
  ) throws -> [[UInt8]] {
    if let list = members["values"] {
      guard let elements = list.elements, !elements.isEmpty else {
        throw LoadInputError("mix.json: the values of \(place) must be a list that is not empty.")
      }
      return elements.map(\.bytes)
    }
    guard let name = members["file"]?.text else {
      throw LoadInputError("mix.json: the file of \(place) must be a text.")
    }
    let lines = try file(name).split(separator: UInt8(ascii: "\n")).map { line in
      JSONValue.string(
        String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self))
    }
    guard !lines.isEmpty else { throw LoadInputError("mix.json: the file of \(place) is empty.") }
    return lines.map(\.bytes)
  }

  private func size(_ value: JSONValue?, _ place: String) throws(LoadInputError) -> Int {
    guard let value else { return 1000 }
    guard case .number(let text) = value, let size = Int(text), (1...10_000_000).contains(size)
    else {
      throw LoadInputError("mix.json: the size of \(place) must be a whole number above 0.")
    }
    return size
  }

  /// Returns whether a token is drawn.
  private func viewer(_ value: JSONValue?, _ place: String) throws(LoadInputError) -> Bool {
    switch value?.text {
    case "none": return false
    case "any": return true
    case nil where value == nil: return true
    default: throw LoadInputError("mix.json: the viewer of \(place) must be any or none.")
    }
  }

  private mutating func set(_ name: String, _ value: JSONValue) throws {
    let place = "operation \"\(name)\""
    guard let index = operations.firstIndex(where: { $0.name == name }) else {
      throw LoadInputError("mix.json: there is no \(place); it would be in \(name).graphql.")
    }
    let isSubscription = operations[index].kind == .subscription
    let members = try Self.members(
      value,
      ["weight", "viewer", "variables"]
        + (isSubscription ? ["subscribers", "trigger", "match"] : []),
      place)
    if let weight = members["weight"] {
      guard let number = weight.double, number >= 0, number.isFinite else {
        throw LoadInputError("mix.json: the weight of \(place) must be a number, 0 or more.")
      }
      operations[index].weight = number
    }
    operations[index].isForAnybody = try viewer(members["viewer"], place)
    if let variables = members["variables"] {
      let known = variableNames[name] ?? []
      for member in try Self.members(variables, nil, "variables of \(place)")
      where !known.contains(member.key) {
        throw LoadInputError("mix.json: \(place) declares no variable $\(member.key).")
      }
      operations[index].variables = try template(variables, place, isTop: true)
    }
    if isSubscription { operations[index].audience = try audience(members, place) }
  }

  private func audience(
    _ members: [String: JSONValue], _ place: String
  ) throws(LoadInputError) -> Mix.Audience {
    guard case .number(let text)? = members["subscribers"], let count = Int(text),
      (1...10_000).contains(count), let trigger = members["trigger"]?.text,
      let match = members["match"]?.text, !match.isEmpty
    else {
      throw LoadInputError(
        "mix.json: \(place) is a subscription; it needs subscribers from 1 to 10000, a mutation as trigger, and "
          + "as match the path of a text in its events.")
    }
    return Mix.Audience(
      subscribers: count, trigger: trigger, match: match.split(separator: ".").map(String.init))
  }

  // MARK: Variables

  private func template(
    _ value: JSONValue, _ place: String, isTop: Bool = false
  ) throws(LoadInputError) -> VariableTemplate {
    switch value {
    case .null, .boolean, .number, .string: return .constant(value.bytes)
    case .array(let elements):
      var list: [VariableTemplate] = []
      for element in elements { list.append(try template(element, place)) }
      return list.allSatisfy(\.isConstant) ? .constant(value.bytes) : .list(list)
    case .object(let members):
      if !isTop, members.contains(where: { $0.name.hasPrefix("$") }) {
        return try draw(members, place)
      }
      var object: [(key: [UInt8], value: VariableTemplate)] = []
      for member in members {
        object.append((JSONWriter.key(member.name), try template(member.value, place)))
      }
      return object.allSatisfy(\.value.isConstant) ? .constant(value.bytes) : .object(object)
    }
  }

  private func draw(
    _ members: [JSONValue.Member], _ place: String
  ) throws(LoadInputError) -> VariableTemplate {
    var values: [String: JSONValue] = [:]
    for member in members { values[member.name] = member.value }
    func only(_ names: String...) throws(LoadInputError) {
      for name in values.keys.sorted() where !names.contains(name) {
        throw LoadInputError(
          "mix.json: \(place) has an object with \"\(name)\" beside \(names[0]), which it may not have."
        )
      }
    }
    if let pool = values["$pool"] {
      try only("$pool", "draw")
      return .pool(try self.pool(pool, place), zipf: try exponent(values["draw"], place))
    }
    if let bounds = values["$int"] {
      try only("$int")
      guard let pair = bounds.elements, pair.count == 2, case .number(let low) = pair[0],
        case .number(let high) = pair[1], let low = Int64(low), let high = Int64(high), low <= high
      else {
        throw LoadInputError("mix.json: \(place): $int needs two whole numbers, the lower first.")
      }
      return .integer(low...high)
    }
    if let choices = values["$choice"] {
      try only("$choice", "weights")
      return try choice(choices, values["weights"], place)
    }
    if let sample = values["$sample"] {
      try only("$sample")
      guard let pair = sample.elements, pair.count == 2, case .number(let text) = pair[1],
        let count = Int(text), (0...10_000).contains(count)
      else { throw LoadInputError("mix.json: \(place): $sample needs a pool and a number.") }
      return .sample(pool: try pool(pair[0], place), count: count)
    }
    if let prefix = values["$unique"] {
      try only("$unique")
      guard let prefix = prefix.text else {
        throw LoadInputError("mix.json: \(place): $unique needs a text.")
      }
      return .unique(prefix: prefix)
    }
    if let literal = values["$literal"] {
      try only("$literal")
      return .constant(literal.bytes)
    }
    let name = members.first { $0.name.hasPrefix("$") }?.name ?? ""
    throw LoadInputError(
      "mix.json: \(place): nothing is drawn by \(name); there are $pool, $int, $choice, $sample, $unique and $literal."
    )
  }

  private func pool(_ value: JSONValue, _ place: String) throws(LoadInputError) -> Int {
    guard let name = value.text, let index = poolPlaces[name] else {
      throw LoadInputError("mix.json: \(place) draws from a pool that is not among pools.")
    }
    return index
  }

  /// Returns the exponent of Zipf's distribution; nil for a uniform one.
  private func exponent(
    _ value: JSONValue?, _ place: String
  ) throws(LoadInputError) -> Double? {
    guard let value else { return nil }
    let words = (value.text ?? "").split(separator: " ").map(String.init)
    if words == ["uniform"] { return nil }
    if words == ["zipf"] { return 1 }
    guard words.count == 2, words[0] == "zipf", let exponent = Double(words[1]), exponent >= 0,
      exponent.isFinite
    else {
      throw LoadInputError(
        "mix.json: \(place): draw must be \"uniform\" or such as \"zipf 1.1\".")
    }
    return exponent
  }

  private func choice(
    _ choices: JSONValue, _ weights: JSONValue?, _ place: String
  ) throws(LoadInputError) -> VariableTemplate {
    guard let values = choices.elements, !values.isEmpty else {
      throw LoadInputError("mix.json: \(place): $choice needs a list that is not empty.")
    }
    var shares = values.map { _ in 1.0 }
    if let weights {
      shares = (weights.elements ?? []).compactMap(\.double)
      guard shares.count == values.count, shares.allSatisfy({ $0 >= 0 && $0.isFinite }),
        shares.contains(where: { $0 > 0 })
      else {
        throw LoadInputError("mix.json: \(place): $choice needs a weight for each choice.")
      }
    }
    return .choice(values.map(\.bytes), Weights(shares))
  }
}
