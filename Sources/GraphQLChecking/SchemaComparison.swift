import GraphQLLanguage
import GraphQLSchema
import GraphQLValidation
import JSON

/// Compares two versions of a schema, and the changes with the operations that clients send.
package struct SchemaComparison {
  /// A change, and its effect on known operations.
  package struct Finding: Sendable {
    package let change: SchemaChange
    /// The severity of the change; safe if it affects nobody and that is allowed.
    package let severity: SchemaChange.Severity
    /// Whether no operation uses what changed; nil if no operations are known.
    package let isUnused: Bool?
    /// An operation that was valid and is not; nil if none is known.
    package let witness: Witness?

    /// The line `SEVERITY COORDINATE DESCRIPTION`.
    package var line: String {
      let text = "\(severity.rawValue) \(change.coordinate) \(change.description)"
      if let witness { return "\(text) (breaks \(witness.name))" }
      return isUnused == true ? text + " (unused)" : text
    }
  }

  /// A document that the new schema refuses.
  package struct Witness: Sendable {
    /// The name of its operation, or else the ID of the document.
    package let name: String
    package let text: String
  }

  package let findings: [Finding]
  /// The IDs of the documents that are not valid for the old schema, which are left out.
  package let invalidDocuments: [String]

  /// Compares two schemas.
  ///
  /// - Parameters:
  ///   - usage: the coordinates that operations use; nil if they are not known.
  ///   - documents: the operations of clients; nil if they are not known.
  ///   - allowsUnused: whether a change of what no known operation uses is safe.
  package init(
    _ old: Schema, _ new: Schema, usage: Set<SchemaCoordinate>? = nil,
    documents: [(id: String, text: String)]? = nil, allowsUnused: Bool = false
  ) {
    var invalid: [String] = []
    var known: [KnownDocument] = []
    for document in documents ?? [] {
      if let document = KnownDocument(document.id, document.text, old, new) {
        known.append(document)
      } else {
        invalid.append(document.id)
      }
    }
    invalidDocuments = invalid
    let changes = SchemaChanges.between(old, new)
    let used = UsedElements(old, new, (usage ?? []).union(known.flatMap(\.positions.keys)))
    let isKnown = usage != nil || documents != nil
    let isUnexplained = known.contains { Self.isUnexplained($0, old, new, changes) }
    findings = changes.map { change in
      let isUnused =
        isKnown ? !used.contain(change) && !(isUnexplained && change.changesPossibleTypes) : nil
      return Finding(
        change: change,
        severity: isUnused == true && allowsUnused ? .safe : change.kind.severity,
        isUnused: isUnused,
        witness: change.kind.severity == .breaking
          ? Self.witness(of: change, in: changes, old, new, known) : nil)
    }
  }

  package var isBreaking: Bool { findings.contains { $0.severity == .breaking } }

  /// Returns whether a document became invalid although it uses nothing that breaks. It then has a
  /// fragment on one abstract type within another, and no object has both types any more.
  private static func isUnexplained(
    _ document: KnownDocument, _ old: Schema, _ new: Schema, _ changes: [SchemaChange]
  ) -> Bool {
    guard !document.errors.isEmpty else { return false }
    let used = UsedElements(old, new, Set(document.positions.keys))
    return !changes.contains { $0.kind.severity == .breaking && used.contain($0) }
  }

  /// Returns a document that uses what changed and is no longer valid: if possible, one with an
  /// error where it does.
  private static func witness(
    of change: SchemaChange, in changes: [SchemaChange], _ old: Schema, _ new: Schema,
    _ documents: [KnownDocument]
  ) -> Witness? {
    var second: Witness?
    for document in documents where !document.errors.isEmpty {
      let used = UsedElements(old, new, Set(document.positions.keys))
      guard
        used.contain(change)
          || change.changesPossibleTypes && isUnexplained(document, old, new, changes)
      else { continue }
      let places = change.places.flatMap { document.positions[$0] ?? [] }
      let witness = Witness(name: document.name, text: document.text)
      let locations = document.locations(of: places)
      if document.errors.contains(where: { locations.contains($0) }) { return witness }
      second = second ?? witness
    }
    return second
  }

  /// The findings as `{"format": "sociograph-schema-diff/1", "changes": [...]}`.
  package var json: [UInt8] {
    var writer = JSONWriter()
    writer.append("{\"format\":\"sociograph-schema-diff/1\",\"changes\":[")
    for (index, finding) in findings.enumerated() {
      writer.append(index > 0 ? ",{\"severity\":" : "{\"severity\":")
      writer.write(finding.severity.rawValue)
      writer.append(",\"type\":")
      writer.write(finding.change.kind.rawValue)
      writer.append(",\"coordinate\":")
      writer.write(finding.change.coordinate.description)
      writer.append(",\"description\":")
      writer.write(finding.change.description)
      if let isUnused = finding.isUnused {
        writer.append(",\"unused\":")
        writer.write(isUnused)
      }
      if let witness = finding.witness {
        writer.append(",\"witness\":")
        writer.write(witness.text)
      }
      writer.append("}")
    }
    writer.append("]}\n")
    return writer.finish()
  }
}

/// A document of a client that was valid.
private struct KnownDocument {
  let name: String
  let text: String
  let positions: [SchemaCoordinate: [Position]]
  /// The locations of errors for the new schema.
  let errors: Set<SourceLocation>
  private let source: Source

