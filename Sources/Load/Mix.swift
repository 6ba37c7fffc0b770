import GraphQLLanguage
import JSON

/// The operations that a load consists of, their weights, and what their variables are drawn from.
package struct Mix: Sendable {
  /// How a subscription is loaded: by subscribers that wait for what a mutation of the mix commits.
  package struct Audience: Sendable {
    package let subscribers: Int
    /// The name of the mutation that the events answer.
    package let trigger: String
    /// The path in `data` of the text by which an event is told apart.
    package let match: [String]
  }

  package struct Operation: Sendable {
    package let name: String
    package let kind: OperationKind
    package let document: String
    /// The ID among trusted documents; nil without a manifest.
    package var documentID: String?
    package var weight: Double = 1
    /// Whether a token is drawn for it; else it is sent without one.
    package var isForAnybody = true
    package var variables = VariableTemplate.constant(Array("{}".utf8))
    /// Nil for an operation that is no subscription, and for one that the mix says nothing about.
    package var audience: Audience?
  }

  package enum PoolSource: Sendable {
    case values([[UInt8]])
    case query(document: String, path: [String], size: Int, isForAnybody: Bool)
  }

  package struct Pool: Sendable {
    package let name: String
    package let source: PoolSource
  }

  package var operations: [Operation]
  package var pools: [Pool]
  /// Whether mutations are left out, rather than refused, where writes are not allowed.
  package var mutationsAreOptional = false
  /// The file of tokens that the mix names, to use unless another is given.
  package var tokens: String?

  /// The operations that arrivals are drawn from: those with a weight, but no subscriptions.
  package var sent: [Operation] {
    operations.filter { $0.weight > 0 && $0.kind != .subscription }
  }

  package var subscriptions: [Operation] {
    operations.filter { $0.kind == .subscription && $0.weight > 0 }
  }

  /// Gives mutations, and the subscriptions to what they commit, the weight 0.
  package mutating func leaveOutMutations() {
    for index in operations.indices where operations[index].kind != .query {
      operations[index].weight = 0
    }
  }
}

/// A fault of a mix or of another input, found before anything is sent.
package struct LoadInputError: Error, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}

/// JSON with parts that are drawn for each request.
package indirect enum VariableTemplate: Sendable {
  /// JSON as it is sent.
  case constant([UInt8])
  case list([VariableTemplate])
  case object([(key: [UInt8], value: VariableTemplate)])
  /// A value of a pool; `nil` draws all ranks alike.
  case pool(Int, zipf: Double?)
  case integer(ClosedRange<Int64>)
  case choice([[UInt8]], Weights)
  /// Different values of a pool.
  case sample(pool: Int, count: Int)
  /// A text that no other request of any run has.
  case unique(prefix: String)

  /// Whether each request has the same.
  var isConstant: Bool {
    if case .constant = self { true } else { false }
  }

  /// Whether a part of it is unique.
  var hasUnique: Bool {
    switch self {
    case .unique: true
    case .list(let elements): elements.contains { $0.hasUnique }
    case .object(let members): members.contains { $0.value.hasUnique }
    case .constant, .pool, .integer, .choice, .sample: false
    }
  }
}

/// The values of the pools of a run, in the order of their ranks.
package struct PoolValues: Sendable {
  /// The values of each pool, as JSON.
  package let values: [[[UInt8]]]
  private var distributions: [Distribution: Weights] = [:]

  private struct Distribution: Hashable {
    let pool: Int
    let exponent: Double
  }

  /// Shuffles the values of each pool and prepares the distributions that templates ask for.
  package init(_ values: [[[UInt8]]], seed: UInt64, for templates: [VariableTemplate]) {
    self.values = values.enumerated().map { index, values in
      var random = RandomSequence(seed: seed, part: 0x9001 + UInt64(index))
      return values.shuffled(using: &random)
    }
    for template in templates { prepare(template) }
  }

  private mutating func prepare(_ template: VariableTemplate) {
    switch template {
    case .pool(let pool, let exponent?):
      distributions[Distribution(pool: pool, exponent: exponent)] = Weights(
        zipf: exponent, count: values[pool].count)
    case .list(let elements): for element in elements { prepare(element) }
    case .object(let members): for member in members { prepare(member.value) }
    case .constant, .pool, .integer, .choice, .sample, .unique: break
    }
  }

  fileprivate func rank(_ pool: Int, _ exponent: Double?, _ random: inout RandomSequence) -> Int {
    guard let exponent,
      let weights = distributions[Distribution(pool: pool, exponent: exponent)]
    else { return random.index(below: values[pool].count) }
    return weights.draw(&random)
  }
}

extension VariableTemplate {
  /// Writes the JSON of one request.
  ///
  /// - Parameter mark: what makes a text of this request unique: the run and the request's number.
  func write(
    to json: inout JSONWriter, _ pools: PoolValues, _ random: inout RandomSequence, mark: String
  ) {
    switch self {
    case .constant(let bytes): json.append(bytes)
    case .list(let elements):
      json.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { json.append(UInt8(ascii: ",")) }
        element.write(to: &json, pools, &random, mark: mark)
      }
      json.append(UInt8(ascii: "]"))
    case .object(let members):
      json.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { json.append(UInt8(ascii: ",")) }
        json.append(member.key)
        member.value.write(to: &json, pools, &random, mark: mark)
      }
      json.append(UInt8(ascii: "}"))
    case .pool(let pool, let exponent):
      json.append(pools.values[pool][pools.rank(pool, exponent, &random)])
    case .integer(let range):
      json.write(Int64.random(in: range, using: &random))
    case .choice(let values, let weights):
      json.append(values[weights.draw(&random)])
    case .sample(let pool, let count):
      // Robert Floyd's selection: as many draws as values.
      let all = pools.values[pool].count
      var chosen: [Int] = []
      for limit in (all - count)..<all {
        let index = random.index(below: limit + 1)
        chosen.append(chosen.contains(index) ? limit : index)
      }
      json.append(UInt8(ascii: "["))
      for (place, index) in chosen.enumerated() {
        if place > 0 { json.append(UInt8(ascii: ",")) }
        json.append(pools.values[pool][index])
      }
      json.append(UInt8(ascii: "]"))
    case .unique(let prefix): json.write(prefix + mark)
    }
  }
}
