import Foundation
import JSON
import TestSupport
import Testing

/// The permissions of roles: every mutation as every role over HTTP, compared with the table in
/// `Tests/Fixtures/roles`. Each cell has its own people and objects.
@Suite(.usesCluster) struct RoleMatrixTests {
  private static let server = Result { try GraphServer.new() }

  private static let roles = ["anonymous", "member", "trainer", "staff", "service"]

  /// One line of the table: a mutation, what it is aimed at, and the answer to each role.
  private struct Line {
    let mutation: String
    let target: String
    let verdicts: [String]
  }

  private func lines() throws -> [Line] {
    let text = try String(
      contentsOfFile: TestCluster.packageFolder + "/Tests/Fixtures/roles/mutations.txt",
      encoding: .utf8)
    return try text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
      let columns = line.split(separator: " ").map(String.init)
      try #require(columns.count == 2 + Self.roles.count, "\(line)")
      return Line(mutation: columns[0], target: columns[1], verdicts: Array(columns.dropFirst(2)))
    }
  }

  @Test func `every mutation is in the table`() throws {
    let lines = try lines()
    let schema = try GraphServer.mapping.get().schema
    let fields = try #require(schema.type(named: "Mutation")).fields.map(\.name)
    #expect(Set(lines.map(\.mutation)) == Set(fields.map { "\($0)" }))
    let cells = lines.map { "\($0.mutation) \($0.target)" }
    #expect(Set(cells).count == cells.count)
  }

  @Test(arguments: roles)
  func `each role may do what the table says`(role: String) throws {
    let server = try Self.server.get()
    let data = try server.data()
    let column = try #require(Self.roles.firstIndex(of: role))
    for line in try lines() {
      let stage = try RoleStage(server, data, roles: role == "anonymous" ? [] : [role.uppercased()])
      let field = try stage.call(line.mutation, line.target)
      let verdict = try server.verdict(field, as: role == "anonymous" ? nil : stage.viewer)
      #expect(
        verdict == line.verdicts[column],
        "\(line.mutation) of \(line.target) as \(role): \(field)")
    }
  }

  @Test func `a role counts from the next request on, and no longer, in the same session`() throws {
    let server = try Self.server.get()
    let data = try server.data()
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let person = try data.person()
    /// Asked of all loops at once, so that each knows the session.
    func isStaff() throws -> Set<[Bool]> {
      Set(
        try crowd(of: 8) { _ in
          let read = try server.data(
            "{ viewer { user { id } moderation { __typename } } }", as: person)
          #expect(read.at("viewer.user.id") == person.json)
          let refusals = try server.refusals("setDailyContent(motivations: [\"m\"])", as: person)
          #expect(refusals == [] || refusals == [Refusal("FORBIDDEN")])
          return [read.at("viewer.moderation.__typename") != nil, refusals == []]
        })
    }
    #expect(try isStaff() == [[false, false]])
    for (roles, expected) in [("STAFF", true), ("", false)] {
      try server.mutate(
        "setUserRoles(userId: $id, roles: [\(roles)])", ["id: ID!": person.json], as: staff)
      #expect(try isStaff() == [[expected, expected]])
    }
    // As `sociograph user role` does, which no server hears of.
    for (added, removed, expected) in [("{STAFF}", "{}", true), ("{}", "{STAFF}", false)] {
      try data.run("SELECT change_roles($1, $2, $3)", [person.username, added, removed])
      #expect(try isStaff() == [[expected, expected]])
    }
  }
}

extension GraphServer {
  /// `done`, or the codes of what a mutation field was refused for, whichever way.
  fileprivate func verdict(_ field: String, as person: Person?) throws -> String {
    let (document, values) = Self.mutation([field], "__typename", [:])
    let answer = try JSONParser.parse(
      sendMutation(document, values, token: person?.token).body)
    let errors = answer["errors"]?.array ?? []
    let refusals = answer.at("data.f0.userErrors")?.array ?? []
    try ArgumentPath.check(.array(refusals), of: field)
    let codes =
      errors.map { $0.at("extensions.code")?.string ?? "" }
      + refusals.map { $0["code"]?.string ?? "" }
    return codes.isEmpty ? "done" : Set(codes).sorted().joined(separator: ",")
  }
}

