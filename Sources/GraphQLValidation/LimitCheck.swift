import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema

/// Measures a document against its limits before the rules run.
///
/// Fragments are measured once and counted wherever they are spread: O(document).
struct LimitCheck {
  /// The measures of a selection set with its fragments expanded.
  private struct Measure {
    var depth = 0
    var selections = 0
    var rootFields = 0
    var introspectionLists = 0
    var deepestIntrospection = 0

    /// Adds the measures of a sibling. The caller counts root fields.
    mutating func add(_ other: Measure) {
      depth = max(depth, other.depth)
      selections = selections.saturatingAdding(other.selections)
      introspectionLists = max(introspectionLists, other.introspectionLists)
      deepestIntrospection = max(deepestIntrospection, other.deepestIntrospection)
    }
  }

  private enum FragmentState {
    case measuring
    case measured(Measure)
  }

  private let document: Document
  private let limits: ValidationLimits
  private let fragments: [String: FragmentDefinition]
  private var states: [String: FragmentState] = [:]
  private var level = 0
  private var isTooDeep = false
  private var aliases = 0
  private var directives = 0
  private var directivesAtOnePlace = 0

  /// The maximum nesting of selection sets and fragments that the check follows.
  private static let maximumLevel = 1_000

  init(document: Document, limits: ValidationLimits) {
    self.document = document
    self.limits = limits
    fragments =
      limits.isStructural
      ? Dictionary(
        document.fragments.map { ($0.name.text, $0) }, uniquingKeysWith: { _, last in last })
      : [:]
  }

  mutating func firstExceeded() -> GraphQLError? {
    guard limits.isStructural else { return nil }
    var worst = Measure()
    for operation in document.operations {
      count(operation.directives)
      for variable in operation.variables { count(variable.directives) }
      let measure = measure(operation.selectionSet)
      worst.depth = max(worst.depth, measure.depth)
      worst.selections = max(worst.selections, measure.selections)
      worst.deepestIntrospection = max(worst.deepestIntrospection, measure.deepestIntrospection)
      worst.rootFields = max(worst.rootFields, measure.rootFields)
    }
    for fragment in document.fragments {
      count(fragment.directives)
      if states[fragment.name.text] == nil { _ = measure(fragmentNamed: fragment.name.text) }
    }
    if isTooDeep { worst.depth = Int.max }
    func exceeded(_ what: String, _ value: Int, _ limit: Int?, _ code: ErrorCode) -> GraphQLError? {
      guard let limit, value > limit else { return nil }
      return GraphQLError("The document has too many \(what): at most \(limit).", code: code)
    }
    return exceeded("levels of fields", worst.depth, limits.depth, .depthLimitExceeded)
      ?? exceeded(
        "nested introspection lists", worst.deepestIntrospection, limits.introspectionLists,
        .introspectionDepthLimitExceeded)
      ?? exceeded("aliases", aliases, limits.aliases, .aliasLimitExceeded)
      ?? exceeded("root fields", worst.rootFields, limits.rootFields, .rootFieldLimitExceeded)
      ?? exceeded(
        "directives in one place", directivesAtOnePlace, limits.directivesPerPlace,
        .directiveLimitExceeded)
      ?? exceeded("directives", directives, limits.directives, .directiveLimitExceeded)
      ?? exceeded(
        "selections, fragments written out,", worst.selections, limits.expandedSelections,
        .selectionLimitExceeded)
  }

  private mutating func count(_ found: [Directive]) {
    directives += found.count
    directivesAtOnePlace = max(directivesAtOnePlace, found.count)
  }

  private mutating func measure(_ set: SelectionSet) -> Measure {
    var total = Measure()
    guard level < Self.maximumLevel else {
      isTooDeep = true
      return total
    }
    level += 1
    defer { level -= 1 }
    for selection in set.selections {
      switch selection {
      case .field(let field):
        if field.alias != nil { aliases += 1 }
        count(field.directives)
        total.rootFields += 1
        total.add(measure(field))
      case .inlineFragment(let inline):
        count(inline.directives)
        let inner = measure(inline.selectionSet)
        total.rootFields = total.rootFields.saturatingAdding(inner.rootFields)
        total.add(inner)
      case .fragmentSpread(let spread):
        count(spread.directives)
        let inner = measure(fragmentNamed: spread.name.text)
        total.rootFields = total.rootFields.saturatingAdding(inner.rootFields)
        total.add(inner)
      }
    }
    return total
  }

  private mutating func measure(_ field: Field) -> Measure {
    var measure = field.selectionSet.map { self.measure($0) } ?? Measure()
    measure.selections = measure.selections.saturatingAdding(1)
    measure.depth = measure.depth.saturatingAdding(1)
    switch field.name.text {
    case "fields", "interfaces", "possibleTypes", "inputFields":
      measure.introspectionLists += 1
    case let name where Schema.isIntrospection(name):
      measure.deepestIntrospection = measure.introspectionLists
      measure.depth = 1
    default:
      break
    }
    return measure
  }

  /// Measures a fragment. A fragment within itself adds nothing; the rule about cycles reports it.
  private mutating func measure(fragmentNamed name: String) -> Measure {
    guard let fragment = fragments[name] else { return Measure() }
    switch states[name] {
    case .measuring?: return Measure()
    case .measured(let measure)?: return measure
    case nil: break
    }
    states[name] = .measuring
    let measure = measure(fragment.selectionSet)
    states[name] = .measured(measure)
    return measure
  }
}

extension ValidationLimits {
  fileprivate var isStructural: Bool {
    depth != nil || aliases != nil || rootFields != nil || directivesPerPlace != nil
      || directives != nil || expandedSelections != nil
      || introspectionLists != nil
  }
}

extension Int {
  fileprivate func saturatingAdding(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? Int.max : sum
  }
}
