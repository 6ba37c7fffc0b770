import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema

/// Splits an operation into one for the initial response and one for each later part, which are
/// planned like any other.
///
/// The fields of each object are collected as in execution, each with the fragments that deferred
/// it. Fields with the same set of fragments are one part, whose operation selects them and the
/// path to them. In the format of 2022 each fragment has all of its fields. The later items of a
/// streamed list are a separate part, whose fields are collected again: there, fragments around the
/// list defer nothing.
///
/// GraphQL incremental delivery, `CollectFields` and `BuildExecutionPlan`. O(selections x types of
/// their locations).
struct DeferredSelections {
  struct Split {
    let first: OperationDefinition
    let parts: [(usages: [Int], operation: OperationDefinition)]
    let usages: [DeliveryUsage]
  }

  /// The maximum number of parts. With more, the response is complete at once, because that many
  /// statements cost more than they gain.
  static let maximumParts = 16

  private let compiler: SelectionCompiler
  private let format: IncrementalDelivery
  private var usages: [DeliveryUsage] = []
  private var usageNumbers: [UsageKey: Int] = [:]
  /// The sets of fragments, or a list alone, in the order of their first use; the first set is
  /// empty.
  private var parts: [[Int]] = [[]]
  private var partNumbers: [[Int]: Int] = [[]: 0]
  /// For each part, the parts that its objects have fields of. They run after it, because it shows
  /// whether there are such objects.
  private var following: [Int: Set<Int>] = [:]

  private struct UsageKey: Hashable {
    let place: String
    let directive: Int32
    let parent: Int?
  }

  /// A field's selection and the fragment that deferred it.
  private struct Detail {
    let field: Field
    let usage: Int?
  }

  /// The merged fields of one response name in one object.
  private final class PlacedField {
    let details: [Detail]
    let part: Int
    let children: PlacedObject?
    /// The later items of a streamed list.
    let rest: PlacedRest?
    /// The parts of all fields beneath it.
    let reach: Set<Int>
    /// The field for each part, shared by the types that have it, so that it is planned once for
    /// them.
    var emitted: [Int: Field] = [:]

    init(_ details: [Detail], part: Int, children: PlacedObject?, rest: PlacedRest?) {
      self.details = details
      self.part = part
      self.children = children
      self.rest = rest
      reach = (children?.reach ?? []).union(rest?.reach ?? [])
    }
  }

  private struct PlacedObject {
    var types: [(type: TypeID, fields: [PlacedField])]

    var reach: Set<Int> {
      types.reduce(into: []) { reach, type in
        for field in type.fields { reach.formUnion(field.reach.union([field.part])) }
      }
    }
  }

  /// The later items of a list.
  private struct PlacedRest {
    /// The number of items in the initial response.
    let first: Int
    let part: Int
    let items: PlacedObject?

    var reach: Set<Int> { (items?.reach ?? []).union([part]) }
  }

  init(_ compiler: SelectionCompiler, _ format: IncrementalDelivery) {
    self.compiler = compiler
    self.format = format
  }

  /// Splits an operation; returns nil if nothing is deferred.
  mutating func split(_ operation: OperationDefinition, on root: TypeID) -> Split? {
    let object = place(
      [root], [(operation.selectionSet, nil)], Place(path: "", depth: 0, base: 0), within: 0,
      mayDefer: true)
    guard parts.count > 1, parts.count <= Self.maximumParts + 1 else { return nil }
    guard let order else { return nil }
    var numbers: [Int: Int] = [:]
    for (number, part) in order.enumerated() { numbers[part] = number }
    func select(_ part: Int) -> OperationDefinition {
      OperationDefinition(
        kind: .query, description: nil, name: operation.name, variables: operation.variables,
        directives: [],
        selectionSet: SelectionSet(
          selections: selections(
            of: object, part, isDelivered: part == 0, numbers, operation.position),
          position: operation.position), position: operation.position)
    }
    return Split(
      first: select(0), parts: order.map { (parts[$0], select($0)) }, usages: usages)
  }

  /// The order of the later parts. Parts of nested fragments come later if both orders are
  /// possible.
  private var order: [Int]? {
    var left = parts.indices.dropFirst().sorted { (nesting(of: $0), $0) < (nesting(of: $1), $1) }
    var order: [Int] = []
    while !left.isEmpty {
      let next = left.firstIndex { part in
        left.allSatisfy { !(following[$0]?.contains(part) ?? false) }
      }
      // There is always one: a deeper set has fewer fragments, or fragments inside of those.
      guard let next else { return nil }
      order.append(left.remove(at: next))
    }
    return order
  }

