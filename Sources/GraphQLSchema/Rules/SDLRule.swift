/// The checks of a type system document, by the names that all engines share.
///
/// `typeSystem` stands for the checks of the type system outside of the rules: the reference
/// implementation's `validateSchema`.
package enum SDLRule: String, Sendable, CaseIterable {
  case loneSchemaDefinition = "LoneSchemaDefinitionRule"
  case uniqueOperationTypes = "UniqueOperationTypesRule"
  case uniqueTypeNames = "UniqueTypeNamesRule"
  case uniqueEnumValueNames = "UniqueEnumValueNamesRule"
  case uniqueFieldDefinitionNames = "UniqueFieldDefinitionNamesRule"
  case uniqueArgumentDefinitionNames = "UniqueArgumentDefinitionNamesRule"
  case uniqueDirectiveNames = "UniqueDirectiveNamesRule"
  case knownTypeNames = "KnownTypeNamesRule"
  case knownDirectives = "KnownDirectivesRule"
  case uniqueDirectivesPerLocation = "UniqueDirectivesPerLocationRule"
  case possibleTypeExtensions = "PossibleTypeExtensionsRule"
  case knownArgumentNamesOnDirectives = "KnownArgumentNamesOnDirectivesRule"
  case uniqueArgumentNames = "UniqueArgumentNamesRule"
  case uniqueInputFieldNames = "UniqueInputFieldNamesRule"
  case providedRequiredArgumentsOnDirectives = "ProvidedRequiredArgumentsOnDirectivesRule"
  case typeSystem = "TypeSystemRule"
}
