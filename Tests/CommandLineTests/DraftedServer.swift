import Foundation
import TestSupport
import Testing

/// A database that is drafted and served by the program. It ends with the object.
final class DraftedServer {
  /// The folder of the schema.
  let path: String
  let port: UInt16
  private let folder: TemporaryFolder?
  private let server: ProgramRun
  /// The server's log.
  var errors: String { server.errors }

  /// - Parameters:
  ///   - arguments: more arguments of `draft`.
  ///   - role: that which serves; the one that drafts unless given.
  ///   - serving: more arguments of `serve`.
  ///   - anonymousWrites: whether clients without a token may write.
  ///   - prepare: is called with the folder before it is served.
  init(
    _ database: String, _ arguments: [String] = [], as role: String? = nil,
    serving: [String] = [], anonymousWrites: Bool = true,
    prepare: (String) throws -> Void = { _ in }
  ) throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/graph"
    let open =
      anonymousWrites && arguments.contains("--mutations") ? ["--anonymous-writes"] : []
    let draft = try ProgramRun.complete(["draft", path, "--database", database] + arguments + open)
    try #require(draft.status == 0, "\(draft.errors)")
    #expect(!draft.errors.contains("warning"), "\(draft.errors)")
    try prepare(path)
    let served = role.map { TestCluster.connectionString(database, as: $0) } ?? database
    server = try ProgramRun(["serve", "--schema", path, "--database", served] + serving)
    port = try Self.port(of: server)
    (self.folder, self.path) = (folder, path)
  }

  /// Serves a folder that was drafted, which stays.
  init(folder path: String, _ database: String) throws {
    server = try ProgramRun(["serve", "--schema", path, "--database", database])
    port = try Self.port(of: server)
    (folder, self.path) = (nil, path)
  }

  private static func port(of server: ProgramRun) throws -> UInt16 {
    try #require(server.prints("Serving http://"), "\(server.errors)")
    return try #require(
      server.output.firstMatch(of: #/Serving http:\/\/127\.0\.0\.1:(\d+)/#).flatMap {
        UInt16($0.1)
      })
  }

  deinit {
    server.signal(SIGINT)
    _ = server.finish()
  }
}