  /// Returns the number of fragments around the outermost of the part's own.
  private func nesting(of part: Int) -> Int {
    parts[part].map { usage in
      var depth = 0
      var parent = usages[usage].parent
      while let next = parent {
        depth += 1
        parent = usages[next].parent
      }
      return depth
    }.min() ?? 0
  }

  // MARK: - Placing

  private struct Place {
    /// The response names of the path.
    var path: String
    /// The length of the paths of its objects.
    var depth: Int
    /// The part of fields that nothing defers: the first, or the rest of the list around them.
    var base: Int
  }

  /// Collects the fields of objects of these types.
  ///
  /// - Parameters:
  ///   - part: the part of the field whose value they are.
  ///   - mayDefer: whether nested fields may be in other parts.
  private mutating func place(
    _ types: [TypeID], _ sets: [(SelectionSet, Int?)], _ place: Place, within part: Int,
    mayDefer: Bool
  ) -> PlacedObject {
    struct Key: Hashable {
      let type: TypeID?
      let fields: [ObjectIdentifier]
      let usages: [Int?]
    }
    var known: [Key: PlacedField] = [:]
    var object = PlacedObject(types: [])
    for type in types {
      var fields: [PlacedField] = []
      for details in collect(type, sets, place, mayDefer: mayDefer) {
        let name = details[0].field.name.text
        let definition = compiler.schema[type].field(named: name)
        let key = Key(
          type: definition?.type.namedType, fields: details.map { ObjectIdentifier($0.field) },
          usages: details.map(\.usage))
        if let field = known[key] {
          fields.append(field)
          continue
        }
        // The schema is answered without the database.
        let isAtOnce = Schema.isIntrospection(name)
        let own = isAtOnce ? 0 : mayDefer ? number(of: details, place.base) : part
        if own != part { following[part, default: []].insert(own) }
        var children: PlacedObject?
        var rest: PlacedRest?
        if let definition, !isAtOnce {
          let path = place.path + "/" + details[0].field.responseName
          let inner = Place(path: path, depth: place.depth + 1, base: place.base)
          children = value(definition.type, details, inner, within: own, mayDefer: mayDefer)
          if mayDefer { rest = self.rest(definition.type, details, inner, within: own) }
        }
        let field = PlacedField(details, part: own, children: children, rest: rest)
        known[key] = field
        fields.append(field)
      }
      object.types.append((type, fields))
    }
    return object
  }

  /// Returns the objects of a field's value; nil if it is a leaf.
  private mutating func value(
    _ type: TypeReference, _ details: [Detail], _ place: Place, within part: Int, mayDefer: Bool
  ) -> PlacedObject? {
    let named = type.namedType
    guard parts.count <= Self.maximumParts + 1, compiler.schema[named].isComposite else {
      return nil
    }
    let sets = details.compactMap { detail in
      detail.field.selectionSet.map { ($0, detail.usage) }
    }
    var place = place
    place.depth += type.listDepth
    return self.place(
      compiler.schema.possibleTypes[Int(named.index)], sets, place, within: part,
      // The page information is computed from the whole page.
      mayDefer: mayDefer && compiler.schema[named].name != "PageInfo")
  }

  /// Returns the later items of a streamed list; nil for lists within a list.
  private mutating func rest(
    _ type: TypeReference, _ details: [Detail], _ place: Place, within part: Int
  ) -> PlacedRest? {
    guard type.listDepth == 1, let directive = details[0].field.directives.first(named: "stream"),
      // An invalid count was refused when the whole operation was planned.
      let count = try? compiler.initialCount(details[0].field)
    else { return nil }
    let usage = usage(directive, place, in: details[0].usage, firstItem: count)
    let own = number(ofSet: [usage])
    following[part, default: []].insert(own)
    let items = value(
      type, details.map { Detail(field: $0.field, usage: nil) },
      Place(path: place.path + "/", depth: place.depth, base: own), within: own, mayDefer: true)
    return PlacedRest(first: count, part: own, items: items)
  }

