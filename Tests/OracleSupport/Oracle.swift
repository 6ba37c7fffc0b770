import Foundation
import JSON

/// Other implementations as a second opinion; see Tests/Oracle and script/oracle.
package struct Oracle: Sendable {
  private let executable: String
  private let script: String

  /// The Python twin of graphql-js 17, which has most of the edition of September 2026; nil where it is
  /// not installed.
  package static let graphQLCore: Oracle? = {
    let home = ProcessInfo.processInfo.environment["HOME"] ?? "/"
    let cache = ProcessInfo.processInfo.environment["XDG_CACHE_HOME"] ?? home + "/.cache"
    return first(
      of: [cache + "/sociograph/graphql-core/bin/python3", "/usr/bin/python3"],
      script: "graphql_core.py",
      passing: [
        "-c",
        "from graphql import version_info as v; assert tuple(v)[:2] == (3, 3)",
      ])
  }()

  /// graphql-js 16 itself, older than descriptions on operations, or nil.
  package static let graphQLJS: Oracle? = first(
    of: ["/usr/bin/node", "/usr/local/bin/node"], script: "graphql_js.js",
    passing: [
      "-e",
      "process.exit(require('/usr/share/nodejs/graphql').versionInfo.major === 16 ? 0 : 1)",
    ])

  private static func first(
    of candidates: [String], script: String, passing check: [String]
  ) -> Oracle? {
    candidates.first { executable in
      guard FileManager.default.isExecutableFile(atPath: executable) else { return false }
      let process = Process()
      process.executableURL = URL(fileURLWithPath: executable)
      process.arguments = check
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      guard (try? process.run()) != nil else { return false }
      process.waitUntilExit()
      return process.terminationStatus == 0
    }.map { Oracle(executable: $0, script: script) }
  }

  /// The answers to requests, in order.
  package func answers(to requests: [JSONValue]) throws -> [JSONValue] {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("sociograph-oracle-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var lines = JSONWriter()
    for request in requests {
      lines.write(request)
      lines.append("\n")
    }
    let input = folder.appendingPathComponent("requests")
    let output = folder.appendingPathComponent("answers")
    try Data(lines.finish()).write(to: input)
    try Data().write(to: output)

    let process = Process()
    process.executableURL = URL(fileURLWithPath: executable)
    process.arguments = [
      URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Oracle/\(script)").path
    ]
    process.standardInput = try FileHandle(forReadingFrom: input)
    process.standardOutput = try FileHandle(forWritingTo: output)
    try process.run()
    process.waitUntilExit()
    return try [UInt8](Data(contentsOf: output)).split(separator: UInt8(ascii: "\n"))
      .map { try JSONParser.parse(Array($0), maximumNesting: 256) }
  }
}
