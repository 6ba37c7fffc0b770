import GraphQLLanguage
import GraphQLPlanning
import GraphQLSchema

@testable import StorageChecking

/// A report of the fields that can be live, and the sources of their changes: one line for each,
/// from the shortest operation that has it.
struct LiveReport {
  let mapping: StorageMapping
  let catalog: LiveCatalog

  /// Lines such as `User.posts: viewer node; rows post node; all post_rank`, by coordinate: the
  /// topics tracked by the viewer's ID, by IDs of rows and arguments, and as a whole, or the reason
  /// why the field cannot be live. Dependencies of the path to the field are omitted, because they
  /// have their own line.
  var lines: [String] {
    var found: [String: Set<String>] = [:]
    var order: [String] = []
    for group in StorageProbes(mapping: mapping).groups {
      let way = plan(group.operation(["__typename"])) ?? LiveDependencies()
      for call in group.calls {
        if found[call.coordinate] == nil { order.append(call.coordinate) }
        found[call.coordinate, default: []].formUnion(
          plan(group.operation([call.text])).map { keys($0, without: way) } ?? ["no plan"])
      }
    }
    return order.map { coordinate in
      let keys = (found[coordinate] ?? []).sorted()
      return "\(coordinate): \(keys.isEmpty ? "nothing more" : keys.joined(separator: "; "))"
    }
  }

  private func plan(_ text: String) -> LiveDependencies? {
    let source = Source(text)
    guard let document = try? Parser.parse(source, limits: .unlimited),
      case .operation(let operation)? = document.definitions.first
    else { return nil }
    guard
      case .live(_, let live)? = try? Planner(mapping: mapping, limits: .unlimited).plan(
        operation, fragments: [:], source: source, variables: [], mode: .live(catalog))
    else { return nil }
    return live
  }

  private func keys(_ plan: LiveDependencies, without way: LiveDependencies) -> Set<String> {
    var keys = Set(
      plan.untracked.filter { !way.untracked.contains($0) }.map { "not live, as \($0.reason)" })
    for pattern in plan.patterns.subtracting(way.patterns) {
      let tags = pattern.tags.map { " of " + $0.map(String.init).joined(separator: ",") }
      keys.insert("all \(pattern.topic)\(tags ?? "")")
    }
    for topic in plan.viewerTopics.subtracting(way.viewerTopics) {
      keys.insert("viewer \(topic.name)")
    }
    for topic in plan.topics where !way.topics.contains(topic) {
      keys.insert("\(topic.isNode ? "node" : "key") \(topic.name)")
    }
    return keys
  }
}
