import DatabaseSetup
import Foundation
import GraphQLPlanning
import GraphQLSchema
import JSON
import Postgres
import Synchronization
import TestSupport

/// A graph with bystanders, and all mutations of it that they must not notice.
///
/// There are two copies of the graph: before and after the acts. A bystander's responses must be
/// equal in both.
final class HiddenActs: Sendable {
  /// Those who must notice nothing of what is private; `blocked` and `blocker` of what the owner does
  /// publicly either.
  static let bystanders = ["quiet_stranger", "quiet_former", "quiet_blocked", "quiet_blocker"]
  private static let base = Result { try makeBase() }
  /// The graph before the acts, which stays unchanged.
  private static let untouched = Result {
    let server = try serve(TestCluster.newDatabase(copying: base.get()))
    try publish(on: server, in: nil)
    return server
  }

  let before: GraphServer
  let after: GraphServer
  /// A token of the log of changes from before the acts, by viewer; "" is an anonymous client.
  let since: [String: String]
  let viewers: [String?]
  private let isPublic: Bool

  /// - Parameters:
  ///   - isPublic: the owner does public things as well, of which only those whom they block, or who block
  ///     them, notice nothing.
  ///   - fault: statements for the graph in which things are done, before they are.
  ///   - mapping: another schema than the graph's.
  init(isPublic: Bool, fault: [String] = [], mapping: StorageMapping? = nil) throws {
    self.isPublic = isPublic
    before = try Self.untouched.get()
    let database = try TestCluster.newDatabase(copying: Self.base.get())
    let session = try TestCluster.session(database)
    for statement in fault { try session.execute(statement) }
    after = try Self.serve(database, mapping)
    try Self.publish(on: after, in: "Loud cellar")
    let viewers: [String?] =
      isPublic
      ? ["quiet_blocked", "quiet_blocker"]
      : try [nil] + Self.bystanders
        + session.execute("SELECT username FROM varied_viewer WHERE username <> 'staff'").map {
          $0[0]
        }
    self.viewers = viewers
    since = try before.tokens(of: viewers)
    if isPublic { try doPublicly() } else { try doPrivately() }
    // Orders by counts are brought up to date, and the log tells of what no older transaction can join.
    try after.data().rank()
    let last = try session.execute("SELECT pg_current_xact_id()")[0][0] ?? ""
    for _ in 0..<60_000 {
      let isSettled = try session.execute(
        "SELECT pg_snapshot_xmin(pg_current_snapshot()) > '\(last)'::xid8")[0][0]
      if isSettled == "t" { return }
      usleep(10_000)
    }
    throw GraphTestFailure("a transaction somewhere does not end")
  }

  func stop() { after.stop() }

  /// With one connection for queries, so that each statement is planned once.
  private static func serve(_ database: String, _ mapping: StorageMapping? = nil) throws
    -> GraphServer
  {
    let accounts = try TestAccounts.settings
    return try GraphServer(database: database, maximumElements: .max, mapping: mapping) {
      settings in
      settings.accounts = accounts
      settings.loopCount = 1
      settings.pool.size = 1
      settings.pool.reservedForQuick = 0
    }
  }

  /// Publishes an event, in a hidden group or in none. A hidden group's event must not reveal the
  /// group.
  private static func publish(on server: GraphServer, in circle: String?) throws {
    let data = try server.data()
    var place = ""
    if let circle {
      let id = try data.run("SELECT id FROM circle WHERE name = $1", [circle])[0][0] ?? ""
      place = ", circleId: \"\(NodeKey(Int64(id) ?? 0).wire)\", visibility: PUBLIC"
    }
    try Actor(server: server, name: "loud_member")(
      "createEvent(input: {title: \"loud match\", startsAt: \"2041-08-08T10:00:00.000Z\"\(place)})")
    try data.run(
      """
      UPDATE post SET created_at = '2026-01-01', updated_at = '2026-01-01'
      WHERE id = (SELECT post_id FROM event WHERE title = 'loud match')
      """)
    try data.rank()
  }

  // MARK: The graph

