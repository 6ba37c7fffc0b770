import GraphQLPlanning
import JSON
import TestSupport
import Testing

/// Offers of and requests for cards, from the first response to the card sent.
@Suite(.usesCluster) struct CardTests {
  private var graph: GraphServer { get throws { try GraphServer.shared } }

  /// Inserts a person with an address.
  private func writer(_ name: String? = nil) throws -> Person {
    let data = try graph.data()
    let person = try data.person(name: name)
    try data.run(
      "UPDATE app_user SET address = $1 WHERE id = $2", ["Address of \(person.username)", person])
    return person
  }

  private func address(of person: Person) -> JSONValue { .string("Address of \(person.username)") }

  private func offer(by author: Person, _ more: String = "") throws -> NodeKey {
    try graph.make(
      "createCardOffer(input: {body: \"Owls for you\" \(more)})", "cardOffer", as: author)
  }

  private func request(by author: Person) throws -> NodeKey {
    try graph.make("createCardRequest(input: {body: \"Owls, please\"})", "cardRequest", as: author)
  }

  private func respond(_ offer: NodeKey, as person: Person?) throws -> [Refusal] {
    try graph.refusals("respondToOffer(cardOfferId: $id)", ["id: ID!": offer.json], as: person)
  }

  private func answer(_ request: NodeKey, approve: Bool, as person: Person) throws -> [Refusal] {
    try graph.refusals(
      "answerInfoRequest(infoRequestId: $id, approve: \(approve))", ["id: ID!": request.json],
      as: person)
  }

  /// Returns the follow-ups that a person has to send or waits for.
  private func followUps(_ person: Person, _ arguments: String = "role: SENDER, state: OPEN") throws
    -> [JSONValue]
  {
    let field = "followUps(\(arguments))"
    return try graph.data(
      """
      { viewer { \(field) { nodes { id state recipientAddress sender { id } recipient { id }
        post { ... on Node { id } } } } } }
      """, as: person
    ).at("viewer.followUps.nodes")?.array ?? []
  }

  private func infoRequests(_ person: Person) throws -> [JSONValue] {
    try graph.data(
      "{ viewer { infoRequests(status: PENDING) { nodes { id requester { id } } } } }", as: person
    )
    .at("viewer.infoRequests.nodes")?.array ?? []
  }