/// The people and things that one cell of the table is about.
private final class RoleStage {
  let server: GraphServer
  let data: GraphData
  /// The acting user. For a visitor, it is the owner of the visitor's objects, who is not signed
  /// in.
  let viewer: Person
  let other: Person

  init(_ server: GraphServer, _ data: GraphData, roles: [String]) throws {
    self.server = server
    self.data = data
    viewer = try data.person("viewer", roles: ["MEMBER"] + roles.filter { $0 != "MEMBER" })
    other = try data.person("other")
  }

  /// A mutation field with its arguments.
  func call(_ mutation: String, _ target: String) throws -> String {
    switch mutation {
    case "signUp":
      return "signUp(input: {username: \"\(GraphData.unique("n"))\", password: \"correct horse\"})"
    case "signIn":
      let account = try server.signUp("account")
      return "signIn(username: \"\(account.username)\", password: \"correct horse\")"
    case "signInWithProvider", "linkProvider":
      let credential = TestAccounts.credential(GraphData.unique("s"))
      let more = mutation == "linkProvider" ? "" : ", allowSignUp: true"
      return "\(mutation)(provider: GOOGLE, credential: \(credential)\(more))"
    case "unlinkProvider": return "unlinkProvider(provider: GOOGLE)"
    case "signOut", "resendVerification": return mutation
    case "revokeSession":
      let owner = target == "own" ? viewer : other
      let id = try data.run("SELECT id FROM session WHERE user_id = $1", [owner])[0][0]
      return "revokeSession(sessionId: \(quote(NodeKey(Int64(id ?? "") ?? 0))))"
    case "changePassword": return "changePassword(newPassword: \"better horse\")"
    case "requestPasswordReset": return "requestPasswordReset(email: \"nobody@mail.example\")"
    case "resetPassword": return "resetPassword(token: \"x\", newPassword: \"better horse\")"
    case "verifyEmail": return "verifyEmail(token: \"x\")"
    case "updateProfile":
      let photo = try data.photo(of: target == "own" ? viewer : other)
      return "updateProfile(input: {avatarPhotoId: \(quote(photo))})"
    case "importContacts": return "importContacts(provider: YAHOO, contacts: [])"
    case "deleteExternalContacts": return "deleteExternalContacts(provider: YAHOO)"
    case "deleteAccount": return "deleteAccount"
    case "followUsers", "unfollowUsers": return "\(mutation)(userIds: [\(try person(target))])"
    case "blockUser", "unblockUser": return "\(mutation)(userId: \(try person(target)))"
    default: return try postCall(mutation, target)
    }
  }

  private func postCall(_ mutation: String, _ target: String) throws -> String {
    switch mutation {
    case "createTextPost", "createProductPost", "createCardOffer", "createCardRequest",
      "createThankYou", "createAnnouncement", "createEvent", "createOutfitPost", "createPhotoPost",
      "upsertEvent":
      return try creation(mutation, target)
    case "updateEvent":
      return "updateEvent(eventId: \(quote(try post(.event, target))), input: {title: \"x\"})"
    case "cancelEvent", "restoreEvent":
      return "\(mutation)(eventId: \(quote(try post(.event, target))))"
    case "updateTextPost", "updateOutfitPost", "updateProductPost", "updatePhotoPost",
      "updateCardOffer", "updateCardRequest", "updateThankYou", "updateAnnouncement":
      return try change(mutation, target)
    case "deletePost": return "deletePost(postId: \(quote(try post(.text, target))))"
    case "createPhoto":
      return "createPhoto(input: {url: \"\(try upload(target))\"})"
    case "react", "unreact":
      return "\(mutation)(subjectId: \(quote(try post(.text, target))), kind: HEART)"
    case "castVote":
      return "castVote(postId: \(quote(try post(.outfit, target))), choice: WEAR_IT)"
    case "addComment":
      let subject =
        target.hasSuffix("Group")
        ? try circle(target == "ownGroup" ? target : "hidden") : try post(.text, target)
      return "addComment(subjectId: \(quote(subject)), body: \"x\")"
    case "updateComment":
      return "updateComment(commentId: \(quote(try comment(target))), input: {body: \"y\"})"
    case "deleteComment": return "deleteComment(commentId: \(quote(try comment(target))))"
    case "flag": return "flag(subjectId: \(quote(try post(.text, target))))"
    case "unflag":
      let post = try post(.text, target)
      if target == "flagged" {
        try data.add("flag", ["subject_id": post, "user_id": viewer.key, "reason": "SPAM"])
      }
      return "unflag(subjectId: \(quote(post)))"
    case "sharePost": return "sharePost(postId: \(quote(try post(.text, target))))"
    default: return try productCall(mutation, target)
    }
  }

