import Foundation
import Postgres
import TestSupport
import Testing

/// `sociograph verify` finds what is wrong, each kind of it, and nothing in a graph that is whole.
@Suite(.usesCluster) struct VerifyCommandTests {
  /// Corruptions of a valid graph, past triggers and foreign keys, and the start of the line that
  /// reports each. `anna` and `ben` stand for their IDs.
  private static let faults: [(statements: String, line: String)] = [
    (
      "UPDATE app_user SET follower_count = 7 WHERE id = anna",
      "counters: table_name=app_user id=anna column_name=follower_count stored=7 actual=1"
    ),
    (
      "INSERT INTO reaction (subject_id, user_id, kind) VALUES (3 + 256 * 9999999::bigint, anna, 'TOP')",
      "subjects: table_name=reaction subject_id=2559999747"
    ),
    (
      "UPDATE app_user SET name_key = 'x' WHERE id = anna",
      "accounts: user_id=anna fault=\"name_key is not the folded name\""
    ),
    (
      "UPDATE app_user SET roles = '{STAFF}' WHERE id = anna",
      "accounts: user_id=anna fault=\"is no"
    ),
    (
      """
      INSERT INTO session (token_hash, user_id, expires_at)
      SELECT sha256(n::text::bytea), anna, now() + interval '1 day' FROM generate_series(1, 21) n
      """, "accounts: user_id=anna fault=\"has 21 sessions"
    ),
    (
      "UPDATE app_user SET avatar_id = (SELECT id FROM photo WHERE owner_id = anna) WHERE id = ben",
      "accounts: user_id=ben fault=\"shows the photo"
    ),
    (
      "UPDATE follow SET follower_name = 'x'",
      "copies: table_name=follow id=ben other_id=anna"
    ),
    (
      "UPDATE circle_member SET name_key = 'x'",
      "copies: table_name=circle_member id=1285 other_id=anna"
    ),
    (
      "UPDATE post SET location_id = 1027 WHERE id = 1552",
      "copies: table_name=visit id=1027 other_id=anna"
    ),
    (
      "INSERT INTO block (blocker_id, blocked_id) VALUES (anna, ben)",
      "blocks: blocker_id=anna blocked_id=ben"
    ),
    (
      "INSERT INTO hidden VALUES (anna, ben)",
      "blocks: blocker_id=anna blocked_id=ben fault=\"what"
    ),
    ("UPDATE circle_member SET role = 'MEMBER'", "circles: circle_id=1285 fault=\"its owner"),
    ("UPDATE circle SET owner_id = ben", "circles: circle_id=1285 fault=\"it is owned by anna"),
    (
      "UPDATE location SET name_key = 'x' WHERE id = 771",
      "locations: location_id=771 fault=\"name_key"
    ),
    (
      "UPDATE location SET ancestor_ids = '{}' WHERE id = 1027",
      "locations: location_id=1027 fault=\"its anc"
    ),
    (
      "UPDATE location SET level = 'PLACE' WHERE id = 771",
      "locations: location_id=1027 fault=\"its parent"
    ),
    ("DELETE FROM votable_post", "posts: post_id=1552 fault=\"its row of votable_post"),
    (
      "DELETE FROM card_post WHERE post_id = 1811",
      "posts: post_id=1811 fault=\"its row of card_post"
    ),
    ("UPDATE event SET circle_id = 1285", "posts: post_id=2071 fault=\"the event is in another"),
    ("DELETE FROM event", "posts: post_id=2071 fault=\"its row of event"),
    ("UPDATE photo SET owner_id = ben", "posts: post_id=1552 fault=\"shows the photo"),
    (
      "INSERT INTO vote (post_id, user_id, choice) VALUES (1552, anna, 'WEAR_IT')",
      "posts: post_id=1552 fault=\"its author voted"
    ),
    (
      "INSERT INTO post_tag (post_id, user_id) VALUES (1552, ben)",
      "posts: post_id=1552 fault=\"tags people"
    ),
    (
      "INSERT INTO post_tag (post_id, user_id) VALUES (1552, anna)",
      "posts: post_id=1552 fault=\"tags its author"
    ),
    (
      "INSERT INTO flag (subject_id, user_id, reason) VALUES (1552, anna, 'SPAM')",
      "posts: post_id=1552 fault=\"its author flagged"
    ),
    (
      "UPDATE info_request SET owner_id = ben, requester_id = anna",
      "cards: card_id=2338 fault=\"asks somebody"
    ),
    ("DELETE FROM follow_up WHERE post_id = 1812", "cards: card_id=2338 fault=\"was approved"),
    (
      "UPDATE follow_up SET sender_id = ben, recipient_id = anna WHERE post_id = 1811",
      "cards: card_id=2595 fault=\"is sent by"
    ),
    ("UPDATE info_request SET status = 'PENDING'", "cards: card_id=2851 fault=\"nobody approved"),
    (
      "UPDATE class_session SET cancelled_at = now()",
      "classes: booking_id=3114 fault=\"holds a seat"
    ),
    (
      "DELETE FROM conversation_member WHERE user_id = ben",
      "conversations: conversation_id=3376 fault=\"somebody"
    ),
    (
      "UPDATE conversation SET member_key = anna::text",
      "conversations: conversation_id=3376 fault=\"ben takes part"
    ),
    ("UPDATE external_contact SET name_key = 'x'", "contacts: contact_id=3635 fault=\"name_key"),
    (
      "UPDATE invitation SET invitee_id = anna",
      "contacts: contact_id=3873 fault=\"invites who invites"
    ),
    (
      "UPDATE notification SET recipient_id = actor_id",
      "notifications: notification_id=4146 fault=\"tells somebody"
    ),
  ]

