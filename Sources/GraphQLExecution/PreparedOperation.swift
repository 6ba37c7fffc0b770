import GraphQLPlanning
import GraphQLResponse
import GraphQLSchema
import JSON
import Postgres

/// An operation that may run: its plan, and its own variables. One object for each request, which is handed from
/// stage to stage.
package final class PreparedOperation {
  /// That of the request.
  package let identity: RequestIdentity
  /// The durations of parsing, validating and planning.
  package let times: PhaseDurations
  package var cursorSigner: CursorSigner
  /// The charge of a client with a rate limit.
  package var charge: OperationCharge?
  /// The client whose share of the database's connections it uses, or nil for the server itself.
  package var client: PoolClient?
  /// The languages and the application of the request.
  package var preferences = RequestPreferences()
  /// The SHA-256 of the token of the request's session; nil without one.
  package var sessionHash: [UInt8]?
  /// The claims of the request's signed token; nil without one.
  package var claims: JSONValue?
  /// The role that its statements run under; nil for that of the server.
  package var role: ClientRole?
  private let content: Content

  /// The part of an operation that repeated requests share.
  final class Content {
    let label: OperationLabel
    let request: GraphQLRequest?
    let plan: PreparedPlan
    let variables: [InputValue?]
    let variableNames: [String]
    let inputs: OperationInputs
    let introspection: [String: [UInt8]]?
    let cost: Int
    let isDeferrable: Bool
    let live: LiveOptions?
    let onError: ErrorBehavior
    let usage: OperationUsage?
    let isTransaction: Bool

    init(
      label: OperationLabel, request: GraphQLRequest?, plan: PreparedPlan,
      variables: [InputValue?], variableNames: [String], inputs: OperationInputs,
      introspection: [String: [UInt8]]?, cost: Int, isDeferrable: Bool,
      live: LiveOptions?, onError: ErrorBehavior = .propagate, usage: OperationUsage? = nil,
      isTransaction: Bool = false
    ) {
      self.label = label
      self.request = request
      self.plan = plan
      self.variables = variables
      self.variableNames = variableNames
      self.inputs = inputs
      self.introspection = introspection
      self.cost = cost
      self.isDeferrable = isDeferrable
      self.live = live
      self.onError = onError
      self.usage = usage
      self.isTransaction = isTransaction
    }
  }

  init(
    identity: RequestIdentity, times: PhaseDurations, cursorSigner: CursorSigner, _ content: Content
  ) {
    self.identity = identity
    self.times = times
    self.cursorSigner = cursorSigner
    self.content = content
  }

  /// Creates the operation of a repeated request from its first one.
  init(_ known: PreparedOperation, for request: GraphQLRequest) {
    identity = request.identity
    times = PhaseDurations()
    cursorSigner = known.cursorSigner
    content = known.content
  }

  package var label: OperationLabel { content.label }
  /// The request of a mutation.
  var request: GraphQLRequest? { content.request }
  package var plan: PreparedPlan { content.plan }
  package var variables: [InputValue?] { content.variables }
  package var variableNames: [String] { content.variableNames }
  /// The descriptions of inputs, for errors.
  var inputs: OperationInputs { content.inputs }
  /// Answers of introspection fields that depend on this request's variables.
  var introspection: [String: [UInt8]]? { content.introspection }
  /// The size of these answers, which is bounded by the schema's and not by that of responses.
  var introspectionBytes: Int {
    (introspection ?? plan.introspection).values.reduce(0) { $0 + $1.count }
  }
  /// The maximum cost, in rate-limit points.
  package var cost: Int { content.cost }
  /// The cost that responses of its plan had lately, in rate-limit points.
  package var expectedCost: Int { min(cost, content.plan.expectedCost) }
  /// Something in it could be deferred.
  var isDeferrable: Bool { content.isDeferrable }
  /// The options of a live query.
  package var live: LiveOptions? { content.live }
  /// Whether the fields of a mutation are one transaction.
  var isTransaction: Bool { content.isTransaction }
  /// The effect of errors on the response around them.
  package var onError: ErrorBehavior { content.onError }
  /// The elements of the schema that it uses, or nil if nobody counts them.
  package var usage: OperationUsage? { content.usage }
}

extension PreparedOperation {
  /// Whether responses follow until the client leaves.
  package var lasts: Bool {
    switch plan.kind {
    case .subscription: true
    case .live: live != nil
    case .query, .incremental, .mutation: false
    }
  }

  /// Notes the actual cost of a response, and settles the charge of a client with a rate limit: its
  /// cost is written behind the data and the errors.
  func settle(actual: Int, in json: inout JSONWriter) {
    plan.note(cost: actual)
    charge?.write(actual: actual, to: &json)
  }

  /// Returns the response whose beginning was kept: `{"data":...`.
  ///
  /// - Parameter cost: the actual cost.
  package func response(from data: [UInt8], cost: Int) -> OperationResponse {
    var json = JSONWriter(capacity: data.count + 256)
    json.append(data)
    charge?.write(actual: cost, to: &json)
    json.append("}")
    return .executed(body: json.finish(), errors: [])
  }

  /// The parameters of the statement, as they are sent.
  package func parameters(viewer: Int64) throws(GraphQLError) -> PostgresParameters {
    guard case .read(let read)? = plan.plan.response else { return PostgresParameters() }
    return try binder(viewer).bind(read.parameters, of: read.places)
  }

  /// Returns statements of one transaction, in front of them that which sets the client's role.
  func inRole(_ statements: [BoundStatement]) -> [BoundStatement] {
    role.map { [$0.setting] + statements } ?? statements
  }

  func binder(_ viewer: Int64, _ event: EventMoment) -> ParameterBinder {
    var binder = binder(viewer)
    binder.event = event
    return binder
  }

  func binder(_ viewer: Int64, _ call: CallContext? = nil) -> ParameterBinder {
    ParameterBinder(
      variables: variables, inputs: inputs, viewer: viewer, preferences: preferences,
      sessionHash: sessionHash, claims: claims, cursorSigner: cursorSigner, call: call)
  }

  /// The parameters as people write them, in the order of `$1`, `$2`, ...; nil for null and for keys
  /// inside cursors.
  package func parameterTexts(viewer: Int64) throws(GraphQLError) -> [String?] {
    guard case .read(let read)? = plan.plan.response else { return [] }
    return try binder(viewer).texts(of: read.parameters, read.places)
  }
}

/// The operation of a repeated request, as far as it depends on the request's bytes only.
struct RepeatedOperation {
  /// The maximum size of a remembered request in bytes, because each may keep a plan that has left
  /// the document cache.
  private static let maximumBytes = 64 << 10

  let operation: PreparedOperation
  /// That of the request's memo.
  let serial: UInt64

  init?(_ operation: PreparedOperation, of request: GraphQLRequest, as memo: RequestMemo) {
    if case .mutation = operation.plan.kind { return nil }
    guard operation.introspection == nil, !operation.isDeferrable,
      operation.plan.cost <= Self.maximumBytes
    else { return nil }
    // Its own: the other is given what belongs to the request.
    self.operation = PreparedOperation(operation, for: request)
    serial = memo.serial
  }
}
