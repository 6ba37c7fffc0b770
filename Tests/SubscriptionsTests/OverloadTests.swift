import EventLoops
import GraphQLResponse
import Testing

@testable import Subscriptions

/// What happens while PostgreSQL is busy or cannot be reached.
@Suite struct OverloadTests {
  typealias World = RegistryHarness

  private static let overloaded = World.failure(.serviceOverloaded)

  /// `count` subscriptions that start at once.
  private static func starting(_ count: UInt64, _ patience: Duration = .seconds(30)) -> World {
    var world = World {
      $0.maximumStatements = 4
      $0.patience = patience
    }
    for number in 1...count {
      _ = world.handle(.subscribe(StreamID(number), World.source(), from: nil))
    }
    return world
  }

  @Test func `so many start at once, and the next when one has started`() {
    var world = Self.starting(6)
    #expect(
      world.handle(.joined(statisticsResetAt: nil)) == (1...4).map { "readKeys \($0) of \($0)" })
    #expect(
      world.handle(.keysRead(World.statement(2), World.keys([7], "50:50:"))) == ["takeTurns"])
    #expect(world.handle(.turn) == ["readKeys 5 of 5"])
  }

  @Test func `an overload halves how many start, and none starts for a while`() {
    var world = Self.starting(6)
    _ = world.handle(.joined(statisticsResetAt: nil))
    for number: UInt64 in 1...3 {
      _ = world.handle(.keysRead(World.statement(number), .failure(Self.overloaded)))
    }
    #expect(world.registry.policy.capacity == 1)
    #expect(world.handle(.turn) == [])
    #expect(
      world.handle(.keysRead(World.statement(4), World.keys([7], "50:50:"))) == ["takeTurns"])
    #expect(world.handle(.turn) == [])
    // Those that were refused come before the others, and one success makes it two at once.
    #expect(world.pass(.milliseconds(20)) == ["readKeys 5 of 3", "readKeys 6 of 2"])
    #expect(world.registry.policy.capacity == 2)
  }

  @Test func `whoever has waited for too long fails`() {
    var world = Self.starting(1, .seconds(1))
    _ = world.handle(.joined(statisticsResetAt: nil))
    #expect(
      world.handle(.keysRead(World.statement(1), .failure(Self.overloaded))) == ["takeTurns"])
    #expect(world.handle(.turn) == [])
    #expect(world.pass(.seconds(1)) == ["readKeys 2 of 1"])
    #expect(
      world.handle(.keysRead(World.statement(2), .failure(Self.overloaded)))
        == ["leaveReader", "finish 1: SERVICE_OVERLOADED"])
    #expect(world.registry.isEmpty)
  }

  @Test func `another error at the start is final`() {
    var world = Self.starting(1)
    _ = world.handle(.joined(statisticsResetAt: nil))
    #expect(
      world.handle(.keysRead(World.statement(1), .failure(World.failure(.databaseUnavailable))))
        == ["leaveReader", "finish 1: DATABASE_UNAVAILABLE"])
  }

  @Test func `an active subscription tries again for as long as it takes`() {
    var world = World.active()
    _ = world.handle(World.batch([(1, 50)], "51:51:"))
    var statement: UInt64 = 2
    for pause in [100, 200, 400, 800, 1600, 2000, 2000] {
      let outcome = StatementOutcome.failed(World.failure(.databaseUnavailable).errors)
      #expect(world.handle(.executed(World.statement(statement), outcome)) == [])
      #expect(world.pass(.milliseconds(pause - 1)) == [])
      statement += 1
      #expect(world.pass(.milliseconds(1)) == ["execute \(statement) of 1: 1, 50, 51"])
    }
    #expect(
      world.handle(.executed(World.statement(statement), World.response("a")))
        == ["send a to 1 at 51:51:"])
    // An error about the operation ends it.
    _ = world.handle(World.batch([(2, 51)], "52:52:"))
    let outcome = StatementOutcome.failed(World.failure(.internalServerError).errors)
    #expect(
      world.handle(.executed(World.statement(statement + 1), outcome))
        == ["leaveReader", "finish 1: INTERNAL_SERVER_ERROR"])
  }

  @Test func `keys and events are retried apart`() {
    let source = World.source(keysMayChange: true, endsWithNull: true, readsNode: false)
    var world = World.active(source)
    #expect(
      world.handle(World.batch([(1, 50)], "51:51:"))
        == ["readKeys 3 of 1", "execute 4 of 1: 1, 50, 51"])
    let failure = World.failure(.databaseUnavailable)
    #expect(world.handle(.keysRead(World.statement(3), .failure(failure))) == [])
    #expect(world.handle(.executed(World.statement(4), .failed(failure.errors))) == [])
    #expect(world.pass(.milliseconds(100)) == ["readKeys 5 of 1"])
    #expect(world.pass(.milliseconds(100)) == ["execute 6 of 1: 1, 50, 51"])
  }

  @Test func `sessions and live queries wait with the subscriptions`() {
    var world = Self.starting(3)
    _ = world.handle(.joined(statisticsResetAt: nil))
    #expect(world.handle(.resolve(StreamID(10), since: world.now)) == ["resolve 10"])
    #expect(world.registry.counts.starting == 4)
    let query = LiveQuerySource(dependencies: [], interval: nil, asPatches: false)
    #expect(world.handle(.query(StreamID(11), query)) == [])
    #expect(world.handle(.resolved(StreamID(10), Self.overloaded)) == ["takeTurns"])
    #expect(world.handle(.turn) == [])
    for number: UInt64 in 1...3 {
      _ = world.handle(.keysRead(World.statement(number), World.keys([7], "50:50:")))
    }
    #expect(world.handle(.turn) == [])
    #expect(world.pass(.milliseconds(20)) == ["resolve 10", "query 4 of 11"])
    #expect(world.registry.counts.starting == 1)
    #expect(world.handle(.resolved(StreamID(10), nil)) == [])
    #expect(world.registry.counts.starting == 0)
    let failed = StatementOutcome.failed(Self.overloaded.errors)
    let nothing = LiveResult([], objectCount: 0, cost: .zero)
    #expect(world.handle(.queried(World.statement(4), failed, nothing)) == ["takeTurns"])
    #expect(world.handle(.turn) == [])
    #expect(world.pass(.milliseconds(20)) == ["query 5 of 11"])
    #expect(
      world.handle(.queried(World.statement(5), World.response("a"), nothing)) == ["send a to 11"])
    world.now += .seconds(60)
    #expect(world.handle(.resolve(StreamID(12), since: world.now - .seconds(31))) == ["resolve 12"])
    #expect(
      world.handle(.resolved(StreamID(12), Self.overloaded))
        == ["failResolving 12: SERVICE_OVERLOADED"])
  }
}
