import EventLoops
import GraphQLResponse
import Testing

@testable import Subscriptions

/// A live query from its first result to its end, transition by transition.
@Suite struct LiveQueryStateTests {
  typealias World = RegistryHarness

  private static let key = Dependency.key(topic: "item", 7)

  private static func source(
    _ dependencies: Set<Dependency> = [key], interval: Duration? = nil, asPatches: Bool = false
  ) -> LiveQuerySource {
    LiveQuerySource(dependencies: dependencies, interval: interval, asPatches: asPatches)
  }

  private static func result(
    _ dependencies: Set<Dependency> = [], cost: Duration = .milliseconds(1), count: Int = 1
  ) -> LiveResult {
    LiveResult(dependencies, objectCount: count, cost: cost)
  }

  /// A registry with live query 1, whose first result is `a`.
  private static func active(
    _ source: LiveQuerySource = source(), _ result: LiveResult = result()
  ) -> World {
    var world = World()
    _ = world.handle(.query(World.one, source))
    _ = world.handle(.joined(statisticsResetAt: nil))
    _ = world.handle(.queried(World.statement(1), World.response("a"), result))
    return world
  }

  @Test func `is executed once the reader is joined, and sends another result only`() {
    var world = World()
    #expect(world.handle(.query(World.one, Self.source())) == ["joinReader"])
    #expect(world.handle(.joined(statisticsResetAt: nil)) == ["query 1 of 1"])
    #expect(
      world.handle(.queried(World.statement(1), World.response("a"), Self.result()))
        == ["send a to 1"])
    #expect(world.handle(World.batch([(1, 50)], "51:51:")) == [])
    #expect(world.pass(.milliseconds(99)) == [])
    #expect(world.pass(.milliseconds(1)) == ["query 2 of 1"])
    #expect(
      world.handle(.queried(World.statement(2), World.response("a"), Self.result())) == [])
    #expect(world.registry.counts.queryResponses == 1 && world.registry.counts.executions == 2)
    #expect(world.handle(World.batch([(1, 51)], "52:52:", key: 8)) == [])
    #expect(world.pass(.seconds(9)) == [])
    #expect(world.handle(.cancel(World.one)) == ["leaveReader"])
    #expect(world.registry.isEmpty)
  }

  @Test(arguments: [
    Dependency.key(topic: "item", 7), .node(topic: "item", 258), .all(topic: "item"),
    .tag(topic: "item", 2),
  ])
  func `depends on what its result contains`(_ dependency: Dependency) {
    var world = Self.active(Self.source([]), Self.result([dependency]))
    world.now += .seconds(1)
    #expect(world.handle(World.batch([(258, 50)], "51:51:")) == ["query 2 of 1"])
    // From its next result on it depends on something else.
    _ = world.handle(.queried(World.statement(2), World.response("b"), Self.result()))
    #expect(world.registry.counts.dependencies == 0)
    world.now += .seconds(1)
    #expect(world.handle(World.batch([(258, 51)], "52:52:")) == [])
  }

  @Test func `an event during the execution counts if the result depends on it`() {
    for (dependencies, isAgain) in [([Self.key], true), ([Dependency.all(topic: "x")], false)] {
      var world = World()
      _ = world.handle(.query(World.one, Self.source([])))
      _ = world.handle(.joined(statisticsResetAt: nil))
      #expect(world.handle(World.batch([(1, 50)], "51:51:")) == [])
      _ = world.handle(
        .queried(World.statement(1), World.response("a"), Self.result(Set(dependencies))))
      #expect(world.pass(.seconds(1)) == (isAgain ? ["query 2 of 1"] : []))
    }
  }

  @Test func `is executed at most a tenth of the time`() {
    var world = World()
    _ = world.handle(.query(World.one, Self.source()))
    _ = world.handle(.joined(statisticsResetAt: nil))
    world.now += .milliseconds(50)
    _ = world.handle(
      .queried(World.statement(1), World.response("a"), Self.result(cost: .milliseconds(50))))
    _ = world.handle(World.batch([(1, 50)], "51:51:"))
    #expect(world.pass(.milliseconds(449)) == [])
    #expect(world.pass(.milliseconds(1)) == ["query 2 of 1"])
  }

  @Test func `all of them share a quarter of the connections' time`() {
    var world = Self.active(Self.source(), Self.result(cost: .milliseconds(10)))
    _ = world.handle(.query(World.two, Self.source()))
    _ = world.handle(
      .queried(World.statement(2), World.response("b"), Self.result(cost: .milliseconds(40))))
    world.now += .milliseconds(100)
    // 200 ms are to be made up for, of which 50 may be taken in advance.
    #expect(world.handle(World.batch([(1, 50)], "51:51:")) == [])
    #expect(world.pass(.milliseconds(49)) == [])
    #expect(world.pass(.milliseconds(1)) == ["query 3 of 1"])
  }

  @Test func `an interval executes it without an event`() {
    var world = Self.active(Self.source(interval: .seconds(10)))
    #expect(world.pass(.milliseconds(9_999)) == [])
    #expect(world.pass(.milliseconds(1)) == ["query 2 of 1"])
    _ = world.handle(.queried(World.statement(2), World.response("a"), Self.result()))
    #expect(world.pass(.seconds(10)) == ["query 3 of 1"])
  }

  @Test func `lost events are in the next result`() {
    var world = Self.active()
    world.now += .seconds(1)
    #expect(world.handle(World.batch([], "60:60:", hasGap: true)) == ["query 2 of 1"])
  }

  @Test func `a result with too many objects ends it`() {
    var world = World()
    _ = world.handle(.query(World.one, Self.source()))
    _ = world.handle(.joined(statisticsResetAt: nil))
    #expect(
      world.handle(.queried(World.statement(1), World.response("a"), Self.result(count: 1_001)))
        == ["leaveReader", "finish 1: LIVE_UNSUPPORTED"])
    #expect(world.registry.isEmpty)
  }

  @Test func `a failure is retried once it has sent a response`() {
    var world = Self.active()
    world.now += .seconds(1)
    _ = world.handle(World.batch([(1, 50)], "51:51:"))
    let failed = StatementOutcome.failed(World.failure(.timeout).errors)
    #expect(world.handle(.queried(World.statement(2), failed, Self.result())) == [])
    #expect(world.pass(.milliseconds(100)) == ["query 3 of 1"])
    let fault = StatementOutcome.failed(World.failure(.internalServerError).errors)
    #expect(
      world.handle(.queried(World.statement(3), fault, Self.result()))
        == ["leaveReader", "finish 1: INTERNAL_SERVER_ERROR"])
  }

  @Test func `a client that asks for patches receives them`() {
    var world = World()
    _ = world.handle(.query(World.one, Self.source(asPatches: true)))
    _ = world.handle(.joined(statisticsResetAt: nil))
    let old = #"{"data":{"name":"a name that is long enough","count":1}}"#
    let new = #"{"data":{"name":"a name that is long enough","count":2}}"#
    #expect(
      world.handle(.queried(World.statement(1), World.response(old), Self.result()))
        == [#"send \#(old.dropLast()),"revision":1} to 1"#])
    world.now += .seconds(1)
    _ = world.handle(World.batch([(1, 50)], "51:51:"))
    #expect(
      world.handle(.queried(World.statement(2), World.response(new), Self.result())) == [
        #"send {"patch":[{"op":"replace","path":"/count","value":2}],"revision":2} to 1"#
      ])
  }
}
