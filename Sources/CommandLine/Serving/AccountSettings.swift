import Accounts
import Cryptography
import Foundation

extension AccountInputs.Settings {
  /// - Throws: `UsageError` naming the setting at fault.
  mutating func read(_ options: CommandOptions) throws {
    if let file = options.text("identity-providers") {
      do {
        providers = try IdentityProviders(file: file)
      } catch let fault as IdentityProviders.Fault {
        throw UsageError("\(options.origin("identity-providers")): \(fault)")
      }
    }
    box = try Self.box(options)
    // Half of the cores at most: the rest is for everybody who is not signing in.
    queue.concurrency = max(1, ProcessInfo.processInfo.activeProcessorCount / 2)
    if let file = options.text("common-passwords") {
      guard let list = try? String(contentsOfFile: file, encoding: .utf8) else {
        throw UsageError("\(options.origin("common-passwords")): \"\(file)\" cannot be read.")
      }
      rules = PasswordRules(common: list)
    } else if let list = Self.installedList {
      rules = PasswordRules(common: list)
    } else {
      Console.say(
        "warning: no list of common passwords was found; they will be taken (script/setup has one)")
    }
  }

  /// Where the embedded database's folder has the key of its demo identity provider.
  static func demoKeyFile(_ options: CommandOptions) -> String {
    (options.text("data") ?? ".sociograph") + "/identity-key.json"
  }

  /// What stands in for identity providers where demo data is tried, made at the first start; nil for a
  /// database that is somebody's own, and where providers are named.
  static func demoProvider(
    _ options: CommandOptions, sql: String?
  ) throws -> DemoIdentityProvider? {
    guard options.text("database") == nil, options.text("identity-providers") == nil, let sql,
      FileManager.default.fileExists(atPath: sql + "/demo")
    else { return nil }
    let file = demoKeyFile(options)
    if let provider = try DemoIdentityProvider(file: file) { return provider }
    try DemoIdentityProvider.create(file: file)
    return try DemoIdentityProvider(file: file)
  }

  /// Of the file that `--jwt-keys` names.
  static func tokenIssuers(_ options: CommandOptions) throws -> IdentityProviders? {
    guard let file = options.text("jwt-keys") else { return nil }
    do {
      return try IdentityProviders(file: file)
    } catch let fault as IdentityProviders.Fault {
      throw UsageError("\(options.origin("jwt-keys")): \(fault)")
    }
  }

  /// Of the file that `--sealing-key` names.
  static func box(_ options: CommandOptions) throws(UsageError) -> SecretBox? {
    guard let file = options.text("sealing-key") else { return nil }
    guard let text = try? String(contentsOfFile: file, encoding: .utf8),
      let key = Hexadecimal.decode(text.filter { !$0.isWhitespace }),
      let box = SecretBox(key: key)
    else {
      throw UsageError(
        "\(options.origin("sealing-key")): \"\(file)\" must hold 32 bytes in hexadecimal.")
    }
    return box
  }

  /// Where setup puts the list: beside the program, or in the machine's share.
  private static var installedList: String? {
    let program = Bundle.main.executablePath ?? ""
    let folder = URL(fileURLWithPath: program).resolvingSymlinksInPath().deletingLastPathComponent()
    return [
      folder.appendingPathComponent("../share/sociograph/common-passwords").standardizedFileURL
        .path,
      "/usr/local/share/sociograph/common-passwords",
    ].lazy.compactMap { try? String(contentsOfFile: $0, encoding: .utf8) }.first
  }
}
