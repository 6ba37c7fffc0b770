import JSON
import Testing

/// One row of the table: a noun, what makes it, where it is listed, what changes it, and what takes
/// it back.
///
/// In fields and selections, and in the texts of results, `$id` is the node, and other words after
/// `$` are what ``NounStage`` has: `$other`, `$photo`, `$place`.
struct Noun: Sendable, CustomTestStringConvertible {
  enum Role: Sendable { case me, other, staff }

  /// One mutation field that must be done. An ID in its payload is kept under a name.
  struct Act: Sendable {
    let field: String
    var person = Role.me
    /// Names joined by points: `textPost.id`.
    var path: String?
    var name: String?

    init(
      _ field: String, by person: Role = .me, keeping path: String? = nil, as name: String? = nil
    ) {
      (self.field, self.person, self.path, self.name) = (field, person, path, name)
    }
  }

  /// A change, and what is read of the node then.
  struct Change: Sendable {
    let act: Act
    let selection: String
    let result: JSONValue

    init(_ field: String, _ selection: String, _ result: JSONValue, by person: Role = .me) {
      (act, self.selection, self.result) = (Act(field, by: person), selection, result)
    }
  }

  /// Two acts of which each takes the other back, and what is read after each.
  struct Pair: Sendable {
    let act: Act
    let back: Act
    let selection: String
    let done: JSONValue
    let undone: JSONValue

    init(
      _ act: String, _ back: String, _ selection: String, _ done: JSONValue, _ undone: JSONValue,
      by person: Role = .me
    ) {
      (self.act, self.back) = (Act(act, by: person), Act(back, by: person))
      (self.selection, self.done, self.undone) = (selection, done, undone)
    }
  }

  let name: String
  /// The type of the node.
  let type: String
  /// What is there before.
  var before: [Act] = []
  /// What makes the node; what its path leads to is `$id`.
  let create: Act
  /// A query of the viewer, and the path of the nodes in its data.
  var list: (query: String, path: String)?
  var changes: [Change] = []
  var pairs: [Pair] = []
  /// Deletes the node, after which it is not there, and a second time is NOT_FOUND.
  var delete: Act?
  /// Whether the log of changes tells of the node.
  var isLogged = false
  var testDescription: String { name }

  static let all = posts + said + things
}
