import GraphQLLanguage
import GraphQLPlanning
import GraphQLResponse
import GraphQLSchema
import Postgres
import SQL

/// Checks what subscriptions and live queries need of a database. The keys of an `@event` can be
/// read, and its events are reported. The lines of `live_source` name existing objects and cover
/// all that is read.
struct LiveCheck {
  private let mapping: StorageMapping
  private let session: PostgresSession
  private var schema: Schema { mapping.schema }

  init(_ mapping: StorageMapping, _ session: PostgresSession) {
    self.mapping = mapping
    self.session = session
  }

  func findings() throws(PostgresError) -> [StorageFinding] {
    let contract = try session.contract()
    var findings = try subscriptions(hasNews: contract.has(GraphContract.newsSince))
    if contract.has(GraphContract.liveSource) { findings += try sources() }
    return findings
  }

  // MARK: - Subscriptions

  private func subscriptions(hasNews: Bool) throws(PostgresError) -> [StorageFinding] {
    guard let root = schema.subscriptionType, !mapping.events.isEmpty else { return [] }
    guard hasNews else {
      return [
        StorageFinding(
          .error, schema[root].name,
          "it has fields with @event, and no function news_since(pg_snapshot) reports events; "
            + "create it as sql/README.md says, or leave @event out.")
      ]
    }
    var trials = Trials()
    for call in StorageProbes(mapping: mapping).subscriptions { trials.add(call, mapping) }
    let events = mapping.events.sorted { $0.key < $1.key }
    let topics = events.map { Self.literal($0.value.topic) }.joined(separator: ",")
    var answers = try session.pipeline(
      [.execute(Self.silent("unnest(ARRAY[\(topics)])"))] + trials.commands)[...]
    let silent = try Set(answers.removeFirst().get().rows.compactMap { $0[0] })
    return events.filter { silent.contains($0.value.topic) }.map { name, event in
      StorageFinding(
        .error, "\(schema[root].name).\(name)",
        "no function or trigger leaves touches of the topic \"\(event.topic)\", so that no event would "
          + "be delivered; have one call touch_nodes, or write @event(topic:) with another.")
    } + trials.findings(Array(answers))
  }

  /// The statements for the start of a subscription and for each event.
  private struct Trials {
    private var statements: [(coordinate: String, what: String, statement: SQLStatement)] = []
    private var unplanned: [StorageFinding] = []

    mutating func add(_ call: StorageProbes.Call, _ mapping: StorageMapping) {
      do {
        let plan = try LiveCheck.plan("subscription { \(call.text) }", mapping)
        if case .subscription(_, let event) = plan {
          statements.append((call.coordinate, "@event: ", event.start))
        }
        if let statement = plan.statement { statements.append((call.coordinate, "", statement)) }
      } catch {
        unplanned.append(StorageFinding(.error, call.coordinate, error.message))
      }
    }

    var commands: [PipelinedCommand] { statements.map { .describe($0.statement.text) } }

    func findings(_ answers: [Result<PipelinedAnswer, PostgresError>]) -> [StorageFinding] {
      unplanned
        + zip(statements, answers).compactMap { trial, answer in
          guard case .failure(let error) = answer else { return nil }
          let text = StatementErrors.text(of: error, in: [], at: trial.coordinate)
          return StorageFinding(.error, trial.coordinate, trial.what + text)
        }
    }
  }

  private static func plan(
    _ text: String, _ mapping: StorageMapping, mode: ResponseMode = .single
  ) throws(GraphQLError) -> Plan {
    let source = Source(text)
    guard let document = try? Parser.parse(source, limits: .unlimited),
      let operation = document.operations.first
    else { throw GraphQLError("There is no operation.", code: .internalServerError) }
    return try Planner(mapping: mapping, limits: .unlimited).plan(
      operation, fragments: [:], source: source, variables: [], mode: mode)
  }

  // MARK: - live_source

