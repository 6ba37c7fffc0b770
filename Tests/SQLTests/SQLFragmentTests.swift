import Testing

@testable import SQL

@Suite struct SQLFragmentTests {
  private let viewer = SQLParameter(ordinal: 0, type: SQLType("bigint"))
  private let names = SQLParameter(ordinal: 1, type: SQLType("text", isArray: true))
  private let key = SQLParameter(ordinal: 2, type: nil)

  @Test func `parameters are numbered in their order, and only those that are mentioned`() {
    let statement = ("SELECT \(key), \(viewer), \(key)" as SQLFragment).statement()
    #expect(statement.text == "SELECT $2, $1::bigint, $2")
    #expect(statement.parameters == [viewer, key])
    #expect(("SELECT '$1'" as SQLFragment).statement().parameters.isEmpty)
  }

  @Test func `lines are moved with what they are part of, but not those of strings`() {
    var string = SQLFragment()
    string.append(verbatim: "'a\nb'")
    let inner: SQLFragment = "(SELECT\n\(string),\n\(names))"
    let outer: SQLFragment = "SELECT\n  \(inner.indented)\nFROM t"
    #expect(
      outer.indented.statement().text
        == "SELECT\n    (SELECT\n    'a\nb',\n    $1::text[])\n  FROM t")
  }

  @Test func `what renders alike is equal`() {
    #expect(SQLFragment(name: "t1.id") == "\(name: "t1").\(name: "id")")
    #expect(("a\(viewer)" as SQLFragment).indented == "\("a" as SQLFragment)\(viewer)")
    #expect(("a\(viewer)" as SQLFragment) != "a\(key)")
    let lines: SQLFragment = "(\n\(viewer))"
    #expect(lines.indented == lines.indented)
    #expect(lines.indented != ("(\n\(key))" as SQLFragment).indented)
    #expect(Set([lines.indented, lines.indented, lines]).count == 2)
  }

  @Test func `literals are quoted`() {
    #expect(("= \(literal: "it's")" as SQLFragment).statement().text == "= 'it''s'")
  }

  @Test func `a finished statement is a part of another`() {
    let inner: SQLFragment = "SELECT '$1',\n\(key),\n\(viewer)"
    let statement = inner.indented.statement()
    let replaced = statement.fragment.replacingParameters { "p\($0.ordinal)" }
    let outer: SQLFragment = "(\(replaced.indented))"
    #expect(outer.statement().text == "(SELECT '$1',\n  p1,\n  p0)")
    #expect(statement.fragment.statement().text == statement.text)
  }

  @Test(arguments: [
    ("'it''s'", "it's"), ("''", ""), ("'a", nil), ("'a' 'b'", nil), ("E'a'", nil), ("7", nil),
    ("$$a$$", nil),
  ])
  func `a literal is read back`(literal: String, text: String?) {
    #expect(SQLQuoting.text(ofLiteral: literal) == text)
  }

  @Test(arguments: [
    ("created_at", true), ("\"it's\"", true), ("a.b", false), ("a b", false), ("", false),
    ("'a'", false), ("a/*", false), (":a", false),
  ])
  func `names are told from other SQL`(text: String, isName: Bool) {
    #expect(((try? SQLQuoting.checkName(text)) != nil) == isName)
  }
}
