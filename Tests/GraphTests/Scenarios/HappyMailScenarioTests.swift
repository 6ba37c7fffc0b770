import JSON
import TestSupport
import Testing

/// Happy Mail, as its users go through it, from an empty graph on.
@Suite(.usesCluster) struct HappyMailScenarioTests {
  private static let followUps = """
    query FollowUps($role: FollowUpRole!, $state: FollowUpState) { viewer {
      followUps(role: $role, state: $state) { nodes {
        id state recipientAddress sender { displayName } recipient { displayName }
        place { name level } post { ... on CardOffer { body } ... on CardRequest { body } } } } } }
    """

  private func followUps(_ phone: Phone, _ role: String = "SENDER", state: JSONValue = "OPEN")
    throws -> [JSONValue]
  {
    try phone.ask(Self.followUps, ["role": .string(role), "state": state])
      .at("viewer.followUps.nodes")?.array ?? []
  }

  @Test func `from the first account to a thank-you`() throws {
    let server = try GraphServer.new()
    defer { server.stop() }
    let (ada, ben, cat, dan, visitor) = (
      Phone(server), Phone(server), Phone(server), Phone(server), Phone(server)
    )

    // Staff name some places; then people register with their addresses.
    let sue = Phone(server)
    try sue.signUp("sue")
    try server.data().run("SELECT change_roles('sue', '{STAFF}', '{}')")
    func place(_ name: String, _ level: String, in parent: JSONValue) throws -> JSONValue {
      try #require(
        try sue.ask(
          """
          mutation Place($input: CreateLocationInput!) {
            createLocation(input: $input) { location { id } userErrors { code field } } }
          """,
          ["input": ["name": .string(name), "level": .string(level), "parentId": parent]]
        ).at("createLocation.location.id"))
    }
    let france = try place("France", "COUNTRY", in: nil)
    let lyon = try place("Lyon", "CITY", in: france)
    let chile = try place("Chile", "COUNTRY", in: nil)
    try ada.signUp("ada", ["displayName": "Ada", "homeLocationId": lyon])
    try ben.signUp(
      "ben", ["displayName": "Ben", "address": "Ben, 1 Rue, Lyon", "homeLocationId": lyon])
    try cat.signUp(
      "cat", ["displayName": "Cat", "address": "Cat, 2 Calle, Chile", "homeLocationId": chile])
    try dan.signUp("dan", ["displayName": "Dan", "address": "Dan, 3 Road"])
    #expect(
      try visitor.refused(
        """
        mutation { signUp(input: {username: "ADA", password: "correct horse"}) {
          userErrors { code field } } }
        """) == [Refusal("TAKEN", "input", "username")])

    // The session outlives the application; logging out ends it.
    let profile = "query { viewer { address user { displayName cardPreference bio } } }"
    #expect(try ben.ask(profile).at("viewer.address") == "Ben, 1 Rue, Lyon")
    try dan.signOut()
    #expect(try dan.failed(profile) == "UNAUTHENTICATED")
    dan.forget()
    let signIn = """
      mutation SignIn($password: String!) { signIn(username: "Dan", password: $password) {
        token viewer { user { id username } } userErrors { code field } } }
      """
    #expect(
      try dan.refused(signIn, ["password": "wrong horse"]) == [Refusal("WRONG_CREDENTIALS")])
    try dan.keepSession(try dan.ask(signIn, ["password": "correct horse"])["signIn"])

    // Ada offers two cards, to France.
    let offer = try #require(
      try ada.ask(
        """
        mutation Offer($input: CreateCardOfferInput!) { createCardOffer(input: $input) {
          cardOffer { id isOpen responseLimit } userErrors { code field } } }
        """,
        [
          "input": [
            "body": "Two owls, hand-painted", "responseLimit": 2, "regionIds": [france],
            "photoIds": [try ada.takePhoto(server)],
          ]
        ]
      ).at("createCardOffer.cardOffer.id"))
    let stream = """
      query Stream($filter: PostFilter!) { posts(filter: $filter) { nodes { id body
        author { displayName } viewerActions
        ... on CardOffer { isOpen responseCount responseLimit regions { name } }
        ... on CardRequest { isOpen responseCount } } } }
      """
    let seen = try ben.ask(stream, ["filter": ["kinds": ["CARD_OFFER"], "isOpen": true]])
    #expect(seen.list("posts.nodes", "id") == [offer])
    #expect(seen.at("posts.nodes.0.regions") == [["name": "France"]])
    #expect(seen.at("posts.nodes.0.viewerActions")?.array?.contains("RESPOND") == true)
    for (region, found) in [(lyon, [offer]), (france, [offer]), (chile, [])] {
      #expect(
        try cat.ask(stream, ["filter": ["sendsToId": region]]).list("posts.nodes", "id") == found)
    }

    // Answers, until it closes by itself.
    let respond = """
      mutation Respond($id: ID!) { respondToOffer(cardOfferId: $id) {
        cardOffer { isOpen responseCount } userErrors { code message field } } }
      """
    #expect(
      try ada.refused(respond, ["id": offer]) == [Refusal("FORBIDDEN", "cardOfferId")])
    #expect(try visitor.failed(respond, ["id": offer]) == "UNAUTHENTICATED")
    #expect(
      try ben.ask(respond, ["id": offer]).at("respondToOffer.cardOffer")
        == ["isOpen": true, "responseCount": 1])
    #expect(
      try ben.ask(respond, ["id": offer]).at("respondToOffer.cardOffer.responseCount") == 1)
    #expect(
      try cat.ask(respond, ["id": offer]).at("respondToOffer.cardOffer")
        == ["isOpen": false, "responseCount": 2])
    #expect(try dan.refused(respond, ["id": offer]) == [Refusal("CLOSED", "cardOfferId")])
    #expect(
      try dan.ask(stream, ["filter": ["kinds": ["CARD_OFFER"], "isOpen": true]])
        .list("posts.nodes", "id") == [])

    // Ada knows where to send them; nobody else does.
    let owed = try followUps(ada)
    #expect(
      owed.map { $0["recipientAddress"] } == ["Cat, 2 Calle, Chile", "Ben, 1 Rue, Lyon"])
    #expect(owed.map { $0["place"] }.last == ["name": "Lyon", "level": "CITY"])
    for phone in [ben, cat] {
      let waiting = try followUps(phone, "RECIPIENT")
      #expect(waiting.map { $0.at("sender.displayName") } == ["Ada"])
      #expect(waiting.map { $0["recipientAddress"] } == [.null])
    }
    #expect(try followUps(dan, state: nil) == [])
    #expect(
      try ada.told().map { $0["text"] } == [
        "<b>Cat</b> would like a card of yours.", "<b>Ben</b> would like a card of yours.",
      ])

    // One is sent, one cannot be.
    let resolve = """
      mutation Resolve($id: ID!, $state: FollowUpState!) {
        resolveFollowUp(followUpId: $id, state: $state) {
          followUp { state recipientAddress } userErrors { code field } } }
      """
    let (toCat, toBen) = (try #require(owed[0]["id"]), try #require(owed[1]["id"]))
    #expect(
      try ben.refused(resolve, ["id": toBen, "state": "COMPLETED"])
        == [Refusal("FORBIDDEN", "followUpId")])
    #expect(
      try ada.ask(resolve, ["id": toBen, "state": "COMPLETED"]).at("resolveFollowUp.followUp")
        == ["state": "COMPLETED", "recipientAddress": nil])
    #expect(
      try ada.ask(resolve, ["id": toCat, "state": "UNABLE"]).at("resolveFollowUp.followUp.state")
        == "UNABLE")
    #expect(
      try ada.refused(resolve, ["id": toCat, "state": "COMPLETED"])
        == [Refusal("ALREADY_DONE", "followUpId")])
    #expect(try followUps(ada) == [])
    #expect(try cat.told().map { $0["text"] } == ["<b>Ada</b> cannot send you a card."])
    #expect(
      try followUps(ben, "RECIPIENT", state: "COMPLETED").map { $0.at("place.name") } == ["Lyon"])

    // Ada wishes for cards: one asks and gets the address, one does not.
    let request = try #require(
      try ada.ask(
        """
        mutation Request { createCardRequest(input: {body: "Any owl, for my wall"}) {
          cardRequest { id isOpen } userErrors { code field } } }
        """
      ).at("createCardRequest.cardRequest.id"))
    let ask = """
      mutation Ask($id: ID!) { requestAddress(cardRequestId: $id) {
        infoRequest { id status } userErrors { code field } } }
      """
    var asked: [JSONValue] = []
    for phone in [cat, dan] {
      let made = try phone.ask(ask, ["id": request])
      #expect(made.at("requestAddress.infoRequest.status") == "PENDING")
      asked.append(try #require(made.at("requestAddress.infoRequest.id")))
    }
    #expect(try ada.refused(ask, ["id": request]) == [Refusal("FORBIDDEN", "cardRequestId")])
    #expect(
      try ada.ask(
        "query { viewer { infoRequests(status: PENDING) { nodes { requester { displayName } post { body } } } } }"
      ).list("viewer.infoRequests.nodes", "requester")
        == [["displayName": "Dan"], ["displayName": "Cat"]])
    #expect(try followUps(dan) == [])
    // She has no address yet.
    let answer = """
      mutation Answer($id: ID!, $approve: Boolean!) {
        answerInfoRequest(infoRequestId: $id, approve: $approve) {
          infoRequest { status } userErrors { code message field } } }
      """
    #expect(
      try ada.refused(answer, ["id": asked[0], "approve": true])
        == [Refusal("ADDRESS_REQUIRED", "approve")])
    try ada.ask(
      """
      mutation { updateProfile(input: {address: "Ada, 4 Quai, Lyon", cardPreference: POSTCARDS,
        bio: "Owls."}) { viewer { address } userErrors { code field } } }
      """)
    #expect(
      try dan.refused(answer, ["id": asked[0], "approve": true])
        == [Refusal("NOT_FOUND", "infoRequestId")])
    try ada.ask(answer, ["id": asked[0], "approve": false])
    try ada.press("APPROVE_INFO_REQUEST")
    #expect(
      try ada.ask("query { viewer { infoRequests(status: PENDING) { totalCount } } }")
        .at("viewer.infoRequests.totalCount") == 0)
    #expect(try followUps(cat, state: nil) == [])
    #expect(
      try cat.told().first?["text"] == "<b>Ada</b> did not give you their address.")
    #expect(try followUps(dan).map { $0["recipientAddress"] } == ["Ada, 4 Quai, Lyon"])
    #expect(try dan.told().map { $0["text"] } == ["<b>Ada</b> gave you their address."])
    #expect(
      try dan.ask(profile).at("viewer.user.bio") == "")

    // The request is finished; what is owed stays, and is sent.
    try ada.ask(
      """
      mutation Close($id: ID!) { closeCardPost(postId: $id) {
        cardPost { ... on CardRequest { isOpen } } userErrors { code field } } }
      """, ["id": request])
    #expect(try ben.refused(ask, ["id": request]) == [Refusal("CLOSED", "cardRequestId")])
    let sent = try #require(try followUps(dan).first?["id"])
    try dan.ask(resolve, ["id": sent, "state": "COMPLETED"])
    #expect(try followUps(dan, state: "COMPLETED").map { $0["recipientAddress"] } == [.null])

    // Thanks, with those who are thanked; likes; search.
    let thanks = try #require(
      try ada.ask(
        """
        mutation Thank($ids: [ID!]!) {
          createThankYou(input: {body: "What lovely owls!", taggedUserIds: $ids}) {
            thankYou { id taggedUsers { displayName } } userErrors { code field } } }
        """, ["ids": [dan.id, cat.id]]
      ).at("createThankYou.thankYou.id"))
    let card = """
      query Card($id: ID!) { user(by: {id: $id}) { displayName thankYouScore cardPreference
        taggedIn { nodes { id body author { displayName } } } } }
      """
    #expect(
      try visitor.ask(card, ["id": dan.id])
        == [
          "user": [
            "displayName": "Dan", "thankYouScore": 1, "cardPreference": nil,
            "taggedIn": [
              "nodes": [
                ["id": thanks, "body": "What lovely owls!", "author": ["displayName": "Ada"]]
              ]
            ],
          ]
        ])
    #expect(try dan.told().first?["text"] == "<b>Ada</b> thanks you.")
    let like = """
      mutation Like($id: ID!) { react(subjectId: $id, kind: LIKE) {
        subject { reactionCount(kind: LIKE) viewerReactions } userErrors { code field } } }
      """
    for (number, phone) in [ben, cat, ben].enumerated() {
      let liked = try phone.ask(like, ["id": thanks])
      #expect(liked.at("react.subject.reactionCount")?.int == min(number + 1, 2))
    }
    for (words, found) in [
      ("owls", [thanks, offer]), ("owl wall", [request]), ("OWLS lovely", [thanks]), ("cats", []),
    ] {
      #expect(
        try visitor.ask(stream, ["filter": ["search": .string(words)]]).list("posts.nodes", "id")
          == found, "\(words)")
      #expect(
        try visitor.ask(
          "query Search($words: String!) { search(query: $words, types: [POST]) { nodes { ... on Node { id } } } }",
          ["words": .string(words)]
        ).list("search.nodes", "id") == found, "\(words)")
    }
    #expect(
      try visitor.ask(stream, ["filter": ["kinds": ["THANK_YOU"]]]).list("posts.nodes", "id")
        == [thanks])

    // A thank-you taken back takes its point back.
    try ada.ask(
      "mutation Delete($id: ID!) { deletePost(postId: $id) { deletedId userErrors { code } } }",
      ["id": thanks])
    #expect(try visitor.ask(card, ["id": dan.id]).at("user.thankYouScore") == 0)
    #expect(
      try visitor.ask(
        "query Own($id: ID!) { user(by: {id: $id}) { posts { nodes { id } } } }", ["id": ada.id]
      ).list("user.posts.nodes", "id") == [request, offer])
  }
}