  /// Returns the change of a post; "otherType" is one's own of another type.
  private func change(_ mutation: String, _ target: String) throws -> String {
    let tags: [String: PostTag] = [
      "TextPost": .text, "OutfitPost": .outfit, "ProductPost": .product, "PhotoPost": .photo,
      "CardOffer": .cardOffer, "CardRequest": .cardRequest, "ThankYou": .thankYou,
      "Announcement": .announcement,
    ]
    let type = String(mutation.dropFirst("update".count))
    let post =
      switch (tags[type], target) {
      case (.announcement?, "otherType"): try post(.text, "own")
      case (_, "otherType"): try post(.announcement, "own")
      case (.text?, _), (nil, _): try post(.text, target)
      case (let tag?, _): try post(tag, target)
      }
    let name = type.prefix(1).lowercased() + type.dropFirst()
    return "\(mutation)(\(name)Id: \(quote(post)), input: {body: \"x\"})"
  }

  /// Returns the path of a picture that the viewer, another user or an anonymous client sent.
  private func upload(_ target: String) throws -> String {
    let digits = (0..<64).map { _ in String(Int.random(in: 0...15), radix: 16) }
    let path = "/photos/\(digits.joined()).png"
    guard target != "unknown" else { return path }
    try data.add(
      "upload",
      [
        "owner_id": target == "own" ? viewer.key : other.key, "path": path, "width": 1, "height": 1,
        "moderation": "APPROVED",
      ])
    return path
  }

  private func creation(_ mutation: String, _ target: String) throws -> String {
    var fields: [String] = []
    switch mutation {
    case "createProductPost": fields = ["productId: \(quote(try data.product("Coat")))"]
    case "createEvent", "upsertEvent":
      fields = ["title: \"x\"", "startsAt: \"2100-01-01T10:00:00Z\""]
      if mutation == "upsertEvent" { fields.append("externalId: \"x\"") }
    case "createThankYou": fields = ["body: \"x\"", "taggedUserIds: [\(quote(other.key))]"]
    case "createOutfitPost", "createPhotoPost":
      let photo = try data.photo(of: target == "other'sPhoto" ? other : viewer)
      fields = ["photoIds: [\(quote(photo))]"]
      if mutation == "createPhotoPost" {
        fields.append("location: {id: \(quote(try data.location("Pier")))}")
      }
    default: fields = ["body: \"x\""]
    }
    switch target {
    case "ownGroup", "hidden", "channel", "ownChannel":
      fields.append("circleId: \(quote(try circle(target)))")
    case "invited": fields += ["visibility: INVITED", "inviteUserIds: [\(quote(other.key))]"]
    default: break
    }
    return "\(mutation)(input: {\(fields.joined(separator: ", "))})"
  }

