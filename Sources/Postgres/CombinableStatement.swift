import SQL

/// A statement that reads, whose executions may be put together when several come at once.
///
/// Its text is a `SELECT` of one column without a `FROM`, so that it gives one row, and casts each
/// parameter in place (`$1::bigint`). The combined text selects the same from a set with a row for
/// each execution, the parameters being columns of it:
///
///     SELECT ROW(...), position
///     FROM unnest($1::bigint[], ...) WITH ORDINALITY AS combined_executions (p1, ..., position)
///
/// PostgreSQL then starts and ends one execution, plans staying as they are: where the text alone
/// has parameters, the combined one has parameters of its sub-selects. Belongs to one loop.
package final class CombinableStatement {
  package let alone: PostgresStatement
  private(set) lazy var combined: CombinedStatement? = CombinedStatement(alone)
  /// Since it is known; stops counting where it says no more.
  var executionCount = 0
  /// Combining it failed, or was no gain.
  var isUncombinable = false
  /// The executions that came in this turn of the loop.
  var held: [StatementExecution] = []

  package init(_ text: String, parameterCount: Int) {
    alone = PostgresStatement(text, parameterCount: parameterCount)
  }
}

/// A statement for any number of executions of another one.
struct CombinedStatement {
  let statement: PostgresStatement
  let types: [CombinedParameterType]

  /// Nil when a parameter's type cannot be told or its values cannot be put in an array.
  init?(_ alone: PostgresStatement) {
    guard alone.parameterCount > 0 else { return nil }
    let mentions = SQLParameter.mentions(in: alone.text)
    var known: [CombinedParameterType?] = Array(repeating: nil, count: alone.parameterCount)
    for mention in mentions {
      guard mention.number <= known.count, let cast = mention.cast,
        let type = CombinedParameterType(cast),
        known[mention.number - 1].map({ $0 == type }) ?? true
      else { return nil }
      known[mention.number - 1] = type
    }
    types = known.compactMap(\.self)
    guard types.count == known.count else { return nil }
    statement = PostgresStatement(
      Self.text(alone.text, mentions, types),
      parameterCount: types.reduce(0) { $0 + $1.parameterCount })
  }

  private static func text(
    _ alone: String, _ mentions: [SQLParameter], _ types: [CombinedParameterType]
  ) -> String {
    let bytes = Array(alone.utf8)
    var text: [UInt8] = []
    var copied = 0
    for mention in mentions {
      text += bytes[copied..<mention.range.lowerBound]
      text += "combined_executions.p\(mention.number)".utf8
      copied = mention.range.upperBound
    }
    text += bytes[copied...]
    var number = 0
    let next = { (type: String) in
      number += 1
      return "$\(number)::\(type)[]"
    }
    var values: [String] = []
    var arguments: [String] = []
    var columns: [String] = []
    for (index, type) in types.enumerated() {
      let column = "p\(index + 1)"
      if type.isArray {
        // All arrays stand in one, one after the other; an execution has a part of it.
        values.append("(\(next(type.element)))[e.from\(index + 1):e.to\(index + 1)] AS \(column)")
        arguments += [next("int4"), next("int4")]
        columns += ["from\(index + 1)", "to\(index + 1)"]
      } else {
        values.append("e.\(column)")
        arguments.append(next(type.element))
        columns.append(column)
      }
    }
    // OFFSET 0: the parts are cut once for each execution, not at each mention.
    return String(decoding: text, as: UTF8.self) + """
      , combined_executions.position
      FROM (SELECT e.position, \(values.joined(separator: ", "))
        FROM unnest(\(arguments.joined(separator: ", "))) WITH ORDINALITY
          AS e(\((columns + ["position"]).joined(separator: ", ")))
        OFFSET 0) AS combined_executions
      """
  }
}

/// A type whose binary values can be elements of an array, or an array of such.
struct CombinedParameterType: Hashable {
  /// As it is written in casts.
  let element: String
  let type: PostgresType
  let isArray: Bool

  init?(_ cast: String) {
    isArray = cast.hasSuffix("[]")
    element = isArray ? String(cast.dropLast(2)) : cast
    guard let type = Self.types[element] else { return nil }
    self.type = type
  }

  /// How many the combined statement has for one.
  var parameterCount: Int { isArray ? 3 : 1 }

  private static let types: [String: PostgresType] = [
    "bigint": .int8, "int4": .int4, "float8": .float8, "text": .text, "bool": .bool,
    "timestamptz": .timestamptz, "date": .date,
  ]
}