  private mutating func number(of details: [Detail], _ base: Int) -> Int {
    var set: Set<Int> = []
    for detail in details {
      guard let usage = detail.usage else { return base }
      set.insert(usage)
    }
    // A field that waits for a fragment waits for the fragments inside of it anyway.
    let own = set.filter { usage in
      var parent = usages[usage].parent
      while let next = parent {
        if set.contains(next) { return false }
        parent = usages[next].parent
      }
      return true
    }.sorted()
    return number(ofSet: own)
  }

  private mutating func number(ofSet set: [Int]) -> Int {
    if let number = partNumbers[set] { return number }
    parts.append(set)
    partNumbers[set] = parts.count - 1
    return parts.count - 1
  }

  // MARK: - Collecting

  private mutating func collect(
    _ type: TypeID, _ sets: [(SelectionSet, Int?)], _ place: Place, mayDefer: Bool
  ) -> [[Detail]] {
    struct Key: Hashable {
      let name: String
      let usage: Int?
    }
    var collected: [[Detail]] = []
    var places: [Key: Int] = [:]
    // By name, the directives under which a fragment was spread; -1 for none.
    var visited: [String: Set<Int32>] = [:]
    func collect(_ set: SelectionSet, _ usage: Int?, _ directive: Int32) {
      for selection in set.selections {
        switch selection {
        case .field(let field):
          guard compiler.isIncluded(field.directives) else { continue }
          let key = Key(name: field.responseName, usage: format == .v02 ? nil : usage)
          if let place = places[key] {
            collected[place].append(Detail(field: field, usage: usage))
          } else {
            places[key] = collected.count
            collected.append([Detail(field: field, usage: usage)])
          }
        case .inlineFragment(let inline):
          guard compiler.isIncluded(inline.directives) else { continue }
          if let condition = inline.typeCondition, !compiler.applies(condition.text, to: type) {
            continue
          }
          let deferring = mayDefer ? active(inline.directives) : nil
          collect(
            inline.selectionSet,
            deferring.map { self.usage($0, place, in: usage) } ?? usage,
            deferring?.position.offset ?? directive)
        case .fragmentSpread(let spread):
          guard compiler.isIncluded(spread.directives),
            let fragment = compiler.fragments[spread.name.text],
            compiler.applies(fragment.typeCondition.text, to: type)
          else { continue }
          let deferring = mayDefer ? active(spread.directives) : nil
          let inner = deferring?.position.offset ?? directive
          let before = visited[spread.name.text] ?? []
          // In the format of 2022 a client waits for each fragment that it has asked for by its label.
          if before.contains(inner)
            || before.contains(-1) && (format == .v02 || deferring == nil)
          {
            continue
          }
          visited[spread.name.text, default: []].insert(inner)
          collect(
            fragment.selectionSet,
            deferring.map { self.usage($0, place, in: usage) } ?? usage, inner)
        }
      }
    }
    for (set, usage) in sets {
      collect(set, usage, usage.map { directive(of: $0) } ?? -1)
    }
    return collected
  }

  /// Returns the directive that defers, unless its condition is false.
  private func active(_ directives: [Directive]) -> Directive? {
    directives.first(named: "defer").flatMap { compiler.isActive($0) ? $0 : nil }
  }

  private func directive(of usage: Int) -> Int32 {
    usageNumbers.first { $0.value == usage }?.key.directive ?? -1
  }

  /// Returns the index of a usage.
  ///
  /// - Parameter firstItem: the first later item of a list.
  private mutating func usage(
    _ directive: Directive, _ place: Place, in parent: Int?, firstItem: Int? = nil
  ) -> Int {
    let parent = parent ?? parts[place.base].first
    let key = UsageKey(place: place.path, directive: directive.position.offset, parent: parent)
    if let number = usageNumbers[key] { return number }
    usages.append(
      DeliveryUsage(
        label: directive.string("label"), parent: firstItem == nil ? parent : nil,
        depth: place.depth, firstItem: firstItem))
    usageNumbers[key] = usages.count - 1
    return usages.count - 1
  }

  // MARK: - Selecting

