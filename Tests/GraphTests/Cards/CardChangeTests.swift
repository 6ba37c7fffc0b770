import JSON
import TestSupport
import Testing

/// What becomes of offers, requests and their answers later, and where offers reach.
@Suite(.usesCluster) struct CardChangeTests {
  private var server: GraphServer { get throws { try .shared } }
  private static let respond = "respondToOffer(cardOfferId: $id)"
  private static let withdraw = "withdrawOfferResponse(cardOfferId: $id)"

  private func refusals(_ field: String, _ id: NodeKey, as person: Person) throws -> [Refusal] {
    try server.refusals(field, ["id: ID!": id.json], as: person)
  }

  /// Returns whether an offer or a request is open, how many answered, and the limit.
  private func state(_ post: NodeKey) throws -> [String?] {
    try server.data().run(
      "SELECT is_open, response_count, response_limit FROM card_post WHERE post_id = $1", [post])[0]
  }

  private func people(_ count: Int, _ home: NodeKey? = nil) throws -> [Person] {
    let data = try server.data()
    return try (0..<count).map { number in
      try data.person("p\(number)", ["address": "Road \(number)", "home_id": home])
    }
  }

  @Test func `a limit opens what it closed, and what its author closed stays so`() throws {
    let server = try server
    let data = try server.data()
    let author = try data.person()
    let people = try people(3)
    let offer = try data.offer(by: author, limit: 1)
    func limit(_ number: JSONValue) throws -> JSONValue {
      try server.payload(
        "updateCardOffer(cardOfferId: $id, input: {responseLimit: $limit})",
        "cardOffer { isOpen } ", ["id: ID!": offer.json, "limit: Int": number], as: author)
    }
    #expect(try refusals(Self.respond, offer, as: people[0]) == [])
    #expect(try state(offer) == ["f", "1", "1"])
    #expect(
      try refusals("reopenCardPost(postId: $id)", offer, as: author) == [Refusal("FULL", "postId")])
    #expect(try limit(2)["cardOffer"] == ["isOpen": true])
    #expect(try refusals(Self.respond, offer, as: people[1]) == [])
    let refused = try limit(1)
    #expect(
      (refused["userErrors"]?.array ?? []).map { Refusal($0) }
        == [Refusal("INVALID", "input", "responseLimit")])
    #expect(try state(offer) == ["f", "2", "2"])
    // Closed by its author: no limit opens it.
    #expect(try refusals("closeCardPost(postId: $id)", offer, as: author) == [])
    #expect(try limit(.null)["cardOffer"] == ["isOpen": false])
    #expect(
      try refusals(Self.respond, offer, as: people[2]) == [Refusal("CLOSED", "cardOfferId")])
    for _ in 0..<2 {
      #expect(try refusals("reopenCardPost(postId: $id)", offer, as: author) == [])
    }
    #expect(try refusals(Self.respond, offer, as: people[2]) == [])
    #expect(try state(offer) == ["t", "3", nil])
  }

  @Test func `an answer is taken back while the card is owed, and the offer is open again`() throws
  {
    let server = try server
    let data = try server.data()
    let author = try data.person()
    let people = try people(2)
    let offer = try data.offer(by: author, limit: 1)
    for _ in 0..<2 { #expect(try refusals(Self.withdraw, offer, as: people[0]) == []) }
    #expect(try refusals(Self.respond, offer, as: people[0]) == [])
    #expect(try server.told(author) == ["OFFER_ANSWERED"])
    let address = """
      { viewer { followUps(role: SENDER) { nodes { recipientAddress } } } }
      """
    #expect(
      try server.data(address, as: author).list("viewer.followUps.nodes", "recipientAddress")
        == ["Road 0"])
    for _ in 0..<2 { #expect(try refusals(Self.withdraw, offer, as: people[0]) == []) }
    #expect(try state(offer) == ["t", "0", "1"])
    #expect(try server.told(author) == [])
    #expect(try server.data(address, as: author).at("viewer.followUps.nodes") == [])
    #expect(try refusals(Self.respond, offer, as: people[1]) == [])
    try data.run(
      "UPDATE follow_up SET state = 'COMPLETED', resolved_at = now() WHERE post_id = $1", [offer])
    #expect(
      try refusals(Self.withdraw, offer, as: people[1]) == [Refusal("ALREADY_DONE", "cardOfferId")])
    #expect(try state(offer) == ["f", "1", "1"])
    // It stays closed if its author closed it.
    let other = try data.offer(by: author)
    #expect(try refusals(Self.respond, other, as: people[0]) == [])
    #expect(try refusals("closeCardPost(postId: $id)", other, as: author) == [])
    #expect(try refusals(Self.withdraw, other, as: people[0]) == [])
    #expect(try state(other) == ["f", "0", nil])
  }

  @Test func `a request for an address is taken back until it is answered, and made again`() throws
  {
    let server = try server
    let data = try server.data()
    let (author, asker) = (try people(2)[0], try data.person())
    let request = try data.cardRequest(by: author)
    let ask = "requestAddress(cardRequestId: $id)"
    let made = try server.make(ask, "infoRequest", ["id: ID!": request.json], as: asker)
    let withdraw = "withdrawInfoRequest(infoRequestId: $id)"
    #expect(
      try refusals(withdraw, made, as: author) == [Refusal("FORBIDDEN", "infoRequestId")])
    #expect(try refusals(withdraw, request, as: asker) == [Refusal("NOT_FOUND", "infoRequestId")])
    for _ in 0..<2 {
      let payload = try server.mutate(
        withdraw, "infoRequest { status post { responseCount viewerActions } }",
        ["id: ID!": made.json], as: asker)
      #expect(payload.at("infoRequest.status") == "WITHDRAWN")
      #expect(payload.at("infoRequest.post.responseCount") == 0)
      #expect(
        payload.at("infoRequest.post.viewerActions")?.array?.contains("REQUEST_ADDRESS") == true)
    }
    #expect(try server.told(author) == [])
    let answer = "answerInfoRequest(infoRequestId: $id, approve: true)"
    #expect(try refusals(answer, made, as: author) == [Refusal("CLOSED", "infoRequestId")])
    #expect(try server.make(ask, "infoRequest", ["id: ID!": request.json], as: asker) == made)
    #expect(try state(request) == ["t", "1", nil])
    #expect(try server.told(author) == ["INFO_REQUESTED"])
    #expect(try refusals(answer, made, as: author) == [])
    #expect(
      try refusals(withdraw, made, as: asker) == [Refusal("ALREADY_DONE", "infoRequestId")])
  }

  @Test func `who sends a card takes back within a day what became of it`() throws {
    let server = try server
    let data = try server.data()
    let (sender, recipient) = (try data.person(), try people(1)[0])
    let owed = try data.followUp(try data.offer(by: sender), from: sender, to: recipient)
    func resolve(_ state: String) throws -> [Refusal] {
      try refusals("resolveFollowUp(followUpId: $id, state: \(state))", owed, as: sender)
    }
    #expect(try resolve("OPEN") == [])
    #expect(try resolve("UNABLE") == [])
    #expect(try server.told(recipient) == ["FOLLOW_UP_UNABLE"])
    #expect(try resolve("COMPLETED") == [Refusal("ALREADY_DONE", "followUpId")])
    for _ in 0..<2 { #expect(try resolve("OPEN") == []) }
    #expect(try server.told(recipient) == [])
    let seen = try server.data(
      "query($id: ID!) { node(id: $id) { ... on FollowUp { state resolvedAt recipientAddress } } }",
      ["id": owed.json], as: sender)
    #expect(
      seen == ["node": ["state": "OPEN", "resolvedAt": nil, "recipientAddress": "Road 0"]])
    // What was read stays.
    #expect(try resolve("UNABLE") == [])
    try server.mutate("markNotificationsRead", as: recipient)
    #expect(try resolve("OPEN") == [])
    #expect(try server.told(recipient) == ["FOLLOW_UP_UNABLE"])
    #expect(try resolve("COMPLETED") == [])
    try data.run(
      "UPDATE follow_up SET resolved_at = now() - interval '24 hours' WHERE id = $1", [owed])
    #expect(try resolve("OPEN") == [Refusal("PAST", "followUpId")])
    #expect(try resolve("COMPLETED") == [])
  }

  @Test func `an offer reaches homes in its regions alone, before an address is looked at`() throws
  {
    let server = try server
    let data = try server.data()
    let author = try data.person(name: "Ana")
    let argentina = try data.location("Argentina", level: "COUNTRY")
    let rosario = try data.location("Rosario", level: "CITY", parent: argentina)
    let perth = try data.location("Perth", level: "CITY")
    let (inside, country) = (try people(1, rosario)[0], try people(1, argentina)[0])
    let outside = try data.person("outside", ["home_id": perth])
    let homeless = try data.person("homeless", ["address": "Road"])
    let offer = try data.offer(by: author, regions: [argentina])
    #expect(
      try refusals(Self.respond, offer, as: outside) == [Refusal("OUT_OF_REGION", "cardOfferId")])
    #expect(
      try refusals(Self.respond, offer, as: homeless) == [Refusal("HOME_REQUIRED", "cardOfferId")])
    let message = try server.payload(
      Self.respond, "__typename", ["id: ID!": offer.json], as: outside
    ).at("userErrors.0.message")?.string
    #expect(message?.contains("Argentina") == true)
    for (person, isShown) in [(outside, false), (homeless, true), (inside, true)] {
      #expect(try server.actions(offer, as: person).contains("RESPOND") == isShown)
    }
    #expect(try state(offer) == ["t", "0", nil])
    #expect(try server.told(author) == [])
    #expect(try refusals(Self.respond, offer, as: inside) == [])
    #expect(try refusals(Self.respond, offer, as: country) == [])
    // Narrowed later: answers given stay, and a country is not in its city.
    try server.mutate(
      "updateCardOffer(cardOfferId: $id, input: {regionIds: [$city]})",
      ["id: ID!": offer.json, "city: ID!": perth.json], as: author)
    #expect(try refusals(Self.respond, offer, as: inside) == [])
    #expect(try state(offer) == ["t", "2", nil])
    #expect(
      try refusals(Self.respond, offer, as: outside)
        == [Refusal("ADDRESS_REQUIRED", "cardOfferId")])
    let narrow = try data.offer(by: author, regions: [rosario])
    #expect(
      try refusals(Self.respond, narrow, as: country) == [Refusal("OUT_OF_REGION", "cardOfferId")])
  }

  @Test func `thanks to others: who is added is told, who goes is not told any more`() throws {
    let server = try server
    let data = try server.data()
    let author = try data.person()
    let (first, second, third) = (try data.person(), try data.person(), try data.person())
    let thanks = try server.make(
      "createThankYou(input: {body: \"x\", taggedUserIds: [$a, $b]})", "thankYou",
      ["a: ID!": first.json, "b: ID!": second.json], as: author)
    try server.mutate("markNotificationsRead", as: second)
    try server.mutate(
      "updateThankYou(thankYouId: $id, input: {taggedUserIds: [$c]})",
      ["id: ID!": thanks.json, "c: ID!": third.json], as: author)
    #expect(try server.told(first) == [])
    #expect(try server.told(second) == ["TAGGED"])
    #expect(try server.told(third) == ["TAGGED"])
    for (person, score) in [(first, 0), (second, 0), (third, 1)] {
      #expect(
        try server.data(
          "query($id: ID!) { user(by: {id: $id}) { thankYouScore } }", ["id": person.json])
          == ["user": ["thankYouScore": .number("\(score)")]])
    }
    #expect(
      try refusals(
        "updateThankYou(thankYouId: $id, input: {taggedUserIds: []})", thanks, as: author)
        == [Refusal("REQUIRED", "input", "taggedUserIds")])
  }

  // MARK: At once

  @Test func `sixteen that close and reopen at once leave it as the last one said`() throws {
    let server = try server
    let data = try server.data()
    let author = try data.person()
    let offer = try data.offer(by: author, limit: 3)
    let answers = try crowd(of: 16) { index in
      try server.refusals(
        "\(index % 2 == 0 ? "close" : "reopen")CardPost(postId: $id)", ["id: ID!": offer.json],
        as: author)
    }
    #expect(answers.allSatisfy { $0.isEmpty })
    #expect(
      try data.run(
        "SELECT is_open = (closed_at IS NULL) FROM card_post WHERE post_id = $1", [offer])
        == [["t"]])
    #expect(try refusals("reopenCardPost(postId: $id)", offer, as: author) == [])
    #expect(try state(offer) == ["t", "0", "3"])
  }

  @Test func `a limit that is lowered while sixteen answer is never exceeded`() throws {
    let server = try server
    let data = try server.data()
    let author = try data.person()
    let people = try people(16)
    let offer = try data.offer(by: author, limit: 16)
    let answers = try crowd(of: 17) { index in
      index == 16
        ? try server.refusals(
          "updateCardOffer(cardOfferId: $id, input: {responseLimit: 5})", ["id: ID!": offer.json],
          as: author)
        : try server.refusals(Self.respond, ["id: ID!": offer.json], as: people[index])
    }
    let taken = answers[..<16].count { $0.isEmpty }
    let isLowered = answers[16].isEmpty
    #expect(isLowered || answers[16] == [Refusal("INVALID", "input", "responseLimit")])
    #expect(taken == (isLowered ? 5 : 16))
    #expect(
      answers[..<16].allSatisfy { $0.isEmpty || $0 == [Refusal("CLOSED", "cardOfferId")] })
    #expect(
      try state(offer) == ["f", "\(taken)", isLowered ? "5" : "16"])
    #expect(
      try data.run("SELECT FROM follow_up WHERE post_id = $1", [offer]).count == taken)
  }

  @Test func `the one answer an offer takes is of somebody it reaches`() throws {
    let server = try server
    let data = try server.data()
    let (rosario, perth) = (
      try data.location("Rosario", level: "CITY"), try data.location("Perth", level: "CITY")
    )
    let people = try people(1, rosario) + people(1, perth)
    for _ in 0..<4 {
      let offer = try data.offer(by: try data.person(), regions: [rosario], limit: 1)
      let answers = try crowd(of: 2) { index in
        try server.refusals(Self.respond, ["id: ID!": offer.json], as: people[index])
      }
      #expect(answers == [[], [Refusal("OUT_OF_REGION", "cardOfferId")]])
      #expect(try state(offer) == ["f", "1", "1"])
    }
  }

  @Test func `answers given and taken back at once are counted`() throws {
    let server = try server
    let data = try server.data()
    let people = try people(16)
    let offer = try data.offer(by: try data.person(), limit: 16)
    _ = try crowd(of: 16) { index in
      for round in 0..<4 {
        try server.mutate(
          round % 2 == 0 ? Self.respond : Self.withdraw, ["id: ID!": offer.json], as: people[index])
      }
      if index < 5 { try server.mutate(Self.respond, ["id: ID!": offer.json], as: people[index]) }
    }
    #expect(try state(offer) == ["t", "5", "16"])
    #expect(try data.run("SELECT FROM follow_up WHERE post_id = $1", [offer]).count == 5)
  }
}
