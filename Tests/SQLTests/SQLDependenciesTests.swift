import SQL
import Testing

/// The relations that a text of SQL may read, and the rows of them.
@Suite struct SQLDependenciesTests {
  /// `name alias column=operand ...` of each mention that is one of these.
  private func reads(_ text: String, _ names: Set<String> = ["a", "b", "f"]) -> [String] {
    SQLDependencies(text).mentions.filter { names.contains($0.name) }.map { mention in
      let arguments = mention.arguments.map { $0.map { self.text($0) } ?? "?" }.joined(
        separator: ",")
      return
        ([mention.isCall ? "\(mention.name)(\(arguments))" : mention.name, mention.alias]
        + mention.equalities.map { "\($0.column)=\(self.text($0.operand))" })
        .joined(separator: " ")
    }
  }

  private func text(_ operand: SQLDependencies.Operand) -> String {
    switch operand {
    case .variable(let path): ":" + path.joined(separator: ".")
    case .column(let alias, let name): "\(alias).\(name)"
    case .name(let name): name
    }
  }

  @Test func `a table is found with what its rows equal, whichever side it stands on`() {
    #expect(
      reads("SELECT FROM a x WHERE x.p = :viewer AND this.id = x.q AND x.r > 1 AND x.s = 1")
        == ["a x p=:viewer q=this.id"])
    #expect(reads("EXISTS (SELECT FROM a WHERE a.p = who)") == ["a a p=who"])
    #expect(reads("SELECT 1 FROM \"a\" AS x WHERE x.p = :v ORDER BY x.q = :w") == ["a x p=:v"])
  }

  @Test func `what need not hold is no equality`() {
    for condition in [
      "x.p = :viewer OR x.q = 1", "NOT x.p = :viewer", "x.p = :viewer + 1", "x.p = ANY (:viewer)",
      "x.p BETWEEN 1 AND x.q = :viewer", "x.p <> :viewer", "x.p >= :viewer",
      "CASE WHEN x.q AND x.p = :viewer AND x.r THEN true END", "(x.p = :viewer OR x.q)",
    ] {
      #expect(reads("SELECT FROM a x WHERE \(condition)") == ["a x"], "\(condition)")
    }
  }

  @Test func `each query of a union, and each statement, has conditions of its own`() {
    #expect(
      reads("SELECT x.p FROM a x WHERE x.p = :v UNION ALL SELECT x.q FROM a x")
        == ["a x p=:v", "a x"])
    #expect(
      reads("BEGIN SELECT 1 INTO n FROM a x WHERE x.p = v; RETURN QUERY SELECT FROM b; END")
        == ["a x p=v", "b b"])
    #expect(
      reads("SELECT FROM a x, LATERAL (SELECT FROM b y WHERE y.p = x.q) z WHERE x.q = :v")
        == ["a x q=:v", "b y p=x.q"])
  }

  @Test func `calls are found with their arguments, columns and strings are not`() {
    #expect(
      reads("f(:viewer, this.id, 1 + 2) AS x WHERE x.p = 'a' AND x.a = y.b")
        == ["f(:viewer,this.id,?) x a=y.b"])
    #expect(reads("SELECT t.a, 'b', \"c\" -- f()\nFROM t AS b") == [])
    #expect(reads("SELECT * FROM f()") == ["f() f"])
  }

  @Test func `what makes SQL itself, or is none, is opaque`() {
    #expect(SQLDependencies("BEGIN EXECUTE format('SELECT FROM %I', name); END").isOpaque)
    #expect(SQLDependencies("SELECT 'open").isOpaque)
    #expect(!SQLDependencies("SELECT 1").isOpaque)
  }

  @Test func `a function that gives a table's rows is known by its select list`() {
    #expect(SQLDependencies("SELECT x.* FROM a x WHERE x.p = v").givesFirst)
    #expect(!SQLDependencies("SELECT x.p FROM a x").givesFirst)
    #expect(!SQLDependencies("SELECT y.* FROM a x, b y").givesFirst)
  }

  @Test func `of a condition alone the equalities are those that must hold`() {
    func conditions(_ text: String) -> [String] {
      SQLDependencies(text).conditions.map { "\($0.alias).\($0.column)=\(self.text($0.operand))" }
    }
    #expect(
      conditions("edge.p = parent.id AND this.q = 1 AND edge.r = :viewer")
        == ["edge.p=parent.id", "parent.id=edge.p", "edge.r=:viewer"])
    #expect(conditions("edge.p = parent.id OR true") == [])
  }
}
