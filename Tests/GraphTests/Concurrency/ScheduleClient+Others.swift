import JSON

/// Rarer acts: sharing, accounts, and those of staff.
extension ScheduleClient {
  /// The one photo that the client has; made again it is the same.
  mutating func ownPhoto() throws -> String {
    guard
      let id = try attempt(
        "createPhoto(input: {url: \"\(world.uploads[number])\"})", "photo { id }", "photo.id")
    else { return photo ?? "" }
    if let photo, photo != id { unexpected.append("\(number): a photo became another") }
    photo = id
    return id
  }

  mutating func share() throws {
    let product = world.product.wire
    switch Int.random(in: 0..<8, using: &random) {
    case 0:
      guard let (id, _) = posts.randomElement(using: &random) else { return }
      _ = try attempt(
        "sharePost(postId: \"\(id)\")", allowing: ["PROVIDER_NOT_LINKED", "NOT_FOUND"],
        isOnce: true)
    case 1:
      try expect(
        [], "inviteToApp(channel: EMAIL, contact: \"f\(operations)@mail.example\")", isOnce: true)
      invitations += 1
    case 2:
      let other = peer()
      _ = try attempt(
        "suggestProduct(productId: \"\(product)\", toUserId: \"\(world.clients[other].wire)\")",
        allowing: ["NOT_FOUND", "BLOCKED", "FORBIDDEN"])
    case 3: try expect([], "emailProductToMe(productId: \"\(product)\")", isOnce: true)
    case 4: try expect([], "track(event: \"seen\", subjectId: \"\(product)\")")
    case 5:
      try expect(
        [],
        "createLocation(input: {name: \"n\(number)\", coordinates: {latitude: 1, longitude: 2}})",
        isOnce: true)
    case 6:
      guard let id = circles.randomElement(using: &random) else { return }
      try expect([], "updateCircle(circleId: \"\(id)\", input: {description: \"d\(operations)\"})")
    default:
      try expect(
        [],
        "importContacts(provider: GOOGLE, contacts: [{externalId: \"\(operations % 3)\", name: \"F\"}])"
      )
    }
  }

  /// Creates, uses and deletes an account that no other client knows. No password is wrong, because
  /// all clients share one address, which would have to wait after a few guesses.
  mutating func account() throws {
    // Without an account nobody can ask again.
    guard !world.hasOutages else { return }
    let nobody = Person(key: NodeKey(0), username: "", token: "")
    let session = "token viewer { user { id } }"
    let name = "s\(number)x\(operations)"
    let names = "username: \"\(name)\", password:"
    func person(_ answer: (payload: JSONValue, codes: [String])?) throws -> Person? {
      guard let answer, answer.codes.isEmpty else { return nil }
      return try GraphServer.person(answer.payload, username: name)
    }
    let mail = "\(name)@mail.example"
    let made = try ask(
      "signUp(input: {\(names) \"correct horse\", email: \"\(mail)\"})", session, as: nobody,
      isOnce: true)
    guard let owner = try person(made) else {
      unexpected.append("\(number) cannot sign up: \(made?.codes ?? [])")
      return
    }
    try expect(["TAKEN"], "signUp(input: {\(names) \"other horse\"})", as: nobody, isOnce: true)
    try expect([], "requestPasswordReset(email: \"\(mail)\")", as: nobody)
    try expect(
      ["WRONG_CREDENTIALS"], "resetPassword(token: \"x\", newPassword: \"better horse\")",
      as: nobody)
    try expect(["WRONG_CREDENTIALS"], "verifyEmail(token: \"x\")", as: owner, isOnce: true)
    try expect([], "resendVerification", as: owner)
    try expect(
      [], "changePassword(currentPassword: \"correct horse\", newPassword: \"better horse\")",
      as: owner)
    let again = try ask("signIn(\(names) \"better horse\")", session, as: nobody)
    guard let second = try person(again) else {
      unexpected.append("\(number) cannot sign in: \(again?.codes ?? [])")
      return
    }
    let credential = TestAccounts.credential(name)
    try expect(
      [], "linkProvider(provider: AOL, credential: \(TestAccounts.credential(name)))", as: owner)
    try expect([], "unlinkProvider(provider: AOL)", as: owner)
    try expect([], "signOut", as: second)
    let third = try ask("signIn(\(names) \"better horse\")", session, as: nobody)
    let sessions = ids("viewer { sessions { id } }", "viewer.sessions", as: owner)
    if sessions.count != 2 { unexpected.append("\(number) has \(sessions.count) sessions") }
    let other = try person(third) ?? owner
    for session in sessions where other.token != owner.token {
      // The first of the two ends the other one, or itself.
      try expect([], "revokeSession(sessionId: \"\(session)\")", as: owner, isOnce: true)
      break
    }
    let last = try ask("signIn(\(names) \"better horse\")", session, as: nobody)
    try expect([], "deleteAccount(password: \"better horse\")", as: try person(last), isOnce: true)
    // Another that a provider vouches for, and which has nothing else to sign in by.
    let vouched = try ask(
      "signInWithProvider(provider: TWITTER, credential: \(credential), allowSignUp: true)",
      session,
      as: nobody)
    guard let guest = try person(vouched) else {
      unexpected.append("\(number) cannot sign in by a provider: \(vouched?.codes ?? [])")
      return
    }
    try expect(["FORBIDDEN"], "unlinkProvider(provider: TWITTER)", as: guest)
    try expect([], "deleteAccount", as: guest)
  }

