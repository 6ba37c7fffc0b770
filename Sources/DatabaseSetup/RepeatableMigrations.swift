import Postgres
import SQL

/// Replaces the objects that the files of `functions` created before by those that they create now,
/// in one transaction.
///
/// Objects that still exist are replaced in place, so that other sessions always find them. That is
/// not possible if a result or an argument has changed its type or name. Then all objects are
/// dropped first and created again. Trigger functions are never dropped, because triggers depend on
/// them and they can always be replaced. At the end, objects that are no longer created are
/// dropped. The phrases are the rows that the files of `phrases` add.
///
/// Bodies are checked once all exist, so that files may come in any order. Functions that indexes,
/// defaults and constraints use cannot be dropped and belong to the tables. A procedure of the
/// graph, `after_functions()`, is called after the files; what it creates counts as theirs.
struct RepeatableMigrations {
  let files: [Migrations.File]
  /// The manifest (`Migrations.manifest`).
  let manifest: String
  let session: PostgresSession

  private static let attempts = 10

  /// Replaces the objects.
  ///
  /// - Parameter before: work to do first in the same transaction, in each attempt.
  func run(_ before: () throws -> Void) throws {
    let previous = try objectsInForce()
    var dropsFirst = false
    var attempt = 1
    while true {
      do {
        return try session.transaction {
          // Triggers lock their tables: better to try again than to have all writers wait.
          try session.execute("SET LOCAL lock_timeout = '3s'")
          try before()
          try renew(previous, dropsFirst: dropsFirst)
        }
      } catch let failure as Failure {
        if failure.error.kind == .retry || failure.error.kind == .lock, attempt < Self.attempts {
          attempt += 1
        } else if failure.error.kind == .forbidden {
          throw failure.error
        } else if !dropsFirst, !previous.isEmpty {
          dropsFirst = true
        } else {
          throw SetupError(failure.description)
        }
      }
    }
  }

  /// An error with the place where it happened.
  private struct Failure: Error {
    let place: String
    let error: PostgresError
    var description: String { "\(Migrations.File.path(place)): \(error)" }
  }

  private func renew(_ previous: [Object], dropsFirst: Bool) throws {
    let foreign = Set(try touched().map(\.object))
    try session.execute("SET LOCAL check_function_bodies = off")
    if dropsFirst {
      try drop(previous.filter { $0.kind == .view })
      try drop(try routinesToDropFirst(previous))
    }
    for file in files {
      do {
        try session.execute(file.text)
      } catch {
        throw Failure(place: file.place(of: error.position), error: error)
      }
    }
    try callAfterFunctions()
    let made = try touched().filter { !foreign.contains($0.object) }
    let objects = made.map(\.object)
    try drop(previous.filter { !objects.contains($0) })
    try session.execute("SET LOCAL check_function_bodies = on")
    for (object, validation) in made {
      guard let validation else { continue }
      do {
        try session.execute(validation)
      } catch {
        throw Failure(place: object.name, error: error)
      }
    }
    try session.execute(MutationSupport.rights)
    try session.execute(
      """
      INSERT INTO sociograph_functions (sha256, files, objects, applied_at)
      VALUES ($1, $2, $3, clock_timestamp())
      ON CONFLICT (sha256) DO UPDATE
      SET objects = excluded.objects, applied_at = excluded.applied_at
      """,
      [
        Migrations.hash(manifest), manifest,
        objects.map { "\($0)\n" }.joined(),
      ])
  }

  /// Lets the graph create what depends on all of its files, if it has a procedure for that.
  private func callAfterFunctions() throws {
    let procedure = GraphContract.afterFunctions
    do {
      let found = try session.execute("SELECT to_regprocedure('\(procedure.signature)')")
      guard found.first?.first.flatMap({ $0 }) != nil else { return }
      try session.execute("CALL \(procedure)()")
    } catch {
      throw Failure(place: procedure.name, error: error)
    }
  }

  // MARK: What is there

