import GraphQLLanguage

/// The references of directive definitions. A definition refers to the directives applied to it and
/// to its arguments, and to the types of those arguments, which refer to others.
///
/// A directive that can be reached from itself is in a component of that graph with others, or
/// refers to itself. Tarjan's algorithm finds the components in O(references), with an explicit
/// stack.
struct DirectiveReferences {
  private let schema: Schema
  private let directiveNumbers: [String: Int]

  init(_ schema: Schema, _ draft: TypeSystemDraft) {
    self.schema = schema
    directiveNumbers = Dictionary(
      schema.directives.enumerated().map { ($1.name, $0) },
      uniquingKeysWith: { first, _ in first })
  }

  func selfReferring() -> Set<String> {
    let edges = edges()
    var finder = ComponentFinder(edges: edges)
    return Set(
      schema.directives.indices.filter { finder.isOnCycle($0) }.map { schema.directives[$0].name })
  }

  /// Returns the edges. Directives come first, types after them.
  private func edges() -> [[Int]] {
    schema.directives.map { references($0.appliedDirectives) + references($0.arguments) }
      + schema.types.map(references)
  }

  private func references(_ type: TypeDefinition) -> [Int] {
    let own = references(type.appliedDirectives)
    switch type.kind {
    case .scalar: return own
    case .enum(let values): return own + values.flatMap { references($0.appliedDirectives) }
    case .inputObject(let fields, _): return own + references(fields)
    case .object, .interface, .union: return []
    }
  }

  private func references(_ inputs: [InputValueDefinition]) -> [Int] {
    inputs.flatMap {
      references($0.appliedDirectives)
        + [schema.directives.count + Int($0.type.namedType.index)]
    }
  }

  private func references(_ directives: [Directive]) -> [Int] {
    directives.compactMap { directiveNumbers[$0.name.text] }
  }
}

private struct ComponentFinder {
  private let edges: [[Int]]
  private var order: [Int?]
  private var low: [Int]
  private var isOpen: [Bool]
  private var open: [Int] = []
  private var onCycle: [Bool]
  private var count = 0

  init(edges: [[Int]]) {
    self.edges = edges
    order = Array(repeating: nil, count: edges.count)
    low = Array(repeating: 0, count: edges.count)
    isOpen = Array(repeating: false, count: edges.count)
    onCycle = Array(repeating: false, count: edges.count)
  }

  mutating func isOnCycle(_ node: Int) -> Bool {
    if order[node] == nil { search(from: node) }
    return onCycle[node]
  }

  private mutating func search(from root: Int) {
    var stack = [(node: root, next: 0)]
    enter(root)
    while let (node, next) = stack.last {
      if next < edges[node].count {
        stack[stack.count - 1].next += 1
        let target = edges[node][next]
        if target == node { onCycle[node] = true }
        if let number = order[target] {
          if isOpen[target] { low[node] = min(low[node], number) }
        } else {
          enter(target)
          stack.append((target, 0))
        }
        continue
      }
      stack.removeLast()
      if let parent = stack.last?.node { low[parent] = min(low[parent], low[node]) }
      if low[node] == order[node] { close(node) }
    }
  }

  private mutating func enter(_ node: Int) {
    order[node] = count
    low[node] = count
    count += 1
    open.append(node)
    isOpen[node] = true
  }

  private mutating func close(_ node: Int) {
    let isAlone = open.last == node
    while let member = open.popLast() {
      isOpen[member] = false
      if !isAlone { onCycle[member] = true }
      if member == node { return }
    }
  }
}
