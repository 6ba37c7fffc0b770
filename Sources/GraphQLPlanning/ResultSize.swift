/// How many elements the lists and pages of an answer can have at most, all together, as the page
/// sizes go. Of objects that can be of several types the largest counts. O(shape).
struct ResultSize {
  let limits: PlannerLimits
  private var known: [ObjectIdentifier: Int] = [:]

  init(limits: PlannerLimits) { self.limits = limits }

  mutating func elements(in shape: ObjectShape) -> Int {
    let identity = ObjectIdentifier(shape)
    if let count = known[identity] { return count }
    let count = shape.fields.reduce(0) { $0.saturatingAdding(elements(in: $1.value)) }
    known[identity] = count
    return count
  }

  private mutating func elements(in value: ValueShape) -> Int {
    switch value {
    case .constant, .leaf, .leaves, .introspection: return 0
    case .record(_, let shape): return elements(in: shape)
    case .embedded(_, let shape): return elements(in: shape)
    case .list(_, let shape, _): return page(of: limits.assumedListLength, shape)
    case .connection(let connection):
      var count = 0
      for field in connection.parts {
        switch field.part {
        case .constant, .pageInfo, .leaf: break
        case .nodes(let shape):
          count = count.saturatingAdding(page(of: connection.pageSize, shape))
        case .edges(let edge):
          for part in edge.parts {
            guard case .node(let shape) = part.part else { continue }
            count = count.saturatingAdding(page(of: connection.pageSize, shape))
          }
        }
      }
      return count
    }
  }

  private mutating func elements(in record: RecordShape) -> Int {
    switch record {
    case .object(let shape): return elements(in: shape)
    case .byTag(_, let shapes): return shapes.values.reduce(0) { max($0, elements(in: $1)) }
    case .nested(_, let inner): return elements(in: inner)
    }
  }

  private mutating func page(of size: Int, _ shape: RecordShape) -> Int {
    let (count, overflow) = elements(in: shape).saturatingAdding(1)
      .multipliedReportingOverflow(by: size)
    return overflow ? Int.max : count
  }
}

extension Int {
  fileprivate func saturatingAdding(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? Int.max : sum
  }
}
