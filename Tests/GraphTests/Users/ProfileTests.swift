import Foundation
import JSON
import TestSupport
import Testing

/// Profiles: what the owner edits, what others see, and what is private.
@Suite(.usesCluster) struct ProfileTests {
  @Test func `C7-CORE.10h: the name of the signed-in user is shown`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let query = "{ viewer { user { displayName } } }"
    #expect(
      try server.data(query, as: data.person(name: "Søren Ünal 🏋️"))
        == ["viewer": ["user": ["displayName": "Søren Ünal 🏋️"]]])
    #expect(try server.data(query) == ["viewer": nil])
  }

  @Test(arguments: ["a\nb", "a\u{7}b", "a\u{2028}b", "a\u{202E}b", "a\u{2066}b"])
  func `a name has no control characters, line separators or overrides of direction`(_ name: String)
    throws
  {
    let graph = try GraphServer.newcomers
    let variables: KeyValuePairs<String, JSONValue> = ["name: String!": .string(name)]
    func invalid(_ field: String) -> [Refusal] { [Refusal("INVALID", "input", field)] }
    let ada = try graph.signUp("ada")
    let user = GraphData.unique("ben")
    #expect(
      try graph.refusals(
        "signUp(input: {username: \"\(user)\", password: \"correct horse\", displayName: $name})",
        variables, as: nil) == invalid("displayName"))
    #expect(
      try graph.refusals("updateProfile(input: {displayName: $name})", variables, as: ada)
        == invalid("displayName"))
    #expect(
      try graph.refusals("createCircle(input: {kind: GROUP, name: $name})", variables, as: ada)
        == invalid("name"))
    // Letters of any script, marks of direction among them, and ends of lines behind it, are a name.
    for good in ["Zoë", "\u{200F}שרה", "👩‍👧", "Ada\n"] {
      try graph.mutate(
        "updateProfile(input: {displayName: $name})", ["name: String!": .string(good)], as: ada)
    }
  }

  @Test func `C7-MORE.2: a profile shows picture, name and one's current information`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let home = try data.location("Springfield", level: "CITY")
    let viewer = try data.person(
      name: "Ann", ["bio": "Runs.", "address": "1 Main Street", "home_id": home])
    let email = "\(viewer.username)@example.com"
    let photo = try data.photo(of: viewer, url: "https://photos.example/ann.jpg")
    try data.run(
      "UPDATE app_user SET avatar_id = \(photo), email = $1 WHERE id = \(viewer.key)",
      [
        email
      ])
    let query = """
      { viewer { email isEmailVerified address missingProfileFields
        user { displayName bio avatar { url } home { name } roles } } }
      """
    #expect(
      try server.data(query, as: viewer) == [
        "viewer": [
          "email": .string(email), "isEmailVerified": false, "address": "1 Main Street",
          "missingProfileFields": ["WEBSITE"],
          "user": [
            "displayName": "Ann", "bio": "Runs.",
            "avatar": ["url": "https://photos.example/ann.jpg"], "home": ["name": "Springfield"],
            "roles": ["MEMBER"],
          ],
        ]
      ])
    #expect(try server.data(query) == ["viewer": nil])
    // What is private has no place in what others see.
    #expect(
      try server.errorCodes(
        "query($id: ID!) { user(by: {id: $id}) { email } }", ["id": viewer.json])
        == ["GRAPHQL_VALIDATION_FAILED"])
  }

  @Test func `GTIO-1.7a: a profile says what it misses, until nothing`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let person = try data.person()
    func missing() throws -> JSONValue? {
      try server.data("{ viewer { missingProfileFields } }", as: person)
        .at("viewer.missingProfileFields")
    }
    #expect(
      try missing() == ["DISPLAY_NAME", "AVATAR", "BIO", "WEBSITE", "HOME", "ADDRESS", "EMAIL"])
    try data.run(
      "UPDATE app_user SET display_name = 'Ann', website = 'https://a.example' WHERE id = $1",
      [person])
    #expect(try missing() == ["AVATAR", "BIO", "HOME", "ADDRESS", "EMAIL"])
    let (photo, home) = (try data.photo(of: person), try data.location("Home", level: "CITY"))
    try data.run(
      """
      UPDATE app_user SET avatar_id = $1, home_id = $2, bio = 'Hi', address = 'Street 1', email = $3
      WHERE id = $4
      """, [photo, home, "\(person.username)@mail.example", person])
    #expect(try missing() == [])
  }

  @Test func `GTIO-1.7b: a new user completes the profile, and others see what is public`() throws {
    let server = try GraphServer.newcomers
    let data = try server.data()
    let (ada, ben) = (try server.signUp("ada"), try server.signUp("ben"))
    let home = try data.location("Home", level: "CITY")
    let payload = try server.mutate(
      """
      updateProfile(input: {displayName: "Ada L.", website: "https://ada.example", bio: "Hats.",
        homeLocationId: $home, address: "Street 1", email: $email})
      """, "viewer { missingProfileFields email isEmailVerified address }",
      ["home: ID": home.json, "email: String": .string("\(ada.username)@mail.example")], as: ada)
    #expect(
      payload["viewer"] == [
        "missingProfileFields": ["AVATAR"], "email": .string("\(ada.username)@mail.example"),
        "isEmailVerified": false, "address": "Street 1",
      ])
    #expect(
      try server.data(
        "query($id: ID!) { user(by: {id: $id}) { displayName website bio home { name } } }",
        ["id": ada.json], as: ben)
        == [
          "user": [
            "displayName": "Ada L.", "website": "https://ada.example", "bio": "Hats.",
            "home": ["name": "Home"],
          ]
        ])
    #expect(
      try server.refusals(
        "updateProfile(input: {displayName: $name, homeLocationId: \"no id\", email: \"nobody\"})",
        ["name: String": .string(String(repeating: "x", count: 81))], as: ada)
        == [
          Refusal("INVALID", "input", "email"), Refusal("TOO_LONG", "input", "displayName"),
          Refusal("NOT_FOUND", "input", "homeLocationId"),
        ])
    #expect(
      try server.mutationErrorCodes("updateProfile(input: {bio: \"x\"})", as: nil)
        == ["UNAUTHENTICATED"])
  }

  @Test func `GTIO-7.4a: the profile is edited later; what is left out stays, null clears`() throws
  {
    let server = try GraphServer.newcomers
    let ada = try server.signUp("ada", ", displayName: \"Ada\", address: \"Street 1\"")
    try server.mutate(
      "updateProfile(input: {bio: \"Hats.\", website: \"https://ada.example\"})", as: ada)
    try server.mutate("updateProfile(input: {website: null, displayName: \"Ada L.\"})", as: ada)
    #expect(
      try server.data("{ viewer { address user { displayName bio website } } }", as: ada)
        == [
          "viewer": [
            "address": "Street 1",
            "user": ["displayName": "Ada L.", "bio": "Hats.", "website": nil],
          ]
        ])
    // Found by the new name, and by the username that is changed.
    let name = GraphData.unique("lovelace")
    try server.mutate(
      "updateProfile(input: {username: $name})", ["name: String": .string(name)], as: ada)
    #expect(
      try server.data(
        "query($name: String!) { users(search: $name) { nodes { id } } }",
        ["name": .string(name)]) == ["users": ["nodes": [["id": ada.json]]]])
    let ben = try server.signUp("ben")
    #expect(
      try server.refusals(
        "updateProfile(input: {username: $name, displayName: \" \"})",
        ["name: String": .string(name.uppercased())], as: ben)
        == [Refusal("TAKEN", "input", "username"), Refusal("REQUIRED", "input", "displayName")])
  }

  private var graph: GraphServer { get throws { try GraphServer.newcomers } }

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

  @Test func `HM-R19: one's own profile has the address`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (name, home) = (GraphData.unique("mail"), try data.location("Oslo", level: "CITY"))
    let person = try data.person(
      name: "Ann",
      [
        "address": "Street 1\n0150 Oslo", "email": "\(name)@a.example", "bio": "Hi",
        "home_id": home, "card_preference": "POSTCARDS",
      ])
    let own = try server.data(
      """
      { viewer { address email isEmailVerified
        user { displayName bio home { name } cardPreference thankYouScore } } }
      """, as: person)
    #expect(
      own == [
        "viewer": [
          "address": "Street 1\n0150 Oslo", "email": .string("\(name)@a.example"),
          "isEmailVerified": false,
          "user": [
            "displayName": "Ann", "bio": "Hi", "home": ["name": "Oslo"],
            "cardPreference": "POSTCARDS", "thankYouScore": 0,
          ],
        ]
      ])
  }

  @Test func `HM-R20: another's profile never has address, e-mail or follow-ups`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, blocked) = (try data.person(), try data.person())
    let secret = GraphData.unique("secret")
    let other = try data.person(
      name: "Otto", ["address": secret, "email": "\(secret)@a.example", "bio": "Hello"])
    _ = try data.followUp(data.offer(by: other), from: other, to: viewer)
    try data.block(other, blocked)
    let query = """
      query($id: ID!) { user(by: {id: $id}) { displayName bio
        posts(kinds: [CARD_OFFER]) { totalCount } } }
      """
    #expect(
      try server.data(query, ["id": other.json], as: viewer)
        == ["user": ["displayName": "Otto", "bio": "Hello", "posts": ["totalCount": 1]]])
    #expect(try server.data(query, ["id": other.json], as: blocked) == ["user": nil])
    for field in [
      "address", "email", "isEmailVerified", "followUps(role: SENDER, state: OPEN) { totalCount }",
    ] {
      #expect(
        try server.errorCodes(
          "query($id: ID!) { user(by: {id: $id}) { \(field) } }", ["id": other.json], as: viewer)
          == ["GRAPHQL_VALIDATION_FAILED"], "\(field)")
    }
    let found = try server.data(
      """
      query($word: String!) { users(search: $word) { totalCount }
        search(query: $word) { totalCount } }
      """, ["word": .string(secret)], as: viewer)
    #expect(found == ["users": ["totalCount": 0], "search": ["totalCount": 0]])
  }

  @Test func `HM-O01: places sent to and received from, never finer than a city`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let country = try data.location("Norway", level: "COUNTRY")
    let city = try data.location("Oslo", level: "CITY", parent: country)
    let house = try data.location("House", parent: city, latitude: 59.9, longitude: 10.7)
    let viewer = try data.person(name: "Me", ["home_id": city])
    let inHouse = try data.person(name: "House", ["home_id": house])
    let inCountry = try data.person(name: "Country", ["home_id": country])
    let nowhere = try data.person(name: "Nowhere")
    let offer = try data.offer(by: viewer)
    for person in [inHouse, inCountry, nowhere] {
      _ = try data.followUp(offer, from: viewer, to: person, state: "COMPLETED")
    }
    _ = try data.followUp(offer, from: viewer, to: data.person("near", ["home_id": city]))
    _ = try data.followUp(data.offer(by: inHouse), from: inHouse, to: viewer, state: "COMPLETED")
    let map = try server.data(
      """
      { viewer {
        sent: followUps(role: SENDER, state: COMPLETED) {
          nodes { recipient { displayName } place { name level } } }
        received: followUps(role: RECIPIENT, state: COMPLETED) {
          nodes { sender { displayName } place { name level } } }
      } }
      """, as: viewer)
    let oslo: JSONValue = ["name": "Oslo", "level": "CITY"]
    #expect(
      map.at("viewer.sent.nodes") == [
        ["recipient": ["displayName": "Nowhere"], "place": nil],
        [
          "recipient": ["displayName": "Country"],
          "place": ["name": "Norway", "level": "COUNTRY"],
        ],
        ["recipient": ["displayName": "House"], "place": oslo],
      ])
    #expect(
      map.at("viewer.received.nodes") == [["sender": ["displayName": "House"], "place": oslo]])
  }

  @Test func `HM-O19, HM-O21, read: everyone sees card preference, about text and country`() throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let country = try data.location("Peru", level: "COUNTRY")
    let query = """
      query($id: ID!) { user(by: {id: $id}) { cardPreference bio home { name level } } }
      """
    let person = try data.person(
      "card",
      ["card_preference": "CARDS", "bio": "About me", "home_id": country, "address": "Oslo"])
    #expect(
      try server.data(query, ["id": person.json]) == [
        "user": [
          "cardPreference": "CARDS", "bio": "About me",
          "home": ["name": "Peru", "level": "COUNTRY"],
        ]
      ])
    #expect(
      try server.data(query, ["id": data.person().json])
        == ["user": ["cardPreference": nil, "bio": "", "home": nil]])
  }

  @Test func `PK-PROF.a: a user changes name, words, page and home, for all to see`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let user = try data.person()
    let city = try data.location("Cork", level: "CITY")
    let update = "updateProfile(input: $input)"
    let payload = try server.mutate(
      update, "viewer { address missingProfileFields }",
      [
        "input: UpdateProfileInput!": [
          "displayName": " Åsa ", "bio": "Rows", "website": "https://rows.example",
          "homeLocationId": city.json, "address": "1 Quay St",
        ]
      ], as: user)
    #expect(
      payload["viewer"]
        == ["address": "1 Quay St", "missingProfileFields": ["AVATAR", "EMAIL"]])
    #expect(
      try server.data(
        "query($id: ID!) { user(by: {id: $id}) { displayName bio website home { name } } }",
        ["id": user.json]) == [
          "user": [
            "displayName": "Åsa", "bio": "Rows", "website": "https://rows.example",
            "home": ["name": "Cork"],
          ]
        ])
    let found = try server.data(
      "{ users(search: \"asa\") { nodes { id } } }")
    #expect(found.list("users.nodes", "id").contains(user.json))
    #expect(
      try server.refusals(
        update,
        [
          "input: UpdateProfileInput!": [
            "displayName": "", "homeLocationId": user.json, "website": "javascript:x",
          ]
        ], as: user
      ).map(\.path) == [
        ["input", "displayName"], ["input", "website"], ["input", "homeLocationId"],
      ])
    #expect(
      try server.mutationErrorCodes(
        update, ["input: UpdateProfileInput!": ["bio": "x"]], as: nil) == ["UNAUTHENTICATED"])
  }
}