  private func sources() throws(PostgresError) -> [StorageFinding] {
    let lines = """
      SELECT s.relation, s.attribute, r.oid IS NOT NULL, format_type(a.atttypid, NULL),
        a.atttypid IN ('bigint'::regtype, 'int'::regtype, 'smallint'::regtype),
        (SELECT string_agg(t.tag::text, ' ') FROM unnest(s.tags) AS t(tag)
          WHERE t.tag <> ALL ('{\(tags)}'::int[])),
        (SELECT string_agg(t.topic, ' ') FROM (\(Self.silent("unnest(s.topics)"))) t),
        s.topics IS NULL
      FROM \(GraphContract.liveSource) s CROSS JOIN LATERAL (SELECT to_regclass(quote_ident(s.relation))) AS r(oid)
        LEFT JOIN pg_attribute a ON a.attrelid = r.oid AND a.attname = s.attribute AND a.attnum > 0
          AND NOT a.attisdropped
      """
    let rows = try session.execute(lines)
    let untold = Set(rows.filter { $0[7] == "t" }.compactMap { $0[0] })
    return try rows.flatMap {
      Self.findings(relation: $0[0] ?? "", $0[1], isThere: $0[2] == "t", $0)
    }
      + gaps(besides: untold)
  }

  private var tags: String {
    schema.types.compactMap { mapping[$0.id]?.tag.map(String.init) }.joined(separator: ",")
  }

  /// Returns the findings about one line.
  private static func findings(
    relation: String, _ attribute: String?, isThere: Bool, _ row: [String?]
  ) -> [StorageFinding] {
    let coordinate = attribute.map { "\(relation).\($0)" } ?? relation
    func finding(_ text: String) -> StorageFinding { StorageFinding(.error, coordinate, text) }
    guard isThere else {
      return [
        StorageFinding(
          .error, relation,
          "live_source has a line for it, and no such table is there; name one that is, or leave the line out."
        )
      ]
    }
    var findings: [StorageFinding] = []
    if attribute != nil {
      if let type = row[3] {
        if row[4] != "t" {
          findings.append(
            finding(
              "live_source has a line for it, whose values are keys of touches, and it is of PostgreSQL's "
                + "type \(type); name a column of ids."))
        }
      } else {
        findings.append(
          finding(
            "live_source has a line for it, and the table has no such column; name one, or none to have the "
              + "table watched as a whole."))
      }
    }
    if let tags = row[5] {
      findings.append(
        finding(
          "live_source says that its touches are about nodes with the tag \(tags), which no type has; "
            + "write those that @tag(id:) has."))
    }
    if let topics = row[6] {
      findings.append(
        finding(
          "live_source says that touches of the topic \(topics) tell of its changes, and no function or "
            + "trigger leaves any; have one call touch_nodes, or name another topic."))
    }
    return findings
  }

  /// Returns findings about tables that fields read and no line covers.
  private func gaps(besides untold: Set<String>) throws(PostgresError) -> [StorageFinding] {
    guard let catalog = try LiveCatalog.read(from: session) else { return [] }
    return StorageProbes(mapping: mapping).groups.flatMap { group -> [StorageFinding] in
      // An operation that cannot be planned is reported elsewhere.
      guard
        case .live(_, let live)? = try? Self.plan(
          group.operation(group.calls.map(\.text)), mapping, mode: .live(catalog))
      else { return [] }
      return live.untracked.compactMap { gap in
        guard let relation = gap.relation, !untold.contains(relation) else { return nil }
        return StorageFinding(
          .warning, gap.coordinate,
          "it cannot be live, as live_source has no line for the table \(relation), which it reads; write "
            + "how its changes are reported, or a line without topics if they are not to be.")
      }
    }
  }

  // MARK: - Topics

  /// Returns a SELECT of those topics that occur in no function or trigger.
  private static func silent(_ topics: String) -> String {
    """
    SELECT w.topic FROM \(topics) AS w(topic)
    WHERE NOT EXISTS (SELECT FROM pg_proc p
      WHERE p.pronamespace IN (
        SELECT n.oid FROM pg_namespace n WHERE n.nspname = ANY (current_schemas(false)))
        AND strpos(coalesce(pg_get_function_sqlbody(p.oid), p.prosrc), quote_literal(w.topic)) > 0)
    AND NOT EXISTS (SELECT FROM pg_trigger t WHERE NOT t.tgisinternal
      AND w.topic = ANY (regexp_split_to_array(encode(t.tgargs, 'escape'), '\\\\000| ')))
    """
  }

  private static func literal(_ text: String) -> String {
    "'" + text.replacing("'", with: "''") + "'"
  }
}
