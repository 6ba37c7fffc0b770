import Postgres
import Testing

@testable import Server

struct WritePositionsTests {
  private let home = PoolClient.address(high: 0, low: 9)

  @Test func `a client must see what it wrote under any of its names`() {
    let positions = WritePositions()
    #expect(positions.count == 0 && positions.position(of: [.viewer(1), home]) == 0)
    positions.note([.viewer(1), home])
    positions.note([.viewer(2)])
    #expect(positions.count == 2)
    #expect(positions.position(of: [.viewer(1)]) == 1 && positions.position(of: [home]) == 1)
    #expect(positions.position(of: [.viewer(2), home]) == 2)
    #expect(positions.position(of: [.viewer(3)]) == 0 && positions.position(of: []) == 0)
  }

  @Test func `a write without a client is everybody's`() {
    let positions = WritePositions()
    positions.note([.viewer(1)])
    positions.note(nil)
    #expect(positions.position(of: [.viewer(1)]) == 2 && positions.position(of: [home]) == 2)
    positions.note([.viewer(1)])
    #expect(positions.position(of: [.viewer(1)]) == 3 && positions.position(of: [home]) == 2)
  }

  @Test func `of too many clients, nobody is forgotten`() {
    let positions = WritePositions()
    for viewer in 0..<Int64(25_000) { positions.note([.viewer(viewer)]) }
    #expect(positions.count == 25_000)
    for viewer in 0..<Int64(25_000) {
      #expect(positions.position(of: [.viewer(viewer)]) >= UInt64(viewer) + 1)
    }
  }
}
