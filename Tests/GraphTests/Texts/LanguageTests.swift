import JSON
import TestSupport
import Testing

/// The language of what people read: of the request, else of the account, else English.
@Suite(.usesCluster) struct LanguageTests {
  private static let list = "{ viewer { notifications { nodes { text action { label } } } } }"

  private let server: GraphServer
  private let data: GraphData

  init() throws {
    server = try GraphServer.shared
    data = try server.data()
  }

  private func texts(_ person: Person, _ language: String?) throws -> [JSONValue] {
    try server.data(
      Self.list, as: person, headers: language.map { [("Accept-Language", $0)] } ?? []
    ).list("viewer.notifications.nodes", "text")
  }

  @Test func `the same page is in English, Spanish and German, old notifications too`() throws {
    let (ann, ben) = (try data.person(name: "Ann <&> {title}"), try data.person())
    try server.mutate("followUsers(userIds: [$id])", ["id: ID!": ben.json], as: ann)
    let ann2 = "<b>Ann &lt;&amp;&gt; {title}</b>"
    #expect(try texts(ben, "en") == [.string("\(ann2) follows you.")])
    #expect(try texts(ben, "es-MX, en;q=0.5") == [.string("\(ann2) te sigue.")])
    #expect(try texts(ben, "fr, de-CH;q=0.9, en;q=0.5") == [.string("\(ann2) folgt dir.")])
    let labels = try ["en", "es", "de"].map {
      try server.data(Self.list, as: ben, headers: [("Accept-Language", $0)])
        .list("viewer.notifications.nodes", "action.label")
    }
    #expect(labels == [["Follow back"], ["Seguir también"], ["Auch folgen"]])
  }

  @Test func `without a language that the server has, the account's is taken`() throws {
    let (ann, ben) = (try data.person(name: "Ann"), try data.person())
    try server.mutate("followUsers(userIds: [$id])", ["id: ID!": ben.json], as: ann)
    #expect(try texts(ben, nil) == ["<b>Ann</b> follows you."])
    try server.mutate("updateProfile(input: {locale: \"es-AR\"})", as: ben)
    #expect(try texts(ben, nil) == ["<b>Ann</b> te sigue."])
    #expect(try texts(ben, "xx, *;q=0.1") == ["<b>Ann</b> te sigue."])
    #expect(try texts(ben, "de") == ["<b>Ann</b> folgt dir."])
    try server.mutate("updateProfile(input: {locale: null})", as: ben)
    #expect(try texts(ben, "xx") == ["<b>Ann</b> follows you."])
  }

  @Test func `language and time zone are the viewer's own, and must be known`() throws {
    let ben = try data.person()
    let query = "{ locales viewer { locale timeZone } }"
    #expect(
      try server.data(query, as: ben)
        == ["locales": ["de", "en", "es"], "viewer": ["locale": "en", "timeZone": "UTC"]])
    try server.mutate(
      "updateProfile(input: {locale: \"de-AT\", timeZone: \"Europe/Vienna\"})", as: ben)
    #expect(
      try server.data(query, as: ben).at("viewer")
        == ["locale": "de-AT", "timeZone": "Europe/Vienna"])
    for (input, refusal) in [
      ("locale: \"xx\"", Refusal("INVALID", "input", "locale")),
      ("locale: \"de'; --\"", Refusal("INVALID", "input", "locale")),
      ("timeZone: \"Atlantis/Nowhere\"", Refusal("INVALID", "input", "timeZone")),
      ("timeZone: \"ABC3\"", Refusal("INVALID", "input", "timeZone")),
    ] {
      #expect(try server.refusals("updateProfile(input: {\(input)})", as: ben) == [refusal])
    }
    let schema = try GraphServer.mapping.get().schema
    let user = try #require(schema.type(named: "User"))
    #expect(!user.fields.contains { ["locale", "timeZone"].contains($0.name) })
  }

  @Test func `a refusal states the rule and its limits in the language of the request`() throws {
    let ben = try data.person()
    let long = JSONValue.string(String(repeating: "x", count: 2_001))
    func error(_ language: String) throws -> JSONValue? {
      try server.userErrors(
        "updateProfile(input: {bio: $bio})", ["bio: String!": long], as: ben, language: language
      ).first
    }
    #expect(
      try error("en") == [
        "code": "TOO_LONG", "message": "At most 2,000 characters are allowed.",
        "field": ["input", "bio"], "min": nil, "max": 2000,
      ])
    #expect(try error("es")?["message"] == "Se permiten 2.000 caracteres como máximo.")
    #expect(try error("de")?["message"] == "Höchstens 2.000 Zeichen sind erlaubt.")
    #expect(
      try server.userErrors(
        "followUsers(userIds: [$id])", ["id: ID!": ben.json], as: ben, language: "de"
      ).first?["message"] == "Das kannst du nicht mit dir selbst tun.")
    // Without one, in that of the account.
    try server.mutate("updateProfile(input: {locale: \"es\"})", as: ben)
    #expect(try error("xx")?["message"] == "Se permiten 2.000 caracteres como máximo.")
  }

  @Test func `whoever signs up keeps the language of that request`() throws {
    let server = try GraphServer.newcomers
    let name = GraphData.unique("new")
    let made = try server.data(
      """
      mutation { signUp(input: {username: "\(name)", password: "correct horse"}) {
        token userErrors { code } } }
      """, as: nil, headers: [("Accept-Language", "de-CH, en;q=0.5")])
    let token = try #require(made.at("signUp.token")?.string)
    let found = try server.execute("{ viewer { locale } }", token: token)
    #expect(found.at("data.viewer.locale") == "de")
  }

  @Test func `verdicts, lists of followers and drafts are in the language of the request`() throws {
    let (ann, ben) = (try data.person(name: "Ann"), try data.person())
    try data.follow(ben, ann)
    let post = try data.post(.outfit, by: ann)
    let query = """
      query($id: ID!, $user: ID!) {
        node(id: $user) { ... on User { followers { title summary } } }
        post(id: $id) { ... on OutfitPost { verdict { text } } }
        shareDraft(channel: EMAIL, subjectId: $id) { subject body }
      }
      """
    let found = try server.data(
      query, ["id": post.json, "user": ann.json], as: ann, headers: [("Accept-Language", "es")])
    #expect(
      found.at("node.followers") == ["title": "Seguidores", "summary": "1 persona te sigue"])
    #expect(found.at("post.verdict.text") == "Todavía no ha votado nadie.")
    #expect(found.at("shareDraft.subject") == "Un conjunto de Ann")
    #expect(found.at("shareDraft.body")?.string?.hasPrefix("Hola:\n") == true)
  }
}
