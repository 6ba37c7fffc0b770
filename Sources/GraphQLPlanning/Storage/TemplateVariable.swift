/// The variables of templates that are not arguments. They take precedence over arguments of the
/// same name.
enum TemplateVariable: Hashable {
  /// The signed-in user's ID or 0.
  case viewer
  /// The languages and the application of the request; an argument of this name comes first.
  case locale, app
  /// The SHA-256 of the token of the request's session; NULL without one.
  case sessionHash
  /// A claim of the request's signed token, by its path; an argument of this name comes first.
  case claim([String])
  /// The number of rows that are read of a page, or that a list has at most.
  case limit
  /// The sort key of the cursor that the page starts from, numbered from 1; NULL without one.
  case key(Int)
  /// The number of rows of a page's connection, and that number without filters, as its `count`
  /// defines.
  case totalCount, count
  /// The field's name, as a text.
  case field
  /// The test whether `in` is in its `set`, in the condition of a `@where`.
  case `in`
  /// The result of a mutation's function, or a member of it.
  case result(key: String?)
  /// The tag of a type.
  case tag(String)
  /// The node of the event, in fields of the subscription type.
  case event
  /// The transaction before which all events were delivered, and the one before which all
  /// transactions have ended now, in fields of the subscription type.
  case told, ended

  init?(_ path: [String]) {
    guard let name = path.first else { return nil }
    if path.count == 2, name == "tag" {
      self = .tag(path[1])
      return
    }
    if path.count <= 2, name == "result" {
      self = .result(key: path.count == 2 ? path[1] : nil)
      return
    }
    if path.count > 1, name == "claim" {
      self = .claim(Array(path.dropFirst()))
      return
    }
    guard path.count == 1 else { return nil }
    switch name {
    case "viewer": self = .viewer
    case "locale": self = .locale
    case "app": self = .app
    case "sessionHash": self = .sessionHash
    case "role": self = .claim(["role"])
    case "event": self = .event
    case "told": self = .told
    case "ended": self = .ended
    case "limit": self = .limit
    case "totalCount": self = .totalCount
    case "count": self = .count
    case "field": self = .field
    case "in": self = .in
    default:
      guard name.hasPrefix("key"), let number = Int(name.dropFirst(3)), number > 0 else {
        return nil
      }
      self = .key(number)
    }
  }
}
