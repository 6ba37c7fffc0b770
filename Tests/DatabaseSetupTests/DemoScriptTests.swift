import Testing

@testable import DatabaseSetup

struct DemoScriptTests {
  func script(_ text: String, scale: Int = 3, seed: Int = 7) throws -> DemoScript {
    try DemoScript(name: "demo.sql", text: text, scale: scale, seed: seed)
  }

  @Test func `headers make steps, with numbers in place of variables`() throws {
    let script = try script(
      """
      -- People and who knows whom.
      -- empty: SELECT NOT EXISTS (SELECT FROM person);
      -- step: people; table: person(id, "name of it", born_at); rows: :scale * 10
      -- made up
      SELECT n, 'p' || n, now()::date FROM generate_series(1, :scale * 10) AS n WHERE :seed > 0;

      -- step: counters; run
      ANALYZE person;
      UPDATE person SET id = id;

      -- step: start here; print
      SELECT 'x';
      """)
    #expect(script.emptyCheck == "SELECT NOT EXISTS (SELECT FROM person)")
    #expect(script.steps.map(\.label) == ["people", "counters", "start here"])
    #expect(
      script.steps[0].kind
        == .load(
          table: "person", columns: ["id", "\"name of it\"", "born_at"], rows: "3 * 10"))
    #expect(script.steps[0].text.contains("now()::date FROM generate_series(1, 3 * 10)"))
    #expect(script.steps[0].text.hasSuffix("WHERE 7 > 0"))
    #expect(script.steps[0].line == 4)
    #expect(script.steps[1].kind == .run)
    #expect(script.steps[1].text == "ANALYZE person;\nUPDATE person SET id = id")
    #expect(script.steps[2].kind == .print)
  }

  @Test func `a header goes on after a semicolon or comma at its end`() throws {
    let script = try script(
      """
      -- step: people;
      --   table: person(id,
      --     name);
      --   rows: 5
      SELECT 1, 'a'
      """)
    #expect(
      script.steps.map(\.kind) == [
        .load(table: "person", columns: ["id", "name"], rows: "5")
      ])
  }

  @Test func `a file without headers prints its statement's rows`() throws {
    let script = try script("-- who\nSELECT 1;\n")
    #expect(script.steps.map(\.kind) == [.print])
    #expect(try self.script("-- nothing\n\n").steps.isEmpty)
  }

  @Test func `only whole names after one colon are variables`() {
    func substituted(_ text: String) -> String {
      DemoScript.substitute(["scale": 3, "seed": -7], in: text)
    }
    #expect(substituted(":scale+:seed") == "3+(-7)")
    #expect(substituted("x::scale :scaled a:b ':' :scale_2") == "x::scale :scaled a:b ':' :scale_2")
    #expect(substituted("::seed:::scale") == "::seed::3")
  }

  @Test(arguments: [
    "-- step: a; table: person; rows: 1\nSELECT 1",
    "-- step: a; table: (id)\nSELECT 1",
    "-- step: a; table: person()\nSELECT 1",
    "-- step: a; load\nSELECT 1",
    "-- step: ; run\nSELECT 1",
    "-- step: a; run\n-- nothing\n",
  ])
  func `a wrong header is refused with its line`(text: String) {
    let error = #expect(throws: SetupError.self) { try script(text) }
    #expect(error?.message.hasPrefix("demo.sql:1: ") == true, "\(error as Any)")
  }
}