  /// Returns nil if the document is not valid for the old schema.
  init?(_ id: String, _ text: String, _ old: Schema, _ new: Schema) {
    guard let document = try? Parser.parse(text, limits: .unlimited),
      let valid = try? Validator.validate(document, against: old)
    else { return nil }
    self.text = text
    source = document.source
    name = valid.operations.first?.name?.text ?? id
    var positions: [SchemaCoordinate: [Position]] = [:]
    for operation in valid.operations {
      positions.merge(CoordinateUses(of: operation, in: valid).positions) { $0 + $1 }
    }
    self.positions = positions
    errors = Set(
      Validator.errors(in: document, against: new, suggestions: false).flatMap(\.locations))
  }

  func locations(of positions: [Position]) -> Set<SourceLocation> {
    Set(source.locations(of: positions).values)
  }
}

/// The elements of the old schema on which operations depend.
private struct UsedElements {
  private let old: Schema
  private let new: Schema
  private var members: Set<SchemaCoordinate>
  /// Types of variables and conditions, of fields that are selected, and of arguments.
  private var types: Set<String> = []

  init(_ old: Schema, _ new: Schema, _ coordinates: Set<SchemaCoordinate>) {
    self.old = old
    self.new = new
    members = coordinates
    for coordinate in coordinates { follow(coordinate) }
  }

  private mutating func follow(_ coordinate: SchemaCoordinate) {
    guard let element = try? old.element(at: coordinate) else { return }
    switch element {
    case .type(let type):
      types.insert(type.name)
      // Only variables name such a type, and any value of it may come.
      include(type)
    case .field(let type, let field):
      types.formUnion([type.name, old[field.type.namedType].name])
    case .inputField(let type, let input):
      types.formUnion([type.name, old[input.type.namedType].name])
    case .argument(let type, _, let input):
      types.formUnion([type.name, old[input.type.namedType].name])
    case .enumValue(let type, _): types.insert(type.name)
    case .directive, .directiveArgument: break
    }
  }

  /// Includes every value that an input type has.
  private mutating func include(_ type: TypeDefinition) {
    switch type.kind {
    case .enum(let values):
      members.formUnion(values.map { .member(type: type.name, name: $0.name) })
    case .inputObject(let inputs, _):
      for input in inputs
      where members.insert(.member(type: type.name, name: input.name)).inserted {
        let inner = old[input.type.namedType]
        types.insert(inner.name)
        include(inner)
      }
    case .scalar, .object, .interface, .union: break
    }
  }

  /// Returns whether an operation depends on what changed.
  func contain(_ change: SchemaChange) -> Bool {
    switch (change.kind, change.coordinate) {
    case (.requiredArgumentAdded, .argument(let type, let field, _)),
      (.optionalArgumentAdded, .argument(let type, let field, _)):
      hasMember(of: type) { .member(type: $0, name: field) }
    case (.requiredDirectiveArgumentAdded, .directiveArgument(let directive, _)),
      (.optionalDirectiveArgumentAdded, .directiveArgument(let directive, _)):
      members.contains(.directive(directive))
    case (.requiredInputFieldAdded, .member(let type, _)),
      (.optionalInputFieldAdded, .member(let type, _)), (.valueAddedToEnum, .member(let type, _)),
      (_, .type(let type)):
      types.contains(type)
    case (_, .member(let type, let name)):
      hasMember(of: type) { .member(type: $0, name: name) }
        || types.contains(type) && isRequiredNow(change.coordinate)
    case (_, .argument(let type, let field, let name)):
      hasMember(of: type) { .argument(type: $0, field: field, name: name) }
        || isRequiredNow(change.coordinate)
          && hasMember(of: type) { .member(type: $0, name: field) }
    case (_, .directiveArgument(let directive, _)):
      members.contains(change.coordinate)
        || isRequiredNow(change.coordinate) && members.contains(.directive(directive))
    case (_, .directive): members.contains(change.coordinate)
    }
  }

  /// Returns whether an argument or input field, which operations could leave out, has to be given.
  private func isRequiredNow(_ coordinate: SchemaCoordinate) -> Bool {
    func isRequired(_ schema: Schema) -> Bool? {
      switch try? schema.element(at: coordinate) {
      case .argument(_, _, let input), .inputField(_, let input), .directiveArgument(_, let input):
        input.isRequired
      case .type, .field, .enumValue, .directive, nil: nil
      }
    }
    return isRequired(old) == false && isRequired(new) == true
  }

  /// Returns whether a member of a type is used, directly or through an interface of the type.
  private func hasMember(of type: String, _ coordinate: (String) -> SchemaCoordinate) -> Bool {
    guard let definition = old.type(named: type) else { return false }
    return ([type] + definition.interfaces.map { old[$0].name }).contains {
      members.contains(coordinate($0))
    }
  }
}

extension SchemaChange {
  /// Whether an abstract type can have fewer possible types after the change.
  fileprivate var changesPossibleTypes: Bool {
    [.typeRemoved, .typeChangedKind, .typeRemovedFromUnion, .implementedInterfaceRemoved]
      .contains(kind)
  }

  /// The elements whose uses an error of the new schema points at.
  fileprivate var places: [SchemaCoordinate] {
    switch (kind, coordinate) {
    case (.requiredArgumentAdded, .argument(let type, let field, _)):
      [.member(type: type, name: field)]
    case (.requiredDirectiveArgumentAdded, .directiveArgument(let directive, _)):
      [.directive(directive)]
    case (_, let coordinate): [coordinate]
    }
  }
}
