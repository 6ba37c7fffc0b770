import Testing

@testable import SQL

@Suite struct SQLTemplateTests {
  /// Qualifiers in brackets, variables in braces, strings of several lines in bars, the rest as it is.
  private func shown(_ text: String) throws -> String {
    try SQLTemplate(text).pieces.map { piece in
      switch piece {
      case .text(let text): text
      case .verbatim(let text): "|\(text)|"
      case .qualifier(let name): "[\(name)]"
      case .variable(let path, let isSplice):
        "{\(path.joined(separator: "/"))\(isSplice ? "..." : "")}"
      }
    }.joined()
  }

  @Test(arguments: [
    ("this.id = :viewer", "[this].id = {viewer}"),
    ("votable.count", "[votable].count"),
    ("public.circle.id", "[public].circle.id"),
    ("x::text = :value::text", "x::text = {value}::text"),
    (":filter.near.radius * 2", "{filter/near/radius} * 2"),
    ("kind IN (:kinds...)", "kind IN ({kinds...})"),
    ("unnest(:ids) AS edge(id)", "unnest({ids}) AS [edge](id)"),
    ("':value' || \"this.x\"", "':value' || \"this.x\""),
    ("'it''s :value' || :value", "'it''s :value' || {value}"),
    ("a -- this.x :value\n + this.y", "a \n + [this].y"),
    ("a -- it's\n + :value -- it's", "a \n + {value}"),
    ("a /* :value */ + :value", "a /* :value */ + {value}"),
    ("/* the viewer's */ :viewer", "{viewer}"),
    ("a /* it's /* :one */ :two */ + :value", "a /* it's /* :one */ :two */ + {value}"),
    (#"E'it\'s :value' || :value"#, #"E'it\'s :value' || {value}"#),
    (#"e'a'"# + "\n" + #"'\':one' || :value"#, "|e'a'\n'\\':one'| || {value}"),
    (#"'a\' || :value"#, #"'a\' || {value}"#),
    (#"be'a\' || :value"#, #"be'a\' || {value}"#),
    ("$$it's :value$$ || :value", "$$it's :value$$ || {value}"),
    ("$a$ $$ $b$ :value $a$ || :value", "$a$ $$ $b$ :value $a$ || {value}"),
    ("a$1$ || :value", "a$1$ || {value}"),
    ("'a\nb' || this.c", "|'a\nb'| || [this].c"),
    ("\"it's\" = :value", "\"it's\" = {value}"),
    ("\"a\"\" :one\" = :value", "\"a\"\" :one\" = {value}"),
    ("1.5 + e2.x", "1.5 + [e2].x"),
    ("a[1 : 2] : b :1", "a[1 : 2] : b :1"), ("", ""), (" \n this.a ", "[this].a"),
  ])
  func `only names before dots and behind colons are filled in`(text: String, pieces: String)
    throws
  {
    #expect(try shown(text) == pieces)
  }

  @Test(arguments: [
    "'open :value", #"E'open\'"#, "/* open :value", "/* /* */", "$a$ open $b$", "\"open",
    "(a", "a)", "(a]", "f(a[1)]", "a; b", "this.a = $1", "$", "a $ b", "'\0'",
    "a:value", "1:value", "a[1:value]", ":value[1]", "'a':value", ":value'a'", ":valueé",
    "$$a$$:value", ":a.b$c$d$c$",
  ])
  func `what would reach beyond its own place is refused`(text: String) {
    #expect(throws: SQLSyntaxError.self) { try SQLTemplate(text) }
  }

  @Test(arguments: [
    ("this.a", false, false), ("'('", false, false), ("f(this.a)", true, false),
    ("unnest(:ids) WITH ORDINALITY AS edge(id, position)", true, true),
    ("(SELECT 1 AS edge)", true, false), ("track_point(parent.path)", true, false),
  ])
  func `a template knows what it is made of`(text: String, isExpensive: Bool, namesItsRow: Bool)
    throws
  {
    let template = try SQLTemplate(text)
    #expect(template.isExpensive == isExpensive)
    #expect(template.namesItsRow == namesItsRow)
  }

  @Test(arguments: [
    ("", []),
    (
      "coalesce(this.a, 'x,y'), this.b[1, 2] DESC,\n  \"c,d\" ",
      ["coalesce(this.a, 'x,y')", "this.b[1, 2] down", "\"c,d\""]
    ),
    ("this.desc, 'a  b' asc nulls first", ["this.desc", "'a  b' first"]),
    ("a DESC NULLS LAST /* it's */, b", ["a down last", "b"]),
  ])
  func `an order is cut into its keys`(text: String, keys: [String]) throws {
    let found = try SQLSortKey.list(text).map { key in
      key.expression.source + (key.isDescending ? " down" : "")
        + (key.nullsFirst.map { $0 ? " first" : " last" } ?? "")
    }
    #expect(found == keys)
  }

  @Test func `every key of an order is there`() {
    #expect(throws: SQLSyntaxError.self) { try SQLSortKey.list("a,, b") }
    #expect(throws: SQLSyntaxError.self) { try SQLSortKey.list(" ", isRequired: true) }
  }

  @Test(arguments: [
    (["GOOD", "BAD"], "'{GOOD,BAD}'"), ([], "'{}'"), (["16"], "'{16}'"),
    (["a b", "null", ""], "'{\"a b\",\"null\",\"\"}'"),
    (["it's", "a\"b\\c"], "'{\"it''s\",\"a\\\"b\\\\c\"}'"),
  ])
  func `array literals are quoted where they must be`(elements: [String], literal: String) {
    #expect(SQLQuoting.arrayLiteral(elements) == literal)
  }

  @Test(arguments: [
    ("createdAt", "created_at"), ("id", "id"), ("gmapsId", "gmaps_id"),
    ("viewerHasVoted", "viewer_has_voted"),
  ])
  func `fields are columns in snake case`(field: String, column: String) {
    #expect(SQLQuoting.snakeCase(field) == column)
  }
}
