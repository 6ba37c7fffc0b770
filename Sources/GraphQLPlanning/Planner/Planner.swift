import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import SQL

/// Compiles operations to plans: the fourth stage, which does no I/O and knows no viewer.
///
/// Every selected object becomes `ROW(...)` of just the selected columns, every list `ARRAY(SELECT
/// ROW(...) ...)` with its order and limit inside, so one statement serves a whole operation. See
/// docs/explanation/planning.md.
package struct Planner: Sendable {
  package let mapping: StorageMapping
  package let limits: PlannerLimits

  package init(mapping: StorageMapping, limits: PlannerLimits = PlannerLimits()) {
    self.mapping = mapping
    self.limits = limits
  }

  /// Returns the plan of an operation.
  ///
  /// - Parameters:
  ///   - variables: the coerced variables, by index of `operation.variables`; nil for an absent
  ///     one. The
  ///     plan serves every request whose `OperationChoices` are equal, whatever the other values are.
  /// - Throws: a request error: a page size out of bounds, a malformed ID, a statement too wide, or
  ///   more elements than a response may have.
  package func plan(
    _ operation: OperationDefinition, fragments: [String: FragmentDefinition], source: Source,
    variables: [InputValue?]
  ) throws(GraphQLError) -> Plan {
    try plan(
      operation, fragments: fragments, source: source, variables: variables, recorder: nil)
  }

  func reader(
    of operation: OperationDefinition, source: Source, variables: [InputValue?]
  ) -> ArgumentReader {
    let indices = Dictionary(
      operation.variables.enumerated().map { ($1.name.text, $0) },
      uniquingKeysWith: { first, _ in first })
    return ArgumentReader(
      schema: mapping.schema, variableIndices: indices, variables: variables,
      inputs: OperationInputs(operation.variables, source: source))
  }

  /// Returns the plan of an operation.
  ///
  /// - Parameters:
  ///   - recorder: records the rows that are read.
  ///   - catalog: determines the dependencies of the result; nil if the query is not live.
  func plan(
    _ operation: OperationDefinition, fragments: [String: FragmentDefinition], source: Source,
    variables: [InputValue?], recorder: RowRecorder?, catalog: LiveCatalog? = nil
  ) throws(GraphQLError) -> Plan {
    guard let root = mapping.schema.rootType(for: operation.kind) else {
      throw GraphQLError(
        "Schema is not configured to execute \(operation.kind.rawValue) operation.",
        code: .operationResolutionFailure)
    }
    let reader = reader(of: operation, source: source, variables: variables)
    if operation.kind == .mutation {
      let fields = try CallCompiler(
        mapping: mapping, fragments: fragments, reader: reader, limits: limits
      ).fields(of: root, operation.selectionSet)
      let size = PlanSize(of: fields, limits: limits)
      try limits.check(size.size(for: variables))
      return Plan(
        statement: nil, parameters: [], shape: ObjectShape(fields: []), mutation: fields,
        size: size)
    }
    if operation.kind == .subscription, recorder == nil {
      return try subscription(root, operation, fragments: fragments, reader)
    }
    let compiler = SelectionCompiler(
      mapping: mapping, fragments: fragments, reader: reader, limits: limits)
    compiler.statement.recorder = recorder
    compiler.statement.live = catalog.map { LiveRecorder($0) }
    let row = RowBuilder(alias: "")
    let shape = try compiler.object(
      of: root, selectionSets: [operation.selectionSet], row: row, scope: Scope())
    recorder?.finish()
    let size = PlanSize(of: shape, limits: limits)
    try limits.check(size.size(for: variables))
    guard !row.columns.isEmpty else {
      return Plan(
        statement: nil, parameters: [], shape: shape, size: size,
        live: compiler.statement.live?.plan)
    }
    let (statement, parameters) = compiler.statement.finished("SELECT \(row.rowExpression)")
    return Plan(
      statement: statement, parameters: parameters,
      places: compiler.statement.places(of: statement), shape: shape, size: size,
      live: compiler.statement.live?.plan)
  }

  /// Returns the plan of a live query, with the dependencies of its result.
  package func plan(
    _ operation: OperationDefinition, fragments: [String: FragmentDefinition], source: Source,
    variables: [InputValue?], live catalog: LiveCatalog
  ) throws(GraphQLError) -> Plan {
    try plan(
      operation, fragments: fragments, source: source, variables: variables, recorder: nil,
      catalog: catalog)
  }
}

package struct PlannerLimits: Sendable {
  package var maximumPageSize = 100
  package var defaultPageSize = 20
  package var maximumNodeIDs = 100
  /// The maximum number of conditions that one field's lists of input objects may add.
  package var maximumListedConditions = 100
  /// The maximum number of elements of all lists and pages of a response.
  package var maximumElements = 10_000
  /// The number at which counts that are not stored stop; nil for no limit.
  package var maximumCount: Int32? = 10_000
  /// The maximum cost, as `OperationSize` computes it; nil for no limit.
  package var maximumCost: Int? = 10_000
  /// The maximum number of bytes of a response's field names, repetitions included.
  package var maximumNameBytes = 8 << 20
  /// The number of elements that a list without pages counts as.
  package var assumedListLength = 10

  package init() {}

  /// No limits except on pages, for trusted callers.
  package static let unlimited = {
    var limits = PlannerLimits()
    limits.maximumElements = .max
    limits.maximumCost = nil
    limits.maximumNameBytes = .max
    return limits
  }()

  /// Returns the size that pages of `size` are planned for: 1, 2, 3, 5, 10, 20 and so on.
  static func usualSize(_ size: Int) -> Int {
    guard size > 0, size < 1_000_000 else { return size }
    var unit = 1
    while 5 * unit < size { unit *= 10 }
    let factor = [1, 2, 3].first { size <= $0 * unit } ?? 5
    return factor * unit
  }

  /// The default page size, unless the schema declares one.
  var defaultSize: Int { min(defaultPageSize, maximumPageSize) }

  /// Checks a size against the limits.
  ///
  /// - Throws: a request error that names the exceeded limit.
  package func check(_ size: OperationSize) throws(GraphQLError) {
    guard size.elements <= maximumElements else {
      throw GraphQLError(
        """
        The lists and pages of the answer could have more than \(maximumElements) elements \
        all together. Ask for smaller pages.
        """, code: .costLimitExceeded)
    }
    if let maximumCost, size.cost > maximumCost {
      throw GraphQLError(
        "The operation costs \(size.cost) and may cost at most \(maximumCost). Ask for less.",
        code: .costLimitExceeded)
    }
    guard size.nameBytes <= maximumNameBytes else {
      throw GraphQLError(
        """
        The names of the answer's fields alone could take more than \(maximumNameBytes) bytes. \
        Use shorter aliases or ask for smaller pages.
        """, code: .costLimitExceeded)
    }
  }
}
