import Glibc
import JSON
import Synchronization
import TestSupport

/// The real program, which is killed and started again, each time on another port.
final class KilledServer: Sendable {
  private let arguments: [String]
  private let folder: TemporaryFolder
  private let state: Mutex<(run: ProgramRun, clients: HTTPClients)>

  init(_ database: String) throws {
    folder = try TemporaryFolder()
    let key = try folder.write("sealing-key", String(repeating: "5a", count: 32))
    arguments = [
      "serve", "--database", database, "--listen", "127.0.0.1:0", "--rate-limit", "off",
      "--sealing-key", key,
    ]
    state = Mutex(try Self.start(arguments))
  }

  private static func start(
    _ arguments: [String]
  ) throws -> (run: ProgramRun, clients: HTTPClients) {
    let run = try ProgramRun(arguments)
    guard run.prints("Try: "),
      let match = run.output.firstMatch(of: /Serving http:..127\.0\.0\.1:(\d+)/),
      let port = UInt16(match.1)
    else { throw GraphTestFailure("the server does not serve: \(run.errors)") }
    return (run, HTTPClients(port: port))
  }

  func killAndStart() throws {
    let run = state.withLock { $0.run }
    run.signal(SIGKILL)
    _ = run.finish()
    let next = try Self.start(arguments)
    state.withLock { $0 = next }
  }

  func stop() {
    let run = state.withLock { $0.run }
    run.signal(SIGTERM)
    _ = run.finish()
  }

  func send(
    _ document: String, _ variables: JSONValue, token: String?, key: String?
  ) throws -> HTTPClients.Response {
    var headers = [("Content-Type", "application/json")]
    if let token { headers.append(("Authorization", "Bearer \(token)")) }
    if let key { headers.append(("Idempotency-Key", key)) }
    let body: JSONValue = ["query": .string(document), "variables": variables]
    return try state.withLock { $0.clients }
      .send("POST", "/graphql", headers: headers, body: Array("\(body)".utf8))
  }
}
