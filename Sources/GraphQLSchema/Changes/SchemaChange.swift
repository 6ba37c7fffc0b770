import GraphQLLanguage

/// One difference between two versions of a schema.
package struct SchemaChange: Sendable, Hashable {
  /// The effect of a change on operations of clients, the worst first.
  package enum Severity: String, Sendable, CaseIterable {
    /// Operations that were valid can be invalid, or a client can receive what it does not expect.
    case breaking
    /// Operations stay valid, but their results can change.
    case dangerous
    case safe
  }

  /// The kind of a change, with the name that graphql-js gives it.
  package enum Kind: String, Sendable, CaseIterable {
    case typeRemoved = "TYPE_REMOVED"
    case typeChangedKind = "TYPE_CHANGED_KIND"
    case typeRemovedFromUnion = "TYPE_REMOVED_FROM_UNION"
    case valueRemovedFromEnum = "VALUE_REMOVED_FROM_ENUM"
    case requiredInputFieldAdded = "REQUIRED_INPUT_FIELD_ADDED"
    case implementedInterfaceRemoved = "IMPLEMENTED_INTERFACE_REMOVED"
    case fieldRemoved = "FIELD_REMOVED"
    case fieldChangedKind = "FIELD_CHANGED_KIND"
    case requiredArgumentAdded = "REQUIRED_ARG_ADDED"
    case argumentRemoved = "ARG_REMOVED"
    case argumentChangedKind = "ARG_CHANGED_KIND"
    case directiveRemoved = "DIRECTIVE_REMOVED"
    case directiveArgumentRemoved = "DIRECTIVE_ARG_REMOVED"
    case requiredDirectiveArgumentAdded = "REQUIRED_DIRECTIVE_ARG_ADDED"
    case directiveRepeatableRemoved = "DIRECTIVE_REPEATABLE_REMOVED"
    case directiveLocationRemoved = "DIRECTIVE_LOCATION_REMOVED"

    case valueAddedToEnum = "VALUE_ADDED_TO_ENUM"
    case typeAddedToUnion = "TYPE_ADDED_TO_UNION"
    case optionalInputFieldAdded = "OPTIONAL_INPUT_FIELD_ADDED"
    case optionalArgumentAdded = "OPTIONAL_ARG_ADDED"
    case implementedInterfaceAdded = "IMPLEMENTED_INTERFACE_ADDED"
    case argumentDefaultChanged = "ARG_DEFAULT_VALUE_CHANGE"
    case inputFieldDefaultChanged = "INPUT_FIELD_DEFAULT_VALUE_CHANGE"

    case typeAdded = "TYPE_ADDED"
    case fieldAdded = "FIELD_ADDED"
    case fieldChangedKindSafely = "FIELD_CHANGED_KIND_SAFE"
    case argumentChangedKindSafely = "ARG_CHANGED_KIND_SAFE"
    case argumentDefaultAdded = "ARG_DEFAULT_VALUE_ADDED"
    case inputFieldDefaultAdded = "INPUT_FIELD_DEFAULT_VALUE_ADDED"
    case directiveAdded = "DIRECTIVE_ADDED"
    case optionalDirectiveArgumentAdded = "OPTIONAL_DIRECTIVE_ARG_ADDED"
    case directiveRepeatableAdded = "DIRECTIVE_REPEATABLE_ADDED"
    case directiveLocationAdded = "DIRECTIVE_LOCATION_ADDED"

    package var severity: Severity {
      switch self {
      case .typeRemoved, .typeChangedKind, .typeRemovedFromUnion, .valueRemovedFromEnum,
        .requiredInputFieldAdded, .implementedInterfaceRemoved, .fieldRemoved, .fieldChangedKind,
        .requiredArgumentAdded, .argumentRemoved, .argumentChangedKind, .directiveRemoved,
        .directiveArgumentRemoved, .requiredDirectiveArgumentAdded, .directiveRepeatableRemoved,
        .directiveLocationRemoved:
        .breaking
      case .valueAddedToEnum, .typeAddedToUnion, .optionalInputFieldAdded, .optionalArgumentAdded,
        .implementedInterfaceAdded, .argumentDefaultChanged, .inputFieldDefaultChanged:
        .dangerous
      case .typeAdded, .fieldAdded, .fieldChangedKindSafely, .argumentChangedKindSafely,
        .argumentDefaultAdded, .inputFieldDefaultAdded, .directiveAdded,
        .optionalDirectiveArgumentAdded,
        .directiveRepeatableAdded, .directiveLocationAdded:
        .safe
      }
    }
  }

  package let kind: Kind
  /// The element that changed. For a member of a union, an interface and a location of a directive,
  /// which have no coordinate, the element that has them.
  package let coordinate: SchemaCoordinate
  /// A sentence, for breaking and dangerous changes the one of graphql-js.
  package let description: String
}
