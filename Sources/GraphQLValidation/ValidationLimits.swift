/// The limits of a document; nil means no limit.
///
/// Fragments are counted expanded, in time proportional to the document. Each limit has its own
/// error code, so that a client knows what to shorten.
package struct ValidationLimits: Sendable {
  /// The maximum nesting of fields; `introspectionLists` measures the introspection fields instead.
  package var depth: Int?
  package var aliases: Int?
  /// The maximum number of root fields of an operation.
  package var rootFields: Int?
  package var directivesPerPlace: Int?
  package var directives: Int?
  /// The maximum number of selections of one operation with every fragment spread expanded.
  package var expandedSelections: Int?
  /// The maximum nesting of list fields of the type system: `fields`, `interfaces`, ...
  package var introspectionLists: Int?
  /// The maximum number of fields compared to decide whether fields with one response name can be
  /// merged; nil allows a number proportional to the document.
  package var mergeComparisons: Int?
  /// The maximum number of pairs of fields compared to describe conflicts: by default, more than
  /// any hand-written document has.
  package var conflictPairs = 10_000
  /// The maximum nesting of fields and fragments in that comparison, to protect the stack.
  package var conflictDepth = 300
  /// The maximum number of errors reported; one more says that there were others.
  package var errors: Int?

  package init(
    depth: Int? = nil, aliases: Int? = nil, rootFields: Int? = nil,
    directivesPerPlace: Int? = nil, directives: Int? = nil, expandedSelections: Int? = nil,
    introspectionLists: Int? = nil, mergeComparisons: Int? = nil,
    errors: Int? = nil
  ) {
    self.depth = depth
    self.aliases = aliases
    self.rootFields = rootFields
    self.directivesPerPlace = directivesPerPlace
    self.directives = directives
    self.expandedSelections = expandedSelections
    self.introspectionLists = introspectionLists
    self.mergeComparisons = mergeComparisons
    self.errors = errors
  }

  /// The limits that protect the process from any document: for tools.
  package static let processOnly = ValidationLimits(errors: 100)

  /// Returns these limits for a tool on a thread whose stack holds this many levels.
  package static func processOnly(nesting: Int) -> ValidationLimits {
    var limits = processOnly
    limits.conflictPairs = 100_000
    limits.conflictDepth = max(limits.conflictDepth, nesting)
    return limits
  }

  /// The limits of a server for documents of its clients.
  package static let server = ValidationLimits(
    depth: 20, aliases: 30, rootFields: 20, directivesPerPlace: 5, directives: 50,
    expandedSelections: 5_000, introspectionLists: 2, mergeComparisons: 10_000, errors: 20)
}
