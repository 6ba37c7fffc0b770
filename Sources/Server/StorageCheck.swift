import GraphQLLanguage
import GraphQLPlanning
import GraphQLSchema
import Postgres

/// Holds a storage mapping against a live database: a small operation for each field of each type
/// that can be reached from the query root is planned and prepared, without being run.
struct StorageCheck {
  let mapping: StorageMapping

  /// One line per field that does not hold: its coordinate and what PostgreSQL says.
  func run(_ configuration: PostgresConfiguration) throws -> [String] {
    let session = try PostgresSession(configuration)
    var problems: [String] = []
    for probe in StorageProbes(mapping: mapping).all {
      do {
        let document = try Parser.parse(Source(probe.text), limits: .unlimited)
        guard let operation = document.operations.first else { continue }
        let plan = try Planner(mapping: mapping).plan(
          operation, fragments: [:], source: document.source, variables: [])
        guard let statement = plan.statement else { continue }
        try session.execute("PREPARE storage_check AS " + statement)
        try session.execute("DEALLOCATE storage_check")
      } catch let error as PostgresError {
        problems.append("\(probe.coordinate): \(error.message)")
      } catch let error as GraphQLError {
        problems.append("\(probe.coordinate): \(error.message)")
      }
    }
    return problems
  }
}

/// One operation for each field: the shortest way from the query root to a value of its type.
struct StorageProbes {
  struct Probe {
    let coordinate: String
    let text: String
  }

  let mapping: StorageMapping
  private var schema: Schema { mapping.schema }

  var all: [Probe] {
    guard let root = schema.queryType else { return [] }
    // The way to each composite type: text before and after its selections.
    var ways: [TypeID: (String, String)] = [root: ("{ ", " }")]
    var queue = [root]
    var probes: [Probe] = []
    while !queue.isEmpty {
      let type = queue.removeFirst()
      guard let (before, after) = ways[type] else { continue }
      for field in schema[type].fields {
        guard let call = call(field) else { continue }
        let target = field.type.namedType
        let isLeaf = schema[target].isLeaf
        probes.append(
          Probe(
            coordinate: "\(schema[type].name).\(field.name)",
            text: before + call + (isLeaf ? "" : " { __typename }") + after))
        guard !isLeaf else { continue }
        let inside = (before + call + " { ", " }" + after)
        if ways[target] == nil {
          ways[target] = inside
          queue.append(target)
        }
        guard schema[target].isAbstract else { continue }
        for possible in schema.possibleTypes[Int(target.index)] where ways[possible] == nil {
          ways[possible] = (inside.0 + "... on \(schema[possible].name) { ", " }" + inside.1)
          queue.append(possible)
        }
      }
    }
    return probes
  }

  /// A call of a field with every argument and input field that has a condition; nil when it cannot
  /// be made up.
  private func call(_ field: FieldDefinition) -> String? {
    var arguments: [String] = []
    for argument in field.arguments {
      guard let value = sample(argument.type, argument.name) else {
        if argument.isRequired { return nil }
        continue
      }
      if ["last", "before"].contains(argument.name) { continue }
      arguments.append("\(argument.name): \(value)")
    }
    return arguments.isEmpty
      ? field.name : "\(field.name)(\(arguments.joined(separator: ", ")))"
  }

  private func sample(_ type: TypeReference, _ name: String) -> String? {
    // A cursor cannot be made up.
    if name == "after" || name == "before" { return nil }
    switch type {
    case .nonNull(let inner): return sample(inner, name)
    case .list(let inner): return sample(inner, name).map { "[\($0)]" }
    case .named(let id):
      let named = schema[id]
      switch named.kind {
      case .enum(let values): return values.first?.name
      case .inputObject(let fields, let isOneOf):
        var members: [String] = []
        for field in fields {
          guard let value = sample(field.type, field.name) else { continue }
          members.append("\(field.name): \(value)")
          if isOneOf { break }
        }
        return "{\(members.joined(separator: ", "))}"
      case .scalar:
        switch named.name {
        case "Int": return name == "first" ? "1" : "1"
        case "Float": return "1.5"
        case "Boolean": return "true"
        case "ID": return "\"AQE\""
        case "String": return "\"a\""
        default:
          switch named.appliedDirectives.first(where: { $0.name.text == "scalar" })?.arguments
            .first?
            .value.content
          {
          case .string(let type)? where type.text == "timestamptz":
            return "\"2026-01-01T00:00:00Z\""
          case .string(let type)? where type.text == "date": return "\"2026-01-01\""
          case .string(let type)? where type.text == "numeric": return "\"1.5\""
          default: return "\"a\""
          }
        }
      case .object, .interface, .union: return nil
      }
    }
  }
}
