import Foundation
import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import Synchronization
import Testing

/// The graph's schema, as clients see it.
let publishedText: String = {
  let tests = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  let path = tests.appending(path: "Fixtures/schema/published.graphql")
  guard let text = try? String(contentsOf: path, encoding: .utf8) else {
    Issue.record("\(path) cannot be read")
    return ""
  }
  return text
}()

func schema(_ text: String) throws -> Schema {
  try SchemaBuilder.build(Parser.parse(text, limits: .unlimited))
}

/// A finding as a test writes it: its words and the places they point at, `line:column`.
struct Expected: Equatable, CustomStringConvertible {
  let message: String
  let places: [String]
  let rule: String?

  init(_ rule: SDLRule, _ message: String, at places: String...) {
    self.message = message
    self.places = places
    self.rule = rule.rawValue
  }

  init(_ error: GraphQLError) {
    message = error.message
    places = error.locations.map { "\($0.line):\($0.column)" }
    rule = error.rule
  }

  var description: String { "\(rule ?? "?"): \(message) at \(places)" }
}

func expectValid(
  _ text: String, rules: Set<SDLRule>? = nil,
  sourceLocation: Testing.SourceLocation = #_sourceLocation
) throws {
  let document = try Parser.parse(text, limits: .unlimited)
  let found = SchemaBuilder.check(document, rules: rules).errors.map(Expected.init)
  #expect(found == [], sourceLocation: sourceLocation)
}

func expectErrors(
  _ text: String, _ expected: Expected..., rules: Set<SDLRule>? = nil, suggestions: Bool = true,
  sourceLocation: Testing.SourceLocation = #_sourceLocation
) throws {
  let document = try Parser.parse(text, limits: .unlimited)
  let check = SchemaBuilder.check(document, rules: rules, suggestions: suggestions)
  #expect(check.schema == nil, sourceLocation: sourceLocation)
  #expect(check.errors.map(Expected.init) == expected, sourceLocation: sourceLocation)
}

func parsed(_ text: String) throws -> Document { try Parser.parse(text, limits: .unlimited) }

/// Runs the body with 512 KB of stack, as much as threads of some platforms have.
func onSmallStack<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result {
  let result = Mutex<Result?>(nil)
  let done = DispatchSemaphore(value: 0)
  let thread = Thread {
    let value = body()
    result.withLock { $0 = value }
    done.signal()
  }
  thread.stackSize = 512 * 1024
  thread.start()
  done.wait()
  guard let value = result.withLock({ $0 }) else { preconditionFailure("The body did not run") }
  return value
}
