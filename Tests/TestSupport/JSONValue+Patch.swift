import JSON

/// Patches of RFC 6902 applied by the letter, as a client does: what names something that is not there is an error.
extension JSONValue {
  package struct MalformedPatch: Error { let operation: JSONValue }

  package func patched(by patch: JSONValue) throws -> JSONValue {
    guard case .array(let operations) = patch else { throw MalformedPatch(operation: patch) }
    var value = self
    for operation in operations {
      guard case .string(let path)? = operation["path"], case .string(let name)? = operation["op"]
      else { throw MalformedPatch(operation: operation) }
      let steps = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map {
        String($0).replacing("~1", with: "/").replacing("~0", with: "~")
      }
      value = try value.changed(by: operation, name, at: steps[...])
    }
    return value
  }

  private func changed(
    by operation: JSONValue, _ name: String, at steps: ArraySlice<String>
  ) throws -> JSONValue {
    guard let step = steps.first else {
      guard name == "replace", let new = operation["value"] else {
        throw MalformedPatch(operation: operation)
      }
      return new
    }
    let isLast = steps.count == 1
    let rest = steps.dropFirst()
    switch self {
    case .object(let members):
      // Members come and go only with the whole of their object.
      guard members.contains(where: { $0.isNamed(step) }), !isLast || name == "replace" else {
        throw MalformedPatch(operation: operation)
      }
      return .object(
        try members.map { member in
          guard member.isNamed(step) else { return member }
          return Member(
            name: step, value: try member.value.changed(by: operation, name, at: rest))
        })
    case .array(var elements):
      guard let place = Int(step), place >= 0, "\(place)" == step,
        place < elements.count + (isLast && name == "add" ? 1 : 0)
      else { throw MalformedPatch(operation: operation) }
      if isLast, name == "remove" {
        elements.remove(at: place)
      } else if isLast, name == "add", let new = operation["value"] {
        elements.insert(new, at: place)
      } else {
        elements[place] = try elements[place].changed(by: operation, name, at: rest)
      }
      return .array(elements)
    case .null, .boolean, .number, .string: throw MalformedPatch(operation: operation)
    }
  }
}
