import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema

/// What comes later of an answer. The plan that has it gives the first part.
package struct DeliveryPlan: Sendable {
  package let format: IncrementalDelivery
  package let usages: [DeliveryUsage]
  /// In the order in which they are run: what waits for another comes after it.
  package let parts: [DeliveryPart]
}

/// A fragment that is deferred, or a list that is streamed, at one place of the response; there is one of it for each
/// object there.
package struct DeliveryUsage: Sendable, Hashable {
  package let label: String?
  /// Of a fragment: the one that it stands in, or the list in whose later items; that is delivered first.
  package let parent: Int?
  /// How long the paths of its objects are, or of its lists.
  package let depth: Int
  /// Of a list: the index of the first item that comes later.
  package var firstItem: Int?
}

/// The fields that the same fragments have, wherever they are in the response, or the later items of one list: one
/// statement, which repeats the way down to them.
package struct DeliveryPart: Sendable {
  /// Indices of these fragments, or of the list.
  package let usages: [Int]
  package let plan: Plan
}

/// What stands among the fields of a shape to say where parts meet.
package enum DeliveryMarker: Sendable, Hashable {
  /// The object has fields that are of the part of this number, from 0.
  case pending(part: Int)
  /// The fields before it are the way to others, those after it are delivered.
  case payload

  private static let pendingName = "@pending"
  private static let payloadName = "@payload"

  /// Of a field that no client can have written.
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
  /// Whether anything of an operation could be deferred, whatever its variables are. O(document).
  package static func mayDefer(
    _ operation: OperationDefinition, fragments: [String: FragmentDefinition]
  ) -> Bool {
    DeferredSelections.isWorthTrying(operation, fragments: fragments)
  }

  /// The plan of an operation whose answer may come in parts. It is that of the whole answer where nothing is deferred,
  /// or more than is worth it.
  package func plan(
    _ operation: OperationDefinition, fragments: [String: FragmentDefinition], source: Source,
    variables: [InputValue?], delivery format: IncrementalDelivery
  ) throws(GraphQLError) -> Plan {
    // What it may cost is what the whole may.
    let whole = try plan(operation, fragments: fragments, source: source, variables: variables)
    guard operation.kind == .query, let root = mapping.schema.rootType(for: .query) else {
      return whole
    }
    let reader = reader(of: operation, source: source, variables: variables)
    var selections = DeferredSelections(
      SelectionCompiler(mapping: mapping, fragments: fragments, reader: reader, limits: limits),
      format)
    guard let split = selections.split(operation, on: root) else { return whole }
    var loose = limits
    loose.maximumElements = .max
    loose.maximumCost = nil
    loose.maximumNameBytes = .max
    let planner = Planner(mapping: mapping, limits: loose)
    var first = try planner.plan(
      split.first, fragments: [:], source: source, variables: variables)
    var parts: [DeliveryPart] = []
    for part in split.parts {
      parts.append(
        DeliveryPart(
          usages: part.usages,
          plan: try planner.plan(
            part.operation, fragments: [:], source: source, variables: variables)))
    }
    first.size = whole.size
    first.delivery = DeliveryPlan(format: format, usages: split.usages, parts: parts)
    return first
  }
}
