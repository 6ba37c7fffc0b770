import GraphQLPlanning
import GraphQLResponse
import GraphQLSchema
import Postgres
import SQL

/// A value of a request that PostgreSQL reads from text.
///
/// If a statement fails over a value, PostgreSQL does not say which of them it was. Each is then asked
/// for alone, by a statement whose text depends on the type only.
struct GivenText {
  /// The number of values that are asked for at most.
  static let maximumCount = 256

  let text: String
  /// The type that it is read as, with its modifier: `numeric(6,2)`.
  let type: String
  /// Whether the statement casts each element of an array, not the text of the whole.
  let isCastByElement: Bool
  let source: InputSource
  let place: InputPlace?
  /// The path in the arguments of a mutation's field, if the value is one of a row.
  var path: [String]?

  var question: SQLStatement {
    let parameter = SQLFragment(SQLParameter(ordinal: 0, type: SQLType("text")))
    let elements: SQLFragment = isCastByElement ? "::text[]" : ""
    return ("SELECT (\(parameter))\(elements)::\(name: type) IS NULL" as SQLFragment).statement()
  }

  var parameters: PostgresParameters {
    var parameters = PostgresParameters()
    parameters.append(text)
    return parameters
  }

  /// Whether its length is not one of its type. A cast would cut it off or fill it up, and tell nothing.
  var hasWrongLength: Bool {
    guard
      let match = type.wholeMatch(
        of: #/(character varying|character|bit varying|bit)\((\d+)\)((?:\[\])*)/#),
      let limit = Int(match.2)
    else { return false }
    func isWrong(_ text: some StringProtocol) -> Bool {
      match.1 == "bit" ? text.utf8.count != limit : Self.isLonger(String(text), than: limit)
    }
    guard !match.3.isEmpty else { return isWrong(text) }
    // The elements of an array, of which those with a comma count as several.
    return text.dropFirst().dropLast().split(separator: ",").contains { element in
      isWrong(element.filter { $0 != "\"" && $0 != "{" && $0 != "}" }) && element != "NULL"
    }
  }

  private static func isLonger(_ text: String, than limit: Int) -> Bool {
    var scalars = text.unicodeScalars[...]
    while let last = scalars.last, last == " " { scalars.removeLast() }
    return scalars.count > limit
  }

  /// Why it is refused, in the words that go behind the name of its input.
  func problem(_ sqlState: String) -> String {
    let shown = "\"\(text.count > 40 ? text.prefix(40) + "..." : text[...])\""
    var type = type
    for (long, short) in [
      ("character varying", "varchar"), ("character(", "char("),
      ("timestamp without time zone", "timestamp"), ("timestamp with time zone", "timestamptz"),
    ] { type = type.replacing(long, with: short) }
    switch sqlState {
    case "22001": return "\(shown) is too long for \(type)."
    case "22026": return "\(shown) does not have the length of \(type)."
    case "22003", "22008", "22015": return "\(shown) is out of the range of \(type)."
    default: return "\(shown) is not a value of \(type)."
    }
  }
}

extension PostgresError {
  /// Whether a value that the client gave may be the reason. Extensions report theirs as internal
  /// errors, and types that name objects as an object that is missing; what is wrong with the statement
  /// itself has a place in its text. A syntax error has one also in a value, such as that of a type.
  var mayBeOfValue: Bool {
    switch kind {
    case .invalidValue, .invalidEncoding: true
    case .other:
      (position == nil || sqlState == "42601") && !isInFunction
        && ["0A", "3F", "42", "54", "XX"].contains(sqlState.prefix(2))
    case .unavailable, .lost, .overloaded, .timeout, .retry, .lock, .readOnly, .staleStatement,
      .aborted, .userRaised, .constraint, .forbidden:
      false
    }
  }

  /// Whether a function or trigger raised it by `RAISE`.
  var isRaised: Bool {
    switch kind {
    case .other, .forbidden, .constraint, .invalidValue:
      sqlState == "P0001" || routine == "exec_stmt_raise"
    case .unavailable, .lost, .overloaded, .timeout, .retry, .lock, .readOnly, .staleStatement,
      .aborted, .userRaised, .invalidEncoding:
      false
    }
  }
}

extension ParameterBinder {
  /// Returns the values that a statement casts to the types of its parameters.
  func givenTexts(_ parameters: [PlanParameter], _ places: [InputPlace?]) -> [GivenText] {
    parameters.enumerated().compactMap { index, parameter in
      guard case .input(let source, let type) = parameter, let cast = type.castType,
        let text = text(of: source, type)
      else { return nil }
      return GivenText(
        text: text, type: cast.description, isCastByElement: false, source: source,
        place: places.indices.contains(index) ? places[index] : nil)
    }
  }

  /// Returns the values of rows that are written, as their columns' types read them.
  ///
  /// - Parameter columnType: returns the type of a column with its modifier.
  func givenTexts(
    _ rows: [WrittenRow], columnType: (_ table: String, _ column: String) -> String?
  ) -> [GivenText] {
    rows.flatMap { row in
      row.values.compactMap { value -> GivenText? in
        guard value.type.isReadFromText,
          let type = columnType(row.table, value.column) ?? value.type.castType?.description,
          let text = text(of: value.source, value.type)
        else { return nil }
        return GivenText(
          text: text, type: type, isCastByElement: value.type.isArray, source: value.source,
          place: value.place,
          path: row.path + [value.member])
      }
    }
  }

  /// Returns the value as text; nil for null, and for one that is not of the type.
  func text(of source: InputSource, _ type: ParameterType) -> String? {
    (try? text(of: value(of: source), type)) ?? nil
  }

  /// Returns why a value cannot be a parameter of the type; nil if it can.
  func problem(of source: InputSource, _ type: ParameterType) -> InputProblem? {
    var parameters = PostgresParameters()
    do throws(InputProblem) {
      try append(source, type, to: &parameters)
      return nil
    } catch {
      return error
    }
  }
}

extension ParameterType {
  /// Whether PostgreSQL has the last word on a value: instants and dates are read by the server.
  var isReadFromText: Bool {
    switch self {
    case .int4, .float8, .text, .numeric, .named, .document: true
    case .array(let element): element.isReadFromText
    case .id, .anyID, .pattern, .boolean, .timestamptz, .instant, .date, .json: false
    }
  }

  var isArray: Bool { if case .array = self { true } else { false } }

  /// Whether PostgreSQL writes a value as it was given.
  var isShownAsGiven: Bool { self == .text || self == .int4 }
}
