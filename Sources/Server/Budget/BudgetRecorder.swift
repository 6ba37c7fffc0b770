import GraphQLExecution
import GraphQLLanguage
import GraphQLPlanning
import GraphQLResponse
import GraphQLSchema
import JSON
import Postgres

/// Finds what the operations of documents take, from PostgreSQL's plans for all values.
///
/// A query whose variables are known, or that has none, is run twice and measured. The statements of
/// other operations are planned only: those of a query without its variables, of a subscription, of
/// a later part, and the selections of a mutation's payloads. What functions do inside is not seen.
package final class BudgetRecorder {
  private let preparer: OperationPreparer
  private let schema: Schema
  private let session: PostgresSession
  private let viewer: Int64
  private let variables: [String: [JSONValue.Member]]
  private var prepared: Set<String> = []
  /// The ID that stands for those which are not known.
  private var sampleID = "x"

  /// - Parameters:
  ///   - session: with the settings of the server's connections.
  ///   - variables: those of operations, by name.
  package init(
    mapping: StorageMapping, session: PostgresSession, settings: ExecutionSettings, viewer: Int64,
    variables: [String: [JSONValue.Member]]
  ) {
    preparer = OperationPreparer(mapping: mapping, settings: settings)
    schema = mapping.schema
    self.session = session
    self.viewer = viewer
    self.variables = variables
  }

  /// Explains every operation.
  ///
  /// - Throws: a `CommandFailure` that names the operation at fault.
  package func record(
    _ documents: [(id: String, text: String)]
  ) throws -> OperationBudget {
    let rows = try tableRows()
    var operations: [OperationBudget.Operation] = []
    for (id, text) in documents {
      let document: Document
      do throws(SyntaxError) {
        document = try Parser.parse(text, limits: .unlimited)
      } catch {
        throw CommandFailure("\(id): \(error.message)")
      }
      sampleID = sampleID(for: document)
      for operation in document.operations {
        let name = operation.name?.text ?? id
        do {
          let statements = try statements(of: operation, text, rows)
          operations.append(OperationBudget.Operation(name: name, statements: statements))
        } catch let error as RequestErrors {
          throw CommandFailure("\(name): \(error.errors.map(\.message).joined(separator: " "))")
        } catch let error as GraphQLError {
          throw CommandFailure("\(name): \(error.message)")
        } catch let error as PostgresError {
          throw CommandFailure("\(name): \(error)")
        }
      }
    }
    return OperationBudget(operations: operations)
  }

  /// Returns the indexes of a budget that the database does not have.
  package func missingIndexes(of budget: OperationBudget) throws(PostgresError) -> Set<String> {
    let names = Set(budget.operations.flatMap { $0.statements.flatMap(\.indexes) })
    let known = try session.execute("SELECT relname FROM pg_class WHERE relkind IN ('i', 'I')")
    return names.subtracting(known.compactMap { $0.first ?? nil })
  }

  /// Returns the estimated rows of tables by their names with the schema.
  private func tableRows() throws(PostgresError) -> [String: Int] {
    let rows = try session.execute(
      """
      SELECT n.nspname || '.' || c.relname, greatest(c.reltuples, 0)::bigint
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'p', 'm')
      """)
    return Dictionary(
      rows.compactMap { row in
        guard let name = row.first ?? nil, let count = row.last ?? nil else { return nil }
        return (name, Int(count) ?? 0)
      }, uniquingKeysWith: { first, _ in first })
  }

  // MARK: - Operations

  private func statements(
    of operation: OperationDefinition, _ text: String, _ rows: [String: Int]
  ) throws -> [OperationBudget.Statement] {
    var values = operation.name.flatMap { variables[$0.text] } ?? []
    var isComplete = true
    for variable in operation.variables {
      guard case .nonNull = variable.type, variable.defaultValue == nil,
        !values.contains(where: { $0.name == variable.name.text })
      else { continue }
      isComplete = false
      values.append(
        JSONValue.Member(name: variable.name.text, value: placeholder(for: variable.type)))
    }
    let request = GraphQLRequest(
      identity: .random(), document: text, operationName: operation.name?.text, variables: values)
    let prepared = try preparer.prepare(request).get()
    switch prepared.plan.plan {
    case .query(let response), .live(let response, _):
      return try self.response(response, prepared, isMeasured: isComplete, rows)
    case .incremental(let first, let delivery):
      return try self.response(first, prepared, isMeasured: isComplete, rows)
        + delivery.parts.enumerated().flatMap { index, part in
          try self.response(
            part.plan, prepared, isMeasured: false, rows, part: "later \(index + 1)")
        }
    case .subscription(let response, _):
      return try self.response(response, prepared, isMeasured: false, rows)
    case .mutation(let mutation):
      return try mutation.fields.compactMap { field in
        guard case .call(let call) = field, let selection = call.selection else { return nil }
        let statement = PostgresStatement(
          selection.text, parameterCount: selection.parameters.count)
        return try explain(
          statement, selection.parameters.count, call.shape, nil, rows,
          part: call.frame.responseName)
      }
    }
  }

  private func response(
    _ response: ResponsePlan, _ operation: PreparedOperation, isMeasured: Bool,
    _ rows: [String: Int], part: String = ""
  ) throws -> [OperationBudget.Statement] {
    guard case .read(let read) = response else { return [] }
    let statement = PostgresStatement(
      read.statement.text, parameterCount: read.parameters.count)
    let parameters = isMeasured ? try operation.parameters(viewer: viewer) : nil
    return [
      try explain(statement, read.parameters.count, read.shape, parameters, rows, part: part)
    ]
  }

  private func explain(
    _ statement: PostgresStatement, _ count: Int, _ shape: ObjectShape,
    _ parameters: PostgresParameters?, _ rows: [String: Int], part: String
  ) throws -> OperationBudget.Statement {
    if prepared.insert(statement.name).inserted { try session.prepare(statement) }
    let literals: [String]
    var options = "VERBOSE, FORMAT JSON"
    if let parameters {
      // The first execution also reads catalogs.
      _ = try session.executePrepared(statement, parameters)
      literals = try session.literals(of: statement, parameters)
      options = "ANALYZE, TIMING OFF, BUFFERS, " + options
    } else {
      literals = Array(repeating: "NULL", count: count)
    }
    let arguments = literals.isEmpty ? "" : "(\(literals.joined(separator: ", ")))"
    let lines = try session.execute("EXPLAIN (\(options)) EXECUTE \(statement.name)\(arguments)")
    let json = Array(lines.map { ($0.first ?? nil) ?? "" }.joined(separator: "\n").utf8)
    guard
      let analysis = StatementAnalysis(
        try JSONParser.parse(json, maximumNesting: 500), shape: shape)
    else { throw CommandFailure("PostgreSQL's plan cannot be read.") }
    let scanned = Set(analysis.nodes.compactMap(\.scannedTable)).sorted()
    let isMeasured = parameters != nil
    return OperationBudget.Statement(
      name: statement.name, part: part, cost: analysis.estimatedCost,
      buffers: isMeasured ? analysis.buffers : nil, rows: isMeasured ? analysis.scannedRows : nil,
      indexes: Set(analysis.nodes.compactMap(\.index)).sorted(),
      scans: scanned.map { OperationBudget.Scan(table: $0, rows: rows[$0] ?? 0) },
      fields: analysis.fieldBuffers.prefix(3).map {
        OperationBudget.FieldPages(field: $0.field, pages: $0.buffers)
      })
  }

  // MARK: - Placeholders

  /// Returns the ID of a node that a document has a fragment on, otherwise of any. The plan of a node
  /// is that of its type.
  private func sampleID(for document: Document) -> String {
    var names = document.fragments.map(\.typeCondition.text)
    var pending = document.operations.map(\.selectionSet) + document.fragments.map(\.selectionSet)
    while let set = pending.popLast() {
      for selection in set.selections {
        switch selection {
        case .field(let field): if let inner = field.selectionSet { pending.append(inner) }
        case .inlineFragment(let fragment):
          if let condition = fragment.typeCondition { names.append(condition.text) }
          pending.append(fragment.selectionSet)
        case .fragmentSpread: break
        }
      }
    }
    let tag = (names + schema.types.map(\.name)).lazy.compactMap {
      self.schema.tag(ofTypeNamed: $0)
    }.first
    return tag.map { NodeID.encode(1 << 8 | Int64($0)) } ?? "x"
  }

  /// Returns any value that a type accepts, to plan an operation whose variables are not known.
  private func placeholder(for type: TypeSyntax) -> JSONValue {
    switch type {
    case .nonNull(let inner): placeholder(for: inner)
    case .list(let inner, _): .array([placeholder(for: inner)])
    case .named(let name): schema.type(named: name.text).map { placeholder(for: $0) } ?? .null
    }
  }

  private func placeholder(for type: TypeDefinition) -> JSONValue {
    switch type.kind {
    case .enum(let values): .string(values.first?.name ?? "")
    case .inputObject(let inputs, let isOneOf):
      .object(
        inputs.filter { $0.isRequired || isOneOf && $0.name == inputs.first?.name }.map {
          JSONValue.Member(name: $0.name, value: placeholder(for: $0.type))
        })
    case .scalar, .object, .interface, .union:
      switch type.builtInScalar {
      case .int, .float: .number("1")
      case .boolean: .boolean(true)
      case .id: .string(sampleID)
      case .string, nil: .string("x")
      }
    }
  }

  private func placeholder(for type: TypeReference) -> JSONValue {
    switch type {
    case .nonNull(let inner): placeholder(for: inner)
    case .list(let inner): .array([placeholder(for: inner)])
    case .named(let id): placeholder(for: schema[id])
    }
  }
}

extension StatementAnalysis {
  /// The rows that came from tables and indexes.
  fileprivate var scannedRows: Int {
    let rows = nodes.filter(\.isLeaf).reduce(0) { $0 + $1.rows * $1.loops }
    return Int(exactly: min(rows, 1e15).rounded()) ?? 0
  }
}
