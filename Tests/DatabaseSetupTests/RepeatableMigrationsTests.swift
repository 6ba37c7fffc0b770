import Foundation
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import DatabaseSetup

/// Functions, views and triggers follow the text of their files.
@Suite(.usesCluster) struct RepeatableMigrationsTests {
  let configuration: PostgresConfiguration
  let session: PostgresSession

  init() throws {
    configuration = try PostgresConfiguration(TestCluster.newDatabase())
    session = try PostgresSession(configuration)
  }

  static let table = Migrations.File(
    name: "0001_a.sql",
    text: """
      CREATE TABLE a (id bigint PRIMARY KEY, number int NOT NULL DEFAULT 0);
      CREATE TABLE said (words text);
      CREATE FUNCTION half(number int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT number / 2';
      CREATE INDEX a_half ON a (half(number));
      """)

  func migrations(_ functions: [String: String]) throws -> Migrations {
    try Migrations(
      tables: [Self.table],
      functions: functions.sorted { $0.key < $1.key }.map { .init(name: $0.key, text: $0.value) })
  }

  @discardableResult
  func apply(_ functions: [String: String], putBack: Bool = false) throws -> Bool {
    try migrations(functions).apply(to: configuration, putBack: putBack).functions
  }

  func value(_ expression: String) throws -> String? {
    try session.execute("SELECT \(expression)").first?.first ?? nil
  }

  func one(_ body: String, result: String = "int") -> String {
    "CREATE OR REPLACE FUNCTION one() RETURNS \(result) LANGUAGE sql STABLE AS $$ SELECT \(body) $$;"
  }

  @Test func `functions are applied again when their text has changed, and only then`() throws {
    #expect(try apply(["one.sql": one("1")]))
    #expect(try value("one()") == "1")
    #expect(try !apply(["one.sql": one("1")]))
    #expect(try apply(["one.sql": one("2")]))
    #expect(try value("one()") == "2")
  }

  @Test func `a function that is replaced keeps its identity, so nobody finds it missing`() throws {
    try apply(["one.sql": one("1")])
    let before = try value("'one'::regproc::oid")
    try apply(["one.sql": one("2")])
    #expect(try value("'one'::regproc::oid") == before)
  }

