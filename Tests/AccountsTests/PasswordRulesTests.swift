import Testing

@testable import Accounts

@Suite struct PasswordRulesTests {
  private let rules = PasswordRules(common: "password\nTrustNo1\n\n12345678\n")

  @Test(arguments: [
    ("sevench", PasswordRules.Fault.tooShort), ("", .missing), (" \n     ", .missing),
    (String(repeating: "x", count: 257), .tooLong), ("password", .common), ("PassWord", .common),
    ("trustno1", .common), ("12345678", .common),
  ])
  func `a password with a fault`(password: String, fault: PasswordRules.Fault) {
    #expect(rules.fault(in: password) == fault)
  }

  @Test(arguments: [
    "eightchr", "password ", String(repeating: "x", count: 256), "пароль-мой", "🐎🔋🐎🔋🐎🔋🐎🔋",
  ])
  func `a password that is taken`(password: String) {
    #expect(rules.fault(in: password) == nil)
  }
}
