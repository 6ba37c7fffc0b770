import GraphQLLanguage

/// Finds input objects for which no finite value exists, because of `@oneOf`.
///
/// A `@oneOf` type needs one field with a finite value, any other type all of its non-null fields. A
/// list may be empty, and what is nullable may be null. Working draft of GraphQL since 2026 (proposal
/// 1211). Cycles of non-null fields alone are reported by `InputCycles`, as by every edition.
///
/// Finite types are found backwards from those that need no other: O(fields).
struct FiniteInputs {
  private struct Need {
    let field: Int
    let type: Int
  }

  private let schema: Schema
  private let draft: TypeSystemDraft
  /// What each type needs of other input objects, by the type's index.
  private let needs: [[Need]]
  private let isOneOf: [Bool]

  init(_ schema: Schema, _ draft: TypeSystemDraft) {
    self.schema = schema
    self.draft = draft
    isOneOf = schema.types.map {
      if case .inputObject(_, isOneOf: true) = $0.kind { true } else { false }
    }
    // Most schemas have none that needs a look.
    guard isOneOf.contains(true) else {
      needs = []
      return
    }
    needs = schema.types.map { type in
      guard case .inputObject(let fields, let isOneOf) = type.kind else { return [] }
      return fields.enumerated().compactMap { index, field in
        guard let target = Self.target(of: field.type, isOneOf: isOneOf),
          case .inputObject = schema[target].kind
        else { return nil }
        return Need(field: index, type: Int(target.index))
      }
    }
  }

  /// The type whose value a field needs to have one.
  private static func target(of type: TypeReference, isOneOf: Bool) -> TypeID? {
    switch type {
    case .named(let id): isOneOf ? id : nil
    case .nonNull(.named(let id)): id
    case .nonNull, .list: nil
    }
  }

  func check(_ validator: inout TypeSystemValidator) {
    guard !needs.isEmpty else { return }
    let isFinite = finite()
    var visited: Set<Int> = []
    for type in schema.types.indices where !isFinite[type] && !visited.contains(type) {
      report(from: type, isFinite, &visited, &validator)
    }
  }

  private func finite() -> [Bool] {
    var dependents = [[Int]](repeating: [], count: needs.count)
    var missing = needs.map(\.count)
    for (type, needs) in needs.enumerated() {
      for need in needs { dependents[need.type].append(type) }
    }
    var isFinite = needs.indices.map { type in
      guard case .inputObject(let fields, let isOneOf) = schema.types[type].kind else {
        return true
      }
      // A type without fields is wrong for another reason.
      return isOneOf ? fields.isEmpty || needs[type].count < fields.count : missing[type] == 0
    }
    var found = isFinite.indices.filter { isFinite[$0] }
    while let type = found.popLast() {
      for dependent in dependents[type] where !isFinite[dependent] {
        missing[dependent] -= 1
        guard isOneOf[dependent] || missing[dependent] == 0 else { continue }
        isFinite[dependent] = true
        found.append(dependent)
      }
    }
    return isFinite
  }

  /// Reports the cycles that are reached from a type, depth first with an explicit stack.
  private func report(
    from root: Int, _ isFinite: [Bool], _ visited: inout Set<Int>,
    _ validator: inout TypeSystemValidator
  ) {
    var stack = [(type: root, next: 0)]
    var path: [(type: Int, field: Int)] = []
    var depths = [root: 0]
    visited.insert(root)
    while let (type, next) = stack.last {
      guard next < needs[type].count, !validator.findings.isFull else {
        depths[type] = nil
        stack.removeLast()
        if !path.isEmpty { path.removeLast() }
        continue
      }
      stack[stack.count - 1].next += 1
      let need = needs[type][next]
      if isFinite[need.type] { continue }
      path.append((type, need.field))
      if let depth = depths[need.type] {
        report(need.type, path[depth...], &validator)
        path.removeLast()
      } else if visited.insert(need.type).inserted {
        depths[need.type] = path.count
        stack.append((need.type, 0))
      } else {
        path.removeLast()
      }
    }
  }

  private func report(
    _ type: Int, _ path: ArraySlice<(type: Int, field: Int)>,
    _ validator: inout TypeSystemValidator
  ) {
    guard path.contains(where: { isOneOf[$0.type] }) else { return }
    let fields = path.map { draft.types[$0.type].inputs[$0.field] }
    let names = zip(path, fields).map { "\(schema.types[$0.type].name).\($1.name.text)" }
    validator.report(
      "Input Object \(schema.types[type].name) cannot be provided a finite value because it "
        + "references itself through fields: \(names.joined(separator: ", ")).",
      at: fields.map(\.position))
  }
}
