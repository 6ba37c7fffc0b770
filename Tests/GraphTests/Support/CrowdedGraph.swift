import TestSupport

/// A small graph in which everything happens at once: lists of every sort whose rows share their
/// times, names, scores and prices, or have none, so that only their ids tell them apart.
struct CrowdedGraph {
  let server: GraphServer
  let viewer: Person
  /// Sees what waits to be decided about.
  let staff: Person
  let people: [Person]
  let trainer: Person
  let location: NodeKey
  let product: NodeKey
  let channel: NodeKey
  let program: NodeKey
  /// A class of the viewer's that others booked.
  let roster: NodeKey
  let conversation: NodeKey
  let comment: NodeKey
  /// One of each kind, all with comments and reactions.
  let posts: [PostTag: NodeKey]

  static let shared = Result { try CrowdedGraph() }
  static let moment = "2026-03-01 12:00:00+00"
  private static let later = "2035-03-01 12:00:00+00"

  private init() throws {
    server = try GraphServer.alone()
    let data = try server.data()
    let moment = Self.moment

    viewer = try data.person("viewer", name: "Vera Viewer")
    var people: [Person] = []
    for number in 0..<11 {
      people.append(
        try data.person("p\(number)_", name: number % 4 == 3 ? "Other Name" : "Same Name"))
    }
    self.people = people
    for person in people {
      try data.follow(viewer, person, at: moment)
      try data.follow(person, viewer, at: moment)
      if person.key != people[0].key { try data.follow(person, people[0], at: moment) }
    }

    // Places, one name, some without coordinates.
    let country = try data.location("Samecountry", level: "COUNTRY")
    location = try data.location("Sameplace", parent: country, latitude: 10, longitude: 20)
    for number in 0..<6 {
      let isKnown = number % 2 == 0
      _ = try data.location(
        "Sameplace", parent: country, latitude: isKnown ? 10 : nil,
        longitude: isKnown ? 20 : nil)
    }

    // Products at one price, and without one.
    product = try data.product("Samething", price: "5.00")
    var products = [product]
    for number in 0..<8 {
      products.append(
        try data.product("Samething", price: number % 3 == 0 ? nil : "5.00", description: "common"))
    }

    // Circles of one name.
    channel = try data.circle(
      "Samecircle", kind: "CHANNEL", owner: people[0], members: Array(people.dropFirst()) + [viewer]
    )
    for number in 0..<6 {
      _ = try data.circle(
        number % 2 == 0 ? "Samecircle" : "samecircle", kind: number < 3 ? "CHANNEL" : "GROUP",
        owner: people[number], members: [viewer])
    }

    // Posts of one moment, by several and by one; most of them nobody reacted to.
    var posts: [PostTag: NodeKey] = [:]
    for (number, tag) in PostTag.allCases.enumerated() {
      posts[tag] = try data.post(
        tag, by: people[number], "common words", location: location, circle: channel, at: moment,
        product: tag == .product ? product : nil, title: "common", startsAt: Self.later)
    }
    self.posts = posts
    for number in 0..<12 {
      let post = try data.post(
        number % 2 == 0 ? .text : .product, by: people[0], "common words", location: location,
        circle: channel, at: moment, product: number % 2 == 0 ? nil : product)
      try data.add("post_tag", ["post_id": post, "user_id": viewer.key])
      try data.react(people[1], "TOP", to: post, at: moment)
      if number < 5 { try data.react(people[2], "TOP", to: post, at: moment) }
    }
    for number in 0..<6 {
      let post = try data.post(
        number % 2 == 0 ? .announcement : .event, by: people[3], "common words", at: moment,
        title: "common", startsAt: Self.later)
      _ = post
    }

    // Everything that takes comments and reactions has some, of one moment.
    var comments: [NodeKey] = []
    for subject in Array(posts.values) + [location, channel] {
      for number in 0..<7 {
        comments.append(
          try data.comment(subject, by: people[number], "common words", at: moment))
      }
    }
    comment = comments[0]
    for post in posts.values {
      for (number, person) in people.enumerated() {
        try data.react(person, "HEART", to: post, at: moment)
        if number % 2 == 0 { try data.react(person, "LIKE", to: post, at: moment) }
        if number % 3 == 0 { try data.react(person, "TOP", to: post, at: moment) }
      }
    }
    for person in people {
      try data.react(person, "TOP", to: location, at: moment)
      try data.react(person, "HEART", to: product, at: moment)
      try data.react(person, "AGREE", to: comment, at: moment)
      try data.add(
        "attendance",
        [
          "event_id": posts[.event], "user_id": person.key, "status": "GOING",
          "updated_at": moment,
        ])
    }

    // Classes at one time: of one program by several trainers, of one trainer in several programs.
    trainer = try data.person("trainer", name: "Same Name", roles: ["MEMBER", "TRAINER"])
    var programs: [NodeKey] = []
    for _ in 0..<6 {
      programs.append(
        try data.insert(
          "program", ["title": "Sameclass", "training": "GROUP", "duration_minutes": 60]))
    }
    program = programs[0]
    var sessions: [NodeKey] = []
    func session(_ program: NodeKey, _ trainer: Person) throws {
      try data.run(
        "INSERT INTO program_trainer VALUES (\(program), \(trainer.key)) ON CONFLICT DO NOTHING")
      sessions.append(
        try data.insert(
          "class_session",
          [
            "program_id": program, "trainer_id": trainer.key, "starts_at": Self.later,
            "ends_at": "2035-03-01 13:00:00+00", "capacity": 9,
          ]))
    }
    for program in programs { try session(program, trainer) }
    for person in people.prefix(6) { try session(program, person) }
    for session in sessions.suffix(6) {
      _ = try data.insert(
        "booking", ["session_id": session, "user_id": viewer.key, "created_at": moment])
      try data.run("UPDATE class_session SET booked_count = 1 WHERE id = \(session)")
    }

    // A class of the viewer's, with seats that were taken at one moment.
    roster = try data.classSession(
      data.program("Taught", trainers: [viewer]), by: viewer, at: Self.later, capacity: 20)
    for person in people.prefix(7) { try data.book(person, roster) }
    try data.run("UPDATE booking SET created_at = $1 WHERE session_id = $2", [moment, roster])

    // What is the viewer's own.
    for test in ["MILE_TIME", "PUSH_UPS_PER_MINUTE", "LEG_PRESS", "BENCH_PRESS", "LAT_PULL"] {
      _ = try data.insert(
        "test_result",
        ["user_id": viewer.key, "test": test, "value": 1.0, "recorded_at": moment])
    }
    var firstConversation: NodeKey?
    for (number, person) in people.prefix(7).enumerated() {
      let text = [viewer.key.number, person.key.number].sorted().map(String.init)
      let conversation = try data.insert(
        "conversation", ["member_key": text.joined(separator: ","), "updated_at": moment])
      firstConversation = firstConversation ?? conversation
      for member in [viewer, person] {
        try data.add(
          "conversation_member", ["conversation_id": conversation, "user_id": member.key])
      }
      for _ in 0..<(number == 0 ? 7 : 1) {
        _ = try data.insert(
          "message",
          [
            "conversation_id": conversation, "author_id": person.key, "body": "common",
            "created_at": moment,
          ])
      }
      _ = try data.insert(
        "notification",
        [
          "recipient_id": viewer.key, "reason": "FOLLOWED", "actor_id": person.key,
          "phrase": "common", "destination": "", "created_at": moment,
        ])
      _ = try data.insert(
        "external_contact",
        [
          "owner_id": viewer.key, "provider": "GOOGLE", "external_id": "x\(number)",
          "name": "Same Name", "name_key": "same name",
        ])
      _ = try data.insert(
        "activity_track",
        [
          "user_id": viewer.key, "title": "common", "started_at": moment, "ended_at": moment,
          "distance": 0, "path": "[]",
        ])
      let event = try data.post(.event, by: person, at: moment, startsAt: Self.later)
      _ = try data.invite(person, viewer, to: event)
      let offer = try data.post(.cardOffer, by: person, at: moment)
      _ = try data.insert(
        "follow_up",
        ["post_id": offer, "sender_id": viewer.key, "recipient_id": person.key])
      if let event = posts[.event] { _ = try data.invite(viewer, person, to: event) }
      _ = try data.photo(of: viewer)
      let wish = try data.post(.cardRequest, by: person, at: moment)
      _ = try data.insert(
        "info_request", ["post_id": wish, "owner_id": person.key, "requester_id": viewer.key])
      let request = try data.post(.cardRequest, by: viewer, at: moment)
      _ = try data.insert(
        "info_request",
        ["post_id": request, "owner_id": viewer.key, "requester_id": person.key])
    }
    guard let firstConversation, let offer = posts[.cardOffer] else {
      throw GraphTestFailure("a graph without conversations or offers")
    }
    conversation = firstConversation
    for product in products {
      try data.add(
        "shopping_list_item",
        ["user_id": viewer.key, "product_id": product, "added_at": moment])
    }
    // Answers to an offer of the viewer's own, which only its author sees.
    try data.run("UPDATE post SET author_id = \(viewer.key) WHERE id = \(offer)")
    for person in people.prefix(7) {
      _ = try data.insert(
        "follow_up", ["post_id": offer, "sender_id": viewer.key, "recipient_id": person.key])
    }
    // What staff decides about.
    staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    for (number, person) in people.enumerated() {
      try data.add(
        "flag",
        [
          "subject_id": location, "user_id": person.key, "reason": "SPAM", "created_at": moment,
          "resolved_at": number % 2 == 0 ? moment as (any SQLText)? : nil,
        ])
      _ = try data.photo(of: person, moderation: "PENDING")
    }
    for post in posts.values {
      try data.add(
        "flag",
        [
          "subject_id": post, "user_id": people[1].key, "reason": "SPAM", "created_at": moment,
        ])
    }
    for _ in 0..<5 {
      _ = try data.person("suspended", name: "Same Name", ["suspended_until": "infinity"])
      let blocked = try data.person("blocked", name: "Same Name")
      try data.block(viewer, blocked)
    }
    try data.run("ANALYZE")
  }
}
