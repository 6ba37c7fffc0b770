import Testing

@testable import SQL

@Suite struct SQLTemplateTests {
  /// Qualifiers in brackets, variables in braces, the rest as it is.
  private func shown(_ text: String) -> String {
    SQLTemplate(text).pieces.map { piece in
      switch piece {
      case .text(let text): text
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
    ("a -- this.x :value\n + this.y", "a -- this.x :value\n + [this].y"),
    ("a /* :value */ + :value", "a /* :value */ + {value}"),
    ("1.5 + e2.x", "1.5 + [e2].x"),
    ("a : b :1", "a : b :1"),
    ("'open :value", "'open :value"), ("/* open :value", "/* open :value"), ("", ""),
  ])
  func `only names before dots and behind colons are filled in`(text: String, pieces: String) {
    #expect(shown(text) == pieces)
  }

  @Test func `keys are cut at commas that are not inside of anything`() {
    let keys = SQLTemplate("coalesce(this.a, 'x,y'), this.b[1, 2] DESC,\n  \"c,d\" ")
      .splitAtCommas()
    #expect(keys.map(\.source) == ["coalesce(this.a, 'x,y')", "this.b[1, 2] DESC", "\"c,d\""])
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
