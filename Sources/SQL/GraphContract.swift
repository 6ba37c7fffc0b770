/// A function or relation of the database that a statement of the program itself names.
///
/// It is written into statements by its name: `"SELECT \(GraphContract.photoAudience)($1, $2)"`.
package struct ContractEntry: Sendable, Hashable, CustomStringConvertible {
  /// The role that sends the statements.
  package enum Caller: Sendable, Hashable, CaseIterable {
    /// The role that queries run under (`--database`, `migrate --server-role`).
    case reader
    /// The role that mutations, background tasks and the outbox run under (`--writer-database`,
    /// `migrate --writer-role`).
    case writer
    /// The owner of the graph, who runs `migrate`, `seed`, `session`, `user`, `verify` and `explain`.
    case owner
  }

  package enum Form: Sendable, Hashable {
    /// A function, with the types of its arguments as PostgreSQL names them.
    case function(_ arguments: [String])
    /// A table or view, with the columns that are read.
    case relation(_ columns: [String])
  }

  /// A setting of a server that makes an entry required.
  package enum Feature: String, Sendable, CaseIterable {
    case photos = "--photos"
    case outbox = "--outbox"
  }

  package let name: String
  package let form: Form
  package let callers: [Caller]
  /// The feature that cannot be without it, or nil if the database need not have it.
  package let requiredBy: Feature?
  /// The purpose: a clause that begins with a verb in lower case.
  package let use: String
  /// The consequence if it is missing or the caller may not use it: a clause that begins in lower
  /// case.
  package let consequence: String

  fileprivate init(
    _ name: String, _ form: Form, _ callers: [Caller], requiredBy: Feature? = nil,
    use: String, _ consequence: String
  ) {
    self.name = name
    self.form = form
    self.callers = callers
    self.requiredBy = requiredBy
    self.use = use
    self.consequence = consequence
  }

  package var description: String { name }

  /// The name as messages show it: `photo_audience(bigint, text)`, `live_source`.
  package var signature: String {
    switch form {
    case .function(let arguments): "\(name)(\(arguments.joined(separator: ", ")))"
    case .relation: name
    }
  }
}

