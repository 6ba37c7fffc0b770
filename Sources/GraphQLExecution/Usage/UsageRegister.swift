import GraphQLLanguage
import GraphQLSchema
import GraphQLValidation

/// The program of a client, as its requests name it.
package struct ClientProgram: Sendable, Hashable, Comparable {
  /// The name; empty if the requests give none.
  package let name: String
  package let version: String

  /// Creates a program from headers, of which control characters are left out.
  package init(name: String?, version: String?) {
    self.name = Self.shown(name)
    self.version = Self.shown(version)
  }

  private static func shown(_ text: String?) -> String {
    let scalars = (text ?? "").unicodeScalars.lazy.filter { $0.value >= 0x20 && $0.value != 0x7F }
    return String(String.UnicodeScalarView(scalars.prefix(64)))
  }

  /// Stands for all programs beyond the limit.
  package static let others = ClientProgram(name: "(others)", version: nil)

  package static func < (left: ClientProgram, right: ClientProgram) -> Bool {
    (left.name, left.version) < (right.name, right.version)
  }
}

/// The executions of one operation by client, and the elements of the schema that each of them uses.
/// Belongs to one event loop.
package final class OperationUsage {
  fileprivate let key: UsageRegister.Key
  fileprivate let kind: OperationKind
  /// The numbers of the elements, each once.
  fileprivate let elements: [Int32]
  /// The executions by the number of the client.
  fileprivate var executions: [UInt64] = []
  /// Whether the register has it; otherwise it has to come back before it counts.
  fileprivate var isKept = false

  fileprivate init(_ key: UsageRegister.Key, _ kind: OperationKind, _ elements: [Int32]) {
    self.key = key
    self.kind = kind
    self.elements = elements
  }

  fileprivate var total: UInt64 { executions.reduce(0, &+) }
}

/// Counts the elements of the schema that the clients of one event loop use, by operation and client.
///
/// The elements of an operation are found when its document is prepared. An execution then costs one
/// addition. An element counts once for each execution of an operation that names it, however often
/// it does. Memory is bounded: beyond `maximumOperations`, the half with the fewest executions keeps
/// counts by element and client only. Beyond `maximumClients`, other clients share a count.
package final class UsageRegister {
  package struct Limits: Sendable {
    package var operations = 2_000
    package var clients = 100

    package init() {}
  }

  fileprivate struct Key: Hashable {
    let name: String?
    let document: String
  }

  private let limits: Limits
  private let schema: Schema
  private var numbers: [SchemaCoordinate: Int32] = [:]
  private var coordinates: [SchemaCoordinate] = []
  private var isDeprecated: [Bool] = []
  private var clientNumbers: [ClientProgram: Int] = [:]
  private var clients: [ClientProgram] = [.others]
  private var operations: [Key: OperationUsage] = [:]
  /// The executions by element and client of operations that are not kept.
  private var folded: [Int32: [UInt64]] = [:]

  package init(_ schema: Schema, limits: Limits = Limits()) {
    self.schema = schema
    self.limits = limits
  }

  /// Returns the number of a client, for `count`.
  package func number(of client: ClientProgram) -> Int {
    if let known = clientNumbers[client] { return known }
    guard clients.count <= limits.clients else { return 0 }
    clients.append(client)
    clientNumbers[client] = clients.count - 1
    return clients.count - 1
  }

  /// Returns the usage of an operation that was prepared.
  package func usage(
    of operation: OperationDefinition, in document: ValidDocument, as label: OperationLabel
  ) -> OperationUsage {
    let key = Key(name: label.name, document: label.document)
    if let known = operations[key] { return known }
    let uses = CoordinateUses(of: operation, in: document).positions.keys
    return OperationUsage(key, label.kind, uses.map { number(of: $0) }.sorted())
  }

  private func number(of coordinate: SchemaCoordinate) -> Int32 {
    if let known = numbers[coordinate] { return known }
    let number = Int32(clamping: coordinates.count)
    numbers[coordinate] = number
    coordinates.append(coordinate)
    isDeprecated.append(schema.deprecationReason(of: coordinate) != nil)
    return number
  }

  /// Counts an execution of an operation by a client.
  package func count(_ usage: OperationUsage, by client: Int) {
    if !usage.isKept { keep(usage) }
    while usage.executions.count <= client { usage.executions.append(0) }
    usage.executions[client] &+= 1
  }

  private func keep(_ usage: OperationUsage) {
    if operations.count >= limits.operations { fold() }
    if let other = operations[usage.key], other !== usage {
      // The document was prepared twice: once for each copy that counts.
      usage.executions = other.executions
      other.executions = []
      other.isKept = false
    }
    usage.isKept = true
    operations[usage.key] = usage
  }

  /// Folds the half of the operations with the fewest executions.
  private func fold() {
    let rarest = operations.values.sorted { $0.total < $1.total }
    for usage in rarest.prefix(operations.count / 2 + 1) { fold(usage) }
  }

  private func fold(_ usage: OperationUsage) {
    for element in usage.elements {
      var counts = folded[element] ?? []
      while counts.count < usage.executions.count { counts.append(0) }
      for (client, count) in usage.executions.enumerated() { counts[client] &+= count }
      folded[element] = counts
    }
    usage.executions = []
    usage.isKept = false
    operations[usage.key] = nil
  }

  // MARK: - Reading

  /// Returns all counts so far.
  package func report() -> UsageReport {
    var report = UsageReport()
    for usage in operations.values where usage.total > 0 {
      report.operations.append(
        UsageReport.Operation(
          name: usage.key.name, document: usage.key.document, kind: usage.kind,
          coordinates: usage.elements.map { coordinates[Int($0)] },
          executions: byClient(usage.executions)))
    }
    for (element, counts) in folded { report.rest[coordinates[Int(element)]] = byClient(counts) }
    return report
  }

  /// Returns the executions that use deprecated elements, by element and client.
  package func deprecatedUses() -> [SchemaCoordinate: [ClientProgram: UInt64]] {
    var sums: [Int32: [UInt64]] = folded.filter { isDeprecated[Int($0.key)] }
    for usage in operations.values {
      for element in usage.elements where isDeprecated[Int(element)] {
        var counts = sums[element] ?? []
        while counts.count < usage.executions.count { counts.append(0) }
        for (client, count) in usage.executions.enumerated() { counts[client] &+= count }
        sums[element] = counts
      }
    }
    var uses: [SchemaCoordinate: [ClientProgram: UInt64]] = [:]
    for (element, counts) in sums where counts.contains(where: { $0 > 0 }) {
      uses[coordinates[Int(element)]] = byClient(counts)
    }
    return uses
  }

  private func byClient(_ counts: [UInt64]) -> [ClientProgram: UInt64] {
    var executions: [ClientProgram: UInt64] = [:]
    for (client, count) in counts.enumerated() where count > 0 {
      executions[clients[client]] = count
    }
    return executions
  }
}

extension Schema {
  /// Returns why an element is deprecated; nil if it is not, or does not exist.
  package func deprecationReason(of coordinate: SchemaCoordinate) -> String? {
    guard let element = try? element(at: coordinate) else { return nil }
    return switch element {
    case .type, .directive: nil
    case .field(_, let field): field.deprecationReason
    case .inputField(_, let input), .argument(_, _, let input), .directiveArgument(_, let input):
      input.deprecationReason
    case .enumValue(_, let value): value.deprecationReason
    }
  }
}
