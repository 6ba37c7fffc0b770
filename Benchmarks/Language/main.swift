// Measures the language side: parse, validate, coerce, print, and the JSON beside it.
//
//   benchmark-language                   every workload, microseconds each
//   benchmark-language serve             reads "NAME" lines and answers each with microseconds; for
//                                        script/bench-language, which alternates with graphql-js
//   benchmark-language memory            what documents of growing size hold, per byte of theirs
//   benchmark-language inputs DIRECTORY  writes the texts that are measured

import Foundation
import GraphQLLanguage

let arguments = Array(CommandLine.arguments.dropFirst())
let inputs = try Inputs(schemaDirectory: "Schema")

/// The time of one run, over runs for a twentieth of a second.
func measure(_ workload: Workload) throws -> Double {
  let clock = ContinuousClock()
  let start = clock.now
  var runs = 0
  var batch = 1
  while true {
    for _ in 0..<batch {
      let result = try workload.run()
      precondition(result > 0, "\(workload.name) gave nothing")
    }
    runs += batch
    let elapsed = clock.now - start
    if elapsed > .milliseconds(50) { return elapsed / .microseconds(1) / Double(runs) }
    batch = min(batch * 2, 1_024)
  }
}

func residentBytes() throws -> Int {
  let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
  return (Int(fields[1]) ?? 0) * 4_096
}

switch arguments.first {
case "inputs" where arguments.count == 2:
  try inputs.write(to: arguments[1])
case "memory":
  // All are kept, so that none can use what another left.
  var documents: [Document] = []
  for count in [10, 100, 1_000, 10_000] {
    let field =
      "  person: user(by: { username: \"ada\" }) { id username displayName home { id } }\n"
    let source = Source("{\n" + String(repeating: field, count: count) + "}")
    let copies = max(1, 4_000_000 / source.bytes.count)
    let before = try residentBytes()
    for _ in 0..<copies { documents.append(try Parser.parse(source, limits: .unlimited)) }
    let held = try residentBytes() - before
    let ratio = Double(held) / Double(source.bytes.count * copies)
    print(String(format: "%8d bytes of text: %5.1f bytes held for each", source.bytes.count, ratio))
  }
case "serve":
  let workloads = try Workload.all(inputs)
  while let name = readLine() {
    let workload = workloads.first { $0.name == name }
    print(try workload.map { String(format: "%.3f", try measure($0)) } ?? "unknown")
    fflush(nil)
  }
case nil:
  for workload in try Workload.all(inputs) {
    let times = try (0..<10).map { _ in try measure(workload) }.sorted()
    print(String(format: "%10.2f µs  %@", times[times.count / 2], workload.name))
  }
default:
  print("benchmark-language: expected nothing, \"serve\", \"memory\" or \"inputs DIRECTORY\".")
  exit(2)
}
