import JSON

/// An operation as the generator makes it: a tree that can be printed for the server, answered by
/// `NaiveGraph` and cut down to what shows a difference.
struct RandomOperation {
  var viewer: String?
  var selections: [RandomSelection]
  var fragments: [RandomFragment] = []
  var variables: [RandomVariable] = []
}

struct RandomVariable {
  let name: String
  let type: String
  let defaultValue: RandomInput?
  /// The value; nil if the request omits it.
  let value: JSONValue?
}

struct RandomFragment {
  let name: String
  let condition: String
  var selections: [RandomSelection]
}

indirect enum RandomSelection {
  case field(RandomField)
  case inline(condition: String?, RandomDirectives, [RandomSelection])
  case spread(String, RandomDirectives)
}

struct RandomField {
  let alias: String?
  let name: String
  var arguments: [(name: String, value: RandomInput)] = []
  var directives = RandomDirectives()
  var selections: [RandomSelection] = []

  var responseName: String { alias ?? name }
}

struct RandomDirectives {
  var skip: RandomInput?
  var include: RandomInput?
}

/// A value as written in a document.
indirect enum RandomInput {
  case constant(JSONValue)
  case enumeration(String)
  case variable(String)
  case list([RandomInput])
  case object([(name: String, value: RandomInput)])

  var text: String {
    switch self {
    case .constant(let value): value.description
    case .enumeration(let name): name
    case .variable(let name): "$" + name
    case .list(let elements): "[" + elements.map(\.text).joined(separator: ", ") + "]"
    case .object(let fields):
      "{" + fields.map { "\($0.name): \($0.value.text)" }.joined(separator: ", ") + "}"
    }
  }

  var usedVariables: Set<String> {
    switch self {
    case .constant, .enumeration: []
    case .variable(let name): [name]
    case .list(let elements): elements.reduce(into: []) { $0.formUnion($1.usedVariables) }
    case .object(let fields): fields.reduce(into: []) { $0.formUnion($1.value.usedVariables) }
    }
  }
}

// MARK: - Printing

extension RandomOperation {
  /// The document, with the fragments and variables that are used.
  var text: String {
    let used = usedFragments
    let declared = usedVariables
    var heading = "query"
    let definitions = variables.filter { declared.contains($0.name) }.map { variable in
      "$\(variable.name): \(variable.type)"
        + (variable.defaultValue.map { " = \($0.text)" } ?? "")
    }
    if !definitions.isEmpty { heading += "(" + definitions.joined(separator: ", ") + ")" }
    var output = heading + " " + Self.block(selections, "") + "\n"
    for fragment in fragments where used.contains(fragment.name) {
      output += "fragment \(fragment.name) on \(fragment.condition) "
      output += Self.block(fragment.selections, "") + "\n"
    }
    return output
  }

  /// The variables that are sent: the values of those in use.
  var variableValues: JSONValue {
    let declared = usedVariables
    return .object(
      variables.filter { declared.contains($0.name) }.compactMap { variable in
        variable.value.map { JSONValue.Member(name: variable.name, value: $0) }
      })
  }

  private static func block(_ selections: [RandomSelection], _ indent: String) -> String {
    var output = "{\n"
    for selection in selections {
      output += indent + "  "
      switch selection {
      case .field(let field):
        output += (field.alias.map { $0 + ": " } ?? "") + field.name
        if !field.arguments.isEmpty {
          output +=
            "(" + field.arguments.map { "\($0.name): \($0.value.text)" }.joined(separator: ", ")
            + ")"
        }
        output += field.directives.text
        if !field.selections.isEmpty { output += " " + block(field.selections, indent + "  ") }
      case .inline(let condition, let directives, let selections):
        output += "..." + (condition.map { " on \($0)" } ?? "") + directives.text + " "
        output += block(selections, indent + "  ")
      case .spread(let name, let directives):
        output += "...\(name)" + directives.text
      }
      output += "\n"
    }
    return output + indent + "}"
  }

  // MARK: What is used

  var usedFragments: Set<String> {
    var used: Set<String> = []
    func visit(_ selections: [RandomSelection]) {
      for selection in selections {
        switch selection {
        case .field(let field): visit(field.selections)
        case .inline(_, _, let selections): visit(selections)
        case .spread(let name, _):
          if used.insert(name).inserted, let fragment = fragments.first(where: { $0.name == name })
          {
            visit(fragment.selections)
          }
        }
      }
    }
    visit(selections)
    return used
  }

  private var usedVariables: Set<String> {
    var used: Set<String> = []
    func visit(_ selections: [RandomSelection]) {
      for selection in selections {
        switch selection {
        case .field(let field):
          for argument in field.arguments { used.formUnion(argument.value.usedVariables) }
          used.formUnion(field.directives.usedVariables)
          visit(field.selections)
        case .inline(_, let directives, let selections):
          used.formUnion(directives.usedVariables)
          visit(selections)
        case .spread(_, let directives): used.formUnion(directives.usedVariables)
        }
      }
    }
    visit(selections)
    let names = usedFragments
    for fragment in fragments where names.contains(fragment.name) { visit(fragment.selections) }
    return used
  }
}

extension RandomDirectives {
  fileprivate var text: String {
    (skip.map { " @skip(if: \($0.text))" } ?? "")
      + (include.map { " @include(if: \($0.text))" } ?? "")
  }

  fileprivate var usedVariables: Set<String> {
    (skip?.usedVariables ?? []).union(include?.usedVariables ?? [])
  }
}

// MARK: - Cutting down

extension RandomOperation {
  /// Operations with one thing less, the largest cuts first. Some may be invalid; those differ in
  /// another way and are left.
  var reductions: [RandomOperation] {
    var reductions: [RandomOperation] = []
    for cut in Self.cuts(selections, root: true) {
      var operation = self
      operation.selections = cut
      reductions.append(operation)
    }
    let used = usedFragments
    for (index, fragment) in fragments.enumerated() where used.contains(fragment.name) {
      for cut in Self.cuts(fragment.selections, root: true) {
        var operation = self
        operation.fragments[index].selections = cut
        reductions.append(operation)
      }
    }
    return reductions
  }

  /// All ways to drop one selection, one argument or one directive, without leaving a block empty.
  private static func cuts(_ selections: [RandomSelection], root: Bool) -> [[RandomSelection]] {
    var results: [[RandomSelection]] = []
    if selections.count > 1 {
      for index in selections.indices {
        var fewer = selections
        fewer.remove(at: index)
        results.append(fewer)
      }
    }
    for (index, selection) in selections.enumerated() {
      func replaced(_ new: RandomSelection) -> [RandomSelection] {
        var copy = selections
        copy[index] = new
        return copy
      }
      switch selection {
      case .field(let field):
        for position in field.arguments.indices {
          var fewer = field
          fewer.arguments.remove(at: position)
          results.append(replaced(.field(fewer)))
        }
        if field.directives.skip != nil || field.directives.include != nil {
          var fewer = field
          fewer.directives = RandomDirectives()
          results.append(replaced(.field(fewer)))
        }
        for cut in cuts(field.selections, root: false) {
          var fewer = field
          fewer.selections = cut
          results.append(replaced(.field(fewer)))
        }
      case .inline(let condition, let directives, let inner):
        for cut in cuts(inner, root: false) {
          results.append(replaced(.inline(condition: condition, directives, cut)))
        }
        if directives.skip != nil || directives.include != nil {
          results.append(
            replaced(.inline(condition: condition, RandomDirectives(), inner)))
        }
      case .spread: break
      }
    }
    return results
  }
}
