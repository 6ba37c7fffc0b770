import GraphQLLanguage
import GraphQLSchema
import SQL

/// The function that a mutation's field calls: `@call`.
package struct CallStorage: Sendable {
  /// A call with its arguments, such as `react(:viewer, :subjectId, :kind)`.
  package let function: SQLTemplate
  /// Repeated with the same key it is not done again, so it has a row among the requests.
  package let isOnce: Bool
  /// Called in place of the function when a request is repeated whose answer is not kept.
  package let again: SQLTemplate?
  /// The member of the function's result with the id of whom it signs in: the payload is theirs to see.
  package let signsIn: String?

  /// The function's name as it is written before the parentheses; nil for anything but a call.
  package var functionName: String? {
    let name = function.source.prefix { $0 != "(" }.filter { $0 != " " }
    return function.source.contains("(") && !name.isEmpty ? name : nil
  }

  /// It knows the session of the request, or begins one: others of the same account may end.
  package var mayEndSessions: Bool {
    makesSecret || function.mentions(variable: "sessionHash")
  }

  /// An answer that holds a secret is nobody's to keep.
  package var makesSecret: Bool {
    function.mentions(variable: "secret") || function.mentions(variable: "secretHash")
  }
}

/// What a payload's field with `@result` is made of, in the words of the other directives.
enum ResultText {
  /// The text that the function's result is handed on as, of the transaction it ran in. Outside of
  /// one, as when a statement is prepared, it is null.
  static let word: SQLFragment = "nullif(current_setting('sociograph.result', true), '')"

  /// The result, or the member of it that `key` names, as a value of a leaf type.
  static func leaf(_ key: String?, _ type: TypeReference, in schema: Schema) -> String {
    "(\(source(key)))::\(sqlType(type, in: schema))"
  }

  /// The id of the object.
  static func id(_ key: String?) -> String { "(\(source(key)))::bigint" }

  /// The ids of objects.
  static let ids = "(:result)::bigint[]"

  private static func source(_ key: String?) -> String { ":result" + (key.map { ".\($0)" } ?? "") }

  static func sqlType(_ type: TypeReference, in schema: Schema) -> String {
    switch type {
    case .nonNull(let inner): return sqlType(inner, in: schema)
    case .list(let item): return sqlType(item, in: schema) + "[]"
    case .named(let id):
      switch schema[id].name {
      case "ID": return "bigint"
      case "Int": return "int4"
      case "Float": return "float8"
      case "Boolean": return "boolean"
      default:
        return schema[id].appliedDirectives.first(named: "scalar")?.string("type") ?? "text"
      }
    }
  }
}

extension CallStorage {
  /// An input object of which no single field is taken: it is in no statement but as one `jsonb`.
  func takesWhole(_ argument: String) -> Bool {
    ([function] + (again.map { [$0] } ?? [])).allSatisfy { template in
      template.variables.allSatisfy { $0.first != argument || $0.count == 1 }
    }
  }
}
