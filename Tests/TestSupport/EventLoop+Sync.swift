import Dispatch
import EventLoops

extension EventLoop {
  /// Runs `body` on the loop and waits for it. Not from the loop.
  package func sync<Value, Failure: Error>(
    _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let result: Result<Value, Failure>? = withoutActuallyEscaping(body) { body in
      let errand = Errand(body)
      execute { errand.run() }
      errand.done.wait()
      return errand.result
    }
    guard let result else { preconditionFailure("The loop did not run the work.") }
    return try result.get()
  }
}

/// The caller waits, so nothing is used by two threads at once; what it gave is let go of before it
/// goes on.
private final class Errand<Value, Failure: Error>: @unchecked Sendable {
  private var body: (() throws(Failure) -> Value)?
  private(set) var result: Result<Value, Failure>?
  let done = DispatchSemaphore(value: 0)

  init(_ body: @escaping () throws(Failure) -> Value) { self.body = body }

  func run() {
    result = attempt()
    body = nil
    done.signal()
  }

  private func attempt() -> Result<Value, Failure>? {
    do throws(Failure) {
      return try body.map { (body) throws(Failure) in .success(try body()) }
    } catch {
      return .failure(error)
    }
  }
}
