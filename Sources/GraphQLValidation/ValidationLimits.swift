/// How much of each thing a document may hold; nil is no limit.
///
/// Counted through fragments where a client could hide behind them, in time proportional to the
/// document. Each has a code of its own, so that a client knows what to shorten.
package struct ValidationLimits: Sendable {
  /// Fields within fields; the introspection fields are measured by `introspectionLists` instead.
  package var depth: Int?
  package var aliases: Int?
  package var queryRootFields: Int?
  package var mutationRootFields: Int?
  package var directivesPerPlace: Int?
  package var directives: Int?
  /// Selections of one operation with every fragment spread written out.
  package var expandedSelections: Int?
  /// List fields of the type system within each other: `fields`, `interfaces`, ...
  package var introspectionLists: Int?
  /// Fields looked at while deciding whether fields with one response name can be merged; nil
  /// allows what is proportional to the document.
  package var mergeComparisons: Int?
  /// Pairs of fields compared to word what cannot be merged: by default, more than any document has
  /// that somebody wrote.
  package var conflictPairs = 10_000
  /// Levels of fields and fragments compared in doing so: the stack ends.
  package var conflictDepth = 300
  /// Findings reported; one more says that there were others.
  package var errors: Int?

  package init(
    depth: Int? = nil, aliases: Int? = nil, queryRootFields: Int? = nil,
    mutationRootFields: Int? = nil, directivesPerPlace: Int? = nil, directives: Int? = nil,
    expandedSelections: Int? = nil, introspectionLists: Int? = nil, mergeComparisons: Int? = nil,
    errors: Int? = nil
  ) {
    self.depth = depth
    self.aliases = aliases
    self.queryRootFields = queryRootFields
    self.mutationRootFields = mutationRootFields
    self.directivesPerPlace = directivesPerPlace
    self.directives = directives
    self.expandedSelections = expandedSelections
    self.introspectionLists = introspectionLists
    self.mergeComparisons = mergeComparisons
    self.errors = errors
  }

  /// What protects the process itself from any document at all: for tools.
  package static let processOnly = ValidationLimits(errors: 100)

  /// The same for a tool on a thread whose stack has room for so many levels.
  package static func processOnly(nesting: Int) -> ValidationLimits {
    var limits = processOnly
    limits.conflictPairs = 100_000
    limits.conflictDepth = max(limits.conflictDepth, nesting)
    return limits
  }

  /// What a server takes from strangers.
  package static let server = ValidationLimits(
    depth: 12, aliases: 30, queryRootFields: 20, mutationRootFields: 5, directivesPerPlace: 5,
    directives: 50, expandedSelections: 5_000, introspectionLists: 2, mergeComparisons: 10_000,
    errors: 20)
}