  /// Changes what the client has, and takes it back.
  mutating func change() throws {
    let gone: Set<String> = ["NOT_FOUND"]
    switch Int.random(in: 0..<7, using: &random) {
    case 0:
      guard let id = tracks.randomElement(using: &random) else { return }
      try expect(
        [], "updateActivityTrack(activityTrackId: \"\(id)\", input: {title: \"t\(operations)\"})")
    case 1:
      guard
        let id = ids("viewer { testResults { id } }", "viewer.testResults")
          .randomElement(using: &random)
      else { return }
      try expect([], "deleteTestResult(testResultId: \"\(id)\")", isOnce: true)
      results -= 1
    case 2:
      guard let id = try ownMessage() else { return }
      try expect([], "deleteMessage(messageId: \"\(id)\")", isOnce: true)
      messages -= 1
    case 3:
      let notes = ids(
        "viewer { notifications(first: 3) { nodes { id } } }", "viewer.notifications.nodes")
      guard let id = notes.randomElement(using: &random) else { return }
      _ = try attempt(
        "deleteNotifications(notificationIds: [\"\(id)\"])", allowing: gone, isOnce: true)
    case 4:
      if let id = ids(
        "viewer { conversations(first: 3) { nodes { id } } }", "viewer.conversations.nodes"
      ).randomElement(using: &random) {
        try expect([], "setConversationMuted(conversationId: \"\(id)\", isMuted: \(chance(50)))")
      }
      try expect([], "deleteExternalContacts(provider: GOOGLE)")
    case 5:
      guard
        let id = try attempt(
          "createLocation(input: {name: \"m\(number)\", coordinates: {latitude: 3, longitude: 2}})",
          "location { id }", "location.id", isOnce: true)
      else { return }
      try expect([], "updateLocation(locationId: \"\(id)\", input: {placeType: SHOP})")
      try expect([], "deleteLocation(locationId: \"\(id)\")", isOnce: true)
    default:
      let photo = try ownPhoto()
      try expect(
        [], "updatePhoto(photoId: \"\(photo)\", input: {altText: \"a\(operations)\"})")
      // Another's, which only staff see at all.
      _ = try attempt(
        "deletePhoto(photoId: \"\(world.photo.wire)\")", allowing: ["NOT_FOUND", "FORBIDDEN"],
        isOnce: true)
    }
  }

  /// One of the latest messages that the client wrote.
  private mutating func ownMessage() throws -> String? {
    let query = """
      { viewer { conversations(first: 3) { nodes { messages(last: 3) { nodes { id author { id } } } } } } }
      """
    guard let response = try? world.post(query, [:], me.token, nil),
      let answer = try? JSONParser.parse(response.body),
      let talks = answer.at("data.viewer.conversations.nodes")?.array
    else { return nil }
    return talks.flatMap { $0.at("messages.nodes")?.array ?? [] }
      .filter { $0.at("author.id") == me.json }.randomElement(using: &random)?["id"]?.string
  }

