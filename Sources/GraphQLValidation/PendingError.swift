import GraphQLLanguage
import GraphQLResponse

/// A finding whose positions are still byte offsets, and whose place in the report is already
/// fixed.
///
/// Rules that need the whole document reserve a place during the walk and report later.
struct PendingError {
  let turn: Int
  let message: String
  let positions: [Position]
  let rule: ValidationRule
  /// The code, which differs for limits.
  var code = ErrorCode.validationFailed
}
