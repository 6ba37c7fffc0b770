import GraphQLSchema

/// The maximum size of an operation's response, by its page sizes, and its cost. For objects of
/// several types, the largest type counts. Sums saturate at `Int.max`.
package struct OperationSize: Sendable, Equatable {
  /// The number of elements of all lists and pages.
  package var elements = 0
  /// The cost: a leaf costs 0, an object 1, and a page 2 plus, for each element, 1 and the cost of
  /// its fields.
  package var cost = 0
  /// The bytes of the response names, which clients choose, and of other constant text.
  package var nameBytes = 0

  package init(elements: Int = 0, cost: Int = 0, nameBytes: Int = 0) {
    self.elements = elements
    self.cost = cost
    self.nameBytes = nameBytes
  }

  static func + (left: OperationSize, right: OperationSize) -> OperationSize {
    OperationSize(
      elements: left.elements.saturatingAdding(right.elements),
      cost: left.cost.saturatingAdding(right.cost),
      nameBytes: left.nameBytes.saturatingAdding(right.nameBytes))
  }

  static func * (size: OperationSize, count: Int) -> OperationSize {
    OperationSize(
      elements: size.elements.saturatingMultiplied(by: count),
      cost: size.cost.saturatingMultiplied(by: count),
      nameBytes: size.nameBytes.saturatingMultiplied(by: count))
  }

  fileprivate func largest(_ other: OperationSize) -> OperationSize {
    OperationSize(
      elements: max(elements, other.elements), cost: max(cost, other.cost),
      nameBytes: max(nameBytes, other.nameBytes))
  }
}

/// The size of the responses that a plan serves. Page sizes are part of the plan; the lengths of
/// the lists of IDs that clients give are not.
package struct PlanSize: Sendable {
  /// The size without elements of given lists.
  package private(set) var fixed = OperationSize()
  /// The size that each ID of a given list adds.
  private var perID: [InputSource: OperationSize] = [:]

  private init(_ fixed: OperationSize = OperationSize()) { self.fixed = fixed }

  /// Computes the size of a shape. O(shape).
  init(of shape: ObjectShape, limits: PlannerLimits) {
    var walk = SizeWalk(limits: limits)
    self = walk.size(of: shape)
  }

  /// Computes the size of a mutation's payloads together; each of its fields costs 10 more.
  init(of mutation: [MutationField], limits: PlannerLimits) {
    var walk = SizeWalk(limits: limits)
    for case .call(let plan) in mutation {
      self = self + PlanSize(OperationSize(cost: 10)) + walk.size(of: plan.shape)
    }
  }

  /// Whether requests with other variables have the same size.
  package var isFixed: Bool { perID.isEmpty }

  /// Returns the size for a request.
  ///
  /// - Parameter variables: the variables by index.
  package func size(for variables: [InputValue?]) -> OperationSize {
    perID.reduce(fixed) { $0 + $1.value * Self.count(of: $1.key, variables) }
  }

  private static func count(of list: InputSource, _ variables: [InputValue?]) -> Int {
    guard case .variable(let index, let path) = list, variables.indices.contains(index),
      let value = variables[index]
    else { return 0 }
    return switch value.value(at: path) {
    case .null: 0
    case .list(let items): items.count
    case .boolean, .int, .bigInt, .float, .number, .string, .enum, .object: 1
    }
  }

  fileprivate static func + (left: PlanSize, right: PlanSize) -> PlanSize {
    var sum = PlanSize(left.fixed + right.fixed)
    sum.perID = left.perID.merging(right.perID, uniquingKeysWith: +)
    return sum
  }

  fileprivate func largest(_ other: PlanSize) -> PlanSize {
    var largest = PlanSize(fixed.largest(other.fixed))
    largest.perID = perID.merging(other.perID) { $0.largest($1) }
    return largest
  }

  /// Returns the size of a page with this number of elements.
  fileprivate func page(of count: Int) -> PlanSize {
    var page = PlanSize((fixed + Self.element) * count)
    page.perID = perID.mapValues { $0 * count }
    return page
  }

  /// Returns the size of as many elements as IDs are given. Given lists do not nest.
  fileprivate func page(of list: InputSource) -> PlanSize {
    var page = PlanSize()
    page.perID = perID.mapValues { $0 * PlannerLimits().maximumNodeIDs }
    page.perID[list, default: OperationSize()] = fixed + Self.element
    return page
  }

  /// The size of an element, with its comma.
  private static let element = OperationSize(elements: 1, cost: 1, nameBytes: 1)

  fileprivate static func names(_ keys: some Sequence<[UInt8]>) -> PlanSize {
    PlanSize(OperationSize(nameBytes: keys.reduce(2) { $0.saturatingAdding($1.count + 1) }))
  }

  fileprivate static func text(_ bytes: [UInt8]) -> PlanSize {
    PlanSize(OperationSize(nameBytes: bytes.count))
  }

  fileprivate static func cost(_ cost: Int) -> PlanSize { PlanSize(OperationSize(cost: cost)) }

  fileprivate static let nothing = PlanSize()
}

