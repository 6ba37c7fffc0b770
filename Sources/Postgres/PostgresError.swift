import CPostgreSQL

/// Why a statement has no result. For the log in full; clients are given a code chosen by `kind`.
package struct PostgresError: Error, Sendable {
  package let kind: Kind
  /// Five characters, or empty where the server said nothing.
  package let sqlState: String
  package let message: String
  package let detail: String?
  package let hint: String?
  package let table: String?
  /// The constraint that is broken; for a null where none may be, the column.
  package let constraint: String?
  /// The function of the server's source that raised it.
  package let routine: String?
  /// Where in the statement's text, counted in characters from 1.
  package let position: Int?
  /// Whether it happened inside a function or trigger, not in the statement itself.
  package let isInFunction: Bool
  /// How long until it is worth trying again, where that is known.
  package var retryAfter: Duration?

  package enum Kind: Sendable, Equatable {
    /// No connection, or it broke, or the server is stopping, starting or out of resources.
    case unavailable
    /// The connection broke after the statement was sent: whether it was done is not known.
    case lost
    /// The pool's queue is full, or the wait in it took too long. Nothing was sent.
    case overloaded
    /// The statement's or the operation's deadline passed.
    case timeout
    /// A conflict of transactions: the whole transaction may be tried again.
    case retry
    /// A lock was not granted in time.
    case lock
    /// A write on a server or session that only reads.
    case readOnly
    /// A prepared statement no longer fits the tables it reads: prepare it again.
    case staleStatement
    /// Not run, because another statement before the same Sync failed. Only the pool sees it.
    case aborted
    /// Raised by the graph's own functions: class `SG`.
    case userRaised
    /// Text that is no UTF-8 or has a NUL.
    case invalidEncoding
    /// A value that its type does not take.
    case invalidValue
    /// A broken constraint; its name is in `constraint`.
    case constraint
    /// The role may not do this.
    case forbidden
    /// Any other error, such as a mistake in a statement.
    case other
  }

  package init(
    _ kind: Kind, sqlState: String = "", message: String, detail: String? = nil,
    hint: String? = nil, table: String? = nil, constraint: String? = nil, routine: String? = nil,
    position: Int? = nil, isInFunction: Bool = false, retryAfter: Duration? = nil
  ) {
    self.kind = kind
    self.sqlState = sqlState
    self.message = message
    self.detail = detail
    self.hint = hint
    self.table = table
    self.constraint = constraint
    self.routine = routine
    self.position = position
    self.isInFunction = isInFunction
    self.retryAfter = retryAfter
  }

  /// Classes of errors of the server itself: of connections, resources, operators and the system.
  private static let illnesses: Set<Substring> = ["08", "25", "26", "53", "57", "58"]

  /// The one table from SQLSTATE to kind.
  package static func kind(sqlState: String, routine: String?) -> Kind {
    switch sqlState {
    // RAISE may name any code: what says that the server is ill does not come from it.
    case _ where routine == "exec_stmt_raise" && Self.illnesses.contains(sqlState.prefix(2)):
      .other
    case "57P01", "57P02", "57P03", "57P05", "25P03", "58030": .unavailable
    case "57014": .timeout
    case "40001", "40P01": .retry
    case "55P03": .lock
    case "08P01": .other
    case "25006": .readOnly
    case "26000", "42P05": .staleStatement
    case "0A000" where routine == "RevalidateCachedQuery": .staleStatement
    case "22021": .invalidEncoding
    case "42501": .forbidden
    default:
      switch sqlState.prefix(2) {
      case "08", "53": .unavailable
      case "SG": .userRaised
      case "22": .invalidValue
      case "23": .constraint
      default: .other
      }
    }
  }

  /// Creates the error of a failed result.
  init(result: OpaquePointer) {
    func field(_ code: Int) -> String? {
      guard let text = unsafe PQresultErrorField(result, Int32(code)) else { return nil }
      return unsafe String(cString: text)
    }
    let sqlState = field(DIAGNOSTIC_SQLSTATE) ?? ""
    let routine = field(DIAGNOSTIC_FUNCTION)
    let position = field(DIAGNOSTIC_POSITION).flatMap { Int($0) }
    // A syntax error that is nowhere in the statement is one of a value: a tsquery, a jsonpath.
    let isOfValue = sqlState == "42601" && position == nil
    let message =
      unsafe field(DIAGNOSTIC_MESSAGE)
      ?? String(cString: PQresultErrorMessage(result)).trimmingLineEnds
    self.init(
      // libpq itself reports a lost connection without a SQLSTATE.
      sqlState.isEmpty
        ? .unavailable
        : isOfValue ? .invalidValue : Self.kind(sqlState: sqlState, routine: routine),
      sqlState: sqlState, message: message, detail: field(DIAGNOSTIC_DETAIL),
      hint: field(DIAGNOSTIC_HINT), table: field(DIAGNOSTIC_TABLE),
      constraint: field(DIAGNOSTIC_CONSTRAINT) ?? field(DIAGNOSTIC_COLUMN), routine: routine,
      position: position, isInFunction: field(DIAGNOSTIC_CONTEXT).map(Self.isOfFunction) ?? false)
  }

  /// Returns whether a context is that of a function: `PL/pgSQL function f() line 3 at RAISE`. Others
  /// are those of a parameter or of JSON.
  private static func isOfFunction(_ context: String) -> Bool {
    context.split(whereSeparator: \.isNewline).contains {
      $0.hasPrefix("PL/") || $0.hasPrefix("SQL function ")
    }
  }

  /// Creates the error of a connection that failed or broke.
  init(connection: OpaquePointer) {
    // libpq says it in several lines: for each address and way it tried, and what may help.
    var lines: [Substring] = []
    for line in unsafe String(cString: PQerrorMessage(connection)).split(
      whereSeparator: { $0.isNewline || $0 == "\t" })
    where !lines.contains(line) { lines.append(line) }
    let message = lines.reduce(into: "") { text, line in
      let isSentence = line.first?.isUppercase == true || line.hasPrefix("connection to")
      text += (text.isEmpty ? "" : isSentence ? ". " : " ") + line
    }
    self.init(
      .unavailable, message: message.isEmpty ? "The connection was lost." : message)
  }
}

extension PostgresError: CustomStringConvertible {
  package var description: String {
    var text = sqlState.isEmpty ? message : "\(message) (SQLSTATE \(sqlState))"
    if let detail { text += "\nDetail: \(detail)" }
    if let hint { text += "\nHint: \(hint)" }
    return text
  }
}

extension String {
  var trimmingLineEnds: String {
    var text = self[...]
    while let last = text.last, last.isNewline || last == " " { text.removeLast() }
    return String(text)
  }
}
