import JSON
import TestSupport
import Testing

@Suite(.usesCluster) struct SyncTests {
  @Test func `changes after a token are told once, in pages, to those they concern`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (member, stranger) = (try data.person(), try data.person())
    let query = """
      query($since: String, $first: Int) {
        changes(since: $since, limit: $first) {
          token hasMore changes { operation node { __typename ... on Comment { body } } } }
      }
      """
    let start = try server.data(query, as: member).at("changes.token") ?? .null
    let starts = try [stranger, nil].map {
      try server.data(query, as: $0).at("changes.token") ?? .null
    }
    let circle = try data.circle("Circle", owner: member)
    for number in 0..<3 { _ = try data.comment(circle, by: member, "comment \(number)") }
    var seen: [String] = []
    var since = start
    try data.session.waitForChanges()
    var pages = 0
    while pages < 10 {
      let page = try server.data(query, ["since": since, "first": 2], as: member)
      seen += page.list("changes.changes", "node").compactMap { $0["body"]?.string }
      since = page.at("changes.token") ?? .null
      pages += 1
      if page.at("changes.hasMore") == false { break }
    }
    #expect(seen == ["comment 0", "comment 1", "comment 2"])
    let after = try server.data(query, ["since": since], as: member)
    #expect(after.at("changes.changes") == [])
    for (person, since) in zip([stranger, nil], starts) {
      let others = try server.data(query, ["since": since], as: person)
      #expect(!others.list("changes.changes", "node").contains { $0["body"] != nil })
    }
  }

  @Test func `a token of no shape is bad input`() throws {
    let server = try GraphServer.shared
    let long = String(repeating: "A", count: 44)
    for token in [
      "", "x", "1:0", "AQAAAAAAAALpAAAAAAAAAA", "AQAAAAAAAALpAAAAAAAAAAMM", "A A", long, long + "A",
    ] {
      let codes = try server.errorCodes(
        "query($since: String) { changes(since: $since) { token } }", ["since": .string(token)])
      #expect(codes == ["BAD_USER_INPUT"], "\(token)")
    }
  }

  @Test func `a token of another version has expired`() throws {
    let server = try GraphServer.shared
    // Version 1, without a seal.
    for token in ["AQAAAAAAAALpAAAAAAAAAAM", "AQAAAAAAAAAAAAAAAAAAAAA"] {
      let codes = try server.errorCodes(
        "query($since: String) { changes(since: $since) { token } }", ["since": .string(token)])
      #expect(codes == ["TOKEN_EXPIRED"], "\(token)")
    }
  }

  @Test func `days that are over are told of once, and forgotten by dropping their partition`()
    throws
  {
    let server = try GraphServer.alone()
    defer { server.stop() }
    let data = try server.data()
    let member = try data.person()
    let query = "query($since: String) { changes(since: $since) { token changes { operation } } }"
    let start = try server.data(query, as: member).at("changes.token") ?? .null
    // As if the partition of today were one of a day long ago.
    let today = try data.run("SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')")[0][0] ?? ""
    _ = try data.post(.text, by: member)
    try data.run(
      """
      ALTER TABLE change DETACH PARTITION change_\(today);
      ALTER TABLE change_\(today) RENAME TO change_20200102;
      UPDATE change_20200102 SET logged_at = '2020-01-02 12:00Z';
      ALTER TABLE change ATTACH PARTITION change_20200102
        FOR VALUES FROM ('2020-01-02 00:00Z') TO ('2020-01-03 00:00Z');
      UPDATE change_day SET day = '2020-01-02' WHERE day = (now() AT TIME ZONE 'UTC')::date
      """)
    try data.run("SELECT keep_partitions()")
    #expect(
      try data.run("SELECT last_xid IS NOT NULL FROM change_day WHERE day = '2020-01-02'")
        == [["t"]])
    try data.session.waitForChanges()
    let page = try server.data(query, ["since": start], as: member)
    #expect(page.at("changes.changes") == [["operation": "UPSERT"]])
    let later = page.at("changes.token") ?? .null
    _ = try data.post(.text, by: member)
    try data.session.waitForChanges()
    let next = try server.data(query, ["since": later], as: member)
    #expect(next.at("changes.changes") == [["operation": "UPSERT"]])
    #expect(try data.run("SELECT forget_changes()") == [["1"]])
    #expect(try data.run("SELECT to_regclass('change_20200102')") == [[nil]])
    #expect(try server.errorCodes(query, ["since": start], as: member) == ["TOKEN_EXPIRED"])
    #expect(
      try server.data(query, ["since": later], as: member).at("changes.changes")
        == [["operation": "UPSERT"]])
    #expect(try data.run("SELECT forget_changes(), keep_partitions()") == [["0", "0"]])
  }

  @Test func `notifications beyond the last partition are kept, and old partitions dropped`() throws
  {
    let data = try GraphServer.alone().data()
    let reader = try data.person()
    try data.run("SELECT setval('node_seq', 16777216 - 8388608)")
    #expect(try data.run("SELECT keep_partitions()") == [["1"]])
    let last = try data.run("SELECT setval('node_seq', 16777216)")
    #expect(last == [["16777216"]])
    for time in ["2020-01-01 12:00Z", "now"] {
      try data.run(
        """
        INSERT INTO notification (id, recipient_id, reason, phrase, destination, created_at)
        VALUES ($1, $2, 'TAGGED', 'x', 'y', $3)
        """, [time == "now" ? Int64(1) << 40 | 50 : 50, reader, time])
    }
    #expect(
      try data.run("SELECT tableoid::regclass FROM notification ORDER BY id")
        == [["notification_0"], ["notification_other"]])
    #expect(try data.run("SELECT forget_notifications('30 years')") == [["0"]])
    #expect(try data.run("SELECT forget_notifications()") == [["1"]])
    #expect(try data.run("SELECT id >> 40 FROM notification") == [["1"]])
  }
}