  private func productCall(_ mutation: String, _ target: String) throws -> String {
    switch mutation {
    case "inviteToApp": return "inviteToApp(channel: EMAIL, contact: \"x@mail.example\")"
    case "suggestProduct":
      if target == "followed" { try data.follow(viewer, other) }
      let person = try person(target)
      return "suggestProduct(productId: \(quote(try data.product("Coat"))), toUserId: \(person))"
    case "emailProductToMe", "addToShoppingList", "removeFromShoppingList":
      return "\(mutation)(productId: \(quote(try data.product("Coat"))))"
    case "track": return "track(event: \"x\")"
    case "createLocation":
      return target == "place"
        ? "createLocation(input: {name: \"x\", coordinates: {latitude: 1, longitude: 2}})"
        : "createLocation(input: {name: \"x\", level: CITY})"
    case "mergeLocations":
      let (kept, gone) = (
        try data.location("Pier", latitude: 1, longitude: 1),
        try data.location(
          "Quay", level: target == "otherLevel" ? "CITY" : "PLACE", latitude: 1, longitude: 1)
      )
      return "mergeLocations(locationId: \(quote(kept)), duplicateId: \(quote(gone)))"
    case "updateLocation", "deleteLocation":
      let place = try data.location("Pier", latitude: 1, longitude: 1)
      if target != "other's" {
        try data.run("UPDATE location SET created_by_id = $1 WHERE id = $2", [viewer, place])
      }
      if target == "used" { _ = try data.post(.text, by: other, location: place) }
      return mutation == "deleteLocation"
        ? "deleteLocation(locationId: \(quote(place)))"
        : "updateLocation(locationId: \(quote(place)), input: {name: \"y\"})"
    case "updatePhoto", "deletePhoto":
      let owner = target == "own" ? viewer : other
      let photo = try data.photo(of: owner)
      if target == "other's" { try data.show([photo], in: data.post(.text, by: other)) }
      return mutation == "deletePhoto"
        ? "deletePhoto(photoId: \(quote(photo)))"
        : "updatePhoto(photoId: \(quote(photo)), input: {altText: \"y\"})"
    case "suspendUser", "unsuspendUser":
      let person =
        switch target {
        case "staff": try data.person("staff", roles: ["MEMBER", "STAFF"])
        case "oneself": viewer
        default: other
        }
      return "\(mutation)(userId: \(quote(person.key)))"
    case "moderatePhoto":
      return "moderatePhoto(photoId: \(quote(try data.photo(of: other))), state: REJECTED)"
    case "resolveFlags":
      let post = try data.post(.text, by: other)
      try data.add("flag", ["subject_id": post, "user_id": viewer.key, "reason": "SPAM"])
      return "resolveFlags(subjectId: \(quote(post)))"
    case "setUserRoles": return "setUserRoles(userId: \(quote(other.key)), roles: [TRAINER])"
    case "upsertProduct":
      return """
        upsertProduct(input: {retailer: "x", externalId: "\(other.username)", name: "x", \
        brand: "x", buyUrl: "https://shop.example/x"})
        """
    case "setAppConfig":
      return "setAppConfig(app: \"\(other.username)\", input: {supportEmail: \"a@b.example\"})"
    case "setDailyContent": return "setDailyContent(motivations: [\"x\"])"
    default: return try circleCall(mutation, target)
    }
  }

