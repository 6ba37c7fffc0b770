import Foundation
import Postgres
import TestSupport

/// A small graph in which a few people share everything, and a call of every mutation's function that
/// something can be done with there.
final class LockWorld: @unchecked Sendable {
  struct Call {
    let name: String
    let statement: String
    var function: String { String(name.prefix { $0 != " " }) }
  }

  /// Functions that insert rows and lock none that others could need.
  static let lockless: Set<String> = ["track_usage", "create_location", "request_password_reset"]

  let database: String
  /// Belongs to the thread that made the world.
  let data: GraphData
  private(set) var calls: [Call] = []

  init() throws {
    database = try TestCluster.newDatabase(migrated: true)
    data = try GraphData(database)
    try make()
    var failures: [String] = []
    for call in calls {
      try data.run("BEGIN")
      do { try data.run(call.statement) } catch { failures.append("\(call.name): \(error)") }
      try data.run("ROLLBACK")
    }
    guard failures.isEmpty else { throw GraphTestFailure(failures.joined(separator: "\n")) }
  }

  /// The rows that a call locks, of those there are before it.
  func locks(of call: Call) throws -> [LockedRow: LockStrength] {
    let observer = try TestCluster.session(database)
    try observer.execute("SET plan_cache_mode = force_generic_plan")
    try data.run("BEGIN")
    try data.run(call.statement)
    var locks: [LockedRow: LockStrength] = [:]
    for table in try tables() {
      func free(_ clause: String) throws -> Set<String> {
        Set(try observer.execute("SELECT ctid FROM \(table) \(clause)").map { $0[0] ?? "" })
      }
      let all = try free("")
      let unlocked = try free("FOR UPDATE SKIP LOCKED")
      guard unlocked != all else { continue }
      let (kept, shared) = (
        try free("FOR NO KEY UPDATE SKIP LOCKED"), try free("FOR KEY SHARE SKIP LOCKED")
      )
      for place in all.subtracting(unlocked) {
        locks[LockedRow(table: table, place: place)] =
          !shared.contains(place) ? .update : !kept.contains(place) ? .noKeyUpdate : .keyShare
      }
    }
    try data.run("ROLLBACK")
    return locks
  }

  private func tables() throws -> [String] {
    try data.run(
      """
      SELECT oid::regclass FROM pg_class WHERE relnamespace = 'graph'::regnamespace AND relkind = 'r'
      ORDER BY 1
      """
    ).map { $0[0] ?? "" }
  }

  // MARK: Its rows

  private func add(_ function: String, _ arguments: String, _ remark: String = "") {
    calls.append(
      Call(
        name: remark.isEmpty ? function : "\(function) \(remark)",
        statement: "SELECT \(function)(\(arguments))"))
  }

