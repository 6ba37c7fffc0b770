/// How large the answer of an operation can be at most, as its page sizes go, and what it costs to
/// find. Of objects that can be of several types the largest counts. Sums stay at `Int.max`.
struct OperationSize: Equatable {
  /// Of all lists and pages together.
  var elements = 0
  /// A leaf costs nothing, an object 1, a page 2 and for each element 1 and what is in it (R8).
  var cost = 0

  /// O(shape).
  init(of shape: ObjectShape, limits: PlannerLimits) {
    var walk = SizeWalk(limits: limits)
    self = walk.size(of: shape)
  }

  /// Of a mutation's payloads together; each of its fields costs 10 besides (R8).
  init(of mutation: [MutationField], limits: PlannerLimits) {
    var walk = SizeWalk(limits: limits)
    for case .call(let plan) in mutation {
      self = self + OperationSize(cost: 10) + walk.size(of: plan.shape)
    }
  }

  fileprivate init(elements: Int = 0, cost: Int = 0) {
    (self.elements, self.cost) = (elements, cost)
  }

  fileprivate static func + (left: OperationSize, right: OperationSize) -> OperationSize {
    OperationSize(
      elements: left.elements.saturatingAdding(right.elements),
      cost: left.cost.saturatingAdding(right.cost))
  }

  /// So many elements of this size each.
  fileprivate func page(of count: Int) -> OperationSize {
    OperationSize(
      elements: elements.saturatingAdding(1).saturatingMultiplied(by: count),
      cost: cost.saturatingAdding(1).saturatingMultiplied(by: count))
  }
}

private struct SizeWalk {
  let limits: PlannerLimits
  private var known: [ObjectIdentifier: OperationSize] = [:]

  init(limits: PlannerLimits) { self.limits = limits }

  mutating func size(of shape: ObjectShape) -> OperationSize {
    let identity = ObjectIdentifier(shape)
    if let size = known[identity] { return size }
    var size = OperationSize()
    for field in shape.fields { size = size + self.size(of: field.value) }
    known[identity] = size
    return size
  }

  private mutating func size(of value: ValueShape) -> OperationSize {
    switch value {
    case .constant, .leaf, .leaves, .introspection, .secret, .refused: OperationSize()
    case .record(_, let shape): OperationSize(cost: 1) + size(of: shape)
    case .embedded(_, let shape): size(of: shape)
    case .list(_, let shape, _):
      OperationSize(cost: 2) + size(of: shape).page(of: limits.assumedListLength)
    case .connection(let connection): size(of: connection)
    }
  }

  private mutating func size(of connection: ConnectionShape) -> OperationSize {
    var size = OperationSize(cost: 2)
    for field in connection.parts {
      switch field.part {
      case .constant, .pageInfo, .leaf: break
      case .nodes(let shape): size = size + self.size(of: shape).page(of: connection.pageSize)
      case .edges(let edge):
        var inner = OperationSize()
        for part in edge.parts {
          if case .node(let shape) = part.part { inner = inner + self.size(of: shape) }
        }
        size = size + inner.page(of: connection.pageSize)
      }
    }
    return size
  }

  private mutating func size(of record: RecordShape) -> OperationSize {
    switch record {
    case .object(let shape): return size(of: shape)
    case .nested(_, let inner): return size(of: inner)
    case .byTag(_, let shapes):
      var largest = OperationSize()
      for shape in shapes.values {
        let size = size(of: shape)
        largest = OperationSize(
          elements: max(largest.elements, size.elements), cost: max(largest.cost, size.cost))
      }
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