  /// A row or two of everything, whole.
  private static let graph = """
    INSERT INTO app_user (id, username, display_name, name_key) VALUES
      (257, 'anna', 'Anna', 'anna'), (513, 'ben', 'Ben', 'ben');
    INSERT INTO follow (follower_id, followee_id) VALUES (513, 257);
    INSERT INTO photo (id, owner_id, url, moderation) VALUES (514, 257, 'https://a.example/1', 'APPROVED');
    INSERT INTO location (id, name, name_key, level, parent_id) VALUES
      (771, 'Spain', 'spain', 'COUNTRY', NULL), (1027, 'Sevilla', 'sevilla', 'CITY', 771);
    INSERT INTO circle (id, name, kind, owner_id) VALUES (1285, 'Friends', 'GROUP', 257);
    INSERT INTO circle_member (circle_id, user_id, role) VALUES (1285, 257, 'OWNER');
    INSERT INTO comment (subject_id, author_id, body) VALUES (1285, 257, 'Hello.');
    INSERT INTO post (id, author_id) VALUES (1552, 257), (1811, 257), (1812, 257), (2071, 257);
    INSERT INTO votable_post (post_id, voting_enabled) VALUES (1552, true);
    INSERT INTO post_photo VALUES (1552, 0, 514);
    INSERT INTO vote (post_id, user_id, choice) VALUES (1552, 513, 'WEAR_IT');
    INSERT INTO card_post (post_id, response_count) VALUES (1811, 1), (1812, 1);
    INSERT INTO info_request (id, post_id, owner_id, requester_id, status) VALUES
      (2338, 1812, 257, 513, 'ACCEPTED');
    INSERT INTO follow_up (id, post_id, sender_id, recipient_id) VALUES
      (2595, 1811, 257, 513), (2851, 1812, 513, 257);
    INSERT INTO event (post_id, title, starts_at) VALUES (2071, 'Fair', now());
    INSERT INTO program (id, title, training, duration_minutes) VALUES (2856, 'Row', 'GROUP', 60);
    INSERT INTO program_trainer VALUES (2856, 257);
    INSERT INTO class_session (id, program_id, trainer_id, starts_at, ends_at, capacity, booked_count)
      VALUES (3113, 2856, 257, now(), now() + interval '1 hour', 5, 1);
    INSERT INTO booking (id, session_id, user_id) VALUES (3114, 3113, 513);
    INSERT INTO conversation (id, member_key) VALUES (3376, '257,513');
    INSERT INTO conversation_member (conversation_id, user_id) VALUES (3376, 257), (3376, 513);
    INSERT INTO external_contact (id, owner_id, provider, external_id, name, name_key)
      VALUES (3635, 257, 'GOOGLE', '1', 'Zoë', 'zoe');
    INSERT INTO invitation (id, inviter_id, event_id, invitee_id) VALUES (3873, 257, 2071, 513);
    INSERT INTO notification (id, recipient_id, reason, actor_id, about_id, phrase, destination)
      VALUES (4146, 257, 'FOLLOWED', 513, 513, 'Ben follows you.', 'https://a.example/2');
    """

