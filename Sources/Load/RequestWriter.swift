import GraphQLLanguage
import HTTP
import JSON

/// Writes the requests of a run: what a request asks for depends on the seed of its window and its
/// number in it, and on nothing that happens meanwhile.
package struct RequestWriter: Sendable {
  package struct Settings: Sendable {
    /// Whether the ID of a trusted document is sent in place of its text.
    package var sendsID = false
    package var asksForTimings = true
    /// Lines such as `Name: value`.
    package var headers: [String] = []
    package var tokens: [String] = []

    package init() {}
  }

  private struct Prepared: Sendable {
    let operation: Mix.Operation
    /// The body up to the variables.
    let prefix: [UInt8]
    /// The whole body if all requests have the same variables.
    let body: [UInt8]?
  }

  private let operations: [Prepared]
  private let weights: Weights
  private let pools: PoolValues
  private let head: [UInt8]
  private let authorizations: [[UInt8]]
  private let mix: Mix
  private let settings: Settings
  /// The seed of what subscribers ask for; each window has one of its own.
  private let seed: UInt64
  /// The part of unique texts and keys that distinguishes this run from others.
  package let run: String

  /// - Parameter mix: with at least one operation that is sent.
  package init(
    _ mix: Mix, pools: PoolValues, target: HTTPTarget, settings: Settings, run: String,
    seed: UInt64
  ) {
    self.seed = seed
    self.mix = mix
    self.settings = settings
    operations = mix.sent.map { operation in
      let prefix = Self.prefix(operation, sendsID: settings.sendsID)
      var body: [UInt8]?
      if case .constant(let variables) = operation.variables {
        body = prefix + variables + [UInt8(ascii: "}")]
      }
      return Prepared(operation: operation, prefix: prefix, body: body)
    }
    weights = Weights(mix.sent.map(\.weight))
    self.pools = pools
    self.run = run
    head = Self.head(target, settings)
    authorizations = settings.tokens.map { Array("Authorization: Bearer \($0)\r\n".utf8) }
  }

  /// Returns the start of a body: the document and the name of its operation.
  private static func prefix(_ operation: Mix.Operation, sendsID: Bool) -> [UInt8] {
    var json = JSONWriter()
    json.append(UInt8(ascii: "{"))
    if sendsID, let id = operation.documentID {
      json.writeKey("documentId")
      json.write(id)
    } else {
      json.writeKey("query")
      json.write(operation.document)
    }
    json.append(UInt8(ascii: ","))
    json.writeKey("operationName")
    json.write(operation.name)
    json.append(UInt8(ascii: ","))
    json.writeKey("variables")
    return json.finish()
  }

  /// Returns the head of every request, up to the headers that differ.
  package static func head(_ target: HTTPTarget, _ settings: Settings) -> [UInt8] {
    var lines = [
      "POST \(target.path) HTTP/1.1", "Host: \(target.authority)",
      "Content-Type: application/json",
      "Accept: application/graphql-response+json, application/json;q=0.9",
    ]
    if settings.asksForTimings { lines.append("Prefer: metrics=timings") }
    lines += settings.headers
    return Array((lines.joined(separator: "\r\n") + "\r\n").utf8)
  }

  package var operationCount: Int { operations.count }

  package func operation(_ index: Int) -> Mix.Operation { operations[index].operation }

  private func random(_ seed: UInt64, _ number: Int) -> RandomSequence {
    RandomSequence(seed: seed, part: 0x4000_0000 &+ UInt64(bitPattern: Int64(number)))
  }

  /// Returns the operation of a request.
  func operationIndex(seed: UInt64, number: Int) -> Int {
    var random = random(seed, number)
    return weights.draw(&random)
  }

  /// Returns the key of a mutation.
  func key(_ mark: Int) -> String { "load-\(run)-\(mark)" }

  /// Returns the bytes of a request.
  ///
  /// - Parameter mark: the number of the request in the run, which its unique texts contain.
  func request(seed: UInt64, number: Int, mark: Int) -> [UInt8] {
    var random = random(seed, number)
    let prepared = operations[weights.draw(&random)]
    var bytes = head
    if prepared.operation.isForAnybody, !authorizations.isEmpty {
      bytes += authorizations[random.index(below: authorizations.count)]
    }
    if prepared.operation.kind == .mutation {
      bytes += Array("Idempotency-Key: \(key(mark))\r\n".utf8)
    }
    if let body = prepared.body {
      bytes += Self.length(body.count)
      bytes += body
      return bytes
    }
    var json = JSONWriter(capacity: prepared.prefix.count + 256)
    json.append(prepared.prefix)
    prepared.operation.variables.write(to: &json, pools, &random, mark: "\(run)-\(mark)")
    json.append(UInt8(ascii: "}"))
    let body = json.finish()
    bytes += Self.length(body.count)
    bytes += body
    return bytes
  }

  /// Returns the body of one request of an operation, and its token: what is asked once before a run.
  func trial(of index: Int) -> (body: [UInt8], token: String?) {
    let operation = operations[index].operation
    var random = RandomSequence(seed: seed, part: 0x7121_0000 + UInt64(index))
    var json = JSONWriter(capacity: 1_024)
    json.append(operations[index].prefix)
    operation.variables.write(to: &json, pools, &random, mark: "\(run)-t\(index)")
    json.append(UInt8(ascii: "}"))
    return (json.finish(), operation.isForAnybody ? settings.tokens.first : nil)
  }

  // MARK: Subscriptions

  /// The subscriptions of the run, without events.
  var subscriptions: [Deliveries] {
    mix.subscriptions.compactMap { operation in
      guard let audience = operation.audience,
        let trigger = operations.firstIndex(where: { $0.operation.name == audience.trigger })
      else { return nil }
      return Deliveries(
        name: operation.name, trigger: trigger, subscribers: audience.subscribers)
    }
  }

  /// Returns what each subscriber of the run asks for, which depends on the seed.
  func subscriberPlans() -> [LoadSubscriber.Plan] {
    var plans: [LoadSubscriber.Plan] = []
    let shown = mix.subscriptions.filter { $0.audience != nil }
    for (number, operation) in shown.enumerated() {
      guard let audience = operation.audience else { continue }
      for _ in 0..<audience.subscribers {
        var random = RandomSequence(seed: seed, part: 0x5AB0_0000 + UInt64(plans.count))
        var token: String?
        if operation.isForAnybody, !settings.tokens.isEmpty {
          token = settings.tokens[random.index(below: settings.tokens.count)]
        }
        var greeting = JSONWriter(capacity: 128)
        greeting.append(#"{"type":"connection_init""#)
        if let token {
          greeting.append(#","payload":{"authorization":"#)
          greeting.write("Bearer \(token)")
          greeting.append("}")
        }
        greeting.append("}")
        var message = JSONWriter(capacity: 512)
        message.append(#"{"id":"1","type":"subscribe","payload":"#)
        message.append(Self.prefix(operation, sendsID: settings.sendsID))
        operation.variables.write(to: &message, pools, &random, mark: "\(run)-s\(plans.count)")
        message.append("}}")
        plans.append(
          LoadSubscriber.Plan(
            subscription: number, message: message.finish(), greeting: greeting.finish(),
            headers: settings.headers + (token.map { ["Authorization: Bearer \($0)"] } ?? []),
            match: audience.match))
      }
    }
    return plans
  }

  /// Returns the number of the request that a unique text was made for; nil for other texts.
  func mark(in text: String) -> Int? {
    let digits = text.utf8.reversed().prefix { $0 >= 0x30 && $0 <= 0x39 }
    let rest = text.utf8.dropLast(digits.count)
    guard rest.last == UInt8(ascii: "-"),
      rest.dropLast().suffix(run.utf8.count).elementsEqual(run.utf8)
    else { return nil }
    return Int(String(decoding: Array(digits.reversed()), as: UTF8.self))
  }

  package static func length(_ count: Int) -> [UInt8] {
    Array("Content-Length: \(count)\r\n\r\n".utf8)
  }
}
