import GraphQLSchema

/// The rules for the mutations of a schema that involve more than one directive.
struct CallRules {
  let schema: Schema
  /// The types by index.
  let types: [TypeStorage?]

  /// The problems, one line for each, which names its coordinate.
  var problems: [String] {
    guard let root = schema.mutationType, let mutation = types[Int(root.index)] else { return [] }
    var problems: [String] = []
    var known: Set<TypeID> = []
    for field in schema[root].fields {
      guard let storage = mutation.fields[field.name], case .call(let call) = storage.kind else {
        continue
      }
      if let write = call.write {
        problems += write.problems.map { "\(storage.coordinate): \($0)" }
      } else if call.functionName == nil {
        problems.append(
          "\(storage.coordinate): @call needs a function with its arguments in parentheses.")
      }
      if call.isOnce, call.makesSecret, call.again == nil {
        problems.append(
          "\(storage.coordinate): its response is not stored, so @call needs again, to say what a "
            + "repeated request does.")
      }
      if known.insert(field.type.namedType).inserted {
        problems += self.problems(of: field.type.namedType)
      }
    }
    return problems
  }

  private func problems(of payload: TypeID) -> [String] {
    let name = schema[payload].name
    guard case .object = schema[payload].kind, let storage = types[Int(payload.index)] else {
      return ["\(name): a mutation with @call returns an object."]
    }
    var problems: [String] = []
    var hasUserErrors = false
    for field in schema[payload].fields {
      guard let field = storage.fields[field.name] else { continue }
      if case .userErrors = field.kind {
        hasUserErrors = true
      } else if field.refusedValue(in: schema) == nil {
        problems.append(
          "\(field.coordinate): it has no value when the mutation is refused; let it be nullable, "
            + "a list or Boolean!.")
      }
    }
    if !hasUserErrors {
      problems.append("\(name): it cannot report user errors; give a field @userErrors.")
    }
    return problems
  }
}
