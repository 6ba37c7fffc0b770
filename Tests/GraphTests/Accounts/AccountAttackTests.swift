import Glibc
import HTTP
import JSON
import Synchronization
import TestSupport
import Testing

/// Attacks with a stolen token, a repeated request, or many requests.
@Suite(.usesCluster) struct AccountAttackTests {
  private var graph: GraphServer { get throws { try GraphServer.newcomers } }

  private let session = "token viewer { user { id username } }"

  /// A person whose address is verified.
  private func verified(_ stem: String) throws -> (person: Person, address: String) {
    let address = GraphData.unique(stem) + "@mail.example"
    let person = try graph.signUp(stem, ", email: \"\(address)\"")
    _ = try graph.data().run("UPDATE app_user SET email_verified = true WHERE id = $1", [person])
    return (person, address)
  }

  /// The person's sessions begin earlier than a recent sign-in does.
  private func age(_ person: Person) throws {
    _ = try graph.data().run(
      "UPDATE session SET created_at = now() - interval '16 minutes' WHERE user_id = $1", [person])
  }

  /// Returns `recipient: subject` of the outbox entries of a person, oldest first.
  private func mails(of person: Person) throws -> [String] {
    try graph.data().run(
      "SELECT recipient || ': ' || subject FROM outbox WHERE user_id = $1 ORDER BY id", [person]
    ).map { $0[0] ?? "" }
  }

  // MARK: Linked accounts

