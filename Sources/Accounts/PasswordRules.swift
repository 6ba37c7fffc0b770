/// Which passwords are taken: 8 to 256 characters of any kind, and none that everybody tries first
/// (R19).
package struct PasswordRules: Sendable {
  package enum Fault: Sendable, Equatable { case missing, tooShort, tooLong, common }

  package static let minimumCharacters = 8
  package static let maximumCharacters = 256

  /// In lower case.
  private let common: Set<String>

  /// From a list of common passwords, one a line.
  package init(common list: String = "") {
    common = Set(list.split(whereSeparator: \.isNewline).map { $0.lowercased() })
  }

  /// Nil for a password that is taken. Characters are Unicode scalars, so that none is lost by the
  /// composing of another system.
  package func fault(in password: String) -> Fault? {
    if password.allSatisfy(\.isWhitespace) { return .missing }
    let length = password.unicodeScalars.count
    if length < Self.minimumCharacters { return .tooShort }
    if length > Self.maximumCharacters { return .tooLong }
    return common.contains(password.lowercased()) ? .common : nil
  }
}
