import Testing

@testable import Subscriptions

/// A monitored session from its beginning to its end.
@Suite struct SessionStateTests {
  typealias World = RegistryHarness

  private static func event(of viewer: Int64) -> RegistryEvent {
    .received(
      EventBatch(
        events: [
          CommittedEvent(topic: .init(name: "session", key: viewer), node: 0, transaction: 50)
        ], snapshot: World.snapshot("51:51:")))
  }

  private static func active() -> World {
    var world = World()
    _ = world.handle(.monitor(World.one, viewer: 7))
    _ = world.handle(.joined(statisticsResetAt: nil))
    _ = world.handle(.checked(World.one, .valid))
    _ = world.handle(.expiryRead(World.one, .seconds(10)))
    return world
  }

  @Test func `is checked when the reader is joined, and ends when its time is over`() {
    var world = World()
    #expect(world.handle(.monitor(World.one, viewer: 7)) == ["joinReader", "readExpiry 1"])
    #expect(world.handle(.joined(statisticsResetAt: nil)) == ["check 1"])
    #expect(world.handle(.checked(World.one, .valid)) == ["readExpiry 1"])
    #expect(world.handle(.expiryRead(World.one, .seconds(10))) == [])
    #expect(world.pass(.milliseconds(9_999)) == [])
    #expect(world.pass(.milliseconds(1)) == ["check 1"])
    #expect(world.handle(.checked(World.one, .over)) == ["leaveReader", "endSession 1"])
    #expect(world.registry.isEmpty)
  }

  @Test func `is checked for events of its user, one check at a time`() {
    var world = Self.active()
    #expect(world.handle(Self.event(of: 8)) == [])
    #expect(world.handle(Self.event(of: 7)) == ["check 1"])
    #expect(world.handle(Self.event(of: 7)) == [])
    #expect(world.handle(.checked(World.one, .valid)) == ["readExpiry 1", "check 1"])
    #expect(world.handle(.checked(World.one, .valid)) == ["readExpiry 1"])
  }

  @Test func `is checked again in a second if it cannot be found out`() {
    var world = Self.active()
    _ = world.handle(Self.event(of: 7))
    #expect(world.handle(.checked(World.one, .unknown)) == [])
    #expect(world.pass(.seconds(1)) == ["check 1"])
  }

  @Test func `a time that is read late does not put off the next check`() {
    var world = Self.active()
    _ = world.handle(Self.event(of: 7))
    #expect(world.handle(.checked(World.one, .valid)) == ["readExpiry 1"])
    #expect(world.handle(Self.event(of: 7)) == ["check 1"])
    #expect(world.handle(.checked(World.one, .unknown)) == [])
    #expect(world.handle(.expiryRead(World.one, .seconds(100))) == [])
    #expect(world.pass(.seconds(1)) == ["check 1"])
  }

  @Test func `nobody knows how long it lasts`() {
    var world = Self.active()
    _ = world.handle(.expiryRead(World.one, nil))
    #expect(world.pass(.seconds(59)) == [])
    #expect(world.pass(.seconds(1)) == ["check 1"])
  }

  @Test func `ends when its user may do less, to begin again`() {
    var world = Self.active()
    let less = EventBatch(
      events: [CommittedEvent(topic: .init(name: "rights", key: 7), node: 7, transaction: 50)],
      snapshot: World.snapshot("51:51:"))
    #expect(world.handle(.received(less)) == ["leaveReader", "changeSession 1"])
    #expect(world.registry.isEmpty)
  }

  @Test func `every session is checked when keys have changed`() {
    var world = Self.active()
    #expect(world.handle(.sessionsMayHaveEnded) == ["check 1"])
  }

  @Test func `lost events may have been about it`() {
    var world = Self.active()
    #expect(world.handle(World.batch([], "60:60:", hasGap: true)) == ["check 1"])
  }

  @Test func `is forgotten with its socket`() {
    var world = Self.active()
    #expect(world.handle(.cancel(World.one)) == ["leaveReader"])
    #expect(world.handle(.checked(World.one, .over)) == [])
    #expect(world.handle(.expiryRead(World.one, .zero)) == [])
    #expect(world.registry.isEmpty)
  }
}