  @Test func `linking and unlinking want the password or a recent sign-in, and mail the owner`()
    throws
  {
    let (ada, address) = try verified("ada")
    let before = try mails(of: ada)
    let credential = TestAccounts.credential(GraphData.unique("thief"))
    func refusals(_ field: String, password: String? = nil) throws -> [Refusal] {
      let more = password.map { ", currentPassword: \"\($0)\"" } ?? ""
      return try field == "link"
        ? graph.refusals(
          "linkProvider(provider: GOOGLE, credential: $it\(more))", ["it: String!": credential],
          as: ada)
        : graph.refusals("unlinkProvider(provider: GOOGLE\(more))", as: ada)
    }
    try age(ada)
    for field in ["link", "unlink"] {
      #expect(try refusals(field) == [Refusal("REQUIRED", "currentPassword")])
      for wrong in ["wrong horse", ""] {
        #expect(
          try refusals(field, password: wrong)
            == [Refusal("WRONG_CREDENTIALS", "currentPassword")])
      }
    }
    // The thief's identity opens nothing, and nothing was mailed.
    #expect(
      try graph.payload(
        "signInWithProvider(provider: GOOGLE, credential: $it)", session,
        ["it: String!": credential], as: nil
      ).at("userErrors.0.code") == "NOT_FOUND")
    #expect(try mails(of: ada) == before)
    // Each of the two is enough; what changes nothing mails nothing.
    #expect(try refusals("link", password: "correct horse") == [])
    #expect(try refusals("link", password: "correct horse") == [])
    #expect(try mails(of: ada) == before + ["\(address): Your account was linked to Google"])
    let recent = try graph.signInAgain(ada)
    try graph.mutate("unlinkProvider(provider: GOOGLE)", as: recent)
    try graph.mutate("unlinkProvider(provider: GOOGLE)", as: recent)
    #expect(
      try mails(of: ada).dropFirst(before.count)
        == [
          "\(address): Your account was linked to Google",
          "\(address): Your account is no longer linked to Google",
        ])
  }

  // MARK: Requests that were done before

  @Test func `a sign-up that is repeated wants the password that the account has now`() throws {
    let name = GraphData.unique("ada")
    let key = GraphData.unique("key")
    func signUp() throws -> JSONValue {
      try graph.payload(
        "signUp(input: {username: $name, password: \"correct horse\"})",
        session, ["name: String!": .string(name)], as: nil, key: key)
    }
    let first = try signUp()
    let ada = try GraphServer.person(first, username: name)
    let again = try signUp()
    #expect(try GraphServer.person(again, username: name).key == ada.key)
    #expect(again.at("token") != first.at("token"))
    let sessions = try graph.data().run("SELECT count(*) FROM session WHERE user_id = $1", [ada])
    func change(_ old: String, _ new: String) throws {
      try graph.mutate(
        "changePassword(currentPassword: \"\(old)\", newPassword: \"\(new)\")", as: ada)
    }
    try change("correct horse", "better horse")
    let late = try signUp()
    #expect(late["token"] == .null)
    #expect(
      late["userErrors"]?.array?.map { Refusal($0) }
        == [Refusal("WRONG_CREDENTIALS", "input", "password")])
    #expect(
      try graph.data().run("SELECT count(*) FROM session WHERE user_id = $1", [ada])
        == [["1"]], "had \(sessions)")
    // It is the password that is compared, not what was made of it.
    try change("better horse", "correct horse")
    #expect(try GraphServer.person(try signUp(), username: name).key == ada.key)
    try graph.mutate("deleteAccount(password: \"correct horse\")", as: ada)
    let gone = try signUp()
    #expect(gone["userErrors"] == late["userErrors"])
    #expect(gone["token"] == .null)
  }

  // MARK: Documents of several fields

  @Test(arguments: [
    "signOut", "deleteAccount", "deleteAccount(password: \"correct horse\")",
    "revokeSession(sessionId: $own)", "resetPassword(token: $token, newPassword: \"better horse\")",
  ])
  func `what stands behind the field that ends the session acts as nobody`(field: String) throws {
    let (ada, _) = try verified("ada")
    let data = try graph.data()
    let own = try #require(
      try data.run("SELECT id FROM session WHERE user_id = $1", [ada])[0][0].flatMap { Int64($0) })
    let token = GraphData.unique("token")
    try data.add(
      "one_time_token",
      [
        "token_hash": try data.run("SELECT sha256(convert_to($1, 'UTF8'))", [token])[0][0],
        "purpose": "RESET_PASSWORD", "user_id": ada.key, "expires_at": "2100-01-01",
      ])
    let body = GraphData.unique("late")
    let answer = try graph.execute(
      """
      mutation($own: ID!, $body: String!\(field.contains("$token") ? ", $token: String!" : "")) {
        early: createTextPost(input: {body: $body}) { textPost { author { id } } }
        end: \(field) { userErrors { code } }
        late: createTextPost(input: {body: $body}) { textPost { author { id } } }
        still: track(event: "late") { userErrors { code } }
        own: revokeSession(sessionId: $own) { userErrors { code } }
      }
      """,
      ["own": NodeKey(own).json, "token": .string(token), "body": .string(body)], as: ada)
    let errors = answer["errors"]?.array ?? []
    #expect(errors.map { $0.at("path.0") } == ["late", "own"], "\(answer)")
    #expect(
      errors.map { $0.at("extensions.code") } == ["UNAUTHENTICATED", "UNAUTHENTICATED"],
      "\(answer)")
    let posts = try data.run("SELECT count(*) FROM post WHERE body = $1", [body])
    #expect(posts == [[field.hasPrefix("deleteAccount") ? "0" : "1"]])
    let tracked = try data.run(
      "SELECT user_id FROM tracking WHERE event = 'late' ORDER BY id DESC LIMIT 1")
    #expect(tracked == [[nil]])
  }

  // MARK: Guesses

  @Test func `of sixteen guesses at once five are compared`() throws {
    let ada = try graph.signUp("ada")
    let graph = try graph
    let codes = try crowd(of: 16) { number in
      let answer = try graph.execute(
        "mutation { signIn(username: \"\(ada.username)\", password: \"guess \(number)\") { userErrors { code } } }"
      )
      return answer.at("data.signIn.userErrors.0.code")?.string
        ?? answer.at("errors.0.extensions.code")?.string ?? "\(answer)"
    }
    let compared = codes.count { $0 == "WRONG_CREDENTIALS" }
    #expect(codes.count { $0 == "RATE_LIMITED" } == 16 - compared, "\(codes)")
    // More than five only where a thread came seconds after the others, when it may.
    #expect((5...8).contains(compared), "\(codes)")
  }

  @Test func `five guesses of a password are for all the fields that ask for it`() throws {
    let ada = try graph.signUp("ada")
    try age(ada)
    let codes = try [
      "changePassword(currentPassword: \"guess\", newPassword: \"better horse\")",
      "deleteAccount(password: \"guess\")",
      "unlinkProvider(provider: AOL, currentPassword: \"guess\")",
      "updateProfile(input: {email: \"a@mail.example\", currentPassword: \"guess\"})",
    ].flatMap { field in
      try (0..<3).map { _ in
        let answer = try graph.execute("mutation { it: \(field) { userErrors { code } } }", as: ada)
        return answer.at("data.it.userErrors.0.code")?.string
          ?? answer.at("errors.0.extensions.code")?.string ?? "\(answer)"
      }
    }
    #expect(codes.prefix(5).allSatisfy { $0 == "WRONG_CREDENTIALS" }, "\(codes)")
    #expect(codes.contains("RATE_LIMITED"), "\(codes)")
  }

  @Test func `a name has the same guesses however its letters are written`() throws {
    let ada = try graph.signUp("kilo")
    // U+0130 and U+212A, of which the database makes i and k, and Swift something else.
    for name in [
      ada.username.replacing("i", with: "\u{130}"), ada.username.replacing("k", with: "\u{212A}"),
    ] {
      #expect(
        try graph.refusals(
          "signIn(username: $name, password: \"correct horse\")",
          ["name: String!": .string(name)], as: nil) == [Refusal("WRONG_CREDENTIALS")])
    }
  }

  @Test(arguments: [false, true])
  func `a flood of sign-ins keeps nobody else from signing in`(isBehindProxy: Bool) throws {
    var accounts = try TestAccounts.settings
    accounts.strength = .least
    accounts.queue.maximumWaiting = 8
    accounts.queue.refusalDelay = .zero
    let graph = try GraphServer(
      database: TestCluster.newDatabase(migrated: true),
      settings: {
        $0.accounts = accounts
        if isBehindProxy { $0.trustedProxies = TrustedProxies(["127.0.0.1"]) ?? TrustedProxies() }
      })
    defer { graph.stop() }
    let people = try (0..<12).map { try graph.signUp("person\($0)") }
    let attackers = try (0..<5).map { try graph.signUp("attacker\($0)") }
    @Sendable func signIn(_ name: String, _ password: String, from address: String) throws
      -> JSONValue
    {
      let query =
        "mutation { signIn(username: \"\(name)\", password: \"\(password)\") { token } }"
      let body = JSONValue.object([JSONValue.Member(name: "query", value: .string(query))])
      let response = try graph.send(
        "POST", "/graphql",
        headers: [("Content-Type", "application/json"), ("X-Forwarded-For", address)],
        body: Array("\(body)".utf8))
      return try JSONParser.parse(response.body)
    }
    let isOver = Mutex(false)
    let refused = Mutex(0)
    let answers = try crowd(of: 25) { number -> [JSONValue] in
      guard number == 24 else {
        // By a proxy from five addresses, with passwords that are right, as no guess is refused then;
        // without one many names that nobody has.
        while !isOver.withLock({ $0 }) {
          let attacker = attackers[number % 5].username
          let answer =
            try isBehindProxy
            ? signIn(attacker, "correct horse", from: "192.0.2.\(number % 5)")
            : signIn(GraphData.unique("nobody"), "a guess", from: "")
          if answer.at("errors.0.extensions.code") == "SERVICE_OVERLOADED" {
            refused.withLock { $0 += 1 }
          }
        }
        return []
      }
      defer { isOver.withLock { $0 = true } }
      return try people.enumerated().map { index, person in
        // The queue was full again since the last one.
        let before = refused.withLock { $0 }
        _ = eventually { refused.withLock { $0 } != before }
        return try signIn(person.username, "correct horse", from: "198.51.100.\(index)")
      }
    }[24]
    #expect(answers.count { $0.at("data.signIn.token")?.string != nil } == 12, "\(answers)")
    #expect(refused.withLock { $0 } > 0)
  }

  // MARK: Mail

  @Test func `mail goes to verified addresses, besides one to verify in a minute`() throws {
    let ada = try graph.signUp("ada")
    let data = try graph.data()
    let product = try data.product("Coat")
    let victims = (0..<10).map { _ in GraphData.unique("victim") + "@mail.example" }
    for victim in victims {
      try graph.mutate(
        "updateProfile(input: {email: $email})", ["email: String": .string(victim)], as: ada)
      try graph.mutate("resendVerification", as: ada)
      #expect(
        try graph.refusals(
          "emailProductToMe(productId: $id)", ["id: ID!": product.json], as: ada)
          == [Refusal("EMAIL_REQUIRED", "productId")])
    }
    let verification = "Is this your e-mail address?"
    #expect(try mails(of: ada) == ["\(victims[0]): \(verification)"])
    // A token that was mailed elsewhere verifies nothing.
    #expect(
      try data.run("SELECT count(*) FROM one_time_token WHERE user_id = $1", [ada]) == [["0"]])
    // Nor do many accounts mail one address more often, or one that ends and begins again.
    let shared = GraphData.unique("victim") + "@mail.example"
    for _ in 0..<3 {
      let eve = try graph.signUp("eve", ", email: \"\(shared)\"")
      _ = try data.run("DELETE FROM outbox WHERE delivered_at IS NOT NULL")
      try graph.mutate("deleteAccount(password: \"correct horse\")", as: eve)
      let bob = try graph.signUp("bob", ", email: \"\(shared.uppercased())\"")
      #expect(try mails(of: bob) == [])
    }
    // The next one a minute later.
    _ = try data.run(
      """
      UPDATE mail_time SET mailed_at = mailed_at - interval '1 minute'
      WHERE key = sha256(convert_to('VERIFY_EMAIL ' || $1, 'UTF8'))
      """, [ada])
    try graph.mutate("resendVerification", as: ada)
    #expect(try mails(of: ada).dropFirst() == ["\(victims[9]): \(verification)"])
    _ = try data.run("UPDATE app_user SET email_verified = true WHERE id = $1", [ada])
    try graph.mutate("emailProductToMe(productId: $id)", ["id: ID!": product.json], as: ada)
    #expect(try mails(of: ada).last?.hasPrefix("\(victims[9]): Coat by ") == true)
  }

  @Test func `these functions alone write to the outbox, and those that mail are verified`() throws
  {
    let data = try graph.data()
    func functions(_ pattern: String) throws -> [String] {
      try data.run(
        "SELECT proname FROM pg_proc WHERE pronamespace = current_schema::regnamespace AND prosrc ~ $1 ORDER BY 1",
        [pattern]
      ).map { $0[0] ?? "" }
    }
    #expect(
      try functions(#"INTO\s+outbox\y"#) == [
        "mail_owner", "mail_reset", "mail_verification", "push_badge", "share_post", "tell_outside",
      ])
    #expect(
      try functions(#"\ymail_owner\("#) == [
        "change_password", "email_product_to_me", "link_provider", "unlink_provider",
        "update_profile",
      ])
    #expect(
      try functions(#"\ymail_verification\("#) == [
        "resend_verification", "sign_up", "update_profile",
      ])
    // Nobody's address is mailed by it that is not verified.
    let ada = try graph.signUp("ada", ", email: \"\(GraphData.unique("a"))@mail.example\"")
    let before = try mails(of: ada)
    #expect(try data.run("SELECT mail_owner(\(ada), 'CHANGE_PASSWORD')") == [["f"]])
    #expect(try mails(of: ada) == before)
  }

  @Test func `a new address and a new password are told to the address that was verified`() throws {
    let (ada, address) = try verified("ada")
    let before = try mails(of: ada)
    try graph.mutate("changePassword(newPassword: \"better horse\")", as: ada)
    try graph.mutate("updateProfile(input: {email: null})", as: ada)
    #expect(
      try mails(of: ada).dropFirst(before.count)
        == [
          "\(address): Your password was changed", "\(address): Your e-mail address was changed",
        ])
  }

  @Test func `no control character reaches the outbox as recipient or subject`() throws {
    for (claim, name) in [
      ("not an email\\nBcc: x", "Zoe"), ("a\\u0001@mail.example", "Zoe"),
      ("a@mail.example\\nBcc: x@mail.example", "Zo\\ne"), ("a@b", "Zo\\u007fe"),
    ] {
      for isVerified in [true, false] {
        let payload = try graph.payload(
          "signInWithProvider(provider: GOOGLE, credential: $it, allowSignUp: true)", session,
          [
            "it: String!": TestAccounts.credential(
              GraphData.unique("s"),
              #","email":"\#(claim)","email_verified":\#(isVerified),"name":"\#(name)""#)
          ], as: nil)
        let zoe = try GraphServer.person(payload, username: "")
        let rows = try graph.data().run(
          "SELECT email, email_verified, display_name ~ '[[:cntrl:]]' FROM app_user WHERE id = $1",
          [zoe])
        #expect(rows == [[nil, "f", "f"]], "\(claim)")
      }
    }
    let data = try graph.data()
    for text in ["a\n@mail.example", "a\u{1}@mail.example", "a@mail.example\u{7f}", "a@b.c\u{85}"] {
      #expect(try data.run("SELECT is_email($1)", [text]) == [["f"]], "\(text)")
      #expect(throws: (any Error).self) {
        try data.run(
          "INSERT INTO outbox (channel, recipient, body) VALUES ('EMAIL', $1, '')", [text])
      }
    }
    // A product's name may hold any: the subject is one line.
    let (ada, address) = try verified("ada")
    let product = try data.product("Coat\nBcc: x", brand: "Acme")
    try graph.mutate("emailProductToMe(productId: $id)", ["id: ID!": product.json], as: ada)
    #expect(try mails(of: ada).last == "\(address): Coat Bcc: x by Acme")
  }

  @Test func `a password reset does the same for an address that nobody has`() throws {
    let (ada, address) = try verified("ada")
    let data = try graph.data()
    // What the request reads and writes, table by table and index by index.
    func work(_ email: String) throws -> [[String?]] {
      // Until they are flushed, numbers are those of earlier transactions, too.
      _ = try data.run("SELECT pg_stat_force_next_flush()")
      _ = try data.run("BEGIN")
      defer { _ = try? data.run("ROLLBACK") }
      _ = try data.run("SELECT request_password_reset($1)", [email])
      return try data.run(
        """
        SELECT relname, seq_scan, seq_tup_read, idx_scan, idx_tup_fetch, n_tup_ins, n_tup_upd, n_tup_del
        FROM pg_stat_xact_all_tables WHERE schemaname NOT LIKE 'pg_%'
          AND (seq_scan > 0 OR idx_scan > 0 OR n_tup_ins + n_tup_upd + n_tup_del > 0) ORDER BY 1
        """)
    }
    for _ in 0..<2 { _ = try (work(address), work("nobody@mail.example")) }
    let known = try work(address)
    #expect(known == (try work(GraphData.unique("nobody") + "@mail.example")))
    #expect(known.contains { $0[5] == "1" }, "\(known)")
    // The mail is written when it is handed over, once in ten minutes.
    for _ in 0..<3 {
      try graph.mutate("requestPasswordReset(email: \"\(address.uppercased())\")", as: nil)
      _ = try data.run("SELECT write_password_resets()")
    }
    #expect(try mails(of: ada).filter { $0 == "\(address): A new password" }.count == 1)
    try graph.mutate("requestPasswordReset(email: \"\(address)\")", as: nil)
    try graph.mutate("requestPasswordReset(email: \"no address\")", as: nil)
    _ = try data.run("SELECT write_password_resets()")
    #expect(
      try data.run("SELECT count(*) FROM reset_request WHERE address = lower($1)", [address])
        == [["0"]])
  }
}