  /// Returns the selections of an object's operation for one part.
  ///
  /// - Parameters:
  ///   - isDelivered: whether the object itself belongs to the part, and not only to the path.
  ///   - numbers: the numbers of the later parts, in the order in which they run.
  private func selections(
    of object: PlacedObject, _ part: Int, isDelivered: Bool, _ numbers: [Int: Int],
    _ position: Position
  ) -> [Selection] {
    let lists = object.types.map { _, fields in
      self.fields(fields, part, isDelivered: isDelivered, numbers, position)
    }
    guard let first = lists.first else { return [] }
    if lists.allSatisfy({ $0.map(\.identity) == first.map(\.identity) }) {
      return first.map { .field($0.field) }
    }
    return zip(object.types, lists).compactMap { placed, fields in
      guard !fields.isEmpty else { return nil }
      let name = Name(text: compiler.schema[placed.type].name, position: position)
      return .inlineFragment(
        InlineFragment(
          typeCondition: name, directives: [],
          selectionSet: SelectionSet(
            selections: fields.map { .field($0.field) }, position: position), position: position))
    }
  }

  private struct Emitted {
    enum Identity: Hashable {
      case field(ObjectIdentifier)
      case marker(DeliveryMarker)
    }

    let identity: Identity
    let field: Field

    init(_ field: Field) {
      self.field = field
      identity = .field(ObjectIdentifier(field))
    }

    init(_ marker: DeliveryMarker, at position: Position) {
      field = marker.field(at: position)
      identity = .marker(marker)
    }
  }

  private func fields(
    _ fields: [PlacedField], _ part: Int, isDelivered: Bool, _ numbers: [Int: Int],
    _ position: Position
  ) -> [Emitted] {
    let own = fields.filter { $0.part == part }
    let delivered = own.map { Emitted(emit($0, part, isDelivered: true, numbers)) }
    if isDelivered {
      let others = Set(fields.map(\.part)).subtracting([part]).compactMap { numbers[$0] }.sorted()
      return delivered + others.map { Emitted(.pending(part: $0), at: position) }
    }
    let way = fields.filter { $0.part != part && $0.reach.contains(part) }
      .map { Emitted(emit($0, part, isDelivered: false, numbers)) }
    return own.isEmpty ? way : way + [Emitted(.payload, at: position)] + delivered
  }

  private func emit(
    _ field: PlacedField, _ part: Int, isDelivered: Bool, _ numbers: [Int: Int]
  ) -> Field {
    let written = field.details[0].field
    guard field.children != nil || field.rest != nil else { return written }
    if let known = field.emitted[part] { return known }
    var isDelivered = isDelivered
    var children = field.children
    var items: StreamedItems?
    if let rest = field.rest {
      if rest.reach.contains(part) {
        isDelivered = part == rest.part
        children = rest.items
        items = StreamedItems(rest.first ..< .max, isDelivered: isDelivered)
      } else {
        items = StreamedItems(0..<rest.first, pending: isDelivered ? numbers[rest.part] : nil)
      }
    }
    let emitted = Field(
      alias: written.alias, name: written.name, arguments: written.arguments,
      directives: items.map { [$0.directive(at: written.position)] } ?? [],
      selectionSet: children.map { children in
        SelectionSet(
          // Nothing is read of an item that only shows that there are any.
          selections: items?.range.isEmpty == true
            ? []
            : selections(of: children, part, isDelivered: isDelivered, numbers, written.position),
          position: written.position)
      })
    field.emitted[part] = emitted
    return emitted
  }

  // MARK: - Whether there is anything to do

  /// Returns whether any reachable selection could be deferred. O(document).
  static func isWorthTrying(
    _ operation: OperationDefinition, fragments: [String: FragmentDefinition]
  ) -> Bool {
    var pending: [Selection] = operation.selectionSet.selections
    for fragment in fragments.values { pending += fragment.selectionSet.selections }
    while let selection = pending.popLast() {
      switch selection {
      case .field(let field):
        if field.directives.first(named: "stream") != nil { return true }
        pending += field.selectionSet?.selections ?? []
      case .fragmentSpread(let spread):
        if spread.directives.first(named: "defer") != nil { return true }
      case .inlineFragment(let inline):
        if inline.directives.first(named: "defer") != nil { return true }
        pending += inline.selectionSet.selections
      }
    }
    return false
  }
}

extension TypeReference {
  /// The number of list indices within a path.
  fileprivate var listDepth: Int {
    switch self {
    case .named: 0
    case .nonNull(let inner): inner.listDepth
    case .list(let item): 1 + item.listDepth
    }
  }
}
