/// Compares what operations take with their budget.
package struct BudgetCheck {
  package struct Limits: Sendable {
    /// The percentage by which pages, or the estimated cost of what was only planned, may grow.
    package var tolerance = 20
    /// The rows from which on a table must not be read completely.
    package var scannedRows = 1_000

    package init() {}
  }

  package struct Finding: Sendable, Equatable {
    package let operation: String
    /// What is wrong, as a fragment without a period.
    package let text: String
    /// Whether the budget is exceeded; otherwise the plan is another, at no greater cost.
    package let isError: Bool

    package var line: String { "\(isError ? "error" : "note") \(operation): \(text)" }
  }

  package let findings: [Finding]
  private let limits: Limits

  /// - Parameter missing: the indexes of the budget that the database does not have.
  package init(
    _ now: OperationBudget, against budget: OperationBudget, missing: Set<String>,
    limits: Limits = Limits()
  ) {
    self.limits = limits
    var findings: [Finding] = []
    let known = Dictionary(
      budget.operations.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for operation in now.operations {
      let before = known[operation.name]
      func add(_ text: String, isError: Bool) {
        findings.append(Finding(operation: operation.name, text: text, isError: isError))
      }
      if before == nil { add("it is not in the budget", isError: false) }
      for statement in operation.statements {
        let old = before?.statements.first { $0.part == statement.part }
        Self.compare(statement, old, missing, limits, add)
      }
    }
    let names = Set(now.operations.map(\.name))
    for operation in budget.operations where !names.contains(operation.name) {
      findings.append(
        Finding(operation: operation.name, text: "it is not published any more", isError: false))
    }
    self.findings = findings
  }

  package var isExceeded: Bool { findings.contains { $0.isError } }

  private static func compare(
    _ now: OperationBudget.Statement, _ old: OperationBudget.Statement?, _ missing: Set<String>,
    _ limits: Limits, _ add: (String, Bool) -> Void
  ) {
    let place = now.part.isEmpty ? "" : " (\(now.part))"
    let oldScans = Set(old?.scans.map(\.table) ?? [])
    for scan in now.scans
    where scan.rows >= limits.scannedRows && !oldScans.contains(scan.table) {
      add("a sequential scan of \(scan.table), which has \(scan.rows) rows\(place)", true)
    }
    guard let old else { return }
    let lost = old.indexes.filter { missing.contains($0) }
    for index in lost { add("the index \(index) is gone\(place)", true) }
    if let buffers = now.buffers, let before = old.buffers {
      if grown(Double(before), Double(buffers), limits) {
        let worst = now.fields.first.map { ", most of them for \($0.shownField)" } ?? ""
        add("\(buffers) pages in place of \(before)\(worst)\(place)", true)
      }
    } else if grown(old.cost, now.cost, limits) {
      add("an estimated cost of \(now.cost) in place of \(old.cost)\(place)", true)
    }
    if lost.isEmpty, now.indexes != old.indexes {
      let gone = old.indexes.filter { !now.indexes.contains($0) }
      let new = now.indexes.filter { !old.indexes.contains($0) }
      add(
        "other indexes: without \(listed(gone)), with \(listed(new))\(place)", false)
    }
  }

  private static func listed(_ names: [String]) -> String {
    names.isEmpty ? "none" : names.joined(separator: ", ")
  }

  /// Returns whether a measure has grown by more than the tolerance; a handful of pages is noise.
  private static func grown(_ before: Double, _ now: Double, _ limits: Limits) -> Bool {
    now > before * (1 + Double(limits.tolerance) / 100) && now > before + 8
  }
}

extension OperationBudget.FieldPages {
  package var shownField: String { field.isEmpty ? "the root" : field }
}
