import DatabaseSetup
import Foundation
import Postgres
import SQL
import TestSupport
import Testing

/// The list of what the program itself asks of a graph: complete, and held against the rights of both roles.
@Suite(.usesCluster) struct GraphContractTests {
  private static let namespaces = ["graph"]
  private static let roles: [(role: String, caller: ContractEntry.Caller, option: String)] = [
    (ServerRole.reader, .reader, "--server-role"), (ServerRole.writer, .writer, "--writer-role"),
  ]

  /// Returns the findings of the check for the role after `statement`, which is then rolled back.
  private func findings(
    after statement: String, as role: String, _ caller: ContractEntry.Caller,
    features: Set<ContractEntry.Feature> = [], _ session: PostgresSession
  ) throws -> [RoleCheck.Finding] {
    try session.execute("BEGIN; \(statement); SET LOCAL ROLE \(role)")
    defer { _ = try? session.execute("ROLLBACK") }
    return try RoleCheck(as: caller, in: Self.namespaces, features: features).run(session)
  }

  // MARK: - Rights

  /// Each right that a role was granted, as what takes it away, from PUBLIC too, and the name that the check then has
  /// to say. Nothing is read from a partition but through its table.
  private static let grants = """
    WITH role AS (SELECT oid, rolname FROM pg_roles WHERE rolname = $1)
    SELECT format('REVOKE %s ON SCHEMA %I FROM %I, PUBLIC', a.privilege_type, n.nspname, r.rolname),
      'the schema ' || n.nspname
    FROM pg_namespace n, aclexplode(n.nspacl) a, role r
    WHERE n.nspname = 'graph' AND a.grantee = r.oid
    UNION ALL
    SELECT format('REVOKE %s ON %s FROM %I, PUBLIC', a.privilege_type, c.oid::regclass, r.rolname),
      c.relname
    FROM pg_class c, aclexplode(c.relacl) a, role r
    WHERE c.relnamespace = 'graph'::regnamespace AND a.grantee = r.oid AND NOT c.relispartition
    UNION ALL
    SELECT format('REVOKE %s (%I) ON %s FROM %I, PUBLIC', b.privilege_type, t.attname, c.oid::regclass,
      r.rolname), c.relname
    FROM pg_class c, pg_attribute t, aclexplode(t.attacl) b, role r
    WHERE c.relnamespace = 'graph'::regnamespace AND t.attrelid = c.oid AND b.grantee = r.oid
    UNION ALL
    SELECT format('REVOKE %s ON ROUTINE %s FROM %I, PUBLIC', a.privilege_type, p.oid::regprocedure,
      r.rolname), p.proname || '('
    FROM pg_proc p, aclexplode(p.proacl) a, role r
    WHERE p.pronamespace = 'graph'::regnamespace AND a.grantee = r.oid
    UNION ALL
    SELECT format('ALTER DEFAULT PRIVILEGES IN SCHEMA graph REVOKE %s ON %s FROM %I', a.privilege_type,
      CASE d.defaclobjtype WHEN 'r' THEN 'TABLES' ELSE 'ROUTINES' END, r.rolname),
      CASE d.defaclobjtype WHEN 'r' THEN 'later tables' ELSE 'later routines' END
    FROM pg_default_acl d, aclexplode(d.defaclacl) a, role r
    WHERE d.defaclnamespace = 'graph'::regnamespace AND a.grantee = r.oid
    """

