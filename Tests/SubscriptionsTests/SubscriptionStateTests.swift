import GraphQLResponse
import Testing

@testable import Subscriptions

/// A subscription from its beginning to its end, transition by transition.
@Suite struct SubscriptionStateTests {
  typealias World = RegistryHarness

  @Test func `joins the reader, reads its keys, and executes each event once`() {
    var world = World()
    #expect(world.handle(.subscribe(World.one, World.source(), from: nil)) == ["joinReader"])
    #expect(world.registry.counts.starting == 1)
    #expect(world.handle(.joined(statisticsResetAt: "9")) == ["readKeys 1 of 1"])
    #expect(world.handle(.keysRead(World.statement(1), World.keys([7], "50:50:"))) == [])
    #expect(world.registry.counts.active == 1 && world.registry.counts.keys == 1)
    #expect(world.handle(World.batch([(100, 50)], "51:51:")) == ["execute 2 of 1: 100, 50, 51"])
    #expect(
      world.handle(.executed(World.statement(2), World.response("a"))) == [
        "send a to 1 at 51:51:@9"
      ])
    #expect(world.handle(World.batch([(101, 51)], "52:52:", key: 8)) == [])
    #expect(world.handle(.cancel(World.one)) == ["leaveReader"])
    #expect(world.registry.isEmpty)
  }

  @Test func `an event that is visible in the keys' snapshot is not sent`() {
    var world = World.active()
    #expect(world.handle(World.batch([(100, 49)], "51:51:")) == [])
    #expect(world.handle(World.batch([(101, 50)], "52:52:")) == ["execute 2 of 1: 101, 50, 52"])
  }

  @Test func `events before the keys are known are sent after`() {
    var world = World()
    _ = world.handle(.subscribe(World.one, World.source(), from: nil))
    _ = world.handle(.joined(statisticsResetAt: nil))
    #expect(world.handle(World.batch([(100, 49), (101, 50)], "51:51:")) == [])
    #expect(
      world.handle(.keysRead(World.statement(1), World.keys([7], "50:50:")))
        == ["execute 2 of 1: 101, 50, 51"])
    #expect(world.registry.backlog.isEmpty)
  }

  @Test func `one event at a time, in order, and the token says how far a batch was sent`() {
    var world = World.active()
    #expect(
      world.handle(World.batch([(100, 50), (101, 50), (102, 51)], "52:52:"))
        == ["execute 2 of 1: 100, 50, 52"])
    #expect(
      world.handle(.executed(World.statement(2), World.response("a")))
        == ["send a to 1 at 50:50:;52:52:;100, followed", "takeTurns"])
    #expect(world.handle(.turn) == ["execute 3 of 1: 101, 50, 52"])
    // What the viewer may not see is not sent.
    #expect(world.handle(.executed(World.statement(3), World.response("null"))) == ["takeTurns"])
    #expect(world.handle(.turn) == ["execute 4 of 1: 102, 50, 52"])
    #expect(
      world.handle(.executed(World.statement(4), World.response("c"))) == ["send c to 1 at 52:52:"])
  }

  @Test func `a reconnecting client receives the rest of its batch, and what came later`() throws {
    var world = World()
    let token = try #require(ResumeToken("50:50:;52:52:;100"))
    _ = world.handle(.subscribe(World.one, World.source(), from: token))
    _ = world.handle(.joined(statisticsResetAt: nil))
    #expect(
      world.handle(.keysRead(World.statement(1), World.keys([7], "60:60:")))
        == ["readMissed 2 of 1: item since 50:50:"])
    let events = [(7, 100, 50), (7, 101, 51), (8, 102, 51), (7, 103, 55), (7, 104, 60)].map {
      CommittedEvent(topic: .init(name: "item", key: $0.0), node: $0.1, transaction: $0.2)
    }
    // 100 was sent, 102 has another key, and 104 comes with a batch.
    #expect(
      world.handle(
        .missedRead(
          World.statement(2), .success(MissedEvents(events, statisticsResetAt: nil))))
        == ["execute 3 of 1: 101, 50, 52"])
    #expect(
      world.handle(.executed(World.statement(3), World.response("b")))
        == ["send b to 1 at 52:52:, followed", "takeTurns"])
    #expect(world.handle(.turn) == ["execute 4 of 1: 103, 52, 60"])
    #expect(
      world.handle(World.batch([(104, 60)], "61:61:")) == [])
    #expect(
      world.handle(.executed(World.statement(4), World.response("d"))).first
        == "send d to 1 at 60:60:, followed")
  }

  @Test func `a token from before a crash is refused`() throws {
    var world = World()
    let token = try #require(ResumeToken("50:50:@1"))
    _ = world.handle(.subscribe(World.one, World.source(), from: token))
    _ = world.handle(.joined(statisticsResetAt: "2"))
    _ = world.handle(.keysRead(World.statement(1), World.keys([7], "60:60:")))
    #expect(
      world.handle(
        .missedRead(World.statement(2), .success(MissedEvents([], statisticsResetAt: "2"))))
        == ["leaveReader", "finish 1: TOKEN_EXPIRED"])
    #expect(world.registry.isEmpty)
  }

  @Test func `a compared response is sent if it differs from the result at the start`() {
    let source = World.source(endsWithNull: true, readsNode: false)
    var world = World()
    _ = world.handle(.subscribe(World.one, source, from: nil))
    _ = world.handle(.joined(statisticsResetAt: nil))
    #expect(
      world.handle(.keysRead(World.statement(1), World.keys([7], "50:50:")))
        == ["execute 2 of 1: 0, 0, 0"])
    #expect(world.handle(.executed(World.statement(2), World.response("a"))) == [])
    #expect(world.handle(World.batch([(1, 50)], "51:51:")) == ["execute 3 of 1: 1, 50, 51"])
    #expect(world.handle(.executed(World.statement(3), World.response("a"))) == [])
    #expect(world.handle(World.batch([(1, 51)], "52:52:")) == ["execute 4 of 1: 1, 51, 52"])
    // Of what comes meanwhile the latest stands for all.
    #expect(world.handle(World.batch([(1, 52), (2, 52)], "53:53:")) == [])
    #expect(world.handle(World.batch([(3, 53)], "54:54:")) == [])
    #expect(
      world.handle(.executed(World.statement(4), World.response("b")))
        == ["send b to 1 at 52:52:, followed", "takeTurns"])
    #expect(world.handle(.turn) == ["execute 5 of 1: 3, 52, 54"])
    #expect(
      world.handle(.executed(World.statement(5), World.response("null")))
        == ["send null to 1 at 54:54:", "leaveReader", "finish 1"])
  }

  @Test func `a reconnecting client receives a compared response only if it changed`() {
    let source = World.source(endsWithNull: true, readsNode: false)
    for (body, actions) in [("a", []), ("b", ["send b to 1 at 60:60:"])] {
      var world = World()
      let token = ResumeToken(
        received: World.snapshot("50:50:"), part: nil, last: .response(Array("a".utf8)))
      _ = world.handle(.subscribe(World.one, source, from: token))
      _ = world.handle(.joined(statisticsResetAt: nil))
      _ = world.handle(.keysRead(World.statement(1), World.keys([7], "60:60:")))
      #expect(world.handle(.executed(World.statement(2), World.response(body))) == actions)
      #expect(world.registry.counts.active == 1)
    }
  }

  @Test func `keys that may have changed are read again, and events under new ones count`() {
    let source = World.source(keysMayChange: true, endsWithNull: true, readsNode: false)
    var world = World.active(source)
    #expect(
      world.handle(World.batch([(1, 50)], "51:51:"))
        == ["readKeys 3 of 1", "execute 4 of 1: 1, 50, 51"])
    #expect(world.registry.counts.starting == 1)
    // Under the key that it will have.
    #expect(world.handle(World.batch([(2, 51)], "52:52:", key: 8)) == [])
    #expect(world.handle(.executed(World.statement(4), World.response("first"))) == [])
    #expect(
      world.handle(.keysRead(World.statement(3), World.keys([7, 8], "51:51:")))
        == ["execute 5 of 1: 2, 51, 52"])
    #expect(world.registry.counts.keys == 2 && world.registry.counts.starting == 0)
    _ = world.handle(.executed(World.statement(5), World.response("first")))
    // While they are read, another event may change them: they are read once more.
    #expect(
      world.handle(World.batch([(1, 52)], "53:53:"))
        == ["readKeys 6 of 1", "execute 7 of 1: 1, 52, 53"])
    #expect(world.handle(World.batch([(1, 53)], "54:54:")) == [])
    _ = world.handle(.executed(World.statement(7), World.response("first")))
    _ = world.handle(.turn)
    #expect(
      world.handle(.keysRead(World.statement(6), World.keys([8], "53:53:"))).contains("takeTurns"))
    #expect(world.handle(.turn).contains("readKeys 9 of 1"))
  }

  @Test func `a settled event waits for older transactions`() {
    var world = World.active(World.source(isSettled: true, readsNode: false))
    #expect(world.handle(World.batch([(1, 52)], "51:53:51")) == [])
    #expect(world.handle(World.batch([], "51:54:51")) == [])
    #expect(world.handle(World.batch([], "54:54:")) == ["execute 2 of 1: 0, 50, 54"])
  }

  @Test func `subscriptions of one group share a statement, and its response without errors`() {
    var world = World.active()
    _ = world.handle(.subscribe(World.two, World.source(), from: nil))
    _ = world.handle(.keysRead(World.statement(2), World.keys([7], "50:50:")))
    #expect(world.handle(World.batch([(1, 50)], "51:51:")) == ["execute 3 of 1: 1, 50, 51"])
    #expect(
      world.handle(.executed(World.statement(3), World.response("a")))
        == ["send a to 1 at 51:51:", "send a to 2 at 51:51:"])
    _ = world.handle(World.batch([(2, 51)], "52:52:"))
    let error = GraphQLError("Failed.", code: .internalServerError)
    #expect(
      world.handle(.executed(World.statement(4), World.response("b", errors: [error])))
        == ["report 1", "send b to 1 at 52:52:", "takeTurns"])
    #expect(world.handle(.turn) == ["execute 5 of 2: 2, 51, 52"])
    // The statement goes on as long as one of them needs it.
    _ = world.handle(.executed(World.statement(5), World.response("b")))
    #expect(world.handle(World.batch([(3, 52)], "53:53:")) == ["execute 6 of 1: 3, 52, 53"])
    #expect(world.handle(.cancel(World.one)) == [])
    #expect(world.handle(.cancel(World.two)) == ["cancel 6", "leaveReader"])
    #expect(world.registry.isEmpty)
  }

  @Test func `a client that does not read, or a queue that is full, is interrupted`() {
    var world = World.active { $0.maximumQueue = 2 }
    #expect(world.handle(.unread(World.one)) == ["leaveReader", "interrupt 1"])
    world = World.active { $0.maximumQueue = 2 }
    #expect(
      world.handle(World.batch([(1, 50), (2, 50)], "51:51:")) == ["execute 2 of 1: 1, 50, 51"])
    #expect(
      world.handle(World.batch([(3, 51), (4, 51)], "52:52:"))
        == ["cancel 2", "leaveReader", "interrupt 1"])
    #expect(world.registry.isEmpty)
  }

  @Test func `lost events interrupt every subscription`() {
    var world = World.active()
    _ = world.handle(.subscribe(World.two, World.source(), from: nil))
    #expect(
      world.handle(World.batch([], "60:60:", hasGap: true))
        == ["interrupt 1", "cancel 2", "leaveReader", "interrupt 2"])
    #expect(world.registry.isEmpty)
  }

  @Test func `after a crash an ID that is used again is another transaction`() {
    var world = World.active()
    _ = world.handle(World.batch([(1, 55)], "60:60:"))
    #expect(
      world.handle(.executed(World.statement(2), World.response("a"))) == ["send a to 1 at 60:60:"])
    let crash = CrashRecovery(statisticsResetAt: "3", firstLost: 56)
    #expect(
      world.handle(World.batch([(2, 57)], "58:58:", crash: crash)) == ["execute 3 of 1: 2, 56, 58"])
    #expect(
      world.handle(.executed(World.statement(3), World.response("b")))
        == ["send b to 1 at 58:58:@3"])
  }

  @Test func `what a cancelled statement gives is ignored`() {
    var world = World()
    _ = world.handle(.subscribe(World.one, World.source(), from: nil))
    _ = world.handle(.joined(statisticsResetAt: nil))
    #expect(world.handle(.cancel(World.one)) == ["cancel 1", "leaveReader"])
    #expect(world.handle(.keysRead(World.statement(1), World.keys([7], "50:50:"))) == [])
    #expect(world.handle(.executed(World.statement(1), World.response("a"))) == [])
    #expect(world.registry.isEmpty)
  }
}