  @Test func `HM-R06: cards are offered, with a number or without`() throws {
    let (author, word) = (try writer(), GraphData.unique("owl"))
    let stream = """
      query($word: String!) { posts(filter: {search: $word, kinds: [CARD_OFFER]}) { nodes { id
        author { id } ... on CardOffer { responseLimit responseCount isOpen regions { name } } } } }
      """
    var made: [JSONValue] = []
    for limit in ["", ", responseLimit: null", ", responseLimit: 2"] {
      made.append(
        try graph.make(
          "createCardOffer(input: {body: $body \(limit)})", "cardOffer",
          ["body: String!": .string(word)], as: author
        ).json)
    }
    let seen = try graph.data(stream, ["word": .string(word)])
    #expect(seen.list("posts.nodes", "id") == made.reversed())
    #expect(seen.list("posts.nodes", "responseLimit") == [2, nil, nil])
    #expect(seen.list("posts.nodes", "isOpen") == [true, true, true])
    for limit in ["0", "-1"] {
      #expect(
        try graph.refusals(
          "createCardOffer(input: {body: \"x\", responseLimit: \(limit)})", as: author)
          == [Refusal("INVALID", "input", "responseLimit")])
    }
    #expect(
      try graph.refusals("createCardOffer(input: {body: \" \"})", as: author)
        == [Refusal("REQUIRED", "input", "body")])
    #expect(
      try graph.mutationErrorCodes("createCardOffer(input: {body: \"x\"})", as: nil)
        == ["UNAUTHENTICATED"])
  }

  @Test func `HM-R07: cards are asked for`() throws {
    let (author, reader, word) = (try writer(), try writer(), GraphData.unique("owl"))
    let made = try graph.make(
      "createCardRequest(input: {body: $body})", "cardRequest", ["body: String!": .string(word)],
      as: author)
    #expect(
      try graph.data(
        """
        query($word: String!) { posts(filter: {search: $word, kinds: [CARD_REQUEST]}) {
          nodes { id author { id } ... on CardRequest { isOpen responseCount } } } }
        """, ["word": .string(word)], as: reader
      ).at("posts.nodes")
        == [["id": made.json, "author": ["id": author.json], "isOpen": true, "responseCount": 0]])
    #expect(try graph.actions(made, as: reader).contains("REQUEST_ADDRESS"))
    #expect(
      try graph.refusals(
        "createCardRequest(input: {body: $body})",
        ["body: String!": .string(String(repeating: "x", count: 5_001))], as: author)
        == [Refusal("TOO_LONG", "input", "body")])
  }

  @Test func `HM-R11: answering an offer sends one's address, to its author alone`() throws {
    let data = try graph.data()
    let (author, ann, other, homeless) = (
      try writer(), try writer("Ann"), try writer(), try data.person()
    )
    let offer = try offer(by: author)
    #expect(try respond(offer, as: author) == [Refusal("FORBIDDEN", "cardOfferId")])
    #expect(try respond(offer, as: homeless) == [Refusal("ADDRESS_REQUIRED", "cardOfferId")])
    #expect(
      try respond(try request(by: author), as: ann) == [Refusal("NOT_FOUND", "cardOfferId")])
    let payload = try graph.mutate(
      "respondToOffer(cardOfferId: $id)",
      "cardOffer { responseCount isOpen viewerActions viewerFollowUp { state recipientAddress } }",
      ["id: ID!": offer.json], as: ann)
    #expect(payload.at("cardOffer.responseCount") == 1)
    #expect(payload.at("cardOffer.isOpen") == true)
    #expect(
      payload.at("cardOffer.viewerFollowUp") == ["state": "OPEN", "recipientAddress": nil])
    #expect(
      payload.at("cardOffer.viewerActions")?.array?.contains("RESPOND") == false)
    let owed = try followUps(author)
    #expect(owed.count == 1)
    #expect(owed.first?["recipientAddress"] == address(of: ann))
    #expect(owed.first?["recipient"] == ["id": ann.json])
    #expect(owed.first?["post"] == ["id": offer.json])
    #expect(
      try followUps(ann, "role: RECIPIENT, state: OPEN").map { $0["recipientAddress"] } == [.null])
    #expect(try followUps(other) == [])
    let told = try graph.data("{ viewer { notifications { nodes { reason text } } } }", as: author)
    #expect(
      told.at("viewer.notifications.nodes")
        == [["reason": "OFFER_ANSWERED", "text": "<b>Ann</b> would like a card of yours."]])
    #expect(
      try graph.data(
        """
        query($id: ID!) { post(id: $id) { ... on CardOffer {
          responseCount respondents { nodes { id } } } } }
        """, ["id": offer.json], as: author)
        == [
          "post": ["responseCount": 1, "respondents": ["nodes": [["id": ann.json]]]]
        ])
  }

  @Test func `HM-R12: asking for an address reveals nothing yet`() throws {
    let (author, ann) = (try writer(), try writer())
    let request = try request(by: author)
    let ask = "requestAddress(cardRequestId: $id)"
    #expect(
      try graph.refusals(ask, ["id: ID!": request.json], as: author)
        == [Refusal("FORBIDDEN", "cardRequestId")])
    let payload = try graph.mutate(
      ask, "infoRequest { id status post { id responseCount viewerFollowUp { id } } }",
      ["id: ID!": request.json], as: ann)
    #expect(payload.at("infoRequest.status") == "PENDING")
    #expect(
      payload.at("infoRequest.post")
        == ["id": request.json, "responseCount": 1, "viewerFollowUp": nil])
    #expect(try followUps(ann, "role: SENDER") == [])
    #expect(try infoRequests(author).map { $0["requester"] } == [["id": ann.json]])
    #expect(try infoRequests(ann) == [])
    try graph.mutate("closeCardPost(postId: $id)", ["id: ID!": request.json], as: author)
    #expect(
      try graph.refusals(ask, ["id: ID!": request.json], as: try writer())
        == [Refusal("CLOSED", "cardRequestId")])
    #expect(
      try graph.refusals(ask, ["id: ID!": try offer(by: author).json], as: ann)
        == [Refusal("NOT_FOUND", "cardRequestId")])
  }

  /// Ann asks the author of a request for the address.
  private func asked() throws -> (request: NodeKey, author: Person, ann: Person) {
    let (author, ann) = (try writer("Author"), try writer("Ann"))
    let request = try request(by: author)
    let asked = try graph.make(
      "requestAddress(cardRequestId: $id)", "infoRequest", ["id: ID!": request.json], as: ann)
    return (asked, author, ann)
  }

  @Test func `HM-R13: an approval gives the address to the asker alone, once`() throws {
    let data = try graph.data()
    let (asked, author, ann) = try asked()
    let other = try writer()
    #expect(try answer(asked, approve: true, as: other) == [Refusal("NOT_FOUND", "infoRequestId")])
    #expect(try answer(asked, approve: true, as: ann) == [Refusal("FORBIDDEN", "infoRequestId")])
    try data.run("UPDATE app_user SET address = NULL WHERE id = $1", [author])
    #expect(try answer(asked, approve: true, as: author) == [Refusal("ADDRESS_REQUIRED", "approve")])
    try graph.mutate(
      "updateProfile(input: {address: $it})",
      ["it: String": .string("Address of \(author.username)")], as: author)
    for _ in 0..<2 { #expect(try answer(asked, approve: true, as: author) == []) }
    #expect(
      try answer(asked, approve: false, as: author) == [Refusal("ALREADY_DONE", "infoRequestId")])
    let owed = try followUps(ann)
    #expect(owed.map { $0["recipientAddress"] } == [address(of: author)])
    #expect(owed.map { $0["state"] } == ["OPEN"])
    #expect(
      try followUps(author, "role: RECIPIENT, state: OPEN").map { $0["recipientAddress"] } == [
        .null
      ])
    #expect(try infoRequests(author) == [])
    #expect(try graph.told(ann) == ["INFO_ANSWERED"])
    let id = NodeKey(try #require(owed.first?["id"]?.string.flatMap { NodeID.decode($0) }))
    for person in [other, nil] { #expect(try !graph.finds(id, as: person)) }
  }

  @Test func `HM-R14: a denied request leaves the list and reveals nothing`() throws {
    let (asked, author, ann) = try asked()
    for _ in 0..<2 { #expect(try answer(asked, approve: false, as: author) == []) }
    #expect(
      try answer(asked, approve: true, as: author) == [Refusal("ALREADY_DONE", "infoRequestId")])
    #expect(try infoRequests(author) == [])
    #expect(try followUps(ann, "role: SENDER") == [])
    #expect(
      try graph.data(
        "query($id: ID!) { node(id: $id) { ... on InfoRequest { status } } }", ["id": asked.json],
        as: ann) == ["node": ["status": "DECLINED"]])
    let told = try graph.data("{ viewer { notifications { nodes { text } } } }", as: ann)
    #expect(
      told.strings("viewer.notifications.nodes", "text")
        == ["<b>Author</b> did not give you their address."])
  }

  /// An offer that Ann answered: the card her author owes her.
  private func owed() throws -> (followUp: NodeKey, author: Person, ann: Person) {
    let (author, ann) = (try writer("Author"), try writer("Ann"))
    #expect(try respond(try offer(by: author), as: ann) == [])
    let id = try #require(try followUps(author).first?["id"]?.string.flatMap { NodeID.decode($0) })
    return (NodeKey(id), author, ann)
  }

  private func resolve(_ followUp: NodeKey, completed: Bool, as person: Person) throws -> [Refusal]
  {
    try graph.refusals(
      "resolveFollowUp(followUpId: $id, state: \(completed ? "COMPLETED" : "UNABLE"))",
      ["id: ID!": followUp.json],
      as: person)
  }

  private func resolved(completed: Bool) throws -> (author: Person, ann: Person) {
    let (followUp, author, ann) = try owed()
    let other = try writer()
    #expect(
      try resolve(followUp, completed: completed, as: other) == [Refusal("NOT_FOUND", "followUpId")]
    )
    #expect(
      try resolve(followUp, completed: completed, as: ann) == [Refusal("FORBIDDEN", "followUpId")])
    let payload = try graph.mutate(
      "resolveFollowUp(followUpId: $id, state: \(completed ? "COMPLETED" : "UNABLE"))",
      "followUp { state recipientAddress resolvedAt }", ["id: ID!": followUp.json], as: author)
    let state: JSONValue = completed ? "COMPLETED" : "UNABLE"
    #expect(payload.at("followUp.state") == state)
    #expect(payload.at("followUp.resolvedAt")?.string != nil)
    // The address is seen only while the card is to be sent.
    #expect(payload.at("followUp.recipientAddress") == .null)
    #expect(try resolve(followUp, completed: completed, as: author) == [])
    #expect(
      try resolve(followUp, completed: !completed, as: author)
        == [Refusal("ALREADY_DONE", "followUpId")])
    #expect(try followUps(author) == [])
    #expect(try followUps(ann, "role: RECIPIENT, state: OPEN") == [])
    #expect(try followUps(ann, "role: RECIPIENT").map { $0["state"] } == [state])
    return (author, ann)
  }

  @Test func `HM-R17: a card sent is completed, once, by its sender`() throws {
    let (_, ann) = try resolved(completed: true)
    #expect(try graph.told(ann) == [])
  }

  @Test func `HM-R18: a card that cannot be sent is given up, by its sender`() throws {
    let (author, _) = try resolved(completed: false)
    #expect(
      try followUps(author, "role: SENDER, state: UNABLE").map { $0["recipientAddress"] } == [.null]
    )
  }

  @Test func `HM-O15: who waited learns that the card will not come`() throws {
    let (_, ann) = try resolved(completed: false)
    let told = try graph.data("{ viewer { notifications { nodes { reason text } } } }", as: ann)
    #expect(
      told.at("viewer.notifications.nodes")
        == [["reason": "FOLLOW_UP_UNABLE", "text": "<b>Author</b> cannot send you a card."]])
  }

  @Test func `HM-O17: who is asked is told, and approves by the button`() throws {
    let (asked, author, ann) = try asked()
    let list = """
      { viewer { notifications { nodes { id reason text actor { id } about { id }
        action { kind label performedAt } } } } }
      """
    let told = try graph.data(list, as: author).at("viewer.notifications.nodes.0")
    #expect(told?["reason"] == "INFO_REQUESTED")
    #expect(
      told?["text"] == "<b>Ann</b> would like to send you a card and asks for your address.")
    #expect(told?["about"] == ["id": asked.json])
    #expect(
      told?["action"]
        == ["kind": "APPROVE_INFO_REQUEST", "label": "Give address", "performedAt": nil])
    let id = try #require(told?["id"])
    let perform = "performNotificationAction(notificationId: $id)"
    #expect(
      try graph.refusals(perform, ["id: ID!": id], as: ann)
        == [Refusal("NOT_FOUND", "notificationId")])
    for _ in 0..<2 {
      let done = try graph.mutate(
        perform, "notification { action { performedAt } }", ["id: ID!": id], as: author)
      #expect(done.at("notification.action.performedAt")?.string != nil)
    }
    #expect(try followUps(ann).map { $0["recipientAddress"] } == [address(of: author)])
    #expect(try infoRequests(author) == [])

    // Denied by hand first, the button can do nothing any more.
    let (denied, owner, _) = try self.asked()
    let button = try #require(
      try graph.data(list, as: owner).at("viewer.notifications.nodes.0.id"))
    #expect(try answer(denied, approve: false, as: owner) == [])
    #expect(
      try graph.refusals(perform, ["id: ID!": button], as: owner)
        == [Refusal("ALREADY_DONE", "notificationId")])
  }

  @Test func `HM-O05: nobody responds twice to a post, many times at once neither`() throws {
    let (author, ann) = (try writer(), try writer())
    let (offer, request) = (try offer(by: author), try request(by: author))
    let server = try graph
    let answers = try crowd(of: 16) { number in
      number % 2 == 0
        ? try server.refusals("respondToOffer(cardOfferId: $id)", ["id: ID!": offer.json], as: ann)
        : try server.refusals(
          "requestAddress(cardRequestId: $id)", ["id: ID!": request.json], as: ann)
    }
    #expect(answers.allSatisfy { $0 == [] }, "\(answers)")
    #expect(try followUps(author).count == 1)
    #expect(try infoRequests(author).count == 1)
    for post in [offer, request] {
      #expect(
        try server.data(
          """
          query($id: ID!) { post(id: $id) { ... on CardOffer { responseCount }
            ... on CardRequest { responseCount } } }
          """, ["id": post.json]) == ["post": ["responseCount": 1]])
      #expect(
        Set(try server.actions(post, as: ann)).isDisjoint(with: ["RESPOND", "REQUEST_ADDRESS"]))
    }
    #expect(try server.told(author).sorted() == ["INFO_REQUESTED", "OFFER_ANSWERED"])
  }

  @Test func `HM-O08: an author finishes an offer or request, for good; what is owed stays`() throws
  {
    let (author, ann, ben) = (try writer(), try writer(), try writer())
    for post in [try offer(by: author), try request(by: author)] {
      if post.number & 255 == 19 {
        #expect(try respond(post, as: ann) == [])
      } else {
        try graph.mutate("requestAddress(cardRequestId: $id)", ["id: ID!": post.json], as: ann)
      }
      #expect(
        try graph.refusals("closeCardPost(postId: $id)", ["id: ID!": post.json], as: ben)
          == [Refusal("FORBIDDEN", "postId")])
      #expect(try graph.actions(post, as: author).contains("CLOSE"))
      for _ in 0..<2 {
        #expect(
          try graph.mutate(
            "closeCardPost(postId: $id)",
            "cardPost { ... on CardOffer { isOpen } ... on CardRequest { isOpen } }",
            ["id: ID!": post.json], as: author)["cardPost"] == ["isOpen": false])
      }
      #expect(
        Set(try graph.actions(post, as: ben)).isDisjoint(with: ["RESPOND", "REQUEST_ADDRESS"]))
      #expect(try !graph.actions(post, as: author).contains("CLOSE"))
    }
    #expect(try followUps(author).count == 1)
    #expect(try infoRequests(author).count == 1)
    let text = try graph.make("createTextPost(input: {body: \"x\"})", "textPost", as: author)
    #expect(
      try graph.refusals("closeCardPost(postId: $id)", ["id: ID!": text.json], as: author)
        == [Refusal("NOT_FOUND", "postId")])
  }

  @Test func `HM-O09: an offer closes at its limit, exactly, however many come at once`() throws {
    let author = try writer()
    let people = try (0..<12).map { _ in try writer() }
    let offer = try offer(by: author, ", responseLimit: 5")
    let server = try graph
    let results = try crowd(of: people.count) { number in
      try server.refusals(
        "respondToOffer(cardOfferId: $id)", ["id: ID!": offer.json], as: people[number])
    }
    #expect(results.filter { $0 == [] }.count == 5)
    #expect(results.filter { $0 == [Refusal("CLOSED", "cardOfferId")] }.count == 7)
    #expect(
      try server.data(
        """
        query($id: ID!) { post(id: $id) { ... on CardOffer {
          isOpen responseCount respondents { totalCount } } } }
        """, ["id": offer.json], as: author)
        == ["post": ["isOpen": false, "responseCount": 5, "respondents": ["totalCount": 5]]])
    #expect(try followUps(author).count == 5)
    // Who is among them is told again that it is done.
    for (person, refusals) in zip(people, results) {
      #expect(try respond(offer, as: person) == refusals)
    }
  }

  @Test func `HM-O11: regions are stated for an offer and on a profile; none means worldwide`()
    throws
  {
    let data = try graph.data()
    let (author, reader, word) = (try writer(), try writer(), GraphData.unique("owl"))
    let europe = try data.location("Europe \(word)", level: "COUNTRY")
    let city = try data.location("City \(word)", level: "CITY", parent: europe)
    let far = try data.location("Far \(word)", level: "COUNTRY")
    func create(_ regions: JSONValue) throws -> JSONValue {
      try graph.make(
        "createCardOffer(input: {body: $body, regionIds: $regions})", "cardOffer",
        ["body: String!": .string(word), "regions: [ID!]": regions], as: author
      ).json
    }
    let (regional, worldwide) = (try create([europe.json, europe.json]), try create([]))
    func reaching(_ place: NodeKey) throws -> [JSONValue] {
      try graph.data(
        """
        query($word: String!, $to: ID!) { posts(filter: {search: $word, sendsToId: $to}) {
          nodes { id } } }
        """, ["word": .string(word), "to": place.json], as: reader
      ).list("posts.nodes", "id")
    }
    #expect(try reaching(city) == [worldwide, regional])
    #expect(try reaching(far) == [worldwide])
    try graph.mutate(
      "updateProfile(input: {shipsToLocationIds: $ids})", ["ids: [ID!]": [far.json, europe.json]],
      as: author)
    let profile = "query($id: ID!) { user(by: {id: $id}) { shipsTo { id } } }"
    #expect(
      try graph.data(profile, ["id": author.json], as: reader)
        == ["user": ["shipsTo": [["id": europe.json], ["id": far.json]]]])
    try graph.mutate("updateProfile(input: {bio: \"x\"})", as: author)
    try graph.mutate(
      "updateProfile(input: {shipsToLocationIds: [$id]})", ["id: ID!": far.json], as: author)
    #expect(
      try graph.data(profile, ["id": author.json]) == ["user": ["shipsTo": [["id": far.json]]]])
    try graph.mutate("updateProfile(input: {shipsToLocationIds: []})", as: author)
    #expect(try graph.data(profile, ["id": author.json]) == ["user": ["shipsTo": []]])
    #expect(
      try graph.refusals(
        "createCardOffer(input: {body: \"x\", regionIds: [$id, \"no id\"]})",
        ["id: ID!": far.json], as: author)
        == [Refusal("NOT_FOUND", "input", "regionIds", "1")])
    #expect(
      try graph.refusals(
        "updateProfile(input: {shipsToLocationIds: [$id]})", ["id: ID!": author.json], as: author)
        == [Refusal("NOT_FOUND", "input", "shipsToLocationIds", "0")])
  }

  @Test func `HM-O16: posts are liked, once each, beside their hearts`() throws {
    let data = try graph.data()
    let (author, ann) = (try writer(), try writer())
    let blocked = try data.person()
    try graph.mutate("blockUser(userId: $id)", ["id: ID!": blocked.json], as: author)
    let posts = [
      try offer(by: author), try request(by: author),
      try graph.make(
        "createThankYou(input: {body: \"Thanks!\", taggedUserIds: [$id]})", "thankYou",
        ["id: ID!": ann.json], as: author),
    ]
    for post in posts {
      for _ in 0..<2 {
        try graph.mutate("react(subjectId: $id, kind: LIKE)", ["id: ID!": post.json], as: ann)
      }
      let query = """
        query($id: ID!) { post(id: $id) { likes: reactionCount(kind: LIKE)
          hearts: reactionCount(kind: HEART) viewerReactions } }
        """
      #expect(
        try graph.data(query, ["id": post.json], as: ann)
          == ["post": ["likes": 1, "hearts": 0, "viewerReactions": ["LIKE"]]])
      #expect(
        try graph.data(query, ["id": post.json], as: author)
          == ["post": ["likes": 1, "hearts": 0, "viewerReactions": []]])
      try graph.mutate("unreact(subjectId: $id, kind: LIKE)", ["id: ID!": post.json], as: ann)
      #expect(try graph.data(query, ["id": post.json]).at("post.likes") == 0)
      #expect(
        try graph.refusals(
          "react(subjectId: $id, kind: LIKE)", ["id: ID!": post.json], as: blocked)
          == [Refusal("NOT_FOUND", "subjectId")])
    }
  }
}