/// The number of elements that a list without pages counts as.
package enum ListLength: Sendable, Hashable {
  /// The number is unknown; `PlannerLimits.assumedListLength` applies.
  case assumed
  case atMost(Int)
  /// The number of IDs in the given list.
  case ids(InputSource)
}

private struct SizeWalk {
  let limits: PlannerLimits
  private var known: [ObjectIdentifier: PlanSize] = [:]

  init(limits: PlannerLimits) { self.limits = limits }

  mutating func size(of shape: ObjectShape) -> PlanSize {
    let identity = ObjectIdentifier(shape)
    if let size = known[identity] { return size }
    var size = PlanSize.names(shape.fields.lazy.map(\.key))
    for field in shape.fields {
      size = size + self.size(of: field.value)
      if field.filterCost > 0 { size = size + .cost(field.filterCost) }
    }
    known[identity] = size
    return size
  }

  private mutating func size(of value: ValueShape) -> PlanSize {
    switch value {
    case .constant(let text): .text(text)
    case .leaf, .leaves, .introspection, .secret, .refused, .marker: .nothing
    case .record(_, let shape): .cost(1) + size(of: shape)
    case .embedded(_, let shape): size(of: shape)
    case .list(_, let shape, _, let length):
      switch length {
      case .assumed: .cost(2) + size(of: shape).page(of: limits.assumedListLength)
      case .atMost(let count): .cost(2) + size(of: shape).page(of: count)
      case .ids(let list): .cost(2) + size(of: shape).page(of: list)
      }
    case .connection(let connection): size(of: connection)
    }
  }

  private mutating func size(of connection: ConnectionShape) -> PlanSize {
    var size = PlanSize.cost(2 + connection.cost) + .names(connection.parts.lazy.map(\.key))
    for field in connection.parts {
      switch field.part {
      case .constant(let text): size = size + .text(text)
      case .pageInfo(let fields, _): size = size + .names(fields.lazy.map(\.key))
      case .value(let value): size = size + self.size(of: value)
      case .marker: break
      case .nodes(let shape): size = size + self.size(of: shape).page(of: connection.pageSize)
      case .edges(let edge):
        var inner = PlanSize.names(edge.parts.lazy.map(\.key))
        for part in edge.parts {
          if case .node(let shape) = part.part { inner = inner + self.size(of: shape) }
        }
        size = size + inner.page(of: connection.pageSize)
      }
    }
    return size
  }

  private mutating func size(of record: RecordShape) -> PlanSize {
    switch record {
    case .object(let shape): return size(of: shape)
    case .nested(_, let inner, _): return size(of: inner)
    case .byTag(_, let shapes):
      var largest = PlanSize.nothing
      for shape in shapes.values { largest = largest.largest(size(of: shape)) }
      return largest
    }
  }
}

extension Int {
  fileprivate func saturatingAdding(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? Int.max : sum
  }

  fileprivate func saturatingMultiplied(by other: Int) -> Int {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? Int.max : product
  }
}
