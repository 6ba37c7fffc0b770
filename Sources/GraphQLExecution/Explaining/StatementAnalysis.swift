import GraphQLPlanning
import JSON

/// PostgreSQL's own plan of a statement, with its times and the field of the response that each node
/// serves; read from `EXPLAIN (ANALYZE, VERBOSE, BUFFERS, FORMAT JSON)`.
///
/// VERBOSE shows which columns a select makes, and which of them are nested selects:
/// `Output: ROW(p.id, (SubPlan 3), $5)`. With the output shape that leads to fields.
package struct StatementAnalysis {
  package struct Node {
    package let depth: Int
    /// The title in PostgreSQL's text format: `Index Scan using post_pkey on post p`.
    package let title: String
    package let details: [String]
    /// The total time of all its executions in milliseconds, including the nodes below it.
    package let total: Double
    /// The time without the nodes below it, in milliseconds.
    package fileprivate(set) var own: Double
    package let rows: Double
    package let loops: Double
    /// The pages of shared buffers that it used itself, without the nodes below it.
    package fileprivate(set) var ownBuffers: Int
    fileprivate let buffers: Int
    package let index: String?
    /// The table with its schema, if the node reads all of it.
    package let scannedTable: String?
    package fileprivate(set) var isLeaf = true
    /// `SubPlan 3`, where one begins.
    package let subplan: String?
    /// Response names from the root; empty at the top.
    package let field: String
  }

  package private(set) var nodes: [Node] = []
  /// The planner's estimate of the cost of the statement.
  package let estimatedCost: Double
  package let executionMilliseconds: Double
  /// The planning time, or zero for a cached plan.
  package let planningMilliseconds: Double
  private var subplansByParameter: [String: String] = [:]
  private var fields: [String: ColumnFields.Place] = [:]

  /// Reads a plan, or returns nil if the value is not the output of EXPLAIN.
  package init?(_ json: JSONValue, shape: ObjectShape) {
    guard case .array(let statements) = json, let statement = statements.first,
      let root = statement["Plan"]
    else { return nil }
    estimatedCost = Self.number(root["Total Cost"]) ?? 0
    executionMilliseconds = Self.number(statement["Execution Time"]) ?? 0
    planningMilliseconds = Self.number(statement["Planning Time"]) ?? 0
    collectParameters(root)
    add(root, depth: 0, field: "", columns: ColumnFields(shape))
  }

  // MARK: - Reading

  /// Collects the names under which the values of uncorrelated subselects are used: `InitPlan 31
  /// (returns $33)`.
  private mutating func collectParameters(_ node: JSONValue) {
    if let name = Self.text(node["Subplan Name"]), let start = name.firstRange(of: " (returns ") {
      let subplan = String(name[..<start.lowerBound])
      for parameter in name[start.upperBound...].dropLast().split(separator: ",") {
        subplansByParameter[String(parameter)] = subplan
      }
    }
    for child in Self.children(node) { collectParameters(child) }
  }

  /// - Parameters:
  ///   - columns: what the records are made of that this select makes.
  private mutating func add(
    _ json: JSONValue, depth: Int, field: String, columns: ColumnFields?
  ) {
    var (field, columns) = (field, columns)
    let name = Self.text(json["Subplan Name"])
    let subplan = name.map { String($0.prefix { $0 != "(" }).trimmingBlanks }
    if let subplan {
      if let place = fields[subplan] {
        field = place.path
        columns = ColumnFields(place)
      } else {
        // It decides about rows of the field around it.
        columns = nil
      }
    }
    if let columns {
      for output in Self.outputs(json) { note(output, columns) }
    }
    let loops = Self.number(json["Actual Loops"]) ?? 0
    let total = (Self.number(json["Actual Total Time"]) ?? 0) * loops
    let place = nodes.count
    nodes.append(
      Node(
        depth: depth, title: Self.title(json), details: Self.details(json), total: total,
        own: total, rows: Self.number(json["Actual Rows"]) ?? 0, loops: loops,
        ownBuffers: Self.buffers(json), buffers: Self.buffers(json),
        index: Self.text(json["Index Name"]), scannedTable: Self.scannedTable(json), subplan: name,
        field: field))
    for child in Self.children(json) {
      let index = nodes.count
      nodes[place].isLeaf = false
      add(child, depth: depth + 1, field: field, columns: columns)
      nodes[place].own -= nodes[index].total
      nodes[place].ownBuffers -= nodes[index].buffers
    }
    // Times are rounded, the more so the more often a node ran. Pages of a subselect that runs once
    // belong to the node that asks first.
    nodes[place].own = max(nodes[place].own, 0)
    nodes[place].ownBuffers = max(nodes[place].ownBuffers, 0)
  }

  /// Finds the nested selects among the columns of `ROW(...)`.
  private mutating func note(_ output: String, _ columns: ColumnFields) {
    guard let start = output.firstRange(of: "ROW(") else { return }
    for (column, argument) in Self.arguments(output[start.upperBound...]).enumerated() {
      guard let place = columns[column] else { continue }
      if let subplan = subplansByParameter[argument] { fields[subplan] = fields[subplan] ?? place }
      for subplan in Self.subplans(in: argument) { fields[subplan] = fields[subplan] ?? place }
    }
  }

  /// Returns the comma-separated parts up to the closing bracket.
  private static func arguments(_ text: Substring) -> [String] {
    var arguments: [String] = []
    var current = ""
    var depth = 0
    var quote: Character?
    for character in text {
      if let open = quote {
        if character == open { quote = nil }
      } else {
        switch character {
        case "'", "\"": quote = character
        case "(", "[": depth += 1
        case ")" where depth == 0:
          return arguments + [current.trimmingBlanks]
        case ")", "]": depth -= 1
        case "," where depth == 0:
          arguments.append(current.trimmingBlanks)
          current = ""
          continue
        default: break
        }
      }
      current.append(character)
    }
    return arguments
  }

  private static func subplans(in text: String) -> [String] {
    text.components(behind: "SubPlan ").map { "SubPlan \($0.prefix { $0.isNumber })" }
  }

  private static func outputs(_ json: JSONValue) -> [String] {
    guard case .array(let items)? = json["Output"] else { return [] }
    return items.compactMap { text($0) }
  }

  private static func children(_ json: JSONValue) -> [JSONValue] {
    if case .array(let plans)? = json["Plans"] { plans } else { [] }
  }

  private static func text(_ value: JSONValue?) -> String? {
    if case .string(let text)? = value { text } else { nil }
  }

  private static func number(_ value: JSONValue?) -> Double? {
    if case .number(let text)? = value { Double(text) } else { nil }
  }

  private static func buffers(_ json: JSONValue) -> Int {
    let pages = (number(json["Shared Hit Blocks"]) ?? 0) + (number(json["Shared Read Blocks"]) ?? 0)
    return Int(exactly: pages.rounded()) ?? 0
  }

  private static func scannedTable(_ json: JSONValue) -> String? {
    guard text(json["Node Type"]) == "Seq Scan", let table = text(json["Relation Name"]) else {
      return nil
    }
    return text(json["Schema"]).map { "\($0).\(table)" } ?? table
  }

  private static func title(_ json: JSONValue) -> String {
    var title = text(json["Node Type"]) ?? ""
    if let index = text(json["Index Name"]) { title += " using \(index)" }
    if let name = text(json["Relation Name"]) ?? text(json["Function Name"]) {
      title += " on \(name)"
      if let alias = text(json["Alias"]), alias != name { title += " \(alias)" }
    } else if let alias = text(json["Alias"]) {
      title += " on \(alias)"
    }
    return title
  }

  private static func details(_ json: JSONValue) -> [String] {
    var details: [String] = []
    for name in ["Index Cond", "Recheck Cond", "Hash Cond", "Merge Cond", "Join Filter", "Filter"] {
      if let condition = text(json[name]) { details.append("\(name): \(condition)") }
    }
    if let removed = number(json["Rows Removed by Filter"]), removed > 0 {
      details.append("Rows Removed by Filter: \(Int(removed))")
    }
    if let hit = number(json["Shared Hit Blocks"]), let read = number(json["Shared Read Blocks"]),
      hit + read > 0
    {
      details.append("Buffers: shared hit=\(Int(hit)) read=\(Int(read))")
    }
    return details
  }

  // MARK: - Showing

  /// The plan as PostgreSQL's text format has it, each select with its field.
  package var lines: [String] {
    var lines: [String] = []
    for node in nodes {
      let indent = String(repeating: "  ", count: node.depth)
      if let subplan = node.subplan {
        lines.append(indent + subplan + (node.field.isEmpty ? "" : "  [\(node.field)]"))
      }
      lines.append("\(indent)-> \(node.title) \(Self.times(node))")
      for detail in node.details { lines.append("\(indent)     \(detail)") }
    }
    return lines
  }

  private static func times(_ node: Node) -> String {
    guard node.loops > 0 else { return "(never executed)" }
    let each = milliseconds(node.total / node.loops)
    return "(actual time=\(each) rows=\(count(node.rows)) loops=\(count(node.loops)))"
  }

  /// Returns the slowest nodes, slowest first.
  package func slowest(_ count: Int) -> [Node] {
    Array(nodes.filter { $0.own > 0 }.sorted { $0.own > $1.own }.prefix(count))
  }

  /// The pages of shared buffers that the statement used.
  package var buffers: Int { nodes.first?.buffers ?? 0 }

  /// The fields with the pages that their nodes used, the most first.
  package var fieldBuffers: [(field: String, buffers: Int)] {
    let sums = Dictionary(nodes.map { ($0.field, $0.ownBuffers) }, uniquingKeysWith: &+)
    return sums.filter { $0.value > 0 }.map { ($0.key, $0.value) }
      .sorted { ($1.buffers, $0.field) < ($0.buffers, $1.field) }
  }

  /// The fields in the order of the plan, each with the time of its nodes in milliseconds and the
  /// rows of the first of them.
  package var fieldCosts: [(field: String, own: Double, rows: Double)] {
    var costs: [(field: String, own: Double, rows: Double)] = []
    var places: [String: Int] = [:]
    for node in nodes {
      if let place = places[node.field] {
        costs[place].own += node.own
      } else {
        places[node.field] = costs.count
        costs.append((node.field, node.own, node.rows * node.loops))
      }
    }
    return costs
  }

  /// A table of them.
  package var summaryLines: [String] {
    let all = nodes.reduce(0) { $0 + $1.own }
    return slowest(5).map { node -> String in
      let part = all > 0 ? Int((node.own / all * 100).rounded()) : 0
      let time = "\(Self.padded(Self.milliseconds(node.own), 10)) ms\(Self.padded("\(part)", 4)) %"
      let field = node.field.isEmpty ? "(the root)" : node.field
      let size = "\(Self.count(node.loops)) x \(Self.count(node.rows)) rows"
      return "\(time)  \(field): \(node.title), \(size)"
    }
  }

  package static func milliseconds(_ value: Double) -> String {
    let thousandths = Int((min(value, 1e12) * 1000).rounded())
    let rest = String(thousandths % 1000)
    return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
  }

  private static func count(_ value: Double) -> String {
    value == value.rounded() && value < 1e15 ? "\(Int(value))" : "\(value)"
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(width - text.count, 0)) + text
  }
}

extension StringProtocol {
  fileprivate var trimmingBlanks: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }

  /// Returns the parts of the text after each occurrence of `text`.
  fileprivate func components(behind text: String) -> [SubSequence] {
    var found: [SubSequence] = []
    var rest = self[...]
    while let range = rest.firstRange(of: text) {
      rest = rest[range.upperBound...]
      found.append(rest)
    }
    return found
  }
}