  private func make() throws {
    let (anna, ben, eve) = (
      try data.person("anna"), try data.person("ben"), try data.person("eve")
    )
    let trainer = try data.person("trainer", roles: ["MEMBER", "TRAINER"])
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF", "SERVICE"])
    let chief = try data.person("chief", roles: ["MEMBER", "STAFF"])
    for person in [anna, ben, eve, trainer, staff, chief] {
      try data.run(
        """
        UPDATE app_user SET address = 'Road 1', email = username || '@example.org',
          email_verified = true WHERE id = \(person.key)
        """)
      try data.add("password", ["user_id": person.key, "hash": "hash"])
    }
    try data.run("UPDATE app_user SET email_verified = false WHERE id = \(ben)")
    try data.block(anna, chief)
    try data.follow(ben, anna)
    try data.follow(anna, ben)
    try data.follow(eve, anna)
    let place = try data.location("Harbour", latitude: 1, longitude: 1)
    let thing = try data.product("Thing")
    let group = try data.circle("Group", owner: anna, members: [ben, eve])
    let channel = try data.circle(
      "Channel", kind: "CHANNEL", owner: staff, members: [ben], isDefault: true)
    let photo = try data.photo(of: anna)
    // Shown everywhere, and needed nowhere.
    let spare = try data.photo(of: anna)
    try data.run("UPDATE app_user SET avatar_id = \(spare) WHERE id = \(anna)")
    try data.run("UPDATE product SET photo_id = \(spare) WHERE id = \(thing)")
    let city = try data.location("Town", level: "CITY")
    try data.run("UPDATE location SET parent_id = \(city) WHERE id = \(place)")
    let empty = try data.location("Empty", latitude: 2, longitude: 2)
    func post(_ tag: PostTag) throws -> NodeKey {
      let key = try data.post(
        tag, by: anna, "words", location: place, circle: tag == .announcement ? nil : group,
        product: tag == .product ? thing : nil)
      try data.show([photo, spare], in: key)
      try data.react(ben, "HEART", to: key)
      try data.react(eve, "LIKE", to: key)
      _ = try data.comment(key, by: eve, "hm")
      return key
    }
    let (text, outfit, event) = (try post(.text), try post(.outfit), try post(.event))
    let (offer, request) = (try post(.cardOffer), try post(.cardRequest))
    let (shot, thanks, news) = (try post(.photo), try post(.thankYou), try post(.announcement))
    try data.add("post_tag", ["post_id": thanks, "user_id": eve.key])
    let (free, off) = (try data.post(.event, by: anna), try data.post(.event, by: anna))
    try data.run("UPDATE event SET cancelled_at = now() WHERE post_id = \(off)")
    for person in [ben, eve] {
      try data.attend(person, free, "GOING")
      try data.attend(person, off, "GOING")
    }
    let other = try post(.product)
    try data.run("UPDATE card_post SET response_limit = 3 WHERE post_id = \(offer)")
    try data.add("vote", ["post_id": outfit, "user_id": eve.key, "choice": "WEAR_IT"])
    let comment = try data.comment(text, by: ben, "well")
    try data.react(eve, "AGREE", to: comment)
    let review = try data.comment(place, by: ben, "nice")
    let note = try data.comment(group, by: ben, "hello")
    let invitations = try [ben, eve].map { person in
      try data.attend(person, event, "MAYBE")
      return try data.invite(anna, person, to: event)
    }
    let asked = try data.infoRequest(request, of: anna, by: ben)
    let owed = try data.followUp(offer, from: anna, to: eve)
    let unable = try data.followUp(offer, from: anna, to: trainer, state: "UNABLE")
    try data.run("UPDATE follow_up SET resolved_at = now() WHERE id = \(unable)")
    let shut = try data.cardRequest(by: anna, "words", isOpen: false)
    let program = try data.program("Course", trainers: [trainer])
    let session = try data.classSession(program, by: trainer, at: "2041-01-01 10:00Z", capacity: 3)
    let booking = try data.book(ben, session)
    try data.book(eve, session)
    let talk = try data.insert(
      "conversation",
      [
        "member_key": [anna, ben].map(\.key.number).sorted().map(String.init).joined(separator: ",")
      ])
    for person in [anna, ben] {
      try data.add("conversation_member", ["conversation_id": talk, "user_id": person.key])
      _ = try data.insert(
        "message", ["conversation_id": talk, "author_id": person.key, "body": "hi"])
    }
    var notes: [String: NodeKey] = [:]
    for (person, name) in [(anna, "anna"), (ben, "ben")] {
      for (about, actor, reason, kind) in [
        (text, eve, "REACTED", nil), (talk, person.key == anna.key ? ben : anna, "MESSAGED", nil),
        (eve.key, eve, "FOLLOWED", "FOLLOW_BACK"), (event, anna, "EVENT_INVITED", "ATTEND"),
        (asked, ben, "INFO_REQUESTED", "APPROVE_INFO_REQUEST"), (outfit, nil, "VOTED", nil),
        (group, anna, "CIRCLE_ADDED", nil),
      ] as [(NodeKey, Person?, String, String?)] {
        notes[name + reason] = try data.insert(
          "notification",
          [
            "recipient_id": person.key, "reason": reason, "actor_id": actor?.key,
            "about_id": about, "phrase": "x", "destination": "y", "action_kind": kind,
          ])
      }
    }
    try data.run(
      """
      INSERT INTO one_time_token SELECT sha256(convert_to(p || u.username, 'UTF8')), p, u.id, now() + interval '30 minutes'
      FROM app_user u, unnest('{VERIFY_EMAIL,RESET_PASSWORD}'::text[]) p;
      INSERT INTO app_config (app, support_email) VALUES ('gtio', 'a@example.org');
      INSERT INTO device (user_id, session_id, app, platform, token_hash, token, is_sandbox, locale)
      SELECT s.user_id, s.id, 'gtio', 'APNS', s.token_hash, s.token_hash, false, 'en' FROM session s
      WHERE s.user_id IN (\(anna), \(ben));
      INSERT INTO daily_item (list, position, value) VALUES ('MOTIVATION', 0, 'Go!');
      """)
    for person in [anna, ben] {
      for provider in ["GOOGLE", "FACEBOOK"] {
        try data.add(
          "identity",
          [
            "provider": provider, "external_id": provider + person.username,
            "user_id": person.key, "access_token": "\\x00",
          ])
      }
      try data.add(
        "session",
        [
          "token_hash": "\\x" + String(repeating: person.key == anna.key ? "0a" : "0b", count: 32),
          "user_id": person.key, "expires_at": "tomorrow",
        ])
      try data.add("shopping_list_item", ["user_id": person.key, "product_id": thing])
      try data.add("test_result", ["user_id": person.key, "test": "LEG_PRESS", "value": 1.0])
    }
    let contact = try data.insert(
      "external_contact",
      [
        "owner_id": anna.key, "provider": "GOOGLE", "external_id": "c", "name": "C",
        "name_key": "c",
      ])
    let track = try data.insert(
      "activity_track",
      [
        "user_id": anna.key, "title": "x", "started_at": "now", "ended_at": "now",
        "distance": 1.0, "path": "[]",
      ])
    try data.run("ANALYZE")

    // MARK: What is done with them

    let hashA = "'\\x\(String(repeating: "0a", count: 32))'::bytea"
    let fresh = "sha256(convert_to(random()::text, 'UTF8'))"
    func token(_ purpose: String, _ person: Person) -> String { "'\(purpose)\(person.username)'" }
    func input(_ members: String) -> String { "jsonb_build_object(\(members))" }
    let face =
      "jsonb_build_object('path', '/photos/' || repeat('a', 64) || '.png', 'width', 9, 'height', 9, "
      + "'moderation', 'APPROVED')"
    add(
      "sign_up",
      "\(input("'username', 'new' || pg_backend_pid()")), 'hash', \(face), \(fresh), NULL")
    add("sign_in", "'\(anna.username)', 'hash', 'hash', \(fresh), NULL")
    // Each credential is used once.
    let claims = input(
      "'subject', 'GOOGLE\(anna.username)', 'digest', md5(random()::text), 'endsAt', 4102444800")
    add("sign_in_with_provider", "'GOOGLE', \(claims), false, \(fresh), NULL")
    add(
      "link_provider", "\(anna), sha256('x'), 'hash', 'GOOGLE', \(claims), NULL"
    )
    add("unlink_provider", "\(anna), sha256('x'), 'hash', 'GOOGLE'")
    add("sign_out", "\(anna), \(hashA)")
    add(
      "revoke_session",
      "\(anna), \(hashA), NULL, (SELECT id FROM session WHERE token_hash = \(hashA))")
    add("change_password", "\(anna), sha256('x'), 'hash', 'other'")
    add("request_password_reset", "'\(anna.username)@example.org'")
    add("reset_password", "\(token("RESET_PASSWORD", anna)), 'other', \(fresh), NULL")
    add("verify_email", "\(anna), \(token("VERIFY_EMAIL", anna))")
    add("resend_verification", "\(ben)")
    add(
      "update_profile",
      "\(anna), \(hashA), 'hash', \(input("'displayName', 'A', 'email', 'b@example.org', 'homeLocationId', \(place), 'avatarPhotoId', \(photo), 'shipsToLocationIds', jsonb_build_array(\(place))"))"
    )
    add("import_contacts", "\(anna), 'GOOGLE', '[{\"externalId\": \"c\", \"name\": \"D\"}]'")
    for person in [anna, ben] {
      add(
        "delete_account", "\(person), NULL, 'hash'",
        person.key == anna.key ? "of who posted" : "of who answered")
    }
    add("follow_users", "\(anna), ARRAY[\(trainer), \(eve)]", "two")
    add("follow_users", "\(eve), ARRAY[\(ben), \(anna)]", "back")
    add("unfollow_users", "\(anna), ARRAY[\(ben), \(eve)]")
    add("unfollow_users", "\(ben), ARRAY[\(anna), \(eve)]", "back")
    add("block_user", "\(anna), \(ben)")
    add("block_user", "\(ben), \(anna)", "back")
    add("unblock_user", "\(anna), \(chief)")
    let photos = "'photoIds', jsonb_build_array(\(photo))"
    let here = "'location', jsonb_build_object('id', \(place))"
    for (function, members) in [
      ("create_text_post", "'body', 'x', 'circleId', \(group), \(photos), \(here)"),
      ("create_outfit_post", "'circleId', \(group), \(photos), \(here), 'app', 'gtio'"),
      ("create_product_post", "'productId', \(thing), \(here)"),
      ("create_photo_post", "\(photos), \(here)"),
      (
        "create_card_offer",
        "'body', 'x', 'responseLimit', 3, 'regionIds', jsonb_build_array(\(place))"
      ),
      ("create_card_request", "'body', 'x', 'circleId', \(group)"),
      ("create_thank_you", "'body', 'x', 'taggedUserIds', jsonb_build_array(\(eve), \(ben))"),
      (
        "create_announcement",
        "'body', 'x', 'notifyCircleIds', jsonb_build_array(\(group)), 'notifyUserIds', jsonb_build_array(\(trainer))"
      ),
      (
        "create_event",
        "'title', 'x', 'startsAt', '2041-01-01T00:00:00.000Z', 'circleId', \(group), \(here), 'inviteCircleIds', jsonb_build_array(\(group)), 'category', 'DINING', 'venues', jsonb_build_array(jsonb_build_object('locationId', \(place)))"
      ),
    ] { add(function, "\(anna), \(input(members))") }
    add(
      "update_event",
      "\(anna), \(event), \(input("'title', 'y', 'location', NULL, 'category', 'DINING', 'venues', jsonb_build_array(jsonb_build_object('locationId', \(place)))"))"
    )
    add(
      "update_event",
      "\(anna), \(free), \(input("'visibility', 'INVITED', 'title', 'z'"))", "to private")
    add(
      "upsert_event",
      "\(staff), \(input("'title', 'x', 'startsAt', '2041-01-01T00:00:00Z', 'circleId', \(channel), 'externalId', 'e', \(here)"))"
    )
    add("cancel_event", "\(anna), \(event), 'Rain'")
    add("restore_event", "\(anna), \(off)")
    let words = "'body', 'y', 'photoIds', '[]'::jsonb"
    for (function, post, members) in [
      ("update_text_post", text, words + ", 'location', NULL"),
      ("update_outfit_post", outfit, "'body', 'y', 'isVotingEnabled', false, \(here)"),
      ("update_product_post", other, "'body', 'y', 'isVotingEnabled', false"),
      ("update_photo_post", shot, "'body', 'y', \(photos), \(here)"),
      (
        "update_card_offer", offer,
        words + ", 'responseLimit', 2, 'regionIds', jsonb_build_array(\(place))"
      ),
      ("update_card_request", request, words),
      ("update_thank_you", thanks, words + ", 'taggedUserIds', jsonb_build_array(\(ben))"),
      ("update_announcement", news, words),
    ] { add(function, "\(anna), \(post), \(input(members))") }
    for (post, name) in [
      (text, "words"), (outfit, "outfit"), (event, "event"), (offer, "offer"),
      (request, "request"),
    ] {
      add("delete_post", "\(anna), \(post)", name)
    }
    for (subject, kind, name) in [
      (text, "TOP", "post"), (place, "TOP", "place"), (thing, "HEART", "product"),
      (comment, "AGREE", "comment"), (event, "LIKE", "event"),
    ] {
      add("react", "\(ben), \(subject), '\(kind)'", name)
      add("react", "\(anna), \(subject), '\(kind)'", name + " by its author")
    }
    add("unreact", "\(ben), \(text), 'HEART'")
    add("unreact", "\(eve), \(comment), 'AGREE'", "comment")
    add("cast_vote", "\(ben), \(outfit), 'CHANGE_IT'")
    for (subject, name) in [(text, "post"), (event, "event"), (place, "place"), (group, "group")] {
      add("add_comment", "\(eve), \(subject), 'so'", name)
    }
    for (subject, name) in [(comment, "post"), (review, "place"), (note, "group")] {
      add("delete_comment", "\(ben), \(subject)", name)
    }
    add("delete_comment", "\(staff), \(comment)", "by staff")
    for (subject, name) in [(comment, "post"), (review, "place"), (note, "group")] {
      add("update_comment", "\(ben), \(subject), \(input("'body', 'z'"))", name)
    }
    let picture = "/photos/\(String(repeating: "a", count: 64)).jpg"
    try data.run(
      """
      INSERT INTO upload (owner_id, path, width, height, moderation)
      VALUES (\(anna), '\(picture)', 10, 10, 'APPROVED')
      """)
    add("create_photo", "\(anna), \(input("'url', '\(picture)'"))")
    try data.run("SELECT flag_subject(\(eve), \(text), 'SPAM', NULL)")
    add("resolve_flags", "\(chief), \(text), NULL")
    add("unflag_subject", "\(eve), \(text)")
    add("flag_subject", "\(ben), \(text), 'SPAM', NULL")
    add("flag_subject", "\(anna), \(comment), 'SPAM', NULL", "comment")
    add("share_post", "\(anna), \(text), 'FACEBOOK'")
    add("invite_to_app", "\(anna), 'EMAIL', NULL, \(contact)")
    add("suggest_product", "\(ben), \(thing), \(anna), \(other)")
    add("email_product_to_me", "\(anna), \(thing)")
    add("add_to_shopping_list", "\(anna), \(thing)")
    add("add_to_shopping_list", "\(eve), \(thing)", "first")
    add("remove_from_shopping_list", "\(anna), \(thing)")
    add("track_usage", "\(anna), 'x', \(text)")
    add(
      "create_location",
      "\(anna), \(input("'name', 'New', 'coordinates', jsonb_build_object('latitude', 1, 'longitude', 1)"))"
    )
    add(
      "create_circle",
      "\(anna), \(input("'name', 'x', 'memberIds', jsonb_build_array(\(eve), \(ben))"))")
    add("update_circle", "\(anna), \(group), \(input("'name', 'y'"))")
    add("transfer_circle", "\(anna), \(group), \(ben)")
    add("transfer_circle", "\(chief), \(channel), \(ben)", "channel")
    add("delete_circle", "\(anna), \(group)")
    add("delete_circle", "\(staff), \(channel)", "channel")
    add("add_circle_members", "\(ben), \(group), ARRAY[\(trainer), \(staff)]")
    add("remove_circle_members", "\(anna), \(group), ARRAY[\(eve), \(ben)]")
    add("join_circle", "\(anna), \(channel)")
    add("leave_circle", "\(ben), \(group)")
    add("leave_circle", "\(ben), \(channel)", "channel")
    add("invite_to_event", "\(anna), \(event), ARRAY[\(trainer), \(staff)], ARRAY[\(group)]")
    add("set_attendance", "\(ben), \(event), 'GOING'")
    add("set_attendance", "\(eve), \(event), 'NOT_GOING'", "not")
    add("set_attendance", "\(ben), \(free), 'MAYBE'", "free")
    add("clear_attendance", "\(ben), \(event)")
    add("withdraw_invitation", "\(anna), \(invitations[0])")
    add("respond_to_offer", "\(ben), \(offer)")
    add("withdraw_offer_response", "\(eve), \(offer)")
    add("withdraw_info_request", "\(ben), \(asked)")
    add("request_address", "\(eve), \(request)")
    add("answer_info_request", "\(anna), \(asked), true")
    add("answer_info_request", "\(anna), \(asked), false", "no")
    add("resolve_follow_up", "\(anna), \(owed), 'UNABLE'")
    add("resolve_follow_up", "\(anna), \(unable), 'OPEN'", "back")
    add("close_card_post", "\(anna), \(offer)")
    add("close_card_post", "\(anna), \(request)", "request")
    add("reopen_card_post", "\(anna), \(shut)")
    add("book_class_session", "\(anna), \(session)")
    add("cancel_booking", "\(ben), \(booking)")
    add(
      "create_activity_track",
      "\(anna), '{\"startedAt\": \"2026-01-01T00:00:00.000Z\", \"endedAt\": \"2026-01-01T01:00:00.000Z\", \"path\": []}'"
    )
    add("delete_activity_track", "\(anna), \(track)")
    add("record_test_result", "\(anna), '{\"test\": \"LEG_PRESS\", \"value\": 2}'")
    add("record_test_results", "\(anna), '[{\"test\": \"LEG_PRESS\", \"value\": 2}]'")
    for (person, other) in [(anna, ben), (ben, anna)] {
      add(
        "send_message",
        "\(person), jsonb_build_object('userIds', jsonb_build_array(\(other))), 'yo'",
        "to \(other.username.prefix(3))")
      add("mark_conversation_read", "\(person), NULL, \(talk)", "by \(person.username.prefix(3))")
      add("mark_notifications_read", "\(person), NULL, NULL", "by \(person.username.prefix(3))")
    }
    for (note, name) in [
      ("annaINFO_REQUESTED", "address"), ("annaFOLLOWED", "follow"), ("benEVENT_INVITED", "event"),
    ] {
      let person = note.hasPrefix("anna") ? anna : ben
      add("perform_notification_action", "\(person), \(notes[note]?.number ?? 0)", name)
    }
    add("set_user_roles", "\(staff), \(anna), '{TRAINER}'")
    add("set_user_roles", "\(chief), \(staff), '{MEMBER}'", "of staff")
    add(
      "upsert_product",
      "\(staff), (SELECT jsonb_build_object('retailer', retailer, 'externalId', external_id, 'name', 'N', 'brand', 'B', 'buyUrl', 'https://a.example/', 'photoId', \(photo)) FROM product WHERE id = \(thing))"
    )
    add(
      "create_program",
      "\(staff), \(input("'title', 'T', 'training', 'GROUP', 'durationMinutes', 30, 'trainerIds', jsonb_build_array(\(trainer)), 'locationId', \(place)"))"
    )
    add(
      "update_program",
      "\(staff), \(program), \(input("'title', 'T', 'trainerIds', jsonb_build_array(\(trainer)), 'locationId', \(place)"))"
    )
    add(
      "update_location",
      "\(staff), \(place), \(input("'name', 'Quay', 'gmapsId', 'quay', 'parentId', \(city)"))")
    add("update_location", "\(staff), \(city), \(input("'parentId', NULL"))", "with what is in it")
    add("delete_location", "\(staff), \(empty)")
    add("merge_locations", "\(staff), \(empty), \(place)")
    add("update_photo", "\(anna), \(spare), \(input("'altText', 'x'"))")
    add("delete_photo", "\(anna), \(spare)")
    add("delete_photo", "\(staff), \(spare)", "by staff")
    add("update_activity_track", "\(anna), \(track), \(input("'title', 'x'"))")
    add(
      "delete_test_result",
      "\(anna), (SELECT min(id) FROM test_result WHERE user_id = \(anna))")
    add("delete_external_contacts", "\(anna), 'GOOGLE'")
    for person in [anna, ben] {
      let name = "by \(person.username.prefix(3))"
      add("set_conversation_muted", "\(person), \(talk), true", name)
      add(
        "delete_message",
        "\(person), (SELECT min(id) FROM message WHERE author_id = \(person))", name)
      add(
        "delete_notifications",
        "\(person), ARRAY(SELECT id FROM visible_notification(\(person)))", name)
    }
    for (person, name) in [(anna, "anna"), (ben, "ben")] {
      add(
        "register_device",
        """
        \(person), (SELECT token_hash FROM session WHERE user_id = \(person) LIMIT 1),
        '{"app": "gtio", "platform": "APNS"}', repeat('ab', 32), 'sealed'
        """, name)
      add(
        "unregister_device",
        "\(person), (SELECT min(id) FROM device WHERE user_id = \(person))", name)
      add(
        "update_notification_settings",
        "\(person), '{\"rules\": [{\"reason\": \"REACTED\", \"channels\": [\"PUSH\"]}]}'",
        name)
    }
    add("suspend_user", "\(staff), \(ben), NULL, NULL")
    add("unsuspend_user", "\(staff), \(ben)")
    add(
      "schedule_class_sessions",
      "\(trainer), \(input("'programId', \(program), 'trainerId', \(trainer), 'startsAt', '[\"2041-02-02T10:00:00.000Z\"]'::jsonb, 'capacity', 2"))"
    )
    add(
      "update_class_session",
      "\(trainer), \(session), \(input("'startsAt', '2041-01-01T12:00:00.000Z', 'capacity', 5"))"
    )
    add("cancel_class_session", "\(trainer), \(session)")
    add("set_app_config", "\(staff), 'gtio', '{\"supportEmail\": \"b@example.org\"}'")
    add("set_daily_content", "\(staff), '{\"motivations\": [\"Run!\"]}'")
    add("moderate_photo", "\(staff), \(photo), 'APPROVED'")
  }
}
