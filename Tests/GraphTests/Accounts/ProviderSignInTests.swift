import Accounts
import Foundation
import JSON
import TestSupport
import Testing
import TokenSupport

/// Signing up and in with an identity of Facebook, Google, or another provider.
@Suite(.usesCluster) struct ProviderSignInTests {
  private static let names = ["AOL", "APPLE", "FACEBOOK", "GOOGLE", "TWITTER", "YAHOO"]

  /// Each provider has an issuer and a key of its own.
  private static let signers = Dictionary(
    uniqueKeysWithValues: names.map { ($0, TokenSigner(.p256, name: $0)) })

  private static let server = Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var entries: [String] = []
    for (name, signer) in signers {
      try signer.keySet.write(
        to: folder.appendingPathComponent("\(name).json"), atomically: true, encoding: .utf8)
      entries.append(
        #""\#(name)": {"issuer": "https://\#(name).example", "audience": "gtio", "keys": "\#(name).json"}"#
      )
    }
    let file = folder.appendingPathComponent("providers.json")
    try "{\(entries.joined(separator: ","))}".write(to: file, atomically: true, encoding: .utf8)
    var accounts = try TestAccounts.settings
    accounts.providers = try IdentityProviders(file: file.path)
    let settings = accounts
    return try GraphServer(
      database: TestCluster.newDatabase(migrated: true), settings: { $0.accounts = settings })
  }

  private var graph: GraphServer { get throws { try Self.server.get() } }

  /// Returns the credential that a provider issues to a known user's device.
  private func credential(
    _ provider: String, _ subject: String, _ more: String = "", signedBy signer: String? = nil,
    lasts: Int = 600
  ) throws -> JSONValue {
    let end = Int(Date().timeIntervalSince1970) + lasts
    let signer = try #require(Self.signers[signer ?? provider])
    return .string(
      signer.sign(
        """
        {"iss":"https://\(provider).example","aud":"gtio","sub":"\(subject)","exp":\(end),
        "jti":"\(UUID())"\(more)}
        """, header: ["kid": provider]))
  }

  private func signIn(_ provider: String, _ credential: JSONValue, allowSignUp: Bool) throws
    -> JSONValue
  {
    try graph.payload(
      "signInWithProvider(provider: \(provider), credential: $it, allowSignUp: \(allowSignUp))",
      "isNewUser token viewer { linkedProviders user { id username displayName } }",
      ["it: String!": credential], as: nil)
  }

  private func refusals(_ payload: JSONValue) -> [Refusal] {
    (payload["userErrors"]?.array ?? []).map { Refusal($0) }
  }

  private func person(_ payload: JSONValue) throws -> Person {
    try GraphServer.person(
      payload, username: try #require(payload.at("viewer.user.username")?.string))
  }

  @Test func `GTIO-1.3a: a new user signs up with Facebook, by Facebook's word alone`() throws {
    let subject = GraphData.unique("f")
    let forged = try signIn(
      "FACEBOOK", credential("FACEBOOK", subject, signedBy: "GOOGLE"), allowSignUp: true)
    #expect(refusals(forged) == [Refusal("WRONG_CREDENTIALS", "credential")])
    #expect(forged["token"] == .null)
    let made = try signIn(
      "FACEBOOK", credential("FACEBOOK", subject, #","name":"Zoë F.""#), allowSignUp: true)
    #expect(made["userErrors"] == [])
    #expect(made["isNewUser"] == true)
    #expect(made.at("viewer.linkedProviders") == ["FACEBOOK"])
    // `isNewUser` leads to the profile, which is not complete.
    let zoe = try person(made)
    let seen = try graph.data(
      "{ viewer { missingProfileFields user { id displayName } } }", as: zoe)
    #expect(
      seen.at("viewer.user") == ["id": zoe.json, "displayName": "Zoë F."])
    #expect(
      seen.at("viewer.missingProfileFields")
        == ["AVATAR", "BIO", "WEBSITE", "HOME", "ADDRESS", "EMAIL"])
  }

  @Test func `GTIO-1.4a: a returning user signs in with Facebook, an unknown one does not`() throws
  {
    let subject = GraphData.unique("f")
    let name = GraphData.unique("zoe")
    func token() throws -> JSONValue {
      try credential("FACEBOOK", subject, #","preferred_username":"\#(name)""#)
    }
    #expect(
      refusals(try signIn("FACEBOOK", token(), allowSignUp: false))
        == [Refusal("NOT_FOUND", "credential")])
    let query = "query($name: String!) { user(by: {username: $name}) { id } }"
    #expect(try graph.data(query, ["name": .string(name)]) == ["user": nil])
    let made = try signIn("FACEBOOK", token(), allowSignUp: true)
    let back = try signIn("FACEBOOK", token(), allowSignUp: false)
    #expect(back["isNewUser"] == false)
    #expect(try person(back).key == person(made).key)
    #expect(try person(back).token != person(made).token)
    for session in [try person(back), try person(made)] {
      #expect(
        try graph.data("{ viewer { user { username } } }", as: session)
          == ["viewer": ["user": ["username": .string(name)]]])
    }
  }

  @Test(arguments: ["AOL", "APPLE", "GOOGLE", "TWITTER", "YAHOO"])
  func `GTIO-1.4b: a returning user signs in with the others`(provider: String) throws {
    let subject = GraphData.unique("s")
    func token() throws -> JSONValue { try credential(provider, subject) }
    #expect(
      refusals(try signIn(provider, token(), allowSignUp: false))
        == [Refusal("NOT_FOUND", "credential")])
    let made = try person(signIn(provider, token(), allowSignUp: true))
    let back = try signIn(provider, token(), allowSignUp: false)
    #expect(back.at("viewer.linkedProviders") == [.string(provider)])
    #expect(try person(back).key == made.key)
    // The same name at another provider is another person.
    #expect(
      refusals(try signIn("FACEBOOK", credential("FACEBOOK", subject), allowSignUp: false))
        == [Refusal("NOT_FOUND", "credential")])
  }

  @Test(arguments: ["AOL", "APPLE", "GOOGLE", "TWITTER", "YAHOO"])
  func `GTIO-1.5a: a new user signs up with the others`(provider: String) throws {
    let made = try signIn(provider, credential(provider, GraphData.unique("s")), allowSignUp: true)
    #expect(made["isNewUser"] == true)
    #expect(made.at("viewer.linkedProviders") == [.string(provider)])
    #expect(
      refusals(try signIn(provider, credential("FACEBOOK", "s"), allowSignUp: true))
        == [Refusal("WRONG_CREDENTIALS", "credential")])
  }

  @Test func `GTIO-1.5b: signing up with a known identity signs in, to the one account`() throws {
    let name = GraphData.unique("zoe")
    let subject = GraphData.unique("s")
    func token() throws -> JSONValue {
      try credential("GOOGLE", subject, #","preferred_username":"\#(name)""#)
    }
    let first = try signIn("GOOGLE", token(), allowSignUp: true)
    let second = try signIn("GOOGLE", token(), allowSignUp: true)
    #expect(first["isNewUser"] == true)
    #expect(second["isNewUser"] == false)
    #expect(first.at("viewer.user.id") == second.at("viewer.user.id"))
    let found = try graph.data(
      "query($name: String!) { users(search: $name) { totalCount } }", ["name": .string(name)])
    #expect(found == ["users": ["totalCount": 1]])
    // An identity linked later signs in to the same account too.
    let zoe = try person(second)
    let known = GraphData.unique("t")
    func twitter() throws -> JSONValue { try credential("TWITTER", known) }
    try graph.mutate(
      "linkProvider(provider: TWITTER, credential: $it)", ["it: String!": twitter()], as: zoe)
    let third = try signIn("TWITTER", twitter(), allowSignUp: true)
    #expect(third["isNewUser"] == false)
    #expect(try person(third).key == zoe.key)
  }

  @Test func `a credential is used once, to sign in or to link`() throws {
    let credential = try credential("GOOGLE", GraphData.unique("s"))
    let wrong = [Refusal("WRONG_CREDENTIALS", "credential")]
    // A refusal does not use it.
    #expect(
      refusals(try signIn("GOOGLE", credential, allowSignUp: false))
        == [Refusal("NOT_FOUND", "credential")])
    let outcomes = try crowd(of: 6) { _ in
      try signIn("GOOGLE", credential, allowSignUp: true)["token"] != .null
    }
    #expect(outcomes.count { $0 } == 1)
    #expect(refusals(try signIn("GOOGLE", credential, allowSignUp: false)) == wrong)
    let subject = GraphData.unique("s")
    let person = try person(
      signIn("AOL", self.credential("AOL", GraphData.unique("s")), allowSignUp: true))
    let linked = try self.credential("GOOGLE", subject)
    let link = "linkProvider(provider: GOOGLE, credential: $it)"
    // Who links what is linked already changes nothing by it.
    for _ in 0..<2 { try graph.mutate(link, ["it: String!": linked], as: person) }
    #expect(refusals(try signIn("GOOGLE", linked, allowSignUp: false)) == wrong)
    try graph.mutate("unlinkProvider(provider: GOOGLE)", as: person)
    #expect(try graph.refusals(link, ["it: String!": linked], as: person) == wrong)
    let fresh = try self.credential("GOOGLE", subject)
    try graph.mutate(link, ["it: String!": fresh], as: person)
    // What has expired need not be remembered.
    try graph.data().run("UPDATE spent_credential SET expires_at = now() - interval '1 second'")
    try graph.data().run("SELECT forget_tokens()")
    #expect(
      try graph.data().run("SELECT digest FROM spent_credential WHERE expires_at < now()").isEmpty)
  }

  @Test func `GTIO-1.6a: a failed sign-in says why, makes no session, and there is help`() throws {
    let staff = try graph.data().person("staff", roles: ["MEMBER", "STAFF"])
    let app = GraphData.unique("gtio")
    try graph.mutate(
      "setAppConfig(app: $app, input: {supportEmail: \"help@gtio.example\"})",
      ["app: String!": .string(app)], as: staff)
    let subject = GraphData.unique("s")
    for (token, refusal) in [
      (try credential("YAHOO", subject), Refusal("NOT_FOUND", "credential")),
      (try credential("YAHOO", subject, lasts: -600), Refusal("WRONG_CREDENTIALS", "credential")),
      (try credential("AOL", subject), Refusal("WRONG_CREDENTIALS", "credential")),
      (.string("no token"), Refusal("WRONG_CREDENTIALS", "credential")),
    ] {
      let failed = try signIn("YAHOO", token, allowSignUp: false)
      #expect(refusals(failed) == [refusal])
      #expect(failed.at("userErrors.0.message")?.string?.isEmpty == false)
      #expect(failed["token"] == .null)
      #expect(failed["isNewUser"] == .null)
    }
    #expect(
      try graph.data(
        "query($app: String!) { appConfig(app: $app) { supportEmail } }", ["app": .string(app)])
        == ["appConfig": ["supportEmail": "help@gtio.example"]])
  }

  @Test func `GTIO-1.9a: who signed out finds the intro again, and signs in again`() throws {
    let staff = try graph.data().person("staff", roles: ["MEMBER", "STAFF"])
    let app = GraphData.unique("gtio")
    try graph.mutate(
      "setAppConfig(app: $app, input: {supportEmail: \"a@b.example\", introImages: $images})",
      ["app: String!": .string(app), "images: [URL!]": ["https://i.example/1"]], as: staff)
    let subject = GraphData.unique("s")
    func token() throws -> JSONValue { try credential("AOL", subject) }
    let person = try person(signIn("AOL", token(), allowSignUp: true))
    try graph.mutate("signOut", as: person)
    #expect(try graph.errorCodes("{ viewer { email } }", as: person) == ["UNAUTHENTICATED"])
    #expect(
      try graph.data(
        "query($app: String!) { viewer { email } appConfig(app: $app) { introImages } }",
        ["app": .string(app)])
        == ["viewer": nil, "appConfig": ["introImages": ["https://i.example/1"]]])
    let back = try self.person(signIn("AOL", token(), allowSignUp: false))
    #expect(back.key == person.key)
    #expect(
      try graph.data("{ viewer { user { id } } }", as: back).at("viewer.user.id") == back.json)
  }

  @Test func `PK-SYNC.e: an account comes from Facebook or Twitter`() throws {
    let server = try GraphServer.newcomers
    for provider in ["FACEBOOK", "TWITTER"] {
      let name = GraphData.unique("student")
      let subject = GraphData.unique("s")
      func signIn(_ allow: Bool) throws -> JSONValue {
        try server.payload(
          "signInWithProvider(provider: \(provider), credential: $it, allowSignUp: \(allow))",
          "isNewUser token viewer { user { id username } linkedProviders }",
          ["it: String!": TestAccounts.credential(subject, #","preferred_username":"\#(name)""#)],
          as: nil)
      }
      let unknown = try signIn(false)
      #expect(unknown["token"] == .null)
      #expect(unknown.at("userErrors.0.code") == "NOT_FOUND")
      let made = try signIn(true)
      #expect(made["isNewUser"] == true)
      #expect(made.at("viewer.user.username") == .string(name))
      #expect(made.at("viewer.linkedProviders") == [.string(provider)])
      let again = try signIn(false)
      #expect(again["isNewUser"] == false)
      #expect(again.at("viewer.user.id") == made.at("viewer.user.id"))
    }
  }
}