  @Test func `files may come in any order, and bodies are checked all the same`() throws {
    let caller =
      "CREATE OR REPLACE FUNCTION a_one() RETURNS int LANGUAGE sql AS 'SELECT one() + 1';"
    try apply(["a.sql": caller, "one.sql": one("1")])
    #expect(try value("a_one()") == "2")
    let error = #expect(throws: SetupError.self) {
      try apply(["a.sql": caller, "one.sql": one("nothing")])
    }
    #expect(error?.message.hasPrefix("functions/one(): ") == true, "\(error as Any)")
    #expect(try value("a_one()") == "2")
  }

  @Test func `an error is told with its file, line and column, and leaves all as it was`() throws {
    try apply(["one.sql": one("1"), "two.sql": "CREATE OR REPLACE VIEW two AS SELECT 2 AS n;"])
    let error = #expect(throws: SetupError.self) {
      try apply(["one.sql": one("3"), "two.sql": "\nCREATE VIEW two AS\n  SELECT wrong;"])
    }
    #expect(error?.message.hasPrefix("functions/two.sql:3:10: ") == true, "\(error as Any)")
    #expect(try value("one()") == "1")
    #expect(try value("n FROM two") == "2")
  }

  @Test(arguments: [
    "CREATE OR REPLACE FUNCTION one() RETURNS text LANGUAGE sql AS $$ SELECT 'x' $$;",
    "CREATE OR REPLACE FUNCTION one(n int DEFAULT 7) RETURNS text LANGUAGE sql AS $$ SELECT 'x' $$;",
    "CREATE OR REPLACE FUNCTION one() RETURNS TABLE (n text) LANGUAGE sql AS $$ SELECT 'x' $$;",
  ])
  func `results and arguments may change their types, with all that hangs on them`(
    other: String
  ) throws {
    let user = """
      CREATE OR REPLACE FUNCTION user_of_one() RETURNS text LANGUAGE sql AS 'SELECT one()::text';
      CREATE OR REPLACE VIEW seen AS SELECT one() AS n;
      """
    try apply(["one.sql": one("1"), "two.sql": user])
    try apply(["one.sql": other, "two.sql": user])
    #expect(try value("user_of_one()") == "x")
    #expect(try value("n FROM seen") == "x")
    #expect(try value("count(*) FROM pg_proc WHERE proname = 'one'") == "1")
    // And back: it was applied once, so only when asked for.
    #expect(try !apply(["one.sql": one("1"), "two.sql": user]))
    #expect(try apply(["one.sql": one("1"), "two.sql": user], putBack: true))
    #expect(try value("n FROM seen") == "1")
  }

  @Test func `an argument may be named anew`() throws {
    func text(_ name: String) -> String {
      "CREATE OR REPLACE FUNCTION f(\(name) int) RETURNS int LANGUAGE sql AS 'SELECT \(name)';"
    }
    try apply(["f.sql": text("a")])
    try apply(["f.sql": text("b")])
    #expect(try value("f(b => 3)") == "3")
  }

  @Test func `what vanishes from the files is dropped, and nothing else`() throws {
    try session.execute("CREATE FUNCTION somebodys() RETURNS int LANGUAGE sql AS 'SELECT 5'")
    let two = """
      CREATE OR REPLACE FUNCTION two() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO said VALUES ('two'); RETURN NULL; END $$;
      CREATE OR REPLACE TRIGGER two AFTER INSERT ON a FOR EACH STATEMENT EXECUTE FUNCTION two();
      CREATE OR REPLACE VIEW seen AS SELECT one() AS n;
      CREATE OR REPLACE PROCEDURE act(what text, how int[]) LANGUAGE sql AS 'SELECT 1';
      """
    try apply(["one.sql": one("1"), "two.sql": two])
    try session.execute("INSERT INTO a VALUES (1)")
    try apply(["one.sql": one("1")])
    try session.execute("INSERT INTO a VALUES (2)")
    #expect(try value("count(*) FROM said") == "1")
    #expect(try value("to_regclass('seen')") == nil)
    #expect(try value("count(*) FROM pg_proc WHERE proname IN ('two', 'act')") == "0")
    #expect(try value("somebodys() + half(4)") == "7")
  }

  @Test func `triggers stay in force while their functions are made anew`() throws {
    func text(_ words: String) -> String {
      """
      CREATE OR REPLACE FUNCTION say() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO said VALUES ('\(words)'); RETURN NULL; END $$;
      CREATE OR REPLACE TRIGGER say AFTER INSERT ON a FOR EACH STATEMENT EXECUTE FUNCTION say();
      """
    }
    try apply(["one.sql": one("1"), "say.sql": text("first")])
    try session.execute("INSERT INTO a VALUES (1)")
    // The other function's new type has all functions dropped but trigger functions.
    try apply(["one.sql": one("'x'", result: "text"), "say.sql": text("second")])
    try session.execute("INSERT INTO a VALUES (2)")
    #expect(try session.execute("SELECT words FROM said") == [["first"], ["second"]])
  }

  @Test func `a function that an index or a default uses does not vanish unnoticed`() throws {
    try apply(["one.sql": one("1")])
    try session.execute("ALTER TABLE a ALTER number SET DEFAULT one()")
    let error = #expect(throws: SetupError.self) { try apply(["two.sql": "SELECT 1"]) }
    #expect(error?.message.contains("cannot drop function") == true, "\(error as Any)")
    #expect(try value("one()") == "1")
  }

  @Test func `writers that hold the table of a trigger are waited for, not stopped`() throws {
    let trigger = """
      CREATE OR REPLACE FUNCTION say() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RETURN NULL; END $$;
      CREATE OR REPLACE TRIGGER say AFTER INSERT ON a FOR EACH STATEMENT EXECUTE FUNCTION say();
      """
    try apply(["one.sql": one("1")])
    let writer = try PostgresSession(configuration)
    try writer.execute("BEGIN; INSERT INTO a VALUES (1)")
    let migrations = try migrations(["one.sql": one("1"), "say.sql": trigger])
    let configuration = configuration
    let done = DispatchSemaphore(value: 0)
    let renewed = Mutex(false)
    Thread {
      let outcome = try? migrations.apply(to: configuration)
      renewed.withLock { $0 = outcome?.functions == true }
      done.signal()
    }.start()
    // It waits for the lock, gives up after a while and tries again.
    while try value(
      "count(*) FROM pg_locks WHERE relation = 'a'::regclass AND NOT granted") == "0"
    { usleep(2_000) }
    try writer.execute("INSERT INTO a VALUES (2); COMMIT")
    done.wait()
    #expect(renewed.withLock { $0 })
  }

  @Test func `who reads while functions are replaced never finds one missing`() throws {
    func text(_ number: Int) -> String {
      "CREATE OR REPLACE FUNCTION f() RETURNS TABLE (n int) LANGUAGE sql STABLE AS 'SELECT \(number)';"
    }
    try apply(["f.sql": text(0)])
    let reader = try PostgresSession(configuration)
    try reader.execute(
      "SET plan_cache_mode = force_generic_plan; PREPARE r AS SELECT ROW(n) FROM f()")
    let isDone = Mutex(false)
    let outcome = Mutex<[String]>([])
    let ended = DispatchSemaphore(value: 0)
    let held = Held(reader)
    Thread {
      while !isDone.withLock({ $0 }) {
        do {
          let row = try held.session.execute("EXECUTE r").first?.first.flatMap { $0 } ?? "none"
          outcome.withLock { if $0.last != row { $0.append(row) } }
        } catch {
          outcome.withLock { $0.append("\(error)") }
        }
      }
      ended.signal()
    }.start()
    for number in 1...20 { try apply(["f.sql": text(number)]) }
    // Until it has seen the last one, or an error.
    while outcome.withLock({ $0.last.map { $0.hasPrefix("(") && $0 != "(20)" } ?? true }) {
      usleep(1_000)
    }
    isDone.withLock { $0 = true }
    ended.wait()
    let seen = outcome.withLock { $0 }
    #expect(seen.allSatisfy { $0.wholeMatch(of: /\([0-9]+\)/) != nil }, "\(seen)")
  }
}

/// A session that another thread has.
private final class Held: @unchecked Sendable {
  // @unchecked: used by one thread after it was made.
  let session: PostgresSession
  init(_ session: PostgresSession) { self.session = session }
}
