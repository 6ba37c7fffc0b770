import GraphQLPlanning
import GraphQLResponse
import Postgres

/// A mutation's root field with the statements that connections prepare under their names.
package enum PreparedField: Sendable {
  /// Its value is known without the database.
  case constant(FieldFrame, json: [UInt8])
  case refused(FieldFrame, GraphQLError)
  case call(PreparedCall)

  init(_ field: MutationField, label: StatementLabel) {
    switch field {
    case .constant(let frame, let json): self = .constant(frame, json: json)
    case .refused(let frame, let error): self = .refused(frame, error)
    case .call(let plan): self = .call(PreparedCall(plan, label: label))
    }
  }

  var frame: FieldFrame {
    switch self {
    case .constant(let frame, _), .refused(let frame, _): frame
    case .call(let call): call.plan.frame
    }
  }

  var cost: Int { if case .call(let call) = self { call.cost } else { 256 } }
}

package final class PreparedCall: Sendable {
  struct Statement: Sendable {
    let statement: PostgresStatement
    let parameters: [PlanParameter]
    let places: [InputPlace?]

    init(_ planned: PlannedStatement, _ label: StatementLabel) {
      statement = PostgresStatement(
        planned.text, parameterCount: planned.parameters.count, label: label)
      parameters = planned.parameters
      places = planned.places
    }
  }

  let plan: CallPlan
  let call: Statement
  let selection: Statement?
  let keeping: Statement?
  let replay: Statement?
  let again: Statement?
  /// The statements that look up the hashes for comparing passwords, by the index of their
  /// transform.
  let lookups: [Int: Statement]
  /// The payload's shape as the writer reads it.
  let shape: ShapeProgram

  init(_ plan: CallPlan, label: StatementLabel) {
    self.plan = plan
    call = Statement(plan.call, label)
    selection = plan.selection.map { Statement($0, label) }
    keeping = plan.keeping.map { Statement($0, label) }
    replay = plan.replay.map { Statement($0, label) }
    again = plan.again.map { Statement($0, label) }
    var lookups: [Int: Statement] = [:]
    for (index, transform) in plan.transforms.enumerated() {
      lookups[index] = transform.lookup.map { Statement($0, label) }
    }
    self.lookups = lookups
    shape = ShapeProgram(plan.shape)
  }

  /// Estimated bytes: each text stands in the plan, in its statement and in that for libpq.
  var cost: Int {
    [plan.call, plan.selection, plan.keeping, plan.replay, plan.again]
      .reduce(1024) { $0 + 3 * ($1?.text.utf8.count ?? 0) }
      + plan.rows.reduce(0) { $0 + 128 + 160 * $1.values.count }
  }
}
