import Foundation
import Testing

@testable import Subscriptions

/// Random schedules of commits, polls, statements, failures, crashes and clients, against the naive model that
/// `script/live-model` runs against servers: each client receives each event once, and knows in the end what is true.
@Suite struct RegistryModelTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let steps = environment["SOCIOGRAPH_STEPS"].flatMap { Int($0) } ?? 100_000
  private static let seed = environment["SOCIOGRAPH_SEED"].flatMap { UInt64($0) } ?? 1
  /// The steps between two comparisons.
  private static let phase = 250
  /// The phases of one seed.
  private static let phases = 40

  @Test func `every client receives what the model says, and nothing is left in the end`() {
    var responses = 0
    for seed in 0..<UInt64(max(Self.steps / (Self.phase * Self.phases), 1)) {
      var loop = SimulatedLoop(seed: Self.seed &+ seed)
      for phase in 0..<Self.phases {
        for _ in 0..<Self.phase { loop.step() }
        loop.settle()
        let found = loop.difference()
        #expect(found == [], "seed \(Self.seed &+ seed), phase \(phase)")
        if !found.isEmpty { return }
        loop.forget()
      }
      responses += loop.responses
      loop.end()
      #expect(loop.registry.isEmpty, "seed \(Self.seed &+ seed)")
    }
    #expect(responses > Self.steps / 100, "Hardly anything happened.")
  }
}
