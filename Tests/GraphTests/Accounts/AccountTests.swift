import Glibc
import JSON
import TestSupport
import Testing
import TokenSupport

/// Accounts, over HTTP: from signing up to deleting oneself.
@Suite(.usesCluster) struct AccountTests {
  private var graph: GraphServer { get throws { try GraphServer.newcomers } }

  private let session = "isNewUser token viewer { user { username displayName } email }"

  private func signUp(_ stem: String, _ more: String = "") throws -> Person {
    try graph.signUp(stem, more)
  }

  private func isSignedIn(_ person: Person) throws -> Bool {
    try graph.execute("{ viewer { email } }", as: person).at("data.viewer.email") != nil
      || graph.execute("{ viewer { user { id } } }", as: person).at("data.viewer.user.id") != nil
  }

  /// Returns the token in the latest mail to a person.
  private func mailed(to person: Person) throws -> String {
    let rows = try graph.data().run(
      "SELECT body FROM outbox WHERE user_id = $1 ORDER BY id DESC LIMIT 1", [person])
    let body = try #require(rows.first?.first ?? nil)
    return try #require(body.firstMatch(of: /[0-9a-f]{64}/).map { String($0.output) })
  }

  @Test func `an account is made and signed in, and its name is taken whatever its case`() throws {
    let ada = try signUp("Ada", ", email: \"ada@example.org\", displayName: \"Ada L.\"")
    #expect(
      try graph.data("{ viewer { email isEmailVerified user { displayName } } }", as: ada)
        == [
          "viewer": [
            "email": "ada@example.org", "isEmailVerified": false, "user": ["displayName": "Ada L."],
          ]
        ])
    #expect(
      try graph.refusals(
        "signUp(input: {username: $name, password: \"password1\", email: \"nobody\"})",
        ["name: String!": .string(ada.username.uppercased())], as: nil)
        == [
          Refusal("TAKEN", "input", "username"), Refusal("COMMON_PASSWORD", "input", "password"),
          Refusal("INVALID", "input", "email"),
        ])
    #expect(
      try graph.refusals("signUp(input: {username: \"  \", password: \"\"})", as: nil)
        == [Refusal("REQUIRED", "input", "username"), Refusal("REQUIRED", "input", "password")])
  }

  @Test func `the database never gets a password, and keeps no token`() throws {
    let ada = try signUp("ada")
    let data = try graph.data()
    let stored = try #require(
      try data.run("SELECT hash FROM password WHERE user_id = $1", [ada])[0][0])
    #expect(stored.hasPrefix("$argon2id$"))
    let found = try data.run(
      "SELECT count(*) FROM session WHERE token_hash = sha256(convert_to($1, 'UTF8'))", [ada.token])
    #expect(found[0][0] == "1")
  }

  @Test func `signing in wants the password, and says the same of who is not there`() throws {
    let ada = try signUp("ada")
    func attempt(_ name: String, _ password: String) throws -> JSONValue {
      try graph.payload(
        "signIn(username: $name, password: $password)", session,
        ["name: String!": .string(name), "password: String!": .string(password)], as: nil)
    }
    let done = try attempt(ada.username.uppercased(), "correct horse")
    #expect(done.at("viewer.user.username")?.string == ada.username)
    #expect(done["isNewUser"] == false)
    let wrong = try attempt(ada.username, "wrong horse")
    #expect(wrong["token"] == .null)
    #expect(wrong == (try attempt(GraphData.unique("nobody"), "correct horse")))
    #expect(wrong.at("userErrors.0.code") == "WRONG_CREDENTIALS")
  }

  @Test func `who guesses is made to wait, and nobody else is`() throws {
    let ada = try signUp("ada")
    let eve = try signUp("eve")
    var codes: [String] = []
    for _ in 0..<7 {
      let answer = try graph.execute(
        "mutation { signIn(username: \"\(ada.username)\", password: \"a guess\") { userErrors { code } } }"
      )
      codes.append(
        answer.at("data.signIn.userErrors.0.code")?.string
          ?? answer.at("errors.0.extensions.code")?.string ?? "")
    }
    #expect(
      codes.prefix(5) == [
        "WRONG_CREDENTIALS", "WRONG_CREDENTIALS", "WRONG_CREDENTIALS",
        "WRONG_CREDENTIALS", "WRONG_CREDENTIALS",
      ])
    #expect(codes.last == "RATE_LIMITED")
    #expect(
      try graph.refusals(
        "signIn(username: $name, password: \"correct horse\")",
        ["name: String!": .string(eve.username)], as: nil) == [])
  }

  @Test func `signing out ends the session at once, revoking ends another`() throws {
    let ada = try signUp("ada")
    let other = try graph.signInAgain(ada)
    #expect(try isSignedIn(ada))
    #expect(try isSignedIn(other))
    let sessions = try graph.data("{ viewer { sessions { id isCurrent } } }", as: ada)
    #expect(sessions.list("viewer.sessions", "isCurrent") == [false, true])
    let node = "query($id: ID!) { node(id: $id) { ... on Session { id device } } }"
    let own = try #require(sessions.at("viewer.sessions.1.id"))
    #expect(try graph.data(node, ["id": own], as: ada).at("node.id") == own)
    for person in [nil, try signUp("eve")] {
      #expect(try graph.data(node, ["id": own], as: person) == ["node": nil])
    }
    // The latest stands first.
    let id = try #require(sessions.at("viewer.sessions.0.id"))
    try graph.mutate("revokeSession(sessionId: $id)", ["id: ID!": id], as: ada)
    #expect(try !isSignedIn(other))
    #expect(try isSignedIn(ada))
    try graph.mutate("signOut", as: ada)
    #expect(try !isSignedIn(ada))
  }

  @Test func `an old session ends another with the password only, and itself without`() throws {
    let ada = try signUp("ada")
    let other = try graph.signInAgain(ada)
    let sessions = try graph.data("{ viewer { sessions { id } } }", as: ada)
    // The latest stands first.
    let id = try #require(sessions.at("viewer.sessions.0.id"))
    let own = try #require(sessions.at("viewer.sessions.1.id"))
    _ = try graph.data().run(
      "UPDATE session SET created_at = now() - interval '16 minutes' WHERE user_id = \(ada.key)")
    func refusals(_ arguments: String, _ target: JSONValue) throws -> [Refusal] {
      try graph.refusals(
        "revokeSession(sessionId: $id\(arguments))", ["id: ID!": target], as: ada)
    }
    #expect(try refusals("", id) == [Refusal("REQUIRED", "password")])
    #expect(
      try refusals(", password: \"wrong horse\"", id) == [Refusal("WRONG_CREDENTIALS", "password")])
    #expect(try isSignedIn(other))
    try graph.mutate(
      "revokeSession(sessionId: $id, password: \"correct horse\")", ["id: ID!": id], as: ada)
    #expect(try !isSignedIn(other))
    try graph.mutate("revokeSession(sessionId: $id)", ["id: ID!": own], as: ada)
    #expect(try !isSignedIn(ada))
  }

  @Test func `nobody's sessions but one's own are found, before a password is asked for`() throws {
    let (ada, staff) = (try signUp("ada"), try signUp("staff"))
    let data = try graph.data()
    try data.run("UPDATE app_user SET roles = '{MEMBER,STAFF}' WHERE id = $1", [staff])
    let id = try #require(
      graph.data("{ viewer { sessions { id } } }", as: ada).at("viewer.sessions.0.id"))
    try data.run(
      "UPDATE session SET created_at = now() - interval '16 minutes' WHERE user_id = $1", [staff])
    for arguments in ["", ", password: \"wrong horse\"", ", password: \"correct horse\""] {
      #expect(
        try graph.refusals(
          "revokeSession(sessionId: $id\(arguments))", ["id: ID!": id], as: staff)
          == [Refusal("NOT_FOUND", "sessionId")], "\(arguments)")
    }
    #expect(try isSignedIn(ada))
  }

  @Test func `a session that another server ended ends here, on every loop`() throws {
    let ada = try signUp("ada")
    let elsewhere = try GraphServer(database: graph.database)
    defer { elsewhere.stop() }
    // Known to every loop of this one.
    for _ in 0..<8 { #expect(try isSignedIn(ada)) }
    let sessions = try elsewhere.data("{ viewer { sessions { id } } }", as: ada)
    let id = try #require(sessions.at("viewer.sessions.0.id"))
    try elsewhere.mutate("revokeSession(sessionId: $id)", ["id: ID!": id], as: ada)
    var isOver = false
    for _ in 0..<1_200 where !isOver {
      isOver = try (0..<8).allSatisfy { _ in try !isSignedIn(ada) }
      if !isOver { usleep(50_000) }
    }
    #expect(isOver)
  }

  @Test func `a new password ends all other sessions`() throws {
    let ada = try signUp("ada")
    let other = try graph.signInAgain(ada)
    #expect(
      try graph.refusals(
        "changePassword(currentPassword: \"wrong horse\", newPassword: \"better horse\")", as: ada)
        == [Refusal("WRONG_CREDENTIALS", "currentPassword")])
    #expect(
      try graph.refusals(
        "changePassword(currentPassword: \"correct horse\", newPassword: \"short\")", as: ada)
        == [Refusal("TOO_SHORT", "newPassword")])
    try graph.mutate(
      "changePassword(currentPassword: \"correct horse\", newPassword: \"better horse\")", as: ada)
    #expect(try !isSignedIn(other))
    #expect(try isSignedIn(ada))
    #expect(
      try graph.refusals(
        "signIn(username: $name, password: \"correct horse\")",
        ["name: String!": .string(ada.username)], as: nil) == [Refusal("WRONG_CREDENTIALS")])
  }

  @Test func `an address is shown to be one's own by a token that works once`() throws {
    let address = GraphData.unique("a") + "@example.org"
    let ada = try signUp("ada", ", email: \"\(address)\"")
    let eve = try signUp("eve", ", email: \"\(address)\"")
    let token = try mailed(to: ada)
    #expect(
      try graph.refusals("verifyEmail(token: $token)", ["token: String!": .string(token)], as: eve)
        == [Refusal("WRONG_CREDENTIALS", "token")])
    let payload = try graph.mutate(
      "verifyEmail(token: $token)", "viewer { isEmailVerified }",
      ["token: String!": .string(token)],
      as: ada)
    #expect(payload == ["viewer": ["isEmailVerified": true], "userErrors": []])
    #expect(
      try graph.refusals("verifyEmail(token: $token)", ["token: String!": .string(token)], as: ada)
        == [Refusal("WRONG_CREDENTIALS", "token")])
    // An address is mailed once in a minute, whoever gives it.
    _ = try graph.data().run(
      """
      DELETE FROM mail_time WHERE key = ANY (
        SELECT sha256(convert_to('VERIFY_EMAIL ' || e, 'UTF8')) FROM unnest(ARRAY[$1, $2]) AS e)
      """, [address, eve])
    try graph.mutate("resendVerification", as: eve)
    #expect(
      try graph.refusals(
        "verifyEmail(token: $token)", ["token: String!": .string(try mailed(to: eve))], as: eve)
        == [Refusal("TAKEN", "token")])
    try graph.mutate(
      "updateProfile(input: {email: $email, currentPassword: \"correct horse\"})",
      ["email: String!": .string("new" + address)], as: ada)
    #expect(
      try graph.data("{ viewer { email isEmailVerified } }", as: ada)
        == ["viewer": ["email": .string("new" + address), "isEmailVerified": false]])
  }

  @Test func `a password is reset by a mailed token, which ends every session`() throws {
    let address = GraphData.unique("a") + "@example.org"
    let ada = try signUp("ada", ", email: \"\(address)\"")
    try graph.mutate(
      "verifyEmail(token: $token)", ["token: String!": .string(try mailed(to: ada))], as: ada)
    for email in [address, "nobody@example.org"] {
      #expect(
        try graph.refusals(
          "requestPasswordReset(email: $email)", ["email: String!": .string(email)], as: nil) == [])
    }
    _ = try graph.data().run("SELECT write_password_resets()")
    let payload = try graph.mutate(
      "resetPassword(token: $token, newPassword: \"better horse\")", session,
      ["token: String!": .string(try mailed(to: ada))], as: nil)
    #expect(payload.at("viewer.user.username")?.string == ada.username)
    #expect(try !isSignedIn(ada))
    #expect(
      try graph.refusals(
        "signIn(username: $name, password: \"better horse\")",
        ["name: String!": .string(ada.username)], as: nil) == [])
  }

  // MARK: Providers

  private func credential(_ subject: String, _ more: String = "") -> JSONValue {
    TestAccounts.credential(subject, more)
  }

  private func signIn(_ credential: JSONValue, provider: String = "GOOGLE", allow: Bool) throws
    -> JSONValue
  {
    try graph.payload(
      "signInWithProvider(provider: \(provider), credential: $it, allowSignUp: \(allow))", session,
      ["it: String!": credential], as: nil)
  }

  @Test func `a provider's token makes one account, and signs in to it after that`() throws {
    let subject = GraphData.unique("s")
    let name = GraphData.unique("zoe")
    func token() -> JSONValue {
      credential(subject, #","preferred_username":"\#(name)","name":"Zoë""#)
    }
    #expect(
      try signIn(token(), allow: false).at("userErrors.0.code") == "NOT_FOUND")
    let first = try signIn(token(), allow: true)
    #expect(first["isNewUser"] == true)
    #expect(first.at("viewer.user.username")?.string == name)
    #expect(first.at("viewer.user.displayName") == "Zoë")
    #expect(try signIn(token(), allow: true)["isNewUser"] == false)
    // Somebody else of that name gets another.
    let second = try signIn(
      credential(GraphData.unique("s"), #","preferred_username":"\#(name)""#), allow: true)
    #expect(second.at("viewer.user.username")?.string == name + "2")
  }

  @Test func `a token of somebody else's making, or for a provider without keys, is refused`()
    throws
  {
    let forged = JSONValue.string(
      TokenSigner(.p256, name: "key").sign(
        #"{"iss":"https://id.example","aud":"us","sub":"1","exp":9999999999}"#))
    #expect(try signIn(forged, allow: true).at("userErrors.0.code") == "WRONG_CREDENTIALS")
    #expect(try signIn(.string(""), allow: true).at("userErrors.0.code") == "WRONG_CREDENTIALS")
    #expect(
      try signIn(credential("1"), provider: "YAHOO", allow: true)["userErrors"]?.array?.map {
        Refusal($0)
      } == [Refusal("NOT_CONFIGURED", "provider")])
  }

  @Test func `a linked account is one's own, its token is sealed, and the last way in stays`()
    throws
  {
    let (ada, eve) = (try signUp("ada"), try signUp("eve"))
    let token = credential(GraphData.unique("s"))
    let link = "linkProvider(provider: GOOGLE, credential: $it, accessToken: \"a secret\")"
    for _ in 0..<2 {
      let payload = try graph.mutate(
        link, "viewer { linkedProviders }", ["it: String!": token], as: ada)
      #expect(payload.at("viewer.linkedProviders") == ["GOOGLE"])
    }
    #expect(
      try graph.refusals(link, ["it: String!": token], as: eve) == [Refusal("TAKEN", "credential")])
    let stored = try graph.data().run(
      "SELECT position('a secret'::bytea IN access_token), length(access_token) FROM identity WHERE user_id = $1",
      [ada])
    #expect(stored == [["0", "48"]])
    try graph.mutate("unlinkProvider(provider: GOOGLE)", as: ada)
    let only = try signIn(credential(GraphData.unique("s")), allow: true)
    let person = Person(
      key: ada.key, username: "", token: try #require(only.at("token")?.string))
    #expect(
      try graph.refusals("unlinkProvider(provider: GOOGLE)", as: person)
        == [Refusal("FORBIDDEN", "provider")])
  }

  @Test func `an account is deleted with what it posted, by its owner`() throws {
    let ada = try signUp("ada")
    let post = try graph.mutate(
      "createTextPost(input: {body: \"mine\"})", "textPost { id }", as: ada)
    #expect(
      try graph.refusals("deleteAccount(password: \"wrong horse\")", as: ada)
        == [Refusal("WRONG_CREDENTIALS", "password")])
    try graph.mutate("deleteAccount(password: \"correct horse\")", as: ada)
    #expect(try !isSignedIn(ada))
    #expect(
      try graph.data(
        "query($id: ID!) { node(id: $id) { id } }",
        ["id": try #require(post.at("textPost.id"))]) == ["node": .null])
  }

  @Test func `an account is made with a text about oneself and a card preference`() throws {
    let ada = try signUp("ada", ", bio: \" Rows. \", cardPreference: POSTCARDS")
    #expect(
      try graph.data("{ viewer { user { bio cardPreference } } }", as: ada)
        == ["viewer": ["user": ["bio": "Rows.", "cardPreference": "POSTCARDS"]]])
    try graph.mutate("updateProfile(input: {website: \" www.example.com/ada\"})", as: ada)
    #expect(
      try graph.data("{ viewer { user { website } } }", as: ada).at("viewer.user.website")
        == "https://www.example.com/ada")
  }
}