  private func circleCall(_ mutation: String, _ target: String) throws -> String {
    switch mutation {
    case "createCircle":
      switch target {
      case "group": return "createCircle(input: {name: \"x\"})"
      case "channel": return "createCircle(input: {name: \"x\", kind: CHANNEL})"
      default: return "createCircle(input: {name: \"x\", kind: CHANNEL, isDefault: true})"
      }
    case "updateCircle":
      return target == "ownDefaultChannel"
        ? "updateCircle(circleId: \(quote(try circle("ownChannel"))), input: {isDefault: true})"
        : "updateCircle(circleId: \(quote(try circle(target))), input: {name: \"x\"})"
    case "deleteCircle", "joinCircle", "leaveCircle":
      return "\(mutation)(circleId: \(quote(try circle(target))))"
    case "transferCircle":
      let circle = try circle(
        ["toStranger": "ownGroup", "suspendedOwner's": "hidden"][target] ?? target)
      if target == "suspendedOwner's" {
        try data.run(
          "UPDATE app_user SET suspended_until = 'infinity' WHERE id = (SELECT owner_id FROM circle "
            + "WHERE id = \(circle))")
      }
      let person = try data.person()
      if target != "toStranger" { try data.join(circle, person) }
      return "transferCircle(circleId: \(quote(circle)), userId: \(quote(person.key)))"
    case "addCircleMembers", "removeCircleMembers":
      let person = try data.person()
      return "\(mutation)(circleId: \(quote(try circle(target))), userIds: [\(quote(person.key))])"
    case "inviteToEvent":
      let event = try post(.event, target)
      if target == "attended" { try data.attend(viewer, event) }
      return "inviteToEvent(eventId: \(quote(event)), userIds: [\(quote(try data.person().key))])"
    case "setAttendance":
      return "setAttendance(eventId: \(quote(try post(.event, target))), status: GOING)"
    case "clearAttendance":
      let event = try post(.event, target)
      if target == "attended" { try data.attend(viewer, event) }
      return "clearAttendance(eventId: \(quote(event)))"
    case "withdrawInvitation":
      let third = try data.person()
      let (inviter, invitee) =
        switch target {
        case "own": (viewer, other)
        case "received": (other, viewer)
        default: (other, third)
        }
      let invitation = try data.invite(inviter, invitee, to: try data.post(.event, by: inviter))
      return "withdrawInvitation(invitationId: \(quote(invitation)))"
    default: return try cardCall(mutation, target)
    }
  }

  private func cardCall(_ mutation: String, _ target: String) throws -> String {
    switch mutation {
    case "respondToOffer":
      try data.run("UPDATE app_user SET address = 'Street 1' WHERE id = $1", [viewer])
      return "respondToOffer(cardOfferId: \(quote(try post(.cardOffer, target))))"
    case "requestAddress":
      return "requestAddress(cardRequestId: \(quote(try post(.cardRequest, target))))"
    case "withdrawOfferResponse":
      let offer = try post(.cardOffer, target)
      if target == "answered" { _ = try data.followUp(offer, from: other, to: viewer) }
      return "withdrawOfferResponse(cardOfferId: \(quote(offer)))"
    case "answerInfoRequest", "withdrawInfoRequest":
      let third = try data.person()
      let (owner, asker) =
        switch target {
        case "asked": (viewer, other)
        case "asker": (other, viewer)
        default: (other, third)
        }
      let request = try data.infoRequest(try data.cardRequest(by: owner), of: owner, by: asker)
      return mutation == "withdrawInfoRequest"
        ? "withdrawInfoRequest(infoRequestId: \(quote(request)))"
        : "answerInfoRequest(infoRequestId: \(quote(request)), approve: false)"
    case "resolveFollowUp":
      let third = try data.person()
      let (sender, recipient) =
        switch target {
        case "sender": (viewer, other)
        case "recipient": (other, viewer)
        default: (other, third)
        }
      let owed = try data.followUp(try data.offer(by: sender), from: sender, to: recipient)
      return "resolveFollowUp(followUpId: \(quote(owed)), state: COMPLETED)"
    case "closeCardPost", "reopenCardPost":
      return "\(mutation)(postId: \(quote(try post(.cardOffer, target))))"
    default: return try classCall(mutation, target)
    }
  }

