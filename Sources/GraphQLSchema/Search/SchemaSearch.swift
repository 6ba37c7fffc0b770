import Glibc
import GraphQLLanguage

/// Finds the elements of a schema that a question is about, by the words of names and descriptions.
///
/// Each type, field, input field and enum value is a document of five parts: its name, its
/// description, its arguments with the values that they take, the type of its value, and the type
/// that has it. They are ranked by BM25F (Robertson and Zaragoza, 2009): words that few elements have
/// count more, and words of a name more than those of a description. A field that an interface
/// declares is found there only.
package struct SchemaSearch: Sendable {
  package struct Result: Sendable {
    package let coordinate: SchemaCoordinate
    /// The type of a field or an input field; nil for other elements.
    package let type: String?
    package let description: String?
  }

  /// A part of a document: its weight, and how much its length counts against it.
  private enum Part: Int, CaseIterable {
    case name, text, arguments, type, parent

    var weight: Double {
      switch self {
      case .name: 4
      case .text: 2
      case .arguments, .type: 0.8
      case .parent: 0.6
      }
    }

    var lengthShare: Double {
      switch self {
      case .name, .parent: 0.3
      case .text: 0.5
      case .arguments, .type: 0.7
      }
    }
  }

  private struct Entry: Sendable {
    let result: Result
    /// The weighted frequencies of its words.
    var frequencies: [String: Double] = [:]
    let prior: Double
  }

  private struct Draft {
    let result: Result
    let prior: Double
    var parts: [[String]]
  }

  private static let saturation = 1.2
  private var entries: [Entry] = []
  /// The number of entries that have a word in a part other than their type.
  private var documentCounts: [String: Int] = [:]

  /// - Parameter schema: the schema as clients see it.
  package init(_ schema: Schema) {
    let drafts = Drafts(schema).drafts
    let averages = Part.allCases.map { part in
      let lengths = drafts.map { $0.parts[part.rawValue].count }.filter { $0 > 0 }
      return Double(lengths.reduce(0, +)) / Double(max(lengths.count, 1))
    }
    for draft in drafts {
      var entry = Entry(result: draft.result, prior: draft.prior)
      var words: Set<String> = []
      for part in Part.allCases {
        let found = draft.parts[part.rawValue]
        let average = averages[part.rawValue]
        let share = part.lengthShare
        let length = average > 0 ? 1 - share + share * Double(found.count) / average : 1
        for word in found { entry.frequencies[word, default: 0] += part.weight / length }
        if part != .type { words.formUnion(found) }
      }
      for word in words { documentCounts[word, default: 0] += 1 }
      entries.append(entry)
    }
  }

  /// Returns the elements that fit a question best, the best first.
  package func results(for question: String, limit: Int = 5) -> [Result] {
    let words = Set(SearchWords.words(of: question))
    guard !words.isEmpty else { return [] }
    let count = Double(entries.count)
    var found: [(score: Double, text: String, result: Result)] = []
    for entry in entries {
      var score = 0.0
      var matches = 0
      for word in words {
        guard let frequency = entry.frequencies[word] else { continue }
        let documents = Double(documentCounts[word] ?? 0)
        let rarity = log(1 + (count - documents + 0.5) / (documents + 0.5))
        score += rarity * frequency / (frequency + Self.saturation)
        matches += 1
      }
      guard matches > 0 else { continue }
      let coverage = 0.5 + 0.5 * Double(matches) / Double(words.count)
      found.append(
        (score * entry.prior * coverage, entry.result.coordinate.description, entry.result))
    }
    return found.sorted { $0.score != $1.score ? $0.score > $1.score : $0.text < $1.text }
      .prefix(limit).map(\.result)
  }

  // MARK: - Documents

  /// The documents of a schema, before their words are counted.
  private struct Drafts {
    let schema: Schema
    private(set) var drafts: [Draft] = []

    init(_ schema: Schema) {
      self.schema = schema
      for type in schema.types where !type.isBuiltIn { add(type) }
    }

    private mutating func add(_ type: TypeDefinition) {
      if case .scalar = type.kind { return }
      add(.type(type.name), nil, type.name, type.description, prior: prior(of: type) * 0.8)
      for field in type.fields where !isInherited(field, by: type) {
        add(
          .member(type: type.name, name: field.name), field.type, field.name, field.description,
          arguments: field.arguments.flatMap { words(of: $0, depth: 0) },
          parent: isRoot(type) ? nil : type.name, prior: prior(of: type))
      }
      switch type.kind {
      case .enum(let values):
        for value in values {
          add(
            .member(type: type.name, name: value.name), nil, value.name.lowercased(),
            value.description, parent: type.name, prior: prior(of: type))
        }
      case .inputObject(let inputs, _):
        for input in inputs {
          add(
            .member(type: type.name, name: input.name), input.type, input.name,
            input.description, parent: type.name, prior: prior(of: type))
        }
      case .scalar, .object, .interface, .union: break
      }
    }

    private mutating func add(
      _ coordinate: SchemaCoordinate, _ type: TypeReference?, _ name: String,
      _ description: String?, arguments: [String] = [], parent: String? = nil, prior: Double
    ) {
      var typeWords: [String] = []
      if let named = type.map({ schema[$0.namedType] }), named.builtInScalar == nil {
        typeWords = SearchWords.words(of: "\(named.name) \(named.description ?? "")")
      }
      drafts.append(
        Draft(
          result: Result(
            coordinate: coordinate, type: type.map { schema.text(of: $0) },
            description: description),
          prior: prior,
          parts: [
            SearchWords.words(of: name), SearchWords.words(of: description ?? ""), arguments,
            typeWords, SearchWords.words(of: parent ?? ""),
          ]))
    }

    /// Returns the words of an argument or input field, and of the values that it takes.
    private func words(of input: InputValueDefinition, depth: Int) -> [String] {
      var words = SearchWords.words(of: "\(input.name) \(input.description ?? "")")
      switch schema[input.type.namedType].kind {
      case .enum(let values):
        words += values.flatMap {
          SearchWords.words(of: "\($0.name.lowercased()) \($0.description ?? "")")
        }
      case .inputObject(let inputs, _):
        if depth < 2 { words += inputs.flatMap { self.words(of: $0, depth: depth + 1) } }
      case .scalar, .object, .interface, .union: break
      }
      return words
    }

    private func isInherited(_ field: FieldDefinition, by type: TypeDefinition) -> Bool {
      type.interfaces.contains { schema[$0].field(named: field.name) != nil }
    }

    private func isRoot(_ type: TypeDefinition) -> Bool {
      [schema.queryType, schema.mutationType, schema.subscriptionType].contains(type.id)
    }

    /// Returns how likely an element of a type is the answer: people ask for fields of objects, most
    /// of all where operations begin, and rarely for what only wraps other types.
    private func prior(of type: TypeDefinition) -> Double {
      let kind: Double =
        switch type.kind {
        case .inputObject: 0.5
        case .enum: 0.6
        case .scalar, .object, .interface, .union: 1
        }
      let wraps = ["Payload", "Edge", "Connection"].contains { type.name.hasSuffix($0) }
      let root = isRoot(type) ? type.id == schema.subscriptionType ? 1.04 : 1.3 : 1
      return kind * root * (wraps ? 0.5 : 1)
    }
  }
}
