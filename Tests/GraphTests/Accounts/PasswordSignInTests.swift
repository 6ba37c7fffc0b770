import Foundation
import JSON
import TestSupport
import Testing

/// Accounts with a username and a password.
@Suite(.usesCluster) struct PasswordSignInTests {
  private var graph: GraphServer { get throws { try GraphServer.newcomers } }

  private func signIn(_ name: String, _ password: String) throws -> JSONValue {
    try graph.payload(
      "signIn(username: $name, password: $password)",
      "isNewUser token viewer { user { id username } }",
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
      try refused(GraphData.unique("b"), "short") == [Refusal("TOO_SHORT", "input", "password")])
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
      field, "token viewer { address email user { id displayName home { name } } }",
      ["name: String!": .string(name), "home: ID": home.json], as: nil)
    let ada = try GraphServer.person(payload, username: name)
    #expect(
      payload.at("viewer") == [
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
    #expect(wrong["token"] == .null)
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

  @Test func `SP-R01: a visitor signs up and is signed in`() throws {
    let server = try GraphServer.newcomers
    let name = GraphData.unique("sailor")
    let payload = try server.mutate(
      "signUp(input: {username: $name, password: \"correct horse\", displayName: \"A Sailor\"})",
      "isNewUser token viewer { user { id username displayName } }",
      ["name: String!": .string(name)], as: nil)
    #expect(payload["isNewUser"] == true)
    #expect(payload.at("viewer.user.displayName") == "A Sailor")
    let sailor = try GraphServer.person(payload, username: name)
    #expect(
      try server.data("{ viewer { user { username } } }", as: sailor)
        == ["viewer": ["user": ["username": .string(name)]]])
    #expect(
      try server.data(
        "query($name: String!) { user(by: {username: $name}) { displayName } }",
        ["name": .string(name)]) == ["user": ["displayName": "A Sailor"]])
    #expect(
      try server.refusals(
        "signUp(input: {username: $name, password: \"short\"})",
        ["name: String!": .string(name.uppercased())], as: nil)
        == [Refusal("TAKEN", "input", "username"), Refusal("TOO_SHORT", "input", "password")])
  }
}