  private func classCall(_ mutation: String, _ target: String) throws -> String {
    switch mutation {
    case "bookClassSession":
      return "bookClassSession(classSessionId: \(quote(try session(target))))"
    case "cancelBooking":
      let session = try session(target == "ofOwnSession" ? "own" : "other's")
      let booking = try data.book(target == "own" ? viewer : try data.person(), session)
      return "cancelBooking(bookingId: \(quote(booking)))"
    case "createActivityTrack":
      return """
        createActivityTrack(input: {startedAt: "2026-01-01T10:00:00.000Z", \
        endedAt: "2026-01-01T11:00:00.000Z", path: []})
        """
    case "deleteActivityTrack":
      let track = try data.insert(
        "activity_track",
        [
          "user_id": target == "own" ? viewer.key : other.key, "title": "x",
          "started_at": "2026-01-01 10:00Z", "ended_at": "2026-01-01 11:00Z", "distance": 1.0,
          "path": "[]",
        ])
      return "deleteActivityTrack(activityTrackId: \(quote(track)))"
    case "updateActivityTrack":
      let track = try data.insert(
        "activity_track",
        [
          "user_id": target == "own" ? viewer.key : other.key, "title": "x",
          "started_at": "2026-01-01 10:00Z", "ended_at": "2026-01-01 11:00Z", "distance": 1.0,
          "path": "[]",
        ])
      return "updateActivityTrack(activityTrackId: \(quote(track)), input: {title: \"y\"})"
    case "deleteTestResult":
      let result = try data.insert(
        "test_result",
        ["user_id": target == "own" ? viewer.key : other.key, "test": "LEG_PRESS", "value": 1.0])
      return "deleteTestResult(testResultId: \(quote(result)))"
    case "recordTestResults":
      return "recordTestResults(results: [{test: PUSH_UPS_PER_MINUTE, value: 1}])"
    case "recordTestResult": return "recordTestResult(test: PUSH_UPS_PER_MINUTE, value: 1)"
    case "createProgram":
      return """
        createProgram(input: {title: "x", training: PERSONAL, durationMinutes: 60, \
        trainerIds: [\(quote(try data.trainer().key))]})
        """
    case "updateProgram":
      let program = try data.program("x", trainers: [try data.trainer()])
      return "updateProgram(programId: \(quote(program)), input: {title: \"y\"})"
    case "scheduleClassSessions":
      let trainer = target == "own" ? viewer : try data.trainer()
      let program = try data.program("x", trainers: [trainer])
      return """
        scheduleClassSessions(input: {programId: \(quote(program)), \
        trainerId: \(quote(trainer.key)), startsAt: ["2100-01-01T10:00:00.000Z"]})
        """
    case "updateClassSession":
      return
        "updateClassSession(classSessionId: \(quote(try session(target))), input: {capacity: 5})"
    case "cancelClassSession":
      return "cancelClassSession(classSessionId: \(quote(try session(target))))"
    default: return try messageCall(mutation, target)
    }
  }

  private func messageCall(_ mutation: String, _ target: String) throws -> String {
    switch mutation {
    case "sendMessage":
      return target == "other"
        ? "sendMessage(to: {userIds: [\(quote(other.key))]}, body: \"x\")"
        : "sendMessage(to: {conversationId: \(quote(try conversation(target)))}, body: \"x\")"
    case "markConversationRead":
      return "markConversationRead(conversationId: \(quote(try conversation(target))))"
    case "markNotificationsRead":
      let told = try data.tell(target == "own" ? viewer : other, "x")
      return "markNotificationsRead(notificationIds: [\(quote(told))])"
    case "setConversationMuted":
      return
        "setConversationMuted(conversationId: \(quote(try conversation(target))), isMuted: true)"
    case "deleteMessage":
      let talk = try conversation(target == "hidden" ? target : "own")
      let author = target == "own" ? viewer : other
      let message = try data.insert(
        "message", ["conversation_id": talk, "author_id": author.key, "body": "x"])
      return "deleteMessage(messageId: \(quote(message)))"
    case "deleteNotifications":
      let told = try data.tell(target == "own" ? viewer : other, "x")
      return "deleteNotifications(notificationIds: [\(quote(told))])"
    case "performNotificationAction":
      let told = try data.tell(target == "own" ? viewer : other, "x", by: try data.person())
      try data.run(
        "UPDATE notification SET action_kind = 'FOLLOW_BACK' WHERE id = $1",
        [told])
      return "performNotificationAction(notificationId: \(quote(told)))"
    case "updateNotificationSettings":
      return "updateNotificationSettings(input: {isNamingPeople: false})"
    case "registerDevice":
      let known = try device(of: other)
      let token = target == "other's" ? known.token : Self.newToken()
      return "registerDevice(input: {app: \"roles\", platform: APNS, token: \"\(token)\"})"
    case "unregisterDevice":
      let device = try device(of: target == "own" ? viewer : other)
      return "unregisterDevice(deviceId: \(quote(device.key)))"
    default: throw GraphTestFailure("nothing says how to call \(mutation) of \(target)")
    }
  }