  /// An object that a file creates: `ROUTINE visible_post(bigint)`, `VIEW counted`, `TRIGGER
  /// count_added ON follow`.
  private struct Object: Hashable, CustomStringConvertible {
    enum Kind: String {
      case routine = "ROUTINE"
      case view = "VIEW"
      case trigger = "TRIGGER"
    }
    let kind: Kind
    let name: String

    init?(_ text: String) {
      let parts = text.split(separator: " ", maxSplits: 1)
      guard parts.count == 2, let kind = Kind(rawValue: String(parts[0])) else { return nil }
      self.kind = kind
      name = String(parts[1])
    }

    var description: String { "\(kind.rawValue) \(name)" }
  }

  private func objectsInForce() throws -> [Object] {
    try session.execute(
      """
      SELECT regexp_split_to_table(objects, E'\\n') FROM (
        SELECT objects FROM sociograph_functions ORDER BY applied_at DESC LIMIT 1) last
      """
    ).compactMap { $0[0].flatMap(Object.init) }
  }

  /// Returns the objects that this transaction has created or replaced in the namespace, with
  /// statements that validate them.
  private func touched() throws -> [(object: Object, validation: String?)] {
    try session.execute(
      """
      SELECT 'ROUTINE ' || format('%I(%s)', p.proname, (
          SELECT string_agg(format_type(a.type, NULL), ', ' ORDER BY a.position)
          FROM unnest(p.proargtypes) WITH ORDINALITY AS a(type, position))),
        format('SELECT %s(%s)', l.lanvalidator::regproc, p.oid)
      FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
      WHERE p.pronamespace = quote_ident(current_schema())::regnamespace
        AND p.xmin = pg_current_xact_id()::xid AND l.lanvalidator <> 0
      UNION ALL
      SELECT 'VIEW ' || quote_ident(c.relname), NULL
      FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
      WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND c.relkind = 'v'
        AND r.xmin = pg_current_xact_id()::xid
      UNION ALL
      SELECT 'TRIGGER ' || format('%I ON %I', t.tgname, c.relname), NULL
      FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
      WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND NOT t.tgisinternal
        AND t.tgparentid = 0 AND t.xmin = pg_current_xact_id()::xid
      ORDER BY 1
      """
    ).compactMap { row in
      row[0].flatMap(Object.init).map { (object: $0, validation: row[1]) }
    }
  }

  /// Returns all routines except trigger functions.
  private func routinesToDropFirst(_ previous: [Object]) throws -> [Object] {
    let triggered = Set(
      try session.execute(
        """
        SELECT 'ROUTINE ' || format('%I()', p.proname) FROM pg_proc p
        WHERE p.pronamespace = quote_ident(current_schema())::regnamespace
          AND p.prorettype = 'trigger'::regtype
        """
      ).compactMap { $0[0].flatMap(Object.init) })
    return previous.filter { $0.kind == .routine && !triggered.contains($0) }
  }

  /// Drops triggers first, then views, then all routines at once, because they may depend on each
  /// other.
  private func drop(_ objects: [Object]) throws {
    guard !objects.isEmpty else { return }
    let rows = try session.execute("SELECT quote_ident(current_schema())")
    let namespace = rows.first?.first.flatMap { $0 } ?? ""
    func attempt(_ text: String, _ place: String) throws {
      do {
        try session.execute(text)
      } catch {
        throw Failure(place: place, error: error)
      }
    }
    for trigger in objects where trigger.kind == .trigger {
      let parts = trigger.name.split(separator: " ON ", maxSplits: 1)
      guard parts.count == 2 else { continue }
      try attempt(
        "DROP TRIGGER IF EXISTS \(parts[0]) ON \(namespace).\(parts[1])", trigger.name)
    }
    for view in objects where view.kind == .view {
      try attempt("DROP VIEW IF EXISTS \(namespace).\(view.name)", view.name)
    }
    let routines = objects.filter { $0.kind == .routine }.map { "\(namespace).\($0.name)" }
    guard !routines.isEmpty else { return }
    try attempt("DROP ROUTINE IF EXISTS \(routines.joined(separator: ", "))", "")
  }
}