  @Test func `each right that migrate grants is named by the check once it is taken away`() throws {
    let session = try TestCluster.session(TestCluster.newDatabase(migrated: true))
    for (role, caller, option) in Self.roles {
      #expect(try findings(after: "SELECT", as: role, caller, session) == [])
      let grants = try session.execute(Self.grants, [role])
      for kind in ["ON SCHEMA", "(user_id) ON", "ON ROUTINE", "ON TABLES"] {
        #expect(grants.contains { $0[0]?.contains(kind) == true }, "\(role): \(kind)")
      }
      #expect(grants.count > 50, "\(role)")
      for row in grants {
        let (statement, name) = (row[0] ?? "", row[1] ?? "")
        let found = try findings(after: statement, as: role, caller, session)
        #expect(
          found.count == 1 && found.contains { "\($0)".contains(name) && "\($0)".contains(option) },
          "\(statement): \(found)")
      }
    }
  }

  @Test func `what the program calls is an error that says what follows and what repairs it`()
    throws
  {
    let session = try TestCluster.session(TestCluster.newDatabase(migrated: true))
    for (role, caller, option) in Self.roles {
      for entry in GraphContract.entries(for: caller) {
        let object =
          if case .function = entry.form { "EXECUTE ON FUNCTION graph.\(entry.signature)" } else {
            "SELECT ON graph.\(entry)"
          }
        let found = try findings(
          after: "REVOKE \(object) FROM \(role), PUBLIC", as: role, caller, session)
        let text =
          "error: \(entry.signature): the role \(role) may not "
          + (object.hasPrefix("EXECUTE") ? "call" : "read") + " it, so that \(entry.consequence). "
          + "Run `sociograph migrate \(option) \(role)` as the owner of the graph."
        #expect(found.map(\.description).contains(text), "\(found)")
      }
    }
  }

  @Test func `an option misses its function`() throws {
    let session = try TestCluster.session(TestCluster.newDatabase(migrated: true))
    let drop = "DROP FUNCTION graph.photo_audience"
    #expect(try findings(after: drop, as: ServerRole.reader, .reader, session) == [])
    let found = try findings(
      after: drop, as: ServerRole.reader, .reader, features: [.photos], session)
    #expect(found.count == 1 && found[0].isError)
    let missing = "photo_audience(bigint, text): the database has no such function"
    #expect(found.first?.text.hasPrefix(missing) == true)
  }

  // MARK: - Completeness

  @Test func `everything on the list is in the graph`() throws {
    let session = try TestCluster.session(TestCluster.newDatabase(migrated: true))
    // Made with the first demo data.
    for entry in GraphContract.all where entry != GraphContract.seed {
      switch entry.form {
      case .function:
        let found = try session.execute("SELECT to_regprocedure($1)", [entry.signature])
        #expect(found[0][0] != nil, "\(entry.signature)")
      case .relation(let columns):
        _ = try session.execute("SELECT \(columns.joined(separator: ", ")) FROM \(entry) LIMIT 0")
      }
    }
  }

  @Test func `everything of the graph that the program's statements name is on the list`() throws {
    let session = try TestCluster.session(TestCluster.newDatabase(migrated: true))
    let names = try session.execute(
      """
      SELECT proname, 'f' FROM pg_proc p WHERE pronamespace = 'graph'::regnamespace AND prokind <> 'p'
        AND NOT EXISTS (SELECT FROM pg_proc o
          WHERE o.proname = p.proname AND o.pronamespace = 'pg_catalog'::regnamespace)
      UNION SELECT relname, 'r' FROM pg_class WHERE relnamespace = 'graph'::regnamespace
        AND relkind IN ('r', 'p', 'v', 'm') AND NOT relispartition
      """)
    let graph = NamesOfGraph(
      functions: Set(names.filter { $0[1] == "f" }.compactMap { $0[0] }),
      relations: Set(names.filter { $0[1] == "r" }.compactMap { $0[0] }))
    // The search itself: in one line and several, behind an interpolation and inside of one, and not in comments.
    let sample = #"""
      // SELECT note_upload(1) FROM post
      let a = "SELECT photo_audience($1) FROM \(x("a")) JOIN  outbox o"
      let b = f("\(call("SELECT rest_of_session($1)", 2)) FROM app_user")
      let c = """
        UPDATE session SET a = "b" FROM generate_series(1, 2), unknown_uploads ($1)
        """
      "CREATE OR REPLACE FUNCTION sociograph_claim()"; note_session(1)
      """#
    #expect(
      graph.named(in: sample) == [
        "photo_audience", "outbox", "rest_of_session", "app_user", "session", "unknown_uploads",
      ])

    let listed = Set(GraphContract.all.map(\.name))
    let folder = TestCluster.packageFolder + "/Sources"
    let list = "SQL/GraphContract.swift"
    var used: Set<String> = []
    var text = ""
    let files = try #require(FileManager.default.enumerator(atPath: folder))
      .compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") && $0 != list }
    #expect(files.count > 300)
    for file in files {
      let source = try String(contentsOfFile: folder + "/" + file, encoding: .utf8)
      let named = graph.named(in: source)
      // What the program keeps for itself is its owner's to write.
      let own = file.hasPrefix("DatabaseSetup/") ? named.filter { $0.hasPrefix("sociograph_") } : []
      #expect(
        named.subtracting(own).subtracting(listed) == [],
        "\(file): add it to Sources/\(list), with the role that sends the statement")
      used.formUnion(named)
      text += source
    }
    // And nothing is on the list that no statement names, or was left out of `all`.
    let declared = try String(contentsOfFile: folder + "/" + list, encoding: .utf8)
      .matches(of: /static let (\w+) = ContractEntry\(\s*"(\w+)"/)
    #expect(declared.count == GraphContract.all.count)
    for entry in declared {
      let isUsed =
        used.contains(String(entry.2)) || text.contains("GraphContract.\(entry.1)")
        || text.contains("'\(entry.2)'") || text.contains("FROM \(entry.2) ")
        || GraphContract.ofReads.contains { $0.name == entry.2 }
      #expect(isUsed, "\(entry.2)")
    }
  }
}

/// Finds names of a graph in the string literals of Swift, where they stand as SQL has functions and relations.
private struct NamesOfGraph {
  let functions: Set<String>
  let relations: Set<String>

  func named(in source: String) -> Set<String> {
    var scanner = LiteralScanner(Array(source.utf8))
    scanner.scanCode()
    var result: Set<String> = []
    for literal in scanner.literals where !literal.contains("CREATE OR REPLACE FUNCTION") {
      let bytes = Array(literal.utf8)
      var index = 0
      var before = ""
      while index < bytes.count {
        guard Self.isWord(bytes[index]) else {
          if bytes[index] != 0x20 && bytes[index] != 0x0A { before = "" }
          index += 1
          continue
        }
        let start = index
        while index < bytes.count, Self.isWord(bytes[index]) { index += 1 }
        let word = String(decoding: bytes[start..<index], as: UTF8.self)
        var next = index
        while next < bytes.count, bytes[next] == 0x20 { next += 1 }
        if next < bytes.count, bytes[next] == UInt8(ascii: "("), functions.contains(word) {
          result.insert(word)
        } else if ["FROM", "JOIN", "UPDATE", "INTO", "TABLE"].contains(before),
          relations.contains(word)
        {
          result.insert(word)
        }
        before = word
      }
    }
    return result
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}

/// A scanner for the string literals of a Swift file, including those inside of interpolations. It
/// omits the interpolations themselves.
private struct LiteralScanner {
  private let bytes: [UInt8]
  private var index = 0
  private(set) var literals: [String] = []

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  private func has(_ text: StaticString) -> Bool {
    let wanted = Array("\(text)".utf8)
    return bytes.dropFirst(index).starts(with: wanted)
  }

  /// To the end, or to the parenthesis that closes an interpolation.
  mutating func scanCode(isInterpolated: Bool = false) {
    var depth = 0
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "/") where has("//"):
        while index < bytes.count, bytes[index] != 0x0A { index += 1 }
      case UInt8(ascii: "#") where has("#\""): scanLiteral(pounds: 1)
      case UInt8(ascii: "\""): scanLiteral(pounds: 0)
      case UInt8(ascii: "("):
        depth += 1
        index += 1
      case UInt8(ascii: ")"):
        index += 1
        if isInterpolated, depth == 0 { return }
        depth -= 1
      default: index += 1
      }
    }
  }

  private mutating func scanLiteral(pounds: Int) {
    index += pounds
    let quotes = has("\"\"\"") ? 3 : 1
    index += quotes
    let end =
      [UInt8](repeating: UInt8(ascii: "\""), count: quotes)
      + [UInt8](repeating: UInt8(ascii: "#"), count: pounds)
    let escape = [UInt8(ascii: "\\")] + [UInt8](repeating: UInt8(ascii: "#"), count: pounds)
    var text: [UInt8] = []
    while index < bytes.count {
      let rest = bytes.dropFirst(index)
      if rest.starts(with: end) {
        index += end.count
        break
      } else if quotes == 1, bytes[index] == 0x0A {
        break
      } else if rest.starts(with: escape) {
        index += escape.count
        if index < bytes.count, bytes[index] == UInt8(ascii: "(") {
          index += 1
          scanCode(isInterpolated: true)
        } else {
          index += 1
        }
        text.append(0x20)
      } else {
        text.append(bytes[index])
        index += 1
      }
    }
    literals.append(String(decoding: text, as: UTF8.self))
  }
}