  private static func makeBase() throws -> String {
    let database = try GraphServer.variedDatabase()
    let data = try GraphData(database)
    func person(_ name: String, _ roles: [String] = ["MEMBER"]) throws -> NodeKey {
      let key = try data.insert(
        "app_user",
        [
          "username": name, "display_name": name, "name_key": name, "roles": roles,
          "address": "Road 1",
        ])
      // Neither used for the first time nor too long ago to change a password, however long all this takes.
      try data.run(
        """
        INSERT INTO session (token_hash, user_id, created_at, expires_at, last_used_at)
        VALUES (sha256(convert_to('demo-\(name)', 'UTF8')), \(key), now() + interval '1 day',
          now() + interval '9 days', now() + interval '1 day')
        """)
      return key
    }
    let (owner, member) = (try person("loud_owner"), try person("loud_member"))
    let staff = try person("loud_staff", ["MEMBER", "STAFF", "SERVICE"])
    _ = try person("loud_other")
    var quiet: [String: NodeKey] = [:]
    for name in bystanders { quiet[name] = try person(name) }
    try data.run(
      """
      INSERT INTO block (blocker_id, blocked_id) VALUES (\(owner), \(quiet["quiet_blocked"]?.number ?? 0));
      INSERT INTO block (blocker_id, blocked_id) VALUES (\(quiet["quiet_blocker"]?.number ?? 0), \(owner));
      INSERT INTO follow (follower_id, followee_id) VALUES (\(owner), \(member)), (\(member), \(owner)),
        (\(quiet["quiet_stranger"]?.number ?? 0), \(owner)), (\(quiet["quiet_former"]?.number ?? 0), \(owner)),
        (\(quiet["quiet_former"]?.number ?? 0), \(member));
      INSERT INTO circle (name, kind, owner_id, is_default) VALUES ('Loud channel', 'CHANNEL', \(owner), true);
      INSERT INTO circle (name, kind, owner_id) VALUES ('Loud group', 'GROUP', \(owner)),
        ('Loud cellar', 'GROUP', \(owner));
      INSERT INTO circle_member (circle_id, user_id, role)
      SELECT c.id, u.id, CASE u.id WHEN \(owner) THEN 'OWNER' ELSE 'MEMBER' END
      FROM circle c, app_user u
      WHERE c.name = 'Loud channel' AND u.username LIKE ANY ('{quiet%,loud%}')
        OR c.name = 'Loud cellar' AND u.username IN ('loud_owner', 'loud_member')
        OR c.name = 'Loud group' AND u.username IN ('loud_owner', 'loud_member', 'quiet_blocked', 'quiet_blocker');
      """)
    // Things that are there already, and public, for private things to be done with.
    let place = try data.run("SELECT id FROM location WHERE level = 'PLACE' ORDER BY id LIMIT 1")
    let outfit = try data.newNode(16)
    let (offer, request) = (try data.newNode(19), try data.newNode(20))
    try data.run(
      """
      INSERT INTO post (id, author_id, body, location_id) VALUES (\(outfit), \(owner), 'loud outfit', \(place[0][0] ?? ""));
      INSERT INTO votable_post (post_id, voting_enabled) VALUES (\(outfit), true);
      INSERT INTO post (id, author_id, body) VALUES (\(offer), \(owner), 'loud offer');
      INSERT INTO post (id, author_id, body) VALUES (\(request), \(owner), 'loud request');
      INSERT INTO card_post (post_id, response_count) VALUES (\(offer), 1), (\(request), 1);
      INSERT INTO follow_up (post_id, sender_id, recipient_id) VALUES (\(offer), \(owner), \(member));
      INSERT INTO info_request (post_id, owner_id, requester_id) VALUES (\(request), \(owner), \(member));
      INSERT INTO flag (subject_id, user_id, reason) VALUES (\(offer), \(member), 'SPAM');
      INSERT INTO upload (owner_id, path, width, height, moderation)
      VALUES (\(owner), '/photos/\(String(repeating: "b", count: 64)).jpg', 10, 10, 'PENDING');
      INSERT INTO photo (owner_id, url, width, height)
      SELECT \(owner), 'https://photos.example/loud' || n, 10, 10 FROM generate_series(1, 4) n;
      INSERT INTO external_contact (owner_id, provider, external_id, name, name_key)
      VALUES (\(owner), 'GOOGLE', 'c', 'Loud contact', 'loud contact');
      INSERT INTO identity (provider, external_id, user_id) VALUES ('GOOGLE', 'loud', \(owner));
      UPDATE app_user SET email = username || '@example.org' WHERE id IN (\(owner), \(member), \(staff));
      INSERT INTO app_config (app) VALUES ('loud');
      """)
    return database
  }

