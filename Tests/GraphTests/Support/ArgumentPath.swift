import GraphQLSchema
import JSON

/// The `field` of a user error: the way to the argument at fault.
enum ArgumentPath {
  /// Whether a path leads to an argument of a mutation, or to something in it: a field of an input
  /// object by its name, an element of a list by its place.
  static func names(_ path: [String], of mutation: String, in schema: Schema) -> Bool {
    guard let field = schema.type(named: "Mutation")?.field(named: mutation),
      let argument = path.first.flatMap({ field.argument(named: $0) })
    else { return false }
    var type = argument.type.nullable
    for step in path.dropFirst() {
      switch type {
      case .list(let element):
        guard Int(step) != nil else { return false }
        type = element.nullable
      case .named(let id):
        guard let next = schema[id].inputField(named: step) else { return false }
        type = next.type.nullable
      case .nonNull: return false
      }
    }
    return true
  }

  /// Fails where a refusal of `field`, a mutation with its arguments, names none of them.
  static func check(_ refusals: JSONValue?, of field: String) throws {
    let mutation = String(field.prefix { $0.isLetter || $0.isNumber })
    let schema = try GraphServer.mapping.get().schema
    for refusal in (refusals?.array ?? []).map({ Refusal($0) }) {
      guard let path = refusal.path, !names(path, of: mutation, in: schema) else { continue }
      throw GraphTestFailure("\(mutation) has no argument \(path): \(refusal)")
    }
  }
}
