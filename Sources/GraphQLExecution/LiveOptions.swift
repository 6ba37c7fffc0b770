import GraphQLLanguage
import GraphQLPlanning
import GraphQLResponse
import GraphQLSchema

/// The options of a query with `@live`.
package struct LiveOptions: Sendable, Equatable {
  static let directive = "live"
  /// The minimum polling interval.
  static let shortestInterval = Duration.seconds(10)

  /// The polling interval, or nil to run only when a dependency changes.
  package let interval: Duration?
  /// Answers after the first one come as what is to be changed in it.
  package let asPatches: Bool

  /// Creates the options, or returns nil for a query without `@live`.
  init?(
    _ operation: CachedOperation, _ variables: CoercedVariables, _ request: GraphQLRequest
  ) throws(RequestErrors) {
    guard let directive = operation.live else { return nil }
    func value(_ name: String) -> InputValue? {
      guard let value = directive.arguments.first(where: { $0.name.text == name })?.value.content
      else { return nil }
      switch value {
      case .boolean(let flag): return .boolean(flag)
      case .int(let text): return Int32(text).map { .int($0) }
      case .variable(let name): return variables[name]
      case .float, .string, .null, .enum, .list, .object: return nil
      }
    }
    if value("if") == .boolean(false) { return nil }
    asPatches = try Self.wantsPatches(request)
    guard case .int(let number)? = value("interval") else {
      interval = nil
      return
    }
    let interval = Duration.milliseconds(Int64(number))
    guard interval >= Self.shortestInterval else {
      throw RequestErrors(
        GraphQLError(
          "The interval of a live query is at least \(Self.shortestInterval.components.seconds * 1000)"
            + " milliseconds, not \(number).", code: .badUserInput))
    }
    self.interval = interval
  }

  /// `extensions.liveFormat`
  private static func wantsPatches(_ request: GraphQLRequest) throws(RequestErrors) -> Bool {
    guard let format = request.extensions.first(where: { $0.name == "liveFormat" })?.value else {
      return false
    }
    guard format == .string("patch") || format == .string("whole") else {
      throw RequestErrors(
        GraphQLError(
          "\"extensions.liveFormat\" must be \"patch\" or \"whole\".", code: .badUserInput))
    }
    return format == .string("patch")
  }

  /// Checks that the query can be live.
  ///
  /// - Throws: an error that names an untracked dependency, unless the query has a polling
  ///   interval.
  func check(_ plan: LiveDependencies?) throws(GraphQLError) {
    guard interval == nil, let gap = plan?.untracked.first else { return }
    let (what, remedy) =
      gap.coordinate.isEmpty
      ? ("The query", "Say") : (gap.coordinate, "Leave it out, or say")
    throw GraphQLError(
      "\(what) cannot be live: \(gap.reason). \(remedy) at which interval to look: "
        + "@live(interval: \(Self.shortestInterval.components.seconds * 1000)).",
      code: .liveUnsupported)
  }

  package static var unavailable: GraphQLError {
    GraphQLError("This server has no live queries.", code: .notImplemented)
  }
}