  // MARK: The acts

  private struct Actor {
    let server: GraphServer
    let name: String

    /// Does one mutation, and gives what lies at a path of its payload.
    @discardableResult
    func callAsFunction(_ field: String, _ selection: String = "__typename", _ path: String = "")
      throws -> String
    {
      let (document, variables) = GraphServer.mutation([field], selection, [:])
      let answer = try server.execute(document, variables, token: "demo-" + name)
      guard answer["errors"] == nil, answer.at("data.f0.userErrors") == [] else {
        throw GraphTestFailure("\(name): \(field): \(answer)")
      }
      return path.isEmpty ? "" : answer.at("data.f0.\(path)")?.string ?? ""
    }
  }

  private func id(_ statement: String) throws -> String {
    NodeKey(Int64(try after.data().run(statement).first?.first.flatMap { $0 } ?? "") ?? 0).wire
  }

  private func people(_ names: String...) throws -> String {
    try names.map { try "\"\(id("SELECT id FROM app_user WHERE username = '\($0)'"))\"" }
      .joined(separator: ", ")
  }

  private func doPrivately() throws {
    let owner = Actor(server: after, name: "loud_owner")
    let member = Actor(server: after, name: "loud_member")
    let staff = Actor(server: after, name: "loud_staff")
    let channel = try id("SELECT id FROM circle WHERE name = 'Loud channel'")
    let shared = try id("SELECT id FROM circle WHERE name = 'Loud group'")
    let place = try id("SELECT id FROM location WHERE level = 'PLACE' ORDER BY id LIMIT 1")
    let thing = try id("SELECT id FROM product ORDER BY id LIMIT 1")
    let photos = try after.data().run(
      "SELECT id FROM photo WHERE url LIKE '%/loud%' ORDER BY id"
    ).map { "\"\(NodeKey(Int64($0[0] ?? "") ?? 0).wire)\"" }
    let outfit = try id("SELECT id FROM post WHERE body = 'loud outfit'")
    let memberID = try people("loud_member")

    // A group of two, with everything in it that there is.
    let group = try owner(
      "createCircle(input: {name: \"secret club\", memberIds: [\(memberID)]})", "circle { id }",
      "circle.id")
    try owner("updateCircle(circleId: \"\(group)\", input: {description: \"secret words\"})")
    for circle in [group, shared] {
      // Of what is in the group of those who block each other, they see what is not of each other.
      let isShared = circle == shared
      let inside = "circleId: \"\(circle)\", location: {id: \"\(place)\"}"
      var posts: [String] = []
      for (field, input) in [
        ("textPost", "body: \"secret text\", \(inside)"),
        (
          "outfitPost",
          "photoIds: [\(photos[0])], brands: [\"secretbrand\"], isVotingEnabled: true, \(inside)"
        ),
        (
          "productPost",
          "productId: \"\(thing)\", body: \"secret product\", circleId: \"\(circle)\""
        ),
        ("photoPost", "photoIds: [\(photos[1])], body: \"secret photo\", \(inside)"),
        ("cardOffer", "body: \"secret offer\", responseLimit: 2, circleId: \"\(circle)\""),
        ("cardRequest", "body: \"secret request\", circleId: \"\(circle)\""),
        (
          "thankYou",
          try
            "body: \"secret thanks\", taggedUserIds: [\(memberID), \(people("marisol", "quiet_stranger"))], circleId: \"\(circle)\""
        ),
        (
          "event",
          "title: \"secret meeting\", startsAt: \"2041-05-05T10:00:00Z\", category: DINING, venues: [{locationId: \"\(place)\", note: \"secret\"}], \(inside)"
        ),
      ] {
        let name = field.prefix(1).uppercased() + field.dropFirst()
        let field0 = "create\(name)(input: {\(input)})"
        posts.append(try owner(field0, "\(field) { id }", "\(field).id"))
      }
      if isShared { continue }
      for post in posts {
        try member("react(subjectId: \"\(post)\", kind: TOP)")
        let comment = try member(
          "addComment(subjectId: \"\(post)\", body: \"secret comment\")", "comment { id }",
          "comment.id")
        try owner("react(subjectId: \"\(comment)\", kind: AGREE)")
        try member("flag(subjectId: \"\(post)\")")
      }
      try member("castVote(postId: \"\(posts[1])\", choice: WEAR_IT)")
      try member("unreact(subjectId: \"\(posts[0])\", kind: TOP)")
      try member("respondToOffer(cardOfferId: \"\(posts[4])\")")
      try member("withdrawOfferResponse(cardOfferId: \"\(posts[4])\")")
      try member("respondToOffer(cardOfferId: \"\(posts[4])\")")
      let first = try member(
        "requestAddress(cardRequestId: \"\(posts[5])\")", "infoRequest { id }", "infoRequest.id")
      try member("withdrawInfoRequest(infoRequestId: \"\(first)\")")
      let asked = try member(
        "requestAddress(cardRequestId: \"\(posts[5])\")", "infoRequest { id }", "infoRequest.id")
      try owner("answerInfoRequest(infoRequestId: \"\(asked)\", approve: true)")
      try member("setAttendance(eventId: \"\(posts[7])\", status: GOING)")
      try owner("updateEvent(eventId: \"\(posts[7])\", input: {title: \"secret party\"})")
      for (index, type) in [
        "textPost", "outfitPost", "productPost", "photoPost", "cardOffer", "cardRequest",
        "thankYou",
        "event",
      ].enumerated() {
        let name = type.prefix(1).uppercased() + type.dropFirst()
        try owner("update\(name)(\(type)Id: \"\(posts[index])\", input: {body: \"secret change\"})")
      }
      try owner(
        "updateCardOffer(cardOfferId: \"\(posts[4])\", input: {responseLimit: 3, regionIds: [\"\(place)\"]})"
      )
      try owner(
        "updateThankYou(thankYouId: \"\(posts[6])\", input: {taggedUserIds: [\(memberID)]})")
      try owner("cancelEvent(eventId: \"\(posts[7])\", note: \"secret rain\")")
      try owner("restoreEvent(eventId: \"\(posts[7])\")")
      try owner("closeCardPost(postId: \"\(posts[5])\")")
      try owner("reopenCardPost(postId: \"\(posts[5])\")")
      try member("unflag(subjectId: \"\(posts[0])\")")
      try member("clearAttendance(eventId: \"\(posts[7])\")")
      try owner("deletePost(postId: \"\(posts[2])\")")
      try owner(
        "resolveFollowUp(followUpId: \"\(id("SELECT id FROM follow_up WHERE recipient_id = (SELECT id FROM app_user WHERE username = 'loud_member') ORDER BY id DESC LIMIT 1"))\", state: UNABLE)"
      )
      let said = try owner(
        "addComment(subjectId: \"\(group)\", body: \"secret word\")", "comment { id }", "comment.id"
      )
      try owner("updateComment(commentId: \"\(said)\", input: {body: \"secret words\"})")
      try owner("deleteComment(commentId: \"\(said)\")")
      try owner("addComment(subjectId: \"\(group)\", body: \"secret saying\")")
    }
    // An event by invitation in a channel that everybody here belongs to.
    let party = try owner(
      """
      createEvent(input: {title: "secret feast", startsAt: "2041-06-06T10:00:00.000Z", visibility: INVITED, \
      circleId: "\(channel)", location: {id: "\(place)"}, inviteUserIds: [\(memberID)]})
      """, "event { id }", "event.id")
    try member("setAttendance(eventId: \"\(party)\", status: GOING)")
    try member("addComment(subjectId: \"\(party)\", body: \"secret joy\")")
    try owner("inviteToEvent(eventId: \"\(party)\", userIds: [\(people("loud_other"))])")
    try owner("addCircleMembers(circleId: \"\(group)\", userIds: [\(people("loud_other"))])")
    try member("react(subjectId: \"\(party)\", kind: TOP)")
    try owner("updateEvent(eventId: \"\(party)\", input: {body: \"secret menu\"})")
    let second = try owner(
      """
      createEvent(input: {title: "secret end", startsAt: "2041-06-07T10:00:00.000Z", visibility: INVITED, \
      circleId: "\(channel)", inviteUserIds: [\(memberID)]})
      """, "event { id }", "event.id")
    try owner("deletePost(postId: \"\(second)\")")
    // Taken back before anybody answered.
    let third = try owner(
      """
      createEvent(input: {title: "secret wish", startsAt: "2041-06-08T10:00:00Z", visibility: INVITED, \
      inviteUserIds: [\(people("loud_other"))]})
      """, "event { id }", "event.id")
    let invitation = try id(
      "SELECT i.id FROM invitation i JOIN event e ON e.post_id = i.event_id WHERE e.title = 'secret wish'"
    )
    try owner("withdrawInvitation(invitationId: \"\(invitation)\")")
    try owner("updateEvent(eventId: \"\(third)\", input: {title: \"secret hope\"})")
    // What is one's own.
    try owner(
      "updateProfile(input: {address: \"secret road\", email: \"secret@example.org\", shipsToLocationIds: []})"
    )
    try owner("resendVerification")
    try owner("changePassword(newPassword: \"secret horse\")")
    try owner("addToShoppingList(productId: \"\(thing)\")")
    try member("addToShoppingList(productId: \"\(thing)\")")
    try member("removeFromShoppingList(productId: \"\(thing)\")")
    try owner("blockUser(userId: \(people("loud_other")))")
    try member("blockUser(userId: \(people("loud_other")))")
    try member("unblockUser(userId: \(people("loud_other")))")
    // What was asked for and promised behind what is public.
    try owner(
      "answerInfoRequest(infoRequestId: \"\(id("SELECT id FROM info_request WHERE post_id = (SELECT id FROM post WHERE body = 'loud request')"))\", approve: true)"
    )
    try owner(
      "resolveFollowUp(followUpId: \"\(id("SELECT id FROM follow_up WHERE post_id = (SELECT id FROM post WHERE body = 'loud offer')"))\", state: UNABLE)"
    )
    try staff(
      "resolveFlags(subjectId: \"\(id("SELECT id FROM post WHERE body = 'loud offer'"))\", note: \"secret\")"
    )
    let waiting = try owner(
      "createPhoto(input: {url: \"/photos/\(String(repeating: "b", count: 64)).jpg\"})",
      "photo { id }", "photo.id")
    try staff("moderatePhoto(photoId: \"\(waiting)\", state: REJECTED)")
    try owner(
      "createActivityTrack(input: {title: \"secret run\", startedAt: \"2026-01-01T00:00:00.000Z\", endedAt: \"2026-01-01T01:00:00.000Z\", path: []})"
    )
    try owner("recordTestResult(test: LEG_PRESS, value: 7)")
    try owner(
      "importContacts(provider: GOOGLE, contacts: [{externalId: \"s\", name: \"secret friend\"}])")
    try owner("inviteToApp(channel: EMAIL, contact: \"secret@friend.example\")")
    _ = try after.data().run(
      "UPDATE app_user SET email_verified = true WHERE email = 'secret@example.org'")
    try owner("emailProductToMe(productId: \"\(thing)\")")
    try owner("suggestProduct(productId: \"\(thing)\", toUserId: \(memberID))")
    try member("castVote(postId: \"\(outfit)\", choice: CHANGE_IT)")
    try member("flag(subjectId: \"\(outfit)\", note: \"secret note\")")
    try owner("sendMessage(to: {userIds: [\(memberID)]}, body: \"secret message\")")
    try member("sendMessage(to: {userIds: [\(people("loud_owner"))]}, body: \"secret answer\")")
    try takeBackPrivately(owner, member, staff)
    try owner("markNotificationsRead")
    try member("markNotificationsRead")
    try owner(
      "updateNotificationSettings(input: {rules: [{reason: VOTED, channels: [EMAIL]}], quietHours: {from: \"22:00\", to: \"07:00\"}})"
    )
    try owner("updateProfile(input: {locale: \"es\", timeZone: \"Europe/Madrid\"})")
    try staff("moderatePhoto(photoId: \(photos[3]), state: REJECTED)")
    let session = try id(
      """
      SELECT id FROM class_session WHERE starts_at > now() AND cancelled_at IS NULL
        AND booked_count BETWEEN 1 AND capacity - 1 AND trainer_id NOT IN (
          SELECT u.id FROM app_user u JOIN varied_viewer v USING (username))
      ORDER BY id LIMIT 1
      """
    )
    let booking = try owner(
      "bookClassSession(classSessionId: \"\(session)\")", "booking { id }", "booking.id")
    // The seat is counted for everybody; whose it was is not seen.
    try owner("cancelBooking(bookingId: \"\(booking)\")")
    try owner("track(event: \"secret\")")
    // And a group that was, with all that was in it.
    let gone = try owner(
      "createCircle(input: {name: \"secret end\", memberIds: [\(memberID)]})", "circle { id }",
      "circle.id")
    try member("createTextPost(input: {body: \"secret last\", circleId: \"\(gone)\"})")
    try owner("transferCircle(circleId: \"\(gone)\", userId: \(memberID))")
    try member("transferCircle(circleId: \"\(gone)\", userId: \(people("loud_owner")))")
    try owner("removeCircleMembers(circleId: \"\(gone)\", userIds: [\(memberID)])")
    try owner("deleteCircle(circleId: \"\(gone)\")")
    try member("leaveCircle(circleId: \"\(group)\")")
  }