  // MARK: Targets

  private static func newToken() -> String {
    (0..<4).map { _ in
      String(UInt64.random(in: (1 << 60)...(.max)), radix: 16)
    }.joined()
  }

  private func device(of person: Person) throws -> (key: NodeKey, token: String) {
    let token = Self.newToken()
    try data.run("INSERT INTO app_config (app) VALUES ('roles') ON CONFLICT DO NOTHING")
    let rows = try data.run(
      """
      INSERT INTO device (user_id, session_id, app, platform, token_hash, token, is_sandbox, locale)
      SELECT s.user_id, s.id, 'roles', 'APNS', sha256(convert_to($2, 'UTF8')), '', false, 'en'
      FROM session s WHERE s.user_id = $1::bigint LIMIT 1 RETURNING id
      """, [person.key, token])
    return (NodeKey(Int64(rows.first?.first.flatMap { $0 } ?? "") ?? 0), token)
  }

  private func quote(_ key: NodeKey) -> String { "\"\(key.wire)\"" }

  /// Returns a person: "hidden" blocked the viewer, "blocked" is blocked by the viewer.
  private func person(_ target: String) throws -> String {
    switch target {
    case "hidden": try data.block(other, viewer)
    case "blocked": try data.block(viewer, other)
    case "oneself": return quote(viewer.key)
    default: break
    }
    return quote(other.key)
  }

  /// Returns a post; "hidden" is one in a group without the viewer, or an event without
  /// invitations.
  private func post(_ tag: PostTag, _ target: String) throws -> NodeKey {
    let place = tag == .photo ? try data.location("Pier") : nil
    let product = tag == .product ? try data.product("Coat") : nil
    switch target {
    case "own": return try data.post(tag, by: viewer, location: place, product: product)
    case "hidden" where tag == .event: return try data.post(tag, by: other, visibility: "INVITED")
    case "hidden":
      return try data.post(
        tag, by: other, location: place, circle: try circle("hidden"), visibility: "CIRCLE",
        product: product)
    case "invited":
      let event = try data.post(tag, by: other, visibility: "INVITED")
      _ = try data.invite(other, viewer, to: event)
      return event
    default: return try data.post(tag, by: other, location: place, product: product)
    }
  }

  private func comment(_ target: String) throws -> NodeKey {
    switch target {
    case "own": return try data.comment(try post(.text, "other's"), by: viewer, "x")
    case "onOwnPost": return try data.comment(try post(.text, "own"), by: other, "x")
    default: return try data.comment(try post(.text, target), by: other, "x")
    }
  }

  private func circle(_ target: String) throws -> NodeKey {
    switch target {
    case "ownGroup": return try data.circle("Group", owner: viewer)
    case "joinedGroup": return try data.circle("Group", owner: other, members: [viewer])
    case "hidden": return try data.circle("Group", owner: other)
    case "channel": return try data.circle("Channel", kind: "CHANNEL", owner: other)
    case "ownChannel": return try data.circle("Channel", kind: "CHANNEL", owner: viewer)
    default: throw GraphTestFailure("there is no circle \(target)")
    }
  }

  /// Returns a future time of the viewer or of another trainer.
  private func session(_ target: String) throws -> NodeKey {
    let trainer = target == "own" ? viewer : try data.trainer()
    return try data.classSession(
      try data.program("x", trainers: [trainer]), by: trainer, at: "2100-01-01 10:00Z")
  }

  private func conversation(_ target: String) throws -> NodeKey {
    let third = try data.person()
    let people = [target == "hidden" ? third : viewer, other].map(\.key.number).sorted()
    let key = try data.insert(
      "conversation", ["member_key": people.map(String.init).joined(separator: ",")])
    for person in people {
      try data.add("conversation_member", ["conversation_id": key, "user_id": NodeKey(person)])
    }
    return key
  }
}
