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
  ///     one. The plan serves every request whose `OperationChoices` are equal, whatever the other
  ///     values are.
  ///   - mode: the responses of a query. Mutations and subscriptions ignore it.
  /// - Throws: a request error: a page size out of bounds, a malformed ID, a statement too wide, or
  ///   more elements than a response may have.
  package func plan(
    _ operation: OperationDefinition, fragments: [String: FragmentDefinition], source: Source,
    variables: [InputValue?], mode: ResponseMode = .single
  ) throws(GraphQLError) -> Plan {
    let root = try root(of: operation)
    let reader = reader(of: operation, source: source, variables: variables)
    switch (operation.kind, mode) {
    case (.mutation, _):
      return .mutation(try mutation(root, operation, fragments, reader))
    case (.subscription, _):
      return try subscription(root, operation, fragments: fragments, reader)
    case (.query, .single):
      return .query(try response(root, operation, fragments, reader).plan)
    case (.query, .live(let catalog)):
      let (response, live) = try response(
        root, operation, fragments, reader, live: DependencyRecorder(catalog))
      return .live(response, live)
    case (.query, .incremental(let format)):
      return try delivery(root, operation, fragments, reader, source: source, format)
    }
  }

  func root(of operation: OperationDefinition) throws(GraphQLError) -> TypeID {
    guard let root = mapping.schema.rootType(for: operation.kind) else {
      throw GraphQLError(
        "Schema is not configured to execute \(operation.kind.rawValue) operation.",
        code: .operationResolutionFailure)
    }
    return root
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

  private func mutation(
    _ root: TypeID, _ operation: OperationDefinition, _ fragments: [String: FragmentDefinition],
    _ reader: ArgumentReader
  ) throws(GraphQLError) -> MutationPlan {
    let fields = try CallCompiler(
      mapping: mapping, fragments: fragments, reader: reader, limits: limits
    ).fields(of: root, operation.selectionSet)
    let size = PlanSize(of: fields, limits: limits)
    try limits.check(size.size(for: reader.variables))
    return MutationPlan(fields: fields, size: size)
  }

  /// Returns how an operation's fields are read, and what the response depends on.
  ///
  /// - Parameters:
  ///   - recorder: notes the rows that are read.
  ///   - live: notes the dependencies; without it none are returned.
  func response(
    _ root: TypeID, _ operation: OperationDefinition, _ fragments: [String: FragmentDefinition],
    _ reader: ArgumentReader, recorder: RowRecorder? = nil, live: DependencyRecorder? = nil
  ) throws(GraphQLError) -> (plan: ResponsePlan, live: LiveDependencies) {
    let compiler = SelectionCompiler(
      mapping: mapping, fragments: fragments, reader: reader, limits: limits)
    compiler.statement.recorder = recorder
    compiler.statement.live = live
    let row = RowBuilder(alias: "")
    let shape = try compiler.object(
      of: root, selectionSets: [operation.selectionSet], row: row, scope: Scope())
    recorder?.finish()
    let size = PlanSize(of: shape, limits: limits)
    try limits.check(size.size(for: reader.variables))
    let plan = ResponsePlan(row, compiler.statement, shape, size)
    return (plan, compiler.statement.live?.plan ?? LiveDependencies())
  }
}

/// The number and form of a query's responses.
package enum ResponseMode: Sendable {
  case single
  /// Several responses if a part is deferred or streamed, otherwise one.
  case incremental(IncrementalDelivery)
  /// Again each time the result changes, by what the catalog says about dependencies.
  case live(LiveCatalog)
}

extension ResponsePlan {
  /// - Parameter row: what the root fields need; nothing, where they need no statement.
  init(_ row: RowBuilder, _ builder: StatementBuilder, _ shape: ObjectShape, _ size: PlanSize) {
    guard !row.columns.isEmpty else {
      self = .constant(shape, size)
      return
    }
    let (statement, parameters) = builder.finished("SELECT \(row.rowExpression)")
    self = .read(
      ReadPlan(
        statement: statement, parameters: parameters, places: builder.places(of: statement),
        shape: shape, size: size))
  }
}

package struct PlannerLimits: Sendable {
  package var maximumPageSize = 100
  package var defaultPageSize = 20
  package var maximumNodeIDs = 100
  /// The maximum number of objects that a gateway names in one field.
  package var maximumRepresentations = 100
  /// The maximum number of conditions that one field's lists of input objects may add.
  package var maximumListedConditions = 100
  /// The maximum number of conditions of one filter, of filters inside of each other, and of those
  /// in one `or`.
  package var maximumFilterConditions = 30
  package var maximumFilterDepth = 4
  package var maximumFilterAlternatives = 10
  /// The maximum number of orders in one list, and of relations to the column of one.
  package var maximumOrders = 10
  package var maximumOrderDepth = 4
  /// The maximum number of rows that one field inserts, each with parameters of its own.
  package var maximumInsertedRows = 100
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