  /// Changes and takes back what is the owner's alone.
  private func takeBackPrivately(_ owner: Actor, _ member: Actor, _ staff: Actor) throws {
    let mine = "= (SELECT id FROM app_user WHERE username = 'loud_owner')"
    let track = try id("SELECT id FROM activity_track WHERE user_id \(mine)")
    try owner(
      "updateActivityTrack(activityTrackId: \"\(track)\", input: {title: \"secret walk\"})")
    let result = try id("SELECT id FROM test_result WHERE user_id \(mine)")
    try owner("deleteTestResult(testResultId: \"\(result)\")")
    let talk = try id("SELECT conversation_id FROM message WHERE author_id \(mine) LIMIT 1")
    try owner("setConversationMuted(conversationId: \"\(talk)\", isMuted: true)")
    let said = try owner(
      "sendMessage(to: {conversationId: \"\(talk)\"}, body: \"secret slip\")", "message { id }",
      "message.id")
    try owner("deleteMessage(messageId: \"\(said)\")")
    try member("markConversationRead(conversationId: \"\(talk)\")")
    let device = try owner(
      "registerDevice(input: {app: \"loud\", platform: FCM, token: \"secret:\(String(repeating: "a", count: 60))\", deviceName: \"secret\"})",
      "device { id }", "device.id")
    try owner("unregisterDevice(deviceId: \"\(device)\")")
    try owner(
      "registerDevice(input: {app: \"loud\", platform: FCM, token: \"secret:\(String(repeating: "b", count: 60))\"})"
    )
    let told = try id(
      "SELECT id FROM notification WHERE recipient_id \(mine) ORDER BY id DESC LIMIT 1")
    try owner("deleteNotifications(notificationIds: [\"\(told)\"])")
    let photo = try id("SELECT id FROM photo WHERE owner_id \(mine) ORDER BY id DESC LIMIT 1")
    _ = try after.data().run(
      "UPDATE photo SET moderation = 'PENDING' WHERE id = \(NodeKey(wire: photo).number)")
    try owner("updatePhoto(photoId: \"\(photo)\", input: {altText: \"secret view\"})")
    try owner("deletePhoto(photoId: \"\(photo)\")")
    try owner("deleteExternalContacts(provider: GOOGLE)")
    try staff("suspendUser(userId: \(people("loud_other")), note: \"secret\")")
    try staff("unsuspendUser(userId: \(people("loud_other")))")
  }

