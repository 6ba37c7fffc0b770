import GraphQLLanguage
import GraphQLResponse

/// A finding whose places are still byte offsets, and whose turn in the report is already fixed.
///
/// Rules that need the whole document take their turn while the walk passes and report later.
struct PendingError {
  let turn: Int
  let message: String
  let positions: [Position]
  let rule: ValidationRule
  /// Another one for a limit.
  var code = ErrorCode.validationFailed
}