  mutating func staffWork() throws {
    let staff = world.staff
    let session = world.sessions[1].key.wire
    switch Int.random(in: 0..<12, using: &random) {
    case 11: try merge()
    case 10:
      try expect(
        [],
        """
        upsertEvent(input: {circleId: "\(world.channel.wire)", externalId: "e\(operations % 2)", \
        title: "T\(operations)", startsAt: "2041-03-03T10:00:00Z"})
        """, as: staff)
    case 0, 1:
      guard let id = world.passing.any(&random)?.id else { return }
      let answer = try ask("deletePost(postId: \"\(id)\")", as: staff, isOnce: true)
      if let codes = answer?.codes, !["", "NOT_FOUND"].contains(codes.joined()) {
        unexpected.append("\(number) deletePost: \(codes)")
      }
      noteDeletion(of: id)
    case 2:
      try expect(
        [],
        "updateClassSession(classSessionId: \"\(session)\", input: {capacity: \(100 + operations % 3)})",
        as: staff)
    case 3:
      try expect(
        [],
        "setUserRoles(userId: \"\(world.trainee.wire)\", roles: [\(chance(50) ? "TRAINER" : "MEMBER")])",
        as: staff)
    case 4:
      try expect(
        [],
        """
        upsertProduct(input: {retailer: "r", externalId: "e\(operations % 2)", name: "Coat", \
        brand: "B", buyUrl: "https://shop.example/e"})
        """, as: staff)
    case 5:
      try expect(
        [],
        """
        createProgram(input: {title: "P\(operations)", training: PERSONAL, durationMinutes: 60, \
        trainerIds: ["\(world.trainer.wire)"]})
        """, as: staff, isOnce: true)
      try expect(
        [],
        "updateProgram(programId: \"\(world.program.wire)\", input: {title: \"P\(operations)\"})",
        as: staff)
      try expect([], "suspendUser(userId: \"\(world.trainee.wire)\")", as: staff)
      try expect([], "unsuspendUser(userId: \"\(world.trainee.wire)\")", as: staff)
    case 6:
      // No two at a time: a client has hours of its own.
      let hour = "21\(10 + number)-01-01T00:\(10 + operations % 50):00Z"
      guard
        let made = try ask(
          """
          scheduleClassSessions(input: {programId: "\(world.program.wire)", \
          trainerId: "\(world.trainer.wire)", startsAt: ["\(hour)"]})
          """, "classSessions { id }", as: staff)
      else { return }
      for id in made.payload.strings("classSessions", "id") {
        try expect([], "cancelClassSession(classSessionId: \"\(id)\")", as: staff)
      }
    case 7:
      try expect(
        [], "setAppConfig(app: \"a\(operations % 2)\", input: {supportEmail: \"a@b.example\"})",
        as: staff)
      try expect([], "setDailyContent(motivations: [\"\(operations)\"])", as: staff)
    case 8:
      try expect(
        [],
        "moderatePhoto(photoId: \"\(world.photo.wire)\", state: \(chance(50) ? "APPROVED" : "REJECTED"))",
        as: staff)
    default:
      try expect([], "flag(subjectId: \"\(world.texts[0].wire)\")")
      let answer = try ask(
        "resolveFlags(subjectId: \"\(world.texts[0].wire)\", note: \"\(number)\")", as: staff)
      if let codes = answer?.codes, !["", "ALREADY_DONE"].contains(codes.joined()) {
        unexpected.append("\(number) resolveFlags: \(codes)")
      }
    }
  }

  /// Merges two places that no other client knows.
  private mutating func merge() throws {
    var places: [String] = []
    for name in ["kept", "duplicate"] {
      guard
        let id = try attempt(
          """
          createLocation(input: {name: "\(name) \(number) \(operations)", \
          coordinates: {latitude: 5, longitude: 2}})
          """, "location { id }", "location.id", isOnce: true)
      else { return }
      places.append(id)
    }
    try expect(
      [], "mergeLocations(locationId: \"\(places[0])\", duplicateId: \"\(places[1])\")",
      as: world.staff, isOnce: true)
  }
}
