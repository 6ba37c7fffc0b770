import GraphQLLanguage
import GraphQLPlanning
import GraphQLResponse
import GraphQLSchema
import Postgres
import SQL

/// The fields of one type as one operation, which takes a tenth of the time of one operation for
/// each.
struct PlannedProbes {
  let group: StorageProbes.Group
  /// The plan; nil if a field of the operation has no storage.
  let plan: ProbePlan?

  init(_ group: StorageProbes.Group, _ mapping: StorageMapping) {
    self.group = group
    plan = try? ProbePlan(group.operation(group.calls.map(\.text)), mapping)
  }

  var command: PipelinedCommand { .describe(plan?.text ?? "SELECT") }
}

/// An operation's statement, prepared and not run, and the rows that it reads.
struct ProbePlan {
  /// The statement; nil if nothing is read.
  let statement: SQLStatement?
  let rows: [PlannedRow]

  /// - Throws: the reason why the operation cannot be planned.
  init(_ text: String, _ mapping: StorageMapping) throws(GraphQLError) {
    guard let document = try? Parser.parse(Source(text), limits: .unlimited),
      let operation = document.operations.first
    else { throw GraphQLError("There is no operation.", code: .internalServerError) }
    var limits = PlannerLimits()
    limits.maximumElements = .max
    limits.maximumFilterConditions = .max
    limits.maximumOrders = .max
    limits.maximumCost = nil
    limits.maximumNameBytes = .max
    let (plan, rows) = try Planner(mapping: mapping, limits: limits).rows(
      of: operation, source: document.source)
    statement = plan.statement
    self.rows = rows
  }

  var text: String { statement?.text ?? "SELECT" }

  /// Returns the commands that plan a statement in PostgreSQL as it would be served, without
  /// running it.
  static func explain(
    _ statement: SQLStatement?, options: String = "COSTS OFF"
  ) -> [PipelinedCommand] {
    guard let statement else { return [] }
    let nulls = statement.parameters.map { _ in "NULL" }.joined(separator: ", ")
    return [
      .execute("PREPARE storage_check AS " + statement.text),
      .execute("EXPLAIN (\(options)) EXECUTE storage_check" + (nulls.isEmpty ? "" : "(\(nulls))")),
      .execute("DEALLOCATE storage_check"),
    ]
  }
}

/// Prepares every field of every type.
struct StatementCheck {
  let mapping: StorageMapping

  struct Outcome {
    var findings: [StorageFinding] = []
    /// All fields that could be planned, valid or not.
    var plans: [ProbePlan] = []
    /// The types whose fields are all valid.
    var held: [PlannedProbes] = []
  }

  private struct Trial {
    let group: StorageProbes.Group
    /// The call; nil for the path to the type.
    let call: StorageProbes.Call?
    let plan: ProbePlan
  }

  /// - Parameter answers: the results of the commands of `probes`.
  func run(
    _ probes: [PlannedProbes], _ answers: [Result<PipelinedAnswer, PostgresError>],
    _ session: PostgresSession
  ) throws(PostgresError) -> Outcome {
    var outcome = Outcome()
    var trials: [Trial] = []
    for (probe, answer) in zip(probes, answers) {
      if let plan = probe.plan, case .success = answer {
        outcome.plans.append(plan)
        outcome.held.append(probe)
        continue
      }
      // One by one, to say what is wrong; and the way there by itself.
      if let plan = try? ProbePlan(probe.group.operation(["__typename"]), mapping) {
        trials.append(Trial(group: probe.group, call: nil, plan: plan))
      }
      for call in probe.group.calls {
        do {
          let plan = try ProbePlan(probe.group.operation([call.text]), mapping)
          trials.append(Trial(group: probe.group, call: call, plan: plan))
        } catch {
          outcome.findings.append(
            StorageFinding(.error, call.coordinate, Self.text(of: error)))
        }
      }
    }
    outcome.plans += trials.map(\.plan)
    let verdicts = try session.pipeline(trials.map { .describe($0.plan.text) })
    var isWayLost = false
    for (trial, verdict) in zip(trials, verdicts) {
      if trial.call == nil { isWayLost = false }
      guard case .failure(let error) = verdict, !isWayLost else { continue }
      // An error of the path would be repeated for each field below it.
      isWayLost = trial.call == nil
      let coordinate = trial.call?.coordinate ?? trial.group.place
      outcome.findings.append(
        StorageFinding(
          .error, coordinate, StatementErrors.text(of: error, in: trial.plan.rows, at: coordinate)))
    }
    return outcome
  }

  private static func text(of error: GraphQLError) -> String {
    // Mutations without storage have this code, and are not planned either.
    error.code == .notImplemented
      ? "it has no storage; write @reference, @connection, @list or @embed."
      : error.message
  }
}

/// Rewords PostgreSQL's errors for the authors of the directives.
enum StatementErrors {
  /// Returns a message with the words of directives in place of a statement's aliases, and the
  /// remedy.
  static func text(of error: PostgresError, in rows: [PlannedRow], at coordinate: String) -> String
  {
    let row =
      rows.last { $0.coordinate == coordinate }
      ?? rows.last { $0.values.contains { $0.coordinate == coordinate } } ?? rows.last
    var text = sentence(error.message)
    if let hint = error.hint { text += " " + sentence(hint) }
    for (alias, word) in row?.aliases ?? [] { text = renamed(text, alias, word) }
    // The statement of a count reads the same rows under other names.
    text = text.replacing(/\b([te])[0-9]+\./) { $0.1 == "e" ? "edge." : "this." }
    switch error.sqlState {
    case "42703" where error.hint == nil:
      text += " Name one that is there with @column(name:), or compute it with @sql(expression:)."
    case "42P01": text += " Create it, or name one that is there."
    case "42501": text += " Grant it to the role, or serve under another."
    default: break
    }
    return text
  }

  static func sentence(_ text: String) -> String {
    text.hasSuffix(".") || text.hasSuffix("?") ? text : text + "."
  }

  /// Returns `this.name` for `t2.name`.
  private static func renamed(_ text: String, _ alias: String, _ word: String) -> String {
    guard alias != word else { return text }
    var result = ""
    var rest = text[...]
    while let range = rest.firstRange(of: alias + ".") {
      let before =
        range.lowerBound > text.startIndex ? text[text.index(before: range.lowerBound)] : " "
      let isWhole = !before.isLetter && !before.isNumber && before != "_"
      result += rest[..<range.lowerBound] + (isWhole ? word + "." : alias + ".")
      rest = rest[range.upperBound...]
    }
    return result + rest
  }
}
