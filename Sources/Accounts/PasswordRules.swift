/// The rules for new passwords: 8 to 256 characters of any kind, and not one of the common
/// passwords.
package struct PasswordRules: Sendable {
  package enum Fault: Sendable, Equatable { case missing, tooShort, tooLong, common }

  package static let minimumCharacters = 8
  package static let maximumCharacters = 256

  /// The common passwords in lower case.
  private let common: Set<String>

  /// Creates rules from a list of common passwords, one per line.
  package init(common list: String = "") {
    common = Set(list.split(whereSeparator: \.isNewline).map { $0.lowercased() })
  }

  /// Returns the reason why a password is refused; nil if it is accepted. Characters are Unicode
  /// scalars, so that the count does not depend on how a system composes them.
  package func fault(in password: String) -> Fault? {
    if password.allSatisfy(\.isWhitespace) { return .missing }
    let length = password.unicodeScalars.count
    if length < Self.minimumCharacters { return .tooShort }
    if length > Self.maximumCharacters { return .tooLong }
    return common.contains(password.lowercased()) ? .common : nil
  }
}
