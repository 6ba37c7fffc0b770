// What libFuzzer feeds with its inputs; script/fuzz builds and runs it, one target at a time.
//
// A target fails by trapping: a crash of the code under test, a broken promise (`precondition`), or
// an input that takes longer than libFuzzer was told to allow.

import GraphQLLanguage
import GraphQLSchema
import GraphQLValidation
import JSON

/// Ends the process with the message if the condition does not hold, in release builds too.
func expect(_ condition: Bool, _ message: @autoclosure () -> String = "a promise is broken") {
  if !condition { fatalError(message()) }
}

private enum FuzzTarget: String {
  case parser, values, json, schema, validator, templates

  func run(_ bytes: [UInt8]) {
    switch self {
    case .parser: fuzzParser(bytes)
    case .values: fuzzValues(bytes)
    case .json: fuzzJSON(bytes)
    case .schema: fuzzSchema(bytes)
    case .validator: fuzzValidator(bytes)
    case .templates: fuzzTemplates(bytes)
    }
  }
}

nonisolated(unsafe) private var target: FuzzTarget?

/// `FUZZ_TARGET` in the environment says which target this process is.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  if unsafe target == nil {
    unsafe target = environment("FUZZ_TARGET").flatMap(FuzzTarget.init)
    expect(unsafe target != nil, "FUZZ_TARGET must name a target")
  }
  let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  // Time of this thread alone, and of the best of several runs: the machine may be busy with others.
  var best = Duration.seconds(1_000)
  for _ in 0..<8 {
    let start = threadTime()
    unsafe target?.run(bytes)
    best = min(best, threadTime() - start)
    if best <= .milliseconds(50) { return 0 }
  }
  expect(false, "\(count) bytes took \(best)")
  return 0
}
