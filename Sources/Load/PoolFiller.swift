import HTTP
import JSON

/// Fills the pools of a mix before a run, from their queries.
package struct PoolFiller {
  private let client: BlockingClient
  private let token: String?

  package init(client: BlockingClient, token: String?) {
    self.client = client
    self.token = token
  }

  /// Returns the values of each pool as JSON.
  package func fill(_ mix: Mix) throws -> [[[UInt8]]] {
    let values = try mix.pools.map { pool -> [[UInt8]] in
      switch pool.source {
      case .values(let values): return values
      case .query(let document, let path, let size, let isForAnybody):
        let values = try query(
          pool.name, document, path, size, isForAnybody ? token : nil)
        guard !values.isEmpty else {
          throw LoadFailure("pool \"\(pool.name)\" is empty: its query found nothing.")
        }
        return values
      }
    }
    for operation in mix.sent + mix.subscriptions {
      try check(operation.variables, operation.name, values)
    }
    return values
  }

  private func check(
    _ template: VariableTemplate, _ operation: String, _ values: [[[UInt8]]]
  ) throws(LoadFailure) {
    switch template {
    case .sample(let pool, let count):
      guard values[pool].count >= count else {
        throw LoadFailure(
          "\(operation) draws \(count) different values of a pool that has \(values[pool].count).")
      }
    case .list(let elements): for element in elements { try check(element, operation, values) }
    case .object(let members):
      for member in members { try check(member.value, operation, values) }
    case .constant, .pool, .integer, .choice, .unique: break
    }
  }

  private func query(
    _ name: String, _ document: String, _ path: [String], _ size: Int, _ token: String?
  ) throws -> [[UInt8]] {
    var values: [[UInt8]] = []
    var after = JSONValue.null
    while values.count < size {
      let body = JSONValue.members([
        "query": .string(document), "variables": .members(["after": after]),
      ]).bytes
      let (status, bytes) = try client.ask(body, token: token)
      guard let answer = try? JSONParser.parse(bytes, maximumNesting: 512) else {
        throw LoadFailure("pool \"\(name)\": the server answered \(status) without JSON.")
      }
      if let error = answer["errors"]?.elements?.first {
        throw LoadFailure(
          "pool \"\(name)\": the server answered: \(error["message"]?.text ?? "an error")")
      }
      guard let data = answer["data"] else {
        throw LoadFailure("pool \"\(name)\": the server answered \(status) without data.")
      }
      let before = values.count
      Self.collect(data, path[...], into: &values)
      let page = data[path.first ?? ""]?["pageInfo"]
      guard page?["hasNextPage"] == .boolean(true), let cursor = page?["endCursor"],
        cursor.text != nil, cursor != after, values.count > before
      else { break }
      after = cursor
    }
    return Array(values.prefix(size))
  }

  /// Collects what is at the end of a path, through lists; nulls are left out.
  package static func collect(
    _ value: JSONValue, _ path: ArraySlice<String>, into values: inout [[UInt8]]
  ) {
    if let elements = value.elements {
      for element in elements { collect(element, path, into: &values) }
      return
    }
    guard let step = path.first else {
      if value != .null { values.append(value.bytes) }
      return
    }
    if let next = value[step] { collect(next, path.dropFirst(), into: &values) }
  }
}

/// A failure of a run: what was asked for could not be done.
package struct LoadFailure: Error, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
