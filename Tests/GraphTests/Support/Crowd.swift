import Foundation
import Synchronization

/// Does something on many threads at once, and waits for all of them.
func crowd<Value: Sendable>(
  of count: Int, _ work: @escaping @Sendable (Int) throws -> Value
) throws -> [Value] {
  let results = Mutex<[Result<Value, any Error>?]>(Array(repeating: nil, count: count))
  let group = DispatchGroup()
  for index in 0..<count {
    group.enter()
    let thread = Thread {
      let result = Result { try work(index) }
      results.withLock { $0[index] = result }
      group.leave()
    }
    thread.start()
  }
  group.wait()
  return try results.withLock { $0 }.map { result in
    guard let result else { throw GraphTestFailure("a thread gave no result") }
    return try result.get()
  }
}
