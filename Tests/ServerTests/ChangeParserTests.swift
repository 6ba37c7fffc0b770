import GraphQLPlanning
import Subscriptions
import Testing

@testable import Server
@testable import StorageChecking

/// The lines of `test_decoding`, as PostgreSQL 15 writes them.
@Suite struct ChangeParserTests {
  private static let parser = ChangeParser(
    tables: DecodedTables(rows: [
      // The table, those that it is a part of, its columns, those of keys, those with former values.
      [
        "public.album", #"["album"]"#, #"["album_id","artist_id","title","more"]"#,
        #"["album_id","artist_id"]"#, #"["album_id"]"#,
      ],
      [
        #"sales."My ""Order""""#, #"["My \"Order\""]"#, #"["Id","at"]"#, #"["Id"]"#, #"["Id"]"#,
      ],
      [
        "public.log_2026", #"["log_2026","log"]"#, #"["day","line"]"#, #"["line"]"#,
        #"["day","line"]"#,
      ],
      ["public.log", #"["log"]"#, #"["day","line"]"#, #"["line"]"#, #"["day","line"]"#],
    ]).tables)

  private func topics(_ line: String) -> Set<String>? {
    guard case .touched(let topics) = Self.parser.parse(Array(line.utf8)) else { return nil }
    return Set(topics.map { $0.key == 0 ? $0.name : "\($0.name)=\($0.key)" })
  }

  private func key(_ topic: String, _ text: String) -> String {
    "\(topic)=\(LiveKey.of(Array(text.utf8)))"
  }

  @Test func `a new row has the topic of its table and those of its keys`() {
    #expect(
      topics(
        "table public.album: INSERT: album_id[integer]:1 artist_id[integer]:-2 title[text]:'x'")
        == ["album", key("album.album_id", "1"), key("album.artist_id", "-2")])
    #expect(
      topics(
        "table public.album: INSERT: album_id[integer]:1 artist_id[integer]:null title[text]:null")
        == ["album", key("album.album_id", "1")])
  }

  @Test func `a former value that is not in the log is said to be unknown`() {
    let changed =
      "table public.album: UPDATE: album_id[integer]:1 artist_id[integer]:2 title[text]:'It''s'"
    #expect(
      topics(changed) == [
        "album", "album?", key("album.album_id", "1"), key("album.artist_id", "2"),
      ])
    #expect(
      topics(
        "table public.album: UPDATE: old-key: album_id[integer]:7 new-tuple: album_id[integer]:1 artist_id[integer]:2"
      ) == [
        "album", "album?", key("album.album_id", "7"), key("album.album_id", "1"),
        key("album.artist_id", "2"),
      ])
    #expect(
      topics("table public.album: DELETE: album_id[integer]:1")
        == ["album", "album?", key("album.album_id", "1")])
    #expect(topics("table public.album: DELETE: (no-tuple-data)") == ["album", "album?"])
  }

  @Test func `names and values in quotes are what they are without`() {
    #expect(
      topics(
        #"table sales."My ""Order""": DELETE: "Id"[character varying]:'a '' b: c[d]:1' at["x]:y"."z"[]]:'{}'"#
      )
        == [#"My "Order""#, key(#"My "Order".Id"#, "a ' b: c[d]:1")])
    #expect(
      topics(#"table sales."My ""Order""": INSERT: "Id"[text]:'' at[bit]:B'101'"#)
        == [#"My "Order""#, key(#"My "Order".Id"#, "")])
  }

  @Test func `a change of a partition is one of the whole table`() {
    #expect(
      topics("table public.log_2026: UPDATE: day[date]:'2026-01-01' line[text]:'x'")
        == ["log_2026", "log", key("log_2026.line", "x"), key("log.line", "x")])
    #expect(
      topics(
        "table public.log_2026: UPDATE: day[date]:'2026-01-01' line[text]:unchanged-toast-datum")
        == ["log_2026", "log", "log_2026?", "log?"])
  }

  @Test(arguments: [
    "table public.album: TRUNCATE: (no-flags)",
    "table public.other, public.album: TRUNCATE: cascade",
    "table public.album: MERGE: album_id[integer]:1",
    "table public.album: INSERT: album_id[integer]:'1",
    "table public.album: INSERT: album_id[integer", "table public.album: INSERT: album_id:1",
    "table", "",
    "COMMIT", "table public.album: INSERT:album_id[integer]:1",
  ])
  func `what is not understood may have changed anything`(line: String) {
    guard case .unknown = Self.parser.parse(Array(line.utf8)) else {
      Issue.record("\(line)")
      return
    }
  }

  @Test(arguments: [
    "BEGIN 771", "message: transactional: 1 prefix: sociograph, sz: 0 content:",
    "table public.other: INSERT: a[integer]:1",
  ])
  func `what concerns no query says nothing`(line: String) {
    guard case .nothing = Self.parser.parse(Array(line.utf8)) else {
      Issue.record("\(line)")
      return
    }
  }

  @Test func `the end of a transaction has its ID`() {
    guard case .commit(4_294_967_295) = Self.parser.parse(Array("COMMIT 4294967295".utf8)),
      case .commit(7) = Self.parser.parse(Array("COMMIT 7 (at 2026-01-01 00:00:00+00)".utf8))
    else {
      Issue.record("no commit")
      return
    }
  }

  @Test func `any bytes are read to their end`() {
    var generator = SystemRandomNumberGenerator()
    let parts = [
      "table public.album: ", "INSERT:", " UPDATE:", "old-key:", "new-tuple:",
      " album_id[integer]:", "'", "\"",
      "]", "[", ":", "1", "null", " ", "B'", ",", "\u{E9}",
    ]
    for _ in 0..<5_000 {
      let line = (0..<Int.random(in: 0..<12, using: &generator)).map { _ in
        parts.randomElement(using: &generator) ?? ""
      }.joined()
      _ = Self.parser.parse(Array(line.utf8))
    }
  }
}
