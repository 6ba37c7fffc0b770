import Glibc
import GraphQLLanguage

/// A thread whose stack is large enough for documents of any plausible nesting.
///
/// Code that walks a document is recursive. The server limits the nesting of documents; `check` has
/// to answer every one.
enum LargeStack {
  /// The size of the stack. A level costs at most 6 KiB in a release build, 30 KiB in a debug build
  /// (an object inside an object, from its validation to its execution). Unused stack takes no
  /// memory.
  private static let stackBytes = 768 << 20
  private static let maximumNesting = 10_000

  /// Returns the result of `body`, which gets the maximum nesting of documents.
  static func run(_ body: @escaping @Sendable (_ maximumNesting: Int) -> Int32) -> Int32 {
    let call = Call(body)
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    defer { unsafe pthread_attr_destroy(&attributes) }
    var thread = pthread_t()
    let argument = unsafe Unmanaged.passRetained(call).toOpaque()
    guard unsafe pthread_attr_setstacksize(&attributes, stackBytes) == 0,
      unsafe pthread_create(
        &thread, &attributes,
        { argument in
          guard let argument = unsafe argument else { return nil }
          let call = unsafe Unmanaged<Call>.fromOpaque(argument).takeUnretainedValue()
          call.status = call.body(LargeStack.maximumNesting)
          return nil
        }, argument) == 0
    else {
      unsafe Unmanaged<Call>.fromOpaque(argument).release()
      return body(ParserLimits.unlimited.maximumNesting)
    }
    pthread_join(thread, nil)
    unsafe Unmanaged<Call>.fromOpaque(argument).release()
    return call.status
  }

  /// State of both threads; one writes before it ends, the other reads after that.
  private final class Call {
    let body: @Sendable (Int) -> Int32
    var status: Int32 = 0

    init(_ body: @escaping @Sendable (Int) -> Int32) { self.body = body }
  }
}
