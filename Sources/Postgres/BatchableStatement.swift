import SQL

/// A read statement whose simultaneous executions can be sent as one batch.
///
/// It is a `SELECT` of one column without a `FROM`, so it returns one row, and it states the type
/// of each parameter (`$1::bigint`). The batched text selects the same expression from a set that
/// has a row for each execution. Its columns are the parameters:
///
///     SELECT ROW(...), position
///     FROM unnest($1::bigint[], ...) WITH ORDINALITY AS batched_executions (p1, ..., position)
///
/// PostgreSQL then starts and ends one execution instead of several. The plan keeps its form:
/// parameters become columns of subselects. Belongs to one event loop.
package final class BatchableStatement {
  package let alone: PostgresStatement
  private(set) lazy var batched: BatchedStatement? = BatchedStatement(
    source,
    label: alone.label?.batching(alone.name))
  private let source: SQLStatement
  private let record: StatementRecord
  private let expectedNanoseconds: UInt64?
  private var copies: [Int: BatchableStatement] = [:]
  private var roleCopies: [String: PostgresStatement] = [:]
  private var needsPrimary: Bool?
  /// The number of executions so far. Counting stops when the number has no effect any more.
  var executionCount = 0
  /// Combining it failed, or was no gain.
  var isUnbatchable = false
  /// The event batch in which one execution was sent alone, because no other was expected.
  var batchOfLone: UInt64 = 0
  /// The executions that wait for others.
  var held: [StatementExecution] = []
  /// The batcher will look at them.
  var isDue = false
  /// The number of executions in the pool that have not ended. A batch counts as one.
  var underWayCount: Int { alone.underWayCount + (batched?.statement.underWayCount ?? 0) }

  /// - Parameters expectedNanoseconds, record: as of a `PostgresStatement`.
  package init(
    _ statement: SQLStatement, label: StatementLabel? = nil, expectedNanoseconds: UInt64? = nil,
    record: StatementRecord = StatementRecord()
  ) {
    source = statement
    self.record = record
    self.expectedNanoseconds = expectedNanoseconds
    alone = PostgresStatement(
      statement.text, parameterCount: statement.parameters.count, label: label,
      expectedNanoseconds: expectedNanoseconds, record: record)
  }

  /// Returns the same statement for the connections of a replica, which batch for themselves.
  func copy(for replica: Int) -> BatchableStatement {
    if let copy = copies[replica] { return copy }
    let copy = BatchableStatement(
      source, label: alone.label, expectedNanoseconds: expectedNanoseconds, record: record)
    copies[replica] = copy
    return copy
  }

  /// Returns the same statement for a role, under a name of its own: PostgreSQL plans a statement
  /// again whenever it meets it under another role, if tables have policies.
  package func alone(as role: ClientRole) -> PostgresStatement {
    if let copy = roleCopies[role.name] { return copy }
    let copy = PostgresStatement(
      alone.text + "\n-- role \(roleCopies.count + 1)",
      parameterCount: alone.parameterCount, label: alone.label,
      expectedNanoseconds: expectedNanoseconds, record: record)
    roleCopies[role.name] = copy
    return copy
  }

  /// Returns whether it calls one of the functions that only a primary can run.
  func needsPrimary(_ functions: Set<String>) -> Bool {
    if let needsPrimary { return needsPrimary }
    let names = alone.text.split {
      !($0.isLetter || $0.isNumber || $0 == "_")
    }
    let needs = names.contains { functions.contains(String($0)) }
    needsPrimary = needs
    return needs
  }
}

/// A statement for any number of executions of another one.
struct BatchedStatement {
  let statement: PostgresStatement
  let types: [BatchedParameterType]

  /// Creates the batched form, or returns nil if a parameter has no type or its values cannot be
  /// array elements.
  init?(_ alone: SQLStatement, label: StatementLabel? = nil) {
    guard !alone.parameters.isEmpty else { return nil }
    types = alone.parameters.compactMap { $0.type.flatMap { BatchedParameterType($0) } }
    guard types.count == alone.parameters.count else { return nil }
    let batched = Self.fragment(alone.fragment, types).statement()
    statement = PostgresStatement(
      batched.text, parameterCount: batched.parameters.count, label: label)
  }

  private static func fragment(
    _ alone: SQLFragment, _ types: [BatchedParameterType]
  ) -> SQLFragment {
    var count = 0
    func array(_ name: String) -> SQLFragment {
      defer { count += 1 }
      return SQLFragment(SQLParameter(ordinal: count, type: SQLType(name, isArray: true)))
    }
    var values: [SQLFragment] = []
    var arguments: [SQLFragment] = []
    var columns: [SQLFragment] = []
    for (index, type) in types.enumerated() {
      let number = index + 1
      if type.isArray {
        // All arrays are concatenated; each execution has a range of the result.
        values.append("(\(array(type.element)))[e.from\(number):e.to\(number)] AS p\(number)")
        arguments += [array("int4"), array("int4")]
        columns += ["from\(number)", "to\(number)"]
      } else {
        values.append("e.p\(number)")
        arguments.append(array(type.element))
        columns.append("p\(number)")
      }
    }
    let selection = alone.replacingParameters { "batched_executions.p\($0.ordinal + 1)" }
    // OFFSET 0: the parts are cut once for each execution, not at each mention.
    return """
      \(selection), batched_executions.position
      FROM (SELECT e.position, \(values.joined(separator: ", "))
        FROM unnest(\(arguments.joined(separator: ", "))) WITH ORDINALITY
          AS e(\(columns.joined(separator: ", ")), position)
        OFFSET 0) AS batched_executions
      """
  }
}

/// A type whose binary values can be elements of an array, or an array of such.
struct BatchedParameterType: Hashable {
  /// The name of the type in casts.
  let element: String
  let type: PostgresType
  let isArray: Bool

  init?(_ type: SQLType) {
    guard let known = Self.types[type.name] else { return nil }
    element = type.name
    isArray = type.isArray
    self.type = known
  }

  private static let types: [String: PostgresType] = [
    "bigint": .int8, "int8": .int8, "int4": .int4, "uuid": .uuid, "jsonb": .jsonb,
    "float8": .float8, "text": .text, "bool": .bool,
    "timestamptz": .timestamptz, "date": .date,
  ]
}