  /// Makes changes visible to all except those in a block with the owner. Reactions and public
  /// thanks are counted for all users, so there are none.
  private func doPublicly() throws {
    let owner = Actor(server: after, name: "loud_owner")
    let member = Actor(server: after, name: "loud_member")
    let channel = try id("SELECT id FROM circle WHERE name = 'Loud channel'")
    let shared = try id("SELECT id FROM circle WHERE name = 'Loud group'")
    // Every other one of those with the most followers, so that their order changes.
    let others = try after.data().run(
      """
      SELECT s.id FROM (
        SELECT u.id, row_number() OVER (ORDER BY u.follower_count DESC, u.id) AS n FROM app_user u
        WHERE u.username !~ '^(quiet|loud)' AND NOT EXISTS (
          SELECT FROM block b WHERE u.id IN (b.blocker_id, b.blocked_id))) s
      WHERE s.n % 2 = 0 ORDER BY s.n LIMIT 90
      """
    ).map { "\"\(NodeKey(Int64($0[0] ?? "") ?? 0).wire)\"" }
    let places = try after.data().run(
      "SELECT id FROM location WHERE level = 'PLACE' ORDER BY id LIMIT 8"
    ).map { NodeKey(Int64($0[0] ?? "") ?? 0).wire }
    try owner("followUsers(userIds: [\(others.joined(separator: ", "))])")
    for (index, place) in places.enumerated() {
      for number in 0...index {
        try owner("addComment(subjectId: \"\(place)\", body: \"loud review \(number)\")")
      }
    }
    var posts: [String] = []
    for circle in [channel, shared] {
      for number in 0..<3 {
        posts.append(
          try owner(
            "createTextPost(input: {body: \"loud words \(number)\", circleId: \"\(circle)\"})",
            "textPost { id }", "textPost.id"))
      }
    }
    for post in posts { try member("addComment(subjectId: \"\(post)\", body: \"loud agreement\")") }
    try owner("updateTextPost(textPostId: \"\(posts[0])\", input: {body: \"loud change\"})")
    try owner("deletePost(postId: \"\(posts[1])\")")
    try owner("deletePost(postId: \"\(posts[4])\")")
    let said = try owner(
      "addComment(subjectId: \"\(shared)\", body: \"loud saying\")", "comment { id }", "comment.id")
    try owner("deleteComment(commentId: \"\(said)\")")
    try owner("addComment(subjectId: \"\(channel)\", body: \"loud talk\")")
    try owner(
      """
      createEvent(input: {title: "loud fair", startsAt: "2041-07-07T10:00:00.000Z", circleId: "\(channel)"})
      """)
    try owner("createAnnouncement(input: {body: \"loud news\", notifyCircleIds: [\"\(channel)\"]})")
    try owner("updateProfile(input: {bio: \"loud life\"})")
    try owner("unfollowUsers(userIds: [\(others[0])])")
  }

