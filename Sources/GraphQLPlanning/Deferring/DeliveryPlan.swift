import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema

/// The later parts of a response, after its first part.
package struct DeliveryPlan: Sendable {
  package let format: IncrementalDelivery
  package let usages: [DeliveryUsage]
  /// The parts in the order in which they run: a part comes after the parts that it depends on.
  package let parts: [DeliveryPart]
  /// The size of the complete response.
  package let size: PlanSize
}

/// A deferred fragment or a streamed list at one location of the response; each object there has
/// one.
package struct DeliveryUsage: Sendable, Hashable {
  package let label: String?
  /// The fragment around it, or the list whose later items contain it, which is delivered first.
  package let parent: Int?
  /// The length of the paths of its objects or lists.
  package let depth: Int
  /// The index of a list's first later item.
  package var firstItem: Int?
}

/// The fields that the same fragments defer, anywhere in the response, or the later items of one
/// list. They have one statement, which repeats the path to them.
package struct DeliveryPart: Sendable {
  /// The indices of these fragments, or of the list.
  package let usages: [Int]
  package let plan: ResponsePlan
}

/// A marker among the fields of a shape, where parts meet.
package enum DeliveryMarker: Sendable, Hashable {
  /// The object has fields of the part with this number, from 0.
  case pending(part: Int)
  /// The fields before it are the path to others; those after it are delivered.
  case payload

  private static let pendingName = "@pending"
  private static let payloadName = "@payload"

  /// Creates a marker from a field that no client can have written.
  init?(_ field: Field) {
    switch field.name.text {
    case Self.payloadName: self = .payload
    case Self.pendingName:
      guard let part = Int(field.responseName.dropFirst(Self.pendingName.count)) else {
        return nil
      }
      self = .pending(part: part)
    default: return nil
    }
  }

  func field(at position: Position) -> Field {
    func name(_ text: String) -> Name { Name(text: text, position: position) }
    return switch self {
    case .payload:
      Field(
        alias: nil, name: name(Self.payloadName), arguments: [], directives: [], selectionSet: nil)
    case .pending(let part):
      Field(
        alias: name("\(Self.pendingName)\(part)"), name: name(Self.pendingName), arguments: [],
        directives: [], selectionSet: nil)
    }
  }
}

extension Planner {
  /// Returns whether an operation could be deferred, whatever its variables are. O(document).
  package static func mayDefer(
    _ operation: OperationDefinition, fragments: [String: FragmentDefinition]
  ) -> Bool {
    DeferredSelections.isWorthTrying(operation, fragments: fragments)
  }

  /// Returns the plan of a query for incremental delivery. If nothing is deferred, or too much, it is
  /// the plan of the complete response.
  func delivery(
    _ root: TypeID, _ operation: OperationDefinition, _ fragments: [String: FragmentDefinition],
    _ reader: ArgumentReader, source: Source, _ format: IncrementalDelivery
  ) throws(GraphQLError) -> Plan {
    // The maximum cost is that of the whole operation.
    let whole = try response(root, operation, fragments, reader).plan
    var selections = DeferredSelections(
      SelectionCompiler(mapping: mapping, fragments: fragments, reader: reader, limits: limits),
      format)
    guard let split = selections.split(operation, on: root) else { return .query(whole) }
    var loose = limits
    loose.maximumElements = .max
    loose.maximumCost = nil
    loose.maximumNameBytes = .max
    let planner = Planner(mapping: mapping, limits: loose)
    func plan(_ part: OperationDefinition) throws(GraphQLError) -> ResponsePlan {
      let reader = self.reader(of: part, source: source, variables: reader.variables)
      return try planner.response(root, part, [:], reader).plan
    }
    let first = try plan(split.first)
    var parts: [DeliveryPart] = []
    for part in split.parts {
      parts.append(DeliveryPart(usages: part.usages, plan: try plan(part.operation)))
    }
    return .incremental(
      first,
      DeliveryPlan(format: format, usages: split.usages, parts: parts, size: whole.size))
  }
}
