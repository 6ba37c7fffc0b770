import Accounts
import Cryptography
import Foundation

extension AccountInputs.Settings {
  /// Reads the options.
  ///
  /// - Throws: a `UsageError` that names the setting at fault.
  mutating func read(_ options: CommandOptions) throws {
    if let file = options.text("identity-providers") {
      do {
        providers = try IdentityProviders(file: file)
      } catch let fault as IdentityProviders.Fault {
        throw UsageError("\(options.origin("identity-providers")): \(fault)")
      }
    }
    box = try Self.box(options)
    // At most half of the cores. The rest serves all other requests.
    queue.concurrency = max(1, ProcessInfo.processInfo.activeProcessorCount / 2)
    if let file = options.text("common-passwords") {
      guard let list = try? String(contentsOfFile: file, encoding: .utf8) else {
        throw UsageError("\(options.origin("common-passwords")): \"\(file)\" cannot be read.")
      }
      rules = PasswordRules(common: list)
    } else if let list = Self.installedList {
      rules = PasswordRules(common: list)
    } else {
      Console.warn(
        "no list of common passwords was found; common passwords are accepted. script/setup "
          + "installs a list")
    }
  }

  /// Returns the path of the demo identity provider's key in the embedded database's folder.
  static func demoKeyFile(_ options: CommandOptions) -> String {
    (options.text("data") ?? ".sociograph") + "/identity-key.json"
  }

  /// Returns the substitute for identity providers, for demo data, created at the first start; nil
  /// for another database, or if providers are named.
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

  /// Returns the issuers in the file of `--jwt-keys`.
  static func tokenIssuers(_ options: CommandOptions) throws -> IdentityProviders? {
    guard let file = options.text("jwt-keys") else { return nil }
    do {
      return try IdentityProviders(file: file, allowsSecrets: true)
    } catch let fault as IdentityProviders.Fault {
      throw UsageError("\(options.origin("jwt-keys")): \(fault)")
    }
  }

  /// Returns the box of the file of `--sealing-key`.
  static func box(_ options: CommandOptions) throws(UsageError) -> SecretBox? {
    guard let file = options.text("sealing-key") else { return nil }
    return try box(file: file, from: options.origin("sealing-key"))
  }

  /// Returns the box of the key in the embedded database's folder; nil for another database, or
  /// while there is no such key.
  ///
  /// - Parameter isCreating: whether to create the key if it is missing.
  static func embeddedBox(_ options: CommandOptions, isCreating: Bool) throws -> SecretBox? {
    guard options.text("database") == nil else { return nil }
    let file = (options.text("data") ?? ".sociograph") + "/sealing-key"
    if !FileManager.default.fileExists(atPath: file) {
      guard isCreating else { return nil }
      let key = RandomBytes.make(SecretBox.keyBytes)
      try KeyFile.create(file, containing: Hexadecimal.encode(key) + "\n")
    }
    return try box(file: file, from: "the embedded database")
  }

  private static func box(file: String, from origin: String) throws(UsageError) -> SecretBox {
    guard let text = try? String(contentsOfFile: file, encoding: .utf8),
      let key = Hexadecimal.decode(text.filter { !$0.isWhitespace }),
      let box = SecretBox(key: key)
    else {
      throw UsageError(
        "\(origin): \"\(file)\" must hold 32 bytes in hexadecimal.")
    }
    return box
  }

  /// The path where setup installs the list: next to the program, or in the machine's share.
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