  // MARK: The questions

  struct Question: Sendable {
    let text: String
    var variables: JSONValue?
  }

  /// Asks each question of everybody, in both graphs, until a few answers differ.
  func differences(
    _ questions: [Question], as viewers: [String?], atMost limit: Int = 3
  ) throws -> [String] {
    let next = Atomic(0)
    let found = Mutex<[String]>([])
    _ = try crowd(of: 6) { _ in
      while true {
        let index = next.add(1, ordering: .relaxed).oldValue
        guard index < questions.count, found.withLock({ $0.count < limit }) else { return }
        for viewer in viewers {
          if let one = try self.difference(questions[index], as: viewer) {
            found.withLock { $0.append(one) }
            break
          }
        }
      }
    }
    return found.withLock { $0 }
  }

  private func difference(_ question: Question, as viewer: String?) throws -> String? {
    let token = viewer.map { "demo-" + $0 }
    let text = question.text.replacing(Self.sinceWord, with: since[viewer ?? ""] ?? "")
    var (old, new) = ("", "")
    // What depends on the moment may have changed between the two; not each time.
    for _ in 0..<3 {
      old = try before.send(text, question.variables, token: token).text
      new = try after.send(text, question.variables, token: token).text
      if old == new { return nil }
      (old, new) = (Self.timeless(old), Self.timeless(new))
      if old == new { return nil }
    }
    let common = zip(old.utf8, new.utf8).prefix { $0 == $1 }.count
    func around(_ text: String) -> String {
      String(decoding: Array(text.utf8).dropFirst(max(0, common - 120)).prefix(400), as: UTF8.self)
    }
    return """
      \(viewer ?? "anonymous"): \(question.text.prefix(800)) \(question.variables ?? .null)
      before: \(around(old))
      after:  \(around(new))
      """
  }

