import Accounts
import Cryptography
import Foundation
import GraphQLPlanning
import JSON
import TestSupport
import TokenSupport

/// Account settings for tests that sign people up: passwords that are cheap to hash, a short list
/// of common ones, and identity providers whose tokens the tests sign.
enum TestAccounts {
  static let signer = TokenSigner(.p256, name: "key")

  static var settings: AccountInputs.Settings { get throws { try made.get() } }

  private static let made = Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let keys = folder.appendingPathComponent("keys.json")
    try signer.keySet.write(to: keys, atomically: true, encoding: .utf8)
    // YAHOO has no keys.
    let providers = folder.appendingPathComponent("providers.json")
    let provider = #"{"issuer": "https://id.example", "audience": "us", "keys": "keys.json"}"#
    try
      "{\(["AOL", "FACEBOOK", "GOOGLE", "TWITTER"].map { "\"\($0)\": \(provider)" }.joined(separator: ", "))}"
      .write(to: providers, atomically: true, encoding: .utf8)
    var accounts = AccountInputs.Settings()
    accounts.strength = PasswordHash.Strength(memoryBytes: 1 << 20, passes: 1)
    accounts.rules = PasswordRules(common: "password1\n")
    accounts.queue.maximumWaiting = 1_000
    accounts.queue.maximumWait = .seconds(600)
    accounts.providers = try IdentityProviders(file: providers.path)
    accounts.box = SecretBox(key: Array(repeating: 7, count: 32))
    return accounts
  }

  /// An identity token of any of the providers, which signs in once.
  ///
  /// - Parameter more: further claims as JSON, each with a comma before it.
  static func credential(_ subject: String, _ more: String = "") -> JSONValue {
    let end = Int(Date().timeIntervalSince1970) + 600
    return .string(
      signer.sign(
        #"{"iss":"https://id.example","aud":"us","sub":"\#(subject)","exp":\#(end),"#
          + #""jti":"\#(UUID())"\#(more)}"#,
        header: ["kid": "key"]))
  }
}

extension GraphServer {
  /// With tables and no rows, for tests that sign people up. Tests run at the same time, as on
  /// `shared`.
  static var newcomers: GraphServer { get throws { try newcomersServer.get() } }

  /// As after the first start, for a test that must be alone.
  static func new() throws -> GraphServer {
    let accounts = try TestAccounts.settings
    return try GraphServer(
      database: TestCluster.newDatabase(migrated: true), settings: { $0.accounts = accounts })
  }

  private static let newcomersServer = Result { try new() }

  /// An account made as people make theirs, with the password `correct horse`.
  ///
  /// - Parameters:
  ///   - stem: of the username, which is made unique.
  ///   - more: further fields of the input.
  func signUp(_ stem: String, _ more: String = "") throws -> Person {
    let name = GraphData.unique(stem)
    let payload = try mutate(
      "signUp(input: {username: $name, password: \"correct horse\" \(more)})",
      "token viewer { user { id } }", ["name: String!": .string(name)], as: nil)
    return try Self.person(payload, username: name)
  }

  /// The same person with another session, that of another device.
  func signInAgain(_ person: Person) throws -> Person {
    let payload = try mutate(
      "signIn(username: $name, password: \"correct horse\")",
      "token viewer { user { id } }", ["name: String!": .string(person.username)],
      as: nil)
    return try Self.person(payload, username: person.username)
  }

  /// Returns the person whom a payload with `token viewer { user { id } }` signs in.
  static func person(_ payload: JSONValue, username: String) throws -> Person {
    guard let token = payload.at("token")?.string,
      let id = payload.at("viewer.user.id")?.string, let number = NodeID.decode(id)
    else { throw GraphTestFailure("nobody is signed in: \(payload)") }
    return Person(key: NodeKey(number), username: username, token: token)
  }

  /// The id of what a mutation made.
  ///
  /// - Parameter name: the payload's field.
  func make(
    _ field: String, _ name: String, _ variables: KeyValuePairs<String, JSONValue> = [:],
    as person: Person
  ) throws -> NodeKey {
    let payload = try mutate(field, "\(name) { id }", variables, as: person)
    guard let id = payload.at("\(name).id")?.string, let number = NodeID.decode(id) else {
      throw GraphTestFailure("\(field) made nothing: \(payload)")
    }
    return NodeKey(number)
  }
}