  private static func named(_ text: String) -> String {
    text.replacing(/\banna\b/, with: "257").replacing(/\bben\b/, with: "513")
  }

  @Test func `a whole graph has no differences, and the program ends with 0`() throws {
    let database = try TestCluster.newDatabase(migrated: true)
    try TestCluster.session(database).execute(Self.graph)
    let run = try ProgramRun.complete(["verify", "--database", database])
    #expect(run.status == 0 && run.output.isEmpty, "\(run.output) \(run.errors)")
    #expect(run.errors.contains(" checks, 0 differences\n"))
    let empty = try ProgramRun.complete(["verify", "--database", TestCluster.newDatabase()])
    #expect(empty.status == 0 && empty.errors.contains("nothing was checked"))
  }

  @Test func `each kind of fault has its line, and the program ends with 1`() throws {
    let database = try TestCluster.newDatabase(migrated: true)
    let session = try TestCluster.session(database)
    try session.execute(Self.graph)
    // Each fault alone, taken back after it was looked for.
    let checks = try session.execute(
      """
      SELECT proname, substring(proname FROM 8) FROM pg_proc
      WHERE pronamespace = 'graph'::regnamespace AND proname LIKE 'verify\\_%' AND pronargs = 0
      """)
    for (statements, line) in Self.faults {
      let check = String(line.prefix { $0 != ":" })
      #expect(checks.contains { $0[1] == check }, "\(check)")
      try session.execute("BEGIN; SET LOCAL session_replication_role = replica")
      try session.execute(Self.named(statements))
      let (columns, rows) = try session.table("SELECT * FROM verify_\(check)()")
      let lines = rows.map { row in
        "\(check): "
          + zip(columns, row).map { name, value in
            let text = value ?? "null"
            return "\(name)=\(text.contains(" ") ? "\"\(text)\"" : text)"
          }.joined(separator: " ")
      }
      let wanted = Self.named(line)
      #expect(lines.contains { $0.hasPrefix(wanted) }, "\(statements): \(lines)")
      try session.execute("ROLLBACK")
    }
    // No check is without a fault that it finds.
    let looked = Set(Self.faults.map { String($0.line.prefix { $0 != ":" }) })
    #expect(Set(checks.compactMap { $0[1] }) == looked)

    try session.execute(
      """
      SET session_replication_role = replica; UPDATE app_user SET follower_count = 7 WHERE id = 257;
      UPDATE app_user SET name_key = 'x'
      """)
    let run = try ProgramRun.complete(["verify", "--database", database])
    #expect(run.status == 1, "\(run.errors)")
    #expect(
      run.output.split(separator: "\n").sorted() == [
        #"accounts: user_id=257 fault="name_key is not the folded name""#,
        #"accounts: user_id=513 fault="name_key is not the folded name""#,
        "copies: table_name=circle_member id=1285 other_id=257",
        "copies: table_name=follow id=513 other_id=257",
        "counters: table_name=app_user id=257 column_name=follower_count stored=7 actual=1",
      ], "\(run.output)")
    #expect(run.errors.contains("checks, 5 differences\n"))
  }

  @Test func `a check that does not work is a fault, and the others are made`() throws {
    let database = try TestCluster.newDatabase(migrated: true)
    let session = try TestCluster.session(database)
    try session.execute(
      """
      CREATE FUNCTION graph.verify_a() RETURNS TABLE (number int) LANGUAGE sql AS $$ SELECT 1 / 0 $$;
      CREATE FUNCTION graph.verify_b() RETURNS TABLE (word text, other text) LANGUAGE sql AS
        $$ SELECT E'two\\nlines', NULL $$;
      CREATE FUNCTION graph.verify_c(argument int) RETURNS SETOF int LANGUAGE sql AS $$ SELECT 1 $$;
      """)
    let run = try ProgramRun.complete(["verify", "--database", database])
    #expect(run.status == 1)
    let lines = run.output.split(separator: "\n")
    #expect(lines.first?.hasPrefix("a: cannot be checked: ") == true, "\(run.output)")
    #expect(lines.dropFirst() == [#"b: word="two\nlines" other=null"#])
  }
}