/// The contract between the program and a graph: everything of a database that a statement of the
/// program itself names, the role that sends the statement, and the consequence if it is missing.
///
/// Statements of operations are not part of it: those name what the schema's directives name. A
/// role is granted what is listed here for it (`ServerRole`), and the start compares the database
/// with the list (`RoleCheck`). `ProvidedContract` says which entries a database has.
package enum GraphContract {
  // MARK: Who asks

  package static let viewerOfSession = ContractEntry(
    "viewer_of_session", .function(["bytea"]), [.reader],
    use:
      "finds the user of a session by the SHA-256 of its token, and whether its use is to be noted",
    "no session token is accepted")
  package static let noteSession = ContractEntry(
    "note_session", .function(["bytea"]), [.reader],
    use: "extends a session that is used",
    "sessions are not extended by their use")
  package static let restOfSession = ContractEntry(
    "rest_of_session", .function(["bytea"]), [.reader],
    use: "finds how long a session lasts, for sockets and streams that end with it",
    "sockets and streams do not end with their session")
  package static let viewerOfToken = ContractEntry(
    "viewer_of_token", .function(["text", "text"]), [.reader],
    use: "finds the user that a signed token stands for",
    "signed tokens stand for their claims only, and `:viewer` is a number made of them")

  package static let sessionNamed = ContractEntry(
    "session_named", .function(["bytea"]), [.reader],
    use: "finds the session of a request, for the device that it is on",
    "a device cannot be told from others")
  package static let tokenSeal = ContractEntry(
    "token_seal", .function(["bigint", "bytea"]), [.reader],
    use: "signs and verifies sync tokens",
    "sync tokens can neither be made nor read")

  // MARK: Mutations

  package static let claim = ContractEntry(
    "sociograph_claim", .function(["bigint", "text", "bytea"]), [.writer],
    use: "claims an idempotency key before a mutation runs",
    "mutations with once: true fail")
  package static let keep = ContractEntry(
    "sociograph_keep", .function(["bigint", "text", "bytea", "bigint", "bytea"]), [.writer],
    use: "keeps the response of a mutation under its idempotency key",
    "mutations with once: true fail")
  package static let replay = ContractEntry(
    "sociograph_replay", .function(["bigint", "text", "bigint"]), [.writer],
    use: "finds the response of a mutation that is repeated",
    "a mutation with once: true that is sent again fails")
  package static let constraintError = ContractEntry(
    "constraint_error", .relation(["table_name", "constraint_name", "code", "argument"]),
    [.writer],
    use: "maps constraints to the error codes of users",
    "a violated constraint is an internal error, not a user error")

  package static let wordedRefusals = ContractEntry(
    "worded_refusals", .function(["jsonb"]), [.owner],
    use: "words the messages of refused mutations in the language of the request",
    "messages are those of the schema's codes")

  // MARK: Photos

  package static let noteUpload = ContractEntry(
    "note_upload", .function(["bigint", "jsonb"]), [.writer], requiredBy: .photos,
    use: "records an uploaded photo",
    "POST /photos fails")
  package static let takeUpload = ContractEntry(
    "take_upload", .function(["bigint", "jsonb"]), [.writer],
    use: "makes an uploaded photo of a request's file, and gives its ID",
    "requests with files fail")
  package static let photoAudience = ContractEntry(
    "photo_audience", .function(["bigint", "text"]), [.reader], requiredBy: .photos,
    use: "decides who may see a photo",
    "GET /photos/... fails")
  package static let unknownUploads = ContractEntry(
    "unknown_uploads", .function(["text[]"]), [.writer],
    use: "finds the files of photos that nobody uses, which are removed",
    "files of unused photos are never removed")

  // MARK: Events

  package static let newsSince = ContractEntry(
    "news_since", .function(["pg_snapshot"]), [.reader],
    use: "reads what was committed since a snapshot, for subscriptions and live queries",
    "subscriptions and live queries receive nothing")
  package static let liveSource = ContractEntry(
    "live_source", .relation(["relation", "attribute", "topics", "tags", "is_node", "is_own"]),
    [.reader],
    use: "says how changes of a table are reported, for live queries",
    "queries cannot be live")

  // MARK: Tasks and the outbox

  package static let tasks = ContractEntry(
    "sociograph_tasks", .function([]), [.writer],
    use: "lists the background tasks",
    "no background task runs")
  package static let runTask = ContractEntry(
    "sociograph_run_task", .function(["text", "boolean"]), [.writer],
    use: "runs a background task, one server at a time",
    "no background task runs")
  package static let backgroundTask = ContractEntry(
    "background_task", .relation(["task", "period"]), [.owner],
    use: "lists the background tasks of the graph, with their periods",
    "no background task of the graph runs")
  package static let outboxTake = ContractEntry(
    "outbox_take", .function(["interval"]), [.writer], requiredBy: .outbox,
    use: "takes messages to be delivered",
    "the outbox is not delivered")
  package static let outboxEnd = ContractEntry(
    "outbox_end", .function(["bigint", "boolean", "boolean", "boolean"]), [.writer],
    requiredBy: .outbox,
    use: "records the delivery of a message, or its failure",
    "delivered entries of the outbox are delivered again")

  package static let unsubscribe = ContractEntry(
    "unsubscribe", .function(["text", "text", "boolean"]), [.writer],
    use: "ends mails about notifications by the link in them",
    "/unsubscribe/... fails")

  // MARK: What the program keeps

  package static let secret = ContractEntry(
    "sociograph_secret", .relation(["secret"]), [.reader],
    use: "signs cursors",
    "cursors are valid for one process only")
  package static let migration = ContractEntry(
    "sociograph_migration", .relation(["name", "sha256", "breaking"]), [.reader],
    use: "compares the migrations that were applied with the files",
    "the start cannot tell which migrations were applied")
  package static let functions = ContractEntry(
    "sociograph_functions", .relation(["sha256", "files", "objects", "applied_at"]), [.reader],
    use: "compares the functions in force with the files",
    "the start cannot tell which functions are in force")
  package static let seed = ContractEntry(
    "sociograph_seed", .relation(["finished_at", "empty_tables"]), [.owner],
    use: "continues demo data that was interrupted",
    "demo data that was interrupted is not continued")

  // MARK: Commands of the owner

  package static let withheld = ContractEntry(
    "withheld", .relation(["relation", "attribute"]), [.owner],
    use: "names the tables and columns that no role that serves may read",
    "the roles that serve may read every table, secrets included")
  package static let viewerNamed = ContractEntry(
    "viewer_named", .function(["text"]), [.owner],
    use: "finds a user by name, for `session create` and `explain --as`",
    "sociograph session create and explain --as find no user")
  package static let createSession = ContractEntry(
    "create_session", .function(["bigint", "bytea", "text"]), [.owner],
    use: "creates a session, for `session create`",
    "sociograph session create fails")
  package static let someViewers = ContractEntry(
    "some_viewers", .function(["int"]), [.owner],
    use: "selects users to load a server as, for `load --people`",
    "sociograph load --people finds no users")
  package static let endSession = ContractEntry(
    "end_session", .function(["bytea"]), [.owner],
    use: "ends a session, for `load --people`",
    "the sessions of sociograph load --people last until they expire")
  package static let publicURL = ContractEntry(
    "public_url", .function(["text"]), [.owner],
    use: "sets the base URL of links",
    "the graph makes no links")
  package static let changeRoles = ContractEntry(
    "change_roles", .function(["text", "text[]", "text[]"]), [.owner],
    use: "changes a user's roles, for `user role`",
    "sociograph user role fails")
  package static let afterFunctions = ContractEntry(
    "after_functions", .function([]), [.owner],
    use: "creates what depends on all files of functions, after `migrate` has applied them",
    "nothing is made of all files of functions together")

  package static let all = [
    viewerOfSession, noteSession, restOfSession, viewerOfToken, tokenSeal, sessionNamed,
    claim, keep, replay, constraintError, wordedRefusals,
    noteUpload, takeUpload, photoAudience, unknownUploads,
    newsSince, liveSource,
    tasks, runTask, backgroundTask, outboxTake, outboxEnd, unsubscribe,
    secret, migration, functions, seed,
    withheld, viewerNamed, createSession, someViewers, endSession, publicURL,
    changeRoles, afterFunctions,
  ]

  /// The functions that only statements of operations name: the graph's own reads call them, with
  /// their owner's privileges.
  package static let ofReads = [tokenSeal, sessionNamed]

  package static func entries(for caller: ContractEntry.Caller) -> [ContractEntry] {
    all.filter { $0.callers.contains(caller) }
  }
}
