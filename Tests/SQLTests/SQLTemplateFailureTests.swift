import SQL
import Testing

/// Which conditions may fail for a row, and so are asked only of rows that a rule lets through.
@Suite struct SQLTemplateFailureTests {
  @Test(arguments: [
    "this.owner = :viewer", "this.a = 'x''y' AND NOT (this.b IS NULL OR this.c <> 2)",
    "this.n BETWEEN 1 AND 2.5",
    "this.id IN (:ids...)", "this.id = ANY (:ids)", "this.id = :value::uuid",
    "this.at <= '2026-01-01'::date",
    "EXISTS (SELECT FROM member AS m WHERE m.circle_id = this.id AND m.user_id = :viewer)",
    "this.id NOT IN (SELECT blocked FROM block)", "this.\"Like\" = 1",
    "this.a IS DISTINCT FROM parent.a",
    "this.a /* like */ = 1 -- lower(x)",
  ])
  func `comparisons of columns cannot fail`(_ condition: String) throws {
    #expect(try !SQLTemplate(condition).canFail)
  }

  @Test(arguments: [
    "this.title LIKE :value", "this.title ilike :value", "this.title ~ :value",
    "this.title SIMILAR TO 'x'",
    "100 / this.n > 1", "this.n + 1 = 2", "this.n - 1 = 2", "this.n * 2 = 2", "this.n % 2 = 0",
    "this.a::int = 1",
    "(this.a)::int = 1", "CAST(this.a AS int) = 1", "lower(this.a) = :value", "this.doc @> :value",
    "this.doc ->> 'a' = 'b'", "this.words @@ websearch_to_tsquery(:value)", "may_see(this)",
    "\"May\"(this.id)",
    "this.a || 'x' = 'y'", "EXISTS (SELECT FROM t WHERE t.a LIKE this.a)",
    "this.at AT TIME ZONE this.zone > now()",
  ])
  func `patterns, calls, casts and arithmetic can fail`(_ condition: String) throws {
    #expect(try SQLTemplate(condition).canFail)
  }

  @Test func `conditions are split where they are joined by AND`() throws {
    func parts(_ text: String) throws -> [String] {
      try SQLTemplate(text).conjuncts.map(\.source)
    }
    #expect(
      try parts("this.a = 1 AND (b AND c) and x LIKE 'y'") == [
        "this.a = 1", "(b AND c)", "x LIKE 'y'",
      ])
    #expect(try parts("this.and = 1 AND this.or = 2") == ["this.and = 1", "this.or = 2"])
    for whole in ["a AND b OR c", "a BETWEEN 1 AND 2", "CASE WHEN a AND b THEN c END"] {
      #expect(try parts(whole) == [whole])
    }
  }

  @Test func `a join says only which columns are equal`() throws {
    for join in ["this.a = parent.b", "edge.a = parent.a AND this.\"B\" = edge.b"] {
      #expect(try SQLTemplate(join).isJoin, "\(join)")
    }
    for other in [
      "this.a = :viewer", "this.a = parent.a AND this.public",
      "this.a = parent.a OR this.b = parent.b",
    ] {
      #expect(try !SQLTemplate(other).isJoin, "\(other)")
    }
  }
}