  /// Without what is different each time: tokens of the log, when an export was made, request ids.
  private static func timeless(_ text: String) -> String {
    var data = Data(text.utf8)
    for name in ["token", "requestId", "exportedAt"] {
      for quote in ["\"", "\\\""] {
        data = without(from: "\(quote)\(name)\(quote):", to: quote, quote, in: data)
        data = without(from: "\(quote)\(name)\(quote): ", to: quote, quote, in: data)
      }
    }
    // Tokens of the log under another name: the version, and more zeros than an id or a cursor begins with.
    return String(decoding: without(from: "\"AgAAAAAA", to: "\"", "", in: data), as: UTF8.self)
  }

  /// Removes the text after each `head` and `opening` up to the next `end`.
  private static func without(
    from head: String, to end: String, _ opening: String, in data: Data
  ) -> Data {
    let (head, end) = (Data((head + opening).utf8), Data(end.utf8))
    var result = Data()
    var place = data.startIndex
    while let found = data.range(of: head, in: place..<data.endIndex),
      let close = data.range(of: end, in: found.upperBound..<data.endIndex)
    {
      result += data[place..<found.upperBound]
      place = close.lowerBound
    }
    return result + data[place...]
  }

  /// The groups that hold what is hidden, so that they are asked for.
  func groups() throws -> [Int64] {
    try after.data().run(
      "SELECT id FROM circle WHERE kind = 'GROUP' AND name ~ '^(secret|Loud)' OR name = 'Loud channel' ORDER BY id"
    ).map { Int64($0[0] ?? "") ?? 0 }
  }

