import Foundation
import JSON
import TestSupport
import Testing

/// Accounts and profiles of people who send cards.
@Suite(.usesCluster) struct HappyMailAccountTests {
  private var graph: GraphServer { get throws { try GraphServer.newcomers } }

  private func signIn(_ name: String, _ password: String) throws -> JSONValue {
    try graph.payload(
      "signIn(username: $name, password: $password)",
      "isNewUser session { token viewer { user { id username } } }",
      ["name: String!": .string(name), "password: String!": .string(password)], as: nil)
  }

  @Test func `HM-R01: a visitor makes an account, under a name nobody has in any case`() throws {
    let ada = try graph.signUp("Ada")
    #expect(
      try graph.data(
        "query($name: String!) { user(by: {username: $name}) { id displayName roles } }",
        ["name": .string(ada.username)])
        == [
          "user": [
            "id": ada.json, "displayName": .string(ada.username), "roles": ["MEMBER"],
          ]
        ])
    func refused(_ name: String, _ password: String = "correct horse") throws -> [Refusal] {
      try graph.refusals(
        "signUp(input: {username: $name, password: $password})",
        ["name: String!": .string(name), "password: String!": .string(password)], as: nil)
    }
    for name in [ada.username, ada.username.uppercased(), ada.username.lowercased()] {
      #expect(try refused(name) == [Refusal("TAKEN", "input", "username")])
    }
    #expect(try refused("a b") == [Refusal("INVALID", "input", "username")])
    #expect(try refused("") == [Refusal("REQUIRED", "input", "username")])
    #expect(
      try refused(String(repeating: "x", count: 41)) == [Refusal("TOO_LONG", "input", "username")])
    #expect(
      try refused(GraphData.unique("b"), "short") == [Refusal("INVALID", "input", "password")])
  }

  @Test func `HM-R02: address and home are set when registering, and the address is private`()
    throws
  {
    let home = try graph.data().location("Lyon", level: "CITY")
    let ben = try graph.signUp("ben")
    let name = GraphData.unique("ada")
    let field = """
      signUp(input: {username: $name, password: "correct horse", address: "1 Rue, Lyon",
        displayName: "Ada", email: "ada@mail.example", homeLocationId: $home})
      """
    let payload = try graph.mutate(
      field, "session { token viewer { address email user { id displayName home { name } } } }",
      ["name: String!": .string(name), "home: ID": home.json], as: nil)
    let ada = try GraphServer.person(payload, username: name)
    #expect(
      payload.at("session.viewer") == [
        "address": "1 Rue, Lyon", "email": "ada@mail.example",
        "user": ["id": ada.json, "displayName": "Ada", "home": ["name": "Lyon"]],
      ])
    // No type but the viewer has an address.
    for viewer in [ben, nil] {
      let page = try graph.send(
        """
        query($id: ID!) { node(id: $id) { ... on User { username displayName bio website roles
          home { name } posts { totalCount } } } }
        """, ["id": ada.json], token: viewer?.token
      ).text
      #expect(page.contains("Lyon"))
      #expect(!page.contains("1 Rue"))
      #expect(!page.contains("mail.example"))
    }
    let types = try graph.data("{ __type(name: \"User\") { fields { name } } }")
    #expect(
      Set(types.strings("__type.fields", "name")).isDisjoint(with: ["address", "email"]))
    #expect(
      try graph.refusals(
        field, ["name: String!": .string(GraphData.unique("eve")), "home: ID": "no id"], as: nil)
        == [Refusal("NOT_FOUND", "input", "homeLocationId")])
  }

  @Test func `HM-R03: name and password sign in, and one error says that either is wrong`() throws {
    let ada = try graph.signUp("Ada")
    let done = try signIn(ada.username.lowercased(), "correct horse")
    let session = try GraphServer.person(done, username: ada.username)
    #expect(session.key == ada.key)
    #expect(done["isNewUser"] == false)
    #expect(
      try graph.data("{ viewer { user { id } } }", as: session)
        == ["viewer": ["user": ["id": ada.json]]])
    let wrong = try signIn(ada.username, "wrong horse")
    #expect(wrong["session"] == .null)
    #expect(
      (wrong["userErrors"]?.array ?? []).map { Refusal($0) } == [Refusal("WRONG_CREDENTIALS")])
    #expect(try signIn(GraphData.unique("nobody"), "correct horse") == wrong)
  }

  @Test func `HM-R04: a token is dead at once when its owner logs out, and no other`() throws {
    let ada = try graph.signUp("ada")
    let second = try GraphServer.person(
      signIn(ada.username, "correct horse"), username: ada.username)
    try graph.mutate("signOut", as: ada)
    for _ in 0..<20 {
      #expect(try graph.errorCodes("{ viewer { email } }", as: ada) == ["UNAUTHENTICATED"])
    }
    #expect(try graph.mutationErrorCodes("signOut", as: ada) == ["UNAUTHENTICATED"])
    #expect(
      try graph.data("{ viewer { sessions { device } user { id } } }", as: second)
        .at("viewer.sessions")?.array?.count == 1)
    #expect(try graph.mutationErrorCodes("signOut", as: nil) == ["UNAUTHENTICATED"])
  }

  @Test func `HM-O10: personal information is changed, by oneself alone`() throws {
    let (ada, ben) = (
      try graph.signUp("ada", ", address: \"Old Road 1\", displayName: \"Ada\""),
      try graph.signUp("ben", ", address: \"Hill 2\"")
    )
    try graph.mutate(
      "updateProfile(input: {address: \"New Road 2\", displayName: \"Ad\"})", as: ada)
    let query = "{ viewer { address user { displayName } } }"
    #expect(
      try graph.data(query, as: ada)
        == ["viewer": ["address": "New Road 2", "user": ["displayName": "Ad"]]])
    #expect(try graph.data(query, as: ben).at("viewer.address") == "Hill 2")
    #expect(
      try graph.refusals(
        "updateProfile(input: {address: $it, displayName: null})",
        ["it: String": .string(String(repeating: "x", count: 1_001))], as: ada)
        == [
          Refusal("REQUIRED", "input", "displayName"), Refusal("TOO_LONG", "input", "address"),
        ])
    #expect(try graph.data(query, as: ada).at("viewer.address") == "New Road 2")
    try graph.mutate("updateProfile(input: {address: null})", as: ada)
    #expect(try graph.data(query, as: ada).at("viewer.address") == .null)
  }

  @Test func `HM-O19, HM-O21: card preference, about text and chosen country are for everyone`()
    throws
  {
    let (ada, ben) = (try graph.signUp("ada", ", address: \"Peru\""), try graph.signUp("ben"))
    let country = try graph.data().location("Chile", level: "COUNTRY")
    let query = """
      query($id: ID!) { user(by: {id: $id}) { cardPreference bio home { name level } } }
      """
    // The country is chosen, not read from the address.
    #expect(
      try graph.data(query, ["id": ada.json], as: ben)
        == ["user": ["cardPreference": nil, "bio": "", "home": nil]])
    try graph.mutate(
      "updateProfile(input: {cardPreference: POSTCARDS, bio: \"Owls.\", homeLocationId: $home})",
      ["home: ID": country.json], as: ada)
    for viewer in [ben, ada, nil] {
      #expect(
        try graph.data(query, ["id": ada.json], as: viewer)
          == [
            "user": [
              "cardPreference": "POSTCARDS", "bio": "Owls.",
              "home": ["name": "Chile", "level": "COUNTRY"],
            ]
          ])
    }
    #expect(
      try graph.refusals(
        "updateProfile(input: {bio: $it, homeLocationId: $home})",
        ["it: String": .string(String(repeating: "x", count: 2_001)), "home: ID": ada.json],
        as: ada)
        == [
          Refusal("NOT_FOUND", "input", "homeLocationId"), Refusal("TOO_LONG", "input", "bio"),
        ])
    try graph.mutate(
      "updateProfile(input: {cardPreference: null, bio: null, homeLocationId: null})", as: ada)
    #expect(
      try graph.data(query, ["id": ada.json])
        == ["user": ["cardPreference": nil, "bio": "", "home": nil]])
  }

  @Test func `HM-O22: an address is verified by a mailed token, and a new one is not`() throws {
    let mailbox = GraphData.unique("ada") + "@mail.example"
    let ada = try graph.signUp("ada", ", email: \"\(mailbox)\"")
    let eve = try graph.signUp("eve")
    func mailed() throws -> String {
      let rows = try graph.data().run(
        "SELECT recipient, body FROM outbox WHERE user_id = $1 ORDER BY id DESC LIMIT 1", [ada])
      let body = try #require(rows.first?.last ?? nil)
      return try #require(body.firstMatch(of: /[0-9a-f]{64}/).map { String($0.output) })
    }
    func verify(_ token: String, as person: Person) throws -> [Refusal] {
      try graph.refusals(
        "verifyEmail(token: $token)", ["token: String!": .string(token)], as: person)
    }
    let query = "{ viewer { email emailVerified } }"
    #expect(
      try graph.data(query, as: ada)
        == ["viewer": ["email": .string(mailbox), "emailVerified": false]])
    let token = try mailed()
    #expect(try verify("guess", as: ada) == [Refusal("WRONG_CREDENTIALS", "token")])
    #expect(try verify(token, as: eve) == [Refusal("WRONG_CREDENTIALS", "token")])
    #expect(try verify(token, as: ada) == [])
    #expect(try graph.data(query, as: ada).at("viewer.emailVerified") == true)
    #expect(try verify(token, as: ada) == [Refusal("WRONG_CREDENTIALS", "token")])
    // An account is mailed one token a minute.
    _ = try graph.data().run(
      """
      UPDATE mail_time SET mailed_at = now() - interval '2 minutes'
      WHERE key = sha256(convert_to('VERIFY_EMAIL ' || $1, 'UTF8'))
      """, [ada])
    try graph.mutate(
      "updateProfile(input: {email: $email, currentPassword: \"correct horse\"})",
      ["email: String": .string("new." + mailbox)], as: ada)
    #expect(
      try graph.data(query, as: ada)
        == ["viewer": ["email": .string("new." + mailbox), "emailVerified": false]])
    #expect(try mailed() != token)
    #expect(try verify(try mailed(), as: ada) == [])
    #expect(try graph.data(query, as: ada).at("viewer.emailVerified") == true)
  }
}
