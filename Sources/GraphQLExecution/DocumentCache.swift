import Glibc
import GraphQLLanguage
import GraphQLPlanning
import GraphQLResponse
import GraphQLSchema
import GraphQLValidation
import Postgres
import SQL

/// A document that was parsed and validated, with the plans made for its operations so far.
///
/// Belongs to one loop.
package final class CachedDocument {
  package let valid: ValidDocument
  private let hash: String
  /// The operations by name. The only operation of a document is under nil, too.
  private var operations: [String?: CachedOperation] = [:]
  /// Estimated bytes, with those of its plans.
  fileprivate(set) var cost: Int
  private let ownCost: Int

  init(_ valid: ValidDocument) {
    self.valid = valid
    hash = OperationLabel.hash(of: valid.document.source.bytes)
    // A tree takes about this many bytes for each byte of text.
    cost = valid.document.source.bytes.count * 12 + 1024
    ownCost = cost
  }

  fileprivate func dropPlans() {
    for operation in operations.values { operation.plans.removeAll() }
    cost = ownCost
  }

  func operation(
    named name: String?, mapping: StorageMapping, suggestions: Bool, usages: UsageRegister?
  ) throws(GraphQLError) -> CachedOperation {
    if let known = operations[name] { return known }
    let operation = CachedOperation(
      try valid.operation(named: name), in: valid, hash: hash, mapping: mapping,
      suggestions: suggestions, usages: usages)
    operations[name] = operation
    return operation
  }
}

/// One operation with what is worked out once: its variables' coercion, what its plans are keyed by.
final class CachedOperation {
  let label: OperationLabel
  let operation: OperationDefinition
  let coercion: VariableCoercion
  let choices: OperationChoices
  let variableNames: [String]
  /// Something in it may be deferred, so that its plans depend on how the client takes it.
  let isDeferrable: Bool
  /// Whether its fields are one transaction.
  let isTransaction: Bool
  /// That says the query is live.
  let live: Directive?
  /// Whether a response has a dependency that is not tracked, so that it cannot be kept.
  var isUntracked = false
  /// The elements that it uses, or nil if nobody counts them.
  let usage: OperationUsage?
  var plans: [[UInt8]: PreparedPlan] = [:]

  init(
    _ operation: OperationDefinition, in valid: ValidDocument, hash: String,
    mapping: StorageMapping, suggestions: Bool, usages: UsageRegister?
  ) {
    self.operation = operation
    let label = OperationLabel(
      name: operation.name?.text, kind: operation.kind, document: hash,
      isConfidential: mapping.isConfidential(operation, fragments: valid.fragments))
    self.label = label
    usage = usages?.usage(of: operation, in: valid, as: label)
    coercion = VariableCoercion(
      valid.schema, operation, source: valid.document.source, suggestions: suggestions)
    choices = OperationChoices(operation, fragments: valid.fragments, mapping: mapping)
    variableNames = operation.variables.map(\.name.text)
    isDeferrable =
      operation.kind == .query && Planner.mayDefer(operation, fragments: valid.fragments)
    live = operation.directives.first { $0.name.text == LiveOptions.directive }
    isTransaction = operation.directives.contains { $0.name.text == SharedTransaction.directive }
  }
}

/// The statements of cached plans, by their text. Plans of other documents or page sizes often
/// share a statement, and its measured durations. Belongs to one event loop; the durations are
/// shared by all.
struct KnownStatements {
  private struct Entry {
    weak var statement: BatchableStatement?
  }

  private var entries: [String: Entry] = [:]
  private var sweepAt = 256
  let records: StatementRecords

  init(_ records: StatementRecords) { self.records = records }

  mutating func statement(_ text: String, make: () -> BatchableStatement) -> BatchableStatement {
    if let known = entries[text]?.statement { return known }
    if entries.count >= sweepAt {
      entries = entries.filter { $0.value.statement != nil }
      sweepAt = max(256, 2 * entries.count)
    }
    let statement = make()
    entries[text] = Entry(statement: statement)
    return statement
  }
}

/// A cache of documents by their text, with eviction of the least recently used. Belongs to one
/// event loop.
///
/// The number of documents and their estimated bytes are bounded, including their plans and their
/// stored introspection. The plans of one document are bounded as well, because variables select
/// among plans.
struct DocumentCache {
  private static let maximumPlansPerOperation = 64

  private final class Entry {
    let document: CachedDocument
    var lastUse: UInt64

    init(_ document: CachedDocument, lastUse: UInt64) {
      self.document = document
      self.lastUse = lastUse
    }
  }

  private let maximumCount: Int
  private let maximumCost: Int
  private let maximumDocumentCost: Int
  private var entries: [DocumentKey: Entry] = [:]
  /// Estimated bytes.
  private(set) var cost = 0
  private var clock: UInt64 = 0
  /// The number of evicted documents since the start.
  private(set) var dropped = 0

  init(maximumCount: Int = 1_000, maximumBytes: Int = 32 << 20) {
    self.maximumCount = maximumCount
    maximumCost = maximumBytes
    maximumDocumentCost = maximumBytes / 8
  }

  var count: Int { entries.count }

  mutating func document(_ text: String) -> CachedDocument? {
    guard let entry = entries[DocumentKey(text: text)] else { return nil }
    clock &+= 1
    entry.lastUse = clock
    return entry.document
  }

  mutating func insert(_ document: CachedDocument, for text: String) {
    clock &+= 1
    if let old = entries.updateValue(
      Entry(document, lastUse: clock), forKey: DocumentKey(text: text))
    {
      cost -= old.document.cost
    }
    cost += document.cost
    evict()
  }

  /// Keeps a plan of an operation of a document that was just looked up or inserted.
  mutating func insert(
    _ plan: PreparedPlan, for key: [UInt8], of operation: CachedOperation,
    in document: CachedDocument
  ) {
    let before = document.cost
    if operation.plans.count >= Self.maximumPlansPerOperation
      || document.cost + plan.cost > maximumDocumentCost
    {
      document.dropPlans()
    }
    operation.plans[key] = plan
    document.cost += plan.cost
    cost += document.cost - before
    evict()
  }

  /// Drops the older half at once, so that the work is constant per insertion over time.
  private mutating func evict() {
    while entries.count > maximumCount || cost > maximumCost, entries.count > 1 {
      let uses = entries.values.map(\.lastUse).sorted()
      let middle = uses[(uses.count + 1) / 2]
      let before = entries.count
      entries = entries.filter { $0.value.lastUse >= middle }
      dropped += before - entries.count
      cost = entries.values.reduce(0) { $0 + $1.document.cost }
    }
  }
}

/// A document's text byte by byte. `String` itself takes composed and decomposed characters for the
/// same, which would answer one document with the literals of another, and costs more to compare.
struct DocumentKey: Hashable {
  let text: String

  static func == (left: DocumentKey, right: DocumentKey) -> Bool {
    var (left, right) = (left.text, right.text)
    return left.withUTF8 { left in
      right.withUTF8 { right in
        guard left.count == right.count else { return false }
        guard let first = left.baseAddress, let second = right.baseAddress else { return true }
        return unsafe memcmp(first, second, left.count) == 0
      }
    }
  }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