  /// Stands for the viewer's own token.
  private static let sinceWord = "SINCE"

  /// Questions that random ones seldom are.
  func pointed() throws -> [Question] {
    let circles = try groups().map { NodeKey($0).wire }
    let window = "from: \"2000-01-01T00:00:00.000Z\", to: \"2100-01-01T00:00:00.000Z\""
    var questions = [
      "{ changes(since: \"\(Self.sinceWord)\", limit: 100) { hasMore changes { nodeId operation node { id __typename } } } }",
      "{ changes(since: \"\(Self.sinceWord)\", limit: 3) { hasMore changes { nodeId operation } } }",
      "{ viewer { dataExport } }",
      "{ viewer { suggestedUsers(limit: 100) { id followers { totalCount } } } }",
      "{ viewer { notifications(first: 50) { totalCount nodes { text } } agenda(\(window)) { nodes { id } } } }",
      "{ locations(orderBy: MOST_REVIEWED, first: 50) { edges { cursor node { id comments { totalCount } } } } }",
      "{ users(search: \"loud\") { nodes { id thankYouScore username } } }",
      "{ posts(filter: {kinds: [EVENT], search: \"match\"}) { nodes { ... on Event { id title circle { id } } } } }",
      "{ users(search: \"quiet\") { nodes { id thankYouScore username } } }",
      "{ explore(first: 100) { nodes { id } } posts(first: 100) { nodes { id } } }",
      "{ viewer { feed(first: 100) { nodes { id } } circles { nodes { id name } } } }",
    ]
    for number in 1...9 {
      questions.append(
        "{ locations(filter: {minReviews: \(number)}, first: 100) { totalCount nodes { id } } }")
    }
    for word in ["secret", "loud", "secretbrand"] {
      questions.append(
        "{ search(query: \"\(word)\", first: 100) { nodes { __typename } } posts(filter: {search: \"\(word)\"}) { totalCount } }"
      )
    }
    for circle in circles {
      questions.append(
        "{ schedule(filter: {\(window), circleIds: [\"\(circle)\"]}, first: 100) { nodes { __typename } } }"
      )
      questions.append("{ circle(id: \"\(circle)\") { name } node(id: \"\(circle)\") { id } }")
    }
    return questions.map { Question(text: $0) }
  }
}

extension GraphServer {
  /// Returns the token of the log of changes of each viewer; that of an anonymous client is under
  /// "".
  fileprivate func tokens(of viewers: [String?]) throws -> [String: String] {
    var tokens: [String: String] = [:]
    for viewer in viewers {
      let answer = try execute(
        "{ changes { token } }", token: viewer.map { "demo-" + $0 })
      tokens[viewer ?? ""] = answer.at("data.changes.token")?.string
    }
    return tokens
  }
}
